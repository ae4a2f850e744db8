//! Elements that indices or masks name: picked out of an array, or put into it.
//!
//! * `offsets` turns arrays of indices into byte offsets, a tile at a time, and checks each index
//!   against its axis before anything is touched. `selected` does the same for a mask.
//! * `block` says what moves for each offset: an element, or a run of them along the other axes.
//!   Bytes are moved whatever they mean, so there is a loop for each size and none for a dtype.
//! * [`pick`] moves by indices, and [`mod@line`] by those of the plainest arrays, [`mask`] by masks, whose elements [`count`] has counted before.
//! * [`collect`] moves what a short mask selects in one pass, without a count before.
//! * `code` and `masked` say what these kernels are on devices that compile.
//!
//! One side of a move is the *array*, whose elements lie at offsets; the other is *packed*, with
//! axes of its own for the positions. Which of them is written doesn't matter to the loops.

mod axes;
mod block;
mod code;
pub mod collect;
pub mod count;
pub mod line;
pub mod mask;
mod masked;
mod offsets;
pub mod pick;
mod selected;

pub use offsets::IndexMode;
pub(crate) use selected::BLOCK;

/// Offsets that are made at a time: as many as fit the first-level cache beside what they name.
const TILE: usize = 512;

/// Elements worth a thread of their own.
const GRAIN: usize = 16384;

/// Which side is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The packed side, from elements of the array.
    Get,
    /// Elements of the array, from the packed side.
    Set,
}
