//! Elements that arrays of indices name.
//!
//! Work is cut so that the result never depends on threads. What is got is cut by positions. What
//! is set is cut by where it goes: each piece goes through all positions in order and takes what
//! falls to it, so that of several values for one element the last one stays. Before a piece sets
//! anything it checks every index: an index outside of its axis leaves the array as it was.

use std::fmt;
use std::ops::Range;

use millpond_hal::code::DeviceCode;
use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_types::shape::Tuple;
use millpond_types::{DType, Layout, Shape};
use smallvec::SmallVec;

use super::axes::Indexed;
use super::block::{Block, Even, Listed, Piece, move_units};
use super::code::Kept;
use super::offsets::Indices;
use super::{Direction, GRAIN, IndexMode, TILE};
use crate::error::PlanError;
use crate::template::space::Space;

/// Bytes that are worth an offset tile of their own.
const TILE_WORK: usize = 128 << 10;

/// Positions from which setting them is shared among threads by where they go. Tests get there with
/// fewer.
pub(super) const MANY: usize = if cfg!(test) { 16 } else { 1 << 15 };

/// The most threads that set elements by where they go: each of them reads all indices.
const MOST_SHARES: usize = 16;

/// Bytes next to each other that fall to one thread, as a power of two.
const STRIPE: u32 = if cfg!(test) { 4 } else { 12 };

/// What is picked, and how.
#[derive(Clone, Copy, Debug)]
pub struct Pick<'a> {
    /// What the operation is called.
    pub name: &'static str,
    /// Which side is written.
    pub direction: Direction,
    /// The dtype of both sides.
    pub dtype: DType,
    /// The array that elements are picked from, or put into.
    pub array: &'a Layout,
    /// The other side.
    pub packed: &'a Layout,
    /// The arrays of indices.
    pub indices: &'a [PickIndex<'a>],
    /// The axes of the packed side that stand for the positions. Its other axes are those of the
    /// array that have no indices.
    pub positions: (usize, usize),
    /// Whether positions stand for all axes and the array's axes without indices run along them.
    pub along: bool,
    /// What becomes of an index outside of its axis.
    pub mode: IndexMode,
    /// Threads that there are.
    pub threads: usize,
}

/// Indices along an axis.
#[derive(Clone, Copy, Debug)]
pub struct PickIndex<'a> {
    /// The axis of the array.
    pub axis: usize,
    /// The number that errors call it by.
    pub called: usize,
    /// The dtype of the indices: integers.
    pub dtype: DType,
    /// Their layout, which has the shape of the positions.
    pub layout: &'a Layout,
}

/// A kernel that gets or sets the elements that indices name.
///
/// Operands are what is written, what is read, and the arrays of indices, each addressed by the
/// base that its layout's offset counts from. What is written overlaps nothing else.
pub struct PickKernel {
    name: &'static str,
    pub(super) direction: Direction,
    pub(super) dtype: DType,
    shape: Shape,
    result: Shape,
    footprints: [Footprint; 2],
    pub(super) indices: SmallVec<[Indices; 1]>,
    pub(super) mode: IndexMode,
    /// The positions in row-major order: where the packed side is, and the array along them.
    pub(super) positions: Space,
    pub(super) positions_shape: Shape,
    /// The array's axes without indices, as `positions`.
    pub(super) kept: Space,
    /// The same as what moves at once.
    block: Block,
    /// Positions of a tile.
    tile: usize,
    /// Threads that set elements by where they go.
    shares: usize,
    /// What it is on devices.
    pub(super) picked: Kept,
}

impl PickKernel {
    /// The kernel.
    ///
    /// # Errors
    /// [`PlanError::Shape`] for a packed side or indices of another shape.
    pub fn new(pick: &Pick<'_>) -> Result<Self, PlanError> {
        let size = pick.dtype.size();
        let indexed = Indexed::new(pick)?;
        let block = match pick.direction {
            Direction::Get => Block::new(&indexed.packed_kept, &indexed.array_kept, size),
            Direction::Set => Block::new(&indexed.array_kept, &indexed.packed_kept, size),
        };
        let positions = Space::ordered(
            indexed.packed_positions.shape(),
            &[
                Some((&indexed.packed_positions, size)),
                Some((&indexed.array_positions, size)),
            ],
        );
        let kept = Space::new(
            indexed.packed_kept.shape(),
            &[
                Some((&indexed.packed_kept, size)),
                Some((&indexed.array_kept, size)),
            ],
        );
        let is_shared = pick.direction == Direction::Set && positions.size() >= MANY;
        let shares = if is_shared && block.pieces() < 2 * pick.threads {
            pick.threads.clamp(1, MOST_SHARES).next_power_of_two()
        } else {
            1
        };
        let indices = pick.indices.iter().map(|index| {
            let stride = pick.array.strides()[index.axis] * size as isize;
            Indices::new(index, pick.array.shape()[index.axis], stride)
        });
        let (array, packed) = (pick.array.byte_span(size), pick.packed.byte_span(size));
        let read = |bytes| Footprint {
            bytes,
            access: Access::Read,
        };
        let footprints = match pick.direction {
            Direction::Get => {
                let filled = pick.packed.size() * size;
                [Footprint::filled(packed, filled), read(array)]
            }
            Direction::Set => {
                let access = Access::Update;
                let written = Footprint {
                    bytes: array,
                    access,
                };
                [written, read(packed)]
            }
        };
        Ok(Self {
            name: pick.name,
            direction: pick.direction,
            dtype: pick.dtype,
            shape: pick.array.shape().into(),
            result: pick.packed.shape().into(),
            footprints,
            indices: indices.collect(),
            mode: pick.mode,
            tile: (TILE_WORK / block.piece_bytes().max(1)).clamp(1, TILE),
            positions,
            positions_shape: indexed.packed_positions.shape().into(),
            kept,
            block,
            shares,
            picked: Kept::new(),
        })
    }

