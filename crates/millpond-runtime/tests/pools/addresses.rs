//! Memory that is used by its address, under the order checker.

use std::sync::Arc;

use millpond_hal::layers::{Conflict, Layered, Order, Race};
use millpond_hal::null::NullDriver;
use millpond_hal::{Driver, Pattern, Touch};
use millpond_runtime::{
    Access, AllocateOptions, Allocation, Device, Event, MemoryKind, Pool, PoolOptions, Queue,
    Registry,
};
use millpond_testkit::watchdog::watched;

use crate::support::{in_order, out_of_order};
use crate::{KIB, close_gate, use_on};

/// Runs a test on each kind of device, with the checker over it.
fn checked(test: impl Fn(&Device, &dyn Fn() -> Vec<Race>) + Send + Sync + 'static) {
    watched(move || {
        let null: Arc<dyn Driver> = Arc::new(NullDriver::default());
        for driver in [null, crate::support::driver()] {
            let checked = Arc::new(Layered::new(driver, Order::default()));
            let devices = Registry::new(&[Arc::clone(&checked) as Arc<dyn Driver>]);
            let device = devices.default_device().unwrap();
            test(&device, &|| checked.layer().take_races());
            device.wait().unwrap();
            let left = checked.layer().take_races();
            assert!(left.is_empty(), "{}", left[0]);
        }
    });
}

/// A command that uses all of some memory by its address.
fn use_at(queue: &Queue, memory: &Allocation, after: &[&Event]) -> Event {
    let claim = Touch {
        address: memory.address(),
        bytes: memory.bytes(),
        access: Access::Write,
    };
    queue.task_at("solve", &[claim], after, || Ok(())).unwrap()
}

fn conflicts(races: &[Race]) -> Vec<Conflict> {
    races.iter().map(|race| race.conflict).collect()
}

fn tight(device: &Device) -> Pool {
    let options = PoolOptions {
        maximum_size: Some(8 * KIB),
        ..PoolOptions::default()
    };
    crate::pool(device, options)
}

#[test]
fn f008_a_use_on_a_second_queue_that_the_free_knows_nothing_of_is_told() {
    checked(|device, races| {
        let (a, b) = (in_order(device), in_order(device));
        for knows in [false, true] {
            let memory = a.allocate(MemoryKind::Device, KIB).unwrap();
            let gate = close_gate(&b);
            let ready = use_at(&a, &memory, &[]);
            let used = use_at(&b, &memory, &[&ready]);
            let address = memory.address();
            let after: &[&Event] = if knows { &[&used] } else { &[] };
            a.free(memory, after).unwrap();
            let found = races();
            if knows {
                assert_eq!(conflicts(&found), []);
                let next = a.allocate(MemoryKind::Device, KIB).unwrap();
                assert_eq!(next.address(), address);
                // Behind the free, which comes behind the other queue's use.
                assert!(crate::support::stays_pending(&use_at(&a, &next, &[])));
                a.free(next, &[]).unwrap();
            } else {
                assert_eq!(conflicts(&found), [Conflict::FreedInUse]);
                let text = found[0].to_string();
                assert!(
                    text.contains("host task solve") && text.contains("free of 1024 bytes"),
                    "{text}"
                );
            }
            gate.open();
            device.wait().unwrap();
        }
    });
}

#[test]
fn f012_a_free_on_a_wrong_queue_is_told_and_gives_the_memory_back() {
    checked(|device, races| {
        let (a, b) = (in_order(device), in_order(device));
        let pool = tight(device);
        let memory = a.allocate_from(&pool, 8 * KIB).unwrap();
        let gate = close_gate(&a);
        use_at(&a, &memory, &[]);
        b.free(memory, &[]).unwrap();
        assert_eq!(conflicts(&races()), [Conflict::FreedInUse]);
        gate.open();
        device.wait().unwrap();
        let held = pool.statistics();
        assert_eq!((held.used, held.pending), (0, 0));
        assert_eq!(held.cached, held.reserved);
        b.allocate_from(&pool, 8 * KIB).unwrap();
    });
}

#[test]
fn dropping_the_last_handle_waits_for_no_use_by_address() {
    checked(|device, races| {
        let queue = in_order(device);
        let memory = queue.allocate(MemoryKind::Shared, KIB).unwrap();
        let gate = close_gate(&queue);
        use_at(&queue, &memory, &[]);
        drop(memory);
        assert_eq!(conflicts(&races()), [Conflict::FreedInUse]);
        gate.open();
    });
}

