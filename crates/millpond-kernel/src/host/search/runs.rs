//! Runs of equal elements in a sorted array: how many there are, and what they are.
//!
//! NaNs equal nothing, so each is a run of its own.

use std::fmt;
use std::ops::Range;

use millpond_hal::{Access, Address, DeviceCode, Footprint, HostKernel, KernelError};
use millpond_types::DType;

use crate::host::level::{Work, at_level};
use crate::host::sort::key::{Raw, Rule, with_raw, with_rule};
use crate::host::sort::{elements, places};
use crate::simd;

/// Elements of a piece.
pub(crate) const PIECE: usize = 1 << 12;

/// Pieces that are worth a thread.
const GRAIN: usize = 8;

/// What is known of a piece: how many runs begin in it, and where the last does; once all are counted, the
/// same of all pieces before it.
type Known = [u64; 2];

/// The runs of a contiguous array.
#[derive(Clone, Copy, Debug)]
pub struct Runs {
    pub(super) dtype: DType,
    pub(super) size: usize,
}

impl Runs {
    /// The runs of `size` sorted elements. All operands of its kernels begin at their bases.
    #[must_use]
    pub const fn new(dtype: DType, size: usize) -> Self {
        Self { dtype, size }
    }

    /// Bytes of the table that the kernels share, aligned to 16.
    #[must_use]
    pub const fn table_bytes(&self) -> usize {
        self.pieces() * size_of::<Known>()
    }

    /// The first kernel: writes how many runs there are, one `int64`, and the table, and reads the elements.
    #[must_use]
    pub const fn count(self) -> CountRuns {
        CountRuns(self)
    }

    /// The second, once it is known that there are `runs`. Its operands are those that are wanted,
    /// in this order: the first element of each run, where it came from, how long the run is, and
    /// for each position the number of the run that has it; then the table, the sorted elements, and the
    /// positions that they came from if anything but elements and lengths is wanted.
    #[must_use]
    pub const fn write(self, runs: usize, wanted: Wanted) -> WriteRuns {
        WriteRuns {
            plan: self,
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

impl Runs {
    pub(super) const fn pieces(&self) -> usize {
        self.size.div_ceil(PIECE)
    }

    fn piece(&self, number: usize) -> Range<usize> {
        let begin = number * PIECE;
        begin..self.size.min(begin + PIECE)
    }

    fn elements(&self) -> usize {
        self.size * self.dtype.size()
    }

    /// Says of each element of a piece whether it is the first of a run.
    ///
    /// # Safety
    /// The elements lie at `sorted`.
    unsafe fn begins<'b, R: Raw>(
        &self,
        sorted: *const u8,
        piece: usize,
        begins: &'b mut [u8; PIECE],
    ) -> &'b [u8] {
        // SAFETY: as the caller vouches.
        let sorted: &[R] = unsafe { elements(sorted, 0, self.size) };
        let range = self.piece(piece);
        let begins = &mut begins[..range.len()];
        let compare = Compare {
            before: range.start.checked_sub(1).map(|before| sorted[before]),
            elements: &sorted[range],
            rule: Rule::of(self.dtype),
            begins,
        };
        at_level(simd::current(), compare);
        begins
    }

    fn describe(&self, step: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unique({} ({},)): {step}", self.dtype, self.size)
    }
}

/// Counts runs.
pub struct CountRuns(pub(super) Runs);

impl fmt::Debug for CountRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: the count and the table are written, and elements are read.
unsafe impl HostKernel for CountRuns {
    fn operands(&self) -> usize {
        3
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let written = |bytes: usize| Footprint::filled(0..bytes, bytes);
        match operand {
            0 => written(size_of::<i64>()),
            1 => written(self.0.table_bytes()),
            _ => Footprint {
                bytes: 0..self.0.elements(),
                access: Access::Read,
            },
        }
    }

    fn extent(&self) -> usize {
        self.0.pieces()
    }

    fn grain(&self) -> usize {
        GRAIN
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        Some(self)
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        let sorted: *mut u8 = bases[2].as_ptr();
        // SAFETY: the pieces of the range, which no other call touches.
        let table: &mut [Known] = unsafe { places(bases[1].as_ptr(), range.start, range.len()) };
        for (piece, known) in range.zip(table) {
            let mut begins = [0; PIECE];
            macro_rules! begins {
                ($raw:ty) => {
                    // SAFETY: as the caller vouches.
                    unsafe { self.0.begins::<$raw>(sorted, piece, &mut begins) }
                };
            }
            let begins = with_raw!(self.0.dtype, begins);
            let runs: u64 = begins.iter().copied().map(u64::from).sum();
            let last = begins.iter().rposition(|begins| *begins != 0).unwrap_or(0);
            *known = [runs, (self.0.piece(piece).start + last) as u64];
        }
        Ok(())
    }

