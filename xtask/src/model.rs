//! `cargo xtask model`: every order of steps of the parts that threads share without a lock.
//!
//! The crates are built anew with the types of the model checker `loom` in place of the standard
//! library's, and their tests called `model` are run.

use crate::failure::Outcome;
use crate::options::Options;
use crate::run::{Program, step};

/// The crates that have models.
const CRATES: &[&str] = &["-p", "millpond-cpu"];

/// Runs the models, or those whose names contain one of the words.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    let options = Options::parse(arguments, &[], &[])?;
    // The names of all models begin so; a word of the user's takes the place.
    let names = if options.words.is_empty() {
        vec!["model::".to_owned()]
    } else {
        options.words
    };
    step("models of the executor", || {
        Program::cargo()
            .args(["test", "--release", "--lib", "--target-dir", "target/model"])
            .args(CRATES)
            .arg("--")
            .args(names)
            .env("RUSTFLAGS", "--cfg loom")
            .run()
    })
}
