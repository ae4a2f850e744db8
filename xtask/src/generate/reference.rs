//! The pages of `docs/reference/tensor`, from the docstrings of the installed wheel.
//!
//! Docstrings are only known where the extension runs, so these pages are compared by `cargo xtask test`, which has built
//! it, and not by `cargo xtask check`.

use crate::failure::Outcome;
use crate::python_env;
use crate::run::Program;
use crate::wheel::{self, Profile, Reach};

/// Builds and installs the wheel, and writes or compares the pages.
pub(super) fn from_new_wheel(check: bool) -> Outcome<()> {
    let wheel = wheel::build(Reach::Here, Profile::Test)?;
    python_env::install_wheel(&wheel)?;
    let program = script();
    if check {
        return program.arg("--check").run();
    }
    program.run()
}

/// What compares the pages with the wheel that is installed.
pub(crate) fn comparison() -> Program {
    script().arg("--check")
}

fn script() -> Program {
    python_env::python().arg("xtask/reference_pages.py")
}
