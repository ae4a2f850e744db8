//! Traces, replayed on every allocator.

use std::hint::black_box;
use std::time::Instant;

use crate::Effort;
use crate::allocator::{ALLOCATORS, Allocator, Case, measure_all};
use crate::table::{Row, Table};
use crate::traces::{self, Step, Trace};

/// What every allocator may have at most.
const ROOM: usize = 256 << 30;

struct Replay<'a> {
    trace: &'a Trace,
    rounds: usize,
}

impl Replay<'_> {
    fn run<A: Allocator>(&self, allocator: &A) {
        let mut blocks: Vec<Option<A::Block>> = (0..self.trace.blocks()).map(|_| None).collect();
        for step in &self.trace.steps {
            match *step {
                Step::Allocate { id, bytes } => {
                    blocks[id] = black_box(allocator.allocate(bytes));
                }
                Step::Free { id } => {
                    if let Some(block) = blocks[id].take() {
                        allocator.free(block);
                    }
                }
            }
        }
        for block in blocks.into_iter().flatten() {
            allocator.free(block);
        }
    }
}

impl Case for Replay<'_> {
    fn measure<A: Allocator>(&self, allocator: &A) -> Option<Vec<f64>> {
        self.run(allocator);
        let steps = self.trace.steps.len() as f64;
        let round = |_| {
            let begin = Instant::now();
            self.run(allocator);
            begin.elapsed().as_secs_f64() * 1e9 / steps
        };
        let fastest = (0..self.rounds).map(round).fold(f64::INFINITY, f64::min);
        let peak = self.trace.peak() as f64;
        let ratio = allocator.reserved().map(|most| most as f64 / peak);
        Some(std::iter::once(fastest).chain(ratio).collect())
    }
}

/// Traces by name.
pub(crate) fn table(effort: Effort) -> Table {
    let traces = traces::all(effort.quick);
    let rows = traces.iter().map(|(name, trace)| Row {
        case: format!("{name}, {} steps", trace.steps.len()),
        cells: measure_all(
            &Replay {
                trace,
                rounds: effort.times(5),
            },
            ROOM,
        ),
    });
    Table {
        title: "Traces of programs",
        figures: &[
            "ns for a step, best round",
            "most reserved over most in use",
        ],
        columns: ALLOCATORS.to_vec(),
        rows: rows.collect(),
    }
}
