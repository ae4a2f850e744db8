//! What recordings have in them, and that they survive as text.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use millpond_runtime::{
    Access, AllocateOptions, Allocation, Device, Error, Event, PoolOptions, Queue, QueueOptions,
    RecordedPoint, RecordedUse, Recording, Step, Tag, Use,
};

use crate::support::in_order;
use crate::{GIB, KIB, MIB, at_most, at_once, each, pool, use_on};

/// Ten turns of three allocations that overlap, with a wait after each.
pub(crate) fn recorded(device: &Device) -> Recording {
    let queue = in_order(device);
    let pool = pool(device, PoolOptions::default());
    let _before = queue.allocate_from(&pool, 64).unwrap();
    let recorder = pool.record();
    for _ in 0..10 {
        let first = queue.allocate_from(&pool, 2 * MIB).unwrap();
        use_on(&queue, &first);
        let second = queue.allocate_from(&pool, MIB).unwrap();
        drop(first);
        let third = queue.allocate_from(&pool, 2 * MIB).unwrap();
        use_on(&queue, &third);
        drop((second, third));
        queue.wait().unwrap();
    }
    let recording = recorder.finish();
    drop(queue.allocate_from(&pool, 64).unwrap());
    recording
}

pub(crate) fn read_on(queue: &Queue, memory: &Allocation) -> Event {
    let uses = [Use {
        allocation: memory,
        access: Access::Read,
    }];
    queue.task("read", &uses, || Ok(())).unwrap()
}

fn point(event: &Event) -> RecordedPoint {
    event.point().into()
}

fn write(event: &Event) -> RecordedUse {
    let (at, writes) = (point(event), Some(true));
    RecordedUse { at, writes }
}

fn read(event: &Event) -> RecordedUse {
    let (at, writes) = (point(event), Some(false));
    RecordedUse { at, writes }
}

/// The steps, without those that say what queues there are.
fn happened(recording: &Recording) -> Vec<Step> {
    let steps = recording.steps().iter();
    let is_news = |step: &&Step| !matches!(step, Step::Queue { .. });
    steps.filter(is_news).cloned().collect()
}

#[test]
fn a_recording_has_what_happened_between_its_ends() {
    each(|device| {
        let steps = happened(&recorded(device));
        assert_eq!(steps.len(), 70);
        let first: Vec<&str> = steps[..7]
            .iter()
            .map(|step| match step {
                Step::Allocate { bytes, .. } if *bytes == MIB => "one",
                Step::Allocate { .. } => "two",
                Step::Free { .. } => "free",
                Step::Wait { .. } => "wait",
                Step::Queue { .. } | Step::Refuse { .. } | Step::Follow { .. } => "other",
            })
            .collect();
        assert_eq!(first, ["two", "one", "free", "two", "free", "free", "wait"]);
        let Step::Allocate { id, at, .. } = &steps[0] else {
            panic!("{:?}", steps[0])
        };
        let (queue, sequence) = (at.queue, at.sequence + 1);
        let free = Step::Free {
            id: *id,
            on: None,
            after: vec![],
            uses: vec![RecordedUse {
                at: RecordedPoint { queue, sequence },
                writes: Some(true),
            }],
        };
        assert_eq!(steps[2], free);
        let sequence = sequence + 1;
        let at = RecordedPoint { queue, sequence };
        assert_eq!(steps[6], Step::Wait { at });
    });
}

#[test]
fn a_recording_says_which_queues_there_are_and_when_they_came() {
    each(|device| {
        let early = in_order(device);
        let event = early.barrier(&[]).unwrap();
        let pool = pool(device, PoolOptions::default());
        let recorder = pool.record();
        let out_of_order = QueueOptions {
            out_of_order: true,
            ..QueueOptions::default()
        };
        let late = device.create_queue(&out_of_order).unwrap();
        let recording = recorder.finish();
        let has = |at, in_order| recording.steps().contains(&Step::Queue { at, in_order });
        assert!(has(point(&event), true), "{recording}");
        let (queue, sequence) = (late.id(), 0);
        assert!(has(RecordedPoint { queue, sequence }, false), "{recording}");
        assert_eq!(happened(&recording), []);
    });
}

