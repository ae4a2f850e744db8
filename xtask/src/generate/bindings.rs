//! The headers of the C interface and their declarations for Cython, from the crate that has the functions.
//!
//! The crate is asked by a program of its own, its example `bindings`, so that the tool needn't be built with it.

use crate::failure::Outcome;
use crate::run::Program;

/// `millpond.h`.
pub(super) fn header() -> Outcome<String> {
    file("millpond.h")
}

/// `millpond_python.h`.
pub(super) fn python_header() -> Outcome<String> {
    file("millpond_python.h")
}

/// `capi.pxd`.
pub(super) fn cython() -> Outcome<String> {
    file("capi.pxd")
}

fn file(name: &str) -> Outcome<String> {
    // The profile of the tests, whose build of the crate is there or will be needed.
    Program::cargo()
        .args([
            "run",
            "--quiet",
            "--profile",
            "test",
            "--package",
            "millpond-capi",
        ])
        .args(["--example", "bindings", "--", name])
        .output()
}
