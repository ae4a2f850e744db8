//! Elements that a mask selects, in row-major order: got, set, or their coordinates.
//!
//! The mask was counted before, so each of its blocks knows where its elements are on the packed
//! side, and blocks are worked on side by side. A block moves no more than were counted, even if
//! another thread had the mask changed meanwhile; then the work fails.

use std::fmt;
use std::ops::Range;

use millpond_hal::code::DeviceCode;
use millpond_hal::{Access, Address, FailureKind, Footprint, HostKernel, KernelError};
use millpond_types::shape::{ShapeError, Tuple};
use millpond_types::{DType, Layout, Shape};
use smallvec::SmallVec;

use super::axes::Masked;
use super::block::{Block, Even, Piece, Unit, move_run, move_units};
use super::count::{counted, total};
use super::selected::{BLOCK, Found, Selected};
use super::{Direction, GRAIN};
use crate::error::PlanError;
use crate::host::gather::scatter;
use crate::template::space::Space;

/// How many elements the packed side has for those that are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Supply {
    /// One for each; if the mask selects another number, the work fails.
    Each(usize),
    /// As many, from the first again when they are used up; none are enough for none.
    Cycle(usize),
    /// One for all.
    One,
}

/// What is selected, and how.
#[derive(Clone, Copy, Debug)]
pub struct Select<'a> {
    /// What the operation is called.
    pub name: &'static str,
    /// Which side is written.
    pub direction: Direction,
    /// The dtype of both sides.
    pub dtype: DType,
    /// The array.
    pub array: &'a Layout,
    /// The other side, with one axis in place of those of the mask.
    pub packed: &'a Layout,
    /// The mask of truth values.
    pub mask: &'a Layout,
    /// The first axis of the array that the mask stands for.
    pub axis: usize,
    /// The axis of the packed side that stands for what is selected.
    pub position: usize,
    /// What the packed side has; [`Supply::Each`] of what was counted, when it is written.
    pub supply: Supply,
}

/// A kernel that gets or sets what a mask selects.
///
/// Operands are what is written, what is read, the mask, and, unless one element is there for all or
/// it [counts](MaskKernel::counting) itself, its counts, each addressed by the base that its layout's
/// offset counts from. What is written overlaps nothing else.
pub struct MaskKernel {
    name: &'static str,
    pub(super) direction: Direction,
    pub(super) dtype: DType,
    shape: Shape,
    footprints: [Footprint; 2],
    pub(super) selected: Selected,
    /// The array's axes outside of the mask: operand 0 is the packed side's, operand 1 the array's.
    pub(super) kept: Space,
    /// The same as what moves at once.
    block: Block,
    /// Bytes from one element of the packed side to the next.
    pub(super) stride: isize,
    pub(super) supply: Supply,
    /// Whether it has the counts of nobody else.
    pub(super) counts: bool,
}

impl MaskKernel {
    /// The kernel.
    ///
    /// # Errors
    /// [`PlanError::Shape`] for a packed side or a mask of another shape.
    pub fn new(select: &Select<'_>) -> Result<Self, PlanError> {
        let size = select.dtype.size();
        let masked = Masked::new(select)?;
        let block = match select.direction {
            Direction::Get => Block::new(&masked.packed_kept, &masked.array_kept, size),
            Direction::Set => Block::new(&masked.array_kept, &masked.packed_kept, size),
        };
        let kept = Space::new(
            masked.packed_kept.shape(),
            &[
                Some((&masked.packed_kept, size)),
                Some((&masked.array_kept, size)),
            ],
        );
        let (array, packed) = (select.array.byte_span(size), select.packed.byte_span(size));
        let part = |bytes, access| Footprint { bytes, access };
        let footprints = match select.direction {
            Direction::Get => {
                let filled = select.packed.size() * size;
                let written = Footprint::filled(packed, filled);
                [written, part(array, Access::Read)]
            }
            Direction::Set => [part(array, Access::Update), part(packed, Access::Read)],
        };
        Ok(Self {
            name: select.name,
            direction: select.direction,
            dtype: select.dtype,
            shape: select.array.shape().into(),
            footprints,
            selected: Selected::new(select.mask, Some((&masked.array_mask, size))),
            kept,
            block,
            stride: masked.packed_stride * size as isize,
            supply: select.supply,
            counts: false,
        })
    }

    /// The same without the operand of counts, if the mask is one block: then what is counted is
    /// known when it is needed. Only on the host.
    #[must_use]
    pub fn counting(self) -> Self {
        let counts = self.supply != Supply::One && self.selected.blocks() <= 1;
        Self { counts, ..self }
    }

    /// Whether the counts are an operand.
    #[must_use]
    pub fn takes_counts(&self) -> bool {
        self.supply != Supply::One && !self.counts
    }

    /// The numbers of the elements that a block selects.
    ///
    /// # Safety
    /// As for [`HostKernel::run`], of a kernel for which there are such numbers.
    unsafe fn counted(&self, bases: &[Address], block: usize) -> Range<usize> {
        if self.counts {
            // SAFETY: the caller vouches for the mask.
            return 0..unsafe { self.selected.count(bases[2].as_ptr(), block) };
        }
        // SAFETY: the caller vouches for the counts.
        unsafe { counted(bases[3], block) }
    }

