//! An element-wise operation over arrays of any layout and dtype, tile by tile.

use std::fmt;
use std::ops::Range;

use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_types::shape::Tuple;
use millpond_types::{DType, Layout, Scalar, Shape};
use smallvec::SmallVec;

use crate::error::{PlanError, UnsupportedDType};
use crate::host::body::{Body, Inputs, MAX_INPUTS};
use crate::host::cast::{cast, is_half};
use crate::host::contiguous::is_aligned;
use crate::host::gather::{gather, scatter};
use crate::host::tile::{TILE_BYTES, Tile};
use crate::ops::{Operation, Signature};
use crate::simd::{self, Level};
use crate::template::blocks::Blocks;
use crate::template::space::{Offsets, Space};

/// Rows of at least this many elements are tiled one by one; shorter ones share a tile.
const LONG_ROW: usize = 64;

/// Elements worth a thread of their own.
pub(crate) fn grain(body: &dyn Body) -> usize {
    if body.is_heavy() { 4096 } else { 16384 }
}

/// What an operation reads.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// An array, broadcast to the output's shape.
    Array(DType, &'a Layout),
    /// One value for every element.
    Scalar(Scalar),
}

/// An input as the kernel keeps it.
#[derive(Clone, Debug)]
pub(super) struct Operand {
    /// What memory holds.
    pub(super) dtype: DType,
    /// What the body computes with.
    pub(super) compute: DType,
    /// The bytes of a scalar, as the body computes with it.
    scalar: Option<[u8; 16]>,
    /// Which base address is the operand's.
    base: usize,
    /// Bytes from the base that may be read.
    footprint: Range<usize>,
    pub(super) place: Place,
}

/// Where the elements of an operand lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// One after the other, through the whole space.
    Linear,
    /// One after the other within a row, and rows are tiled one by one.
    Row,
    /// All the same.
    Constant,
    /// Anywhere.
    Strided,
}

/// An operation over arrays.
///
/// Operands are the output and then the inputs that aren't scalars, each addressed by the base
/// that its layout's offset counts from. An input may be the output itself with the same layout;
/// other overlaps are the caller's duty to avoid.
pub struct MapKernel {
    name: &'static str,
    /// `None` copies.
    pub(super) body: Option<&'static dyn Body>,
    space: Space,
    shape: Shape,
    pub(super) output: Operand,
    pub(super) inputs: SmallVec<[Operand; MAX_INPUTS]>,
    /// Elements of a tile.
    pub(super) tile: usize,
    /// Whether a tile stays within a row.
    by_row: bool,
    /// Where rows won't do, as operands run along different axes.
    blocks: Option<Blocks>,
}

