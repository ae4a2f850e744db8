//! Rows that are sorted whole: on the host each by one thread.

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Range;

use millpond_hal::{Address, DeviceCode, Footprint, HostKernel, KernelError};
use millpond_types::DType;

use super::item::{Alone, Aside, Form, Item, Lengthy, Packed, Paired};
use super::row::{decode, elements, encode, places, restore};
use super::{Shape, Sort, with_form};
use crate::device::sort::Sorting;

/// Elements that are worth a thread.
const GRAIN: usize = 1 << 13;

/// A sort of whole rows. Its operands are the outputs, memory aside if it [needs](SortRows::aside_bytes) some,
/// and the input.
#[derive(Clone, Copy)]
pub struct SortRows {
    pub(super) sort: Sort,
    /// Bytes of memory beside the arrays, which only devices use.
    aside: usize,
}

impl SortRows {
    /// One for rows that fit the host's caches.
    pub(super) const fn new(sort: Sort) -> Self {
        Self { sort, aside: 0 }
    }

    /// One that devices have code for, however long rows are.
    pub(super) fn with_aside(sort: Sort) -> Self {
        let aside = sort.sorting().aside();
        Self { sort, aside }
    }

    /// Bytes of an operand that is memory of the sort's own, aligned to 16; none, if it doesn't take one.
    #[must_use]
    pub const fn aside_bytes(&self) -> usize {
        self.aside
    }

    /// As devices carry it out.
    pub(super) fn sorting(&self) -> Sorting {
        self.sort.sorting()
    }

    /// The address of the memory aside.
    pub(super) fn aside(&self, bases: &[Address]) -> Address {
        if self.aside == 0 {
            return Address::new(0);
        }
        bases[self.sort.outputs()]
    }

    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn sort<F: Form>(
        &self,
        bases: &[Address],
        rows: Range<usize>,
    ) -> Result<(), KernelError> {
        let sort = &self.sort;
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
        self.sort.outputs() + usize::from(self.aside > 0) + 1
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let outputs = self.sort.outputs();
        if operand < outputs {
            self.sort.output(operand)
        } else if operand == outputs && self.aside > 0 {
            Footprint::filled(0..self.aside, self.aside)
        } else {
            self.sort.input()
        }
    }

    fn extent(&self) -> usize {
        self.sort.rows
    }

    fn grain(&self) -> usize {
        (GRAIN / self.sort.length.max(1)).max(1)
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        macro_rules! run {
            ($form:ty) => {
                // SAFETY: as the caller vouches.
                unsafe { self.sort::<$form>(bases, range) }
            };
        }
        with_form!(self.sort, run)
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        (self.aside == self.sorting().aside()).then_some(self)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sort.describe("", f)
    }
}