    /// How many elements the mask selects.
    ///
    /// # Safety
    /// As for [`MaskKernel::counted`].
    unsafe fn total(&self, bases: &[Address]) -> usize {
        let blocks = self.selected.blocks();
        if self.counts {
            // SAFETY: the caller's promise; there is one block at most.
            return (0..blocks)
                .map(|block| unsafe { self.counted(bases, block) }.len())
                .sum();
        }
        // SAFETY: the caller vouches for the counts; the last is that of all blocks.
        unsafe { total(bases[3], blocks) }
    }

    /// Fails if the packed side hasn't what the mask selects.
    fn check(&self, selected: usize) -> Result<(), KernelError> {
        match self.supply {
            Supply::Each(given) if given != selected => Err(self.misfit(selected)),
            Supply::Cycle(0) if selected > 0 => Err(self.misfit(selected)),
            _ => Ok(()),
        }
    }

    /// What is said where the packed side hasn't what the mask selects.
    #[cold]
    pub(super) fn misfit(&self, selected: usize) -> KernelError {
        let given = match self.supply {
            Supply::Each(given) | Supply::Cycle(given) => given,
            Supply::One => 1,
        };
        KernelError::new(
            FailureKind::Value,
            format!("{given} values for the {selected} elements that the mask selects"),
        )
    }

    /// Moves a tile of selected elements, of which number `first` is the first.
    ///
    /// # Safety
    /// The elements are the array's; as for [`HostKernel::run`].
    unsafe fn move_tile<const SET: bool>(
        &self,
        (array, packed): (*mut u8, *mut u8),
        unit: Unit,
        first: usize,
        found: &Found<'_>,
    ) {
        let mut done = 0;
        while done < found.len() {
            let (at, left) = match self.supply {
                Supply::Cycle(len) => ((first + done) % len, len - (first + done) % len),
                _ => (first + done, usize::MAX),
            };
            let count = left.min(found.len() - done);
            let packed = packed.wrapping_offset(self.stride * at as isize);
            match *found {
                Found::Run { first, .. } => {
                    let size = unit.bytes();
                    let array = array.wrapping_offset(first).wrapping_add(done * size);
                    // SAFETY: the caller's promise.
                    unsafe { move_run::<SET>(size, array, packed, self.stride, count) };
                }
                Found::Listed(offsets) => {
                    let (part, steps) = (&offsets[done..][..count], Even(self.stride));
                    // SAFETY: as above.
                    unsafe { move_units::<SET>(unit, array, part, packed, steps) };
                }
            }
            done += count;
        }
    }

    /// Moves what a block selects, for one piece of the other axes.
    ///
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn piece(
        &self,
        bases: &[Address],
        block: usize,
        piece: Piece,
    ) -> Result<(), KernelError> {
        let (written, read) = (bases[0].as_ptr::<u8>(), bases[1].as_ptr::<u8>());
        let written = written.wrapping_offset(piece.written);
        let read = read.wrapping_offset(piece.read);
        let mut share = match self.supply {
            Supply::One => Share::new(0..usize::MAX),
            // SAFETY: the caller's promise.
            Supply::Cycle(_) => Share::new(unsafe { self.counted(bases, block) }.start..usize::MAX),
            // SAFETY: as above.
            Supply::Each(_) => Share::new(unsafe { self.counted(bases, block) }),
        };
        let runs = match piece.unit {
            Unit::Element(size) => self.selected.is_linear(size),
            _ => false,
        };
        let with = |found: Found<'_>| {
            let (first, found) = share.take(found);
            match self.direction {
                // SAFETY: offsets come from the mask's space, so they name elements of the array;
                // what is written is this block's and this piece's own.
                Direction::Get => unsafe {
                    self.move_tile::<false>((read, written), piece.unit, first, &found);
                },
                // SAFETY: as above.
                Direction::Set => unsafe {
                    self.move_tile::<true>((written, read), piece.unit, first, &found);
                },
            }
        };
        // SAFETY: the caller vouches for the mask.
        unsafe { self.selected.each(bases[2].as_ptr(), block, runs, with) };
        match self.supply {
            Supply::Each(_) => share.end(),
            _ => Ok(()),
        }
    }
}

/// What is left of the elements that were counted in a block.
struct Share {
    left: Range<usize>,
    is_exceeded: bool,
}

impl Share {
    const fn new(left: Range<usize>) -> Self {
        Self {
            left,
            is_exceeded: false,
        }
    }

    /// The number of the first of some elements, and those of them that are left.
    fn take<'a>(&mut self, found: Found<'a>) -> (usize, Found<'a>) {
        let (first, most) = (self.left.start, self.left.len());
        self.is_exceeded |= found.len() > most;
        let found = found.cut(most);
        self.left.start += found.len();
        (first, found)
    }

    /// Fails unless there were as many as were counted.
    fn end(self) -> Result<(), KernelError> {
        if self.left.is_empty() && !self.is_exceeded {
            return Ok(());
        }
        Err(changed())
    }
}

