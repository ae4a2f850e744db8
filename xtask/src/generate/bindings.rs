//! The headers of the C interface, their declarations for Cython and Rust, and the page about them, from the crate that has
//! the functions.
//!
//! The crate is asked by a program of its own, its example `bindings`, so that the tool needn't be built with it.

use super::example;
use crate::failure::Outcome;

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

/// The declarations of the crate for extensions in Rust.
pub(super) fn rust() -> Outcome<String> {
    file("raw.rs")
}

/// The page of functions.
pub(super) fn page() -> Outcome<String> {
    file("c.md")
}

fn file(name: &str) -> Outcome<String> {
    example("bindings")?.arg(name).output()
}
