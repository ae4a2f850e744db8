//! Cases in which a suite is wrong, and the judgement of a run by them.

use std::path::Path;
use std::thread;

use serde::Deserialize;

use super::report::{Ending, Report};
use crate::failure::{Failure, Outcome};
use crate::project;

/// All cases.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectations {
    #[serde(default)]
    case: Vec<Case>,
}

/// A test that fails through a fault of the suite's.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// The test, as a report names it.
    test: String,
    /// The versions of what is asked for, the standard or the loader, that it fails with.
    versions: Vec<String>,
    /// Part of what is shown: a test that fails in another way isn't excused.
    shows: String,
    /// It fails on machines with fewer cores, if that makes a difference.
    #[serde(default = "always")]
    fewer_cores_than: usize,
    /// It fails with such a device as the default one: all with the part of a name before its number, such as `cuda`.
    device: Option<String>,
    /// Why the suite is wrong, for those who read the file.
    proof: String,
}

fn always() -> usize {
    usize::MAX
}

impl Case {
    /// Whether it is a case of a version, with this default device; without a name, that is the first of the host's.
    fn concerns(&self, version: &str, device: Option<&str>) -> bool {
        let kind = device.map(|name| name.split(':').next().unwrap_or(name));
        let cores = thread::available_parallelism().map_or(1, usize::from);
        self.versions.iter().any(|listed| listed == version)
            && cores < self.fewer_cores_than
            && self
                .device
                .as_deref()
                .is_none_or(|wanted| kind == Some(wanted))
    }
}

impl Expectations {
    /// Reads the file.
    ///
    /// # Errors
    /// If it can't be read, or a case lacks its proof.
    pub(super) fn read(path: &Path) -> Outcome<Self> {
        Self::parse(&project::read(path)?).map_err(|why| {
            let path = project::relative(path);
            Failure::Check(format!("{path}: {why}"))
        })
    }

    fn parse(text: &str) -> Result<Self, String> {
        let expectations: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        for case in &expectations.case {
            if case.proof.trim().is_empty() || case.shows.trim().is_empty() {
                return Err(format!("{} has no proof, or shows nothing", case.test));
            }
        }
        Ok(expectations)
    }

    /// What of a run with a default device is not expected. In a run of everything, each case must be there.
    pub(super) fn judge(
        &self,
        (version, device): (&str, Option<&str>),
        report: &Report,
        whole: bool,
    ) -> Vec<String> {
        let mut cases: Vec<&Case> = self.case.iter().collect();
        cases.retain(|case| case.concerns(version, device));
        let mut faults = Vec::new();
        for (name, ending) in &report.tests {
            let case = cases.iter().find(|case| case.test == *name);
            match (ending, case) {
                (Ending::Passed, Some(_)) => {
                    faults.push(format!("{name} passed, against what is expected"));
                }
                (Ending::Failed(shown), case)
                    if case.is_none_or(|case| !shown.contains(&case.shows)) =>
                {
                    faults.push(format!("{name} failed"));
                }
                _ => {}
            }
        }
        let missing = cases
            .iter()
            .filter(|case| !report.tests.contains_key(&case.test));
        if whole {
            faults.extend(
                missing.map(|case| format!("{} is expected to fail, but is no test", case.test)),
            );
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const LISTED: &str = "
        [[case]]
        test = 'a'
        versions = ['2025.12']
        shows = 'NaN'
        proof = 'The standard says otherwise.'
    ";

    fn judged(version: &str, endings: &[(&str, Ending)], whole: bool) -> Vec<String> {
        let tests = endings
            .iter()
            .map(|(name, ending)| ((*name).to_owned(), ending.clone()));
        let tests: BTreeMap<_, _> = tests.collect();
        let expectations = Expectations::parse(LISTED).unwrap();
        expectations.judge((version, None), &Report { tests }, whole)
    }

    #[test]
    fn only_the_listed_failure_of_the_listed_version_is_excused() {
        let failed = |shown: &str| [("a", Ending::Failed(shown.to_owned()))];
        assert!(judged("2025.12", &failed("NaN is not 1"), true).is_empty());
        assert_eq!(judged("2025.12", &failed("overflow"), true), ["a failed"]);
        assert_eq!(
            judged("2024.12", &failed("NaN is not 1"), true),
            ["a failed"]
        );
        let other = [("b", Ending::Failed("NaN".to_owned()))];
        assert_eq!(judged("2025.12", &other, false), ["b failed"]);
    }

    #[test]
    fn a_case_that_passes_or_is_gone_is_a_fault() {
        let passed = [("a", Ending::Passed)];
        assert_eq!(judged("2025.12", &passed, true).len(), 1);
        assert!(judged("2024.12", &passed, true).is_empty());
        let other = [("b", Ending::Passed)];
        assert_eq!(judged("2025.12", &other, true).len(), 1);
        assert!(judged("2025.12", &other, false).is_empty());
    }

    #[test]
    fn a_case_for_small_machines_is_none_on_others() {
        let one = LISTED.replace("shows", "fewer_cores_than = 1\n        shows");
        let expectations = Expectations::parse(&one).unwrap();
        let tests = [("a".to_owned(), Ending::Passed)].into();
        assert!(
            expectations
                .judge(("2025.12", None), &Report { tests }, true)
                .is_empty()
        );
    }

    #[test]
    fn a_case_of_a_device_is_one_where_that_is_the_default() {
        let listed = LISTED.replace("shows", "device = 'cuda'\n        shows");
        let expectations = Expectations::parse(&listed).unwrap();
        let judged = |device, ending: Ending| {
            let tests = [("a".to_owned(), ending)].into();
            expectations.judge(("2025.12", device), &Report { tests }, true)
        };
        let failed = || Ending::Failed("NaN".to_owned());
        for device in ["cuda", "cuda:0", "cuda:1"] {
            assert!(judged(Some(device), failed()).is_empty());
            assert_eq!(judged(Some(device), Ending::Passed).len(), 1);
        }
        for device in [None, Some("cpu:0"), Some("cudagen:0")] {
            assert_eq!(judged(device, failed()), ["a failed"]);
            assert!(judged(device, Ending::Passed).is_empty());
        }
    }

    #[test]
    fn a_case_needs_its_proof() {
        let without = LISTED.replace("The standard says otherwise.", " ");
        assert!(Expectations::parse(&without).is_err());
        assert!(Expectations::parse("[[case]]\ntest = 'a'").is_err());
        assert!(Expectations::parse("").unwrap().case.is_empty());
    }
}
