//! What pools cost beside the classic allocators.
//!
//! `cargo run --release -p millpond-runtime --example pool_rivals` measures everything in one run
//! and prints tables; `--markdown` prints them as the documentation has them, `--json` as one line
//! for each figure, `--quick` does little of everything, `--seeds N` makes programs with other than
//! ten seeds, and words select tables: `pairs`, `rules`,
//! `sizes`, `full`, `threads`, `traces`, `ahead`. `cargo xtask bench --pools --write` keeps the page.
//!
//! `--device NAME` measures pairs, sizes and traces on a device with memory: the runtime's pools, and those
//! of the device's driver where it has some.
//!
//! Pools and rivals manage addresses of a device without memory, so that nothing but their own
//! work is measured; the heaps manage memory of the process, which nobody touches.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program that prints what it measured"
)]
#![allow(
    unsafe_code,
    reason = "heaps and the processor's clock are asked directly"
)]

mod ahead;
mod allocator;
mod card;
mod churn;
mod clock;
mod heaps;
mod pairs;
mod pools;
mod replay;
mod rivals;
mod rules;
mod table;
mod threads;
mod traces;

use millpond_runtime::Device;

use crate::table::{Format, Table};

/// How much is done of each measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    quick: bool,
    seeds: u64,
    /// A real device, instead of one without memory.
    device: Option<&'static Device>,
}

impl Effort {
    /// Whether little of everything is enough.
    pub(crate) fn is_quick(self) -> bool {
        self.quick
    }

    /// The device whose memory is asked for, if it is a real one.
    pub(crate) fn device(self) -> Option<&'static Device> {
        self.device
    }

    /// With how many seeds programs are made.
    pub(crate) fn seeds(self) -> u64 {
        if self.quick { 1 } else { self.seeds }
    }

    /// So many repetitions, or few.
    pub(crate) fn times(self, full: usize) -> usize {
        if self.quick { full.div_ceil(100) } else { full }
    }

    /// The values that are measured, or the first two.
    pub(crate) fn of<T>(self, values: &[T]) -> &[T] {
        let len = if self.quick {
            values.len().min(2)
        } else {
            values.len()
        };
        &values[..len]
    }
}

/// Measures a table.
type Measure = fn(Effort) -> Table;

/// The tables, in their order, with the word that selects each.
const TABLES: &[(&str, Measure)] = &[
    ("pairs", pairs::table),
    ("rules", rules::table),
    ("sizes", churn::sizes),
    ("full", churn::occupancy),
    ("threads", threads::table),
    ("traces", replay::table),
    ("ahead", ahead::table),
];

/// Those that are measured on a real device.
const ON_DEVICE: &[&str] = &["pairs", "sizes", "traces"];

fn main() {
    let mut effort = Effort {
        quick: false,
        seeds: 10,
        device: None,
    };
    let mut format = Format::Text;
    let mut words = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--device" => {
                let name = arguments.next().expect("--device NAME");
                effort.device = Some(Box::leak(Box::new(card::named(&name))));
            }
            "--seeds" => {
                let seeds = arguments.next().and_then(|seeds| seeds.parse().ok());
                effort.seeds = seeds.filter(|&seeds| seeds > 0).expect("--seeds N");
            }
            "--quick" => effort.quick = true,
            "--markdown" => format = Format::Markdown,
            "--json" => format = Format::Json,
            word => words.push(word.to_owned()),
        }
    }
    for (word, make) in TABLES {
        if effort.device.is_some() && !ON_DEVICE.contains(word) {
            continue;
        }
        if words.is_empty() || words.iter().any(|wanted| wanted == word) {
            print!("{}", make(effort).print(format));
        }
    }
}
