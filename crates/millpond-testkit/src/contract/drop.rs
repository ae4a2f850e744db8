//! Rule B6: a queue that nobody holds any more.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};

use millpond_hal::Device;

use super::raw::Line;

/// B6: commands that were pending at the drop run, in their order.
pub fn a_dropped_queue_finishes_its_commands(device: &Arc<dyn Device>) {
    for gated in [false, true] {
        let line = Line::in_order(device);
        let gate = gated.then(|| line.gate(&[]).0);
        let (ran, runs) = channel();
        for i in 0..100 {
            let ran = ran.clone();
            line.task(&[], move || ran.send(i).map_err(|error| error.to_string()));
        }
        drop((line, ran));
        if let Some(gate) = gate {
            assert!(runs.try_recv().is_err(), "the gate is closed");
            gate.open(Ok(()));
        }
        assert_eq!(
            runs.iter().collect::<Vec<_>>(),
            (0..100).collect::<Vec<_>>()
        );
    }
}

/// B6: a point outlives its queue, and others may still come after it.
pub fn a_dropped_queue_still_passes_its_gate_on(device: &Arc<dyn Device>) {
    let [first, second] = [Line::in_order(device), Line::in_order(device)];
    let (gate, held) = first.gate(&[]);
    let early = second.run(&[held], || ());
    drop(first);
    let late = second.run(&[held], || ());
    assert!(!second.reached(early));
    gate.open(Ok(()));
    assert_eq!(second.outcome(early), Ok(()));
    assert_eq!(second.outcome(late), Ok(()));
    let later_still = second.run(&[held], || ());
    assert_eq!(second.outcome(later_still), Ok(()));
}

/// A queue costs nothing that stays.
pub fn an_unused_queue_can_be_dropped(device: &Arc<dyn Device>) {
    for _ in 0..1000 {
        drop(Line::in_order(device));
    }
}

/// The last handle may go away on whatever thread runs the queue.
pub fn a_queue_can_be_dropped_by_its_own_task(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let (gate, _) = line.gate(&[]);
    let kept = Arc::new(Mutex::new(None));
    let inside = Arc::clone(&kept);
    line.run(&[], move || {
        inside.lock().unwrap_or_else(PoisonError::into_inner).take();
    });
    let (ran, runs) = channel();
    line.task(&[], move || ran.send(()).map_err(|error| error.to_string()));
    *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
    gate.open(Ok(()));
    assert_eq!(runs.iter().count(), 1);
}
