//! `cargo xtask memcheck`: the runtime's tests, the Unified Runtime's adapter and the examples of native extensions, under
//! checkers of memory errors.
//!
//! Valgrind's memcheck runs what `cargo test` builds. Its emulated processor has no AVX-512, which
//! the runtime's own tests don't use. AddressSanitizer needs the nightly compiler, which builds the
//! tests anew; leaks are left to Valgrind, since test programs end with their devices open.
//!
//! The examples are built against an installed wheel as ever, for AddressSanitizer with that of the system's compiler,
//! which those in Rust have no part in; their own tests run in an interpreter under the checker, and count what they
//! leave.

use crate::failure::Outcome;
use crate::options::Options;
use crate::project;
use crate::python_env;
use crate::run::{Program, step};
use crate::wheel::{self, Profile, Reach};

/// The crates whose tests are checked: those that own memory.
const CRATES: &[&str] = &["-p", "millpond-runtime", "-p", "millpond-hal"];

/// How many functions of the Unified Runtime's adapter are called.
const CALLS: &str = "200000";

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The parts that can be named.
const PARTS: [&str; 3] = ["runtime", "adapter", "examples"];

/// Runs all parts under both checkers, or what is named of either.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    let flags = [&["valgrind", "asan"], &PARTS[..]].concat();
    let options = Options::parse(arguments, &flags, &[])?;
    options.no_words()?;
    let any_part = PARTS.iter().any(|part| options.has(part));
    let part = |name| options.has(name) || !any_part;
    let valgrind = options.has("valgrind") || !options.has("asan");
    let asan = options.has("asan") || !options.has("valgrind");
    if part("runtime") {
        if valgrind {
            step("tests under valgrind", runtime_under_valgrind)?;
        }
        if asan {
            step("tests under AddressSanitizer", || {
                sanitized().arg("--tests").args(CRATES).run()
            })?;
        }
    }
    if part("adapter") && asan {
        step("any arguments under AddressSanitizer", adapter_under_asan)?;
    }
    if part("examples") {
        python_env::prepare(&["build", "test"])?;
        let wheel = wheel::build(Reach::Here, Profile::Test)?;
        python_env::install_wheel(&wheel)?;
        if asan {
            step("native examples under AddressSanitizer", || {
                examples("asan")
            })?;
        }
        if valgrind {
            step("native examples under valgrind", || examples("valgrind"))?;
        }
    }
    Ok(())
}

fn runtime_under_valgrind() -> Outcome<()> {
    let runner = "valgrind --quiet --error-exitcode=9";
    Program::cargo()
        .args(["test", "--tests"])
        .args(CRATES)
        .env("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER", runner)
        .args(["--", "--test-threads=1"])
        .run()
}

fn adapter_under_asan() -> Outcome<()> {
    sanitized()
        .args([
            "-p",
            "millpond-ur",
            "--test",
            "conformance",
            "any_arguments",
        ])
        .env("MILLPOND_UR_CALLS", CALLS)
        .run()
}

/// Tests that are built with the sanitizer.
fn sanitized() -> Program {
    // Through rustup's proxy, which knows the toolchain argument.
    Program::new("cargo")
        .args(["+nightly", "test", "--target", TARGET])
        .args(["--target-dir", "target/asan"])
        .env("RUSTFLAGS", "-Zsanitizer=address")
        .env("ASAN_OPTIONS", "detect_leaks=0")
        .env("RUSTUP_TOOLCHAIN", "nightly")
}

/// Builds the examples of native extensions and runs their own tests under a checker.
fn examples(checker: &str) -> Outcome<()> {
    python_env::python()
        .args([
            "-m",
            "pytest",
            "tests/native/test_examples.py",
            "--checker",
            checker,
        ])
        .within(project::path("python"))
        .run()
}