#[test]
fn a_recording_has_the_uses_of_all_queues_and_the_waits_between_them() {
    each(|device| {
        let (writer, reader) = (in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let memory = writer.allocate_from(&pool, MIB).unwrap();
        let id = memory.address().get();
        let written = use_on(&writer, &memory);
        let recorder = pool.record();
        reader.wait_for(&written).unwrap();
        let seen = read_on(&reader, &memory);
        let last = read_on(&writer, &memory);
        drop(memory);
        writer.wait_for(&writer.record().unwrap()).unwrap();
        let steps = happened(&recorder.finish());
        let before = RecordedPoint {
            queue: reader.id(),
            sequence: seen.sequence() - 1,
        };
        let follow = Step::Follow {
            at: before,
            after: vec![point(&written)],
        };
        let free = Step::Free {
            id,
            on: None,
            after: vec![],
            uses: vec![write(&written), read(&last), read(&seen)],
        };
        assert_eq!(steps, [follow, free]);
    });
}

#[test]
fn a_command_by_address_comes_behind_its_events_in_a_recording_too() {
    each(|device| {
        let (first, second) = (in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let event = first.barrier(&[]).unwrap();
        let recorder = pool.record();
        let done = second.task_at("solver", &[], &[&event], || Ok(()));
        let at = RecordedPoint {
            queue: second.id(),
            sequence: done.unwrap().sequence() - 1,
        };
        let after = vec![point(&event)];
        assert_eq!(happened(&recorder.finish()), [Step::Follow { at, after }]);
    });
}

#[test]
fn a_recording_has_lives_in_queue_order_with_their_events_once() {
    each(|device| {
        let (queue, other) = (in_order(device), in_order(device));
        let pool = pool(device, PoolOptions::default());
        let event = other.barrier(&[]).unwrap();
        let recorder = pool.record();
        let tag = Tag::new("tenant").child("request");
        let (memory, begun) = {
            let _scope = tag.scope();
            let options = AllocateOptions {
                after: &[&event],
                alignment: 4 * KIB,
                ..AllocateOptions::default()
            };
            queue.allocate_with(&pool, MIB, &options).unwrap()
        };
        let id = memory.address().get();
        let used = use_on(&queue, &memory);
        let freed = other.free(memory, &[&used]).unwrap();
        let steps = happened(&recorder.finish());
        let allocate = Step::Allocate {
            id,
            at: RecordedPoint {
                queue: queue.id(),
                sequence: begun.sequence() - 1,
            },
            bytes: MIB,
            alignment: 4 * KIB,
            after: vec![point(&event)],
            tag: Some("tenant/request".into()),
        };
        let free = Step::Free {
            id,
            on: Some(point(&freed)),
            // The command came behind the event that the memory began with.
            after: vec![point(&used), point(&event)],
            uses: vec![write(&used)],
        };
        assert_eq!(steps, [allocate, free]);
    });
}

#[test]
fn a_recording_survives_as_text_and_bad_text_is_refused() {
    each(|device| {
        let recording = recorded(device);
        let text = recording.to_string();
        assert_eq!(text.parse::<Recording>().unwrap(), recording);
        for bad in ["", "something else", "millpond pool recording 4\n"] {
            let error = bad.parse::<Recording>().unwrap_err();
            assert!(error.to_string().contains("line 1"), "{error}");
        }
        let number = recording.steps().len() + 2;
        for line in [
            "allocate 10 1",
            "allocate 1 2 3",
            "allocate 1 2:0 -3",
            "allocate 1 2:0 3 align",
            "allocate 1 2:0 3 after 1:2 align 4",
            "allocate 1 2:0 3 tag \\x",
            "free x",
            "free 1 uses 2",
            "free 1 uses 2:3,",
            "free 1 uses 2:3x",
            "free 1 uses w",
            "free 1 after 2:3w",
            "refuse 2:0",
            "refuse 1 2:0 3",
            "refuse 2:0 3 wait yes",
            "free 1 tag x",
            "follow 1:2 3:4",
            "queue 1:2 sideways",
            "wait 1",
            "wait 1:2 3",
            "stop",
            "",
        ] {
            let error = format!("{text}{line}\n").parse::<Recording>().unwrap_err();
            let wanted = format!("line {number}: '{line}'");
            assert!(error.to_string().contains(&wanted), "{error}");
        }
    });
}

#[test]
fn every_kind_of_step_survives_as_text() {
    let text = "millpond pool recording 3\n\
                queue 3:17 in-order\n\
                queue 4:0 out-of-order\n\
                allocate 7f00 3:17 1048576\n\
                allocate 8000 3:17 5 align 4096 after 4:2,5:9 tag a tag\\nof \\\\ lines\n\
                follow 3:18 after 4:12,5:9\n\
                refuse 3:18 99\n\
                refuse 3:18 100 align 4096 after 4:2 wait no tag a b\n\
                free 7f00 uses 3:18w,4:14r,5:1\n\
                free 8000 on 3:20 after 4:12 uses 3:19r\n\
                free 9000\n\
                wait 3:20\n";
    let recording: Recording = text.parse().unwrap();
    assert_eq!(recording.steps().len(), 11);
    let Step::Allocate { tag, .. } = &recording.steps()[3] else {
        panic!("{recording}");
    };
    assert_eq!(tag.as_deref(), Some("a tag\nof \\ lines"));
    assert_eq!(recording.to_string(), text);
    let mut written = Vec::new();
    recording.write(&mut written).unwrap();
    assert_eq!(written, text.as_bytes());
}

#[test]
fn a_last_line_that_was_cut_off_is_left_out() {
    let text = "millpond pool recording 3\nwait 3:20\nwait 3:21";
    let recording: Recording = text.parse().unwrap();
    assert_eq!(
        recording.to_string(),
        "millpond pool recording 3\nwait 3:20\n"
    );
}

#[test]
fn texts_of_the_second_version_are_read_and_replayed() {
    let steps = "queue 7:0 in-order\nallocate 100 7:0 1024\nfree 100 uses 7:1\nwait 7:1\n";
    let recording: Recording = format!("millpond pool recording 2\n{steps}")
        .parse()
        .unwrap();
    let text = format!("millpond pool recording 3\n{steps}");
    assert_eq!(recording.to_string(), text);
    let replay = recording.replay(&PoolOptions::default(), GIB).unwrap();
    assert_eq!((replay.allocations, replay.refused_before), (1, 0));
}

#[test]
fn a_recording_has_the_requests_that_were_refused() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, at_most(MIB));
        let recorder = pool.record();
        let event = queue.barrier(&[]).unwrap();
        let at = point(&event);
        let held = queue.allocate_from(&pool, MIB).unwrap();
        queue.allocate_from(&pool, 3 * KIB).unwrap_err();
        let tag = Tag::new("tenant");
        {
            let _scope = tag.scope();
            let options = AllocateOptions {
                after: &[&event],
                alignment: 4 * KIB,
                ..at_once()
            };
            queue.allocate_with(&pool, 2 * MIB, &options).unwrap_err();
            // What a budget forbids isn't asked of the pool.
            tag.set_budget(Some(0));
            queue.allocate_from(&pool, MIB).unwrap_err();
        }
        drop(held);
        let steps = happened(&recorder.finish());
        let plain = Step::Refuse {
            at,
            bytes: 3 * KIB,
            alignment: 1,
            after: vec![],
            may_wait: true,
            tag: None,
        };
        let impatient = Step::Refuse {
            at,
            bytes: 2 * MIB,
            alignment: 4 * KIB,
            after: vec![at],
            may_wait: false,
            tag: Some("tenant".into()),
        };
        assert_eq!(steps.len(), 4);
        assert_eq!(steps[1..3], [plain, impatient]);
    });
}

