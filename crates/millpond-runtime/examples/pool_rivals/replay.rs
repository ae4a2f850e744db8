//! Traces, replayed on every allocator.

use std::hint::black_box;
use std::time::Instant;

use crate::Effort;
use crate::allocator::{Allocator, Case, columns, measure_all};
use crate::table::{Row, Table};
use crate::traces::{Generate, PROGRAMS, Step, Trace};

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

/// The times with the numbers of the first seed, and the ratios by all of them: the mean and the worst.
fn measure(effort: Effort, steps: usize, generate: Generate) -> (usize, Vec<Option<Vec<f64>>>) {
    let steps = if effort.is_quick() { 2 } else { steps };
    let mut cells: Vec<Option<Vec<f64>>> = Vec::new();
    let mut len = 0;
    let seeds = effort.seeds();
    for seed in 0..seeds {
        let trace = &generate(steps, 100 * seed);
        let rounds = if seed == 0 { effort.times(5) } else { 0 };
        let measured = measure_all(&Replay { trace, rounds }, effort, ROOM);
        if seed == 0 {
            len = trace.steps.len();
            cells.clone_from(&measured);
            for cell in cells.iter_mut().flatten() {
                cell.resize(cell.len() * 2 - 1, 0.0);
            }
        }
        for (cell, measured) in cells.iter_mut().zip(&measured) {
            if let (Some([_, mean, worst]), Some([_, ratio])) =
                (cell.as_deref_mut(), measured.as_deref())
            {
                let before = if seed == 0 { 0.0 } else { *mean };
                *mean = before + ratio / seeds as f64;
                *worst = ratio.max(*worst);
            }
        }
    }
    (len, cells)
}

/// Programs by name.
pub(crate) fn table(effort: Effort) -> Table {
    let rows = PROGRAMS.iter().map(|&(name, steps, generate)| {
        let (len, cells) = measure(effort, steps, generate);
        Row {
            case: format!("{name}, {len} steps"),
            cells,
        }
    });
    Table {
        title: "Traces of programs",
        figures: &[
            "ns for a step, best round",
            "most reserved over most in use: mean",
            "worst of all seeds",
        ],
        columns: columns(effort),
        rows: rows.collect(),
    }
}
