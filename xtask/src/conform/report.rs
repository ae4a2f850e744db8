//! What a run of a suite gave: each test with its outcome; of one that pytest runs, from the report that it writes.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use crate::failure::{Failure, Outcome};

/// How a test ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It passed.
    Passed,
    /// It did not run; why.
    Skipped(String),
    /// It failed, or broke off; what was shown.
    Failed(String),
}

/// The tests of a run by their names, in order.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) tests: BTreeMap<String, Ending>,
}

impl Report {
    /// Reads a report of `pytest-json-report`.
    ///
    /// # Errors
    /// If it has no tests, which no selection that ran gives.
    pub(super) fn parse(text: &str) -> Outcome<Self> {
        let report: Value = serde_json::from_str(text).unwrap_or_default();
        let tests = report["tests"].as_array();
        let tests: BTreeMap<_, _> = tests.into_iter().flatten().filter_map(named).collect();
        if tests.is_empty() {
            return Err(Failure::Check(
                "the report of the suite has no tests".to_owned(),
            ));
        }
        Ok(Self { tests })
    }

    /// Adds a test, unless there is one of the name: gives the name then.
    #[cfg(unix)]
    pub(super) fn add(&mut self, name: String, ending: Ending) -> Option<String> {
        if self.tests.contains_key(&name) {
            return Some(name);
        }
        self.tests.insert(name, ending);
        None
    }

    /// How many tests ended in which way.
    pub(super) fn counts(&self) -> String {
        let count = |is: fn(&Ending) -> bool| self.tests.values().filter(|test| is(test)).count();
        format!(
            "{} passed, {} failed, {} skipped\n",
            count(|ending| matches!(ending, Ending::Passed)),
            count(|ending| matches!(ending, Ending::Failed(_))),
            count(|ending| matches!(ending, Ending::Skipped(_))),
        )
    }

    /// The counts, and each test that was skipped, by the reason.
    pub(super) fn summary(&self) -> String {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, ending) in &self.tests {
            if let Ending::Skipped(reason) = ending {
                reasons.entry(reason).or_default().push(name);
            }
        }
        let mut text = self.counts();
        for (reason, names) in reasons {
            // Writing to a string does not fail.
            let _ = writeln!(text, "  skipped, {reason}:\n    {}", names.join("\n    "));
        }
        text
    }
}

/// A test of the report. What is marked as an expected failure by the suite itself is skipped.
fn named(test: &Value) -> Option<(String, Ending)> {
    let name = test["nodeid"].as_str()?.to_owned();
    let shown = ["setup", "call", "teardown"]
        .into_iter()
        .filter_map(|stage| test[stage]["longrepr"].as_str())
        .collect::<Vec<_>>()
        .join("\n");
    let ending = match test["outcome"].as_str()? {
        "passed" => Ending::Passed,
        "skipped" | "xfailed" => Ending::Skipped(reason(&shown).to_owned()),
        _ => Ending::Failed(shown),
    };
    Some((name, ending))
}

/// The reason in the text of a skipped test: `('file', 7, 'Skipped: reason')`, and more on other lines.
fn reason(shown: &str) -> &str {
    let reason = shown
        .split_once("Skipped: ")
        .map_or(shown, |(_, rest)| rest);
    let reason = reason.lines().next().unwrap_or_default();
    let reason = reason.trim_end_matches([')', '\'', '"']);
    if reason.is_empty() {
        "for no reason that was told"
    } else {
        reason
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_counted_and_skips_named() {
        let report = serde_json::json!({ "tests": [
            { "nodeid": "a", "outcome": "passed", "call": {} },
            { "nodeid": "b", "outcome": "failed", "call": { "longrepr": "0 is not 1" } },
            { "nodeid": "c", "outcome": "error", "setup": { "longrepr": "no fixture" } },
            { "nodeid": "d", "outcome": "skipped", "setup": { "longrepr": "[gw1]\n('f', 7, 'Skipped: too old')\nend" } },
        ] });
        let report = Report::parse(&report.to_string()).unwrap();
        assert_eq!(report.tests["c"], Ending::Failed("no fixture".to_owned()));
        assert_eq!(
            report.summary(),
            "1 passed, 2 failed, 1 skipped\n  skipped, too old:\n    d\n"
        );
    }

    #[test]
    fn a_report_without_tests_is_an_error() {
        assert!(Report::parse("").is_err());
        assert!(Report::parse("{ \"tests\": [] }").is_err());
    }
}
