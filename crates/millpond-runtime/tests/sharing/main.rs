//! Memory of several processes: what each sees, who goes first, and handles that are of no use.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]
#![allow(
    unsafe_code,
    reason = "imports memory, which the tests use one process at a time"
)]

#[path = "../support/mod.rs"]
mod support;

mod lifetimes;
mod partner;
mod refusals;

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

use millpond_runtime::{
    Allocation, Device, Export, MemoryHandle, MemoryKind, Pattern, Pool, PoolOptions, Queue, Result,
};

pub(crate) const MIB: usize = 1 << 20;

/// A pool whose memory can be shared.
pub(crate) fn pool(device: &Device) -> Pool {
    device.create_pool(MemoryKind::Shared, shareable()).unwrap()
}

pub(crate) fn shareable() -> PoolOptions {
    PoolOptions {
        shareable: true,
        ..PoolOptions::default()
    }
}

/// Memory of a new shareable pool, full of a byte, and all of it exported.
pub(crate) fn exported(queue: &Queue, bytes: usize, byte: u8) -> Export {
    let memory = queue.allocate_from(&pool(queue.device()), bytes).unwrap();
    fill(&memory, byte);
    memory.export(0..bytes).unwrap()
}

pub(crate) fn fill(memory: &Allocation, byte: u8) {
    let pattern = Pattern::new(&[byte]).unwrap();
    let queue = memory.queue();
    queue.fill(memory, 0..memory.bytes(), pattern).unwrap();
}

/// The byte that memory is full of.
pub(crate) fn read(memory: &Allocation) -> u8 {
    let mut bytes = vec![0; memory.bytes()];
    memory.read(0, &mut bytes).unwrap();
    assert!(
        bytes.iter().all(|byte| *byte == bytes[0]),
        "different bytes"
    );
    bytes[0]
}

/// Opens memory that tests use by turns.
pub(crate) fn import(
    queue: &Queue,
    handle: &MemoryHandle,
    descriptor: BorrowedFd<'_>,
) -> Result<Allocation> {
    // SAFETY: tests touch shared bytes from one process at a time.
    unsafe { queue.import_memory(handle, descriptor) }
}

/// A file in `/proc`, for a descriptor of another process or one of another mode.
pub(crate) fn open(path: &str) -> File {
    File::options().read(true).write(true).open(path).unwrap()
}

#[test]
fn what_one_process_writes_the_other_reads() {
    let queue = support::device().default_queue().unwrap();
    let export = exported(&queue, 3 * MIB + 5, 1);
    let mut other = partner::Partner::start();
    let seen = other.open(&export);
    assert_eq!(other.read(seen), 1);
    fill(export.memory(), 2);
    assert_eq!(other.read(seen), 2);
    other.fill(seen, 3);
    assert_eq!(read(export.memory()), 3);
}

#[test]
fn a_part_is_seen_and_nothing_around_it() {
    let queue = support::device().default_queue().unwrap();
    let memory = exported(&queue, 1000, 1).memory().clone();
    let export = memory.export(100..200).unwrap();
    let mut other = partner::Partner::start();
    let seen = other.open(&export);
    other.fill(seen, 2);
    let mut bytes = [0; 1000];
    memory.read(0, &mut bytes).unwrap();
    let is_twos = |(at, byte): (usize, &u8)| *byte == if (100..200).contains(&at) { 2 } else { 1 };
    assert!(bytes.iter().enumerate().all(is_twos));
}

#[test]
fn no_bytes_can_be_shared_as_well() {
    let queue = support::device().default_queue().unwrap();
    let memory = queue.allocate_from(&pool(queue.device()), 256).unwrap();
    for part in [0..0, 256..256] {
        let export = memory.export(part).unwrap();
        let seen = import(&queue, export.handle(), export.as_fd()).unwrap();
        assert_eq!(seen.bytes(), 0);
    }
}

#[test]
fn memory_of_a_larger_request_than_the_pool_pools_is_shared_too() {
    let device = support::device();
    let queue = device.default_queue().unwrap();
    let options = PoolOptions {
        max_poolable: Some(MIB),
        ..shareable()
    };
    let pool = device.create_pool(MemoryKind::Host, options).unwrap();
    let memory = queue.allocate_from(&pool, 5 * MIB).unwrap();
    fill(&memory, 7);
    let export = memory.export(0..memory.bytes()).unwrap();
    let seen = import(&queue, export.handle(), export.as_fd()).unwrap();
    assert_eq!((seen.kind(), read(&seen)), (MemoryKind::Host, 7));
}

