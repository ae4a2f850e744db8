//! `cargo xtask schedule`: random programs over pools, under the order checker.
//!
//! A build server runs ten million steps; a person who changed the pools runs more.

use crate::failure::Outcome;
use crate::options::Options;
use crate::run::{Program, step};

const STEPS: f64 = 1e7;

/// Runs as many steps as are wanted.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    let options = Options::parse(arguments, &[], &["steps", "seed"])?;
    options.no_words()?;
    let steps = options.number("steps", STEPS)? as u64;
    let seed = options.number("seed", 1.0)? as u64;
    step("random programs over pools", || {
        Program::cargo()
            .args(["run", "--release", "-p", "millpond-runtime"])
            .args(["--example", "pool_schedule", "--"])
            .args([steps.to_string(), seed.to_string()])
            .run()
    })
}
