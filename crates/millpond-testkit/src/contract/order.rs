//! Rules B1 to B4: what happens before what.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use millpond_hal::Device;

use super::Log;
use super::raw::Line;

/// B1, whatever the command.
pub fn b1_sequence_numbers_count_from_one(device: &Arc<dyn Device>) {
    let lines = [Some(Line::in_order(device)), Line::out_of_order(device)];
    for line in lines.iter().flatten() {
        for sequence in (1..100).step_by(3) {
            let (gate, first) = line.gate(&[]);
            gate.open(Ok(()));
            let second = line.run(&[], || ());
            let third = line.barrier(&[]);
            let numbers = [first, second, third].map(|point| point.sequence);
            assert_eq!(numbers, [sequence, sequence + 1, sequence + 2]);
            assert_eq!(first.queue, line.queue().id());
        }
    }
}

/// B2, first sentence.
pub fn b2_in_order_commands_take_effect_in_sequence_order(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let log = Log::default();
    let mut last = line.barrier(&[]);
    for i in 0..1000 {
        last = line.run(&[], log.writer(i));
    }
    line.wait(last);
    assert_eq!(log.entries(), (0..1000).collect::<Vec<_>>());
}

/// B2 where several threads submit, one at a time (A4).
pub fn b2_sequence_order_holds_across_threads(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let log = Log::default();
    let submitted = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for thread in 0..6 {
            let (line, log, submitted) = (&line, &log, &submitted);
            scope.spawn(move || {
                for i in 0..150 {
                    let entry = thread * 1000 + i;
                    let mut submitted = submitted.lock().unwrap_or_else(PoisonError::into_inner);
                    line.run(&[], log.writer(entry));
                    submitted.push(entry);
                }
            });
        }
    });
    line.wait(line.barrier(&[]));
    let submitted = submitted
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    assert_eq!(log.entries(), submitted);
}

/// B2: nothing but points and barriers orders an out-of-order queue.
pub fn b2_out_of_order_commands_overtake(device: &Arc<dyn Device>) {
    let Some(line) = Line::out_of_order(device) else {
        return;
    };
    let (gate, first) = line.gate(&[]);
    let second = line.run(&[], || ());
    line.wait(second);
    assert!(!line.reached(first));
    gate.open(Ok(()));
    line.wait(first);
}

/// B2: a diamond of points.
pub fn b2_out_of_order_commands_start_after_their_points(device: &Arc<dyn Device>) {
    let Some(line) = Line::out_of_order(device) else {
        return;
    };
    let log = Log::default();
    let (gate, top) = line.gate(&[]);
    let left = line.run(&[top], log.writer(1));
    let right = line.run(&[top], log.writer(1));
    let bottom = line.run(&[left, right], log.writer(2));
    let free = line.run(&[], log.writer(0));
    line.wait(free);
    assert_eq!(log.entries(), [0]);
    gate.open(Ok(()));
    line.wait(bottom);
    assert_eq!(log.entries(), [0, 1, 1, 2]);
}

/// B2, last sentence.
pub fn b2_a_barrier_separates_before_from_after(device: &Arc<dyn Device>) {
    let Some(line) = Line::out_of_order(device) else {
        return;
    };
    let log = Log::default();
    let (gate, _) = line.gate(&[]);
    let before = line.run(&[], log.writer(0));
    let barrier = line.barrier(&[]);
    let after: Vec<_> = (0..20).map(|_| line.run(&[], log.writer(1))).collect();
    line.wait(before);
    assert!(!line.reached(barrier), "the gate is before the barrier");
    assert!(!after.iter().any(|&point| line.reached(point)));
    assert_eq!(log.entries(), [0]);
    gate.open(Ok(()));
    for point in after {
        line.wait(point);
    }
    assert!(line.reached(barrier));
    assert_eq!(log.entries().len(), 21);
}

/// B3 and A3: `after` orders across queues.
pub fn b3_points_of_other_queues_are_waited_for(device: &Arc<dyn Device>) {
    let [first, second] = [Line::in_order(device), Line::in_order(device)];
    let log = Log::default();
    let (gate, _) = first.gate(&[]);
    let earlier = first.run(&[], log.writer(0));
    let free = second.run(&[], || ());
    let later = second.run(&[earlier], log.writer(1));
    second.wait(free);
    assert!(!second.reached(later));
    gate.open(Ok(()));
    second.wait(later);
    assert!(first.reached(earlier));
    assert_eq!(log.entries(), [0, 1]);
}

/// B4: a prefix, even where later commands have finished.
pub fn b4_completed_is_the_longest_finished_prefix(device: &Arc<dyn Device>) {
    let Some(line) = Line::out_of_order(device) else {
        return;
    };
    let progress = line.queue().progress();
    line.wait(line.run(&[], || ()));
    assert_eq!(progress.completed(), 1);
    let (gate, held) = line.gate(&[]);
    let overtaking = line.run(&[], || ());
    line.wait(overtaking);
    assert_eq!(progress.completed(), 1);
    let (second_gate, _) = line.gate(&[]);
    gate.open(Ok(()));
    line.wait(held);
    assert_eq!(progress.completed(), 3);
    second_gate.open(Ok(()));
    line.wait(line.barrier(&[]));
    assert_eq!(progress.completed(), 5);
}
