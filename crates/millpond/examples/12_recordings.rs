//! What a pool was asked for, and what a smaller one would have done with it.
//!
//! Shows: recording a pool, replays under several limits, what was refused and why, a recording in
//! a file that grows while the program runs.
#![allow(clippy::print_stdout, reason = "examples talk to their reader")]

use std::error::Error;
use std::fs::File;
use std::io::BufReader;

use millpond::{
    Access, Device, Event, MemoryKind, Pool, PoolOptions, Queue, QueueOptions, Recording, Reuse,
    Use,
};

const MIB: usize = 1 << 20;

/// Two queues that each use a large block in turn, and one that is kept.
fn work(device: &Device, pool: &Pool) -> Result<(), Box<dyn Error>> {
    let queues = [0, 1].map(|_| device.create_queue(&QueueOptions::default()));
    let [one, two] = queues;
    let (one, two) = (one?, two?);
    let kept = one.allocate_from(pool, 8 * MIB)?;
    for _ in 0..4 {
        step(&one, pool)?;
        step(&two, pool)?;
    }
    device.wait()?;
    drop(kept);
    Ok(())
}

fn step(queue: &Queue, pool: &Pool) -> Result<Event, millpond::Error> {
    let memory = queue.allocate_from(pool, 16 * MIB)?;
    let uses = [Use {
        allocation: &memory,
        access: Access::Write,
    }];
    queue.task("step", &uses, || Ok(()))
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let device = millpond::default_device()?;
    let pool = device.create_pool(MemoryKind::Device, PoolOptions::default())?;
    let recorder = pool.record();
    work(&device, &pool)?;
    let recording = recorder.finish();

    // On a device without memory: nothing runs, and the answer is the same every time.
    let with = |maximum: usize, internal_dependencies| PoolOptions {
        maximum_size: Some(maximum * MIB),
        reuse: Reuse {
            internal_dependencies,
            ..Reuse::default()
        },
        ..PoolOptions::default()
    };
    let ample = recording.replay(&PoolOptions::default(), 1 << 40)?;
    assert_eq!((ample.refused, ample.requested_high), (0, 24 * MIB));

    // With room for one block both queues share it: the second waits for the first.
    let shared = recording.replay(&with(24, true), 1 << 40)?;
    assert_eq!((shared.refused, shared.waited), (0, 0));
    assert_eq!((shared.inserted_waits, shared.reserved_high), (7, 24 * MIB));

    // Without such waits it is the program that waits.
    let waiting = recording.replay(&with(24, false), 1 << 40)?;
    assert_eq!((waiting.inserted_waits, waiting.waited), (0, 7));

    // Too small is too small, and the first request that failed says what it found.
    let small = recording.replay(&with(16, true), 1 << 40)?;
    let Some(first) = small.first_refusal else {
        return Err("16 MiB can't be enough".into());
    };
    assert_eq!((small.refused, first.used), (8, 8 * MIB));
    println!("{first}");

    // A service writes to a file as it goes, and keeps nothing in memory.
    let path = std::env::temp_dir().join(format!("millpond-{}.txt", std::process::id()));
    let writer = pool.record_to(File::create(&path)?)?;
    work(&device, &pool)?;
    let steps = writer.finish()?;
    let recording = Recording::read(BufReader::new(File::open(&path)?))?;
    std::fs::remove_file(&path)?;
    assert_eq!(recording.steps().len(), steps);
    assert_eq!(recording.replay(&with(24, true), 1 << 40)?.refused, 0);
    Ok(())
}
