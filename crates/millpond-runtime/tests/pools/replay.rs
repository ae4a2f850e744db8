//! What other pools make of recordings.

use millpond_runtime::{
    BACKLOG, Device, MemoryKind, Pool, PoolOptions, Queue, Recording, Replay, Reuse, Tag,
};

use crate::recording::{read_on, recorded};
use crate::support::in_order;
use crate::{GIB, MIB, at_most, at_once, close_gate, each, pool, use_on, without_inserted_waits};

/// What a pool takes from its driver at the least.
const BLOCK: usize = 2 * MIB;

/// What two queues do with a pool, recorded.
fn record(device: &Device, body: impl FnOnce(&Pool, &Queue, &Queue)) -> Recording {
    let (one, two) = (in_order(device), in_order(device));
    let pool = pool(device, PoolOptions::default());
    let recorder = pool.record();
    body(&pool, &one, &two);
    recorder.finish()
}

/// Options of a pool that takes no more than it needs, up to a maximum.
fn exact(maximum: usize, reuse: Reuse) -> PoolOptions {
    PoolOptions {
        min_driver_alloc: 1,
        reuse,
        ..at_most(maximum)
    }
}

fn replay(recording: &Recording, options: &PoolOptions) -> Replay {
    recording.replay(options, GIB).unwrap()
}

#[test]
fn a_replay_tells_what_other_limits_would_have_done() {
    each(|device| {
        let recording = recorded(device);
        let replay = |options: &PoolOptions, memory| recording.replay(options, memory).unwrap();

        let free = replay(&PoolOptions::default(), GIB);
        assert_eq!((free.allocations, free.refused, free.waited), (30, 0, 0));
        assert_eq!(free.requested_high, 3 * MIB);
        assert_eq!(free.driver_allocations, 1);
        assert_eq!(free.first_refusal, None);

        let tight = replay(&exact(3 * MIB, Reuse::default()), GIB);
        assert_eq!((tight.allocations, tight.refused), (30, 0));
        assert_eq!((tight.used_high, tight.reserved_high), (3 * MIB, 3 * MIB));
        assert_eq!(tight.fragmentation(), Some(1.0));

        let small = replay(&at_most(2 * MIB), GIB);
        assert_eq!(small.requests(), 30);
        assert_eq!(small.refused, 10);

        let eager = PoolOptions {
            release_threshold: Some(0),
            ..PoolOptions::default()
        };
        assert_eq!(replay(&eager, GIB).driver_allocations, 10);

        let tiny = replay(&PoolOptions::default(), MIB);
        assert_eq!((tiny.allocations, tiny.refused), (10, 20));

        let direct = PoolOptions {
            max_poolable: Some(MIB),
            ..PoolOptions::default()
        };
        assert!(replay(&direct, GIB).driver_allocations > 2);
    });
}

#[test]
fn readers_of_several_queues_are_not_behind_each_other_in_a_replay() {
    each(|device| {
        let recording = record(device, |pool, first, second| {
            let (home, asking) = (in_order(device), in_order(device));
            let memory = home.allocate_from(pool, BLOCK).unwrap();
            read_on(first, &memory);
            read_on(second, &memory);
            drop(memory);
            second.wait().unwrap();
            drop(asking.allocate_from(pool, BLOCK).unwrap());
        });
        let options = exact(BLOCK, without_inserted_waits());
        // The other reader goes on.
        let known = replay(&recording, &options);
        assert_eq!((known.allocations, known.waited), (2, 1));
        // Before, who came first counted as a writer: its reader came behind it.
        let text = recording.to_string().replace("recording 3", "recording 2");
        let lines = text.lines().map(|line| match line.split_once(" uses ") {
            Some((free, uses)) => format!("{free} uses {}\n", uses.replace('r', "")),
            None => format!("{line}\n"),
        });
        let unknown: Recording = lines.collect::<String>().parse().unwrap();
        let unknown = replay(&unknown, &options);
        assert_eq!((unknown.allocations, unknown.waited), (2, 0));
    });
}

#[test]
fn a_replay_asks_again_for_what_was_refused() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, at_most(2 * BLOCK));
        let recorder = pool.record();
        let held = queue.allocate_from(&pool, 2 * BLOCK).unwrap();
        let tag = Tag::new("late");
        {
            let _scope = tag.scope();
            queue.allocate_from(&pool, BLOCK).unwrap_err();
        }
        let gate = close_gate(&queue);
        use_on(&queue, &held);
        drop(held);
        let other = in_order(device);
        other
            .allocate_with(&pool, 2 * BLOCK, &at_once())
            .unwrap_err();
        gate.open();
        queue.wait().unwrap();
        let recording = recorder.finish();

        let counts = |options: &PoolOptions| {
            let replay = replay(&recording, options);
            assert_eq!(replay.requests(), 3);
            (replay.refused_before, replay.served_now, replay.refused)
        };
        let same = exact(2 * BLOCK, without_inserted_waits());
        assert_eq!(counts(&same), (2, 0, 2));
        let more = exact(3 * BLOCK, without_inserted_waits());
        assert_eq!(counts(&more), (2, 1, 1));
        assert_eq!(
            counts(&exact(4 * BLOCK, without_inserted_waits())),
            (2, 2, 0)
        );
        let replayed = replay(&recording, &more);
        assert_eq!(replayed.tags["late"], BLOCK);
        assert_eq!(replayed.requested_high, 3 * BLOCK);
        // The first that is refused still: nothing was waited for, as in the recording.
        assert_eq!(
            (replayed.waited, replayed.first_refusal.unwrap().requested),
            (0, 2 * BLOCK)
        );
    });
}

