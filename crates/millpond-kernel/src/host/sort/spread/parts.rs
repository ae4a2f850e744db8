//! The second kernel of a long row: fetches each part, sorts it and writes the result.

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_types::DType;

use super::{PARTS, Spread};
use crate::host::sort::item::{Alone, Aside, Form, Item, Lengthy, Packed, Paired};
use crate::host::sort::row::{decode, elements, places, restore};
use crate::host::sort::{Shape, with_form};

/// Sorts each part and writes the result.
#[derive(Debug)]
pub struct SortParts(pub(super) Arc<Spread>);

impl SortParts {
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn sort<F: Form>(
        &self,
        bases: &[Address],
        range: Range<usize>,
    ) -> Result<(), KernelError> {
        let spread = &*self.0;
        let (sort, length) = (&spread.sort, spread.sort.length);
        let (values, positions) = sort.addresses(bases);
        let scratch: *mut u8 = bases[sort.outputs()].as_ptr();
        let input = sort.elements(bases);
        let (mut aside, mut fetched) = (Aside::new(), Aside::<F::Item>::new());
        for index in range {
            let (row, part) = (index / PARTS, index % PARTS);
            let count: usize = spread.runs(row, part).map(|run| run.len()).sum();
            let begin = row * length + spread.before(row, part);
            let is_alone = sort.shape() == Shape::Alone;
            let items: &mut [MaybeUninit<F::Item>] = if is_alone {
                // Keys are as large as elements, so the output has room for them.
                // SAFETY: a part of the output, which no other call writes.
                unsafe { places(values, begin, count) }
            } else {
                fetched.room(count)?
            };
            let mut at = 0;
            for run in spread.runs(row, part) {
                let (begin, count) = (row * length + run.start, run.len());
                // SAFETY: items of a piece, which the first kernel wrote.
                let run: &[F::Item] = unsafe { elements(scratch, begin, count) };
                items[at..at + count].write_copy_of_slice(run);
                at += count;
            }
            // SAFETY: all were written.
            let items = unsafe { items.assume_init_mut() };
            F::Item::sort(items, &mut aside, F::FIRST)?;
            if is_alone {
                F::settle(items, sort.rule(), sort.descending);
                continue;
            }
            // SAFETY: a row of the input, which the caller vouches for.
            let row = unsafe { elements(input, row * length, length) };
            // SAFETY: a part of the output, which no other call writes.
            let values = unsafe { places(values, begin, count) };
            // SAFETY: as above.
            let positions = unsafe { places(positions.cast(), begin, count) };
            decode::<F>(sort, items, row, values, positions);
        }
        Ok(())
    }

    /// # Safety
    /// As for [`HostKernel::finish`].
    unsafe fn restore<F: Form>(&self, bases: &[Address]) {
        let sort = &self.0.sort;
        let (values, _) = sort.addresses(bases);
        let input = sort.elements(bases);
        for (row, is_ambiguous) in self.0.ambiguous.iter().enumerate() {
            if is_ambiguous.load(Ordering::Relaxed) {
                let begin = row * sort.length;
                // SAFETY: a row of the input, which the caller vouches for.
                let row: &[F::Raw] = unsafe { elements(input, begin, sort.length) };
                // SAFETY: a row of the output, which was written, and nobody else touches.
                let values = unsafe { places(values, begin, sort.length) };
                restore(sort, row, values);
            }
        }
    }
}

// SAFETY: of each operand, elements or items of rows are touched.
unsafe impl HostKernel for SortParts {
    fn operands(&self) -> usize {
        self.0.sort.outputs() + 2
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let spread = &*self.0;
        match operand.checked_sub(spread.sort.outputs()) {
            None => spread.sort.output(operand),
            Some(0) => Footprint {
                bytes: 0..spread.items(),
                access: Access::Read,
            },
            Some(_) => spread.sort.input(),
        }
    }

    fn extent(&self) -> usize {
        self.0.sort.rows * PARTS
    }

    fn grain(&self) -> usize {
        1
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        macro_rules! run {
            ($form:ty) => {
                // SAFETY: as the caller vouches.
                unsafe { self.sort::<$form>(bases, range) }
            };
        }
        with_form!(self.0.sort, run)
    }

    unsafe fn finish(&self, bases: &[Address]) -> Result<(), KernelError> {
        macro_rules! run {
            ($form:ty) => {
                // SAFETY: as the caller vouches.
                unsafe { self.restore::<$form>(bases) }
            };
        }
        if self.0.sort.shape() == Shape::Alone {
            with_form!(self.0.sort, run);
        }
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.sort.describe(": sort parts", f)
    }
}
