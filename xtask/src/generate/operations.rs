//! The page of operations, from the registry of the kernel crate.
//!
//! The registry is asked by a program of its own, `examples/operations.rs`, so that the tool needn't be built with it.

use super::{banner, example};
use crate::failure::Outcome;

/// Makes the page.
pub(super) fn page() -> Outcome<String> {
    let tables = example("operations")?.output()?;
    let banner = banner("the rows of crates/millpond-kernel/src/ops");
    Ok(format!(
        "{banner}# Operations\n\nElement-wise operations and reductions; names and meaning are those of the Array API \
         standard where it has them. `float16` and `bfloat16` are computed in `float32`.\n\n{}\n",
        tables.trim()
    ))
}
