//! Frees: on which queue, of which memory, and behind what.

use std::sync::Arc;
use std::sync::mpsc::channel;

use millpond_hal::null::NullDriver;
use millpond_hal::{Driver, Partition};
use millpond_runtime::{
    Access, AllocateOptions, Allocation, MemoryKind, PoolOptions, Queue, Status, Use,
};
use millpond_testkit::watchdog::watched;

use crate::provider::Provider;
use crate::support::{driver, in_order, out_of_order, stays_pending};
use crate::{MIB, at_most, at_once, close_gate, each, pool, use_on};

#[test]
fn f014_memory_freed_by_dropping_it_waits_for_every_queue_that_used_it() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let memory = a.allocate_from(&pool, 1000).unwrap();
        let gate = close_gate(&b);
        use_on(&b, &memory);
        let address = memory.address();
        drop(memory);
        assert_ne!(a.allocate_from(&pool, 1000).unwrap().address(), address);
        gate.open();
        b.wait().unwrap();
        let blocks: Vec<_> = (0..2)
            .map(|_| a.allocate_from(&pool, 1000).unwrap())
            .collect();
        assert!(blocks.iter().any(|block| block.address() == address));
    });
}

#[test]
fn f010_memory_that_the_host_can_reach_is_as_pending_as_any() {
    each(|device| {
        for kind in [MemoryKind::Host, MemoryKind::Shared] {
            let (a, b) = (in_order(device), in_order(device));
            let pool = device.create_pool(kind, PoolOptions::default()).unwrap();
            let memory = a.allocate_from(&pool, 1000).unwrap();
            let gate = close_gate(&a);
            use_on(&a, &memory);
            let address = memory.address();
            drop(memory);
            // What the host may scribble on at once is memory that no command uses.
            let options = at_once();
            let (next, begun) = b.allocate_with(&pool, 1000, &options).unwrap();
            begun.wait().unwrap();
            assert_ne!(next.address(), address);
            let same = a.allocate_from(&pool, 1000).unwrap();
            assert_eq!(same.address(), address);
            assert!(!same.is_idle(), "and of this one it is known to be used");
            gate.open();
            device.wait().unwrap();
            assert!(same.is_idle());
        }
    });
}

#[test]
fn f011_a_free_of_host_memory_respects_its_queue_through_every_way_to_free() {
    each(|device| {
        let frees: [fn(&Queue, Allocation); 3] = [
            |_, memory| drop(memory),
            |queue, memory| drop(queue.free(memory, &[]).unwrap()),
            |queue, memory| {
                let event = queue.record().unwrap();
                drop(queue.free(memory, &[&event]).unwrap());
            },
        ];
        for free in frees {
            let (a, b) = (in_order(device), in_order(device));
            let pool = device.create_pool(MemoryKind::Host, at_most(MIB)).unwrap();
            let memory = a.allocate_from(&pool, MIB).unwrap();
            let gate = close_gate(&a);
            use_on(&a, &memory);
            free(&a, memory);
            assert_eq!(pool.statistics().pending, MIB);
            b.allocate_with(&pool, MIB, &at_once()).unwrap_err();
            gate.open();
            a.wait().unwrap();
            b.allocate_with(&pool, MIB, &at_once()).unwrap();
        }
    });
}

#[test]
fn f012_a_free_on_another_queue_than_the_last_use_loses_neither_order_nor_memory() {
    each(|device| {
        let (a, b, c) = (in_order(device), in_order(device), in_order(device));
        let pool = pool(device, at_most(MIB));
        let memory = a.allocate_from(&pool, MIB).unwrap();
        let gate = close_gate(&a);
        use_on(&a, &memory);
        let freed = b.free(memory, &[]).unwrap();
        assert!(
            stays_pending(&freed),
            "behind the use that it was not told of"
        );
        c.allocate_with(&pool, MIB, &at_once()).unwrap_err();
        gate.open();
        freed.wait().unwrap();
        c.allocate_with(&pool, MIB, &at_once()).unwrap();
    });
}

