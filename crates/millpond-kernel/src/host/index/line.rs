//! Elements of an array of one axis that one array of indices names, where nothing is in the way:
//! the plainest case of [`pick`](super::pick), which most programs mean. It needs no plan of axes
//! and no tiles of offsets, so that few elements cost little.

use std::fmt;
use std::ops::Range;

use millpond_hal::code::DeviceCode;
use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_types::shape::Tuple;
use millpond_types::{DType, Layout, Shape};

use super::code::Kept;
use super::offsets::{Axis, outside};
use super::pick::MANY;
use super::{Direction, GRAIN};
use crate::host::gather::sized;

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
    /// As for [`HostKernel::run`], with elements of the size of `T`.
    unsafe fn move_elements<T: Copy, const SET: bool>(
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
        let indices = base(2, self.indices.1);
        let place = |number: usize| {
            let index = indices.wrapping_add(number * size_of::<i64>());
            // SAFETY: an index, which the caller vouches for.
            let index = unsafe { index.cast::<i64>().read_unaligned() };
            match self.axis.turned(index) {
                (turned, false) => Ok(turned),
                (_, true) => Err(outside(index.into(), self.called, self.axis.size())),
            }
        };
        if SET {
            for number in range.clone() {
                place(number)?;
            }
        }
        for number in range {
            let offset = place(number)? as isize * self.stride;
            let element = array.wrapping_offset(offset).cast::<T>();
            let other = packed.wrapping_add(number * self.step).cast::<T>();
            let (from, to) = if SET {
                (other, element)
            } else {
                (element, other)
            };
            // SAFETY: an element of the side that is read.
            let value = unsafe { from.read_unaligned() };
            // SAFETY: an element of the side that is written, which no other call writes.
            unsafe { to.write_unaligned(value) };
        }
        Ok(())
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
        macro_rules! run {
            ($t:ty) => {
                if self.direction == Direction::Get {
                    // SAFETY: the caller's promise.
                    unsafe { self.move_elements::<$t, false>(bases, range) }
                } else if range.is_empty() {
                    Ok(())
                } else {
                    // SAFETY: as above; the only piece has all indices.
                    unsafe { self.move_elements::<$t, true>(bases, 0..self.indices.0) }
                }
            };
        }
        sized!(self.dtype.size(), run)
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
