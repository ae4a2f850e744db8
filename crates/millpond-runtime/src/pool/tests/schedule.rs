//! Random programs under the order checker, and that it notices what is broken.

use std::sync::Arc;

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::Driver;
use millpond_hal::null::NullDriver;
use millpond_testkit::watchdog::watched;

use super::program::{Plan, run};
use crate::weaken::{Rule, while_broken};

/// How many steps each program takes in all.
const STEPS: usize = 12_000;

fn cpu() -> Arc<dyn Driver> {
    Arc::new(CpuDriver::new(CpuConfig {
        threads: Some(2),
        ..CpuConfig::default()
    }))
}

fn null() -> Arc<dyn Driver> {
    Arc::new(NullDriver::default())
}

#[test]
fn f016_no_two_uses_of_the_same_bytes_are_unordered() {
    watched(|| {
        for seed in 1..5 {
            for (driver, stamps) in [(cpu(), true), (null(), false)] {
                let plan = Plan {
                    threads: 3,
                    steps: STEPS / 4,
                    seed,
                    stamps,
                };
                let outcome = run(driver, &plan, |steps| steps());
                assert!(outcome.races.is_empty(), "{plan:?}: {}", outcome.races[0]);
                assert!(outcome.refused > 0, "{plan:?}: the limit was never met");
                assert!(outcome.allocations > 1000, "{outcome:?}");
            }
        }
    });
}

#[test]
fn a_pool_with_a_broken_rule_is_noticed() {
    watched(|| {
        for rule in [
            Rule::SameQueue,
            Rule::FollowEvents,
            Rule::Opportunistic,
            Rule::InternalDependencies,
        ] {
            let found = (1..60).any(|seed| {
                let plan = Plan {
                    threads: 1,
                    steps: STEPS / 4,
                    seed,
                    stamps: false,
                };
                let outcome = run(null(), &plan, |steps| while_broken(rule, steps));
                !outcome.races.is_empty()
            });
            assert!(found, "{rule:?} broken, and nobody noticed");
        }
    });
}
