//! Loops that accumulate contiguous elements, along a run or side by side.

use std::mem::MaybeUninit;

use super::body::{Scanner, Words};
use crate::host::level::{Work, at_level};
use crate::host::value::Value;
use crate::simd::Level;

/// Columns whose states are kept side by side at most.
pub(super) const COLUMNS: usize = 256;

/// The states of neighbouring columns.
#[repr(C, align(64))]
pub(super) struct States(MaybeUninit<[Words; COLUMNS]>);

impl States {
    pub(super) const fn new() -> Self {
        Self(MaybeUninit::uninit())
    }
}

/// A [`Scanner`] whose types are forgotten. Elements are contiguous, aligned, and of its dtype.
pub(super) trait ScanLoop: Send + Sync {
    /// The state of no element.
    fn start(&self) -> Words;

    /// The state of both.
    fn join(&self, a: Words, b: Words) -> Words;

    /// Accumulates elements, and writes what they come to one by one.
    ///
    /// # Safety
    /// `src` is valid for reads and `dst` for writes of `count` elements; they may be the same.
    unsafe fn run(
        &self,
        level: Level,
        state: Words,
        src: *const u8,
        dst: *mut u8,
        count: usize,
    ) -> Words;

    /// Accumulates elements.
    ///
    /// # Safety
    /// `src` is valid for reads of `count` elements.
    unsafe fn total(&self, level: Level, state: Words, src: *const u8, count: usize) -> Words;

    /// Sets the state of a column.
    fn set(&self, states: &mut States, column: usize, state: Words);

    /// The state of a column that was set.
    fn state(&self, states: &States, column: usize) -> Words;

    /// Accumulates one element of each of `count` columns, and writes what they come to unless
    /// `dst` is null.
    ///
    /// # Safety
    /// As for [`ScanLoop::run`]; the states of so many columns were set.
    unsafe fn step(
        &self,
        level: Level,
        states: &mut States,
        src: *const u8,
        dst: *mut u8,
        count: usize,
    );
}

type Stored<S> = <<S as Scanner>::Value as Value>::Storage;

impl<S: Scanner> ScanLoop for S {
    fn start(&self) -> Words {
        S::pack(S::nothing())
    }

    fn join(&self, a: Words, b: Words) -> Words {
        S::pack(S::both(S::unpack(a), S::unpack(b)))
    }

    unsafe fn run(
        &self,
        level: Level,
        state: Words,
        src: *const u8,
        dst: *mut u8,
        count: usize,
    ) -> Words {
        let mut state = S::unpack(state);
        let run = Run::<S> {
            state: &mut state,
            src: src.cast(),
            dst: dst.cast(),
            count,
        };
        at_level(level, run);
        S::pack(state)
    }

    unsafe fn total(&self, level: Level, state: Words, src: *const u8, count: usize) -> Words {
        // SAFETY: as the caller vouches.
        let elements = unsafe { std::slice::from_raw_parts(src.cast(), count) };
        let mut state = S::unpack(state);
        let total = Total::<S> {
            state: &mut state,
            elements,
        };
        at_level(level, total);
        S::pack(state)
    }

    fn set(&self, states: &mut States, column: usize, state: Words) {
        assert!(column < COLUMNS);
        let slot = states
            .0
            .as_mut_ptr()
            .cast::<S::State>()
            .wrapping_add(column);
        // SAFETY: a state has at most the bytes of its words, and there is room for all columns.
        unsafe { slot.write(S::unpack(state)) };
    }

    fn state(&self, states: &States, column: usize) -> Words {
        assert!(column < COLUMNS);
        let slot = states.0.as_ptr().cast::<S::State>().wrapping_add(column);
        // SAFETY: as above; it was set.
        S::pack(unsafe { slot.read() })
    }