/// What is said if a block selects another number of elements than were counted.
#[cold]
pub(super) fn changed() -> KernelError {
    let reason = "the mask was changed while elements were picked by it".to_owned();
    KernelError::new(FailureKind::Value, reason)
}

impl fmt::Debug for MaskKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: accesses go to elements of the layouts, which lie within the footprints: those of the
// array at offsets of the mask's space, those of the packed side below what was counted, which is
// what it has. Blocks and pieces are different elements on either side.
unsafe impl HostKernel for MaskKernel {
    fn operands(&self) -> usize {
        3 + usize::from(self.takes_counts())
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let bytes = match operand {
            0 | 1 => return self.footprints[operand].clone(),
            2 => self.selected.footprint(),
            _ => 0..(self.selected.blocks() + 1) * size_of::<i64>(),
        };
        Footprint {
            bytes,
            access: Access::Read,
        }
    }

    fn extent(&self) -> usize {
        self.selected.blocks() * self.block.pieces()
    }

    fn grain(&self) -> usize {
        let words = self.block.piece_bytes().div_ceil(8).max(1);
        (GRAIN * 2).div_ceil(BLOCK.saturating_mul(words)).max(1)
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        if self.supply != Supply::One {
            // SAFETY: the caller's promise.
            self.check(unsafe { self.total(bases) })?;
        }
        let pieces = self.block.pieces();
        for number in range {
            let piece = self.block.piece(number % pieces);
            // SAFETY: the caller's promise.
            unsafe { self.piece(bases, number / pieces, piece) }?;
        }
        Ok(())
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        (self.has_code() && !self.counts).then_some(self)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, dtype, shape) = (self.name, self.dtype, Tuple(&self.shape));
        write!(f, "{name}({dtype} {shape}, mask)")
    }
}

/// A kernel that writes where along one axis the elements are that a mask selects.
///
/// Operands are the coordinates, integers of 64 bits, the mask, and its counts.
pub struct NonzeroKernel {
    pub(super) selected: Selected,
    shape: Shape,
    axis: usize,
    /// Bytes from one coordinate to the next.
    pub(super) stride: isize,
    pub(super) begin: isize,
    footprint: Footprint,
}

impl NonzeroKernel {
    /// The kernel for an axis of a mask, of which as many elements are selected as there are
    /// coordinates.
    ///
    /// # Errors
    /// [`PlanError::Axes`] for an axis that the mask doesn't have.
    pub fn new(mask: &Layout, axis: usize, coordinates: &Layout) -> Result<Self, PlanError> {
        const SIZE: usize = size_of::<i64>();
        let mut steps: SmallVec<[isize; 4]> = SmallVec::from_elem(0, mask.ndim());
        let Some(step) = steps.get_mut(axis) else {
            let (axis, ndim) = (axis as isize, mask.ndim());
            return Err(ShapeError::Axis { axis, ndim }.into());
        };
        // An array whose offsets are the coordinates.
        *step = 1;
        let numbers = Layout::new(mask.shape(), &steps, 0)?;
        Ok(Self {
            selected: Selected::new(mask, Some((&numbers, 1))),
            shape: mask.shape().into(),
            axis,
            stride: coordinates.strides().first().copied().unwrap_or(1) * SIZE as isize,
            begin: (coordinates.offset() * SIZE) as isize,
            footprint: Footprint::filled(coordinates.byte_span(SIZE), coordinates.size() * SIZE),
        })
    }
}

impl fmt::Debug for NonzeroKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: reads go to elements of the mask and to counts; writes to coordinates below what was
// counted, which is how many there are, each by the block that selects it.
unsafe impl HostKernel for NonzeroKernel {
    fn operands(&self) -> usize {
        3
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let bytes = match operand {
            0 => return self.footprint.clone(),
            1 => self.selected.footprint(),
            _ => 0..(self.selected.blocks() + 1) * size_of::<i64>(),
        };
        Footprint {
            bytes,
            access: Access::Read,
        }
    }

    fn extent(&self) -> usize {
        self.selected.blocks()
    }

    fn grain(&self) -> usize {
        8
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        let out = bases[0].as_ptr::<u8>().wrapping_offset(self.begin);
        for block in range {
            // SAFETY: the caller vouches for the counts.
            let mut share = Share::new(unsafe { counted(bases[2], block) });
            let with = |found: Found<'_>| {
                let (first, Found::Listed(offsets)) = share.take(found) else {
                    return;
                };
                let to = out.wrapping_offset(self.stride * first as isize);
                let (from, count) = (offsets.as_ptr().cast(), offsets.len());
                // SAFETY: the coordinates of what this block selects.
                unsafe { scatter(size_of::<i64>(), from, to, self.stride, count) };
            };
            // SAFETY: the caller vouches for the mask.
            unsafe { self.selected.each(bases[1].as_ptr(), block, false, with) };
            share.end()?;
        }
        Ok(())
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        self.has_code().then_some(self)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "nonzero(bool {}, axis {})",
            Tuple(&self.shape),
            self.axis
        )
    }
}