    /// Pieces of a block; one even if it is empty, since indices are checked all the same.
    fn pieces(&self) -> usize {
        self.block.pieces().max(1)
    }

    fn tiles(&self) -> usize {
        self.positions.size().div_ceil(self.tile)
    }

    /// The first position of a tile, and how many there are.
    fn tile(&self, number: usize) -> (usize, usize) {
        let position = number * self.tile;
        (position, self.tile.min(self.positions.size() - position))
    }

    /// How far from its block's begin each position's elements lie in the array.
    ///
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn offsets(
        &self,
        bases: &[Address],
        position: usize,
        offsets: &mut [isize],
    ) -> Result<(), KernelError> {
        let stride = self.positions.inner_stride(1);
        let mut rest = &mut *offsets;
        self.positions.rows(position, rest.len(), |begin, length| {
            let (row, behind) = std::mem::take(&mut rest).split_at_mut(length);
            for (index, offset) in row.iter_mut().enumerate() {
                *offset = begin[1] + stride * index as isize;
            }
            rest = behind;
        });
        for (indices, base) in self.indices.iter().zip(&bases[2..]) {
            // SAFETY: the caller vouches for the operand; the positions exist.
            unsafe { indices.add(base.as_ptr(), position, self.mode, offsets) }?;
        }
        Ok(())
    }

    /// Fails if any index lies outside of its axis.
    ///
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn check(&self, bases: &[Address]) -> Result<(), KernelError> {
        if self.mode != IndexMode::Check {
            return Ok(());
        }
        for (indices, base) in self.indices.iter().zip(&bases[2..]) {
            for position in (0..self.positions.size()).step_by(TILE) {
                let count = TILE.min(self.positions.size() - position);
                // SAFETY: the caller vouches for the operand; the positions exist.
                unsafe { indices.check(base.as_ptr(), position, count) }?;
            }
        }
        Ok(())
    }

    /// Gets pieces, of one tile after the other.
    ///
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn get(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        let (packed, array) = (bases[0].as_ptr::<u8>(), bases[1].as_ptr::<u8>());
        let pieces = self.pieces();
        let stride = Even(self.positions.inner_stride(0));
        let mut offsets = [0; TILE];
        let mut at = range.start;
        while at < range.end {
            let tile = at / pieces;
            let (position, count) = self.tile(tile);
            // SAFETY: the caller's promise.
            unsafe { self.offsets(bases, position, &mut offsets[..count]) }?;
            let end = range.end.min((tile + 1) * pieces);
            let moved = if self.block.pieces() == 0 {
                at..at
            } else {
                at..end
            };
            for number in moved {
                let piece = self.block.piece(number % pieces);
                let from = array.wrapping_offset(piece.read);
                let mut rest = &offsets[..count];
                self.positions.rows(position, count, |begin, length| {
                    let (row, behind) = rest.split_at(length);
                    rest = behind;
                    let to = packed.wrapping_offset(piece.written + begin[0]);
                    // SAFETY: every index was found to lie within its axis, so each offset names
                    // elements of the array; the packed ones are this piece's own.
                    unsafe { move_units::<false>(piece.unit, from, row, to, stride) };
                });
            }
            at = end;
        }
        Ok(())
    }

    /// Sets pieces: for each of them all positions in order.
    ///
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn set(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        // Indices of one tile are checked before anything is set in any case.
        if self.tiles() > 1 {
            // SAFETY: the caller's promise.
            unsafe { self.check(bases) }?;
        }
        let mut offsets = [0; TILE];
        for tile in 0..self.tiles() {
            let (position, count) = self.tile(tile);
            // SAFETY: the caller's promise.
            unsafe { self.offsets(bases, position, &mut offsets[..count]) }?;
            if self.block.pieces() == 0 {
                continue;
            }
            for number in range.clone() {
                let piece = self.block.piece(number / self.shares);
                let (share, offsets) = (number % self.shares, &offsets[..count]);
                if self.shares > 1 {
                    // SAFETY: the caller's promise, and every index was found within its axis.
                    unsafe { self.set_share(bases, piece, share, position, offsets) };
                } else {
                    // SAFETY: as above.
                    unsafe { self.set_tile(bases, piece, position, offsets) };
                }
            }
        }
        Ok(())
    }