    unsafe fn step(
        &self,
        level: Level,
        states: &mut States,
        src: *const u8,
        dst: *mut u8,
        count: usize,
    ) {
        const { assert!(size_of::<S::State>() <= size_of::<Words>()) };
        assert!(count <= COLUMNS);
        let states = states.0.as_mut_ptr().cast::<S::State>();
        let step = Step::<S> {
            // SAFETY: as many were set.
            states: unsafe { std::slice::from_raw_parts_mut(states, count) },
            src: src.cast(),
            dst: dst.cast(),
        };
        at_level(level, step);
    }
}

/// Runs of elements that are accumulated side by side.
const CHAINS: usize = 8;

struct Run<'a, S: Scanner> {
    state: &'a mut S::State,
    src: *const Stored<S>,
    dst: *mut Stored<S>,
    count: usize,
}

impl<S: Scanner> Run<'_, S> {
    #[inline(always)]
    fn load(&self, index: usize) -> S::Value {
        // SAFETY: callers of `run` vouch for `count` elements, and indices are below.
        S::Value::load(unsafe { self.src.wrapping_add(index).read() })
    }

    /// Accumulates element number `index`.
    #[inline(always)]
    fn advance(&self, state: S::State, index: usize) -> S::State {
        let state = S::push(state, self.load(index));
        // SAFETY: as above.
        unsafe { self.dst.wrapping_add(index).write(S::emit(state).store()) };
        state
    }
}

impl<S: Scanner> Work for Run<'_, S> {
    type Home = S;

    #[inline(always)]
    fn work(self) {
        let mut state = *self.state;
        let length = if S::IS_SHORT { self.count / CHAINS } else { 0 };
        if length > 0 {
            let mut totals = [S::nothing(); CHAINS];
            for index in 0..length {
                for (chain, total) in totals.iter_mut().enumerate() {
                    *total = S::push(*total, self.load(chain * length + index));
                }
            }
            let mut states = totals.map(|total| {
                let before = state;
                state = S::both(state, total);
                before
            });
            for index in 0..length {
                for (chain, state) in states.iter_mut().enumerate() {
                    *state = self.advance(*state, chain * length + index);
                }
            }
        }
        for index in length * CHAINS..self.count {
            state = self.advance(state, index);
        }
        *self.state = state;
    }
}

struct Total<'a, S: Scanner> {
    state: &'a mut S::State,
    elements: &'a [Stored<S>],
}

impl<S: Scanner> Work for Total<'_, S> {
    type Home = S;

    /// In the order that [`Run`] joins what it accumulates.
    #[inline(always)]
    fn work(self) {
        let length = if S::IS_SHORT {
            self.elements.len() / CHAINS
        } else {
            0
        };
        let (chained, rest) = self.elements.split_at(length * CHAINS);
        let mut state = *self.state;
        let mut totals = [S::nothing(); CHAINS];
        for index in 0..length {
            for (chain, total) in totals.iter_mut().enumerate() {
                *total = S::push(*total, S::Value::load(chained[chain * length + index]));
            }
        }
        if length > 0 {
            state = totals.into_iter().fold(state, S::both);
        }
        for element in rest {
            state = S::push(state, S::Value::load(*element));
        }
        *self.state = state;
    }
}

struct Step<'a, S: Scanner> {
    states: &'a mut [S::State],
    src: *const Stored<S>,
    dst: *mut Stored<S>,
}

impl<S: Scanner> Work for Step<'_, S> {
    type Home = S;

    #[inline(always)]
    fn work(self) {
        let writes = !self.dst.is_null();
        for (column, state) in self.states.iter_mut().enumerate() {
            // SAFETY: callers of `step` vouch for an element of each column.
            let value = S::Value::load(unsafe { self.src.wrapping_add(column).read() });
            *state = S::push(*state, value);
            if writes {
                let result = S::emit(*state).store();
                // SAFETY: as above.
                unsafe { self.dst.wrapping_add(column).write(result) };
            }
        }
    }
}
