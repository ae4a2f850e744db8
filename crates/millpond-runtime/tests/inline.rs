//! Small work whose result is allocated with it: the same as both one after the other, whatever stands
//! in its way.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]
#![allow(
    unsafe_code,
    clippy::multiple_unsafe_ops_per_block,
    reason = "kernels touch memory"
)]

mod support;

use std::ops::Range;

use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_runtime::{Allocation, Error, Explanation, MemoryKind, PoolOptions, Queue};
use millpond_testkit::watchdog::watched;
use support::{Affine, BIG, SMALL, close_gate, device, in_order, numbers, values};

const INCREASE: Affine = Affine {
    count: 3,
    factor: 1,
    term: 1,
};

/// Writes twice the second operand to the first; fails beyond a hundred.
struct Double {
    count: usize,
}

// SAFETY: touches the first `count` numbers of both operands, as `footprint` says.
unsafe impl HostKernel for Double {
    fn operands(&self) -> usize {
        2
    }

    fn footprint(&self, operand: usize) -> Footprint {
        Footprint {
            bytes: 0..8 * self.count,
            access: [Access::Write, Access::Read][operand],
        }
    }

    fn extent(&self) -> usize {
        self.count
    }

    fn grain(&self) -> usize {
        16
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        for index in range {
            let (to, from) = (bases[0].as_ptr::<u64>(), bases[1].as_ptr::<u64>());
            // SAFETY: the caller vouches for elements `range` of both operands.
            let value = unsafe { from.add(index).read() };
            if value > 100 {
                return Err(KernelError::from("a number is beyond a hundred".to_owned()));
            }
            // SAFETY: as above.
            unsafe { to.add(index).write(2 * value) };
        }
        Ok(())
    }

    fn describe(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "double of {} numbers", self.count)
    }
}

fn double(queue: &Queue, x: &Allocation, cost: u32) -> millpond_runtime::Result<Allocation> {
    let count = x.bytes() / 8;
    queue.launch_into_new(Double { count }, MemoryKind::Device, x.bytes(), &[x], cost)
}

#[test]
fn small_work_runs_before_the_call_returns_and_large_work_in_order() {
    let queue = device().default_queue().unwrap();
    let x = numbers(&queue, &[1, 2, 3]);
    // The queue's cache gets a block, which the next result is.
    drop(double(&queue, &x, BIG).unwrap());
    queue.wait().unwrap();
    for (cost, inline) in [(SMALL, true), (BIG, false)] {
        let explanation = Explanation::begin();
        let y = double(&queue, &x, cost).unwrap();
        let executions = explanation.finish().unwrap();
        assert_eq!(executions.len(), 1);
        assert_eq!(executions[0].inline, inline);
        assert_eq!(values(&y), [2, 4, 6]);
    }
}

#[test]
fn o1_it_comes_behind_what_its_queue_and_its_operands_wait_for() {
    watched(|| {
        let device = device();
        let (queue, other) = (device.default_queue().unwrap(), in_order(&device));
        let x = numbers(&queue, &[1, 2, 3]);
        for held in [&queue, &other] {
            let y = numbers(held, &[4, 5, 6]);
            let gate = close_gate(held);
            held.launch(INCREASE, &[&y], BIG).unwrap();
            let z = double(&queue, &y, SMALL).unwrap();
            assert!(!z.is_idle(), "the gate is closed");
            gate.open();
            assert_eq!(values(&z), [10, 12, 14]);
        }
        // Other queues' operands do.
        let y = numbers(&other, &[7, 8, 9]);
        other.wait().unwrap();
        assert_eq!(values(&double(&queue, &y, SMALL).unwrap()), [14, 16, 18]);
        assert_eq!(values(&double(&queue, &x, SMALL).unwrap()), [2, 4, 6]);
    });
}

#[test]
fn it_comes_from_the_pool_that_stands_for_the_kind() {
    let device = device();
    let queue = device.default_queue().unwrap();
    let x = numbers(&queue, &[1]);
    let pool = device
        .create_pool(MemoryKind::Device, PoolOptions::default())
        .unwrap();
    let scope = pool.scope();
    let inside = double(&queue, &x, SMALL).unwrap();
    drop(scope);
    let outside = double(&queue, &x, SMALL).unwrap();
    assert!(inside.is_from(&pool) && !outside.is_from(&pool));
    assert_eq!((values(&inside), values(&outside)), (vec![2], vec![2]));
}

#[test]
fn what_fails_leaves_no_memory_behind() {
    watched(|| {
        let device = device();
        let queue = device.default_queue().unwrap();
        let x = numbers(&queue, &[1, 1000]);
        drop(double(&queue, &numbers(&queue, &[1, 1]), BIG).unwrap());
        queue.wait().unwrap();
        let live = device.live();
        for _ in 0..3 {
            let error = double(&queue, &x, SMALL).unwrap_err();
            assert!(matches!(error, Error::Failed(_)), "{error}");
        }
        assert_eq!(device.live(), live);
        queue.wait().unwrap();
        queue.close();
        let error = double(&queue, &x, SMALL).unwrap_err();
        assert!(matches!(error, Error::Closed { .. }), "{error}");
        assert_eq!(device.live(), live);
    });
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let device = device();
    let queue = device.default_queue().unwrap();
    let x = numbers(&queue, &[1, 2, 3]);
    let live = device.live();
    let kernel = Double { count: 4 };
    let error = queue.launch_into_new(kernel, MemoryKind::Device, 32, &[&x], SMALL);
    assert!(matches!(error.unwrap_err(), Error::Bounds { .. }));
    let kernel = Double { count: 3 };
    let error = queue.launch_into_new(kernel, MemoryKind::Device, 8, &[&x], SMALL);
    assert!(matches!(error.unwrap_err(), Error::Bounds { .. }));
    let kernel = Double { count: 3 };
    let error = queue.launch_into_new(kernel, MemoryKind::Device, 24, &[&x, &x], SMALL);
    assert!(matches!(error.unwrap_err(), Error::OperandCount { .. }));
    assert_eq!(device.live(), live);
}
