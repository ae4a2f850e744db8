//! Devices that are shut down.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use millpond_hal::{Device, DeviceError, QueueOptions, Submission};
use millpond_types::MemoryKind;

use super::raw::{Line, Memory, named_task};

/// Work that was submitted is done when the call returns, and can be asked for.
pub fn submitted_work_is_done_before(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let runs = Arc::new(AtomicUsize::new(0));
    let points = [(); 100].map(|()| {
        let runs = Arc::clone(&runs);
        line.run(&[], move || {
            runs.fetch_add(1, Ordering::Relaxed);
        })
    });
    device.shutdown();
    assert_eq!(runs.load(Ordering::Relaxed), 100);
    for point in points {
        assert_eq!(line.outcome(point), Ok(()));
    }
}

/// Memory, queues and submissions are refused; memory can still be given back.
pub fn later_calls_answer_lost(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let memory = Memory::new(device, MemoryKind::Device, 100).expect("a little memory");
    device.shutdown();
    let refused = [
        Memory::new(device, MemoryKind::Device, 100).map(|_| ()),
        Line::new(device, &QueueOptions::default()).map(|_| ()),
        line.submit(Submission::new(named_task("late", || Ok(()))))
            .map(|_| ()),
    ];
    for answer in refused {
        assert!(
            matches!(answer, Err(DeviceError::Lost { .. })),
            "{answer:?}"
        );
    }
    assert!(line.queue().reached(0));
    drop(memory);
}

/// As the interface says.
pub fn shutting_down_twice_changes_nothing(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let point = line.run(&[], || ());
    device.shutdown();
    device.shutdown();
    assert_eq!(line.outcome(point), Ok(()));
}