    /// Sets a tile of a piece.
    ///
    /// # Safety
    /// As for [`HostKernel::run`]; the offsets are those of the positions from `position` on.
    unsafe fn set_tile(&self, bases: &[Address], piece: Piece, position: usize, offsets: &[isize]) {
        let array = bases[0].as_ptr::<u8>().wrapping_offset(piece.written);
        let packed = bases[1].as_ptr::<u8>().wrapping_offset(piece.read);
        let steps = Even(self.positions.inner_stride(0));
        let mut rest = offsets;
        self.positions
            .rows(position, offsets.len(), |begin, length| {
                let (row, behind) = rest.split_at(length);
                rest = behind;
                let packed = packed.wrapping_offset(begin[0]);
                // SAFETY: as in `get`, with the sides exchanged; nobody else sets this piece.
                unsafe { move_units::<true>(piece.unit, array, row, packed, steps) };
            });
    }

    /// Sets what falls to a share of a tile of a piece.
    ///
    /// # Safety
    /// As for [`PickKernel::set_tile`].
    unsafe fn set_share(
        &self,
        bases: &[Address],
        piece: Piece,
        share: usize,
        position: usize,
        offsets: &[isize],
    ) {
        let array = bases[0].as_ptr::<u8>().wrapping_offset(piece.written);
        let packed = bases[1].as_ptr::<u8>().wrapping_offset(piece.read);
        let (mut kept, mut steps) = ([0; TILE], [0; TILE]);
        let found = self.keep(share, position, offsets, &mut kept, &mut steps);
        let (kept, steps) = (&kept[..found], Listed(&steps[..found]));
        // SAFETY: as in `set_tile`; nobody else sets elements of this share.
        unsafe { move_units::<true>(piece.unit, array, kept, packed, steps) };
    }

    /// The offsets that fall to a share, with where the packed side is for them.
    fn keep(
        &self,
        share: usize,
        position: usize,
        offsets: &[isize],
        kept: &mut [isize; TILE],
        steps: &mut [isize; TILE],
    ) -> usize {
        let stride = self.positions.inner_stride(0);
        let (mut found, mut rest) = (0, offsets);
        self.positions
            .rows(position, offsets.len(), |begin, length| {
                let (row, behind) = rest.split_at(length);
                rest = behind;
                for (index, &offset) in row.iter().enumerate() {
                    kept[found] = offset;
                    steps[found] = begin[0] + stride * index as isize;
                    let stripe = offset.cast_unsigned() >> STRIPE;
                    found += usize::from(stripe & (self.shares - 1) == share);
                }
            });
        found
    }
}

impl fmt::Debug for PickKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: elements of the array are touched at offsets whose every index was found within its axis,
// so they are elements of the layout; the others are elements of theirs. All lie within the
// footprints. Pieces of what is written don't overlap: those of `get` are different elements of the
// packed side, those of `set` different elements of the array.
unsafe impl HostKernel for PickKernel {
    fn operands(&self) -> usize {
        2 + self.indices.len()
    }

    fn footprint(&self, operand: usize) -> Footprint {
        match operand.checked_sub(2) {
            None => self.footprints[operand].clone(),
            Some(index) => Footprint {
                bytes: self.indices[index].footprint(),
                access: Access::Read,
            },
        }
    }

    fn extent(&self) -> usize {
        match self.direction {
            Direction::Get => self.tiles() * self.pieces(),
            Direction::Set if self.positions.size() == 0 => 0,
            Direction::Set => self.pieces() * self.shares,
        }
    }

    fn grain(&self) -> usize {
        let positions = match self.direction {
            Direction::Get => self.tile,
            Direction::Set => self.positions.size().max(1),
        };
        let words = self.block.piece_bytes().div_ceil(8).max(1);
        GRAIN.div_ceil(positions.saturating_mul(words))
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        match self.direction {
            // SAFETY: the caller's promise.
            Direction::Get => unsafe { self.get(bases, range) },
            // SAFETY: as above.
            Direction::Set => unsafe { self.set(bases, range) },
        }
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        self.code()
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({} {}", self.name, self.dtype, Tuple(&self.shape))?;
        for indices in &self.indices {
            write!(f, ", {}", indices.dtype())?;
        }
        let arrow = match self.direction {
            Direction::Get => "->",
            Direction::Set => "<-",
        };
        write!(f, ") {arrow} {}", Tuple(&self.result))
    }
}