#[test]
fn texts_of_the_first_version_are_read() {
    let text = "millpond pool recording 1\n\
                allocate 10 7 100\nallocate 20 7 200\nfree 10\nwait 7\n";
    let same = "millpond pool recording 3\n\
                allocate 10 7:0 100\nallocate 20 7:1 200\nfree 10 uses 7:1\nwait 7:2\n";
    assert_eq!(text.parse::<Recording>().unwrap().to_string(), same);
    let error = "millpond pool recording 1\nwait 7:2\n".parse::<Recording>();
    assert!(
        error
            .unwrap_err()
            .to_string()
            .contains("line 2: 'wait 7:2'")
    );
}

/// Bytes that a writer got, and may be looked at meanwhile; beyond some it refuses more.
#[derive(Clone)]
struct Paper(Arc<Mutex<Vec<u8>>>, usize);

impl Write for Paper {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut written = self.0.lock().unwrap();
        if written.len() + bytes.len() > self.1 {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "no more paper"));
        }
        written.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_writer_gets_the_steps_as_they_happen_and_the_rest_at_the_end() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, PoolOptions::default());
        let paper = Paper(Arc::default(), usize::MAX);
        let recorder = pool.record_to(paper.clone()).unwrap();
        let queues = device.create_queue(&QueueOptions::default());
        for _ in 0..5000 {
            drop(queue.allocate_from(&pool, MIB).unwrap());
        }
        let early = paper.0.lock().unwrap().len();
        assert!(early > 64 * KIB, "{early}");
        let steps = recorder.finish().unwrap();
        drop(queue.allocate_from(&pool, MIB).unwrap());
        drop(queues);
        let written = paper.0.lock().unwrap();
        let recording = Recording::read(&written[..]).unwrap();
        assert_eq!(recording.steps().len(), steps);
        assert_eq!(happened(&recording).len(), 10_000);
    });
}

#[test]
fn a_writer_that_fails_ends_the_recording_and_not_the_pool() {
    each(|device| {
        let queue = in_order(device);
        let pool = pool(device, PoolOptions::default());
        let recorder = pool.record_to(Paper(Arc::default(), 100)).unwrap();
        for _ in 0..5000 {
            drop(queue.allocate_from(&pool, MIB).unwrap());
        }
        let error = recorder.finish().unwrap_err();
        assert!(matches!(
            &error,
            Error::Io {
                kind: io::ErrorKind::StorageFull,
                ..
            }
        ));
        assert_eq!(error.to_string(), "writing a recording: no more paper");
        assert!(pool.record_to(Paper(Arc::default(), 0)).is_err());
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
