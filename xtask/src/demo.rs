//! `cargo xtask demo`: from a checkout to a picture, on a machine with Rust and Python only.

use crate::failure::Outcome;
use crate::options::Options;
use crate::python_env;
use crate::run::step;
use crate::wheel::{self, Profile, Reach};

/// Builds and installs the wheel and runs the terrain example.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    Options::parse(arguments, &[], &[])?.no_words()?;
    println!("demo: terrain analysis with millpond.tensor; the first run takes some minutes");
    python_env::prepare(&["build", "demo"])?;
    let wheel = wheel::build(Reach::Here, Profile::Release)?;
    python_env::install_wheel(&wheel)?;
    step("run examples/python/terrain.py", || {
        python_env::python()
            .args(["examples/python/terrain.py", "--output", "demo-output"])
            .run()
    })
}
