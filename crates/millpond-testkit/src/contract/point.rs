//! Points: polling, waiting, callbacks, times.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use millpond_hal::{Device, QueueOptions, Wait};

use super::Log;
use super::raw::Line;

/// Points of different queues differ.
pub fn queues_have_identities_of_their_own(device: &Arc<dyn Device>) {
    let [first, second] = [Line::in_order(device), Line::in_order(device)];
    assert_ne!(first.queue().id(), second.queue().id());
    assert_ne!(first.barrier(&[]), second.barrier(&[]));
}

/// The place before the first command, on a new queue and behind a gate.
pub fn sequence_zero_is_always_reached(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let zero = || {
        let queue = line.queue();
        assert!(queue.reached(0));
        assert_eq!(queue.outcome(0), Some(Ok(())));
        assert_eq!(queue.wait(0, None), Wait::Reached);
    };
    zero();
    let (gate, _) = line.gate(&[]);
    zero();
    gate.open(Ok(()));
}

/// `reached` and `outcome` change together, and not before the command has finished.
pub fn an_outcome_is_there_when_the_point_is_reached(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let (gate, held) = line.gate(&[]);
    let failing = line.task(&[], || Err("on purpose".to_owned()));
    for point in [held, failing] {
        assert!(!line.reached(point));
        assert_eq!(line.queue().outcome(point.sequence), None);
    }
    gate.open(Ok(()));
    assert_eq!(line.outcome(held), Ok(()));
    assert_eq!(line.failure(failing).reason(), "on purpose");
    assert!(line.reached(failing));
}

/// A wait behind a closed gate ends, and the point can still be waited for.
pub fn a_wait_gives_up_at_its_deadline(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let (gate, _) = line.gate(&[]);
    let held = line.run(&[], || ());
    for patience in [0, 5] {
        let deadline = Instant::now() + Duration::from_millis(patience);
        assert_eq!(
            line.queue().wait(held.sequence, Some(deadline)),
            Wait::TimedOut
        );
    }
    gate.open(Ok(()));
    line.wait(held);
}

/// A reached point is reached whatever the clock says.
pub fn a_passed_deadline_does_not_hide_a_reached_point(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let point = line.run(&[], || ());
    line.wait(point);
    let now = Instant::now();
    assert_eq!(line.queue().wait(point.sequence, Some(now)), Wait::Reached);
}

/// For finished commands, failed ones too, the callback has run when the call returns.
pub fn callbacks_run_at_once_for_reached_points(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let log = Log::default();
    let good = line.run(&[], || ());
    let bad = line.task(&[], || Err("on purpose".to_owned()));
    line.wait(good);
    line.wait(bad);
    for point in [good, bad] {
        let write = log.writer(point.sequence as usize);
        line.queue().on_reached(point.sequence, Box::new(write));
    }
    assert_eq!(log.entries(), [1, 2]);
}

/// For pending commands every callback runs once, when its own point is reached.
pub fn callbacks_run_later_for_others(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let (gate, _) = line.gate(&[]);
    let (called, calls) = channel();
    for point in [
        line.run(&[], || ()),
        line.task(&[], || Err("on purpose".to_owned())),
    ] {
        for _ in 0..2 {
            let (called, queue) = (called.clone(), Arc::downgrade(line.queue()));
            line.queue().on_reached(
                point.sequence,
                Box::new(move || {
                    let reached = queue
                        .upgrade()
                        .is_some_and(|queue| queue.reached(point.sequence));
                    // The receiver outlives the callbacks unless the test has failed already.
                    let _ = called.send((point.sequence, reached));
                }),
            );
        }
    }
    drop(called);
    assert!(calls.try_recv().is_err(), "the gate is closed");
    gate.open(Ok(()));
    let mut calls: Vec<_> = calls.iter().collect();
    calls.sort_unstable();
    assert_eq!(calls, [(2, true), (2, true), (3, true), (3, true)]);
}

/// B5: no lock is held while a callback runs.
pub fn b5_callbacks_may_use_the_queue(device: &Arc<dyn Device>) {
    let line = Arc::new(Line::in_order(device));
    let (gate, held) = line.gate(&[]);
    let (called, calls) = channel();
    let inside = Arc::clone(&line);
    line.queue().on_reached(
        held.sequence,
        Box::new(move || {
            let next = inside.run(&[held], || ());
            inside.queue().on_reached(
                next.sequence,
                Box::new(move || {
                    // As above: a failed test may have dropped the receiver.
                    let _ = called.send(next);
                }),
            );
        }),
    );
    gate.open(Ok(()));
    let next = calls.recv().expect("the inner callback runs");
    assert_eq!(line.outcome(next), Ok(()));
}

/// Where times are kept they are in order, within a command and along an in-order queue.
pub fn times_are_in_order(device: &Arc<dyn Device>) {
    let options = QueueOptions {
        profiling: true,
        ..QueueOptions::default()
    };
    let Ok(line) = Line::new(device, &options) else {
        return;
    };
    let points = [(); 5].map(|()| line.run(&[], || ()));
    let last = line.barrier(&[]);
    line.wait(last);
    let times: Vec<_> = points
        .iter()
        .filter_map(|point| line.queue().times(point.sequence))
        .collect();
    for time in &times {
        assert!(
            time.submitted <= time.started && time.started <= time.finished,
            "{time:?}"
        );
    }
    for pair in times.windows(2) {
        assert!(pair[0].finished <= pair[1].started, "{pair:?}");
    }
    assert_eq!(Line::in_order(device).queue().times(1), None);
}