impl MapKernel {
    /// The kernel of an operation whose dtypes were resolved: inputs are cast to the signature's
    /// inputs, results to the output's dtype.
    ///
    /// # Errors
    /// [`PlanError::Arity`] or [`PlanError::Shape`] if the inputs don't fit the operation or the
    /// output, [`PlanError::DType`] if the signature isn't one of the operation's.
    pub fn new(
        operation: &'static Operation,
        signature: &Signature,
        output: (DType, &Layout),
        inputs: &[Input<'_>],
    ) -> Result<Self, PlanError> {
        let Some(body) = operation.body(&signature.inputs) else {
            return Err(PlanError::DType(UnsupportedDType {
                operation: operation.name(),
                dtypes: signature.inputs.iter().copied().collect(),
            }));
        };
        Self::plan(operation.name(), Some(body), output, inputs)
    }

    /// The kernel that copies an array or a scalar to the output, cast to its dtype.
    ///
    /// # Errors
    /// [`PlanError::Shape`] if the shapes differ.
    pub fn copy(output: (DType, &Layout), input: Input<'_>) -> Result<Self, PlanError> {
        Self::plan("copy", None, output, &[input])
    }

    fn plan(
        name: &'static str,
        body: Option<&'static dyn Body>,
        (dtype, layout): (DType, &Layout),
        inputs: &[Input<'_>],
    ) -> Result<Self, PlanError> {
        let arity = body.map_or(1, Body::arity);
        if inputs.len() != arity {
            return Err(PlanError::Arity {
                operation: name,
                expected: arity,
                given: inputs.len(),
            });
        }
        let mut layouts: SmallVec<[Option<(&Layout, usize)>; 4]> = SmallVec::new();
        layouts.push(Some((layout, dtype.size())));
        for (index, input) in inputs.iter().enumerate() {
            layouts.push(match input {
                Input::Array(_, input) if input.shape() != layout.shape() => {
                    return Err(PlanError::Shape {
                        operation: name,
                        operand: index,
                        output: layout.shape().into(),
                        input: input.shape().into(),
                    });
                }
                Input::Array(dtype, layout) => Some((layout, dtype.size())),
                Input::Scalar(_) => None,
            });
        }
        let space = Space::new(layout.shape(), &layouts);
        let by_row = space.axes().len() == 1 || space.inner_size() >= LONG_ROW;
        let place = |operand, dtype: DType| {
            if space.is_constant(operand) {
                Place::Constant
            } else if space.is_linear(operand, dtype.size()) {
                Place::Linear
            } else if by_row && space.inner_stride(operand) == dtype.size() as isize {
                Place::Row
            } else {
                Place::Strided
            }
        };
        let compute = body.map_or(dtype, Body::output);
        let mut largest = dtype.size().max(compute.size());
        let mut base = 0;
        let mut operands: SmallVec<[Operand; MAX_INPUTS]> = SmallVec::new();
        for (index, input) in inputs.iter().enumerate() {
            let compute = body.map_or(dtype, |body| body.input(index));
            operands.push(match input {
                Input::Array(dtype, layout) => {
                    base += 1;
                    Operand {
                        dtype: *dtype,
                        compute,
                        scalar: None,
                        base,
                        footprint: footprint(layout, *dtype),
                        place: place(index + 1, *dtype),
                    }
                }
                Input::Scalar(value) => Operand {
                    dtype: compute,
                    compute,
                    scalar: Some(value.to_bytes(compute)),
                    base: 0,
                    footprint: 0..0,
                    place: Place::Constant,
                },
            });
            let operand = &operands[index];
            largest = largest.max(operand.dtype.size()).max(compute.size());
        }
        let output = Operand {
            dtype,
            compute,
            scalar: None,
            base: 0,
            footprint: footprint(layout, dtype),
            // An output of one element counts as linear: nothing else is constant.
            place: if space.size() == 1 {
                Place::Linear
            } else {
                place(0, dtype)
            },
        };
        let tile = TILE_BYTES / largest;
        let mut items = [dtype.size(); 4];
        for (item, operand) in items[1..].iter_mut().zip(&operands) {
            *item = operand.dtype.size();
        }
        Ok(Self {
            name,
            body,
            blocks: Blocks::new(&space, &items, tile),
            space,
            shape: layout.shape().into(),
            output,
            inputs: operands,
            tile,
            by_row,
        })
    }

    fn arrays(&self) -> impl Iterator<Item = &Operand> {
        self.inputs.iter().filter(|input| input.scalar.is_none())
    }
}

fn footprint(layout: &Layout, dtype: DType) -> Range<usize> {
    let span = layout.span();
    span.start * dtype.size()..span.end * dtype.size()
}

impl fmt::Debug for MapKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: every access goes to an element of the layouts, which lie within the footprints.
unsafe impl HostKernel for MapKernel {
    fn operands(&self) -> usize {
        1 + self.arrays().count()
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let (bytes, access) = match operand {
            0 => (self.output.footprint.clone(), Access::Write),
            _ => (
                self.arrays()
                    .nth(operand - 1)
                    .map_or(0..0, |input| input.footprint.clone()),
                Access::Read,
            ),
        };
        Footprint { bytes, access }
    }

    fn extent(&self) -> usize {
        self.blocks
            .as_ref()
            .map_or(self.space.size(), Blocks::count)
    }

    fn grain(&self) -> usize {
        let elements = self.body.map_or(16384, grain);
        if self.blocks.is_some() {
            (elements / self.tile).max(1)
        } else {
            elements
        }
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        if range.is_empty() {
            return Ok(());
        }
        let run = Run::new(self, bases);
        match &self.blocks {
            // SAFETY: the caller vouches for the operands and the range.
            Some(blocks) => unsafe { run.blocks(blocks, range) },
            // SAFETY: as above.
            None => unsafe { run.elements(range) },
        }
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.name)?;
        for (index, input) in self.inputs.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            let scalar = if input.scalar.is_some() {
                "scalar "
            } else {
                ""
            };
            write!(f, "{separator}{scalar}{}", input.dtype)?;
        }
        write!(f, ") -> {} {}", self.output.dtype, Tuple(&self.shape))
    }
}

/// One call of [`MapKernel::run`]: addresses and scratch memory.
pub(super) struct Run<'a> {
    pub(super) kernel: &'a MapKernel,
    pub(super) level: Level,
    pub(super) out: *mut u8,
    pub(super) inputs: [*const u8; MAX_INPUTS],
    /// Elements as memory holds them, for each input and the output.
    pub(super) raw: [Tile; MAX_INPUTS + 1],
    /// Elements as the body computes with them.
    pub(super) ready: [Tile; MAX_INPUTS + 1],
}