#[test]
fn what_was_submitted_is_done_when_memory_is_exported_and_later_commands_when_they_return() {
    let queue = support::device().default_queue().unwrap();
    let memory = queue.allocate_from(&pool(queue.device()), MIB).unwrap();
    let held = millpond_runtime::Gate::new();
    queue.gate(&held, &[]).unwrap();
    fill(&memory, 1);
    assert!(!memory.is_idle());
    held.open(Ok(()));
    let export = memory.export(0..MIB).unwrap();
    assert!(memory.is_idle() && memory.is_host_shared());
    let seen = import(&queue, export.handle(), export.as_fd()).unwrap();
    assert!(seen.is_host_shared() && seen.is_foreign());
    fill(&seen, 2);
    assert!(seen.is_idle(), "the fill is done when the call returns");
    assert_eq!(read(&memory), 2);
}

#[test]
fn a_pool_is_opened_once_and_its_memory_by_handles_alone() {
    let device = support::device();
    let queue = device.default_queue().unwrap();
    let pool = pool(&device);
    let descriptor = pool.descriptor().unwrap();
    let other = support::device();
    let there = other.default_queue().unwrap();
    let imported = other
        .import_pool(&pool.handle().unwrap(), descriptor)
        .unwrap();
    assert_eq!(imported.kind(), MemoryKind::Shared);
    assert_eq!(imported.device(), &other);
    // Also memory of segments that the pool has got since.
    for byte in 1..4 {
        let memory = queue.allocate_from(&pool, 30 * MIB).unwrap();
        fill(&memory, byte);
        let export = memory.export(0..memory.bytes()).unwrap();
        // SAFETY: both sides are this test.
        let seen = unsafe { imported.import_memory(&there, export.handle()) }.unwrap();
        assert_eq!(read(&seen), byte);
    }
}

#[test]
fn what_is_imported_is_in_no_statistics() {
    let device = support::device();
    let queue = device.default_queue().unwrap();
    let export = exported(&queue, MIB, 1);
    let before = (device.live(), device.pool(MemoryKind::Shared).statistics());
    let seen = import(&queue, export.handle(), export.as_fd()).unwrap();
    let after = (device.live(), device.pool(MemoryKind::Shared).statistics());
    assert_eq!(before, after);
    assert!(!seen.is_from(&device.default_pool(MemoryKind::Shared)));
}

#[test]
fn drivers_that_are_checked_find_nothing_wrong() {
    use std::sync::Arc;

    use millpond_hal::layers::{Layered, Order, Trace, TraceEvent, Validate};
    use millpond_runtime::Registry;

    let traced = Arc::new(Layered::new(support::driver(), Trace::default()));
    let ordered = Arc::new(Layered::new(Arc::clone(&traced) as _, Order::default()));
    let checked = Arc::new(Layered::new(Arc::clone(&ordered) as _, Validate::default()));
    let devices = Registry::new(&[Arc::clone(&checked) as _]);
    let device = devices.default_device().unwrap();
    let queue = device.default_queue().unwrap();
    let export = exported(&queue, MIB, 1);
    let seen = import(&queue, export.handle(), export.as_fd()).unwrap();
    fill(&seen, 2);
    assert_eq!(read(export.memory()), 2);
    drop((seen, export));
    queue.wait().unwrap();
    assert_eq!(checked.layer().take_violations(), []);
    assert_eq!(ordered.layer().take_races(), []);
    let events = traced.layer().take();
    let count = |select: fn(&TraceEvent) -> bool| events.iter().filter(|e| select(e)).count();
    assert_eq!(count(|event| matches!(event, TraceEvent::Map { .. })), 1);
    let allocated = count(|event| matches!(event, TraceEvent::Allocate { .. }));
    let released = count(|event| matches!(event, TraceEvent::Release { .. }));
    assert_eq!((allocated, released), (1, 2), "{events:?}");
}
