//! Which freed memory a request is given, on which queue, and when: the rules R1, R2, R3 and R5.

use millpond_runtime::{AllocateOptions, Error, PoolOptions, QueueOptions, Reuse, Status};

use crate::support::{in_order, out_of_order, stays_pending};
use crate::{MIB, at_once, check, close_gate, each, pool, use_on};

#[test]
fn p01_an_in_order_queue_gets_the_address_it_freed_while_its_work_is_pending() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, PoolOptions::default());
        let gate = close_gate(&queue);
        let first = queue.allocate_from(&pool, 1000).unwrap();
        use_on(&queue, &first);
        let address = first.address();
        queue.free(first, &[]).unwrap();
        let second = queue.allocate_from(&pool, 1000).unwrap();
        assert_eq!(second.address(), address, "rule R1");
        gate.open();
        queue.wait().unwrap();
        check(&pool);
    });
}

#[test]
fn p02_an_out_of_order_queue_gets_another_address_while_the_free_is_pending() {
    each(|device| {
        let queue = out_of_order(device);
        let pool = pool(device, PoolOptions::default());
        let memory = queue.allocate_from(&pool, 1000).unwrap();
        let address = memory.address();
        let gate = close_gate(&queue);
        let held = queue.record().unwrap();
        let freed = queue.free(memory, &[&held]).unwrap();
        let other = queue.allocate_from(&pool, 1000).unwrap();
        assert_ne!(other.address(), address);
        gate.open();
        freed.wait().unwrap();
        let again = queue.allocate_from(&pool, 1000).unwrap();
        assert_eq!(again.address(), address, "rule R3");
        check(&pool);
    });
}

#[test]
fn p16_a_queue_ordered_behind_a_free_may_have_the_memory() {
    each(|device| {
        let (a, b, c) = (in_order(device), in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let gate = close_gate(&a);
        let memory = a.allocate_from(&pool, 1000).unwrap();
        let address = memory.address();
        use_on(&a, &memory);
        a.free(memory, &[]).unwrap();
        // Through three queues.
        b.wait_for(&a.record().unwrap()).unwrap();
        let event = b.barrier(&[]).unwrap();
        c.wait_for(&event).unwrap();
        let again = c.allocate_from(&pool, 1000).unwrap();
        assert_eq!(again.address(), address, "rule R2");
        gate.open();
        a.wait().unwrap();
    });
}

#[test]
fn f002_an_event_older_than_the_free_legalises_nothing() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let memory = a.allocate_from(&pool, 1000).unwrap();
        let old = a.record().unwrap();
        let gate = close_gate(&a);
        use_on(&a, &memory);
        let address = memory.address();
        a.free(memory, &[]).unwrap();
        b.wait_for(&old).unwrap();
        let other = b.allocate_from(&pool, 1000).unwrap();
        assert_ne!(other.address(), address);
        gate.open();
        a.wait().unwrap();
    });
}

#[test]
fn rule_r2_can_be_switched_off() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        let reuse = Reuse {
            follow_events: false,
            ..Reuse::default()
        };
        let pool = pool(
            device,
            PoolOptions {
                reuse,
                ..PoolOptions::default()
            },
        );
        let gate = close_gate(&a);
        let memory = a.allocate_from(&pool, 1000).unwrap();
        let address = memory.address();
        use_on(&a, &memory);
        drop(memory);
        b.wait_for(&a.record().unwrap()).unwrap();
        let other = b.allocate_from(&pool, 1000).unwrap();
        assert_ne!(other.address(), address);
        pool.set_reuse(Reuse::default());
        assert_eq!(b.allocate_from(&pool, 1000).unwrap().address(), address);
        gate.open();
        a.wait().unwrap();
    });
}

#[test]
fn rule_r2_can_be_switched_off_for_an_allocation() {
    each(|device| {
        let (writer, reader) = (in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let gate = close_gate(&reader);
        let memory = writer.allocate_from(&pool, 1000).unwrap();
        let address = memory.address();
        use_on(&reader, &memory);
        writer.wait_for(&reader.record().unwrap()).unwrap();
        drop(memory);
        let options = AllocateOptions {
            reuse: Some(Reuse {
                follow_events: false,
                ..Reuse::default()
            }),
            ..AllocateOptions::default()
        };
        let (other, _) = writer.allocate_with(&pool, 1000, &options).unwrap();
        assert_ne!(other.address(), address);
        let again = writer.allocate_from(&pool, 1000).unwrap();
        assert_eq!(again.address(), address);
        gate.open();
        device.wait().unwrap();
        check(&pool);
    });
}

#[test]
fn rule_r3_can_be_switched_off() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        // What was freed lies in its queue's cache, or in the store.
        for (opportunistic, in_store) in
            [(false, false), (false, true), (true, false), (true, true)]
        {
            let options = PoolOptions {
                // Each block has a segment of its own, so that nothing else is free.
                min_driver_alloc: 1,
                reuse: Reuse {
                    opportunistic,
                    ..Reuse::default()
                },
                ..PoolOptions::default()
            };
            let pool = pool(device, options);
            let memory = a.allocate_from(&pool, 2 * MIB).unwrap();
            let address = memory.address();
            let gate = close_gate(&a);
            let used = use_on(&a, &memory);
            drop(memory);
            if in_store {
                pool.largest_free();
            }
            gate.open();
            // Done, but nobody has waited for it.
            while used.status() == Status::Pending {
                std::thread::yield_now();
            }
            let other = b.allocate_from(&pool, 2 * MIB).unwrap();
            assert_eq!(
                other.address() == address,
                opportunistic,
                "in the store: {in_store}"
            );
        }
    });
}

