//! Rows that are sorted whole, each by one thread.

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Range;

use millpond_hal::{Address, Footprint, HostKernel, KernelError};
use millpond_types::DType;

use super::item::{Alone, Aside, Form, Item, Lengthy, Packed, Paired};
use super::row::{decode, elements, encode, places, restore};
use super::{Shape, Sort, with_form};

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 13;

/// A sort of rows that fit the caches.
#[derive(Clone, Copy)]
pub struct SortRows(Sort);

impl SortRows {
    pub(super) const fn new(sort: Sort) -> Self {
        Self(sort)
    }

    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn sort<F: Form>(
        &self,
        bases: &[Address],
        rows: Range<usize>,
    ) -> Result<(), KernelError> {
        let sort = &self.0;
        let length = sort.length;
        let (values, positions) = sort.addresses(bases);
        let input = sort.elements(bases);
        let (mut aside, mut made) = (Aside::new(), Aside::<F::Item>::new());
        for row in rows {
            let begin = row * length;
            // SAFETY: a row of the input, which the caller vouches for.
            let row: &[F::Raw] = unsafe { elements(input, begin, length) };
            if sort.shape() == Shape::Alone {
                // Keys are as large as elements, so the output has room for them.
                // SAFETY: a row of the output, which no other call writes.
                let keys: &mut [MaybeUninit<F::Item>] = unsafe { places(values, begin, length) };
                let is_ambiguous = encode::<F>(sort, row, 0, keys);
                // SAFETY: all were written.
                let keys = unsafe { keys.assume_init_mut() };
                F::Item::sort(keys, &mut aside, F::FIRST)?;
                F::settle(keys, sort.rule(), sort.descending);
                if is_ambiguous {
                    // SAFETY: as above.
                    restore(sort, row, unsafe { places(values, begin, length) });
                }
                continue;
            }
            let items = made.room(length)?;
            encode::<F>(sort, row, 0, items);
            // SAFETY: all were written.
            let items = unsafe { items.assume_init_mut() };
            F::Item::sort(items, &mut aside, F::FIRST)?;
            // SAFETY: a row of the output, which no other call writes.
            let values = unsafe { places(values, begin, length) };
            // SAFETY: as above.
            let positions = unsafe { places(positions.cast(), begin, length) };
            decode::<F>(sort, items, row, values, positions);
        }
        Ok(())
    }
}

impl fmt::Debug for SortRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: every access is to a row of an operand, which lies within the footprint.
unsafe impl HostKernel for SortRows {
    fn operands(&self) -> usize {
        self.0.outputs() + 1
    }

    fn footprint(&self, operand: usize) -> Footprint {
        if operand < self.0.outputs() {
            return self.0.output(operand);
        }
        self.0.input()
    }

    fn extent(&self) -> usize {
        self.0.rows
    }

    fn grain(&self) -> usize {
        (GRAIN / self.0.length.max(1)).max(1)
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        macro_rules! run {
            ($form:ty) => {
                // SAFETY: as the caller vouches.
                unsafe { self.sort::<$form>(bases, range) }
            };
        }
        with_form!(self.0, run)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe("", f)
    }
}
