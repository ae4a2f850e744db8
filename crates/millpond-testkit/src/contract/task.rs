//! Host tasks.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use millpond_hal::{Device, FailureKind};

use super::Log;
use super::raw::Line;

/// Neither lost nor repeated, and its captures are dropped.
pub fn a_task_runs_exactly_once(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let runs = Arc::new(AtomicUsize::new(0));
    let points = [(); 100].map(|()| {
        let runs = Arc::clone(&runs);
        line.run(&[], move || {
            runs.fetch_add(1, Ordering::Relaxed);
        })
    });
    for point in points {
        assert_eq!(line.outcome(point), Ok(()));
    }
    assert_eq!(runs.load(Ordering::Relaxed), 100);
}

thread_local! {
    static SUBMITTING: Cell<bool> = const { Cell::new(false) };
}

/// B5: a task runs neither before `submit` has returned on its thread nor anywhere inside it.
pub fn b5_submit_runs_no_task(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let mut points = Vec::new();
    for _ in 0..200 {
        SUBMITTING.set(true);
        points.push(line.task(&[], || {
            if SUBMITTING.get() {
                Err("ran inside of submit".to_owned())
            } else {
                Ok(())
            }
        }));
        SUBMITTING.set(false);
    }
    for point in points {
        assert_eq!(line.outcome(point), Ok(()));
    }
}

/// The failure carries the task's name and words.
pub fn an_error_of_a_task_is_its_failure(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let failure = line.failure(line.task(&[], || Err("no such luck".to_owned())));
    assert_eq!(failure.kind(), FailureKind::Command);
    assert_eq!(failure.command(), "host task test");
    assert_eq!(failure.reason(), "no such luck");
}

/// A panic stops the command, not the backend, and its message is kept.
pub fn a_panic_of_a_task_is_its_failure(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    for i in 0..20 {
        let failure = line.failure(line.run(&[], move || panic!("panic number {i}")));
        assert_eq!(failure.kind(), FailureKind::Panic);
        assert_eq!(failure.command(), "host task test");
        let message = format!("panic number {i}");
        assert!(failure.reason().contains(&message), "{failure}");
    }
    assert_eq!(line.outcome(line.run(&[], || ())), Ok(()));
}

/// B5: no lock is held while a task runs.
pub fn b5_tasks_may_use_the_queue(device: &Arc<dyn Device>) {
    let line = Arc::new(Line::in_order(device));
    let log = Log::default();
    let (inside, inner) = (Arc::clone(&line), log.clone());
    let first = line.run(&[], move || {
        inner.push(0);
        let next = inside.run(&[], inner.writer(1));
        assert!(!inside.reached(next), "a later command overtook");
    });
    assert_eq!(line.outcome(first), Ok(()));
    line.wait(line.barrier(&[]));
    assert_eq!(log.entries(), [0, 1]);
}