#[test]
fn p18_a_wait_is_inserted_only_where_the_pool_cannot_grow() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        let options = PoolOptions {
            maximum_size: Some(2 * MIB),
            ..PoolOptions::default()
        };
        let pool = pool(device, options);
        let gate = close_gate(&a);
        let memory = a.allocate_from(&pool, MIB).unwrap();
        let address = memory.address();
        use_on(&a, &memory);
        drop(memory);
        let first = b.allocate_from(&pool, MIB).unwrap();
        assert_ne!(first.address(), address, "there was room");
        let (second, begun) = b
            .allocate_with(&pool, MIB, &AllocateOptions::default())
            .unwrap();
        assert_eq!(second.address(), address, "rule R5");
        assert!(
            stays_pending(&begun),
            "ordered behind the other queue's use"
        );
        use_on(&a, &second);
        drop(second);
        // Without an event of its own: the queue waits.
        let c = in_order(device);
        let third = c.allocate_from(&pool, MIB).unwrap();
        assert_eq!(third.address(), address, "rule R5");
        assert!(stays_pending(&c.record().unwrap()));
        use_on(&a, &third);
        drop(third);
        let answer = b.allocate_with(&pool, MIB, &at_once());
        assert!(matches!(answer, Err(Error::OutOfMemory(_))), "{answer:?}");
        gate.open();
        device.wait().unwrap();
    });
}

#[test]
fn p20_a_queue_that_is_gone_leaves_its_pending_frees_to_the_pool() {
    each(|device| {
        let options = PoolOptions {
            maximum_size: Some(MIB),
            ..PoolOptions::default()
        };
        let pool = pool(device, options);
        let a = device.create_queue(&QueueOptions::default()).unwrap();
        let gate = close_gate(&a);
        let memory = a.allocate_from(&pool, MIB).unwrap();
        use_on(&a, &memory);
        drop(memory);
        drop(a);
        let b = device.create_queue(&QueueOptions::default()).unwrap();
        let (_memory, begun) = b
            .allocate_with(&pool, MIB, &AllocateOptions::default())
            .unwrap();
        assert!(stays_pending(&begun));
        gate.open();
        begun.wait().unwrap();
        check(&pool);
    });
}

#[test]
fn who_uses_memory_that_another_queue_took_comes_behind_its_last_use() {
    each(|device| {
        let [owner, thief, third] = [(); 3].map(|()| in_order(device));
        let pool = pool(device, crate::at_most(MIB));
        let memory = owner.allocate_from(&pool, MIB).unwrap();
        let gate = close_gate(&owner);
        use_on(&owner, &memory);
        drop(memory);
        // Numbers of the one queue mean nothing on the other.
        for _ in 0..8 {
            thief.task("nothing", &[], || Ok(())).unwrap();
        }
        thief.wait().unwrap();
        thief.barrier(&[&owner.record().unwrap()]).unwrap();
        let memory = thief.allocate_from(&pool, MIB).unwrap();
        let used = use_on(&third, &memory);
        assert!(stays_pending(&used));
        gate.open();
        used.wait().unwrap();
    });
}

#[test]
fn a_queue_that_waits_for_the_last_reader_has_its_memory_again() {
    each(|device| {
        for follow_events in [true, false] {
            let (writer, reader) = (in_order(device), in_order(device));
            let reuse = Reuse {
                follow_events,
                ..Reuse::default()
            };
            let options = PoolOptions {
                reuse,
                ..PoolOptions::default()
            };
            let pool = pool(device, options);
            let gate = close_gate(&reader);
            let memory = writer.allocate_from(&pool, 1000).unwrap();
            let address = memory.address();
            use_on(&writer, &memory);
            use_on(&reader, &memory);
            let before = reader.record().unwrap();
            drop(memory);
            let other = writer.allocate_from(&pool, 1000).unwrap();
            assert_ne!(other.address(), address, "the reader isn't done");
            writer.wait_for(&before).unwrap();
            let again = writer.allocate_from(&pool, 1000).unwrap();
            assert_eq!(again.address() == address, follow_events, "rule R2");
            use_on(&writer, &again);
            gate.open();
            device.wait().unwrap();
            check(&pool);
        }
    });
}
