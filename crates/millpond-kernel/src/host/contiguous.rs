//! The short way for arrays without gaps and without casts: no plan, no heap.

use std::fmt;
use std::ops::Range;

use millpond_hal::{Access, Address, DeviceCode, Footprint, HostKernel, KernelError};
use millpond_types::{DType, Scalar};
use smallvec::{SmallVec, smallvec};

use crate::device::elements::{Array, Base, Elements, Step, element_wise};
use crate::error::PlanError;
use crate::host::body::{Body, Form, Inputs, MAX_INPUTS};
use crate::host::gather;
use crate::host::stream::{self, PAST_CACHES};
use crate::host::tile::{TILE_BYTES, Tile};
use crate::ops::Operation;
use crate::simd;

/// An operation over contiguous arrays of the dtypes that its body computes with.
///
/// Operands are the output and then the inputs that aren't scalars. Each base address is that of
/// the first element, unless it [begins](Self::beginning_at) behind it. An input may be the output
/// itself; other overlaps are the caller's duty to avoid.
#[derive(Clone, Copy)]
pub struct ContiguousLoop {
    operation: &'static Operation,
    body: &'static dyn Body,
    form: Form,
    scalar: Option<(u8, [u8; 16])>,
    size: usize,
    /// The byte that each operand begins at.
    begins: [usize; Self::MAX_OPERANDS],
}

impl ContiguousLoop {
    /// The most operands.
    pub const MAX_OPERANDS: usize = 1 + MAX_INPUTS;

    /// The loop of a body of `operation` over `size` elements.
    #[inline]
    pub(crate) fn new(operation: &'static Operation, body: &'static dyn Body) -> Self {
        Self {
            operation,
            body,
            form: body.form(),
            scalar: None,
            size: 0,
            begins: [0; Self::MAX_OPERANDS],
        }
    }

    /// The same over `size` elements.
    #[inline]
    #[must_use]
    pub const fn over(mut self, size: usize) -> Self {
        self.size = size;
        self
    }

    /// The same with operands that begin so many bytes behind their bases.
    #[inline]
    #[must_use]
    pub const fn beginning_at(mut self, begins: [usize; Self::MAX_OPERANDS]) -> Self {
        self.begins = begins;
        self
    }

    /// The same with a scalar in place of an input, converted to the input's dtype.
    ///
    /// # Errors
    /// [`PlanError::Arity`] if there is no such input, or another is a scalar already.
    #[inline]
    pub fn with_scalar(mut self, input: usize, value: Scalar) -> Result<Self, PlanError> {
        if input >= self.form.inputs().len() || self.scalar.is_some() {
            return Err(PlanError::Arity {
                operation: self.operation.name(),
                expected: self.form.inputs().len(),
                given: input + 1,
            });
        }
        self.scalar = Some((input as u8, value.to_bytes(self.form.inputs()[input])));
        Ok(self)
    }

    /// The dtype of an input.
    #[inline]
    #[must_use]
    pub fn input(&self, index: usize) -> DType {
        self.form.inputs()[index]
    }

    /// The dtype of the output.
    #[inline]
    #[must_use]
    pub fn output(&self) -> DType {
        self.form.output
    }

    #[inline]
    fn is_scalar(&self, input: usize) -> bool {
        self.scalar
            .is_some_and(|(index, _)| usize::from(index) == input)
    }

    /// The input that operand number `operand` is.
    #[inline]
    fn input_of(&self, operand: usize) -> usize {
        match self.scalar {
            Some((index, _)) if operand > usize::from(index) => operand,
            _ => operand - 1,
        }
    }
}

impl fmt::Debug for ContiguousLoop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

/// Whether an address may be read as elements of the dtype.
#[inline]
pub(crate) fn is_aligned(address: *const u8, dtype: DType) -> bool {
    address.addr() & (dtype.real().size() - 1) == 0
}

/// Whether two stretches of bytes share none.
#[inline]
fn is_apart(a: *const u8, a_len: usize, b: *const u8, b_len: usize) -> bool {
    a.addr() + a_len <= b.addr() || b.addr() + b_len <= a.addr()
}

// SAFETY: every access is to elements `range` of an operand, within `0..size`, as `footprint`
// says; scratch memory is the call's own.
unsafe impl HostKernel for ContiguousLoop {
    #[inline]
    fn operands(&self) -> usize {
        1 + self.form.arity() - usize::from(self.scalar.is_some())
    }

    #[inline]
    fn footprint(&self, operand: usize) -> Footprint {
        let (size, access) = match operand {
            0 => (self.form.size(0), Access::Write),
            _ => (self.form.size(1 + self.input_of(operand)), Access::Read),
        };
        let begin = self.begins[operand];
        Footprint {
            bytes: begin..begin + self.size * size,
            access,
        }
    }

    #[inline]
    fn extent(&self) -> usize {
        self.size
    }

    fn grain(&self) -> usize {
        super::map::grain(self.body)
    }

