//! `cargo xtask wheel`: builds the Python wheel, with the library for programs in C in it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};
use crate::metadata;
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

impl Profile {
    const fn name(self) -> &'static str {
        match self {
            Self::Test => "dev",
            Self::Release => "release",
            Self::Dist => "dist",
        }
    }

    /// The folder that cargo builds into.
    const fn folder(self) -> &'static str {
        match self {
            Self::Test => "debug",
            other => other.name(),
        }
    }
}

/// Where the package has the library for programs in C.
const LIBRARY: &str = "python/src/millpond/lib/libmillpond.so";

/// Builds an optimised wheel into `target/wheels`, the only one there afterwards.
pub(crate) fn build(reach: Reach, profile: Profile) -> Outcome<PathBuf> {
    python_env::prepare(&["build"])?;
    if reach == Reach::Manylinux2014 {
        python_env::prepare(&["zig"])?;
    }
    let folder = project::path("target/wheels");
    step("build the wheel", || {
        // The library is built with the extension, of whose parts it is made: the second time it is there to be packed.
        let _ = fs::remove_file(project::path(LIBRARY));
        build_into(&folder, reach, profile)?;
        take_library(reach, profile)?;
        build_into(&folder, reach, profile)
    })?;
    only_wheel(&folder)
}

fn build_into(folder: &Path, reach: Reach, profile: Profile) -> Outcome<()> {
    let maturin = maturin(folder).args(["--profile", profile.name()]);
    match reach {
        Reach::Here => maturin.run(),
        Reach::Manylinux2014 => maturin
            .args(["--zig", "--compatibility", "manylinux2014"])
            .env("CARGO_ZIGBUILD_PYTHON_PATH", python_env::venv_python())
            .run(),
    }
}

/// Puts the library where the wheel takes it from.
fn take_library(reach: Reach, profile: Profile) -> Outcome<()> {
    let mut built = metadata::target()?;
    if reach == Reach::Manylinux2014 {
        built.push("x86_64-unknown-linux-gnu");
    }
    built.extend([profile.folder(), "deps", "libmillpond_capi.so"]);
    let target = project::path(LIBRARY);
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    }
    fs::copy(&built, &target).map_err(Failure::file(&built))?;
    Ok(())
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
