//! The project's own Python: `.venv` in the root, and what is installed in it.
//!
//! Sets of packages are the files of `xtask/requirements`. A set is installed once; a stamp in `.venv` remembers its
//! text, so that a command that has all it needs asks no package index.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Outcome};
use crate::project;
use crate::run::{Program, step};

/// Interpreters to try, best first.
const CANDIDATES: &[&str] = &[
    "python3",
    "python",
    "python3.14",
    "python3.13",
    "python3.12",
    "python3.11",
    "python3.10",
];

/// The oldest minor version of Python 3 that can run millpond.
const OLDEST: u32 = 10;

/// The interpreter of `.venv`, whether or not it is there yet.
pub(crate) fn venv_python() -> PathBuf {
    tool("python")
}

/// A program of `.venv`, whether or not it is there.
pub(crate) fn tool(name: &str) -> PathBuf {
    let folder = if cfg!(windows) { "Scripts" } else { "bin" };
    let program = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    project::path(".venv").join(folder).join(program)
}

/// The interpreter of `.venv`, ready to run something.
pub(crate) fn python() -> Program {
    Program::new(venv_python())
}

/// Makes `.venv` if it isn't there, and installs the sets in it.
pub(crate) fn prepare(sets: &[&str]) -> Outcome<()> {
    create()?;
    sets.iter().try_for_each(|set| install_set(set))
}

/// Installs a file in place of any other version of it, with nothing else.
pub(crate) fn install_wheel(wheel: &Path) -> Outcome<()> {
    let name = wheel.file_name().unwrap_or_default().to_string_lossy();
    step(&format!("install {name}"), || {
        pip()
            .args(["install", "--quiet", "--force-reinstall", "--no-deps"])
            .arg(wheel)
            .run()
    })
}

/// Pip of `.venv`.
pub(crate) fn pip() -> Program {
    python().args(["-m", "pip", "--disable-pip-version-check"])
}

fn create() -> Outcome<()> {
    if is_at_least(&venv_python(), OLDEST) {
        return Ok(());
    }
    let base = find()?;
    step(&format!("make .venv with {}", base.display()), || {
        let made = Program::new(&base)
            .args(["-m", "venv", "--clear", ".venv"])
            .run();
        made.map_err(|failure| {
            Failure::Missing(format!(
                "{failure}; on Debian and Ubuntu the package python3-venv provides the module"
            ))
        })
    })
}

fn find() -> Outcome<PathBuf> {
    CANDIDATES
        .iter()
        .map(PathBuf::from)
        .find(|candidate| is_at_least(candidate, OLDEST))
        .ok_or_else(|| {
            Failure::Missing(format!(
                "no Python 3.{OLDEST} or later found; tried {}",
                CANDIDATES.join(", ")
            ))
        })
}

/// Whether this is a Python that runs, of version 3.`minor` or later.
fn is_at_least(python: &Path, minor: u32) -> bool {
    let question = format!("import sys; sys.exit(sys.version_info < (3, {minor}))");
    Program::new(python)
        .args(["-c", &question])
        .probe()
        .is_some()
}

fn install_set(set: &str) -> Outcome<()> {
    let requirements = project::path("xtask/requirements").join(format!("{set}.txt"));
    let wanted = project::read(&requirements)?;
    let stamp = project::path(".venv").join(format!("installed-{set}.txt"));
    if project::read(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    let names: Vec<&str> = wanted
        .lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_alphanumeric()))
        .map(|line| line.trim_end_matches(['\\', ' ']))
        .collect();
    step(&format!("install {}", names.join(", ")), || {
        pip()
            .args(["install", "--requirement"])
            .arg(&requirements)
            .run()
    })?;
    project::write(&stamp, &wanted)
}
