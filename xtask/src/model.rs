//! `cargo xtask model`: the steps of threads, and what they may see, in the orders that a clock
//! never shows.
//!
//! The crates are built anew with the types of a model checker in place of the standard library's,
//! and their tests called `model` are run: by `loom` what threads share without a lock, in every
//! order and with every value that a load may see; by `shuttle` whole pools, in many orders.

use crate::failure::Outcome;
use crate::options::Options;
use crate::run::{Program, step};

/// Each checker, which is the name of its configuration too, and the crates with models for it.
const CHECKERS: &[(&str, &[&str])] = &[
    ("loom", &["-p", "millpond-cpu", "-p", "millpond-runtime"]),
    ("shuttle", &["-p", "millpond-runtime"]),
];

/// Runs the models, or those whose names contain one of the words.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    let options = Options::parse(arguments, &[], &[])?;
    // The names of all models begin so; a word of the user's takes the place.
    let names = if options.words.is_empty() {
        vec!["model::".to_owned()]
    } else {
        options.words
    };
    for (checker, crates) in CHECKERS {
        step(&format!("models under {checker}"), || {
            Program::cargo()
                .args(["test", "--release", "--lib", "--target-dir", "target/model"])
                .args(*crates)
                .arg("--")
                .args(&names)
                .env("RUSTFLAGS", format!("--cfg {checker}"))
                .run()
        })?;
    }
    Ok(())
}
