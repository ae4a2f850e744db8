//! The page of operations, from the registry of the kernel crate.
//!
//! The registry is asked by a program of its own, `examples/operations.rs`, so that the tool needn't be built with it.

use std::path::Path;

use super::banner;
use crate::failure::Outcome;
use crate::metadata::metadata;
use crate::run::Program;

/// Makes the page.
pub(super) fn page() -> Outcome<String> {
    // As the tests are built, which share the kernels with it.
    Program::cargo()
        .args(["build", "--quiet", "--workspace"])
        .args(["--example", "operations"])
        .run()?;
    let metadata = metadata()?;
    let folder = Path::new(metadata["target_directory"].as_str().unwrap_or("target"));
    let tables = Program::new(folder.join("debug/examples/operations")).output()?;
    let banner = banner("the rows of crates/millpond-kernel/src/ops");
    Ok(format!(
        "{banner}# Operations\n\nElement-wise operations and reductions; names and meaning are those of the Array API \
         standard where it has them. `float16` and `bfloat16` are computed in `float32`.\n\n{}\n",
        tables.trim()
    ))
}
