//! An element-wise operation over arrays of any layout and dtype, tile by tile.

use std::fmt;
use std::ops::Range;

use millpond_hal::code::DeviceCode;
use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_types::shape::Tuple;
use millpond_types::{DType, Layout, Scalar, Shape};
use smallvec::SmallVec;

use crate::error::{PlanError, UnsupportedDType};
use crate::host::body::{Body, MAX_INPUTS};
use crate::host::cast::is_half;
use crate::host::tile::TILE_BYTES;
use crate::ops::{Operation, Signature};
use crate::template::blocks::Blocks;
use crate::template::space::Space;

/// Rows of at least this many elements are tiled one by one; shorter ones share a tile.
const LONG_ROW: usize = 64;

/// Elements worth a thread of their own.
pub(crate) fn grain(body: &dyn Body) -> usize {
    if body.is_heavy() { 4096 } else { 16384 }
}

mod block;
mod code;
mod run;

use run::Run;

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
                        footprint: layout.byte_span(dtype.size()),
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
            footprint: layout.byte_span(dtype.size()),
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
        if operand == 0 {
            let filled = self.space.size() * self.output.dtype.size();
            return Footprint::filled(self.output.footprint.clone(), filled);
        }
        let input = self.arrays().nth(operand - 1);
        let bytes = input.map_or(0..0, |input| input.footprint.clone());
        Footprint {
            bytes,
            access: Access::Read,
        }
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

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        Some(self)
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

/// The dtype that arithmetic on `dtype` is done in.
#[must_use]
pub const fn compute_dtype(dtype: DType) -> DType {
    if is_half(dtype) {
        DType::Float32
    } else {
        dtype
    }
}