#[test]
fn f017_frees_behind_events_are_points_and_leave_nothing() {
    each(|device| {
        let (a, b) = (in_order(device), out_of_order(device));
        let pool = pool(device, at_most(4 * MIB));
        for step in 0..5_000 {
            let memory = a.allocate_from(&pool, 1000).unwrap();
            let used = use_on(&b, &memory);
            let queue = if step % 2 == 0 { &a } else { &b };
            queue.free(memory, &[&used]).unwrap();
        }
        device.wait().unwrap();
        let now = pool.statistics();
        assert_eq!((now.live, now.used, now.pending), (0, 0, 0));
        pool.trim(0).unwrap();
        assert_eq!(pool.statistics().reserved, 0);
    });
}

#[test]
fn f020_the_event_of_a_free_may_go_before_the_memory_is_used_again() {
    each(|device| {
        let (a, b) = (in_order(device), out_of_order(device));
        let pool = pool(device, at_most(MIB));
        for _ in 0..50 {
            let memory = b.allocate_from(&pool, MIB).unwrap();
            let held = close_gate(&a);
            let before = a.record().unwrap();
            drop(b.free(memory, &[&before]).unwrap());
            drop(before);
            let options = AllocateOptions::default();
            let (again, begun) = b.allocate_with(&pool, MIB, &options).unwrap();
            assert_eq!(begun.status(), Status::Pending);
            held.open();
            begun.wait().unwrap();
            drop(again);
        }
        device.wait().unwrap();
    });
}

/// Nobody waits there for what the task itself is in the way of, nor holds a thread of the backend up.
#[test]
fn a_device_whose_last_handle_goes_in_a_task_has_its_memory_back_when_all_is_done() {
    watched(|| {
        for is_callback in [false, true] {
            for driver in [Arc::new(NullDriver::default()) as Arc<dyn Driver>, driver()] {
                end_device_in_task(driver, is_callback);
            }
        }
    });
}

/// In a task, or in what is called when a task is done.
fn end_device_in_task(driver: Arc<dyn Driver>, is_callback: bool) {
    let (provider, device) = Provider::over(driver);
    let (one, other) = (in_order(&device), in_order(&device));
    let memory = one.allocate(MemoryKind::Device, MIB).unwrap();
    let (gate, later) = (close_gate(&one), close_gate(&other));
    let uses = [Use {
        allocation: &memory,
        access: Access::Read,
    }];
    other.task("read", &uses, || Ok(())).unwrap();
    let (tell, told) = channel();
    let last = device.clone();
    let end = move || {
        drop(last);
        tell.send(()).unwrap();
    };
    if is_callback {
        let event = one.task("use", &uses, || Ok(())).unwrap();
        event.on_complete(|_| end());
    } else {
        let task = move || {
            end();
            Ok(())
        };
        one.task("end", &uses, task).unwrap();
    }
    drop((memory, one, other, device));
    gate.open();
    told.recv().unwrap();
    assert!(provider.bytes() >= MIB, "the other task is in the way");
    later.open();
    while provider.bytes() > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn a_part_of_a_device_ends_with_its_last_handle_though_a_pool_was_set_for_it() {
    watched(|| {
        let (provider, device) = Provider::over(driver());
        let parts = device.partition(&Partition::Equally(1)).unwrap();
        let part = parts.into_iter().next().unwrap();
        let pool = pool(&part, PoolOptions::default());
        part.set_current_pool(&pool).unwrap();
        let queue = in_order(&part);
        drop(pool);
        let memory = queue.allocate(MemoryKind::Device, MIB).unwrap();
        assert!(memory.is_from(&part.current_pool(MemoryKind::Device)));
        assert!(provider.bytes() > 0);
        drop((memory, queue, part));
        assert_eq!(provider.bytes(), 0);
    });
}
