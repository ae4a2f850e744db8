//! Elements of an array of one axis that one array of indices names, where nothing is in the way:
//! the plainest case of [`pick`](super::pick), which most programs mean. It needs no plan of axes,
//! so that few elements cost little.

use std::fmt;
use std::ops::Range;

use millpond_hal::code::DeviceCode;
use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_types::shape::Tuple;
use millpond_types::{DType, Layout, Shape};

use super::block::{Even, Unit, move_units};
use super::code::Kept;
use super::offsets::{Axis, outside};
use super::pick::MANY;
use super::{Direction, GRAIN, TILE};
use crate::host::contiguous::is_aligned;
use crate::host::tile::Tile;

/// What is picked.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// What the operation is called.
    pub name: &'static str,
    /// Which side is written.
    pub direction: Direction,
    /// The dtype of both sides.
    pub dtype: DType,
    /// The array that elements are picked from, or put into.
    pub array: &'a Layout,
    /// The other side, with an element for each index.
    pub packed: &'a Layout,
    /// The indices, `int64`.
    pub indices: &'a Layout,
    /// The number that errors call the array's axis by.
    pub called: usize,
}

/// A kernel that gets or sets the elements that indices along a line name.
///
/// Operands are what is written, what is read, and the indices, each addressed by the base that its
/// layout's offset counts from. What is written overlaps nothing else. An index outside of the axis
/// fails it, and then nothing was set.
pub struct LineKernel {
    name: &'static str,
    pub(super) direction: Direction,
    pub(super) dtype: DType,
    pub(super) axis: Axis,
    pub(super) called: usize,
    /// Bytes from one element of the array to the next.
    pub(super) stride: isize,
    /// Bytes from one element of the packed side to the next: those of an element, or none.
    pub(super) step: usize,
    /// Indices, and the bytes that they begin at.
    pub(super) indices: (usize, usize),
    /// The bytes that the first element of the array and of the packed side begin at.
    pub(super) begins: [usize; 2],
    /// The bytes that the array lies in.
    span: Range<usize>,
    /// The shape of the packed side.
    result: Shape,
    /// What it is on devices.
    pub(super) picked: Kept,
}

impl LineKernel {
    /// The kernel; `None` where a [`PickKernel`](super::pick::PickKernel) is needed, or better: for
    /// arrays of more axes, for sides or indices with gaps, and for many elements, which its tiles
    /// fetch side by side and threads share.
    #[must_use]
    pub fn new(line: &Line<'_>) -> Option<Self> {
        let (&[size], &[stride]) = (line.array.shape(), line.array.strides()) else {
            return None;
        };
        let (item, count) = (line.dtype.size(), line.indices.size());
        let step = if line.packed.is_contiguous() {
            item
        } else if line.packed.strides().iter().all(|stride| *stride == 0) {
            0
        } else {
            return None;
        };
        let fits = line.indices.is_contiguous() && line.packed.size() == count;
        if !fits || count >= MANY {
            return None;
        }
        Some(Self {
            name: line.name,
            direction: line.direction,
            dtype: line.dtype,
            axis: Axis::new(size, true),
            called: line.called,
            stride: stride * item as isize,
            step,
            indices: (count, line.indices.offset() * size_of::<i64>()),
            begins: [line.array.offset() * item, line.packed.offset() * item],
            span: line.array.byte_span(item),
            result: line.packed.shape().into(),
            picked: Kept::new(),
        })
    }