/// The tile of the output.
pub(super) const OUT: usize = MAX_INPUTS;

impl<'a> Run<'a> {
    fn new(kernel: &'a MapKernel, bases: &[Address]) -> Self {
        let out: *mut u8 = bases[0].as_ptr();
        let mut inputs = [out.cast_const(); MAX_INPUTS];
        for (input, operand) in inputs.iter_mut().zip(&kernel.inputs) {
            *input = match &operand.scalar {
                Some(value) => value.as_ptr(),
                None => bases[operand.base].as_ptr(),
            };
        }
        Self {
            kernel,
            level: simd::current(),
            out,
            inputs,
            raw: [const { Tile::new() }; MAX_INPUTS + 1],
            ready: [const { Tile::new() }; MAX_INPUTS + 1],
        }
    }

    /// Whether an input can be read where it lies.
    fn is_direct(&self, index: usize) -> bool {
        let operand = &self.kernel.inputs[index];
        let base = self.inputs[index];
        matches!(operand.place, Place::Linear | Place::Row)
            && operand.dtype == operand.compute
            && is_aligned(base, operand.dtype)
            && self.is_apart(operand, base)
    }

    /// Whether an operand shares no byte with the output, so that a loop may assume it.
    fn is_apart(&self, operand: &Operand, base: *const u8) -> bool {
        let (read, written) = (&operand.footprint, &self.kernel.output.footprint);
        let (base, out) = (base.addr(), self.out.addr());
        base + read.end <= out + written.start || out + written.end <= base + read.start
    }

    /// Whether the output can be written where it lies.
    fn is_out_direct(&self) -> bool {
        let output = &self.kernel.output;
        matches!(output.place, Place::Linear | Place::Row)
            && output.dtype == output.compute
            && is_aligned(self.out, output.dtype)
    }

    /// Computes a range of elements.
    ///
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn elements(mut self, range: Range<usize>) {
        let kernel = self.kernel;
        let mut direct = [false; MAX_INPUTS];
        let mut all_direct = self.is_out_direct();
        let out_direct = all_direct;
        for (index, operand) in kernel.inputs.iter().enumerate() {
            direct[index] = self.is_direct(index);
            all_direct &= direct[index];
            if operand.place == Place::Constant {
                // SAFETY: a constant operand has at least its one element.
                unsafe { self.spread(index, kernel.tile.min(range.len())) };
            }
        }
        // Without scratch memory a row needs no tiles.
        let limit = if all_direct { usize::MAX } else { kernel.tile };
        let mut position = range.start;
        while position < range.end {
            let mut count = limit.min(range.end - position);
            if kernel.by_row {
                let inner = kernel.space.inner_size();
                count = count.min(inner - position % inner);
            }
            let offsets = kernel.space.locate(position);
            let mut from: Inputs = [self.out; MAX_INPUTS];
            for index in 0..kernel.inputs.len() {
                from[index] = if direct[index] {
                    self.inputs[index].wrapping_offset(offsets[index + 1])
                } else if kernel.inputs[index].place == Place::Constant {
                    self.ready[index].as_mut_ptr()
                } else {
                    // SAFETY: the elements lie within the range of the caller's.
                    unsafe { self.fetch(index, position, count, &offsets) }
                };
            }
            // SAFETY: `from` holds addresses of `count` elements each.
            unsafe { self.compute(out_direct, from, position, count, &offsets) };
            position += count;
        }
    }

    /// Fills an input's tile with its one element.
    ///
    /// # Safety
    /// The element may be read, and `count` elements fit a tile.
    pub(super) unsafe fn spread(&mut self, index: usize, count: usize) {
        let operand = &self.kernel.inputs[index];
        let mut value = [0_u64; 2];
        let value: *mut u8 = value.as_mut_ptr().cast();
        if operand.scalar.is_some() {
            // SAFETY: the kernel keeps 16 bytes of a scalar.
            unsafe { std::ptr::copy_nonoverlapping(self.inputs[index], value, 16) };
        } else {
            let begin = self.kernel.space.locate(0)[index + 1];
            let src = self.inputs[index].wrapping_offset(begin);
            let mut raw = [0_u64; 2];
            let raw: *mut u8 = raw.as_mut_ptr().cast();
            // SAFETY: the operand's element, into a buffer of the largest element.
            unsafe { std::ptr::copy_nonoverlapping(src, raw, operand.dtype.size()) };
            let (from, to) = ((operand.dtype, raw.cast_const()), (operand.compute, value));
            // SAFETY: both buffers are aligned and hold any element.
            unsafe { cast(self.level, from, to, 1) };
        }
        let tile = self.ready[index].as_mut_ptr();
        // SAFETY: the value is an element of the compute dtype, the tile has room.
        unsafe { gather(operand.compute.size(), value, 0, tile, count) };
    }

