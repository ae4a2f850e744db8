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
    /// Why the suite is wrong, for those who read the file.
    proof: String,
}

fn always() -> usize {
    usize::MAX
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

    /// What of a run is not expected. In a run of everything, each case must be there.
    pub(super) fn judge(&self, version: &str, report: &Report, whole: bool) -> Vec<String> {
        let mut cases: Vec<&Case> = self.case.iter().collect();
        cases.retain(|case| case.versions.iter().any(|listed| listed == version));
        let cores = thread::available_parallelism().map_or(1, usize::from);
        cases.retain(|case| cores < case.fewer_cores_than);
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
        expectations.judge(version, &Report { tests }, whole)
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
                .judge("2025.12", &Report { tests }, true)
                .is_empty()
        );
    }

    #[test]
    fn a_case_needs_its_proof() {
        let without = LISTED.replace("The standard says otherwise.", " ");
        assert!(Expectations::parse(&without).is_err());
        assert!(Expectations::parse("[[case]]\ntest = 'a'").is_err());
        assert!(Expectations::parse("").unwrap().case.is_empty());
    }
}
