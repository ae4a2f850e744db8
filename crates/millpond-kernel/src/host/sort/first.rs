//! The first elements of the order alone, without sorting the others.
//!
//! Two kernels run after one another. [`SelectFirst`] finds the first of each piece of a row,
//! [`MergeFirst`] the first of these. While a piece is gone through, an item is kept only if it
//! comes before those that were found to be enough: for most orders of the elements these are few.

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Range;

use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_types::DType;

use super::item::{Alone, Form, Item, Lengthy, Packed, Paired};
use super::row::{decode, elements, encode, places, reserve};
use super::{Shape, Sort, with_form};

/// Elements of a piece.
const PIECE: usize = 1 << 16;

/// Elements that a row must have for each wanted one, for this to be worth it.
const WORTH: usize = 4;

/// Items that are made at a time.
const TILE: usize = 512;

/// The first `count` elements of each row in order, and their positions.
#[derive(Clone, Copy)]
pub struct First {
    sort: Sort,
    count: usize,
    pieces: usize,
}

impl First {
    /// The first of a sort's order, if it pays to find them so; both elements and positions are
    /// written.
    #[must_use]
    pub fn new(sort: Sort, count: usize) -> Option<Self> {
        let pieces = sort.length.div_ceil(PIECE).max(1);
        let worth = count.saturating_mul(WORTH);
        let is_worth = count > 0 && worth <= sort.length.min(PIECE);
        is_worth.then_some(Self {
            sort,
            count,
            pieces,
        })
    }

    /// Bytes of scratch memory, aligned to 16.
    #[must_use]
    pub fn scratch_bytes(&self) -> usize {
        macro_rules! size {
            ($form:ty) => {
                size_of::<<$form as Form>::Item>()
            };
        }
        let items = self.sort.rows * self.pieces * self.count;
        items * with_form!(self.sort, size)
    }

    /// The first kernel: its operands are the scratch memory and the input.
    #[must_use]
    pub const fn select(self) -> SelectFirst {
        SelectFirst(self)
    }

    /// The second: its operands are the elements, the positions, the scratch memory and the input.
    #[must_use]
    pub const fn merge(self) -> MergeFirst {
        MergeFirst(self)
    }

    /// The elements of a piece of a row.
    fn piece(&self, number: usize) -> Range<usize> {
        let share = self.sort.length.div_ceil(self.pieces);
        let begin = (number * share).min(self.sort.length);
        begin..self.sort.length.min(begin + share)
    }
}

impl fmt::Debug for First {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sort.describe(": first", f)
    }
}

/// Finds the first of each piece.
#[derive(Clone, Copy, Debug)]
pub struct SelectFirst(First);

impl SelectFirst {
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn select<F: Form>(
        &self,
        bases: &[Address],
        range: Range<usize>,
    ) -> Result<(), KernelError> {
        let First {
            sort,
            count,
            pieces,
        } = &self.0;
        let mut kept = Kept::<F::Item>::new(*count)?;
        for index in range {
            let (row, piece) = (index / pieces, self.0.piece(index % pieces));
            let begin = row * sort.length + piece.start;
            // SAFETY: a piece of the input, which the caller vouches for.
            let elements: &[F::Raw] = unsafe { elements(sort.elements(bases), begin, piece.len()) };
            let mut items = [const { MaybeUninit::uninit() }; TILE];
            let mut position = piece.start as u64;
            for elements in elements.chunks(TILE) {
                let items = &mut items[..elements.len()];
                encode::<F>(sort, elements, position, items);
                // SAFETY: all were written.
                kept.take(unsafe { items.assume_init_ref() });
                position += items.len() as u64;
            }
            // SAFETY: room for the items of a piece, which no other call touches.
            let found = unsafe { places(bases[0].as_ptr(), index * count, *count) };
            kept.hand_over(found);
        }
        Ok(())
    }
}

/// The first items of those that were taken.
struct Kept<I> {
    items: Vec<I>,
    count: usize,
    /// Items that don't come before this aren't among the first.
    limit: Option<I>,
}

