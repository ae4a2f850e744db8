//! Random programs over pools for as many steps as are wanted, under the order checker.
//!
//! `cargo run --release -p millpond-runtime --example pool_schedule -- [STEPS] [SEED]` runs them one
//! after the other, on the CPU and on a device that is only counters by turns, and ends with an
//! error at the first two commands that nothing orders.
#![allow(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a program that prints what it found, and makes threads"
)]

#[path = "../tests/support/schedule/mod.rs"]
mod schedule;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::Driver;
use millpond_hal::null::NullDriver;
use millpond_testkit::watchdog::watched;

use schedule::{Plan, run};

/// Of one program: enough for memory to be used many times, few enough to tell of it soon.
const THREADS: u64 = 3;
const STEPS: usize = 10_000;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: u64| {
        let argument = arguments.next();
        argument.map_or(Some(default), |text| text.parse().ok())
    };
    let (Some(wanted), Some(seed)) = (number(1_000_000), number(1)) else {
        println!("usage: pool_schedule [STEPS] [SEED]");
        return ExitCode::FAILURE;
    };
    let begin = Instant::now();
    let (mut done, mut allocations, mut refused) = (0, 0, 0);
    for program in 0.. {
        let plan = Plan {
            threads: THREADS,
            steps: STEPS,
            seed: seed.wrapping_mul(1 << 32) + program,
            stamps: program % 2 == 0,
        };
        let outcome = watched(move || run(driver(&plan), &plan, |steps| steps()));
        if let Some(race) = outcome.races.first() {
            println!("{plan:?}: {race}");
            return ExitCode::FAILURE;
        }
        done += THREADS * STEPS as u64;
        allocations += outcome.allocations;
        refused += outcome.refused;
        if done >= wanted {
            break;
        }
    }
    println!(
        "{done} steps, {allocations} allocations, {refused} refused, nothing unordered, in {:.1?}",
        begin.elapsed()
    );
    ExitCode::SUCCESS
}

fn driver(plan: &Plan) -> Arc<dyn Driver> {
    if plan.stamps {
        Arc::new(CpuDriver::new(CpuConfig {
            threads: Some(2),
            ..CpuConfig::default()
        }))
    } else {
        Arc::new(NullDriver::default())
    }
}
