//! Runs of equal elements in a sorted array: how many there are, and what they are.
//!
//! NaNs equal nothing, so each is a run of its own.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_types::DType;

use crate::host::sort::key::{Raw, Rule, with_raw, with_rule};
use crate::host::sort::{elements, places};

/// Elements of a piece.
const PIECE: usize = 1 << 15;

/// The runs of a contiguous array.
#[derive(Clone, Debug)]
pub struct Runs(Arc<Plan>);

#[derive(Debug)]
struct Plan {
    dtype: DType,
    size: usize,
    /// Of each piece: how many runs begin in it, and where the last does; once all are counted,
    /// the same of all pieces before it.
    pieces: Box<[[AtomicU64; 2]]>,
}

impl Runs {
    /// The runs of `size` sorted elements. All operands of its kernels begin at their bases.
    #[must_use]
    pub fn new(dtype: DType, size: usize) -> Self {
        let pieces = std::iter::repeat_with(Default::default);
        Self(Arc::new(Plan {
            dtype,
            size,
            pieces: pieces.take(size.div_ceil(PIECE)).collect(),
        }))
    }

    /// The first kernel: writes how many runs there are, one `int64`, and reads the elements.
    #[must_use]
    pub fn count(&self) -> CountRuns {
        CountRuns(Arc::clone(&self.0))
    }

    /// The second, once it is known that there are `runs`. Its operands are those that are wanted,
    /// in this order: the first element of each run, where it came from, how long the run is, and
    /// for each position the number of the run that has it; then the sorted elements, and the
    /// positions that they came from if anything but elements and lengths is wanted.
    #[must_use]
    pub fn write(self, runs: usize, wanted: Wanted) -> WriteRuns {
        WriteRuns {
            plan: self.0,
            runs,
            wanted,
        }
    }
}

/// What is wanted of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Where the first element of each came from.
    pub indices: bool,
    /// How long each is.
    pub counts: bool,
    /// The number of the run for each position.
    pub inverse: bool,
}

impl Plan {
    fn piece(&self, number: usize) -> Range<usize> {
        let begin = number * PIECE;
        begin..self.size.min(begin + PIECE)
    }

    fn elements(&self) -> usize {
        self.size * self.dtype.size()
    }

    /// Calls `begins` with the number of each element of a piece that begins a run.
    ///
    /// # Safety
    /// The elements lie at `sorted`.
    #[inline(always)]
    unsafe fn runs<R: Raw>(
        &self,
        sorted: *const u8,
        piece: usize,
        mut each: impl FnMut(usize, R, bool),
    ) {
        // SAFETY: as the caller vouches.
        let sorted: &[R] = unsafe { elements(sorted, 0, self.size) };
        let mut run = |rule: Rule| {
            for number in self.piece(piece) {
                let element = sorted[number];
                let begins = number == 0
                    || element.key(rule) != sorted[number - 1].key(rule)
                    || element.is_nan(rule);
                each(number, element, begins);
            }
        };
        with_rule!(Rule::of(self.dtype), run);
    }

    fn describe(&self, step: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unique({} ({},)): {step}", self.dtype, self.size)
    }
}

/// Counts runs.
pub struct CountRuns(Arc<Plan>);

impl fmt::Debug for CountRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: the count is written, and elements are read.
unsafe impl HostKernel for CountRuns {
    fn operands(&self) -> usize {
        2
    }

    fn footprint(&self, operand: usize) -> Footprint {
        if operand == 0 {
            return Footprint::filled(0..size_of::<i64>(), size_of::<i64>());
        }
        Footprint {
            bytes: 0..self.0.elements(),
            access: Access::Read,
        }
    }

    fn extent(&self) -> usize {
        self.0.pieces.len()
    }

    fn grain(&self) -> usize {
        1
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        let sorted: *mut u8 = bases[1].as_ptr();
        for piece in range {
            let (mut runs, mut last) = (0, 0);
            macro_rules! count {
                ($raw:ty) => {
                    // SAFETY: as the caller vouches.
                    unsafe {
                        self.0.runs::<$raw>(sorted, piece, |number, _, begins| {
                            runs += u64::from(begins);
                            last = if begins { number as u64 } else { last };
                        });
                    }
                };
            }
            with_raw!(self.0.dtype, count);
            let [count, begin] = &self.0.pieces[piece];
            count.store(runs, Ordering::Relaxed);
            begin.store(last, Ordering::Relaxed);
        }
        Ok(())
    }

    unsafe fn finish(&self, bases: &[Address]) -> Result<(), KernelError> {
        let (mut runs, mut last) = (0, 0);
        for [count, begin] in &self.0.pieces {
            let own = count.swap(runs, Ordering::Relaxed);
            let own_last = begin.swap(last, Ordering::Relaxed);
            runs += own;
            last = if own > 0 { own_last } else { last };
        }
        let count = bases[0].as_ptr::<i64>();
        // SAFETY: the caller vouches for the first operand.
        unsafe { count.write(runs as i64) };
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe("count", f)
    }
}

