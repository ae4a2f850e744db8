//! Rules M1 to M6: who owns bytes, and when they are reused or given back.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "tests")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use millpond_hal::Address;
use millpond_runtime::{Access, Gate, MemoryKind, Release, Use, drain_releases};
use millpond_testkit::watchdog::watched;
use support::{Affine, BIG, SMALL, Sum, device, numbers, out_of_order, values};

const ADD_1: Affine = Affine {
    count: 4,
    factor: 1,
    term: 1,
};

#[test]
fn m1_dropping_the_last_handle_while_a_command_is_pending_is_safe() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let gate = Gate::new();
        let y = {
            let (a, b) = (numbers(&queue, &[1, 2, 3, 4]), numbers(&queue, &[10; 4]));
            queue.gate(&gate, &[]).unwrap();
            let y = queue.allocate(MemoryKind::Device, 32).unwrap();
            queue.launch(Sum(4), &[&a, &b, &y], SMALL).unwrap();
            y
        };
        // Whatever takes the inputs' bytes now is ordered behind the sum.
        let again: Vec<_> = (0..8).map(|_| numbers_later(&queue)).collect();
        gate.open(Ok(()));
        assert_eq!(values(&y), [11, 12, 13, 14]);
        assert!(again.iter().all(|memory| values(memory) == [99; 4]));
    });
}

fn numbers_later(queue: &millpond_runtime::Queue) -> millpond_runtime::Allocation {
    let memory = queue.allocate(MemoryKind::Device, 32).unwrap();
    memory
        .write_owned(
            0,
            [99_u64; 4].iter().flat_map(|v| v.to_ne_bytes()).collect(),
        )
        .unwrap();
    memory
}

#[test]
fn m2_freed_bytes_are_reused_at_once_on_the_same_queue() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let gate = Gate::new();
        let x = numbers(&queue, &[0; 4]);
        queue.gate(&gate, &[]).unwrap();
        queue.launch(ADD_1, &[&x], SMALL).unwrap();
        let address = x.address();
        drop(x);
        let y = queue.allocate(MemoryKind::Device, 32).unwrap();
        assert_eq!(y.address(), address, "rule R1");
        gate.open(Ok(()));
    });
}

#[test]
fn m2_bytes_in_use_on_another_queue_are_not_handed_out() {
    watched(|| {
        let device = device();
        let (home, other) = (device.default_queue().unwrap(), out_of_order(&device));
        let x = numbers(&home, &[0; 4]);
        let gate = Gate::new();
        other
            .gate(
                &gate,
                &[Use {
                    allocation: &x,
                    access: Access::Read,
                }],
            )
            .unwrap();
        let address = x.address();
        drop(x);
        let y = home.allocate(MemoryKind::Device, 32).unwrap();
        assert_ne!(y.address(), address, "its reader is still pending");
        gate.open(Ok(()));
        other.wait().unwrap();
        let all: Vec<_> = (0..64)
            .map(|_| home.allocate(MemoryKind::Device, 32).unwrap().clone())
            .collect();
        drop(all);
    });
}

#[test]
fn m2_a_long_loop_of_temporaries_needs_constant_memory() {
    watched(|| {
        let device = device();
        let queue = device.default_queue().unwrap();
        let pool = device.pool(MemoryKind::Device);
        let mut x = numbers(&queue, &[0; 4]);
        let one = numbers(&queue, &[1; 4]);
        for step in 0..20_000 {
            let next = queue.allocate(MemoryKind::Device, 32).unwrap();
            queue
                .launch(
                    Sum(4),
                    &[&x, &one, &next],
                    if step % 5 == 0 { BIG } else { SMALL },
                )
                .unwrap();
            x = next;
        }
        assert_eq!(values(&x), [20_000; 4]);
        let statistics = pool.statistics();
        assert_eq!(statistics.live, 2);
        assert_eq!(statistics.requested, 64);
        assert!(statistics.used_high <= 8 * 256, "{statistics:?}");
    });
}

#[test]
fn m3_foreign_memory_is_released_after_its_last_use() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let bytes = Arc::new([7_u64; 4]);
        let released = Arc::new(AtomicUsize::new(0));
        let (owner, count) = (Arc::clone(&bytes), Arc::clone(&released));
        let release = Release::anywhere(move || {
            drop(owner);
            count.fetch_add(1, Ordering::SeqCst);
        });
        let address = Address::of(bytes.as_ptr());
        #[allow(
            unsafe_code,
            reason = "the array outlives its release and is only read"
        )]
        // SAFETY: the array is kept alive by the release, and commands only read it.
        let foreign = unsafe { queue.import(MemoryKind::Host, address, 32, release) }.unwrap();
        let gate = Gate::new();
        let use_ = [Use {
            allocation: &foreign,
            access: Access::Read,
        }];
        let opener = {
            let gate = gate.clone();
            thread::spawn(move || gate.open(Ok(())))
        };
        queue.gate(&gate, &use_).unwrap();
        opener.join().unwrap();
        drop(foreign);
        queue.wait().unwrap();
        while released.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        assert_eq!(Arc::strong_count(&bytes), 1);
    });
}