    unsafe fn finish(&self, bases: &[Address]) -> Result<(), KernelError> {
        let (mut runs, mut last) = (0, 0);
        // SAFETY: the whole table, which nobody else touches any more.
        let table: &mut [Known] = unsafe { places(bases[1].as_ptr(), 0, self.0.pieces()) };
        for known in table {
            let [own, own_last] = std::mem::replace(known, [runs, last]);
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
    pub(super) plan: Runs,
    pub(super) runs: usize,
    pub(super) wanted: Wanted,
}

impl Wanted {
    /// The operands: outputs, and whether positions are read.
    pub(super) const fn outputs(self) -> usize {
        1 + self.indices as usize + self.counts as usize + self.inverse as usize
    }

    const fn reads_positions(self) -> bool {
        self.indices || self.inverse
    }
}

/// Addresses of outputs that several threads write, each its own elements.
#[derive(Clone, Copy)]
pub(super) struct Targets {
    pub(super) values: *mut u8,
    pub(super) indices: *mut i64,
    pub(super) counts: *mut i64,
    pub(super) inverse: *mut i64,
}

impl WriteRuns {
    pub(super) fn targets(&self, bases: &[Address]) -> Targets {
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
        let plan = &self.plan;
        let to = self.targets(bases);
        let outputs = self.wanted.outputs();
        // SAFETY: the whole table, which the caller vouches for.
        let table: &[Known] = unsafe { elements(bases[outputs].as_ptr::<u8>(), 0, plan.pieces()) };
        let sorted: *mut u8 = bases[outputs + 1].as_ptr();
        let positions: &[i64] = if self.wanted.reads_positions() {
            // SAFETY: as many positions as elements, which the caller vouches for.
            unsafe { elements(bases[outputs + 2].as_ptr::<u8>(), 0, plan.size) }
        } else {
            &[]
        };
        let [run, begin] = table[piece].map(|known| known as usize);
        let end = table
            .get(piece + 1)
            .map_or(self.runs, |[runs, _]| *runs as usize);
        let mut begins = [0; PIECE];
        // SAFETY: as the caller vouches.
        let begins = unsafe { plan.begins::<R>(sorted, piece, &mut begins) };
        let mut starts = [0; PIECE];
        let starts = places_of(begins, &mut starts);
        if end > self.runs || run + starts.len() != end {
            return Err(changed());
        }
        let range = plan.piece(piece);
        // SAFETY: as the caller vouches.
        let own: &[R] = unsafe { elements(sorted.cast_const(), range.start, range.len()) };
        // SAFETY: runs that begin in this piece, which no other call writes.
        let values: &mut [R] = unsafe { places(to.values, run, starts.len()) };
        if starts.len() == own.len() {
            values.copy_from_slice(own);
        } else {
            for (value, &start) in values.iter_mut().zip(starts) {
                *value = own[usize::from(start)];
            }
        }
        // SAFETY: as for the values.
        let indices: &mut [i64] = unsafe { places(to.indices.cast(), run, starts.len()) };
        for (index, &start) in indices.iter_mut().zip(starts) {
            *index = positions[range.start + usize::from(start)];
        }
        if !to.counts.is_null() {
            let close = |run: usize, length: usize| {
                if run > 0 {
                    // SAFETY: the run before this, which ends here and nowhere else.
                    unsafe { to.counts.wrapping_add(run - 1).write(length as i64) };
                }
            };
            let mut begin = begin;
            for (run, &start) in (run..).zip(starts) {
                let start = range.start + usize::from(start);
                close(run, start - begin);
                begin = start;
            }
            if piece + 1 == plan.pieces() {
                close(end, plan.size - begin);
            }
        }
        if !to.inverse.is_null() {
            let mut run = run;
            for (&begins, &position) in begins.iter().zip(&positions[range]) {
                run += usize::from(begins);
                let position = position as usize;
                assert!(position < plan.size, "positions are those of elements");
                // SAFETY: each position is that of one element.
                unsafe { to.inverse.wrapping_add(position).write(run as i64 - 1) };
            }
        }
        Ok(())
    }
}

/// Compares each element with the one before it.
struct Compare<'a, R> {
    before: Option<R>,
    elements: &'a [R],
    rule: Rule,
    begins: &'a mut [u8],
}

impl<R: Raw> Compare<'_, R> {
    #[inline(always)]
    fn run(self, rule: Rule) {
        let (Some((&first, others)), Some((first_begins, rest))) =
            (self.elements.split_first(), self.begins.split_first_mut())
        else {
            return;
        };
        *first_begins = u8::from(self.before.is_none_or(|before| begins(before, first, rule)));
        for ((slot, &before), &element) in rest.iter_mut().zip(self.elements).zip(others) {
            *slot = u8::from(begins(before, element, rule));
        }
    }
}

/// Whether an element begins a run behind another one.
#[inline(always)]
fn begins<R: Raw>(before: R, element: R, rule: Rule) -> bool {
    (before.key(rule) != element.key(rule)) | element.is_nan(rule)
}

impl<R: Raw> Work for Compare<'_, R> {
    type Home = R;

    #[inline(always)]
    fn work(self) {
        let rule = self.rule;
        let run = |rule: Rule| self.run(rule);
        with_rule!(rule, run);
    }
}

/// Lists where ones are.
fn places_of<'p>(ones: &[u8], places: &'p mut [u16; PIECE]) -> &'p [u16] {
    const { assert!(PIECE <= 1 << u16::BITS, "numbers of a piece fit") };
    let mut found = 0;
    for (number, &one) in (0..).zip(ones) {
        // Written whether it is one or not: a branch would be guessed wrong as often as not.
        places[found] = number;
        found += usize::from(one);
    }
    &places[..found]
}

/// The elements aren't those that were counted.
pub(super) fn changed() -> KernelError {
    KernelError::from("unique: the elements changed meanwhile".to_owned())
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
        self.wanted.outputs() + 2 + usize::from(self.wanted.reads_positions())
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
        let bytes = match operand - outputs {
            0 => plan.table_bytes(),
            1 => plan.elements(),
            _ => plan.size * size_of::<i64>(),
        };
        Footprint {
            bytes: 0..bytes,
            access: Access::Read,
        }
    }

    fn extent(&self) -> usize {
        self.plan.pieces()
    }

    fn grain(&self) -> usize {
        GRAIN
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        Some(self)
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
