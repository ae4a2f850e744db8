//! The contract suites find what is wrong: backends that break one rule each.

use std::alloc::Layout;
use std::sync::Arc;

use millpond_hal::layers::{Layer, Layered, Site};
use millpond_hal::null::NullDriver;
use millpond_hal::{
    Address, Command, Device, DeviceError, Point, Queue, QueueOptions, RawAllocation, Submission,
};
use millpond_testkit::contract::{alloc, check, error, gate, order, shutdown, task};
use millpond_types::MemoryKind;

/// What the backend does wrong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wrong {
    IgnoresAfter,
    IgnoresBehind,
    IgnoresSubmissionOrder,
    SkipsNumbers,
    RunsTasksInSubmit,
    Misaligns,
    SurvivesShutdown,
}

#[allow(
    unsafe_code,
    reason = "implements unsafe calls of the driver interface"
)]
impl Layer for Wrong {
    fn allocate(
        &self,
        site: &Site,
        kind: MemoryKind,
        layout: Layout,
    ) -> Result<RawAllocation, DeviceError> {
        let mut allocation = site.device.allocate(kind, layout)?;
        if *self == Self::Misaligns {
            allocation.address = Address::new(allocation.address.get() + 1);
        }
        Ok(allocation)
    }

    fn create_queue(
        &self,
        site: &Site,
        options: &QueueOptions,
    ) -> Result<Arc<dyn Queue>, DeviceError> {
        let mut options = options.clone();
        options.out_of_order |= *self == Self::IgnoresSubmissionOrder;
        site.device.create_queue(&options)
    }

    fn shutdown(&self, site: &Site) {
        if *self != Self::SurvivesShutdown {
            site.device.shutdown();
        }
    }

    unsafe fn submit(
        &self,
        _site: &Site,
        queue: &Arc<dyn Queue>,
        mut submission: Submission<'_>,
    ) -> Result<Point, DeviceError> {
        match self {
            Self::IgnoresAfter => submission.after = &[],
            Self::IgnoresBehind => submission.behind = &[],
            Self::SkipsNumbers => {
                // SAFETY: a barrier names no memory; the caller serialises submissions.
                unsafe { queue.submit(Submission::new(Command::Barrier))? };
            }
            Self::RunsTasksInSubmit => {
                if let Command::Task { task, name } = submission.command {
                    let result = task();
                    submission.command = Command::Task {
                        name,
                        task: Box::new(|| result),
                    };
                }
            }
            _ => (),
        }
        // SAFETY: a null queue touches no memory; the caller serialises submissions.
        unsafe { queue.submit(submission) }
    }
}

fn run(wrong: Wrong, test: fn(&Arc<dyn Device>)) {
    check(
        move || Layered::new(Arc::new(NullDriver::default()), wrong),
        test,
    );
}

#[test]
#[should_panic(expected = "the command was made to fail")]
fn lost_dependences_are_found() {
    run(
        Wrong::IgnoresAfter,
        error::a_failure_before_submission_counts_too,
    );
}

#[test]
#[should_panic(expected = "!second.reached(later)")]
fn lost_order_across_queues_is_found() {
    run(
        Wrong::IgnoresAfter,
        order::b3_points_of_other_queues_are_waited_for,
    );
}

#[test]
#[should_panic(expected = "!second.reached(behind)")]
fn lost_order_without_content_is_found() {
    run(
        Wrong::IgnoresBehind,
        error::behind_points_pass_no_failure_on,
    );
}

#[test]
#[should_panic(expected = "!line.reached(behind)")]
fn lost_order_within_a_queue_is_found() {
    run(
        Wrong::IgnoresSubmissionOrder,
        gate::a_closed_gate_holds_its_queue,
    );
}

#[test]
#[should_panic(expected = "left: [2, 4, 6]")]
fn gaps_in_numbers_are_found() {
    run(
        Wrong::SkipsNumbers,
        order::b1_sequence_numbers_count_from_one,
    );
}

#[test]
#[should_panic(expected = "ran inside of submit")]
fn tasks_inside_of_submit_are_found() {
    run(Wrong::RunsTasksInSubmit, task::b5_submit_runs_no_task);
}

#[test]
#[should_panic(expected = "device Layout")]
fn misaligned_memory_is_found() {
    run(
        Wrong::Misaligns,
        alloc::memory_of_every_kind_is_aligned_as_asked,
    );
}

#[test]
#[should_panic(expected = "Ok(())")]
fn work_after_shutdown_is_found() {
    run(Wrong::SurvivesShutdown, shutdown::later_calls_answer_lost);
}
