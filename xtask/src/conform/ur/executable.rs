//! An executable of the suite, and its tests: which there are, and how one ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::super::report::Ending;
use crate::failure::{Failure, Outcome};
use crate::run::Program;

/// A test that takes longer hangs.
const LIMIT: Duration = Duration::from_mins(2);

/// What the system says when a program calls a function of a library that has none of the name.
const MISSING: &str = "undefined symbol: ur";

/// What the framework counts as a test although it checks only how tests are declared.
const NOT_A_SUITE: &str = "GoogleTestVerification";

/// A program with tests of the framework.
#[derive(Debug)]
pub(super) struct Executable {
    path: PathBuf,
    name: String,
}

impl Executable {
    /// Those in a folder, sorted by name.
    pub(super) fn all(folder: &Path) -> Outcome<Vec<Self>> {
        let entries = fs::read_dir(folder).map_err(Failure::file(folder))?;
        let mut found = Vec::new();
        for entry in entries {
            let path = entry.map_err(Failure::file(folder))?.path();
            let data = fs::metadata(&path).map_err(Failure::file(&path))?;
            if data.is_file() && data.permissions().mode() & 0o111 != 0 {
                let path = fs::canonicalize(&path).map_err(Failure::file(&path))?;
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                let name = name.trim_end_matches("-test").to_owned();
                found.push(Self { path, name });
            }
        }
        found.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(found)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The tests that a filter of the framework's lets through.
    ///
    /// # Errors
    /// If there are none, as where no device is found.
    pub(super) fn tests(&self, program: Program, filter: &str) -> Outcome<Vec<Test>> {
        let listed = program
            .args(["--gtest_list_tests", &format!("--gtest_filter={filter}")])
            .output()?;
        let tests = parse(&listed);
        if tests.is_empty() && filter == "*" {
            return Err(Failure::Check(format!("{} lists no tests", self.name)));
        }
        Ok(tests)
    }
}

/// A test by the name that its executable has for it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Test(String);

impl Test {
    /// The name without the device's, which differs from machine to machine.
    pub(super) fn name(&self) -> String {
        let Some((test, parameter)) = self.0.split_once("/UR_BACKEND_") else {
            return self.0.clone();
        };
        // Platforms and devices have numbers, of which the only one here is the first; devices have an
        // identifier of sixteen characters behind theirs.
        let own = parameter.rsplit_once("_ID0").map_or("", |(_, own)| own);
        let own = own
            .strip_prefix("ID_")
            .and_then(|own| own.get(16..))
            .unwrap_or(own);
        let own = own.trim_start_matches('_');
        if own.is_empty() {
            test.to_owned()
        } else {
            format!("{test}/{own}")
        }
    }

    /// Runs it alone.
    pub(super) fn run(&self, program: Program, output: &Path) -> Outcome<Ending> {
        let only = format!("--gtest_filter={}", self.0);
        let status = program.arg(only).ended(LIMIT, output)?;
        let shown = fs::read(output).map_err(Failure::file(output))?;
        let shown = String::from_utf8_lossy(&shown);
        Ok(match status {
            None => Ending::Failed(format!("ran longer than {} s\n{shown}", LIMIT.as_secs())),
            Some(status) if status.success() => passed(&shown),
            // The suite is newer than the loader, and asks for what that doesn't have.
            Some(_) if shown.contains(MISSING) => Ending::Skipped(missing(&shown)),
            Some(status) => Ending::Failed(format!("{status}\n{shown}")),
        })
    }
}

/// Which function a loader lacks.
fn missing(shown: &str) -> String {
    let rest = shown.split_once(MISSING).map_or("", |(_, rest)| rest);
    let name = rest.split_whitespace().next().unwrap_or_default();
    format!("the loader has no ur{name}")
}

/// How a test ended whose process succeeded.
fn passed(shown: &str) -> Ending {
    if let Some((_, reason)) = shown.split_once(": Skipped\n") {
        let reason = reason.lines().next().unwrap_or_default().trim();
        return Ending::Skipped(if reason.is_empty() {
            "for no reason that was told".to_owned()
        } else {
            reason.to_owned()
        });
    }
    if shown.contains("[  PASSED  ] 1 test.") {
        Ending::Passed
    } else {
        Ending::Failed(format!("no test passed\n{shown}"))
    }
}

/// The tests of a list: suites begin lines, and their tests follow with two spaces before.
fn parse(listed: &str) -> Vec<Test> {
    let mut suite = "";
    let mut tests = Vec::new();
    for line in listed.lines() {
        let name = line.split("  #").next().unwrap_or_default();
        match name.strip_prefix("  ") {
            Some(test) if !suite.is_empty() => tests.push(Test(format!("{suite}{test}"))),
            Some(_) => {}
            None => {
                let is_suite = name.ends_with('.') && !name.starts_with(NOT_A_SUITE);
                suite = if is_suite { name } else { "" };
            }
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::{Ending, Test, missing, parse, passed};

    const LISTED: &str = "\
a message of somebody
GoogleTestVerification.
  Uninstantiated
urA.
  Success/UR_BACKEND_NATIVE_CPU__millpond__A_CPU_ID0ID_millpondcpu__________2_4  # GetParam() = 8-byte object
  Plain
  All/UR_BACKEND_NATIVE_CPU__millpond_ID0__UR_DEVICE_TYPE_CPU
";

    #[test]
    fn lists_are_suites_with_their_tests() {
        let tests = parse(LISTED);
        let names: Vec<_> = tests.iter().map(Test::name).collect();
        let expected = ["urA.Success/2_4", "urA.Plain", "urA.All/UR_DEVICE_TYPE_CPU"];
        assert_eq!(names, expected);
        assert!(tests[0].0.ends_with("_2_4"));
    }

    #[test]
    fn endings_are_told_by_what_is_shown() {
        assert_eq!(passed("...\n[  PASSED  ] 1 test.\n"), Ending::Passed);
        let skipped =
            passed("a.cpp:3: Skipped\nno images\n\n[  SKIPPED ] a\n[  PASSED  ] 0 tests.\n");
        assert_eq!(skipped, Ending::Skipped("no images".to_owned()));
        assert!(matches!(passed("[  PASSED  ] 0 tests."), Ending::Failed(_)));
        let lacks = missing("a: symbol lookup error: a: undefined symbol: urEventCreateExp\n");
        assert_eq!(lacks, "the loader has no urEventCreateExp");
    }
}