#[test]
fn a_replay_says_what_the_first_refused_request_found() {
    each(|device| {
        let recording = record(device, |pool, one, _| {
            let held = one.allocate_from(pool, 3 * BLOCK).unwrap();
            drop(one.allocate_from(pool, BLOCK).unwrap());
            drop(one.allocate_from(pool, 2 * BLOCK).unwrap());
            drop(one.allocate_from(pool, 2 * BLOCK).unwrap());
            drop(held);
        });
        let replay = replay(&recording, &exact(4 * BLOCK, Reuse::default()));
        assert_eq!((replay.allocations, replay.refused), (2, 2));
        let first = replay.first_refusal.unwrap();
        let end = recording.steps().len();
        assert_eq!((first.step, first.requested), (end - 5, 2 * BLOCK));
        assert_eq!((first.used, first.pending), (3 * BLOCK, 0));
        assert_eq!((first.cached, first.largest_free), (0, 0));
        let told = first.to_string();
        assert!(
            told.contains("the pool's maximum size is reached"),
            "{told}"
        );
        assert!(
            told.starts_with(&format!("step {}: 4194304 bytes", end - 5)),
            "{told}"
        );
    });
}

#[test]
fn memory_that_another_queue_used_is_not_free_before_that_queue_is() {
    each(|device| {
        for waits_for_reader in [false, true] {
            let recording = record(device, |pool, writer, reader| {
                let memory = writer.allocate_from(pool, BLOCK).unwrap();
                use_on(writer, &memory);
                read_on(reader, &memory);
                drop(memory);
                let queue = if waits_for_reader { reader } else { writer };
                queue.wait().unwrap();
                drop(writer.allocate_from(pool, BLOCK).unwrap());
            });
            let reserved = |maximum| {
                let replay = replay(&recording, &exact(maximum, without_inserted_waits()));
                (replay.reserved_high, replay.waited)
            };
            if waits_for_reader {
                assert_eq!(reserved(4 * BLOCK), (BLOCK, 0), "{recording}");
            } else {
                assert_eq!(reserved(4 * BLOCK), (2 * BLOCK, 0), "{recording}");
                assert_eq!(reserved(BLOCK), (BLOCK, 1), "{recording}");
            }
        }
    });
}

#[test]
fn queues_come_behind_each_other_as_they_did() {
    each(|device| {
        let run = |follows: bool| {
            record(device, |pool, one, two| {
                let memory = one.allocate_from(pool, BLOCK).unwrap();
                let early = one.record().unwrap();
                let used = use_on(one, &memory);
                two.wait_for(if follows { &used } else { &early }).unwrap();
                drop(memory);
                let memory = two.allocate_from(pool, BLOCK).unwrap();
                use_on(two, &memory);
            })
        };
        let by = |follow_events| Reuse {
            follow_events,
            ..without_inserted_waits()
        };
        let reserved =
            |follows, reuse| replay(&run(follows), &exact(4 * BLOCK, reuse)).reserved_high;
        assert_eq!(reserved(true, by(true)), BLOCK);
        assert_eq!(reserved(true, by(false)), 2 * BLOCK);
        // An event from before the last use allows nothing.
        assert_eq!(reserved(false, by(true)), 2 * BLOCK);
    });
}

#[test]
fn order_passes_through_a_third_queue() {
    each(|device| {
        let third = in_order(device);
        let recording = record(device, |pool, one, two| {
            let memory = one.allocate_from(pool, BLOCK).unwrap();
            use_on(one, &memory);
            third.wait_for(&one.record().unwrap()).unwrap();
            two.wait_for(&third.record().unwrap()).unwrap();
            drop(memory);
            drop(two.allocate_from(pool, BLOCK).unwrap());
        });
        let options = exact(4 * BLOCK, without_inserted_waits());
        let reserved = replay(&recording, &options).reserved_high;
        assert_eq!(reserved, BLOCK, "{recording}");
    });
}

