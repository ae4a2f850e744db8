//! The contract of a pool as tests, written once: for the runtime's own pools and for those of a driver.
//!
//! A test is a function over a [`Place`]; it panics where the pool breaks the point that it names, of
//! `docs/reference/pool-contract.md`. [`pool_contract!`](crate::pool_contract) lists all of them, and
//! is the one such list. What only pools of the runtime's promise, such as which block serves, is
//! tested there.

pub mod counts;
pub mod life;
pub mod limits;
pub mod order;

use millpond_runtime::{
    Allocation, Device, Event, Gate, MemoryKind, Pattern, Pool, PoolOptions, Queue, QueueOptions,
    Statistics,
};

use crate::watchdog::watched;

/// Bytes of most tests' allocations, which no pool has to round up.
const PIECE: usize = 1 << 20;

/// A device, and what pools are made with there.
#[derive(Clone, Debug)]
pub struct Place {
    /// The device.
    pub device: Device,
    /// The kind of memory.
    pub kind: MemoryKind,
    /// What is common to all pools of the test.
    pub options: PoolOptions,
}

impl Place {
    /// A pool that may have this much.
    fn pool(&self, maximum_size: Option<usize>) -> Pool {
        self.pool_with(PoolOptions {
            maximum_size,
            ..self.options.clone()
        })
    }

    fn pool_with(&self, options: PoolOptions) -> Pool {
        let made = self.device.create_pool(self.kind, options);
        made.expect("the device makes pools")
    }

    fn queue(&self) -> Queue {
        let made = self.device.create_queue(&QueueOptions::default());
        made.expect("the device makes queues")
    }

    fn unordered(&self) -> Queue {
        let options = QueueOptions {
            out_of_order: true,
            ..QueueOptions::default()
        };
        let made = self.device.create_queue(&options);
        made.expect("the device makes queues")
    }
}

/// Runs a test under the watchdog.
pub fn check(make_place: impl FnOnce() -> Place + Send + 'static, test: fn(&Place)) {
    watched(move || test(&make_place()));
}

/// Fills memory with a byte.
fn fill(queue: &Queue, memory: &Allocation, byte: u8) {
    let pattern = Pattern::new(&[byte]).expect("a byte is a pattern");
    let filled = queue.fill(memory, 0..memory.bytes(), pattern);
    filled.expect("the queue takes a fill");
}

/// Whether all bytes of memory are this one.
fn holds(memory: &Allocation, byte: u8) -> bool {
    let mut bytes = vec![!byte; memory.bytes()];
    memory.read(0, &mut bytes).expect("it can be read");
    bytes.iter().all(|found| *found == byte)
}

fn take(queue: &Queue, pool: &Pool, bytes: usize) -> Allocation {
    let taken = queue.allocate_from(pool, bytes);
    taken.expect("the pool has memory")
}

/// A gate that holds a queue back until it is opened, by a test that fails as well.
struct Held {
    gate: Gate,
    event: Event,
}

impl Held {
    fn back(queue: &Queue) -> Self {
        let gate = Gate::new();
        let event = queue.gate(&gate, &[]).expect("the queue takes a gate");
        Self { gate, event }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.gate.open(Ok(()));
    }
}

/// What a pool has, which adds up whenever no call is in progress.
fn statistics(pool: &Pool) -> Statistics {
    let now = pool.statistics();
    assert_eq!(now.reserved, now.used + now.pending + now.cached, "{now:?}");
    assert!(now.requested <= now.used, "{now:?}");
    assert!(now.used <= now.used_high, "{now:?}");
    assert!(now.reserved <= now.reserved_high, "{now:?}");
    now
}

/// Makes a test of each function of the contract of pools. The argument is a closure or function
/// without arguments that makes a [`Place`]; it is called once for each test.
#[macro_export]
macro_rules! pool_contract {
    ($make_place:expr) => {
        $crate::pool_contract!(@tests $make_place, counts:
            what_a_pool_has_adds_up,
            p12_high_marks_are_set_back_to_what_is_now,
            tags_count_what_is_granted,
            f045_each_pool_tells_of_its_own_memory);
        $crate::pool_contract!(@tests $make_place, life:
            p05_p06_the_current_pool_serves_until_it_is_closed,
            p07_a_closed_pool_keeps_what_is_live,
            p08_a_threshold_is_kept_to_at_the_next_wait,
            p09_trim_gives_back_what_is_free_and_keeps_the_rest,
            p13_memory_is_freed_in_either_way,
            p14_memory_is_freed_by_its_only_holder,
            p20_a_queue_that_is_gone_leaves_its_pending_frees_to_the_pool);
        $crate::pool_contract!(@tests $make_place, limits:
            p10_a_maximum_is_reached_exactly_and_no_further,
            f042_a_maximum_holds_with_many_threads,
            f027_sizes_near_the_end_of_the_address_space_are_refused,
            f029_size_zero_has_an_address_of_its_own,
            every_alignment_is_kept_to,
            p18_where_the_pool_cannot_grow_a_request_waits_for_frees,
            reclaimers_make_room);
        $crate::pool_contract!(@tests $make_place, order:
            p01_an_in_order_queue_gets_the_address_it_freed,
            p03_an_allocation_begins_behind_its_events_and_a_free_comes_behind_its_own,
            p16_memory_goes_from_queue_to_queue_in_order,
            f014_memory_freed_by_dropping_it_waits_for_every_queue_that_used_it,
            f016_no_two_uses_of_the_same_bytes_are_unordered,
            zeros_are_there_on_reuse_as_well);
    };
    (@tests $make_place:expr, $suite:ident: $($test:ident),+) => {
        mod $suite {
            #[allow(unused_imports, reason = "the place may be named by an absolute path")]
            use super::*;
            $(
                #[test]
                fn $test() {
                    $crate::contract::pool::check($make_place, $crate::contract::pool::$suite::$test);
                }
            )+
        }
    };
}
