//! The files by which pkg-config and `CMake` know the version of the package.

use super::hash_banner;
use crate::failure::{Failure, Outcome};
use crate::project;

/// `millpond.pc`.
pub(super) fn pkgconfig() -> Outcome<String> {
    let (banner, version) = (hash_banner("Cargo.toml"), version()?);
    Ok(format!(
        "{banner}prefix=${{pcfiledir}}/..\n\nName: millpond\nDescription: Data-parallel runtime and array library\n\
         Version: {version}\nCflags: -I${{prefix}}/include\n\
         Libs: -L${{prefix}}/lib -Wl,-rpath,${{prefix}}/lib -lmillpond\n"
    ))
}

/// `millpondConfigVersion.cmake`: until 1.0 a minor version may break programs.
pub(super) fn cmake() -> Outcome<String> {
    let (banner, version) = (hash_banner("Cargo.toml"), version()?);
    let (compatible, _) = version.rsplit_once('.').unwrap_or((&version, ""));
    Ok(format!(
        "{banner}set(PACKAGE_VERSION \"{version}\")\n\
         if(\"${{PACKAGE_FIND_VERSION_MAJOR}}.${{PACKAGE_FIND_VERSION_MINOR}}\" STREQUAL \"{compatible}\"\n   \
         AND NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)\n  \
         set(PACKAGE_VERSION_COMPATIBLE TRUE)\nendif()\n\
         if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)\n  set(PACKAGE_VERSION_EXACT TRUE)\nendif()\n"
    ))
}

/// The version of all crates.
fn version() -> Outcome<String> {
    let manifest: toml::Table = project::read(&project::path("Cargo.toml"))?
        .parse()
        .map_err(|error| Failure::Check(format!("Cargo.toml: {error}")))?;
    let version = manifest["workspace"]["package"]["version"].as_str();
    version
        .map(str::to_owned)
        .ok_or_else(|| Failure::Check("Cargo.toml has no version".to_owned()))
}
