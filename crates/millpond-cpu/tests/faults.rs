//! Foreign code that panics where nobody expects it: the command fails, the threads live on.

#![allow(unsafe_code, reason = "implements the interface of kernels")]

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use millpond_cpu::{CpuConfig, CpuDriver};
use millpond_hal::{
    Access, Address, Command, Device, Driver, FailureKind, Footprint, HostKernel, KernelError,
    Submission, Wait,
};
use millpond_testkit::contract::raw::Line;
use millpond_testkit::watchdog::watched;

fn device() -> Arc<dyn Device> {
    let driver = CpuDriver::new(CpuConfig {
        threads: Some(1),
        ..CpuConfig::default()
    });
    driver.devices().expect("the host is there").remove(0)
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        assert!(std::thread::panicking(), "dropped");
    }
}

/// Where a kernel panics.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Extent,
    Finish,
    Describe,
}

struct Panicking(Place);

impl Panicking {
    fn at(&self, place: Place) {
        assert_ne!(self.0, place, "in foreign code");
    }
}

// SAFETY: it has no operand.
unsafe impl HostKernel for Panicking {
    fn operands(&self) -> usize {
        0
    }

    fn footprint(&self, _operand: usize) -> Footprint {
        Footprint {
            bytes: 0..0,
            access: Access::Read,
        }
    }

    fn extent(&self) -> usize {
        self.at(Place::Extent);
        1000
    }

    fn grain(&self) -> usize {
        10
    }

    unsafe fn run(&self, _bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        if self.0 == Place::Describe && range.start == 0 {
            return Err(KernelError::from(
                "an error that can't be described".to_owned(),
            ));
        }
        Ok(())
    }

    unsafe fn finish(&self, _bases: &[Address]) -> Result<(), KernelError> {
        self.at(Place::Finish);
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.at(Place::Describe);
        write!(f, "kernel")
    }
}

#[test]
fn a_kernel_that_panics_anywhere_fails_and_nothing_else() {
    watched(|| {
        let line = Line::in_order(&device());
        for place in [Place::Extent, Place::Finish, Place::Describe] {
            let launch = Command::Launch {
                kernel: Arc::new(Panicking(place)),
                bases: [].into_iter().collect(),
            };
            // SAFETY: the kernel names no memory; this thread alone submits.
            let point = unsafe { line.queue().submit(Submission::new(launch)) }.unwrap();
            // Polled, so that a worker has to survive it.
            while !line.reached(point) {
                std::thread::yield_now();
            }
            let failure = line.failure(point);
            if place == Place::Describe {
                assert_eq!(failure.kind(), FailureKind::Command);
                assert_eq!(failure.command(), "command without a description");
            } else {
                assert_eq!(failure.kind(), FailureKind::Panic);
                assert!(failure.reason().contains("in foreign code"), "{failure}");
            }
        }
        assert_eq!(line.outcome(line.run(&[], || ())), Ok(()));
    });
}

#[test]
fn what_a_skipped_task_holds_may_panic_when_it_is_dropped() {
    watched(|| {
        let line = Line::in_order(&device());
        let (gate, _) = line.gate(&[]);
        let bad = line.task(&[], || Err("on purpose".to_owned()));
        let bomb = Bomb;
        let skipped = line.run(&[bad], move || drop(bomb));
        gate.open(Ok(()));
        let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
        let answer = line.queue().wait(skipped.sequence, Some(deadline));
        assert_eq!(answer, Wait::Reached);
        assert_eq!(line.failure(skipped), line.failure(bad));
        assert_eq!(line.outcome(line.run(&[], || ())), Ok(()));
    });
}

#[test]
fn a_callback_that_panics_harms_nobody() {
    watched(|| {
        let line = Line::in_order(&device());
        let (gate, held) = line.gate(&[]);
        line.queue()
            .on_reached(held.sequence, Box::new(|| panic!("in a callback")));
        let (sender, receiver) = std::sync::mpsc::channel();
        let callback = move || sender.send(()).expect("the test waits");
        line.queue().on_reached(held.sequence, Box::new(callback));
        gate.open(Ok(()));
        receiver.recv().expect("the second callback runs");
        assert_eq!(line.outcome(line.run(&[], || ())), Ok(()));
    });
}
