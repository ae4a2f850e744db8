//! Order without events: two queues share one buffer.
//!
//! Shows: that order is kept for each allocation, whichever queue or thread uses it, so that the
//! result is that of a program that runs line by line.
#![allow(clippy::print_stdout, reason = "examples talk to their reader")]

use std::error::Error;
use std::thread;

use millpond::{Buffer, Gate, MemoryKind, QueueOptions};

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let device = millpond::default_device()?;
    let first = device.create_queue(&QueueOptions::default())?;
    let second = device.create_queue(&QueueOptions::default())?;

    let mut total = Buffer::from_slice(&first, MemoryKind::Device, &[1_i64])?;
    let unrelated = Buffer::from_slice(&second, MemoryKind::Device, &[7_i64])?;

    // A closed gate holds the first queue, as a long command would.
    let gate = Gate::new();
    first.gate(&gate, &[])?;

    // Nobody passes an event, and yet these run one after the other: they use the same memory.
    first.call("add one", (&mut total,), |(total,)| total[0] += 1)?;
    second.call("times ten", (&mut total,), |(total,)| total[0] *= 10)?;
    first.call("add two", (&mut total,), |(total,)| total[0] += 2)?;

    // What has no memory in common doesn't wait for them.
    assert_eq!(unrelated.to_vec()?, [7]);

    gate.open(Ok(()));
    assert_eq!(total.to_vec()?, [22]);

    // Memory that is handed to another thread is still in order.
    second.call("halve", (&mut total,), |(total,)| total[0] /= 2)?;
    let total = thread::scope(|scope| scope.spawn(|| total.to_vec()).join())
        .map_err(|_| "the reader panicked")??;
    assert_eq!(total, [11]);
    println!("((1 + 1) * 10 + 2) / 2 = {}", total[0]);
    Ok(())
}
