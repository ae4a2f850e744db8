//! Checks by tools of the package index, installed into `.venv` at pinned versions.

use std::path::PathBuf;

use super::Verdict;
use crate::failure::Outcome;
use crate::project;
use crate::python_env;
use crate::run::Program;

/// Python files of ours.
const PYTHON_SOURCES: &[&str] = &["python", "examples", "benches", "xtask", "docs/site"];

/// Spelling, in all files.
pub(super) fn typos() -> Outcome<Verdict> {
    with_tool("lint", "typos", |typos| {
        typos.args(["--config", "typos.toml"]).run()
    })
}

/// Lints of the Python sources.
pub(super) fn ruff() -> Outcome<Verdict> {
    with_tool("lint", "ruff", |ruff| {
        ruff.args(["check", "--quiet", "--config", "python/pyproject.toml"])
            .args(PYTHON_SOURCES)
            .run()
    })
}

/// Layout of the Python sources.
pub(super) fn ruff_format() -> Outcome<Verdict> {
    with_tool("lint", "ruff", |ruff| {
        ruff.args([
            "format",
            "--check",
            "--quiet",
            "--config",
            "python/pyproject.toml",
        ])
        .args(PYTHON_SOURCES)
        .run()
    })
}

/// Types of the Python package.
pub(super) fn mypy() -> Outcome<Verdict> {
    // Type checking reads the packages that the sources import.
    if let Err(why) = python_env::prepare(&["test"]) {
        return Ok(Verdict::Skipped(why.to_string()));
    }
    with_tool("lint", "mypy", |mypy| {
        mypy.within(project::path("python"))
            .arg("src/millpond")
            .run()
    })
}

/// Licences, sources and duplicates of the dependencies.
pub(super) fn deny() -> Outcome<Verdict> {
    with_tool("cargo-tools", "cargo-deny", |deny| {
        deny.args(["check", "licenses", "bans", "sources"]).run()
    })
}

/// Runs a tool of a set of packages, found on the path or installed; skips if it cannot be had.
fn with_tool(set: &str, name: &str, run: impl FnOnce(Program) -> Outcome<()>) -> Outcome<Verdict> {
    let tool: PathBuf = python_env::tool(name);
    if let Err(why) = python_env::prepare(&[set]) {
        return Ok(Verdict::Skipped(why.to_string()));
    }
    run(Program::new(tool)).map(|()| Verdict::Clean)
}
