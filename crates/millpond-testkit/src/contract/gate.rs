//! Gates in queues.

use std::sync::Arc;

use millpond_hal::{Command, Device, Failure, FailureKind, Gate, Submission};

use super::Log;
use super::raw::Line;

/// Nothing behind it runs, everything before it does.
pub fn a_closed_gate_holds_its_queue(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let log = Log::default();
    let before = line.run(&[], log.writer(0));
    let (gate, held) = line.gate(&[]);
    let behind = line.run(&[], log.writer(1));
    line.wait(before);
    assert!(!line.reached(held));
    assert!(!line.reached(behind));
    assert_eq!(log.entries(), [0]);
    gate.open(Ok(()));
    line.wait(behind);
    assert_eq!(line.outcome(held), Ok(()));
    assert_eq!(log.entries(), [0, 1]);
}

/// Opened before it was submitted, or while its turn has not come.
pub fn an_open_gate_lets_pass(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let early = Gate::new();
    early.open(Ok(()));
    let point = line
        .submit(Submission::new(Command::Gate(early)))
        .expect("a gate is a command of every backend");
    assert_eq!(line.outcome(point), Ok(()));

    let (first, _) = line.gate(&[]);
    let (second, behind) = line.gate(&[]);
    second.open(Ok(()));
    assert!(!line.reached(behind));
    first.open(Ok(()));
    assert_eq!(line.outcome(behind), Ok(()));
}

/// The gate's outcome is the command's, and goes on to what comes after it.
pub fn a_gate_passes_its_failure_on(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let failure = Failure::new(FailureKind::Command, "foreign work", "it broke");
    let (gate, held) = line.gate(&[]);
    let dependent = line.run(&[held], || ());
    let behind = line.run(&[], || ());
    gate.open(Err(failure.clone()));
    assert_eq!(line.failure(held), failure);
    assert_eq!(line.failure(dependent), failure);
    assert_eq!(line.outcome(behind), Ok(()));
}

/// More closed gates than any backend has threads, and work still goes on beside them.
pub fn closed_gates_hold_no_threads(device: &Arc<dyn Device>) {
    let held: Vec<_> = (0..200)
        .map(|_| {
            let line = Line::in_order(device);
            let (gate, _) = line.gate(&[]);
            let behind = line.run(&[], || ());
            (line, gate, behind)
        })
        .collect();
    let free = Line::in_order(device);
    assert_eq!(free.outcome(free.run(&[], || ())), Ok(()));
    for (_, gate, _) in &held {
        gate.open(Ok(()));
    }
    for (line, _, behind) in &held {
        assert_eq!(line.outcome(*behind), Ok(()));
    }
}

/// Completion on a thread of the backend, from inside of a command.
pub fn a_gate_may_be_opened_by_a_task(device: &Arc<dyn Device>) {
    let [first, second] = [Line::in_order(device), Line::in_order(device)];
    let (gate, held) = first.gate(&[]);
    let opening = second.run(&[], move || {
        gate.open(Ok(()));
    });
    assert_eq!(second.outcome(opening), Ok(()));
    assert_eq!(first.outcome(held), Ok(()));
}