    /// Moves the elements of a range of indices.
    ///
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn move_elements<const SET: bool>(
        &self,
        bases: &[Address],
        range: Range<usize>,
    ) -> Result<(), KernelError> {
        let base = |operand: usize, begin: usize| {
            let base: *mut u8 = bases[operand].as_ptr();
            base.wrapping_add(begin)
        };
        let (array, packed) = (usize::from(!SET), usize::from(SET));
        let array = base(array, self.begins[0]);
        let packed = base(packed, self.begins[1]);
        let indices = base(2, self.indices.1).cast_const();
        let mut offsets = [0; TILE];
        let tiles = || {
            let last = range.end;
            let begins = range.clone().step_by(TILE);
            begins.map(move |begin| (begin, TILE.min(last - begin)))
        };
        if SET && range.len() > TILE {
            for (begin, count) in tiles() {
                // SAFETY: as many indices, which the caller vouches for.
                unsafe { self.locate(indices, begin, &mut offsets[..count]) }?;
            }
        }
        for (begin, count) in tiles() {
            let offsets = &mut offsets[..count];
            // SAFETY: as above.
            unsafe { self.locate(indices, begin, offsets) }?;
            let packed = packed.wrapping_add(begin * self.step);
            let (unit, steps) = (Unit::Element(self.dtype.size()), Even(self.step as isize));
            // SAFETY: elements of the array, as all indices are within its axis, and those of the other
            // side, which the caller vouches for; no other call writes what is written.
            unsafe { move_units::<SET>(unit, array, offsets, packed, steps) };
        }
        Ok(())
    }

    /// Says how many bytes from the first element of the array those lie that indices name, from number
    /// `begin` on.
    ///
    /// # Safety
    /// There are as many indices from there on as there are offsets, [`TILE`] at most.
    unsafe fn locate(
        &self,
        indices: *const u8,
        begin: usize,
        offsets: &mut [isize],
    ) -> Result<(), KernelError> {
        let from = indices.wrapping_add(begin * size_of::<i64>());
        let mut aside = Tile::new();
        let from = if is_aligned(from, DType::Int64) {
            from
        } else {
            let to = aside.as_mut_ptr();
            // SAFETY: indices that the caller vouches for, and a tile that has room for them.
            unsafe { std::ptr::copy_nonoverlapping(from, to, offsets.len() * size_of::<i64>()) };
            to.cast_const()
        };
        // SAFETY: as above, and aligned now.
        let indices = unsafe { std::slice::from_raw_parts(from.cast(), offsets.len()) };
        if self.axis.offsets(indices, self.stride, offsets) {
            return Ok(());
        }
        let is_outside = |index: &&i64| self.axis.turned(**index).1;
        let index = indices.iter().find(is_outside).copied().unwrap_or(0);
        Err(outside(index.into(), self.called, self.axis.size()))
    }
}

impl fmt::Debug for LineKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: elements of the array are touched whose index was found within its axis, and those of the
// other side and of the indices of the range. What is got is cut by indices; what is set isn't cut.
unsafe impl HostKernel for LineKernel {
    fn operands(&self) -> usize {
        3
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let (count, begin) = self.indices;
        let item = self.dtype.size();
        let is_set = self.direction == Direction::Set;
        if operand == 2 {
            return Footprint {
                bytes: begin..begin + count * size_of::<i64>(),
                access: Access::Read,
            };
        }
        if (operand == 0) == is_set {
            let access = if is_set { Access::Update } else { Access::Read };
            let bytes = self.span.clone();
            return Footprint { bytes, access };
        }
        let begin = self.begins[1];
        let end = match count {
            0 => begin,
            _ => begin + (count - 1) * self.step + item,
        };
        if is_set {
            let access = Access::Read;
            let bytes = begin..end;
            return Footprint { bytes, access };
        }
        Footprint::filled(begin..end, count * item)
    }

    fn extent(&self) -> usize {
        match self.direction {
            Direction::Get => self.indices.0,
            Direction::Set => usize::from(self.indices.0 > 0),
        }
    }

    fn grain(&self) -> usize {
        GRAIN
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        if self.direction == Direction::Get {
            // SAFETY: the caller's promise.
            return unsafe { self.move_elements::<false>(bases, range) };
        }
        if range.is_empty() {
            return Ok(());
        }
        // SAFETY: as above; the only piece has all indices.
        unsafe { self.move_elements::<true>(bases, 0..self.indices.0) }
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        self.code()
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrow = match self.direction {
            Direction::Get => "->",
            Direction::Set => "<-",
        };
        let (name, dtype, indices) = (self.name, self.dtype, DType::Int64);
        let (shape, result) = ([self.axis.size()], Tuple(&self.result));
        write!(
            f,
            "{name}({dtype} {}, {indices}) {arrow} {result}",
            Tuple(&shape)
        )
    }
}
