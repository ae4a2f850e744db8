//! An allocation and its free, again and again, by size.

use std::hint::black_box;

use crate::Effort;
use crate::allocator::{Allocator, Case, columns, measure_all};
use crate::clock::{Latencies, best};
use crate::table::{Row, Table, size};

struct Pair {
    bytes: usize,
    effort: Effort,
}

impl Case for Pair {
    fn measure<A: Allocator>(&self, allocator: &A) -> Option<Vec<f64>> {
        let pair = || {
            let block = allocator.allocate(self.bytes);
            if let Some(block) = black_box(block) {
                allocator.free(block);
            }
        };
        // A heap that maps and unmaps takes a thousand times as long.
        let slow = best(3, 10, pair) > 2000.0;
        let windows = self.effort.times(if slow { 100 } else { 500 });
        let fastest = best(windows, if slow { 16 } else { 256 }, pair);
        let mut latencies = Latencies::default();
        for _ in 0..self.effort.times(if slow { 2000 } else { 100_000 }) {
            latencies.time(pair);
        }
        let [median, p99, p999] = latencies.quantiles([500, 990, 999]);
        Some(vec![fastest, median, p99, p999])
    }
}

/// Pairs of one size.
pub(crate) fn table(effort: Effort) -> Table {
    let sizes = [64, 1 << 10, 64 << 10, 1 << 20, 16 << 20, 1 << 30];
    let rows = effort.of(&sizes).iter().map(|&bytes| Row {
        case: size(bytes),
        cells: measure_all(&Pair { bytes, effort }, effort, 4 << 30),
    });
    Table {
        title: "Pairs of one size",
        figures: &["ns for a pair: best window", "median", "p99", "p99.9"],
        columns: columns(effort),
        rows: rows.collect(),
    }
}
