//! `cargo xtask soak`: everything at once for a while, and a look at what it leaves behind.

use crate::failure::Outcome;
use crate::options::Options;
use crate::python_env;
use crate::run::step;
use crate::wheel::{self, Profile, Reach};

const MINUTES: f64 = 10.0;

/// Builds and installs the wheel and runs the soak test.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    let options = Options::parse(arguments, &[], &["minutes", "seed"])?;
    options.no_words()?;
    let minutes = options.number("minutes", MINUTES)?;
    let seed = options.number("seed", 1.0)?;
    python_env::prepare(&["build", "test"])?;
    let wheel = wheel::build(Reach::Here, Profile::Release)?;
    python_env::install_wheel(&wheel)?;
    step("soak", || {
        python_env::python()
            .args(["xtask/soak.py", "--minutes"])
            .arg(minutes.to_string())
            .arg("--seed")
            .arg(seed.to_string())
            .run()
    })
}
