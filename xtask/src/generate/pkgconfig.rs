//! The files by which pkg-config and CMake know the version of the package.

use super::hash_banner;
use crate::failure::Outcome;

/// The version, of this tool as of all crates.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `millpond.pc`.
pub(super) fn pkgconfig() -> Outcome<String> {
    let banner = hash_banner("Cargo.toml");
    Ok(format!(
        "{banner}prefix=${{pcfiledir}}/..\n\nName: millpond\nDescription: Data-parallel runtime and array library\n\
         Version: {VERSION}\nCflags: -I${{prefix}}/include\n\
         Libs: -L${{prefix}}/lib -Wl,-rpath,${{prefix}}/lib -lmillpond\n"
    ))
}

/// `millpondConfigVersion.cmake`: until 1.0 a minor version may break programs.
pub(super) fn cmake() -> Outcome<String> {
    let banner = hash_banner("Cargo.toml");
    let (compatible, _) = VERSION.rsplit_once('.').unwrap_or((VERSION, ""));
    Ok(format!(
        "{banner}set(PACKAGE_VERSION \"{VERSION}\")\n\
         if(\"${{PACKAGE_FIND_VERSION_MAJOR}}.${{PACKAGE_FIND_VERSION_MINOR}}\" STREQUAL \"{compatible}\"\n   \
         AND NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)\n  \
         set(PACKAGE_VERSION_COMPATIBLE TRUE)\nendif()\n\
         if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)\n  set(PACKAGE_VERSION_EXACT TRUE)\nendif()\n"
    ))
}
