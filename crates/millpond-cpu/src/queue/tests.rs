//! Tests of the state machine, without threads, and of the registry.

use std::time::Duration;

use millpond_hal::{Command, Failure, FailureKind, QueueOptions};

use super::line::{Begun, Line, Notes};
use super::{CpuQueue, Registry};
use crate::executor::{Crewing, Executor};
use crate::sync::Arc;

const NEVER: fn() -> Duration = || Duration::ZERO;

fn task() -> Command {
    Command::Task {
        name: Arc::from("test"),
        task: Box::new(|| Ok(())),
    }
}

fn push(line: &mut Line, command: Command, blockers: u32) -> u64 {
    line.push(command, Notes::default(), blockers, NEVER)
}

fn begin(line: &mut Line) -> Option<Begun> {
    line.begin(|_, _, _| true, NEVER)
}

/// Begins all that may start, and answers their numbers.
fn begin_all(line: &mut Line) -> Vec<u64> {
    let mut begun: Vec<_> =
        std::iter::from_fn(|| begin(line).map(|begun| begun.sequence)).collect();
    begun.sort_unstable();
    begun
}

fn finish(line: &mut Line, sequence: u64) {
    line.finish(sequence, None, NEVER);
}

#[test]
fn b2_an_in_order_line_begins_one_command_at_a_time() {
    let mut line = Line::new(true, false);
    for sequence in 1..=3 {
        assert_eq!(push(&mut line, task(), 0), sequence);
    }
    assert_eq!(begin_all(&mut line), [1]);
    finish(&mut line, 1);
    assert_eq!(line.completed(), 1);
    assert_eq!(begin_all(&mut line), [2]);
}

#[test]
fn b2_a_blocked_head_holds_an_in_order_line() {
    let mut line = Line::new(true, false);
    push(&mut line, task(), 2);
    push(&mut line, task(), 0);
    assert!(!line.is_runnable());
    line.unblock(1, 1, None);
    assert!(!line.is_runnable());
    line.unblock(1, 1, None);
    assert_eq!(begin_all(&mut line), [1]);
}

#[test]
fn b2_barriers_hold_back_and_are_held_back() {
    let mut line = Line::new(false, false);
    push(&mut line, task(), 0);
    push(&mut line, task(), 1);
    push(&mut line, Command::Barrier, 0);
    push(&mut line, task(), 0);
    push(&mut line, task(), 1);
    push(&mut line, Command::Barrier, 0);
    push(&mut line, Command::Barrier, 0);
    push(&mut line, task(), 0);
    assert_eq!(begin_all(&mut line), [1]);
    finish(&mut line, 1);
    line.unblock(5, 1, None);
    assert_eq!(begin_all(&mut line), []);
    line.unblock(2, 1, None);
    assert_eq!(begin_all(&mut line), [2]);
    finish(&mut line, 2);
    assert_eq!(begin_all(&mut line), [3]);
    finish(&mut line, 3);
    assert_eq!(begin_all(&mut line), [4, 5]);
    finish(&mut line, 5);
    assert_eq!(line.completed(), 3);
    assert!(line.is_finished(5));
    finish(&mut line, 4);
    for barrier in [6, 7] {
        assert_eq!(begin_all(&mut line), [barrier]);
        finish(&mut line, barrier);
    }
    assert_eq!(begin_all(&mut line), [8]);
    finish(&mut line, 8);
    assert_eq!(line.completed(), 8);
}

#[test]
fn b3_the_first_failure_is_handed_to_who_begins_the_command() {
    let mut line = Line::new(true, false);
    let failures = ["first", "second"].map(|words| Failure::new(FailureKind::Command, "c", words));
    push(&mut line, task(), 3);
    line.unblock(1, 1, None);
    line.unblock(1, 1, Some(&failures[0]));
    line.unblock(1, 1, Some(&failures[1]));
    let begun = begin(&mut line).expect("it is unblocked");
    assert_eq!(begun.failure.as_ref(), Some(&failures[0]));
    line.finish(1, begun.failure, NEVER);
    assert_eq!(line.failure(1), Some(&failures[0]));
    assert_eq!(line.failures(0), [(1, failures[0].clone())]);
    assert_eq!(line.failures(1), []);
}

#[test]
fn what_stands_still_is_given_up() {
    let failure = Failure::new(FailureKind::Lost, "work", "shut down");
    let mut line = Line::new(false, false);
    push(&mut line, Command::Gate(millpond_hal::Gate::new()), 0);
    push(&mut line, task(), 1);
    begin(&mut line).expect("the gate is reached");
    assert!(!line.is_active());
    assert_eq!(line.give_up(&failure), [1]);
    assert!(line.is_active());
    let begun = begin(&mut line).expect("it may start in order to fail");
    assert_eq!(begun.failure, Some(failure));
    // The point it waited for comes after all.
    line.unblock(2, 1, None);
    assert!(begin(&mut line).is_none());
}

#[test]
fn times_are_kept_for_the_latest_commands() {
    let mut line = Line::new(true, true);
    for sequence in 1..=100_000 {
        push(&mut line, task(), 0);
        begin(&mut line);
        assert_eq!(line.times(sequence), None);
        line.finish(sequence, None, || Duration::from_secs(7));
    }
    let times = line.times(100_000).expect("the latest are kept");
    assert_eq!(times.finished, Duration::from_secs(7));
    assert_eq!(line.times(1), None);
}

#[test]
fn queues_that_end_leave_nothing() {
    let executor = Arc::new(Executor::new(Crewing {
        label: "cpu:0".to_owned(),
        threads: 1,
        width: 1,
        cores: 1,
        pinned: rustix::thread::CpuSet::new(),
        last_cache: usize::MAX,
    }));
    let registry = Arc::new(Registry::default());
    let kept = CpuQueue::new(&QueueOptions::default(), &executor, &registry);
    for _ in 0..100_000 {
        drop(CpuQueue::new(
            &QueueOptions::default(),
            &executor,
            &registry,
        ));
    }
    assert_eq!(registry.len(), 1);
    assert!(registry.find(kept.identity()).is_some());
}
