//! The contract of a backend as tests, written once.
//!
//! A test is a function over a device; it panics where the device breaks the rule that it names.
//! [`backend_contract!`](crate::backend_contract) lists all of them, and is the one such list.
//! What a device doesn't offer (out-of-order queues, partitions) isn't tested.

pub mod alloc;
pub mod concurrency;
pub mod copy;
pub mod drop;
pub mod error;
pub mod fill;
pub mod gate;
pub mod kernel;
pub mod order;
pub mod partition;
pub mod point;
#[cfg(feature = "pools")]
pub mod pool;
#[allow(
    unsafe_code,
    reason = "wraps the unsafe calls of the driver interface for the other modules"
)]
pub mod raw;
pub mod shutdown;
pub mod task;
pub mod watch;

use std::sync::{Arc, Mutex, PoisonError};

use millpond_hal::{Device, Driver};

use crate::watchdog::watched;

/// Runs a test on the first device of a new driver, under the watchdog. A driver without a device
/// passes.
pub fn check<D: Driver>(
    make_driver: impl FnOnce() -> D + Send + 'static,
    test: fn(&Arc<dyn Device>),
) {
    watched(move || {
        let driver = make_driver();
        let devices = driver.devices().expect("the driver lists its devices");
        if let Some(device) = devices.first() {
            test(device);
        }
    });
}

/// A list that tasks write to.
#[derive(Clone, Debug, Default)]
struct Log(Arc<Mutex<Vec<usize>>>);

impl Log {
    fn push(&self, entry: usize) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(entry);
    }

    /// A task that writes one entry.
    fn writer(&self, entry: usize) -> impl FnOnce() + Send + 'static {
        let log = self.clone();
        move || log.push(entry)
    }

    fn entries(&self) -> Vec<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