    /// Brings `count` elements of an input into its tile, as the body wants them.
    ///
    /// # Safety
    /// The elements may be read and fit a tile.
    unsafe fn fetch(
        &mut self,
        index: usize,
        position: usize,
        count: usize,
        offsets: &Offsets,
    ) -> *const u8 {
        let kernel = self.kernel;
        let operand = &kernel.inputs[index];
        let size = operand.dtype.size();
        let ready = self.ready[index].as_mut_ptr();
        let same = operand.dtype == operand.compute;
        let base = self.inputs[index];
        let here = base.wrapping_offset(offsets[index + 1]);
        let linear = matches!(operand.place, Place::Linear | Place::Row);
        let src = if linear && !same && is_aligned(base, operand.dtype) {
            here
        } else {
            let tile = if same {
                ready
            } else {
                self.raw[index].as_mut_ptr()
            };
            if linear || kernel.by_row {
                let stride = if linear {
                    size as isize
                } else {
                    kernel.space.inner_stride(index + 1)
                };
                // SAFETY: `count` elements of the row, and room for them.
                unsafe { gather(size, here, stride, tile, count) };
            } else {
                let stride = kernel.space.inner_stride(index + 1);
                let mut to = tile;
                kernel.space.rows(position, count, |offsets, length| {
                    let src = base.wrapping_offset(offsets[index + 1]);
                    // SAFETY: `length` elements of a row; all rows together have `count`.
                    unsafe { gather(size, src, stride, to, length) };
                    to = to.wrapping_add(length * size);
                });
            }
            tile.cast_const()
        };
        if !same {
            let (from, to) = ((operand.dtype, src), (operand.compute, ready));
            // SAFETY: `count` aligned elements, and room for as many.
            unsafe { cast(self.level, from, to, count) };
        }
        ready
    }

    /// Computes `count` elements and puts them where they belong.
    ///
    /// # Safety
    /// `from` holds addresses of `count` elements of each input; the output's elements from
    /// `position` on may be written.
    unsafe fn compute(
        &mut self,
        out_direct: bool,
        from: Inputs,
        position: usize,
        count: usize,
        offsets: &Offsets,
    ) {
        let kernel = self.kernel;
        let output = &kernel.output;
        let here = self.out.wrapping_offset(offsets[0]);
        let target = if out_direct {
            here
        } else {
            self.ready[OUT].as_mut_ptr()
        };
        let mut computed = target.cast_const();
        match kernel.body {
            // SAFETY: aligned, apart from one another, and `count` elements each.
            Some(body) => unsafe { body.run(self.level, target, from, count) },
            None if out_direct => {
                // SAFETY: a copy's input has the output's dtype by now. It may be the output
                // itself only by way of a tile.
                unsafe {
                    std::ptr::copy_nonoverlapping(from[0], here, count * output.dtype.size());
                };
            }
            None => computed = from[0],
        }
        if out_direct {
            return;
        }
        let size = output.dtype.size();
        let linear = matches!(output.place, Place::Linear | Place::Row);
        if output.dtype != output.compute {
            let aligned = linear && is_aligned(self.out, output.dtype);
            let to = if aligned {
                here
            } else {
                self.raw[OUT].as_mut_ptr()
            };
            // SAFETY: `count` computed elements, and room for as many.
            unsafe {
                cast(
                    self.level,
                    (output.compute, computed),
                    (output.dtype, to),
                    count,
                );
            };
            if aligned {
                return;
            }
            computed = to;
        }
        if linear || kernel.by_row {
            let stride = if linear {
                size as isize
            } else {
                kernel.space.inner_stride(0)
            };
            // SAFETY: `count` elements of the output's row.
            unsafe { scatter(size, computed, here, stride, count) };
        } else {
            let stride = kernel.space.inner_stride(0);
            let out = self.out;
            kernel.space.rows(position, count, |offsets, length| {
                let dst = out.wrapping_offset(offsets[0]);
                // SAFETY: `length` elements of a row; all rows together have `count`.
                unsafe { scatter(size, computed, dst, stride, length) };
                computed = computed.wrapping_add(length * size);
            });
        }
    }
}

/// The dtype that arithmetic on `dtype` is done in.
#[must_use]
pub const fn compute_dtype(dtype: DType) -> DType {
    if is_half(dtype) {
        DType::Float32
    } else {
        dtype
    }
}
