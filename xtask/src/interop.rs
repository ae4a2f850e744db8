//! `cargo xtask interop`: arrays exchanged with the libraries of today, PyTorch among them.
//!
//! The tests of every run have NumPy and JAX; PyTorch's package brings gigabytes on Linux, so it is installed, in `.venv`
//! as everything, by this command alone. From then on `cargo xtask test` runs its tests as well.

use crate::failure::Outcome;
use crate::options::Options;
use crate::project;
use crate::python_env;
use crate::run::step;
use crate::wheel::{self, Profile, Reach};

/// The versions that the tests are about to see; fails where a library can't be imported, whose tests would be skipped.
const VERSIONS: &str = "import jax, numpy, torch, tvm_ffi; \
    print(*(f'{m.__name__} {m.__version__}' for m in (numpy, torch, jax, tvm_ffi)), sep=', ')";

/// Installs the libraries and the wheel, and runs the tests.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    let options = Options::parse(arguments, &["newest"], &[])?;
    python_env::prepare(&["build", "test", "interop"])?;
    if options.has("newest") {
        step("install the newest libraries", || {
            let install = python_env::pip().args(["install", "--upgrade"]);
            install.args(["numpy", "torch", "jax"]).run()
        })?;
    }
    let wheel = wheel::build(Reach::Here, Profile::Test)?;
    python_env::install_wheel(&wheel)?;
    let versions = python_env::python().args(["-c", VERSIONS]).output()?;
    step(&format!("exchange with {}", versions.trim()), || {
        let tests = python_env::python().args(["-m", "pytest", "tests/interop"]);
        let tests = tests.within(project::path("python"));
        if options.words.is_empty() {
            tests.run()
        } else {
            tests.arg("-k").arg(options.words.join(" or ")).run()
        }
    })
}
