//! Each rule that callers owe is checked, with the values in the message.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Barrier};
use std::thread;

use millpond_types::MemoryKind;

use super::{allocate, fill, over, queue, reason, release, submit};
use crate::command::{Address, Command, Submission};
use crate::device::{Partition, RawAllocation};
use crate::driver::Driver;
use crate::error::DeviceError;
use crate::gate::Gate;
use crate::kernel::{Access, Footprint, HostKernel, KernelError};
use crate::layers::{Layer, Layered, Site, Validate};
use crate::null::NullDriver;
use crate::point::{Point, QueueId};
use crate::queue::Queue;

fn copy(src: Address, dst: Address, bytes: usize) -> Submission<'static> {
    Submission::new(Command::Copy { src, dst, bytes })
}

fn refused(queue: &Arc<dyn Queue>, submission: Submission<'_>) -> String {
    let reason = reason("submit", submit(queue, submission));
    let next = submit(queue, Submission::new(Command::Barrier)).unwrap();
    let before = queue.progress().completed();
    assert_eq!(next.sequence, before, "nothing was submitted");
    reason
}

/// Writes the first half of a hundred bytes.
struct Half;

// SAFETY: it touches no memory at all.
unsafe impl HostKernel for Half {
    fn operands(&self) -> usize {
        1
    }

    fn footprint(&self, _operand: usize) -> Footprint {
        Footprint {
            bytes: 0..50,
            access: Access::Write,
        }
    }

    fn extent(&self) -> usize {
        50
    }

    fn grain(&self) -> usize {
        50
    }

    unsafe fn run(&self, _bases: &[Address], _range: Range<usize>) -> Result<(), KernelError> {
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("half")
    }
}

fn launch(bases: &[Address]) -> Submission<'static> {
    Submission::new(Command::Launch {
        kernel: Arc::new(Half),
        bases: bases.iter().copied().collect(),
    })
}

#[test]
fn validate_lets_good_calls_pass() {
    let (driver, devices) = over(Validate::default());
    let line = queue(&devices[0]);
    let memory = allocate(&devices[0], 128).unwrap();
    let (start, host) = (memory.address, Address::of(&raw const driver));
    let first = submit(&line, fill(start, 128)).unwrap();
    submit(&line, copy(host, start.offset(8), 8)).unwrap();
    submit(&line, copy(start.offset(64), start, 64)).unwrap();
    submit(&line, launch(&[start.offset(78)])).unwrap();
    submit(&line, fill(Address::new(0), 0)).unwrap();
    let last = Submission {
        after: &[first],
        ..Submission::new(Command::Barrier)
    };
    assert_eq!(submit(&queue(&devices[1]), last).unwrap().sequence, 1);
    release(&devices[0], memory);
    assert_eq!(driver.layer().take_violations(), []);
}

#[test]
fn validate_a1_refuses_memory_that_is_not_there() {
    let (_driver, devices) = over(Validate::default());
    let line = queue(&devices[0]);
    let memory = allocate(&devices[0], 128).unwrap();
    let start = memory.address;
    assert!(refused(&line, fill(start.offset(64), 68)).contains("128 bytes allocated"));
    assert!(refused(&line, launch(&[start.offset(79)])).contains("128 bytes allocated"));
    assert!(refused(&line, fill(start.offset(1 << 30), 4)).contains("nobody allocated"));
    assert!(refused(&line, fill(start, usize::MAX - 3)).contains("address space"));
    release(&devices[0], memory);
    assert!(refused(&line, copy(Address::of(&raw const line), start, 4)).contains("released"));
}

#[test]
fn validate_a2_refuses_memory_of_another_device() {
    let (_driver, devices) = over(Validate::default());
    let memory = allocate(&devices[1], 64).unwrap();
    assert!(refused(&queue(&devices[0]), fill(memory.address, 64)).contains("of device 1"));
    let part = devices[1].partition(&Partition::Equally(2)).unwrap();
    submit(&queue(&part[0]), fill(memory.address, 64)).unwrap();
    release(&part[1], memory);
}

