//! The end of devices, queues and gates.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::{
    Device, DeviceError, Driver, FailureKind, Gate, Submission, Wait, device_label,
};
use millpond_testkit::contract::raw::{Line, named_task};
use millpond_testkit::watchdog::watched;

/// A device with a number of its own, so that its threads can be told from those of other tests.
fn device(index: usize) -> Arc<dyn Device> {
    let driver = CpuDriver::new(CpuConfig {
        devices: Some(vec![vec![0]; index + 1]),
        ..CpuConfig::default()
    });
    driver.devices().expect("core 0 is there").remove(index)
}

/// How many threads of this process have the name of a device's workers.
fn threads_of(index: usize) -> usize {
    let name = format!("millpond {}", device_label("cpu", index, index + 1));
    let tasks = std::fs::read_dir("/proc/self/task").expect("the process has threads");
    tasks
        .filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
        .filter(|comm| comm.trim() == name)
        .count()
}

/// The system lists a thread a moment longer than it runs.
fn await_end_of_threads(index: usize) {
    while threads_of(index) > 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn closed_gates_and_what_waits_for_them_are_lost() {
    watched(|| {
        let device = device(1);
        let line = Line::in_order(&device);
        let elsewhere = Line::in_order(&self::device(2));
        let (gate, held) = line.gate(&[]);
        let behind = line.run(&[], || ());
        let (_foreign, foreign) = elsewhere.gate(&[]);
        let dependent = line.run(&[held], || ());
        device.shutdown();
        assert_eq!(line.failure(held).kind(), FailureKind::Lost);
        assert_eq!(line.outcome(behind), Ok(()));
        assert_eq!(line.failure(dependent).kind(), FailureKind::Lost);
        assert!(!elsewhere.reached(foreign));
        // Too late, and harmless.
        gate.open(Ok(()));
        assert_eq!(line.failure(held).kind(), FailureKind::Lost);
        await_end_of_threads(1);
    });
}

#[test]
fn a_device_that_is_dropped_ends_its_threads() {
    watched(|| {
        let device = device(3);
        let line = Line::in_order(&device);
        line.wait(line.run(&[], || ()));
        // Nobody waits for this one.
        let (ran, has_run) = channel::<()>();
        line.run(&[], move || drop(ran));
        drop((line, device));
        assert!(has_run.recv().is_err());
        await_end_of_threads(3);
    });
}

#[test]
fn a_task_that_shuts_its_device_down_does_not_wait_for_itself() {
    watched(|| {
        let device = device(4);
        let line = Line::in_order(&device);
        let inside = Arc::clone(&device);
        let point = line.run(&[], move || inside.shutdown());
        while !line.reached(point) {
            std::thread::yield_now();
        }
        let late = line.submit(Submission::new(named_task("late", || Ok(()))));
        assert!(matches!(late, Err(DeviceError::Lost { .. })), "{late:?}");
        device.shutdown();
        await_end_of_threads(4);
    });
}

#[test]
fn nobody_waits_for_what_a_lost_device_will_never_get() {
    watched(|| {
        let device = device(5);
        let line = Line::in_order(&device);
        let (sender, receiver) = channel();
        let called = sender.clone();
        let callback = move || called.send(()).expect("the test waits");
        line.queue().on_reached(7, Box::new(callback));
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| line.queue().wait(7, None));
            std::thread::sleep(Duration::from_millis(5));
            device.shutdown();
            assert_eq!(waiting.join().unwrap(), Wait::TimedOut);
        });
        receiver.recv().expect("the callback was let go");
        let callback = move || sender.send(()).expect("the test waits");
        line.queue().on_reached(7, Box::new(callback));
        receiver.recv().expect("so was the late one");
        assert!(!line.queue().reached(7));
    });
}

#[test]
fn a_gate_that_nobody_can_open_fails() {
    watched(|| {
        let line = Line::in_order(&device(6));
        let gate = Gate::new();
        let command = millpond_hal::Command::Gate(gate.clone());
        let point = line.submit(Submission::new(command)).expect("a gate");
        let soon = Instant::now() + Duration::from_millis(5);
        assert_eq!(
            line.queue().wait(point.sequence, Some(soon)),
            Wait::TimedOut
        );
        drop(gate);
        let failure = line.failure(point);
        assert_eq!(failure.kind(), FailureKind::Lost);
        assert!(failure.reason().contains("dropped"), "{failure}");
    });
}
