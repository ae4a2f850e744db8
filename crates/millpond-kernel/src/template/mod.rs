//! Shapes of work that isn't tied to one operation.
//!
//! A template knows in which order elements are visited and which of them belong together, and
//! leaves memory to [`host`](crate::host).

pub(crate) mod blocks;
pub mod space;
pub(crate) mod split;