#[test]
fn a_free_in_queue_order_comes_behind_its_queue_and_its_events() {
    each(|device| {
        for waits_for_event in [false, true] {
            let recording = record(device, |pool, one, two| {
                let memory = one.allocate_from(pool, BLOCK).unwrap();
                let other = use_on(two, &two.allocate_from(pool, BLOCK).unwrap());
                one.free(memory, &[&other]).unwrap();
                if waits_for_event {
                    one.wait().unwrap();
                }
                let third = in_order(device);
                drop(third.allocate_from(pool, BLOCK).unwrap());
            });
            let replay = replay(&recording, &exact(2 * BLOCK, without_inserted_waits()));
            assert_eq!(replay.refused, 0);
            assert_eq!(replay.waited, usize::from(!waits_for_event), "{recording}");
        }
    });
}

#[test]
fn a_free_in_queue_order_comes_behind_uses_by_the_address() {
    each(|device| {
        let recording = record(device, |pool, one, two| {
            for queue in [one, two] {
                let memory = queue.allocate_from(pool, BLOCK).unwrap();
                queue.task_at("solver", &[], &[], || Ok(())).unwrap();
                queue.free(memory, &[]).unwrap();
            }
        });
        let replay = replay(&recording, &exact(BLOCK, Reuse::default()));
        assert_eq!(
            (replay.inserted_waits, replay.waited),
            (1, 0),
            "{recording}"
        );
    });
}

#[test]
fn inserted_waits_are_counted_and_waits_of_the_host_without_them() {
    each(|device| {
        let recording = record(device, |pool, one, two| {
            for queue in [one, two, one, two] {
                let memory = queue.allocate_from(pool, BLOCK).unwrap();
                use_on(queue, &memory);
            }
        });
        let counts = |reuse| {
            let replay = replay(&recording, &exact(BLOCK, reuse));
            (replay.inserted_waits, replay.waited, replay.refused)
        };
        assert_eq!(counts(Reuse::default()), (3, 0, 0));
        assert_eq!(counts(without_inserted_waits()), (0, 3, 0));
        let timeless = Reuse {
            opportunistic: false,
            ..without_inserted_waits()
        };
        assert_eq!(counts(timeless), (0, 3, 0));
    });
}

#[test]
fn a_replay_without_waits_ends_however_long_it_is() {
    each(|device| {
        let turns = usize::try_from(BACKLOG).unwrap() * 2;
        let recording = record(device, |pool, one, _| {
            for _ in 0..turns {
                let memory = one.allocate_from(pool, BLOCK).unwrap();
                use_on(one, &memory);
            }
        });
        let replay = replay(&recording, &exact(BLOCK, Reuse::default()));
        assert_eq!((replay.allocations, replay.waited), (turns, 0));
    });
}

#[test]
fn a_replay_knows_the_most_that_each_tag_had() {
    each(|device| {
        let recording = record(device, |pool, one, _| {
            for (name, count) in [("a", 3), ("b", 1), ("a", 2)] {
                let _scope = Tag::new(name).scope();
                let some = || one.allocate_from(pool, BLOCK).unwrap();
                drop((0..count).map(|_| some()).collect::<Vec<_>>());
            }
            drop(one.allocate_from(pool, BLOCK).unwrap());
        });
        let tags = replay(&recording, &PoolOptions::default()).tags;
        let tags: Vec<(&str, usize)> = tags.iter().map(|(name, most)| (&**name, *most)).collect();
        assert_eq!(tags, [("a", 3 * BLOCK), ("b", BLOCK)]);
    });
}

#[test]
fn a_replay_of_fragments_says_how_much_lay_idle() {
    each(|device| {
        let recording = record(device, |pool, one, _| {
            let mut held: Vec<_> = (0..8)
                .map(|_| one.allocate_from(pool, BLOCK).unwrap())
                .collect();
            let mut odd = false;
            held.retain(|_| {
                odd = !odd;
                odd
            });
            let _large = one.allocate_from(pool, 2 * BLOCK).unwrap();
        });
        let options = PoolOptions {
            min_driver_alloc: 8 * BLOCK,
            ..PoolOptions::default()
        };
        let replay = replay(&recording, &options);
        assert_eq!(replay.reserved_high, 16 * BLOCK);
        assert_eq!(replay.used_at_reserved_high, 6 * BLOCK);
        assert!((replay.fragmentation().unwrap() - 16.0 / 6.0).abs() < 1e-9);
    });
}

#[test]
fn what_was_recorded_with_one_kind_of_memory_replays_alike() {
    each(|device| {
        let host = device.default_pool(MemoryKind::Host);
        let queue = in_order(device);
        let recorder = host.record();
        drop(queue.allocate(MemoryKind::Host, BLOCK).unwrap());
        drop(queue.allocate(MemoryKind::Device, BLOCK).unwrap());
        let recording = recorder.finish();
        let first = replay(&recording, &PoolOptions::default());
        assert_eq!(first.allocations, 1);
        assert_eq!(first, replay(&recording, &PoolOptions::default()));
    });
}
