//! Accumulating along an axis: each result is that of the elements up to its own.
//!
//! Integers are exact and wrap. Floats are accumulated in an order that depends on the shape and
//! layout alone, and not on threads: along a run in tiles of some hundred elements, each in
//! eight chains whose totals are added first, so that additions needn't wait for one another;
//! where runs are short, whole rows side by side, one element after the other.
//!
//! Few long rows are cut into pieces: one kernel finds what each comes to, the next accumulates
//! within them. Both share scratch memory.

mod body;
mod code;
mod kernels;
mod loops;
mod walk;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use millpond_hal::{Access, Footprint};
use millpond_types::shape::Tuple;
use millpond_types::{DType, Layout, Shape};
use smallvec::SmallVec;

use crate::error::{PlanError, UnsupportedDType};
use crate::host::map::compute_dtype;
use crate::ops::reduction::rows as reductions;
use crate::template::space::Space;
use body::Words;
pub use kernels::{ScanKernel, ScanTotals};
use loops::{COLUMNS, ScanLoop};
use walk::Walk;

/// Elements of a piece.
const PIECE: usize = 1 << 16;

/// Rows beyond which they are work enough to be shared among threads.
const MANY_ROWS: usize = 64;

/// Neighbouring columns fewer than this aren't worth accumulating side by side.
const FEW_COLUMNS: usize = 16;

/// What is accumulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The logarithm of the sum of the exponentials.
    LogSumExp,
}

impl Scan {
    /// What functions call it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "cumulative_sum",
            Self::Product => "cumulative_prod",
            Self::LogSumExp => "cumulative_logsumexp",
        }
    }

    /// The dtype of the result for an input of `input`, if the caller wants `dtype`.
    ///
    /// # Errors
    /// [`UnsupportedDType`] if it isn't defined for them.
    pub fn resolve(
        self,
        input: DType,
        dtype: Option<DType>,
        default_float: DType,
    ) -> Result<DType, UnsupportedDType> {
        let reduction = match self {
            Self::Sum => &reductions::sum,
            Self::Product => &reductions::prod,
            Self::LogSumExp => &reductions::logsumexp,
        };
        let refused = || UnsupportedDType {
            operation: self.name(),
            dtypes: [input].into_iter().chain(dtype).collect(),
        };
        let signature = reduction.resolve(input, dtype, default_float);
        let output = signature.map_err(|_| refused())?.output;
        if input.is_complex() && !output.is_complex() {
            return Err(refused());
        }
        Ok(output)
    }

    /// What is computed with for a result of a dtype.
    fn compute(self, output: DType) -> DType {
        match self {
            Self::LogSumExp => DType::Float64,
            _ => compute_dtype(output),
        }
    }

    fn body(self, compute: DType) -> Option<&'static dyn ScanLoop> {
        match self {
            Self::Sum => body::sum(compute),
            Self::Product => body::product(compute),
            Self::LogSumExp => Some(&body::LogSumExp),
        }
    }
}

/// An array of a scan: its dtype, where it lies, and its steps along the axis.
struct Side {
    dtype: DType,
    bytes: Range<usize>,
    /// Bytes from one element along the axis to the next.
    stride: isize,
}

/// What the kernels of a scan share. The state before each piece, by piece and then by row, is in
/// scratch memory where there are several.
struct Plan {
    scan: Scan,
    body: &'static dyn ScanLoop,
    compute: DType,
    output: Side,
    input: Side,
    shape: Shape,
    axis: usize,
    length: usize,
    /// The first element of each row: operand 0 the output's, operand 1 the input's.
    rows: Space,
    /// Whether rows are accumulated side by side.
    across: bool,
    /// Elements of a piece of a row, and pieces.
    piece: usize,
    pieces: usize,
}

/// A scan, by one kernel or two.
pub struct ScanPlan(Arc<Plan>);

impl ScanPlan {
    /// The scan of `input` along an axis. Both layouts have the same shape and don't overlap,
    /// unless they are the same.
    ///
    /// # Errors
    /// [`PlanError::DType`] if it isn't computed for the output's dtype.
    pub fn new(
        scan: Scan,
        output: (DType, &Layout),
        input: (DType, &Layout),
        axis: usize,
    ) -> Result<Self, PlanError> {
        let compute = scan.compute(output.0);
        let Some(body) = scan.body(compute) else {
            return Err(PlanError::DType(UnsupportedDType {
                operation: scan.name(),
                dtypes: [input.0, output.0].into_iter().collect(),
            }));
        };
        let side = |(dtype, layout): (DType, &Layout)| {
            let size = dtype.size();
            Side {
                dtype,
                bytes: layout.byte_span(size),
                stride: layout.strides()[axis] * size as isize,
            }
        };
        let (first, second) = (without(output.1, axis)?, without(input.1, axis)?);
        let rows = Space::new(
            first.shape(),
            &[
                Some((&first, output.0.size())),
                Some((&second, input.0.size())),
            ],
        );
        let length = output.1.shape()[axis];
        let (output, shape) = (side(output), output.1.shape().into());
        let across = rows.inner_size() >= FEW_COLUMNS
            && rows.inner_stride(0).unsigned_abs() < output.stride.unsigned_abs();
        let together = if across { rows.size() } else { 1 };
        let piece = (PIECE / together.max(1)).max(COLUMNS);
        let pieces = if rows.size() >= MANY_ROWS * if across { COLUMNS / 8 } else { 1 } {
            1
        } else {
            length.div_ceil(piece).max(1)
        };
        Ok(Self(Arc::new(Plan {
            scan,
            body,
            compute,
            output,
            input: side(input),
            shape,
            axis,
            length,
            across,
            piece: if pieces == 1 { length } else { piece },
            pieces,
            rows,
        })))
    }