#[test]
fn an_allocation_that_begins_later_is_not_to_be_used_before() {
    checked(|device, races| {
        let (a, b) = (in_order(device), in_order(device));
        for queue in [&in_order(device), &out_of_order(device)] {
            for knows in [false, true] {
                let pool = tight(device);
                let memory = a.allocate_from(&pool, 8 * KIB).unwrap();
                let gate = close_gate(&a);
                use_on(&a, &memory);
                drop(memory);
                // The pool is full: the other queue is made to wait for the memory.
                let (next, begun) = queue
                    .allocate_with(&pool, 8 * KIB, &AllocateOptions::default())
                    .unwrap();
                let after: &[&Event] = if knows { &[&begun] } else { &[] };
                let used = use_at(&b, &next, after);
                let found = conflicts(&races());
                if knows {
                    assert_eq!(found, []);
                } else {
                    assert_eq!(found[0], Conflict::BeforeAllocation);
                }
                queue.free(next, &[&used]).unwrap();
                assert_eq!(conflicts(&races()), []);
                gate.open();
                device.wait().unwrap();
            }
        }
    });
}

#[test]
fn memory_is_not_to_be_used_after_its_free_nor_beyond_its_end() {
    checked(|device, races| {
        let queue = in_order(device);
        let memory = queue.allocate(MemoryKind::Host, 1000).unwrap();
        let inside = Touch {
            address: memory.address().offset(900),
            bytes: 100,
            access: Access::Read,
        };
        let solve = |claim: Touch| queue.task_at("solve", &[claim], &[], || Ok(())).unwrap();
        solve(inside);
        assert_eq!(conflicts(&races()), []);
        queue.free(memory, &[]).unwrap();
        solve(inside);
        assert_eq!(conflicts(&races()), [Conflict::AfterFree]);
    });
}

#[test]
fn zeros_come_before_the_allocation_begins() {
    checked(|device, races| {
        let (a, b) = (in_order(device), in_order(device));
        let options = PoolOptions {
            zero: millpond_runtime::Zero::Always,
            ..PoolOptions::default()
        };
        let pool = crate::pool(device, options);
        // Used before, so that it has to be filled.
        use_on(&a, &a.allocate_from(&pool, KIB).unwrap());
        let gate = close_gate(&a);
        let (memory, begun) = a
            .allocate_with(&pool, KIB, &AllocateOptions::default())
            .unwrap();
        let used = use_at(&b, &memory, &[&begun]);
        assert_eq!(conflicts(&races()), []);
        a.free(memory, &[&used]).unwrap();
        gate.open();
    });
}

#[test]
fn a_buffer_is_its_owners_again_when_its_pool_is_gone() {
    checked(|device, races| {
        let queue = in_order(device);
        let buffer = queue.allocate(MemoryKind::Device, 16 * KIB).unwrap();
        let pool = device
            .create_pool_over(&buffer, 0..buffer.bytes(), PoolOptions::default())
            .unwrap();
        let memory = queue.allocate_from(&pool, KIB).unwrap();
        use_at(&queue, &memory, &[]);
        queue.free(memory, &[]).unwrap();
        use_at(&queue, &buffer, &[]);
        assert_eq!(conflicts(&races()), [Conflict::AfterFree]);
        drop(pool);
        device.wait().unwrap();
        use_at(&queue, &buffer, &[]);
        queue.free(buffer, &[]).unwrap();
        assert_eq!(conflicts(&races()), []);
    });
}

#[test]
#[allow(
    unsafe_code,
    reason = "names memory of the test, which lives until all is done"
)]
fn copies_and_fills_by_address_come_after_their_events_and_nothing_else() {
    checked(|device, races| {
        let (a, b) = (in_order(device), out_of_order(device));
        let [src, dst] = [(); 2].map(|()| a.allocate(MemoryKind::Shared, KIB).unwrap());
        let (from, to) = (src.address(), dst.address());
        let pattern = Pattern::new(&[1, 2, 3, 4]).unwrap();
        let gate = close_gate(&a);
        // SAFETY: memory of this test, whose uses are waited for below.
        let filled = unsafe { a.fill_at(from, KIB, pattern, &[]) }.unwrap();
        // SAFETY: as above.
        let copied = unsafe { b.copy_at(from, to, KIB, &[&filled]) }.unwrap();
        assert!(crate::support::stays_pending(&copied));
        assert!(races().is_empty());
        // SAFETY: as above, and the bytes that are read don't matter.
        let unordered = unsafe { b.copy_at(from, to.offset(0), KIB, &[]) }.unwrap();
        assert!(!races().is_empty(), "nothing orders it behind the fill");
        gate.open();
        for event in [copied, unordered] {
            event.wait().unwrap();
        }
        // SAFETY: as above.
        let again = unsafe { b.copy_at(from, to, KIB, &[]) }.unwrap();
        again.wait().unwrap();
        if device.info().host_executed {
            let mut bytes = [0; KIB];
            dst.read(0, &mut bytes).unwrap();
            assert!(bytes.chunks(4).all(|chunk| chunk == [1, 2, 3, 4]));
        }
        // SAFETY: nothing is enqueued.
        let odd = unsafe { a.fill_at(from, KIB - 1, pattern, &[]) };
        assert!(odd.is_err());
        for memory in [src, dst] {
            a.free(memory, &[&again])
                .map_err(|(error, _)| error)
                .unwrap();
        }
        a.wait().unwrap();
        races();
    });
}
