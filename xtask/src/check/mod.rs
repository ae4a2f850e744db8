//! `cargo xtask check`: everything that can be judged without running a test.
//!
//! Each check prints its faults and fails as a whole; the others still run. A tool that comes from the package index
//! and cannot be had is reported as skipped: those checks are about style and licences, never about correctness.

mod headers;
mod layers;
mod links;
mod names;
mod rust_text;
mod sizes;
mod tools;

use std::ffi::OsString;

use crate::failure::{Failure, Outcome};
use crate::generate;
use crate::options::Options;
use crate::python_env;
use crate::run::{Program, step};

/// How a check ended, if it didn't fail.
pub(crate) enum Verdict {
    /// No fault.
    Clean,
    /// The tool could not be had; why.
    Skipped(String),
}

/// A check: its name on the command line, and what does it.
struct Check {
    name: &'static str,
    run: fn() -> Outcome<Verdict>,
}

/// All checks, quick ones first.
const CHECKS: &[Check] = &[
    Check {
        name: "headers",
        run: headers::check,
    },
    Check {
        name: "names",
        run: names::check,
    },
    Check {
        name: "layers",
        run: layers::check,
    },
    Check {
        name: "links",
        run: links::check,
    },
    Check {
        name: "sizes",
        run: sizes::check,
    },
    Check {
        name: "generated",
        run: generated,
    },
    Check {
        name: "format",
        run: format,
    },
    Check {
        name: "typos",
        run: tools::typos,
    },
    Check {
        name: "ruff",
        run: tools::ruff,
    },
    Check {
        name: "ruff-format",
        run: tools::ruff_format,
    },
    Check {
        name: "mypy",
        run: tools::mypy,
    },
    Check {
        name: "deny",
        run: tools::deny,
    },
    Check {
        name: "clippy",
        run: clippy,
    },
    Check {
        name: "doc",
        run: doc,
    },
];

/// Runs the checks, or those that the arguments name.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    let options = Options::parse(arguments, &[], &[])?;
    let chosen = choose(&options.words)?;
    // The Python of `.venv` is what build scripts look at; made here so that later commands build nothing twice.
    python_env::prepare(&[])?;
    let (mut failed, mut skipped) = (Vec::new(), Vec::new());
    for check in &chosen {
        match step(check.name, check.run) {
            Ok(Verdict::Clean) => {}
            Ok(Verdict::Skipped(why)) => {
                println!("skipped: {}: {why}", check.name);
                skipped.push(check.name);
            }
            Err(failure) => {
                println!("{}: {failure}", check.name);
                failed.push(check.name);
            }
        }
    }
    println!(
        "check: {} clean, {} failed, {} skipped",
        chosen.len() - failed.len() - skipped.len(),
        failed.len(),
        skipped.len()
    );
    if failed.is_empty() {
        return Ok(());
    }
    Err(Failure::Check(format!("failed: {}", failed.join(", "))))
}

fn choose(names: &[String]) -> Outcome<Vec<&'static Check>> {
    if names.is_empty() {
        return Ok(CHECKS.iter().collect());
    }
    names
        .iter()
        .map(|name| {
            CHECKS
                .iter()
                .find(|check| check.name == name)
                .ok_or_else(|| {
                    let known: Vec<&str> = CHECKS.iter().map(|check| check.name).collect();
                    Failure::Usage(format!(
                        "there is no check '{name}' among {}",
                        known.join(", ")
                    ))
                })
        })
        .collect()
}

/// Prints the faults, if any, and turns them into a verdict.
fn judge(faults: &[String]) -> Outcome<Verdict> {
    for fault in faults {
        println!("  {fault}");
    }
    if faults.is_empty() {
        return Ok(Verdict::Clean);
    }
    Err(Failure::Check(format!("{} faults", faults.len())))
}

fn generated() -> Outcome<Verdict> {
    generate::compare().map(|()| Verdict::Clean)
}

/// A package that stands beside the workspace: the example of an extension.
const BESIDE: &str = "examples/native/rust/Cargo.toml";

fn format() -> Outcome<Verdict> {
    Program::cargo().args(["fmt", "--all", "--check"]).run()?;
    let beside = ["fmt", "--manifest-path", BESIDE, "--check"];
    Program::cargo().args(beside).run().map(|()| Verdict::Clean)
}

fn clippy() -> Outcome<Verdict> {
    let lints = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--quiet",
        "--",
        "-D",
        "warnings",
    ];
    let program = Program::cargo().args(lints);
    program.run().map(|()| Verdict::Clean)
}

fn doc() -> Outcome<Verdict> {
    let flags = [("RUSTDOCFLAGS".to_owned(), OsString::from("-D warnings"))];
    let pages = [
        "doc",
        "--workspace",
        "--no-deps",
        "--document-private-items",
        "--quiet",
    ];
    let program = Program::cargo().args(pages).envs(&flags);
    program.run().map(|()| Verdict::Clean)
}
