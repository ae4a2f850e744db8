//! `cargo xtask wheel`: builds the Python wheel.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};
use crate::options::Options;
use crate::project;
use crate::python_env;
use crate::run::{Program, step};

/// Which systems the wheel must run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    /// This one, and those with the same or a newer C library.
    Here,
    /// Linux systems since 2014.
    Manylinux2014,
}

/// What the wheel is for, by the name of a profile in `Cargo.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Profile {
    /// Tests: with every assertion.
    Test,
    /// The demo, and users who build it themselves.
    Release,
    /// Handing out and measuring: slower to build.
    Dist,
}

/// Builds a wheel and prints its size.
pub(crate) fn command(arguments: &[String]) -> Outcome<()> {
    let options = Options::parse(arguments, &["dist", "zig"], &[])?;
    options.no_words()?;
    let reach = if options.has("zig") {
        Reach::Manylinux2014
    } else {
        Reach::Here
    };
    let profile = if options.has("dist") {
        Profile::Dist
    } else {
        Profile::Release
    };
    let wheel = build(reach, profile)?;
    let size = fs::metadata(&wheel).map_err(Failure::file(&wheel))?.len();
    println!(
        "{} ({:.2} MB)",
        project::relative(&wheel),
        size as f64 / 1e6
    );
    Ok(())
}

/// Builds an optimised wheel into `target/wheels`, the only one there afterwards.
pub(crate) fn build(reach: Reach, profile: Profile) -> Outcome<PathBuf> {
    python_env::prepare(&["build"])?;
    if reach == Reach::Manylinux2014 {
        python_env::prepare(&["zig"])?;
    }
    let folder = project::path("target/wheels");
    step("build the wheel", || {
        let profile = match profile {
            Profile::Test => "dev",
            Profile::Release => "release",
            Profile::Dist => "dist",
        };
        let maturin = maturin(&folder).args(["--profile", profile]);
        match reach {
            Reach::Here => maturin.run(),
            Reach::Manylinux2014 => maturin
                .args(["--zig", "--compatibility", "manylinux2014"])
                .env("CARGO_ZIGBUILD_PYTHON_PATH", python_env::venv_python())
                .run(),
        }
    })?;
    only_wheel(&folder)
}

/// The build for the Python of `.venv`, without a profile, into an emptied folder. `python/pyproject.toml` says which
/// versions share a wheel.
pub(crate) fn maturin(folder: &Path) -> Program {
    // A wheel of an earlier version would make it unclear which one to install. A folder that isn't there is empty.
    for old in wheels(folder).unwrap_or_default() {
        let _ = fs::remove_file(old);
    }
    python_env::python()
        .args(["-m", "maturin", "build", "--interpreter"])
        .arg(python_env::venv_python())
        .arg("--out")
        .arg(folder)
        .within(project::path("python"))
}

/// The wheel in a folder that has one.
pub(crate) fn only_wheel(folder: &Path) -> Outcome<PathBuf> {
    let mut found = wheels(folder)?;
    match (found.pop(), found.pop()) {
        (Some(wheel), None) => Ok(wheel),
        (first, _) => Err(Failure::Missing(format!(
            "{} should hold one wheel, but holds {}",
            folder.display(),
            if first.is_none() { "none" } else { "several" }
        ))),
    }
}

fn wheels(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(Failure::file(folder))? {
        let path = entry.map_err(Failure::file(folder))?.path();
        if path.extension().is_some_and(|extension| extension == "whl") {
            found.push(path);
        }
    }
    Ok(found)
}
