//! Without rule R3 nothing that a pool decides depends on timing.

use std::time::Duration;

use millpond_runtime::{
    Access, AllocateOptions, Allocation, BACKLOG, Device, Error, MemoryKind, Pool, PoolOptions,
    Queue, Reuse, Status, Use, Wait,
};
use millpond_testkit::watchdog::watched;

use crate::support::{Affine, SMALL, in_order, out_of_order};
use crate::{Dice, KIB, MIB, at_most, close_gate, each, pool, use_on, without_inserted_waits};

fn without_r3() -> Reuse {
    Reuse {
        opportunistic: false,
        ..Reuse::default()
    }
}

/// A pool without rule R3.
fn timeless(device: &Device) -> Pool {
    let options = PoolOptions {
        reuse: without_r3(),
        ..PoolOptions::default()
    };
    pool(device, options)
}

/// The same program with other delays; where its memory lay.
fn addresses(device: &Device, pool: &Pool, seed: u64, delays: &mut Dice) -> Vec<usize> {
    let queues: [Queue; 3] = [in_order(device), in_order(device), out_of_order(device)];
    let mut dice = Dice::new(seed);
    let mut live: Vec<Allocation> = Vec::new();
    let mut events = Vec::new();
    let mut seen = Vec::new();
    for _ in 0..120 {
        let queue = &queues[dice.roll(3)];
        match dice.roll(10) {
            0..4 => {
                let bytes = 8 << dice.roll(11);
                match queue.allocate_from(pool, bytes) {
                    Ok(memory) => {
                        seen.push(memory.address().get());
                        live.push(memory);
                    }
                    Err(Error::OutOfMemory(_)) => seen.push(0),
                    Err(error) => panic!("{error}"),
                }
            }
            4..6 if !live.is_empty() => {
                let memory = live.swap_remove(dice.roll(live.len()));
                if dice.roll(2) == 0 {
                    events.push(queue.free(memory, &[]).unwrap());
                }
            }
            6 if !live.is_empty() => {
                // Small enough to run on this thread, where its queue is idle.
                let operand = &live[dice.roll(live.len())];
                let kernel = Affine {
                    count: 1,
                    factor: 3,
                    term: 1,
                };
                queue.launch(kernel, &[operand], SMALL).unwrap();
            }
            7..9 if !live.is_empty() => {
                let access = [Access::Read, Access::Write, Access::Update][dice.roll(3)];
                let uses = [dice.roll(live.len()), dice.roll(live.len())].map(|index| Use {
                    allocation: &live[index],
                    access,
                });
                let delay = Duration::from_micros(delays.roll(4) as u64 * 40);
                let body = move || {
                    std::thread::sleep(delay);
                    Ok(())
                };
                events.push(queue.task("delay", &uses, body).unwrap());
            }
            9 if !events.is_empty() => {
                let event = &events[dice.roll(events.len())];
                match dice.roll(3) {
                    0 => event.wait().unwrap(),
                    1 => queue.wait_for(event).unwrap(),
                    _ => queue.wait().unwrap(),
                }
            }
            _ => std::thread::sleep(Duration::from_micros(delays.roll(3) as u64 * 30)),
        }
        if live.len() > 12 {
            live.remove(0);
        }
    }
    drop(live);
    device.wait().unwrap();
    seen
}

/// Work is done, and the program has seen that in every way there is but by waiting: nothing is
/// freer by it. A wait that returns at once does count.
#[test]
fn p17_to_ask_whether_work_is_done_is_not_to_wait() {
    each(|device| {
        let pool = timeless(device);
        pool.set_maximum_size(Some(MIB));
        let at_once = AllocateOptions {
            reuse: Some(Reuse {
                internal_dependencies: false,
                ..without_r3()
            }),
            wait: Wait::Never,
            ..AllocateOptions::default()
        };
        for wait_of in [Queue::try_wait, |queue: &Queue| queue.device().try_wait()] {
            let (one, other) = (in_order(device), in_order(device));
            let memory = one.allocate_from(&pool, MIB).unwrap();
            let used = use_on(&one, &memory);
            drop(memory);
            while used.status() == Status::Pending {
                std::thread::yield_now();
            }
            assert!(one.is_idle() && one.is_settled() && device.is_settled());
            let answer = other.allocate_with(&pool, MIB, &at_once);
            assert!(matches!(answer, Err(Error::OutOfMemory(_))), "{answer:?}");
            assert!(wait_of(&one));
            other.allocate_with(&pool, MIB, &at_once).unwrap();
        }
    });
}

#[test]
fn p17_addresses_do_not_depend_on_timing() {
    watched(|| {
        let device = crate::support::device();
        let buffer = device
            .default_queue()
            .unwrap()
            .allocate(MemoryKind::Device, 64 * KIB)
            .unwrap();
        let mut delays = Dice::new(77);
        // From much memory to so little that requests wait and are refused.
        for (seed, kib) in (1..).zip([64, 24, 16, 14, 12, 10, 8, 6]) {
            let mut runs = Vec::new();
            for _ in 0..20 {
                let pool = device
                    .create_pool_over(&buffer, 0..kib * KIB, PoolOptions::default())
                    .unwrap();
                pool.set_reuse(without_r3());
                runs.push(addresses(&device, &pool, seed, &mut delays));
            }
            let first = &runs[0];
            assert!(runs.iter().all(|run| run == first), "seed {seed}: {runs:?}");
        }
    });
}

