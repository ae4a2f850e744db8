//! Scratch memory for one tile of one operand, on the stack.

use std::mem::MaybeUninit;

/// Bytes of a tile: a few of them fit the first-level cache together.
pub(crate) const TILE_BYTES: usize = 4096;

/// Uninitialised, aligned scratch memory of [`TILE_BYTES`].
#[repr(C, align(64))]
pub(crate) struct Tile(MaybeUninit<[u8; TILE_BYTES]>);

impl Tile {
    pub(crate) const fn new() -> Self {
        Self(MaybeUninit::uninit())
    }

    /// The address of the first byte; valid for [`TILE_BYTES`] while the tile is borrowed.
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.0.as_mut_ptr().cast()
    }
}
