//! A row on its way into items and back.

use std::mem::MaybeUninit;

use millpond_hal::KernelError;

use super::Sort;
use super::item::Form;
use super::key::{Key, Raw, Rule, with_rule};
use crate::host::level::{Work, at_level};
use crate::simd;

/// Memory of a kernel's own for `count` items of an operation.
///
/// # Errors
/// There is none.
pub(in crate::host) fn reserve<I>(operation: &str, count: usize) -> Result<Vec<I>, KernelError> {
    let mut items = Vec::new();
    if items.try_reserve_exact(count).is_err() {
        let bytes = count.saturating_mul(size_of::<I>());
        return Err(KernelError::from(format!(
            "{operation}: no host memory for {bytes} bytes"
        )));
    }
    Ok(items)
}

/// The same as places for items.
///
/// # Errors
/// As for [`reserve`].
pub(super) fn room<I>(count: usize) -> Result<Vec<MaybeUninit<I>>, KernelError> {
    let mut items = reserve("sort", count)?;
    // SAFETY: there is room for as many, which need not be initialised.
    unsafe { items.set_len(count) };
    Ok(items)
}

/// The elements of a row, or some that follow one another.
///
/// # Safety
/// `count` elements lie there, initialised and aligned, and stay as they are.
pub(in crate::host) unsafe fn elements<'a, R>(
    base: *const u8,
    begin: usize,
    count: usize,
) -> &'a [R] {
    let first = base.cast::<R>().wrapping_add(begin);
    if count == 0 {
        return &[];
    }
    // SAFETY: as the caller vouches.
    unsafe { std::slice::from_raw_parts(first, count) }
}

/// The places of some elements, or none if they aren't wanted.
///
/// # Safety
/// `base` is null, or `count` elements lie there that nobody else touches.
pub(in crate::host) unsafe fn places<'a, R>(
    base: *mut u8,
    begin: usize,
    count: usize,
) -> &'a mut [R] {
    if base.is_null() || count == 0 {
        return &mut [];
    }
    let first = base.cast::<R>().wrapping_add(begin);
    // SAFETY: as the caller vouches; elements of outputs are plain numbers, any bytes are some.
    unsafe { std::slice::from_raw_parts_mut(first, count) }
}

/// Makes items of elements, the first of which has position `first`. Returns whether the order
/// leaves open which of several elements an item without position stands for.
pub(super) fn encode<F: Form>(
    sort: &Sort,
    elements: &[F::Raw],
    first: u64,
    items: &mut [MaybeUninit<F::Item>],
) -> bool {
    let mut ambiguous = false;
    let encode = Encode::<F> {
        elements,
        items,
        first,
        rule: sort.rule(),
        descending: sort.descending,
        ambiguous: &mut ambiguous,
    };
    at_level(simd::current(), encode);
    ambiguous
}

struct Encode<'a, F: Form> {
    elements: &'a [F::Raw],
    items: &'a mut [MaybeUninit<F::Item>],
    first: u64,
    rule: Rule,
    descending: bool,
    ambiguous: &'a mut bool,
}

impl<F: Form> Work for Encode<'_, F> {
    type Home = F::Item;

    #[inline(always)]
    fn work(self) {
        let descending = self.descending;
        let run = |rule: Rule| {
            let mut ambiguous = false;
            let pairs = self.elements.iter().zip(self.items);
            for (position, (element, item)) in (self.first..).zip(pairs) {
                item.write(F::item(element.key(rule).turned(descending), position));
                ambiguous |= element.is_ambiguous(rule);
            }
            ambiguous
        };
        *self.ambiguous = with_rule!(self.rule, run);
    }
}

/// Writes sorted items with positions as the elements and positions that are wanted; `row` holds all
/// elements of the row that they are of.
pub(super) fn decode<F: Form>(
    sort: &Sort,
    items: &[F::Item],
    row: &[F::Raw],
    values: &mut [F::Raw],
    positions: &mut [i64],
) {
    let decode = Decode::<F> {
        items,
        row,
        values,
        rule: sort.rule(),
        descending: sort.descending,
    };
    at_level(simd::current(), decode);
    for (slot, item) in positions.iter_mut().zip(items) {
        *slot = F::position(*item) as i64;
    }
}

struct Decode<'a, F: Form> {
    items: &'a [F::Item],
    row: &'a [F::Raw],
    values: &'a mut [F::Raw],
    rule: Rule,
    descending: bool,
}

impl<F: Form> Work for Decode<'_, F> {
    type Home = F::Item;

    #[inline(always)]
    fn work(self) {
        let (row, descending) = (self.row, self.descending);
        let mut run = |rule: Rule| {
            for (value, item) in self.values.iter_mut().zip(self.items) {
                let some = F::Raw::of_key(F::key(*item).turned(descending), rule);
                *value = if some.is_ambiguous(rule) {
                    row[F::position(*item) as usize]
                } else {
                    some
                };
            }
        };
        with_rule!(self.rule, run);
    }
}

/// Turns keys into elements, in their place.
pub(super) fn settle<R: Raw<Key = R> + Key>(keys: &mut [R], rule: Rule, descending: bool) {
    let settle = Settle {
        keys,
        rule,
        descending,
    };
    at_level(simd::current(), settle);
}

struct Settle<'a, R> {
    keys: &'a mut [R],
    rule: Rule,
    descending: bool,
}

impl<R: Raw<Key = R> + Key> Work for Settle<'_, R> {
    type Home = R;

    #[inline(always)]
    fn work(self) {
        let descending = self.descending;
        let run = |rule: Rule| {
            for key in self.keys {
                *key = R::of_key(key.turned(descending), rule);
            }
        };
        with_rule!(self.rule, run);
    }
}

/// Puts elements whose key stands for several, zeros and NaNs, in the order that the row had them.
pub(super) fn restore<R: Raw>(sort: &Sort, row: &[R], sorted: &mut [R]) {
    let (rule, descending) = (sort.rule(), sort.descending);
    let key = |element: R| element.key(rule).turned(descending);
    let first = |wanted: R| sorted.partition_point(|element| key(*element) < key(wanted));
    let zero = R::default();
    let mut next_zero = first(zero);
    let nan = row.iter().copied().find(|element| element.is_nan(rule));
    let mut next_nan = nan.map_or(0, first);
    for element in row {
        if !element.is_ambiguous(rule) {
            continue;
        }
        let next = if element.is_nan(rule) {
            &mut next_nan
        } else {
            &mut next_zero
        };
        sorted[*next] = *element;
        *next += 1;
    }
}
