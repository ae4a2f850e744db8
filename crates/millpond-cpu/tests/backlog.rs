//! Constant time and constant stack: backlogs and chains that are far longer than any other
//! would bear.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::{Command, Device, Driver, Failure, FailureKind, Gate, Submission};
use millpond_testkit::contract::raw::Line;
use millpond_testkit::watchdog::watched;

const MANY: usize = 1_000_000;

fn device() -> Arc<dyn Device> {
    let driver = CpuDriver::new(CpuConfig::default());
    driver.devices().expect("the host is there").remove(0)
}

#[test]
fn a_million_commands_wait_behind_one_gate() {
    watched(|| {
        let line = Line::in_order(&device());
        let (gate, _) = line.gate(&[]);
        let count = Arc::new(AtomicUsize::new(0));
        let mut last = None;
        for _ in 0..MANY {
            let count = Arc::clone(&count);
            last = Some(line.run(&[], move || {
                count.fetch_add(1, Ordering::Relaxed);
            }));
        }
        assert_eq!(line.queue().progress().completed(), 0);
        gate.open(Ok(()));
        line.wait(last.expect("many is not zero"));
        assert_eq!(count.load(Ordering::Relaxed), MANY);
    });
}

#[test]
fn a_million_commands_come_after_one_point() {
    watched(|| {
        let device = device();
        let first = Line::in_order(&device);
        let second = Line::out_of_order(&device).expect("the host offers out-of-order queues");
        let (gate, held) = first.gate(&[]);
        for _ in 0..MANY {
            second.run(&[held], || ());
        }
        let barrier = second.barrier(&[]);
        gate.open(Ok(()));
        second.wait(barrier);
        assert_eq!(second.queue().progress().completed(), barrier.sequence);
    });
}

#[test]
fn a_chain_of_a_million_points_through_two_queues() {
    watched(|| {
        let device = device();
        let lines = [Line::in_order(&device), Line::in_order(&device)];
        let (gate, mut last) = lines[1].gate(&[]);
        for index in 0..MANY {
            last = lines[index % 2].run(&[last], || ());
        }
        gate.open(Ok(()));
        lines[1].wait(last);
    });
}

#[test]
fn b3_a_failure_goes_down_a_chain_of_a_million() {
    watched(|| {
        let line = Line::out_of_order(&device()).expect("the host offers out-of-order queues");
        let (gate, mut last) = line.gate(&[]);
        for _ in 0..MANY {
            last = line.run(&[last], || panic!("nothing in the chain may run"));
        }
        let failure = Failure::new(FailureKind::Command, "foreign work", "it broke");
        gate.open(Err(failure.clone()));
        assert_eq!(line.failure(last), failure);
        assert_eq!(line.queue().progress().failed(), last.sequence);
    });
}

#[test]
fn callbacks_that_open_gates_do_not_nest() {
    watched(|| {
        let line = Line::out_of_order(&device()).expect("the host offers out-of-order queues");
        let gates: Vec<Gate> = (0..=MANY / 5).map(|_| Gate::new()).collect();
        let points = gates.iter().map(|gate| {
            let gate = Command::Gate(gate.clone());
            line.submit(Submission::new(gate)).expect("a gate")
        });
        let points: Vec<_> = points.collect();
        for (point, next) in points.iter().zip(&gates[1..]) {
            let next = next.clone();
            let open = move || {
                next.open(Ok(()));
            };
            line.queue().on_reached(point.sequence, Box::new(open));
        }
        // Once all are reached, the first opens the rest on this very thread.
        line.wait(line.run(&[], || ()));
        gates[0].open(Ok(()));
        line.wait(*points.last().expect("there are gates"));
    });
}