    #[inline]
    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        let (body, form) = (self.body, &self.form);
        let out_size = form.size(0);
        let out: *mut u8 = bases[0].as_ptr();
        let out = out.wrapping_add(self.begins[0] + range.start * out_size);
        let mut inputs: Inputs = [out; MAX_INPUTS];
        let mut direct =
            form.is_aligned(0, out) && self.scalar.is_none() && self.size * out_size < PAST_CACHES;
        let mut operand = 1;
        for (index, input) in inputs.iter_mut().enumerate().take(form.arity()) {
            if self.is_scalar(index) {
                continue;
            }
            let size = form.size(index + 1);
            *input = bases[operand]
                .as_ptr::<u8>()
                .wrapping_add(self.begins[operand] + range.start * size);
            direct &= form.is_aligned(index + 1, *input)
                && is_apart(out, range.len() * out_size, *input, range.len() * size);
            operand += 1;
        }
        if direct {
            // SAFETY: the caller vouches for elements `range` of each operand, the addresses are
            // aligned, and operands overlap only by being the same, which was looked for.
            unsafe { body.run(simd::current(), out, inputs, range.len()) };
        } else {
            // SAFETY: as above, but for alignment, sameness and size.
            unsafe { self.by_tiles(out, inputs, range.len()) };
        }
        Ok(())
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        Some(self)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.operation.name())?;
        for index in 0..self.form.inputs().len() {
            let separator = if index == 0 { "" } else { ", " };
            if self.is_scalar(index) {
                write!(f, "{separator}scalar {}", self.form.inputs()[index])?;
            } else {
                write!(f, "{separator}{}", self.form.inputs()[index])?;
            }
        }
        write!(f, ") of {} elements", self.size)
    }
}

// What is loaded and stored are elements `0..size` of the operands, as `footprint` says.
element_wise!(ContiguousLoop);

impl ContiguousLoop {
    /// What it does for each element.
    fn elements(&self) -> Elements {
        let mut elements = Elements::over([self.size]);
        let array = |dtype: DType, operand| Array {
            dtype,
            base: Base::Operand(operand),
            offset: self.begins[operand] as isize,
            strides: smallvec![dtype.size() as isize],
        };
        let output = elements.array(array(self.form.output, 0));
        let mut values = SmallVec::new();
        let mut operand = 1;
        for (index, &dtype) in self.form.inputs().iter().enumerate() {
            values.push(match self.scalar {
                Some((_, bytes)) if self.is_scalar(index) => {
                    let scalar = elements.scalar(dtype, bytes);
                    elements.push(Step::Scalar(scalar), dtype)
                }
                _ => {
                    let array = elements.array(array(dtype, operand));
                    operand += 1;
                    elements.load(array)
                }
            });
        }
        let made = elements.push(Step::Apply(self.body, values), self.form.output);
        elements.stores.push((made, output));
        elements
    }

    /// Runs where an operand is a scalar, is the output, lies askew, or is larger than the caches.
    ///
    /// # Safety
    /// As for [`Body::run`], but addresses needn't be aligned, and inputs may be the output.
    #[inline(never)]
    unsafe fn by_tiles(&self, out: *mut u8, inputs: Inputs, count: usize) {
        let (body, form) = (self.body, &self.form);
        let level = simd::current();
        let out_size = form.output.size();
        let mut tiles = [const { Tile::new() }; MAX_INPUTS];
        let mut out_tile = Tile::new();
        let mut largest = out_size;
        for index in 0..form.inputs().len() {
            largest = largest.max(form.inputs()[index].size());
        }
        let tile = (TILE_BYTES / largest).min(count);
        let mut from = inputs;
        let mut past = self.size * out_size >= PAST_CACHES;
        for (index, scratch) in tiles.iter_mut().enumerate().take(form.inputs().len()) {
            let dtype = form.inputs()[index];
            let apart = is_apart(out, count * out_size, inputs[index], count * dtype.size());
            let copied = !apart || !is_aligned(inputs[index], dtype);
            if let Some((_, value)) = self.scalar.as_ref().filter(|_| self.is_scalar(index)) {
                from[index] = scratch.as_mut_ptr();
                // SAFETY: a scalar has at least the bytes of its dtype, the tile room for `tile`.
                unsafe {
                    gather::gather(dtype.size(), value.as_ptr(), 0, scratch.as_mut_ptr(), tile);
                };
            } else if copied {
                from[index] = scratch.as_mut_ptr();
                // Lines that were read are in the caches already.
                past &= apart;
            }
        }
        let out_askew = !is_aligned(out, form.output);
        for begin in (0..count).step_by(tile.max(1)) {
            let part = tile.min(count - begin);
            let mut now = from;
            for index in 0..form.inputs().len() {
                if self.is_scalar(index) {
                    continue;
                }
                let size = form.inputs()[index].size();
                let src = inputs[index].wrapping_add(begin * size);
                if from[index] == inputs[index] {
                    now[index] = src;
                } else {
                    let tile = from[index].cast_mut();
                    // SAFETY: `part` elements of the caller's, and a tile that has room for them.
                    unsafe { std::ptr::copy_nonoverlapping(src, tile, part * size) };
                }
            }
            let to = out.wrapping_add(begin * out_size);
            let target = if out_askew || past {
                out_tile.as_mut_ptr()
            } else {
                to
            };
            // SAFETY: aligned now, and none of the inputs is the output.
            unsafe { body.run(level, target, now, part) };
            if past {
                // SAFETY: the body wrote `part` elements to the tile.
                unsafe { stream::store(target, to, part * out_size) };
            } else if out_askew {
                // SAFETY: as above.
                unsafe { std::ptr::copy_nonoverlapping(target, to, part * out_size) };
            }
        }
        if past {
            stream::fence();
        }
    }
}
