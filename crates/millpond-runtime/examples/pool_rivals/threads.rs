//! Threads that allocate at the same time, on one queue or on their own.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Barrier;
use std::time::Instant;

use millpond_testkit::dice::Dice;

use crate::Effort;
use crate::allocator::{ALLOCATORS, Allocator, Case, measure_all};
use crate::table::{Row, Table};

/// Blocks that a thread keeps before it frees the oldest.
const KEPT: usize = 16;

struct Together {
    threads: usize,
    own_queues: bool,
    effort: Effort,
}

impl Case for Together {
    fn measure<A: Allocator>(&self, allocator: &A) -> Option<Vec<f64>> {
        let pairs = self.effort.times(100_000);
        let turns = self.effort.times(20).max(2);
        let own: Option<Vec<A>> = (0..self.threads)
            .map(|_| allocator.with_own_queue())
            .collect();
        if self.own_queues && own.is_none() {
            return None;
        }
        let own = own.filter(|_| self.own_queues);
        let turn = || {
            let barrier = Barrier::new(self.threads);
            std::thread::scope(|scope| {
                let workers: Vec<_> = (0..self.threads)
                    .map(|index| {
                        let allocator = own.as_ref().map_or(allocator, |own| &own[index]);
                        let barrier = &barrier;
                        scope.spawn(move || {
                            barrier.wait();
                            work(allocator, index, pairs)
                        })
                    })
                    .collect();
                let times = workers.into_iter().map(|worker| worker.join().unwrap());
                times.fold(0.0, f64::max)
            })
        };
        let best = (0..turns).map(|_| turn()).fold(f64::INFINITY, f64::min);
        Some(vec![best])
    }
}

/// Nanoseconds of a pair.
fn work<A: Allocator>(allocator: &A, index: usize, pairs: usize) -> f64 {
    let mut dice = Dice::new(index as u64 + 1);
    let mut kept = VecDeque::with_capacity(KEPT + 1);
    let begin = Instant::now();
    for _ in 0..pairs {
        kept.extend(black_box(allocator.allocate(dice.size(1024, 4))));
        if kept.len() > KEPT
            && let Some(oldest) = kept.pop_front()
        {
            allocator.free(oldest);
        }
    }
    let elapsed = begin.elapsed();
    for block in kept {
        allocator.free(block);
    }
    elapsed.as_secs_f64() * 1e9 / pairs as f64
}

/// Threads and queues.
pub(crate) fn table(effort: Effort) -> Table {
    let grid = [
        (1, false, "one thread"),
        (2, false, "two threads, one queue or lock"),
        (2, true, "two threads, a queue each"),
    ];
    let rows = grid.map(|(threads, own_queues, case)| Row {
        case: case.to_owned(),
        cells: measure_all(
            &Together {
                threads,
                own_queues,
                effort,
            },
            effort,
            16 << 30,
        ),
    });
    Table {
        title: "Threads",
        figures: &["ns for a pair of each thread, best of many turns"],
        columns: ALLOCATORS.to_vec(),
        rows: rows.into(),
    }
}
