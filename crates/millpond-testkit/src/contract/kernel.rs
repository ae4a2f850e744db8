//! Kernels, which every device carries out, if not by itself then by the host.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use millpond_hal::{Device, FailureKind};

use super::raw::{Increment, Line, Memory, Trouble};
use super::watch::{WELL, watched};

/// An extent that any backend splits among its threads.
const LARGE: usize = 1_000_000;

/// No index is lost or repeated, around the grain and far beyond it.
pub fn every_index_runs_exactly_once(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    for grain in [1, 64, 1000] {
        for extent in [0, 1, grain - 1, grain, grain + 1, 7 * grain + 3, LARGE] {
            let memory = Memory::holding(device, &vec![0; extent]);
            let kernel = Arc::new(Increment::new(extent, grain));
            let point = line.launch(&[], &kernel, &memory.all());
            assert_eq!(line.outcome(point), Ok(()));
            assert_eq!(kernel.ran(), extent, "extent {extent} by {grain}");
            let wrong = memory.bytes()[..extent].iter().position(|&byte| byte != 1);
            assert_eq!(wrong, None, "a byte of extent {extent} by {grain}");
        }
    }
}

/// `finish` comes once, last, and also where there is nothing to run.
pub fn a_kernel_is_finished_once_after_all_pieces(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let memory = Memory::holding(device, &vec![0; LARGE]);
    for extent in [0, 1, LARGE] {
        let kernel = Arc::new(Increment::new(extent, 100));
        line.wait(line.launch(&[], &kernel, &memory.all()));
        assert_eq!(kernel.finished(), 1, "extent {extent}");
        assert_eq!(kernel.ran_at_finish(), extent);
    }
}

/// B2: launches on the same bytes neither overlap nor overtake copies.
pub fn launches_take_effect_in_sequence_order(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let memory = Memory::holding(device, &vec![0; 100_000]);
    let kernel = Arc::new(Increment::new(100_000, 500));
    let results: Vec<Memory> = (0..10)
        .map(|_| {
            let result = Memory::holding(device, &vec![0; 100_000]);
            line.launch(&[], &kernel, &memory.all());
            line.copy(&[], &memory.all(), &result.all());
            result
        })
        .collect();
    for (before, result) in results.iter().enumerate() {
        let expected = before as u8 + 1;
        let wrong = result.bytes().iter().position(|&byte| byte != expected);
        assert_eq!(wrong, None, "a byte of launch {expected}");
    }
}

/// Launches that share the device's threads don't share their indices.
pub fn launches_of_two_queues_are_both_exact(device: &Arc<dyn Device>) {
    let first = Line::in_order(device);
    let second = Line::in_order(device);
    let memories = [&first, &second].map(|line| {
        let memory = Memory::holding(device, &vec![0; LARGE / 4]);
        let kernel = Arc::new(Increment::new(LARGE / 4, 100));
        for _ in 0..4 {
            line.launch(&[], &kernel, &memory.all());
        }
        memory
    });
    for memory in &memories {
        assert!(memory.bytes().iter().all(|&byte| byte == 4));
    }
}

/// The failure carries the kernel's description and words, and the queue goes on.
pub fn an_error_of_a_kernel_is_its_failure(device: &Arc<dyn Device>) {
    check_trouble(
        device,
        Trouble::Error(777),
        FailureKind::Command,
        "error at index 777",
    );
}

/// A kernel says what sort of failure its errors are; a panic of it is a panic all the same.
pub fn a_kernel_says_what_its_errors_are(device: &Arc<dyn Device>) {
    check_trouble(
        device,
        Trouble::Numeric(777),
        FailureKind::Numeric,
        "error at index 777",
    );
}

/// A panic on a thread of the backend stops the launch, not the backend.
pub fn a_panic_of_a_kernel_is_its_failure(device: &Arc<dyn Device>) {
    check_trouble(
        device,
        Trouble::Panic(777),
        FailureKind::Panic,
        "panic at index 777",
    );
}

fn check_trouble(device: &Arc<dyn Device>, trouble: Trouble, kind: FailureKind, words: &str) {
    let line = Line::in_order(device);
    for extent in [778, LARGE] {
        let memory = Memory::holding(device, &vec![0; extent]);
        let kernel = Arc::new(Increment::new(extent, 100).with(trouble));
        let failure = line.failure(line.launch(&[], &kernel, &memory.all()));
        assert_eq!(failure.kind(), kind);
        assert_eq!(failure.command(), format!("increment of {extent} bytes"));
        assert!(failure.reason().contains(words), "{failure}");
        assert_eq!(kernel.finished(), 0, "a failed kernel isn't finished");
        let good = Arc::new(Increment::new(extent, 100));
        let point = line.launch(&[], &good, &memory.all());
        assert_eq!(line.outcome(point), Ok(()));
    }
}

/// A launch that has finished keeps no handle of its kernel; the last may go a moment later.
pub fn finished_launches_drop_their_kernel(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let memory = Memory::holding(device, &[0; 1000]);
    let kernel = Arc::new(Increment::new(1000, 10));
    for _ in 0..1000 {
        line.launch(&[], &kernel, &memory.all());
    }
    line.wait(line.barrier(&[]));
    while Arc::strong_count(&kernel) > 1 {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Whether one thread carries them out or several, and where there is nothing to do.
pub fn launches_can_be_watched(device: &Arc<dyn Device>) {
    let line = Line::in_order(device);
    let memory = Memory::holding(device, &vec![0; LARGE]);
    for extent in [0, 1, LARGE] {
        let kernel = Arc::new(Increment::new(extent, 100));
        let witness = watched(&line);
        line.wait(line.launch(&[], &kernel, &memory.all()));
        assert_eq!(witness.all(), WELL, "extent {extent}");
    }
}
