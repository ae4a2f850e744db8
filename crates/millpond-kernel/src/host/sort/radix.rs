//! Radix sort from the lowest digit on, over as few bits as tell the items apart.

use std::mem::MaybeUninit;

use millpond_hal::KernelError;

use super::item::{Aside, Item};

/// Fewer items than this are compared.
const FEW: usize = 512;

/// From this many items on a digit has more bits: its counters are worth their cache then.
const MANY: usize = 8192;

/// Sorts items whose bits below `first` are in rising order where the others are equal.
///
/// # Errors
/// No host memory.
pub(super) fn sort<I: Item>(
    items: &mut [I],
    aside: &mut Aside<I>,
    first: u32,
) -> Result<(), KernelError> {
    if items.len() <= FEW {
        items.sort_unstable();
        return Ok(());
    }
    let Some(digits) = Digits::of(items, first) else {
        return Ok(());
    };
    let mut counts = digits.count(items);
    let scratch = aside.room(items.len())?;
    // SAFETY: an item and one that may not be initialised are laid out alike, and only items are
    // written here; the slice isn't read through `items` while it is borrowed as this.
    let items = unsafe {
        std::slice::from_raw_parts_mut(items.as_mut_ptr().cast::<MaybeUninit<I>>(), items.len())
    };
    let (mut from, mut to) = (items, scratch);
    let mut is_aside = false;
    for (number, counts) in counts.chunks_exact_mut(1 << digits.bits).enumerate() {
        let mut begin = 0;
        for count in counts.iter_mut() {
            begin += std::mem::replace(count, begin);
        }
        let shift = digits.lowest + number as u32 * digits.bits;
        // SAFETY: the one of both slices that items are read from holds all of them.
        unsafe { scatter(from, to, counts, shift, digits.mask()) };
        std::mem::swap(&mut from, &mut to);
        is_aside = !is_aside;
    }
    if is_aside {
        // What was sorted last is in the scratch memory.
        to.copy_from_slice(from);
    }
    Ok(())
}

/// Moves each item to the next place of its digit.
///
/// # Safety
/// All items of `from` are initialised; `next` holds the first place of each digit of `mask`, as a
/// count of the same items gave them.
unsafe fn scatter<I: Item>(
    from: &[MaybeUninit<I>],
    to: &mut [MaybeUninit<I>],
    next: &mut [usize],
    shift: u32,
    mask: usize,
) {
    assert!(next.len() == mask + 1 && to.len() == from.len());
    for slot in from {
        // SAFETY: as the caller vouches.
        let item = unsafe { slot.assume_init() };
        let place = &mut next[item.digit(shift) & mask];
        debug_assert!(*place < to.len());
        // SAFETY: the places of a digit are as many as there are items with it.
        unsafe { to.get_unchecked_mut(*place) }.write(item);
        *place += 1;
    }
}

/// The digits that tell items apart.
struct Digits {
    lowest: u32,
    bits: u32,
    count: usize,
}

impl Digits {
    /// The digits of these items; `None` if all are equal.
    fn of<I: Item>(items: &[I], first: u32) -> Option<Self> {
        let one = items.first()?.word();
        let differing = items
            .iter()
            .fold(0, |bits, item| bits | (item.word() ^ one));
        let differing = differing >> first << first;
        if differing == 0 {
            return None;
        }
        let lowest = differing.trailing_zeros();
        let width = u128::BITS - differing.leading_zeros() - lowest;
        let most = if items.len() < MANY { 8 } else { 11 };
        let count = width.div_ceil(most);
        Some(Self {
            lowest,
            bits: width.div_ceil(count),
            count: count as usize,
        })
    }

    const fn mask(&self) -> usize {
        (1 << self.bits) - 1
    }

    /// How many items have each value of each digit.
    fn count<I: Item>(&self, items: &[I]) -> Vec<usize> {
        let mut counts = vec![0; self.count << self.bits];
        for item in items {
            let digits = counts.chunks_exact_mut(1 << self.bits);
            let shifts = (self.lowest..).step_by(self.bits as usize);
            for (counts, shift) in digits.zip(shifts) {
                counts[item.digit(shift) & self.mask()] += 1;
            }
        }
        counts
    }
}
