//! What threads that wait do meanwhile: enough that nothing starves, and no more.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::{Device, Driver, Gate, Point, Wait};
use millpond_testkit::contract::raw::{Increment, Line, Memory};
use millpond_testkit::watchdog::watched;

/// A device with one worker.
fn device() -> Arc<dyn Device> {
    let driver = CpuDriver::new(CpuConfig {
        threads: Some(1),
        ..CpuConfig::default()
    });
    driver.devices().expect("the host is there").remove(0)
}

/// A task that keeps the only worker until the sender is dropped or used.
fn occupy(device: &Arc<dyn Device>) -> (Line, Point, Sender<()>) {
    let line = Line::in_order(device);
    let (release, released): (_, Receiver<()>) = channel();
    let (started, has_started) = channel();
    let point = line.run(&[], move || {
        let _ = started.send(());
        let _ = released.recv();
    });
    has_started.recv().expect("the task starts");
    (line, point, release)
}

/// A task that tells which thread ran it.
fn tell(line: &Line, after: &[Point]) -> (Point, Arc<OnceLock<ThreadId>>) {
    let told = Arc::new(OnceLock::new());
    let inside = Arc::clone(&told);
    let point = line.run(after, move || {
        inside.get_or_init(|| thread::current().id());
    });
    (point, told)
}

/// Waits for a point while another thread opens a gate, after this one has gone to sleep.
fn wait_while_opening(line: &Line, point: Point, gate: &Gate) {
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(20));
            gate.open(Ok(()));
        });
        line.wait(point);
    });
}

#[test]
fn a_waiting_thread_runs_its_queue_while_all_workers_are_busy() {
    watched(|| {
        let device = device();
        let (_busy, _, _release) = occupy(&device);
        let line = Line::in_order(&device);
        let memory = Memory::holding(&device, &vec![0; 3_000_000]);
        line.fill(&[], &memory.all(), &[7]);
        line.launch(
            &[],
            &Arc::new(Increment::new(3_000_000, 100)),
            &memory.all(),
        );
        let (point, told) = tell(&line, &[]);
        line.wait(point);
        assert_eq!(told.get(), Some(&thread::current().id()));
        assert!(memory.bytes().iter().all(|&byte| byte == 8));
    });
}

#[test]
fn a_waiting_thread_that_sleeps_is_woken_for_work_that_nobody_else_can_do() {
    watched(|| {
        let device = device();
        let (_busy, _, _release) = occupy(&device);
        let line = Line::in_order(&device);
        let (gate, _) = line.gate(&[]);
        let (point, told) = tell(&line, &[]);
        wait_while_opening(&line, point, &gate);
        assert_eq!(told.get(), Some(&thread::current().id()));
    });
}

#[test]
fn a_waiting_thread_begins_no_unrelated_task() {
    watched(|| {
        let device = device();
        let (busy, busy_point, release) = occupy(&device);
        let other = Line::in_order(&device);
        let (other_point, told) = tell(&other, &[]);
        let line = Line::in_order(&device);
        let (gate, held) = line.gate(&[]);
        wait_while_opening(&line, held, &gate);
        assert!(!other.reached(other_point));
        drop(release);
        busy.wait(busy_point);
        while !other.reached(other_point) {
            thread::yield_now();
        }
        assert_ne!(told.get(), Some(&thread::current().id()));
    });
}

#[test]
fn a_wait_with_a_deadline_begins_no_task() {
    watched(|| {
        let device = device();
        let (_busy, _, release) = occupy(&device);
        let line = Line::in_order(&device);
        let (point, told) = tell(&line, &[]);
        for _ in 0..3 {
            let deadline = Instant::now() + Duration::from_millis(10);
            let answer = line.queue().wait(point.sequence, Some(deadline));
            assert_eq!(answer, Wait::TimedOut);
        }
        assert_eq!(told.get(), None);
        drop(release);
        let deadline = Instant::now() + Duration::from_mins(1);
        let answer = line.queue().wait(point.sequence, Some(deadline));
        assert_eq!(answer, Wait::Reached);
        assert_ne!(told.get(), Some(&thread::current().id()));
    });
}

#[test]
fn a_worker_that_waits_in_a_task_runs_what_it_waits_for() {
    watched(|| {
        let device = device();
        let mut line = Line::in_order(&device);
        let (mut last, told) = tell(&line, &[]);
        for _ in 0..20 {
            let outer = Line::in_order(&device);
            last = outer.run(&[], move || line.wait(last));
            line = outer;
        }
        line.wait(last);
        assert!(told.get().is_some());
    });
}

/// What the task waits for comes after a task of a third queue, which no helper may begin: another
/// worker has to.
#[test]
fn a_worker_that_sleeps_in_a_task_is_replaced() {
    watched(|| {
        let device = device();
        let third = Line::in_order(&device);
        let (gate, held) = third.gate(&[]);
        let nested = (0..10).map(|_| {
            let [outer, inner] = [(); 2].map(|()| Line::in_order(&device));
            let (needed, _) = tell(&third, &[]);
            let awaited = inner.run(&[needed], || ());
            let point = outer.run(&[held], move || inner.wait(awaited));
            (outer, point)
        });
        let nested: Vec<_> = nested.collect();
        gate.open(Ok(()));
        for (outer, point) in &nested {
            // Polled, so that no thread helps.
            while !outer.reached(*point) {
                thread::sleep(Duration::from_millis(1));
            }
        }
    });
}