#[test]
fn validate_a3_refuses_points_that_are_not_there() {
    let (_driver, devices) = over(Validate::default());
    let (line, other) = (queue(&devices[0]), queue(&devices[1]));
    let early = Point {
        queue: other.id(),
        sequence: 1,
    };
    let foreign = Point {
        queue: QueueId::next(),
        sequence: 0,
    };
    let barrier = || Submission::new(Command::Barrier);
    let after = Submission {
        after: &[early],
        ..barrier()
    };
    assert!(refused(&line, after).contains("beyond 0"));
    let behind = Submission {
        behind: &[foreign],
        ..barrier()
    };
    assert!(refused(&line, behind).contains("no queue of this driver"));
}

#[test]
fn validate_refuses_malformed_commands() {
    let (_driver, devices) = over(Validate::default());
    let line = queue(&devices[0]);
    let start = allocate(&devices[0], 256).unwrap().address;
    assert!(refused(&line, copy(start, start.offset(63), 64)).contains("overlaps itself"));
    assert!(refused(&line, fill(start, 6)).contains("multiple of 4"));
    assert!(refused(&line, launch(&[start, start])).contains("takes 1 operands, not 2"));
}

#[test]
fn validate_keeps_memory_that_is_released_wrongly() {
    let (driver, devices) = over(Validate::default());
    let again = |memory: &RawAllocation| RawAllocation {
        address: memory.address,
        layout: memory.layout,
        kind: memory.kind,
        zeroed: false,
    };
    let violation = || {
        let mut violations = driver.layer().take_violations();
        assert_eq!(violations.len(), 1);
        reason("release", Err::<(), _>(violations.remove(0)))
    };
    let memory = allocate(&devices[0], 64).unwrap();
    release(&devices[1], again(&memory));
    assert!(violation().contains("belongs to device 0, not 1"));
    let wrong_kind = RawAllocation {
        kind: MemoryKind::Host,
        ..again(&memory)
    };
    release(&devices[0], wrong_kind);
    assert!(violation().contains("device memory"));
    release(&devices[0], again(&memory));
    release(&devices[0], memory);
    assert!(violation().contains("released before"));
}

#[test]
fn validate_a1_keeps_memory_that_is_in_use() {
    for close in [false, true] {
        let (driver, devices) = over(Validate::default());
        let line = queue(&devices[0]);
        let memory = allocate(&devices[0], 64).unwrap();
        let start = memory.address;
        let gate = Gate::new();
        submit(&line, Submission::new(Command::Gate(gate.clone()))).unwrap();
        submit(&line, fill(start, 64)).unwrap();
        let line = (!close).then_some(line);
        let (layout, kind) = (memory.layout, memory.kind);
        release(&devices[0], memory);
        let [DeviceError::Invalid { reason, .. }] = &driver.layer().take_violations()[..] else {
            panic!("one violation");
        };
        assert!(reason.contains("used by command 2 of queue"), "{reason}");
        gate.open(Ok(()));
        let memory = RawAllocation {
            address: start,
            layout,
            kind,
            zeroed: false,
        };
        release(&devices[0], memory);
        assert_eq!(driver.layer().take_violations(), []);
        drop(line);
    }
}

/// Stays inside of `submit` until the test lets it go.
struct Slow(Barrier);

impl Layer for Slow {
    unsafe fn submit(
        &self,
        _site: &Site,
        queue: &Arc<dyn Queue>,
        submission: Submission<'_>,
    ) -> Result<Point, DeviceError> {
        self.0.wait();
        self.0.wait();
        // SAFETY: the caller promises what the queue asks for.
        unsafe { queue.submit(submission) }
    }
}

#[test]
fn validate_a4_refuses_a_second_thread_inside_of_submit() {
    let slow = Layered::new(Arc::new(NullDriver::default()), Slow(Barrier::new(2)));
    let inside = Arc::clone(slow.layer());
    let driver = Layered::new(Arc::new(slow), Validate::default());
    let line = queue(&driver.devices().unwrap()[0]);
    let barrier = || Submission::new(Command::Barrier);
    thread::scope(|scope| {
        let first = scope.spawn(|| submit(&line, barrier()));
        inside.0.wait();
        let second = reason("submit", submit(&line, barrier()));
        assert!(second.contains("two threads submit"), "{second}");
        inside.0.wait();
        assert_eq!(first.join().unwrap().unwrap().sequence, 1);
    });
}