    /// Bytes of scratch memory, aligned to 8, that the kernels share; none if there is one kernel.
    #[must_use]
    pub fn scratch_bytes(&self) -> usize {
        if self.0.pieces > 1 {
            self.0.state_bytes()
        } else {
            0
        }
    }

    /// The kernel to be run first, if there are two. Its operands are the scratch memory and the
    /// input.
    #[must_use]
    pub fn totals(&self) -> Option<ScanTotals> {
        (self.0.pieces > 1).then(|| ScanTotals(Arc::clone(&self.0)))
    }

    /// The kernel that writes the result. Its operands are the output, the input, and the scratch
    /// memory if there are two kernels.
    #[must_use]
    pub fn kernel(self) -> ScanKernel {
        ScanKernel(self.0)
    }
}

impl fmt::Debug for ScanPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(f)
    }
}

/// A layout without one of its axes.
fn without(layout: &Layout, axis: usize) -> Result<Layout, PlanError> {
    let axes = (0..layout.ndim()).filter(|&other| other != axis);
    let (shape, strides): (Shape, SmallVec<[isize; 4]>) = axes
        .map(|axis| (layout.shape()[axis], layout.strides()[axis]))
        .unzip();
    Ok(Layout::new(&shape, &strides, layout.offset())?)
}

impl Plan {
    fn extent(&self) -> usize {
        if self.length == 0 {
            return 0;
        }
        self.rows.size() * self.pieces
    }

    fn grain(&self) -> usize {
        let rows = (PIECE / 4 / self.piece.max(1)).max(1);
        if self.across {
            rows.next_multiple_of(FEW_COLUMNS)
        } else {
            rows
        }
    }

    /// The elements of a piece of a row.
    fn piece(&self, number: usize) -> Range<usize> {
        let begin = number * self.piece;
        begin..self.length.min(begin + self.piece)
    }

    /// Bytes of the states of all pieces.
    fn state_bytes(&self) -> usize {
        self.rows.size() * self.pieces * size_of::<Words>()
    }

    /// Turns what pieces come to into what comes before them.
    ///
    /// # Safety
    /// The states of all pieces were written, and nobody else touches them.
    unsafe fn sum_up(&self, states: *mut Words) {
        let (rows, count) = (self.rows.size(), self.rows.size() * self.pieces);
        // SAFETY: as the caller vouches.
        let states = unsafe { std::slice::from_raw_parts_mut(states, count) };
        for row in 0..rows {
            let mut state = self.body.start();
            for own in states[row..].iter_mut().step_by(rows) {
                let next = self.body.join(state, *own);
                *own = std::mem::replace(&mut state, next);
            }
        }
    }

    /// Accumulates some of the pieces; `output` is null where only their totals are wanted.
    ///
    /// # Safety
    /// As for [`HostKernel::run`](millpond_hal::HostKernel::run); `states` is null if each row is one piece.
    unsafe fn run(
        &self,
        output: *mut u8,
        input: *const u8,
        states: *mut Words,
        range: Range<usize>,
    ) {
        let mut walk = Walk::new(self, output, input, states);
        let rows = self.rows.size();
        let mut at = range.start;
        while at < range.end {
            let (piece, row) = (at / rows, at % rows);
            let count = (range.end - at).min(rows - row);
            if self.across {
                self.rows.rows(row, count, |offsets, length| {
                    // SAFETY: as the caller vouches.
                    unsafe { walk.across(piece, at % rows, offsets, length) };
                    at += length;
                });
            } else {
                // SAFETY: as the caller vouches.
                unsafe { walk.along(piece, row) };
                at += 1;
            }
        }
    }

    fn read(&self) -> Footprint {
        Footprint {
            bytes: self.input.bytes.clone(),
            access: Access::Read,
        }
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}({} {}, axis {}) -> {}",
            self.scan.name(),
            self.input.dtype,
            Tuple(&self.shape),
            self.axis,
            self.output.dtype
        )
    }
}
