//! The loops of a reduction, with the types forgotten.

use std::mem::MaybeUninit;
use std::ops::Range;

use millpond_types::DType;

use crate::host::level::{Work, at_level};
use crate::host::value::Value;
use crate::ops::reduction::{LANES, Reducer, SHORT_RUN, Words};
use crate::simd::Level;

/// The most states that rows are folded into at once.
pub const COLUMNS: usize = 256;

/// Bytes of scratch memory for the partials of [`COLUMNS`] states.
pub const PARTIAL_BYTES: usize = COLUMNS * 24;

/// Rows of elements, one below the other.
#[derive(Clone, Copy, Debug)]
pub struct Rows {
    /// The address of the first element.
    pub values: *const u8,
    /// Bytes from one row to the next.
    pub stride: isize,
    /// How many rows there are, at most [`SHORT_RUN`].
    pub height: usize,
    /// Elements of a row, at most [`COLUMNS`].
    pub width: usize,
    /// The number of the first row's elements.
    pub index: u64,
}

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

    /// Folds rows into partials, one for each column, which it begins if `fresh`.
    ///
    /// # Safety
    /// The rows are valid for reads, initialised and aligned. `partials` has [`PARTIAL_BYTES`], is
    /// aligned to 64, and unless `fresh` holds a partial of this fold for each column.
    unsafe fn rows(&self, level: Level, partials: *mut u8, rows: Rows, fresh: bool);

    /// Writes the result of each of some partials, which hold all of an output's `elements`.
    ///
    /// # Safety
    /// The address is that of as many partials of this fold as the count says; `out` is aligned and
    /// has room for as many results.
    unsafe fn finish_partials(
        &self,
        level: Level,
        partials: (*const u8, usize),
        elements: u64,
        correction: f64,
        out: *mut u8,
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
    type Home = R;

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

struct Columns<'a, R: Reducer> {
    reducer: R,
    partials: &'a mut [MaybeUninit<R::Partial>],
    rows: Rows,
    fresh: bool,
}

impl<R: Reducer> Columns<'_, R> {
    /// Folds `N` columns at a time from number `begin` on, and answers where it stopped.
    #[inline(always)]
    fn blocks<const N: usize>(&mut self, begin: usize, rows: Range<usize>) -> usize {
        let mut column = begin;
        while column + N <= self.rows.width {
            let first = self.rows.values.cast::<<R::Value as Value>::Storage>();
            let first = first.wrapping_add(column).cast::<u8>();
            let values = rows.clone().map(|row| {
                let values = first.wrapping_offset(self.rows.stride * row as isize);
                // SAFETY: `N` elements of a row, which the caller of `Fold::rows` vouches for.
                unsafe { &*values.cast::<[<R::Value as Value>::Storage; N]>() }
            });
            let mut lanes = [self.reducer.nothing(); N];
            let partials = &mut self.partials[column..column + N];
            if !self.fresh || rows.start > 0 {
                for (lane, partial) in lanes.iter_mut().zip(&*partials) {
                    // SAFETY: partials that aren't fresh were written by earlier rows.
                    *lane = unsafe { partial.assume_init() };
                }
            }
            let index = self.rows.index + rows.start as u64;
            lanes = self.reducer.columns(lanes, values, index);
            for (partial, lane) in partials.iter_mut().zip(lanes) {
                partial.write(lane);
            }
            column += N;
        }
        column
    }
}

impl<R: Reducer> Work for Columns<'_, R> {
    type Home = R;

    #[inline(always)]
    fn work(mut self) {
        let height = self.rows.height;
        let mut begin = 0;
        while begin < height {
            // Few rows at once, so that memory is read nearly in its order.
            let rows = begin..height.min(begin + R::ROWS);
            let mut column = 0;
            if !R::IS_HEAVY {
                column = self.blocks::<LANES>(column, rows.clone());
            }
            column = self.blocks::<8>(column, rows.clone());
            self.blocks::<1>(column, rows.clone());
            begin = rows.end;
        }
    }
}

struct Results<'a, R: Reducer> {
    reducer: R,
    partials: &'a [R::Partial],
    out: &'a mut [MaybeUninit<<R::Output as Value>::Storage>],
    elements: u64,
    correction: f64,
}

impl<R: Reducer> Work for Results<'_, R> {
    type Home = R;

    #[inline(always)]
    fn work(self) {
        for (out, partial) in self.out.iter_mut().zip(self.partials) {
            let result = self
                .reducer
                .finish_few(*partial, self.elements, self.correction);
            out.write(result.store());
        }
    }
}

// SAFETY: the loops run over slices made of what the caller vouches for.
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

    unsafe fn rows(&self, level: Level, partials: *mut u8, rows: Rows, fresh: bool) {
        const { assert!(size_of::<R::Partial>() * COLUMNS <= PARTIAL_BYTES) };
        assert!(rows.width <= COLUMNS, "a row of {} columns", rows.width);
        // SAFETY: a partial for each column fits the caller's scratch memory, which is aligned for
        // any.
        let partials = unsafe { std::slice::from_raw_parts_mut(partials.cast(), rows.width) };
        let reducer = self.0;
        at_level(
            level,
            Columns {
                reducer,
                partials,
                rows,
                fresh,
            },
        );
    }

    unsafe fn finish_partials(
        &self,
        level: Level,
        (partials, count): (*const u8, usize),
        elements: u64,
        correction: f64,
        out: *mut u8,
    ) {
        // SAFETY: the caller vouches for the partials.
        let partials = unsafe { std::slice::from_raw_parts(partials.cast(), count) };
        // SAFETY: the caller has room for as many results.
        let out = unsafe { std::slice::from_raw_parts_mut(out.cast(), count) };
        let reducer = self.0;
        at_level(
            level,
            Results {
                reducer,
                partials,
                out,
                elements,
                correction,
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
