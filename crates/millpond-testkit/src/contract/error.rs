//! Failures: whom they reach, and that they are kept.

use std::sync::Arc;

use millpond_hal::{Device, FailureKind, Submission};

use super::Log;
use super::raw::{Line, named_task};

/// B3: along `after` points, over queues, and without running anything on the way.
pub fn a_failure_reaches_all_that_come_after_it(device: &Arc<dyn Device>) {
    let [first, second] = [Line::in_order(device), Line::in_order(device)];
    let log = Log::default();
    let (gate, held) = first.gate(&[]);
    let root = first.task(&[held], || Err("root".to_owned()));
    let child = second.run(&[root], log.writer(1));
    let grandchild = first.run(&[held, child], log.writer(2));
    let (never_opened, barred) = first.gate(&[grandchild]);
    gate.open(Ok(()));
    let failure = first.failure(root);
    assert_eq!(second.failure(child), failure);
    assert_eq!(first.failure(grandchild), failure);
    assert_eq!(first.failure(barred), failure);
    assert!(!never_opened.is_open());
    assert_eq!(log.entries(), [], "no dependent may run");
}

/// B3: the same where the failure is old when the dependent is submitted.
pub fn a_failure_before_submission_counts_too(device: &Arc<dyn Device>) {
    let [first, second] = [Line::in_order(device), Line::in_order(device)];
    let root = first.run(&[], || panic!("root"));
    let failure = first.failure(root);
    for line in [&first, &second] {
        let log = Log::default();
        let dependent = line.run(&[root], log.writer(0));
        assert_eq!(line.failure(dependent), failure);
        assert_eq!(log.entries(), []);
    }
}

/// B3, last sentence.
pub fn order_alone_passes_no_failure_on(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let bad = line.task(&[], || Err("on purpose".to_owned()));
    let good = line.run(&[], || ());
    assert_eq!(line.outcome(good), Ok(()));
    assert_eq!(line.failure(bad).kind(), FailureKind::Command);
}

/// B3: order by `behind` points holds, and passes no failure on either.
pub fn behind_points_pass_no_failure_on(device: &Arc<dyn Device>) {
    let [first, second] = [Line::in_order(device), Line::in_order(device)];
    let log = Log::default();
    let (gate, held) = first.gate(&[]);
    let root_log = log.clone();
    let root = first.task(&[held], move || {
        root_log.push(0);
        Err("on purpose".to_owned())
    });
    let behind = second.run_behind(&[root], log.writer(1));
    assert!(!second.reached(behind));
    gate.open(Ok(()));
    assert_eq!(second.outcome(behind), Ok(()));
    assert_eq!(log.entries(), [0, 1]);
    first.failure(root);
    let late = second.run_behind(&[root], || ());
    assert_eq!(second.outcome(late), Ok(()));
}

/// B3: a barrier orders, it depends on nothing.
pub fn a_barrier_passes_no_failure_on(device: &Arc<dyn Device>) {
    let lines = [Some(Line::in_order(device)), Line::out_of_order(device)];
    for line in lines.iter().flatten() {
        line.task(&[], || Err("on purpose".to_owned()));
        assert_eq!(line.outcome(line.barrier(&[])), Ok(()));
        assert_eq!(line.outcome(line.run(&[], || ())), Ok(()));
    }
}

/// B4: a failed command counts as finished, and is counted when its completion is seen.
pub fn failures_are_counted_and_finished(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let progress = line.queue().progress();
    for round in 1..=50 {
        let root = line.task(&[], || Err("on purpose".to_owned()));
        let dependent = line.run(&[root], || ());
        line.run(&[], || ());
        line.failure(dependent);
        assert!(progress.failed() >= 2 * round);
        assert!(progress.completed() >= dependent.sequence);
    }
    line.wait(line.barrier(&[]));
    assert_eq!(progress.failed(), 100);
    assert_eq!(progress.completed(), 151);
}

/// An outcome stays what it was for as long as the queue lives.
pub fn failures_are_remembered(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let bad = line.task(&[], || Err("long ago".to_owned()));
    for _ in 0..5000 {
        line.run(&[], || ());
    }
    line.wait(line.barrier(&[]));
    assert_eq!(line.failure(bad).reason(), "long ago");
}

/// `failures` lists them in the order in which they happened, and can be read on from anywhere.
pub fn failures_are_listed_in_order(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    assert_eq!(line.queue().failures(0), []);
    let mut expected = Vec::new();
    for i in 0..5 {
        line.run(&[], || ());
        let bad = line.task(&[], move || Err(format!("number {i}")));
        expected.push((bad.sequence, line.failure(bad)));
    }
    for skip in [0, 3, 5, 7] {
        let rest = expected.get(skip..).unwrap_or_default();
        assert_eq!(line.queue().failures(skip), rest, "from {skip}");
    }
}

/// The source line travels with the failure.
pub fn a_failure_names_its_origin(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let command = named_task("with origin", || Err("on purpose".to_owned()));
    let point = line
        .submit(Submission {
            origin: Some(Arc::from("model.py:17")),
            ..Submission::new(command)
        })
        .expect("a task is a command of every backend");
    let failure = line.failure(point);
    assert_eq!(failure.origin(), Some("model.py:17"));
    assert_eq!(failure.command(), "host task with origin");
}
