//! The driver's functions, as `millpond-cuda` declares them for itself: the fake is a part of that crate.

#![allow(
    dead_code,
    reason = "declared for the backend, which uses more of it than the fake does"
)]

#[path = "../../millpond-cuda/src/api/code.rs"]
mod code;
#[path = "../../millpond-cuda/src/api/table.rs"]
mod table;
#[path = "../../millpond-cuda/src/api/values.rs"]
mod values;

pub(crate) use code::Code;
pub(crate) use table::Api;
pub(crate) use values::*;