#[test]
fn m3_memory_that_is_handed_over_is_worked_on_later_and_released_after_that() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let bytes = Box::new([7_u64; 4]);
        let address = Address::of(bytes.as_ptr());
        let (sender, receiver) = std::sync::mpsc::channel();
        let release = Release::anywhere(move || sender.send(bytes).unwrap());
        #[allow(unsafe_code, reason = "the release owns the array until it is called")]
        // SAFETY: the array is kept by the release, and nobody else looks at it.
        let foreign = unsafe { queue.adopt(MemoryKind::Host, address, 32, release) }.unwrap();
        let gate = Gate::new();
        queue.gate(&gate, &[]).unwrap();
        queue.launch(ADD_1, &[&foreign], BIG).unwrap();
        drop(foreign);
        assert!(receiver.try_recv().is_err(), "work on it is pending");
        gate.open(Ok(()));
        assert_eq!(*receiver.recv().unwrap(), [8; 4]);
    });
}

#[test]
fn m3_a_deferred_release_runs_in_drain_only() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let caller = Arc::new(std::sync::Mutex::new(None));
        let slot = Arc::clone(&caller);
        let bytes: &'static [u64; 4] = &[0; 4];
        let release = Release::deferred(move || {
            *slot.lock().unwrap() = Some(thread::current().id());
        });
        let address = Address::of(bytes.as_ptr());
        #[allow(unsafe_code, reason = "a static that nobody writes")]
        // SAFETY: the bytes are static and only read.
        let foreign = unsafe { queue.import(MemoryKind::Host, address, 32, release) }.unwrap();
        drop(foreign);
        assert!(caller.lock().unwrap().is_none(), "not before the drain");
        drain_releases();
        assert_eq!(*caller.lock().unwrap(), Some(thread::current().id()));
    });
}

#[test]
fn m4_kinds_keep_their_rules() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        for kind in MemoryKind::ALL {
            let memory = queue.allocate(kind, 100).unwrap();
            assert_eq!(memory.kind(), kind);
            assert_eq!(memory.address().get() % 64, 0);
            let shared = memory.share_with_host(false);
            assert_eq!(shared.is_ok(), kind != MemoryKind::Device, "{shared:?}");
        }
    });
}

#[test]
fn m5_commands_on_memory_shared_with_the_host_finish_before_they_return() {
    watched(|| {
        let queue = device().default_queue().unwrap();
        let memory = queue.allocate(MemoryKind::Shared, 32).unwrap();
        memory.write(0, &[0; 32]).unwrap();
        let address = memory.share_with_host(false).unwrap();
        for expected in 1..50_u64 {
            queue.launch(ADD_1, &[&memory], BIG).unwrap();
            #[allow(unsafe_code, reason = "reads memory shared with the host")]
            // SAFETY: the allocation is alive, and no command on it is pending.
            let seen = unsafe { *address.as_ptr::<u64>() };
            assert_eq!(seen, expected);
        }
    });
}

#[test]
fn m6_handles_dropped_by_several_threads_at_once_return_their_bytes() {
    watched(|| {
        let device = device();
        let queue = device.default_queue().unwrap();
        for _ in 0..500 {
            let memory = queue.allocate(MemoryKind::Device, 5000).unwrap();
            let clones: Vec<_> = (0..4).map(|_| memory.clone()).collect();
            drop(memory);
            thread::scope(|scope| {
                for clone in clones {
                    scope.spawn(move || drop(clone));
                }
            });
        }
        let statistics = device.pool(MemoryKind::Device).statistics();
        assert_eq!(
            (statistics.live, statistics.used, statistics.requested),
            (0, 0, 0)
        );
        assert_eq!(statistics.reserved, statistics.pending + statistics.cached);
    });
}

#[test]
fn m6_a_closed_queue_gives_its_bytes_to_others() {
    watched(|| {
        let device = device();
        let queue = device
            .create_queue(&millpond_runtime::QueueOptions::default())
            .unwrap();
        let memory = queue.allocate(MemoryKind::Device, 1 << 20).unwrap();
        queue.close();
        assert!(matches!(
            queue.allocate(MemoryKind::Device, 1),
            Err(millpond_runtime::Error::Closed { .. })
        ));
        assert!(queue.launch(ADD_1, &[&memory], SMALL).is_err());
        drop((memory, queue));
        let statistics = device.pool(MemoryKind::Device).statistics();
        assert_eq!((statistics.live, statistics.used), (0, 0));
        assert_eq!(statistics.cached, statistics.reserved);
        device.pool(MemoryKind::Device).trim(0).unwrap();
        assert_eq!(device.pool(MemoryKind::Device).statistics().reserved, 0);
    });
}
