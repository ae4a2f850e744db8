//! What moves for each offset: an element, or a run of elements along the axes that no index names.

use millpond_types::Layout;

use crate::host::gather::{gather, scatter, sized};
use crate::template::space::Space;

/// Bytes of a run that are moved as a loop of words; longer ones are left to the memory functions.
const SHORT_RUN: usize = if cfg!(test) { 48 } else { 256 };

/// Rows of fewer elements aren't worth a call each.
const SHORT_ROW: usize = 8;

/// Bytes of a run that are one piece of work.
const PART: usize = if cfg!(test) { 64 } else { 64 << 10 };

/// The axes that no index names. Operand 0 is what is written, operand 1 what is read.
pub(super) struct Block {
    /// Axes round the unit.
    outer: Space,
    unit: Unit,
    /// Pieces of a unit.
    parts: usize,
}

/// What moves at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// As many bytes: 1, 2, 4, 8 or 16.
    Element(usize),
    /// As many bytes without gaps on either side.
    Run(usize),
    /// As many elements without gaps where they are written, `stride` bytes apart where they are
    /// read.
    Row {
        size: usize,
        count: usize,
        stride: isize,
    },
}

impl Unit {
    /// Bytes that move.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::Element(bytes) | Self::Run(bytes) => bytes,
            Self::Row { size, count, .. } => size * count,
        }
    }
}

/// A unit's piece, and where on either side it begins.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    pub(super) unit: Unit,
    pub(super) written: isize,
    pub(super) read: isize,
}

impl Block {
    /// The block of elements of a size between what is written and what is read, of one shape.
    pub(super) fn new(written: &Layout, read: &Layout, size: usize) -> Self {
        let space = Space::new(
            written.shape(),
            &[Some((written, size)), Some((read, size))],
        );
        let (count, item) = (space.inner_size(), size as isize);
        let (to, from) = (space.inner_stride(0), space.inner_stride(1));
        let unit = if space.axes().is_empty() || to != item {
            Unit::Element(size)
        } else if from == item {
            match count * size {
                bytes @ (1 | 2 | 4 | 8 | 16) => Unit::Element(bytes),
                bytes => Unit::Run(bytes),
            }
        } else if count >= SHORT_ROW {
            let stride = from;
            Unit::Row {
                size,
                count,
                stride,
            }
        } else {
            Unit::Element(size)
        };
        let takes_inner = unit != Unit::Element(size);
        Self {
            parts: unit.bytes().div_ceil(PART).max(1),
            outer: if takes_inner {
                space.without_inner()
            } else {
                space
            },
            unit,
        }
    }

    /// How many pieces there are for each offset.
    pub(super) const fn pieces(&self) -> usize {
        self.outer.size() * self.parts
    }

    /// Bytes of the largest piece.
    pub(super) fn piece_bytes(&self) -> usize {
        self.unit.bytes().min(PART)
    }

    /// A piece of the block.
    pub(super) fn piece(&self, number: usize) -> Piece {
        let (outer, part) = (number / self.parts, number % self.parts);
        let offsets = self.outer.locate(outer);
        let (mut written, mut read) = (offsets[0], offsets[1]);
        let begin = part * PART;
        let unit = match self.unit {
            element @ Unit::Element(_) => element,
            Unit::Run(bytes) => {
                written += begin as isize;
                read += begin as isize;
                Unit::Run(PART.min(bytes - begin))
            }
            Unit::Row {
                size,
                count,
                stride,
            } => {
                let skip = begin / size;
                written += begin as isize;
                read += stride * skip as isize;
                let count = (PART / size).min(count - skip);
                Unit::Row {
                    size,
                    count,
                    stride,
                }
            }
        };
        Piece {
            unit,
            written,
            read,
        }
    }
}

/// Where the packed side is for each offset.
pub(super) trait Steps: Copy {
    /// Bytes from the first.
    fn at(self, index: usize) -> isize;
}

/// So many bytes apart.
#[derive(Clone, Copy)]
pub(super) struct Even(pub(super) isize);

impl Steps for Even {
    #[inline(always)]
    fn at(self, index: usize) -> isize {
        self.0 * index as isize
    }
}

