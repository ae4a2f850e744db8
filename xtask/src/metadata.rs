//! What cargo knows of the workspace: its crates, and where it puts what it builds.

use std::path::PathBuf;

use serde_json::Value;

use crate::failure::{Failure, Outcome};
use crate::run::Program;

/// The answer of `cargo metadata` about the workspace's own crates.
pub(crate) fn metadata() -> Outcome<Value> {
    let text = Program::cargo()
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .output()?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::Check(format!("cargo metadata is not JSON: {error}")))
}

/// The folder that cargo builds into.
pub(crate) fn target() -> Outcome<PathBuf> {
    let metadata = metadata()?;
    let folder = metadata["target_directory"].as_str().unwrap_or("target");
    Ok(PathBuf::from(folder))
}