/// Writes what is wanted of each run.
pub struct WriteRuns {
    plan: Arc<Plan>,
    runs: usize,
    wanted: Wanted,
}

impl Wanted {
    /// The operands: outputs, and whether positions are read.
    const fn outputs(self) -> usize {
        1 + self.indices as usize + self.counts as usize + self.inverse as usize
    }

    const fn reads_positions(self) -> bool {
        self.indices || self.inverse
    }
}

/// Addresses of outputs that several threads write, each its own elements.
#[derive(Clone, Copy)]
struct Targets {
    values: *mut u8,
    indices: *mut i64,
    counts: *mut i64,
    inverse: *mut i64,
}

impl WriteRuns {
    fn targets(&self, bases: &[Address]) -> Targets {
        let mut next = 0;
        let mut target = |wanted: bool| {
            if !wanted {
                return std::ptr::null_mut();
            }
            next += 1;
            bases[next].as_ptr()
        };
        let Wanted {
            indices,
            counts,
            inverse,
        } = self.wanted;
        Targets {
            values: bases[0].as_ptr(),
            indices: target(indices),
            counts: target(counts),
            inverse: target(inverse),
        }
    }

    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn write<R: Raw>(&self, bases: &[Address], piece: usize) -> Result<(), KernelError> {
        let plan = &*self.plan;
        let to = self.targets(bases);
        let outputs = self.wanted.outputs();
        let sorted: *mut u8 = bases[outputs].as_ptr();
        let positions: &[i64] = if self.wanted.reads_positions() {
            // SAFETY: as many positions as elements, which the caller vouches for.
            unsafe { elements(bases[outputs + 1].as_ptr::<u8>(), 0, plan.size) }
        } else {
            &[]
        };
        let [before, last] = &plan.pieces[piece];
        let mut run = before.load(Ordering::Relaxed) as usize;
        let mut begin = last.load(Ordering::Relaxed) as usize;
        let end = plan.pieces.get(piece + 1);
        let end = end.map_or(self.runs, |[runs, _]| runs.load(Ordering::Relaxed) as usize);
        if end > self.runs {
            return Err(KernelError::from(
                "unique: the elements changed meanwhile".to_owned(),
            ));
        }
        let close = |run: usize, length: usize| {
            if run > 0 && !to.counts.is_null() {
                // SAFETY: the run before this, which ends here and nowhere else.
                unsafe { to.counts.wrapping_add(run - 1).write(length as i64) };
            }
        };
        // SAFETY: runs that begin in this piece, which no other call writes.
        let values: &mut [R] = unsafe { places(to.values, run, end - run) };
        let mut values = values.iter_mut();
        let each = |number: usize, element: R, begins: bool| {
            if begins {
                close(run, number - begin);
                if let Some(value) = values.next() {
                    *value = element;
                }
                if !to.indices.is_null() {
                    // SAFETY: as for the values.
                    unsafe { to.indices.wrapping_add(run).write(positions[number]) };
                }
                (run, begin) = (run + 1, number);
            }
            if !to.inverse.is_null() {
                let position = positions[number] as usize;
                assert!(position < plan.size, "positions are those of elements");
                // SAFETY: each position is that of one element.
                unsafe { to.inverse.wrapping_add(position).write(run as i64 - 1) };
            }
        };
        // SAFETY: as the caller vouches.
        unsafe { plan.runs::<R>(sorted, piece, each) };
        if piece + 1 == plan.pieces.len() {
            close(run, plan.size - begin);
        }
        Ok(())
    }
}

impl fmt::Debug for WriteRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: as many elements of the outputs are written as there are runs, or elements for the
// inverse, as the first kernel counted them; elements and positions are read.
unsafe impl HostKernel for WriteRuns {
    fn operands(&self) -> usize {
        self.wanted.outputs() + 1 + usize::from(self.wanted.reads_positions())
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let (outputs, plan) = (self.wanted.outputs(), &self.plan);
        if operand < outputs {
            let bytes = match operand {
                0 => self.runs * plan.dtype.size(),
                _ if operand + 1 == outputs && self.wanted.inverse => plan.size * size_of::<i64>(),
                _ => self.runs * size_of::<i64>(),
            };
            return Footprint::filled(0..bytes, bytes);
        }
        let bytes = if operand == outputs {
            plan.elements()
        } else {
            plan.size * size_of::<i64>()
        };
        Footprint {
            bytes: 0..bytes,
            access: Access::Read,
        }
    }

    fn extent(&self) -> usize {
        self.plan.pieces.len()
    }

    fn grain(&self) -> usize {
        1
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        for piece in range {
            macro_rules! write {
                ($raw:ty) => {
                    // SAFETY: as the caller vouches.
                    unsafe { self.write::<$raw>(bases, piece) }?
                };
            }
            with_raw!(self.plan.dtype, write);
        }
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.plan.describe("write", f)
    }
}
