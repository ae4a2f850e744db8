//! The loops of a reduction, with the types forgotten.

use std::mem::MaybeUninit;

use millpond_types::DType;

use crate::host::level::{Work, at_level};
use crate::host::value::Value;
use crate::ops::reduction::{LANES, Reducer, SHORT_RUN, Words};
use crate::simd::Level;

/// The most states that rows are folded into at once.
pub const COLUMNS: usize = 256;

/// Bytes of scratch memory for the partials of [`COLUMNS`] states.
pub const PARTIAL_BYTES: usize = COLUMNS * 24;

/// A reduction for one dtype.
///
/// # Safety
/// `run` and `rows` read the elements named and write nothing but `states` and `partials`.
pub unsafe trait Fold: Sync {
    /// The dtype of the elements.
    fn compute(&self) -> DType;

    /// The dtype of the result.
    fn output(&self) -> DType;

    /// The state of no element.
    fn start(&self) -> Words;

    /// The state of both, `a` before `b`.
    fn merge(&self, a: Words, b: Words) -> Words;

    /// Writes the result of each state, for `elements` elements each.
    ///
    /// # Safety
    /// `out` is aligned and has room for a result of each state.
    unsafe fn finish(&self, states: &[Words], elements: u64, correction: f64, out: *mut u8);

    /// Folds `count` contiguous elements, the first of which is number `index`.
    ///
    /// # Safety
    /// `values` is valid for reads of `count` initialised, aligned elements.
    unsafe fn run(
        &self,
        level: Level,
        state: &mut Words,
        values: *const u8,
        index: u64,
        count: usize,
    );

    /// Folds element `index` of each of `count` columns into partials, which it begins if
    /// `fresh`.
    ///
    /// # Safety
    /// `values` is valid for reads of `count` initialised, aligned elements. `partials` has
    /// [`PARTIAL_BYTES`], is aligned to 64, and unless `fresh` holds `count` partials of this fold.
    unsafe fn row(
        &self,
        level: Level,
        partials: *mut u8,
        values: *const u8,
        index: u64,
        count: usize,
        fresh: bool,
    );

    /// Folds partials into states.
    ///
    /// # Safety
    /// `partials` holds a partial of this fold for each state.
    unsafe fn flush(&self, states: &mut [Words], partials: *const u8);
}

/// A reducer as a [`Fold`].
#[derive(Clone, Copy, Debug)]
pub struct Folded<R>(pub R);

struct Run<'a, R: Reducer> {
    reducer: R,
    state: &'a mut Words,
    values: &'a [<R::Value as Value>::Storage],
    index: u64,
    fused: bool,
}

impl<R: Reducer> Work for Run<'_, R> {
    #[inline(always)]
    fn work(self) {
        let mut state = self.reducer.unpack(*self.state);
        let mut index = self.index;
        // Runs of a partial stay short: each of the lanes takes a share of the block.
        for block in self.values.chunks(SHORT_RUN * LANES) {
            state = self.reducer.run(state, block, index, self.fused);
            index += block.len() as u64;
        }
        *self.state = self.reducer.pack(state);
    }
}

struct Row<'a, R: Reducer> {
    reducer: R,
    partials: &'a mut [MaybeUninit<R::Partial>],
    values: &'a [<R::Value as Value>::Storage],
    index: u64,
    fresh: bool,
}

impl<R: Reducer> Work for Row<'_, R> {
    #[inline(always)]
    fn work(self) {
        let columns = self.partials.iter_mut().zip(self.values);
        if self.fresh {
            let nothing = self.reducer.nothing();
            for (partial, value) in columns {
                let value = R::Value::load(*value);
                partial.write(self.reducer.push(nothing, value, self.index));
            }
        } else {
            for (partial, value) in columns {
                // SAFETY: partials that aren't fresh were written by an earlier row.
                let before = unsafe { partial.assume_init() };
                let value = R::Value::load(*value);
                partial.write(self.reducer.push(before, value, self.index));
            }
        }
    }
}

// SAFETY: both loops run over slices made of what the caller vouches for.
unsafe impl<R: Reducer> Fold for Folded<R> {
    fn compute(&self) -> DType {
        R::Value::DTYPE
    }

    fn output(&self) -> DType {
        R::Output::DTYPE
    }

    fn start(&self) -> Words {
        self.0.pack(self.0.start())
    }

    fn merge(&self, a: Words, b: Words) -> Words {
        self.0
            .pack(self.0.merge(self.0.unpack(a), self.0.unpack(b)))
    }

    unsafe fn finish(&self, states: &[Words], elements: u64, correction: f64, out: *mut u8) {
        let out: *mut <R::Output as Value>::Storage = out.cast();
        for (index, state) in states.iter().enumerate() {
            let value = self.0.finish(self.0.unpack(*state), elements, correction);
            // SAFETY: the caller has room for as many results as states.
            unsafe { out.wrapping_add(index).write(value.store()) };
        }
    }

    unsafe fn run(
        &self,
        level: Level,
        state: &mut Words,
        values: *const u8,
        index: u64,
        count: usize,
    ) {
        // SAFETY: the caller vouches for the elements.
        let values = unsafe { std::slice::from_raw_parts(values.cast(), count) };
        at_level(
            level,
            Run {
                reducer: self.0,
                state,
                values,
                index,
                fused: level > Level::Baseline,
            },
        );
    }

    unsafe fn row(
        &self,
        level: Level,
        partials: *mut u8,
        values: *const u8,
        index: u64,
        count: usize,
        fresh: bool,
    ) {
        const { assert!(size_of::<R::Partial>() * COLUMNS <= PARTIAL_BYTES) };
        assert!(count <= COLUMNS, "a row of {count} columns");
        // SAFETY: the caller vouches for the elements.
        let values = unsafe { std::slice::from_raw_parts(values.cast(), count) };
        // SAFETY: `count` partials fit the caller's scratch memory, which is aligned for any.
        let partials = unsafe { std::slice::from_raw_parts_mut(partials.cast(), count) };
        at_level(
            level,
            Row {
                reducer: self.0,
                partials,
                values,
                index,
                fresh,
            },
        );
    }

    unsafe fn flush(&self, states: &mut [Words], partials: *const u8) {
        let partials: *const R::Partial = partials.cast();
        // SAFETY: the caller vouches for a partial for each state.
        let partials = unsafe { std::slice::from_raw_parts(partials, states.len()) };
        for (state, partial) in states.iter_mut().zip(partials) {
            *state = self.0.pack(self.0.absorb(self.0.unpack(*state), *partial));
        }
    }
}
