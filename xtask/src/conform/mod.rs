//! `cargo xtask conform PATH`: the public conformance suite of the Array API standard.
//!
//! The suite is not part of the project: PATH is a clone of <https://github.com/data-apis/array-api-tests>, made with
//! its submodule. It runs against the built wheel, once for each version of the standard that a program can ask the
//! namespace for, and gets the namespace as such a program does. Every failure counts, but for those of
//! `conformance/expectations.toml`, each of which comes with the proof that the suite is wrong; one that passes after
//! all counts as well.

mod expectations;
mod report;
#[cfg(unix)]
pub(crate) mod ur;

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};
use crate::options::Options;
use crate::project;
use crate::python_env;
use crate::run::{Program, step};
use crate::wheel::{self, Profile, Reach};

use expectations::Expectations;
use report::Report;

/// The versions of the standard that the suite knows and the namespace is asked for.
const VERSIONS: [&str; 2] = ["2024.12", "2025.12"];

/// Examples of each test, as the suite has it by itself.
const EXAMPLES: f64 = 100.0;

/// What pytest ends with when it ran tests: all passed, or some failed.
const PYTEST_RAN: [i32; 2] = [0, 1];

/// Prints a report of Python's as JSON.
const TOLD: &str = "import json, sys; \
    print(json.dumps(json.load(open(sys.argv[1], encoding='utf-8'), parse_constant=str)))";

/// The dtypes that a device without `float64` lacks.
const WIDE: &str = "float64,complex128";

/// Runs the suite and judges it.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    let valued = ["version", "max-examples", "jobs", "seed"];
    let options = Options::parse(arguments, &["no-float64"], &valued)?;
    let suite = Suite::of(&options)?;
    let expectations = Expectations::read(&project::path("conformance/expectations.toml"))?;
    python_env::prepare(&["build", "conform"])?;
    let wheel = wheel::build(Reach::Here, Profile::Release)?;
    python_env::install_wheel(&wheel)?;
    let device = default_device();
    let mut faults = Vec::new();
    for version in suite.versions() {
        let report = step(&format!("conformance with {version}"), || {
            suite.run(version)
        })?;
        print!("{version}: {}", report.summary());
        let run = (version, device.as_deref());
        let judged = expectations.judge(run, &report, suite.words.is_empty());
        faults.extend(
            judged
                .into_iter()
                .map(|fault| format!("{version}: {fault}")),
        );
    }
    if faults.is_empty() {
        println!("conform: nothing unexpected");
        return Ok(());
    }
    println!("{}", faults.join("\n"));
    Err(Failure::Check(format!(
        "{} results differ from what is expected",
        faults.len()
    )))
}

/// The device that the suite's arrays are on, unless it is the first of the host's.
#[expect(
    clippy::disallowed_methods,
    reason = "the variable is the wheel's, which gets it with the rest of the environment"
)]
fn default_device() -> Option<String> {
    std::env::var("MILLPOND_DEVICE").ok()
}

/// A clone of the suite, and how it is to be run.
struct Suite {
    folder: PathBuf,
    version: Option<&'static str>,
    examples: usize,
    jobs: String,
    seed: Option<String>,
    without_float64: bool,
    words: Vec<String>,
}

impl Suite {
    fn of(options: &Options) -> Outcome<Self> {
        let Some((folder, words)) = options.words.split_first() else {
            return Err(Failure::Usage(
                "conform needs the path of a clone of array-api-tests".to_owned(),
            ));
        };
        let folder = fs::canonicalize(folder).map_err(Failure::file(folder))?;
        check_clone(&folder)?;
        let known = |given: &str| {
            let version = VERSIONS.into_iter().find(|version| *version == given);
            version.ok_or_else(|| {
                let versions = VERSIONS.join(" or ");
                Failure::Usage(format!("--version wants {versions}, not '{given}'"))
            })
        };
        Ok(Self {
            folder,
            version: options.value("version").map(known).transpose()?,
            examples: options.number("max-examples", EXAMPLES)?.max(1.0) as usize,
            jobs: options.value("jobs").unwrap_or("auto").to_owned(),
            seed: options.value("seed").map(str::to_owned),
            without_float64: options.has("no-float64"),
            words: words.to_vec(),
        })
    }

    fn versions(&self) -> impl Iterator<Item = &'static str> {
        let wanted = self.version;
        VERSIONS
            .into_iter()
            .filter(move |version| wanted.is_none_or(|wanted| wanted == *version))
    }

    fn run(&self, version: &str) -> Outcome<Report> {
        let target = project::path("target/conform").join(format!("{version}.json"));
        project::write(&target, "")?;
        let code = self.program(version, &target).code()?;
        if !PYTEST_RAN.contains(&code) {
            return Err(Failure::Check(format!(
                "the suite did not run: exit code {code}"
            )));
        }
        // Python's reports have numbers that JSON doesn't.
        let told = python_env::python().args(["-c", TOLD]).arg(&target);
        Report::parse(&told.output()?)
    }

    fn program(&self, version: &str, report: &Path) -> Program {
        // The namespace, by way of an array, as the standard has it.
        let namespace = format!(
            "exec('import millpond.tensor as xp; xp = xp.zeros(1).__array_namespace__(api_version=\"{version}\")')"
        );
        let mut file = std::ffi::OsString::from("--json-report-file=");
        file.push(report);
        let mut program = python_env::python()
            .args(["-m", "pytest", "array_api_tests", "--quiet", "--no-header"])
            .args(["-p", "no:cacheprovider", "--disable-deadline", "--tb=short"])
            .args(["--json-report", "--json-report-omit=collectors"])
            .arg(file)
            .args(["--max-examples", &self.examples.to_string()])
            .args(["--numprocesses", &self.jobs])
            .env("ARRAY_API_TESTS_MODULE", namespace)
            .env("ARRAY_API_TESTS_VERSION", version)
            .within(&self.folder);
        program = match &self.seed {
            Some(seed) => program.args(["--hypothesis-seed", seed]),
            None => program.arg("--derandomize"),
        };
        if self.without_float64 {
            program = program
                .env("MILLPOND_CPU_FLOAT64", "0")
                .env("ARRAY_API_TESTS_SKIP_DTYPES", WIDE);
        }
        if self.words.is_empty() {
            return program;
        }
        program.args(["-k", &self.words.join(" or ")])
    }
}

/// Fails unless a folder holds the suite and what it reads the standard from.
fn check_clone(folder: &Path) -> Outcome<()> {
    let missing = |what: &str| {
        let folder = folder.display();
        Err(Failure::Missing(format!(
            "{folder} has no {what}; make a clone with `git clone --recurse-submodules \
             https://github.com/data-apis/array-api-tests`"
        )))
    };
    if !folder.join("array_api_tests").is_dir() {
        return missing("folder array_api_tests");
    }
    if !folder.join("array-api/src").is_dir() {
        return missing("submodule array-api");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn suite(line: &str) -> Outcome<Suite> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let valued = ["version", "max-examples", "jobs", "seed"];
        Suite::of(&Options::parse(&words, &["no-float64"], &valued)?)
    }

    #[test]
    fn a_folder_without_the_suite_is_refused_with_the_remedy() {
        assert!(matches!(suite(""), Err(Failure::Usage(_))));
        let failure = suite(&project::root().to_string_lossy()).err().unwrap();
        assert!(failure.to_string().contains("git clone"), "{failure}");
    }
}
