//! Who folds what of a reduction: it follows from the shapes and the device.

use millpond_hal::Address;
use millpond_hal::code::Machine;

use crate::device::class::{Class, LONG};
use crate::device::map::{MOST_BLOCKS, grid};
use crate::device::reduce::{Folding, Reduce, Supply};

/// Elements of an output up to which lanes of a warp are enough.
const SHORT: usize = 1024;

/// Elements worth a block of their own.
const PIECE: usize = 8192;

/// Rows worth a block of their own, of columns.
const ROWS: usize = 256;

/// Neighbours that one thread folds, where the order of folding shows: as many as an access has of `float32`.
const UNIT: usize = 4;

/// Threads of a warp, and outputs that a block takes side by side.
pub(super) const WARP: usize = 32;

/// Who folds what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Columns,
    Lanes,
    Blocks,
}

/// How many of them there are.
pub(super) struct Plan {
    /// Blocks of threads.
    pub(super) blocks: u32,
    /// Elements of a piece, and pieces of an output.
    pub(super) piece: usize,
    pub(super) pieces: usize,
    /// Lanes that take an output.
    pub(super) lanes: usize,
}

impl Reduce<'_> {
    pub(super) fn outputs(&self) -> usize {
        match self.supply {
            Supply::Array { kept, .. } => kept.size(),
            Supply::Elements { outputs, .. } => outputs,
        }
    }

    pub(super) fn length(&self) -> usize {
        match self.supply {
            Supply::Array { reduced, .. } => reduced.size(),
            Supply::Elements { length, .. } => length,
        }
    }

    pub(super) fn is_long(&self) -> bool {
        self.outputs().saturating_mul(self.length().max(1)) >= LONG
    }

    /// Whether the elements of an output follow one another.
    pub(super) fn follows(&self) -> bool {
        match &self.supply {
            Supply::Array { dtype, reduced, .. } => {
                reduced.inner_stride(0) == dtype.size() as isize || reduced.axes().is_empty()
            }
            Supply::Elements { .. } => true,
        }
    }

    /// Whether outputs are folded along their elements.
    pub(super) fn is_along(&self) -> bool {
        match &self.supply {
            Supply::Array { kept, reduced, .. } => {
                let (along, across) = (reduced.inner_stride(0), kept.inner_stride(1));
                along.unsigned_abs() <= across.unsigned_abs() || kept.inner_size() < WARP
            }
            Supply::Elements { .. } => true,
        }
    }

    /// Whether results depend on the order of folding, and are those of elements that follow one another: of
    /// others no fused kernel makes any.
    fn is_ordered(&self) -> bool {
        self.is_along() && self.follows() && self.foldings.iter().any(Folding::is_ordered)
    }

    /// Neighbours that one thread folds where it loads packs. Where the order shows, it is the same number
    /// however elements lie and whatever they are made of.
    pub(super) fn unit(&self, pack: usize) -> usize {
        if self.is_ordered() { UNIT } else { pack }
    }

    /// Elements of a pack.
    pub(super) fn pack(&self) -> usize {
        let widest = self.widest_pack();
        widest.min(self.unit(widest))
    }

    fn widest_pack(&self) -> usize {
        match &self.supply {
            Supply::Array { dtype, .. } if self.is_along() && self.follows() => 16 / dtype.size(),
            Supply::Array { .. } => 1,
            Supply::Elements { elements, .. } => Class::new(elements).pack,
        }
    }

    /// Whether packs can be moved by one access each.
    pub(super) fn is_aligned(&self, bases: &[Address]) -> bool {
        let pack = self.pack();
        if pack == 1 {
            return false;
        }
        match &self.supply {
            Supply::Array {
                dtype,
                kept,
                reduced,
            } => {
                let bytes = pack * dtype.size();
                let first = bases[1]
                    .get()
                    .wrapping_add_signed(kept.begin()[1] + reduced.begin()[0]);
                let outer = &reduced.axes()[..reduced.axes().len().saturating_sub(1)];
                let strides = kept.axes().iter().map(|axis| axis.strides[1]);
                let mut strides = strides.chain(outer.iter().map(|axis| axis.strides[0]));
                first.is_multiple_of(bytes)
                    && strides.all(|stride| stride.unsigned_abs().is_multiple_of(bytes))
                    && (outer.is_empty() || reduced.inner_size().is_multiple_of(pack))
            }
            Supply::Elements {
                elements,
                length,
                outputs,
                ..
            } => {
                let mut class = Class::new(elements);
                class.pack = pack;
                (*outputs == 1 || length.is_multiple_of(pack))
                    && elements.is_aligned(&class, &elements.addresses(bases))
            }
        }
    }

    pub(super) fn method(&self) -> Method {
        if !self.is_along() {
            Method::Columns
        } else if self.length() <= SHORT && self.outputs() > 1 {
            Method::Lanes
        } else {
            Method::Blocks
        }
    }

    pub(super) fn plan(&self, machine: &Machine) -> Plan {
        let (outputs, length) = (self.outputs(), self.length());
        let most = grid(machine, usize::MAX / 2) as usize;
        // Pieces of an output, of at least so many elements, if so many blocks would be idle else.
        let cut = |blocks: usize, wanted: usize, least: usize, unit: usize| {
            let pieces = (wanted / blocks.max(1)).min(length.div_ceil(least)).max(1);
            let piece = length.div_ceil(pieces).next_multiple_of(unit).max(unit);
            (piece, length.div_ceil(piece).max(1))
        };
        match self.method() {
            Method::Columns => {
                let groups = outputs.div_ceil(WARP);
                let (piece, pieces) = cut(groups, 2 * most, ROWS, 1);
                let blocks = (groups * pieces).min(MOST_BLOCKS) as u32;
                Plan {
                    blocks,
                    piece,
                    pieces,
                    lanes: 1,
                }
            }
            Method::Lanes => {
                let lanes = length
                    .div_ceil(4 * self.unit(self.pack()))
                    .clamp(1, WARP)
                    .next_power_of_two();
                let blocks = grid(machine, outputs * lanes);
                Plan {
                    blocks,
                    piece: length,
                    pieces: 1,
                    lanes,
                }
            }
            Method::Blocks => {
                // Half of what the device holds keeps its memory busy, and merges less.
                let (piece, pieces) = cut(outputs, most / 2, PIECE, 1024);
                let blocks = (outputs * pieces).min(MOST_BLOCKS) as u32;
                Plan {
                    blocks,
                    piece,
                    pieces,
                    lanes: 1,
                }
            }
        }
    }
}