#[test]
fn a_wait_for_memory_ends_on_an_out_of_order_queue_too() {
    each(|device| {
        let queue = out_of_order(device);
        let options = PoolOptions {
            maximum_size: Some(8 * KIB),
            reuse: Reuse {
                opportunistic: false,
                ..without_inserted_waits()
            },
            ..PoolOptions::default()
        };
        let pool = pool(device, options);
        let memory = queue.allocate_from(&pool, 8 * KIB).unwrap();
        let gate = close_gate(&queue);
        use_on(&queue, &memory);
        drop(memory);
        gate.open();
        // Its only way is to wait for the command that used the memory.
        queue.allocate_from(&pool, 8 * KIB).unwrap();
    });
}

#[test]
fn a_wait_for_a_queue_ends_all_that_is_pending_on_it() {
    each(|device| {
        for queue in [in_order(device), out_of_order(device)] {
            let pool = timeless(device);
            let memory = queue.allocate_from(&pool, 8 * KIB).unwrap();
            use_on(&queue, &memory);
            drop(memory);
            queue.wait().unwrap();
            let held = pool.statistics();
            assert_eq!((held.pending, held.cached), (0, held.reserved));
        }
    });
}

#[test]
fn what_is_idle_is_said_to_be_although_nobody_waited() {
    each(|device| {
        let (a, b) = (in_order(device), in_order(device));
        let pool = timeless(device);
        let memory = a.allocate_from(&pool, KIB).unwrap();
        for queue in [&a, &b] {
            let gate = close_gate(queue);
            let used = use_on(queue, &memory);
            assert!(!memory.is_idle());
            gate.open();
            while used.status() == millpond_runtime::Status::Pending {
                std::thread::yield_now();
            }
            assert!(memory.is_idle());
        }
    });
}

#[test]
fn switching_the_rule_back_on_takes_effect() {
    each(|device| {
        let queue = in_order(device);
        let options = PoolOptions {
            reuse: without_r3(),
            maximum_size: Some(2 * KIB),
            ..PoolOptions::default()
        };
        let pool = pool(device, options);
        let memory = queue.allocate_from(&pool, KIB).unwrap();
        let address = memory.address();
        let used = use_on(&queue, &memory);
        drop(memory);
        while used.status() == millpond_runtime::Status::Pending {
            std::thread::yield_now();
        }
        let other = in_order(device);
        assert_ne!(other.allocate_from(&pool, KIB).unwrap().address(), address);
        pool.set_reuse(Reuse::default());
        let mut found = Vec::new();
        for _ in 0..2 {
            found.push(other.allocate_from(&pool, KIB).unwrap());
        }
        assert!(found.iter().any(|memory| memory.address() == address));
    });
}

#[test]
fn an_event_of_a_whole_queue_ends_all_that_is_pending_on_it() {
    each(|device| {
        for queue in [in_order(device), out_of_order(device)] {
            let pool = timeless(device);
            let memory = queue.allocate_from(&pool, 8 * KIB).unwrap();
            use_on(&queue, &memory);
            drop(memory);
            queue.record().unwrap().wait().unwrap();
            assert_eq!(pool.statistics().pending, 0);
            let memory = queue.allocate_from(&pool, 8 * KIB).unwrap();
            use_on(&queue, &memory);
            drop(memory);
            queue.barrier(&[]).unwrap().wait().unwrap();
            assert_eq!(pool.statistics().pending, 0);
        }
    });
}

#[test]
fn what_a_queue_that_is_gone_used_is_over_when_it_has_completed() {
    each(|device| {
        let pool = timeless(device);
        let queue = out_of_order(device);
        let memory = queue.allocate_from(&pool, 8 * KIB).unwrap();
        let gate = close_gate(&queue);
        use_on(&queue, &memory);
        drop(memory);
        drop(queue);
        gate.open();
        device.wait().unwrap();
        assert_eq!(pool.statistics().pending, 0);
    });
}

#[test]
fn on_an_out_of_order_queue_each_command_counts_that_was_waited_for() {
    each(|device| {
        let queue = out_of_order(device);
        let pool = pool(
            device,
            PoolOptions {
                reuse: without_r3(),
                ..PoolOptions::default()
            },
        );
        // Never waited for, and in nobody's way.
        let gate = close_gate(&queue);
        for _ in 0..3000 {
            let memory = queue.allocate_from(&pool, 256 * KIB).unwrap();
            use_on(&queue, &memory).wait().unwrap();
        }
        let reserved = pool.statistics().reserved;
        assert!(reserved <= 32 * 1024 * KIB, "{reserved}");
        gate.open();
        queue.wait().unwrap();
        assert_eq!(pool.statistics().pending, 0);
    });
}

#[test]
fn a_wait_for_room_on_a_queue_is_none_for_memory() {
    each(|device| {
        let (queue, other) = (in_order(device), in_order(device));
        let options = PoolOptions {
            reuse: without_r3(),
            ..at_most(1024 * KIB)
        };
        let pool = pool(device, options);
        let memory = queue.allocate_from(&pool, 1024 * KIB).unwrap();
        let gate = close_gate(&queue);
        use_on(&queue, &memory);
        drop(memory);
        // Whether a submission has to wait is a matter of timing; here one has to.
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                gate.open();
            });
            for _ in 0..=BACKLOG {
                queue.task("step", &[], || Ok(())).unwrap();
            }
        });
        let options = AllocateOptions {
            wait: Wait::Never,
            reuse: Some(Reuse {
                internal_dependencies: false,
                ..without_r3()
            }),
            ..AllocateOptions::default()
        };
        let answer = other.allocate_with(&pool, 1024 * KIB, &options);
        assert!(matches!(answer, Err(Error::OutOfMemory(_))), "{answer:?}");
        queue.wait().unwrap();
        other.allocate_with(&pool, 1024 * KIB, &options).unwrap();
    });
}