/// Makes a test of each function of the contract, or of the suites that are named.
///
/// The first argument is a closure or function without arguments that makes a driver; it is called
/// once for each test. The driver's devices must be its own: the suite `shutdown` shuts one down.
///
/// A backend without memory that can be read names the suites that it wants, for instance
/// `backend_contract!(NullDriver::default; order, point, gate)`.
#[macro_export]
macro_rules! backend_contract {
    ($make_driver:expr) => {
        $crate::backend_contract!($make_driver; alloc, concurrency, copy, drop, error, fill, gate,
            kernel, order, partition, point, shutdown, task, watch);
    };
    ($make_driver:expr; $($suite:ident),+ $(,)?) => {
        $($crate::backend_contract!(@suite $make_driver, $suite);)+
    };
    (@suite $make_driver:expr, alloc) => {
        $crate::backend_contract!(@tests $make_driver, alloc:
            memory_of_every_kind_is_aligned_as_asked,
            live_allocations_do_not_overlap,
            memory_comes_back_in_any_order,
            an_impossible_size_is_out_of_memory_with_its_bytes);
    };
    (@suite $make_driver:expr, concurrency) => {
        $crate::backend_contract!(@tests $make_driver, concurrency:
            queues_of_many_threads_do_all_their_work,
            a_chain_through_queues_keeps_its_order,
            many_threads_wait_for_one_point,
            finished_commands_are_dropped,
            callbacks_race_completion_without_being_lost);
    };
    (@suite $make_driver:expr, copy) => {
        $crate::backend_contract!(@tests $make_driver, copy:
            small_copies_are_exact_at_every_size_and_offset,
            large_copies_are_exact,
            copies_reach_between_all_kinds,
            copies_take_effect_in_sequence_order,
            memory_called_zeroed_holds_zeros,
            transfers_can_be_watched);
    };
    (@suite $make_driver:expr, drop) => {
        $crate::backend_contract!(@tests $make_driver, drop:
            a_dropped_queue_finishes_its_commands,
            a_dropped_queue_still_passes_its_gate_on,
            an_unused_queue_can_be_dropped,
            a_queue_can_be_dropped_by_its_own_task);
    };
    (@suite $make_driver:expr, error) => {
        $crate::backend_contract!(@tests $make_driver, error:
            a_failure_reaches_all_that_come_after_it,
            a_failure_before_submission_counts_too,
            order_alone_passes_no_failure_on,
            behind_points_pass_no_failure_on,
            a_barrier_passes_no_failure_on,
            failures_are_counted_and_finished,
            failures_are_remembered,
            failures_are_listed_in_order,
            a_failure_names_its_origin);
    };
    (@suite $make_driver:expr, fill) => {
        $crate::backend_contract!(@tests $make_driver, fill:
            every_pattern_fills_exactly_its_range,
            large_fills_are_exact,
            fills_reach_all_kinds);
    };
    (@suite $make_driver:expr, gate) => {
        $crate::backend_contract!(@tests $make_driver, gate:
            a_closed_gate_holds_its_queue,
            an_open_gate_lets_pass,
            a_gate_passes_its_failure_on,
            closed_gates_hold_no_threads,
            a_gate_may_be_opened_by_a_task);
    };
    (@suite $make_driver:expr, kernel) => {
        $crate::backend_contract!(@tests $make_driver, kernel:
            every_index_runs_exactly_once,
            a_kernel_is_finished_once_after_all_pieces,
            launches_take_effect_in_sequence_order,
            launches_of_two_queues_are_both_exact,
            an_error_of_a_kernel_is_its_failure,
            a_kernel_says_what_its_errors_are,
            a_panic_of_a_kernel_is_its_failure,
            finished_launches_drop_their_kernel,
            launches_can_be_watched);
    };
    (@suite $make_driver:expr, order) => {
        $crate::backend_contract!(@tests $make_driver, order:
            b1_sequence_numbers_count_from_one,
            b2_in_order_commands_take_effect_in_sequence_order,
            b2_sequence_order_holds_across_threads,
            b2_out_of_order_commands_overtake,
            b2_out_of_order_commands_start_after_their_points,
            b2_a_barrier_separates_before_from_after,
            b3_points_of_other_queues_are_waited_for,
            b4_completed_is_the_longest_finished_prefix);
    };
    (@suite $make_driver:expr, partition) => {
        $crate::backend_contract!(@tests $make_driver, partition:
            a_part_of_all_cores_works_as_a_device,
            parts_without_cores_are_invalid);
    };
    (@suite $make_driver:expr, point) => {
        $crate::backend_contract!(@tests $make_driver, point:
            queues_have_identities_of_their_own,
            sequence_zero_is_always_reached,
            an_outcome_is_there_when_the_point_is_reached,
            a_wait_gives_up_at_its_deadline,
            a_passed_deadline_does_not_hide_a_reached_point,
            callbacks_run_at_once_for_reached_points,
            callbacks_run_later_for_others,
            b5_callbacks_may_use_the_queue,
            times_are_in_order);
    };
    (@suite $make_driver:expr, shutdown) => {
        $crate::backend_contract!(@tests $make_driver, shutdown:
            submitted_work_is_done_before,
            later_calls_answer_lost,
            shutting_down_twice_changes_nothing);
    };
    (@suite $make_driver:expr, task) => {
        $crate::backend_contract!(@tests $make_driver, task:
            a_task_runs_exactly_once,
            b5_submit_runs_no_task,
            an_error_of_a_task_is_its_failure,
            a_panic_of_a_task_is_its_failure,
            b5_tasks_may_use_the_queue);
    };
    (@suite $make_driver:expr, watch) => {
        $crate::backend_contract!(@tests $make_driver, watch:
            a_watch_is_told_around_the_body_of_a_task,
            a_watch_is_told_of_failures,
            a_watched_gate_ends_when_it_is_open);
    };
    (@tests $make_driver:expr, $suite:ident: $($test:ident),+) => {
        mod $suite {
            #[allow(unused_imports, reason = "the driver may be named by an absolute path")]
            use super::*;
            $(
                #[test]
                fn $test() {
                    $crate::contract::check($make_driver, $crate::contract::$suite::$test);
                }
            )+
        }
    };
}
