//! Blocks of random sizes, of which one after the other is replaced.

use std::hint::black_box;
use std::time::Instant;

use millpond_testkit::dice::Dice;

use crate::Effort;
use crate::allocator::{Allocator, Case, columns, measure_all};
use crate::clock::Latencies;
use crate::table::{Row, Table};

/// A size from 256 bytes to a MiB, small ones as often as large ones.
fn usual_size(dice: &mut Dice) -> usize {
    dice.size(256, 12)
}

/// So many live blocks, of which a random one is freed and one of another size allocated.
struct Replace {
    live: usize,
    effort: Effort,
}

impl Case for Replace {
    fn measure<A: Allocator>(&self, allocator: &A) -> Option<Vec<f64>> {
        if A::LINEAR && self.live > 10_000 {
            return None;
        }
        let mut dice = Dice::new(1);
        let mut live: Vec<Option<A::Block>> = (0..self.live)
            .map(|_| allocator.allocate(usual_size(&mut dice)))
            .collect();
        let mut replace = |latencies: Option<&mut Latencies>| {
            let (index, bytes) = (dice.roll(live.len()), usual_size(&mut dice));
            let slot = &mut live[index];
            let mut pair = || {
                if let Some(block) = slot.take() {
                    allocator.free(block);
                }
                *slot = black_box(allocator.allocate(bytes));
            };
            match latencies {
                Some(latencies) => latencies.time(pair),
                None => pair(),
            }
        };
        let heavy = A::LINEAR || !A::BOUNDED;
        let rounds = self.effort.times(if heavy { 50_000 } else { 200_000 });
        for _ in 0..rounds {
            replace(None);
        }
        let mut fastest = f64::INFINITY;
        let window = 1000.min(rounds);
        for _ in 0..rounds / window {
            let begin = Instant::now();
            for _ in 0..window {
                replace(None);
            }
            fastest = fastest.min(begin.elapsed().as_secs_f64() * 1e9 / window as f64);
        }
        let mut latencies = Latencies::default();
        for _ in 0..rounds {
            replace(Some(&mut latencies));
        }
        for block in live.into_iter().flatten() {
            allocator.free(block);
        }
        let [median, p99, p999] = latencies.quantiles([500, 990, 999]);
        Some(vec![fastest, median, p99, p999])
    }
}

/// Random sizes by the number of live blocks.
pub(crate) fn sizes(effort: Effort) -> Table {
    let counts = [100, 1000, 10_000, 50_000];
    let rows = effort.of(&counts).iter().map(|&live| Row {
        case: format!("{live} live"),
        cells: measure_all(&Replace { live, effort }, effort, 256 << 30),
    });
    Table {
        title: "Random sizes from 256 B to 1 MiB",
        figures: &["ns for a pair: best window", "median", "p99", "p99.9"],
        columns: columns(effort),
        rows: rows.collect(),
    }
}

const CAPACITY: usize = 1 << 30;

/// Allocations while a gigabyte is so full.
struct Full {
    percent: usize,
    effort: Effort,
}

impl Case for Full {
    fn measure<A: Allocator>(&self, allocator: &A) -> Option<Vec<f64>> {
        if !A::BOUNDED {
            return None;
        }
        let target = CAPACITY / 100 * self.percent;
        let mut dice = Dice::new(1);
        let (mut live, mut used) = (Vec::new(), 0);
        let (mut served, mut refused) = (Latencies::default(), Latencies::default());
        let (mut refusals, mut requests) = (0_u32, 0_u32);
        let rounds = self.effort.times(100_000);
        // As long again to get there.
        for round in 0..2 * rounds {
            if round == rounds {
                (served, refused) = (Latencies::default(), Latencies::default());
                (refusals, requests) = (0, 0);
            }
            let bytes = usual_size(&mut dice);
            let found = served.time(|| black_box(allocator.allocate(bytes)));
            requests += 1;
            let mut give_up_one = found.is_none();
            if let Some(block) = found {
                live.push((block, bytes));
                used += bytes;
            } else {
                refusals += 1;
                served.move_last(&mut refused);
            }
            while (used > target || give_up_one) && !live.is_empty() {
                let (block, bytes) = live.swap_remove(dice.roll(live.len()));
                allocator.free(block);
                used -= bytes;
                give_up_one = false;
            }
        }
        let [median, p99, p999] = served.quantiles([500, 990, 999]);
        let [refusal] = refused.quantiles([500]);
        for (block, _) in live {
            allocator.free(block);
        }
        let share = f64::from(refusals) * 100.0 / f64::from(requests.max(1));
        Some(vec![
            median,
            p99,
            p999,
            p99 / median.max(1.0),
            share,
            refusal,
        ])
    }
}

/// Random sizes by how full the memory is.
pub(crate) fn occupancy(effort: Effort) -> Table {
    let marks = [10, 50, 75, 90, 95, 99];
    let rows = effort.of(&marks).iter().map(|&percent| Row {
        case: format!("{percent} % full"),
        cells: measure_all(&Full { percent, effort }, effort, CAPACITY),
    });
    Table {
        title: "A gigabyte, nearly full",
        figures: &[
            "ns for an allocation: median",
            "p99",
            "p99.9",
            "p99 over median",
            "% refused",
            "ns for a refusal",
        ],
        columns: columns(effort)[..4].to_vec(),
        rows: rows.collect(),
    }
}
