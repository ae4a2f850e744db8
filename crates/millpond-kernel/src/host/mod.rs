//! Loops over host memory: the one place of this crate that touches addresses.
//!
//! * [`level`] compiles a loop for each set of vector instructions and picks one.
//! * [`body`] runs an operation's body over contiguous elements of one dtype: one loop for each
//!   operation, dtype and level. Everything else is brought into that form a *tile* at a time, in
//!   the first-level cache, so that no operation is compiled for a stride or a cast.
//! * [`cast`] converts between dtypes, [`gather`] moves elements to and from a tile.
//! * [`index`] moves elements that indices or masks name, [`join`] those of small arrays side by side.
//! * [`sort`], [`search`] and [`scan`] order elements, find them and accumulate them.
//! * `stream` writes large outputs past the caches.
//! * [`fused`] takes a tile through several operations.
//! * [`map`] walks arrays by tiles; [`contiguous`] is the short way for arrays without gaps.
//!
//! Loops trust their caller for addresses and lengths; the kernels built from layouts touch
//! nothing outside the footprint that they declare.

pub mod body;
pub mod cast;
pub mod contiguous;
pub mod fold;
pub mod fused;
pub mod gather;
pub mod generate;
pub mod index;
pub mod join;
pub mod level;
pub mod map;
pub mod reduce;
pub mod scan;
pub mod search;
pub mod sort;
mod stream;
#[cfg(test)]
pub(crate) mod tests;
mod tile;
pub mod value;
