//! `cargo xtask memcheck`: the runtime's tests under checkers of memory errors.
//!
//! Valgrind's memcheck runs what `cargo test` builds. Its emulated processor has no AVX-512, which
//! the runtime's own tests don't use. AddressSanitizer needs the nightly compiler, which builds the
//! tests anew; leaks are left to Valgrind, since test programs end with their devices open.

use crate::failure::Outcome;
use crate::options::Options;
use crate::run::{Program, step};

/// The crates whose tests are checked: those that own memory.
const CRATES: &[&str] = &["-p", "millpond-runtime", "-p", "millpond-hal"];

/// How many functions of the Unified Runtime's adapter are called.
const CALLS: &str = "200000";

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Runs the tests under the checkers, or under the one that is named.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    let options = Options::parse(arguments, &["valgrind", "asan"], &[])?;
    let both = options.has("valgrind") == options.has("asan");
    if both || options.has("valgrind") {
        step("tests under valgrind", || {
            Program::cargo()
                .args(["test", "--tests"])
                .args(CRATES)
                .env(
                    "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER",
                    "valgrind --quiet --error-exitcode=9",
                )
                .args(["--", "--test-threads=1"])
                .run()
        })?;
    }
    if both || options.has("asan") {
        step("tests under AddressSanitizer", || {
            sanitized().arg("--tests").args(CRATES).run()
        })?;
        step("any arguments under AddressSanitizer", || {
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
        })?;
    }
    Ok(())
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
