//! Recordings and what other pools make of them.

use millpond_runtime::{PoolOptions, Recording, Step, Tag};

use crate::support::in_order;
use crate::{GIB, MIB, each, pool};

/// Ten turns of three allocations that overlap, with a wait after each.
fn recorded(device: &millpond_runtime::Device) -> Recording {
    let queue = in_order(device);
    let pool = pool(device, PoolOptions::default());
    let _before = queue.allocate_from(&pool, 64).unwrap();
    let recorder = pool.record();
    for _ in 0..10 {
        let first = queue.allocate_from(&pool, 2 * MIB).unwrap();
        let second = queue.allocate_from(&pool, MIB).unwrap();
        drop(first);
        let third = queue.allocate_from(&pool, 2 * MIB).unwrap();
        drop((second, third));
        queue.wait().unwrap();
    }
    let recording = recorder.finish();
    drop(queue.allocate_from(&pool, 64).unwrap());
    recording
}

#[test]
fn a_recording_has_what_happened_between_its_ends() {
    each(|device| {
        let recording = recorded(device);
        let steps = recording.steps();
        assert_eq!(steps.len(), 70);
        let first: Vec<&str> = steps[..7]
            .iter()
            .map(|step| match step {
                Step::Allocate { bytes, .. } if *bytes == MIB => "one",
                Step::Allocate { .. } => "two",
                Step::Free { .. } => "free",
                Step::Wait { .. } => "wait",
            })
            .collect();
        assert_eq!(first, ["two", "one", "free", "two", "free", "free", "wait"]);
        let Step::Allocate { id, .. } = steps[0] else {
            panic!("{:?}", steps[0])
        };
        assert_eq!(steps[2], Step::Free { id });
    });
}

#[test]
fn a_recording_survives_as_text_and_bad_text_is_refused() {
    each(|device| {
        let recording = recorded(device);
        let text = recording.to_string();
        assert_eq!(text.parse::<Recording>().unwrap(), recording);
        for bad in ["", "something else", "millpond pool recording 2\n"] {
            let error = bad.parse::<Recording>().unwrap_err();
            assert!(error.to_string().contains("line 1"), "{error}");
        }
        for line in [
            "allocate 10 1",
            "free x",
            "wait 1 2",
            "allocate 1 2 -3",
            "stop",
        ] {
            let text = format!("{text}{line}\n");
            let error = text.parse::<Recording>().unwrap_err();
            assert!(
                error.to_string().contains(&format!("line 72: '{line}'")),
                "{error}"
            );
        }
    });
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

        let exact = PoolOptions {
            maximum_size: Some(3 * MIB),
            min_driver_alloc: 1,
            ..PoolOptions::default()
        };
        let exact = replay(&exact, GIB);
        assert_eq!((exact.allocations, exact.refused), (30, 0));
        assert_eq!((exact.used_high, exact.reserved_high), (3 * MIB, 3 * MIB));

        let small = PoolOptions {
            maximum_size: Some(2 * MIB),
            ..PoolOptions::default()
        };
        let small = replay(&small, GIB);
        assert_eq!(small.allocations + small.refused, 30);
        assert_eq!(small.refused, 10);

        let eager = PoolOptions {
            release_threshold: Some(0),
            ..PoolOptions::default()
        };
        assert_eq!(replay(&eager, GIB).driver_allocations, 10);

        let tiny = replay(&PoolOptions::default(), MIB);
        assert_eq!((tiny.allocations, tiny.refused), (10, 20));
    });
}

#[test]
fn what_a_replay_asks_for_is_counted_by_no_tag() {
    each(|device| {
        let recording = recorded(device);
        let tag = Tag::new("small");
        tag.set_budget(Some(MIB));
        let _scope = tag.scope();
        let replay = recording.replay(&PoolOptions::default(), GIB).unwrap();
        assert_eq!((replay.allocations, replay.refused), (30, 0));
        assert_eq!(tag.used_high(), 0);
        // The scope goes on.
        let queue = in_order(device);
        let _memory = queue.allocate_from(&pool(device, PoolOptions::default()), MIB);
        assert_eq!(tag.used(), MIB);
    });
}
