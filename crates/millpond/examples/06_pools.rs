//! Pools and statistics: where memory comes from and where it stays.
//!
//! Shows: allocating from a queue's pool, freeing while work is pending, reuse, what the
//! statistics say, and giving memory back.
#![allow(clippy::print_stdout, reason = "examples talk to their reader")]

use std::error::Error;

use millpond::{Error as RuntimeError, Gate, MemoryKind, Pattern, QueueOptions, Statistics};

const BYTES: usize = 1 << 20;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let device = millpond::default_device()?;
    let queue = device.create_queue(&QueueOptions::default())?;
    let pool = device.pool(MemoryKind::Shared);
    let before = pool.statistics();

    // The address is known at once; the bytes are whatever they were.
    let memory = queue.allocate(MemoryKind::Shared, BYTES)?;
    let address = memory.address();
    assert_eq!(pool.statistics().live, before.live + 1);

    // Dropping memory that pending work uses waits for nothing: it counts as pending until then.
    let gate = Gate::new();
    queue.gate(&gate, &[])?;
    let zero = Pattern::new(&[0]).ok_or("one byte is a pattern")?;
    queue.fill(&memory, 0..BYTES, zero)?;
    drop(memory);
    let held = pool.statistics();
    assert!(held.pending >= BYTES);
    print(&held);

    // A later command of the same queue may have the bytes at once: it runs behind the fill.
    let again = queue.allocate(MemoryKind::Shared, BYTES)?;
    assert_eq!(again.address(), address);
    drop(again);
    gate.open(Ok(()));
    queue.wait()?;

    // Now it is free, and kept: touching new pages costs more than most commands.
    let held = pool.statistics();
    assert!(held.cached >= BYTES && held.pending == 0);
    assert_eq!(held.reserved, held.used + held.pending + held.cached);
    print(&held);

    // Idle memory goes back to the system when it is asked for.
    pool.trim(0)?;
    print(&pool.statistics());

    // Too much is refused, with what the pool holds.
    let error = queue.allocate(MemoryKind::Shared, usize::MAX / 2);
    let error = error.expect_err("no machine has that much");
    assert!(matches!(error, RuntimeError::OutOfMemory(_)));
    println!("{error}");
    Ok(())
}

fn print(held: &Statistics) {
    println!(
        "{} reserved = {} used + {} pending + {} cached",
        held.reserved, held.used, held.pending, held.cached
    );
}
