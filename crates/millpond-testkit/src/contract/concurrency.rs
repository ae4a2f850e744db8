//! Many threads, queues and commands at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use millpond_hal::Device;

use super::Log;
use super::raw::Line;

/// Nothing is lost where each thread has a queue.
pub fn queues_of_many_threads_do_all_their_work(device: &Arc<dyn Device>) {
    let total = Arc::new(AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let line = Line::in_order(device);
                for _ in 0..500 {
                    let total = Arc::clone(&total);
                    line.run(&[], move || {
                        total.fetch_add(1, Ordering::Relaxed);
                    });
                }
                line.wait(line.barrier(&[]));
            });
        }
    });
    assert_eq!(total.load(Ordering::Relaxed), 2000);
}

/// Points lead round and round through four queues.
pub fn a_chain_through_queues_keeps_its_order(device: &Arc<dyn Device>) {
    let lines = [(); 4].map(|()| Line::in_order(device));
    let log = Log::default();
    let mut last = lines[3].barrier(&[]);
    for i in 0..1000 {
        last = lines[i % 4].run(&[last], log.writer(i));
    }
    lines[3].wait(last);
    assert_eq!(log.entries(), (0..1000).collect::<Vec<_>>());
}

/// All are woken.
pub fn many_threads_wait_for_one_point(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let (gate, held) = line.gate(&[]);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| line.wait(held));
        }
        gate.open(Ok(()));
    });
    assert!(line.reached(held));
}

/// A hundred thousand commands leave nothing behind; the last may go a moment later.
pub fn finished_commands_are_dropped(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let held = Arc::new(());
    let mut last = line.barrier(&[]);
    for i in 0..100_000 {
        let held = Arc::clone(&held);
        last = line.run(&[], move || std::mem::drop(held));
        if i % 1000 == 999 {
            line.wait(last);
        }
    }
    line.wait(last);
    while Arc::strong_count(&held) > 1 {
        thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(line.queue().progress().completed(), last.sequence);
}

/// A callback that is registered while its command finishes runs all the same.
pub fn callbacks_race_completion_without_being_lost(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let (called, calls) = channel();
    for _ in 0..2000 {
        let point = line.run(&[], || ());
        let called = called.clone();
        line.queue().on_reached(
            point.sequence,
            Box::new(move || {
                // The receiver outlives the callbacks unless the test has failed already.
                let _ = called.send(point.sequence);
            }),
        );
    }
    std::mem::drop(called);
    let mut calls: Vec<_> = calls.iter().collect();
    calls.sort_unstable();
    assert_eq!(calls, (1..=2000).collect::<Vec<_>>());
}