impl<I: Item> Kept<I> {
    fn new(count: usize) -> Result<Self, KernelError> {
        Ok(Self {
            items: reserve("top_k", 2 * count + TILE)?,
            count,
            limit: None,
        })
    }

    /// Takes as many items as a tile has.
    fn take(&mut self, items: &[I]) {
        match self.limit {
            None => self.items.extend_from_slice(items),
            Some(limit) => {
                let before = items.iter().copied().filter(|item| *item < limit);
                self.items.extend(before);
            }
        }
        if self.items.len() >= 2 * self.count {
            self.cut();
        }
    }

    /// Forgets all but the first.
    fn cut(&mut self) {
        if self.items.len() > self.count {
            let (_, last, _) = self.items.select_nth_unstable(self.count - 1);
            self.limit = Some(*last);
            self.items.truncate(self.count);
        }
    }

    /// Writes the first items, of which there are enough, and begins anew.
    fn hand_over(&mut self, found: &mut [I]) {
        self.cut();
        found.copy_from_slice(&self.items);
        self.items.clear();
        self.limit = None;
    }
}

// SAFETY: of the scratch memory, items of the range are written; of the input, elements of rows
// are read.
unsafe impl HostKernel for SelectFirst {
    fn operands(&self) -> usize {
        2
    }

    fn footprint(&self, operand: usize) -> Footprint {
        if operand == 0 {
            let bytes = self.0.scratch_bytes();
            return Footprint::filled(0..bytes, bytes);
        }
        self.0.sort.input()
    }

    fn extent(&self) -> usize {
        self.0.sort.rows * self.0.pieces
    }

    fn grain(&self) -> usize {
        let share = self.0.sort.length / self.0.pieces;
        (PIECE / 4 / share.max(1)).max(1)
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        macro_rules! run {
            ($form:ty) => {
                // SAFETY: as the caller vouches.
                unsafe { self.select::<$form>(bases, range) }
            };
        }
        with_form!(self.0.sort, run)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.sort.describe(": select first", f)
    }
}

/// Finds the first of all pieces' first.
#[derive(Clone, Copy, Debug)]
pub struct MergeFirst(First);

impl MergeFirst {
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn merge<F: Form>(&self, bases: &[Address], range: Range<usize>) {
        let First {
            sort,
            count,
            pieces,
        } = &self.0;
        let found = count * pieces;
        for row in range {
            // SAFETY: the items of a row, which no other call touches.
            let items: &mut [F::Item] = unsafe { places(bases[2].as_ptr(), row * found, found) };
            // Items of several pieces aren't in the order of their positions.
            items.sort_unstable();
            // SAFETY: a row of the input, which the caller vouches for.
            let elements =
                unsafe { elements(sort.elements(bases), row * sort.length, sort.length) };
            // SAFETY: a row of the output, which no other call writes.
            let values = unsafe { places(bases[0].as_ptr(), row * count, *count) };
            // SAFETY: as above.
            let positions = unsafe { places(bases[1].as_ptr(), row * count, *count) };
            decode::<F>(sort, &items[..*count], elements, values, positions);
        }
    }
}

// SAFETY: elements of rows and items of theirs are touched.
unsafe impl HostKernel for MergeFirst {
    fn operands(&self) -> usize {
        4
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let results = self.0.sort.rows * self.0.count;
        let filled = |bytes: usize| Footprint::filled(0..bytes, bytes);
        match operand {
            0 => filled(results * self.0.sort.dtype.size()),
            1 => filled(results * size_of::<i64>()),
            2 => Footprint {
                bytes: 0..self.0.scratch_bytes(),
                access: Access::Update,
            },
            _ => self.0.sort.input(),
        }
    }

    fn extent(&self) -> usize {
        self.0.sort.rows
    }

    fn grain(&self) -> usize {
        (PIECE / 16 / (self.0.count * self.0.pieces)).max(1)
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        macro_rules! run {
            ($form:ty) => {
                // SAFETY: as the caller vouches.
                unsafe { self.merge::<$form>(bases, range) }
            };
        }
        with_form!(self.0.sort, run);
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.sort.describe(": merge first", f)
    }
}
