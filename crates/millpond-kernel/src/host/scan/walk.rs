//! Walking over pieces of rows, along them or across.

use super::Plan;
use super::body::Words;
use super::loops::{COLUMNS, States};
use crate::host::cast::cast;
use crate::host::contiguous::is_aligned;
use crate::host::gather::{gather, scatter};
use crate::host::tile::{TILE_BYTES, Tile};
use crate::simd::{self, Level};
use crate::template::space::Offsets;

/// A thread's walk over pieces: where the arrays are, and tiles for what must be converted.
pub(super) struct Walk<'a> {
    plan: &'a Plan,
    level: Level,
    /// Null where only totals are wanted.
    output: *mut u8,
    input: *const u8,
    /// The states before pieces, or null.
    states: *mut Words,
    gathered: Tile,
    converted: Tile,
    results: Tile,
    narrowed: Tile,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        output: *mut u8,
        input: *const u8,
        states: *mut Words,
    ) -> Self {
        Self {
            plan,
            level: simd::current(),
            output,
            input,
            states,
            gathered: Tile::new(),
            converted: Tile::new(),
            results: Tile::new(),
            narrowed: Tile::new(),
        }
    }

    /// Elements of a tile of each dtype.
    fn tile(&self) -> usize {
        let Plan {
            compute,
            input,
            output,
            ..
        } = self.plan;
        let sizes = [*compute, input.dtype, output.dtype].map(millpond_types::DType::size);
        TILE_BYTES / sizes[0].max(sizes[1]).max(sizes[2])
    }

    /// The state that a piece of a row begins with.
    ///
    /// # Safety
    /// The states are valid as the plan's footprints say.
    unsafe fn first(&self, piece: usize, row: usize) -> Words {
        if self.output.is_null() || self.states.is_null() {
            return self.plan.body.start();
        }
        let place = piece * self.plan.rows.size() + row;
        // SAFETY: the state before a piece that there is.
        unsafe { self.states.wrapping_add(place).read() }
    }

    /// Keeps what a piece of a row comes to, where only that is wanted.
    ///
    /// # Safety
    /// As for [`Walk::first`]; no other thread keeps this.
    unsafe fn keep(&self, piece: usize, row: usize, state: Words) {
        let place = piece * self.plan.rows.size() + row;
        // SAFETY: the state of a piece that there is.
        unsafe { self.states.wrapping_add(place).write(state) };
    }

    /// Accumulates a piece of a row.
    ///
    /// # Safety
    /// The arrays are valid as the plan's footprints say; nobody else touches the results.
    pub(super) unsafe fn along(&mut self, piece: usize, row: usize) {
        let plan = self.plan;
        let [to, from, ..] = plan.rows.locate(row);
        // SAFETY: as the caller vouches.
        let mut state = unsafe { self.first(piece, row) };
        let elements = plan.piece(piece);
        for begin in elements.clone().step_by(self.tile()) {
            let count = self.tile().min(elements.end - begin);
            let steps = begin as isize;
            let src = self.input.wrapping_offset(from + steps * plan.input.stride);
            // SAFETY: `count` elements of the row.
            let values = unsafe { self.fetch(src, plan.input.stride, count) };
            if self.output.is_null() {
                // SAFETY: as many values were fetched.
                state = unsafe { plan.body.total(self.level, state, values, count) };
                continue;
            }
            let dst = self.output.wrapping_offset(to + steps * plan.output.stride);
            let results = self.target(dst, plan.output.stride);
            // SAFETY: as many values were fetched, and there is room for as many results.
            state = unsafe { plan.body.run(self.level, state, values, results, count) };
            // SAFETY: `count` results of the row.
            unsafe { self.put(results, dst, plan.output.stride, count) };
        }
        if self.output.is_null() {
            // SAFETY: as the caller vouches.
            unsafe { self.keep(piece, row, state) };
        }
    }

    /// Accumulates a piece of each of `count` rows side by side, the first of number `row` and at
    /// these offsets.
    ///
    /// # Safety
    /// As for [`Walk::along`].
    pub(super) unsafe fn across(
        &mut self,
        piece: usize,
        row: usize,
        offsets: Offsets,
        count: usize,
    ) {
        let (plan, width) = (self.plan, self.tile().min(COLUMNS));
        let [out_step, in_step] = [plan.rows.inner_stride(0), plan.rows.inner_stride(1)];
        for first in (0..count).step_by(width) {
            let columns = width.min(count - first);
            let to = offsets[0] + out_step * first as isize;
            let from = offsets[1] + in_step * first as isize;
            let mut states = States::new();
            for column in 0..columns {
                // SAFETY: as the caller vouches.
                let state = unsafe { self.first(piece, row + first + column) };
                plan.body.set(&mut states, column, state);
            }
            for element in plan.piece(piece) {
                let steps = element as isize;
                let src = self.input.wrapping_offset(from + steps * plan.input.stride);
                // SAFETY: an element of each of these rows.
                let values = unsafe { self.fetch(src, in_step, columns) };
                if self.output.is_null() {
                    let null = std::ptr::null_mut();
                    // SAFETY: as many values were fetched, and states set.
                    unsafe {
                        plan.body
                            .step(self.level, &mut states, values, null, columns);
                    };
                    continue;
                }
                let dst = self.output.wrapping_offset(to + steps * plan.output.stride);
                let results = self.target(dst, out_step);
                // SAFETY: as above, and there is room for as many results.
                unsafe {
                    plan.body
                        .step(self.level, &mut states, values, results, columns);
                };
                // SAFETY: an element of each of these rows.
                unsafe { self.put(results, dst, out_step, columns) };
            }
            if self.output.is_null() {
                for column in 0..columns {
                    let state = plan.body.state(&states, column);
                    // SAFETY: as the caller vouches.
                    unsafe { self.keep(piece, row + first + column, state) };
                }
            }
        }
    }

    /// Elements of the input in the dtype that is computed with: themselves, or a tile of them.
    ///
    /// # Safety
    /// `count` elements lie `stride` bytes apart, no more than a tile holds.
    unsafe fn fetch(&mut self, src: *const u8, stride: isize, count: usize) -> *const u8 {
        let (dtype, compute) = (self.plan.input.dtype, self.plan.compute);
        let mut values = src;
        if stride != dtype.size() as isize || !is_aligned(src.cast_mut(), dtype) {
            let gathered = self.gathered.as_mut_ptr();
            // SAFETY: as the caller vouches; a tile has room for them.
            unsafe { gather(dtype.size(), src, stride, gathered, count) };
            values = gathered;
        }
        if dtype == compute {
            return values;
        }
        let converted = self.converted.as_mut_ptr();
        // SAFETY: aligned, and a tile has room for as many.
        unsafe { cast(self.level, (dtype, values), (compute, converted), count) };
        converted
    }

    /// Where results that belong at `dst` are computed: there, or in a tile.
    fn target(&mut self, dst: *mut u8, stride: isize) -> *mut u8 {
        let dtype = self.plan.output.dtype;
        let direct =
            dtype == self.plan.compute && stride == dtype.size() as isize && is_aligned(dst, dtype);
        if direct {
            dst
        } else {
            self.results.as_mut_ptr()
        }
    }

    /// Puts results where they belong, unless they are there.
    ///
    /// # Safety
    /// `count` elements of the output lie `stride` bytes apart from `dst` on; `results` is what
    /// [`Walk::target`] gave, and as many were computed.
    unsafe fn put(&mut self, results: *const u8, dst: *mut u8, stride: isize, count: usize) {
        if std::ptr::eq(results, dst) {
            return;
        }
        let (dtype, compute) = (self.plan.output.dtype, self.plan.compute);
        let mut narrowed = results;
        if dtype != compute {
            let to = self.narrowed.as_mut_ptr();
            // SAFETY: aligned, and a tile has room for as many.
            unsafe { cast(self.level, (compute, results), (dtype, to), count) };
            narrowed = to;
        }
        // SAFETY: as the caller vouches.
        unsafe { scatter(dtype.size(), narrowed, dst, stride, count) };
    }
}