/// One by one.
#[derive(Clone, Copy)]
pub(super) struct Listed<'a>(pub(super) &'a [isize]);

impl Steps for Listed<'_> {
    #[inline(always)]
    fn at(self, index: usize) -> isize {
        self.0[index]
    }
}

/// Moves a unit for each offset from the array to the packed side, or, if `SET`, back.
///
/// # Safety
/// Units at `array` and each offset, and at `packed` and each step, lie in memory that may be read
/// and, on the side that is written, be written; the two sides don't overlap.
pub(super) unsafe fn move_units<const SET: bool>(
    unit: Unit,
    array: *mut u8,
    offsets: &[isize],
    packed: *mut u8,
    steps: impl Steps,
) {
    match unit {
        Unit::Element(size) => {
            macro_rules! run {
                ($t:ty) => {
                    // SAFETY: the caller's promise.
                    unsafe { words::<$t, SET>(array, offsets, packed, steps, 1) }
                };
            }
            sized!(size, run);
        }
        Unit::Run(bytes) if bytes <= SHORT_RUN => {
            let width = 16.min(1 << bytes.trailing_zeros());
            macro_rules! run {
                ($t:ty) => {
                    // SAFETY: the caller's promise; as many words make up the run.
                    unsafe { words::<$t, SET>(array, offsets, packed, steps, bytes / width) }
                };
            }
            sized!(width, run);
        }
        Unit::Run(bytes) => {
            for (index, &offset) in offsets.iter().enumerate() {
                let (src, dst) = sides::<SET>(array, offset, packed, steps.at(index));
                // SAFETY: the caller's promise.
                unsafe { std::ptr::copy_nonoverlapping(src, dst, bytes) };
            }
        }
        Unit::Row {
            size,
            count,
            stride,
        } => {
            for (index, &offset) in offsets.iter().enumerate() {
                let (src, dst) = sides::<SET>(array, offset, packed, steps.at(index));
                // SAFETY: the caller's promise.
                unsafe { gather(size, src, stride, dst, count) };
            }
        }
    }
}

/// What is read and what is written for an offset.
#[inline(always)]
fn sides<const SET: bool>(
    array: *mut u8,
    offset: isize,
    packed: *mut u8,
    step: isize,
) -> (*const u8, *mut u8) {
    let (array, packed) = (array.wrapping_offset(offset), packed.wrapping_offset(step));
    if SET {
        (packed, array)
    } else {
        (array, packed)
    }
}

/// Moves so many words for each offset.
///
/// # Safety
/// As for [`move_units`].
unsafe fn words<T: Copy, const SET: bool>(
    array: *mut u8,
    offsets: &[isize],
    packed: *mut u8,
    steps: impl Steps,
    count: usize,
) {
    if count == 1 {
        for (index, &offset) in offsets.iter().enumerate() {
            let (src, dst) = sides::<SET>(array, offset, packed, steps.at(index));
            // SAFETY: the caller's promise.
            let word = unsafe { src.cast::<T>().read_unaligned() };
            // SAFETY: as above.
            unsafe { dst.cast::<T>().write_unaligned(word) };
        }
        return;
    }
    for (index, &offset) in offsets.iter().enumerate() {
        let (src, dst) = sides::<SET>(array, offset, packed, steps.at(index));
        for word in 0..count {
            let (src, dst) = (src.cast::<T>(), dst.cast::<T>());
            // SAFETY: the caller's promise, for each word of the run.
            let value = unsafe { src.wrapping_add(word).read_unaligned() };
            // SAFETY: as above.
            unsafe { dst.wrapping_add(word).write_unaligned(value) };
        }
    }
}

/// Moves elements that follow one another in the array.
///
/// # Safety
/// As for [`move_units`], with `count` elements from the first offset on.
pub(super) unsafe fn move_run<const SET: bool>(
    size: usize,
    array: *mut u8,
    packed: *mut u8,
    step: isize,
    count: usize,
) {
    if SET {
        // SAFETY: the caller's promise.
        unsafe { gather(size, packed, step, array, count) };
    } else {
        // SAFETY: the caller's promise.
        unsafe { scatter(size, array, packed, step, count) };
    }
}
