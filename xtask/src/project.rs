//! Where things are in the project, and which files it has.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::failure::{Failure, Outcome};

/// Folders that hold nothing of ours, wherever they are.
const NOT_OURS: &[&str] = &["target", "demo-output", "coverage", "__pycache__"];

/// The root of the checkout: where `cargo run` found this package, which need not be where it was
/// compiled, as build folders are shared and moved.
#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells its programs by the environment, and this is no setting"
)]
pub(crate) fn root() -> &'static Path {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let told = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
        let own = told.unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
        own.parent().map_or_else(|| own.clone(), Path::to_path_buf)
    })
}

/// A path below the root.
pub(crate) fn path(relative: &str) -> PathBuf {
    root().join(relative)
}

/// A path as the project writes it: relative to the root, with forward slashes.
pub(crate) fn relative(path: &Path) -> String {
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.to_string_lossy().replace('\\', "/")
}

/// Reads a text file.
pub(crate) fn read(path: &Path) -> Outcome<String> {
    fs::read_to_string(path).map_err(Failure::file(path))
}

/// Writes a text file and the folders on its way.
pub(crate) fn write(path: &Path, text: &str) -> Outcome<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(Failure::file(folder))?;
    }
    fs::write(path, text).map_err(Failure::file(path))
}

/// All files below a folder, sorted; hidden folders, build products and links are left out.
pub(crate) fn files(folder: &Path) -> Outcome<Vec<PathBuf>> {
    let mut found = Vec::new();
    collect(folder, &mut found)?;
    found.sort();
    Ok(found)
}

/// All Rust files of the project, sorted.
pub(crate) fn rust_files() -> Outcome<Vec<PathBuf>> {
    let mut found = files(root())?;
    found.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    Ok(found)
}

/// The crate that a file belongs to, by its path from the root: `crates/NAME/...` or `xtask/...`.
pub(crate) fn crate_of(relative: &str) -> Option<&str> {
    let rest = relative.strip_prefix("crates/").unwrap_or(relative);
    rest.split_once('/').map(|(name, _)| name)
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Outcome<()> {
    for entry in fs::read_dir(folder).map_err(Failure::file(folder))? {
        let entry = entry.map_err(Failure::file(folder))?;
        let kind = entry.file_type().map_err(Failure::file(entry.path()))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if kind.is_file() {
            found.push(entry.path());
        } else if kind.is_dir() && !name.starts_with('.') && !NOT_OURS.contains(&name.as_str()) {
            collect(&entry.path(), found)?;
        }
    }
    Ok(())
}
