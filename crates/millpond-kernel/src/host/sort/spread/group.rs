//! The first kernel of a long row: groups the items of each piece by the parts that they belong to.

use std::fmt;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use millpond_hal::{Address, Footprint, HostKernel, KernelError};
use millpond_types::DType;

use super::{PARTS, PIVOTS, Spread};
use crate::host::sort::item::{Alone, Aside, Form, Item, Lengthy, Packed, Paired};
use crate::host::sort::row::{elements, encode, places, room};
use crate::host::sort::{Shape, with_form};

/// A tree of pivots, whose children of number `i` are `2 i` and `2 i + 1`.
struct Tree<I>([I; PARTS]);

impl<I: Item> Tree<I> {
    fn new(pivots: &[I; PIVOTS]) -> Self {
        let mut nodes = [pivots[0]; PARTS];
        for (index, node) in nodes.iter_mut().enumerate().skip(1) {
            let depth = index.ilog2();
            let width = PARTS >> depth;
            let first = index - (1 << depth);
            *node = pivots[first * width + width / 2 - 1];
        }
        Self(nodes)
    }

    /// The part that an item belongs to: the number of pivots that aren't above it.
    #[inline(always)]
    fn part(&self, item: I) -> u8 {
        let mut node = 1;
        for _ in 0..PARTS.ilog2() {
            node = 2 * node + usize::from(item >= self.0[node & PIVOTS]);
        }
        (node & PIVOTS) as u8
    }
}

/// Groups items in the order that they have, by any instructions.
///
/// # Errors
/// No host memory.
pub(in crate::host::sort) fn in_order<I: Item>(
    items: &mut [I],
    aside: &mut Aside<I>,
    pivots: &[I; PIVOTS],
) -> Result<[usize; PARTS], KernelError> {
    let tree = Tree::new(pivots);
    let mut told: Vec<MaybeUninit<u8>> = room(items.len())?;
    let mut counts = [0; PARTS];
    for (told, item) in told.iter_mut().zip(&*items) {
        let part = tree.part(*item);
        told.write(part);
        counts[usize::from(part)] += 1;
    }
    let mut begin = 0;
    let starts = counts.map(|count| {
        begin += count;
        begin - count
    });
    let mut next = starts;
    let moved = aside.room(items.len())?;
    for (told, item) in told.iter().zip(&*items) {
        // SAFETY: it was written above.
        let place = &mut next[usize::from(unsafe { told.assume_init() })];
        moved[*place].write(*item);
        *place += 1;
    }
    // SAFETY: as many places as items were written, each once.
    items.copy_from_slice(unsafe { moved.assume_init_ref() });
    Ok(starts)
}

/// Groups the items of each piece.
#[derive(Debug)]
pub struct Group(pub(super) Arc<Spread>);

impl Group {
    /// # Safety
    /// As for [`HostKernel::run`].
    unsafe fn group<F: Form>(
        &self,
        bases: &[Address],
        range: Range<usize>,
    ) -> Result<(), KernelError> {
        let spread = &*self.0;
        let length = spread.sort.length;
        let input = spread.sort.elements(bases);
        let mut aside = Aside::new();
        for index in range {
            let (row, piece) = spread.piece(index);
            // SAFETY: a row of the input, which the caller vouches for.
            let elements: &[F::Raw] = unsafe { elements(input, row * length, length) };
            let pivots = spread.pivots::<F>(row, elements);
            let begin = row * length + piece.start;
            // SAFETY: items of the piece, which no other call touches.
            let items: &mut [MaybeUninit<F::Item>] =
                unsafe { places(bases[0].as_ptr(), begin, piece.len()) };
            let first = piece.start as u64;
            let is_ambiguous = encode::<F>(&spread.sort, &elements[piece], first, items);
            // SAFETY: all were written.
            let items = unsafe { items.assume_init_mut() };
            let starts = F::Item::group(items, &mut aside, &pivots)?;
            for (slot, start) in spread.starts(index).iter().zip(starts) {
                slot.store(start as u64, Ordering::Relaxed);
            }
            if is_ambiguous {
                spread.ambiguous[row].store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

// SAFETY: of the scratch memory, items of the range's pieces are touched; of the input, elements of
// rows are read.
unsafe impl HostKernel for Group {
    fn operands(&self) -> usize {
        2
    }

    fn footprint(&self, operand: usize) -> Footprint {
        if operand == 0 {
            let bytes = self.0.items();
            return Footprint::filled(0..bytes, bytes);
        }
        self.0.sort.input()
    }

    fn extent(&self) -> usize {
        self.0.sort.rows * self.0.pieces
    }

    fn grain(&self) -> usize {
        1
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        macro_rules! run {
            ($form:ty) => {
                // SAFETY: as the caller vouches.
                unsafe { self.group::<$form>(bases, range) }
            };
        }
        with_form!(self.0.sort, run)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.sort.describe(": group", f)
    }
}
