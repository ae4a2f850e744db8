//! Streams of other libraries: followed and held without a wait of the host's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use millpond_hal::Driver;
use millpond_runtime::{
    Address, Allocation, Device, Gate, MemoryKind, Pattern, Queue, QueueOptions, Registry, Release,
    StreamAllocator, drain_releases,
};
use millpond_testkit::dice::Dice;
use millpond_testkit::watchdog::watched;

use super::super::Fake;
use crate::CudaDriver;
use crate::api::StreamHandle;

const BYTES: usize = 4096;

fn fake() -> (Arc<Fake>, Device) {
    let fake = Fake::new(1);
    let api: crate::api::Found = fake.clone();
    let driver: Arc<dyn Driver> = Arc::new(CudaDriver::over(api));
    let devices = Registry::new(&[driver]);
    (fake, devices.device("cuda:0").expect("it is there"))
}

fn memory(queue: &Queue, byte: u8) -> Allocation {
    let memory = queue.allocate(MemoryKind::Device, BYTES).expect("memory");
    fill(queue, &memory, byte);
    memory
}

fn fill(queue: &Queue, memory: &Allocation, byte: u8) {
    let pattern = Pattern::new(&[byte]).expect("a pattern");
    queue.fill(memory, 0..BYTES, pattern).expect("it is taken");
}

fn bytes(memory: &Allocation) -> Vec<u8> {
    let mut bytes = vec![0; BYTES];
    memory.read(0, &mut bytes).expect("it can be read");
    bytes
}

#[test]
fn a_queue_follows_a_stream_and_a_stream_follows_a_queue() {
    watched(|| {
        let (fake, device) = fake();
        let queue = device.default_queue().expect("a queue");
        let theirs = fake.stream();
        let x = memory(&queue, 1);
        for round in 0..100_u8 {
            // SAFETY: streams of the fake live as long as it does.
            unsafe { x.hold_stream(theirs.0, true) }.expect("it waits");
            fake.fill_on(theirs, x.address().get(), 2 * round, BYTES);
            // SAFETY: as above.
            unsafe { queue.follow_stream(theirs.0) }.expect("it is followed");
            let y = queue.allocate(MemoryKind::Device, BYTES).expect("memory");
            queue.copy(&x, 0, &y, 0, BYTES).expect("it is taken");
            fill(&queue, &x, 255);
            assert_eq!(bytes(&y), [2 * round; BYTES]);
        }
    });
}

#[test]
fn the_host_waits_for_neither() {
    watched(|| {
        let (fake, device) = fake();
        let queue = device.default_queue().expect("a queue");
        let theirs = fake.stream();
        let x = memory(&queue, 1);
        assert_eq!(bytes(&x), [1; BYTES]);
        fake.pause();
        fill(&queue, &x, 2);
        // SAFETY: streams of the fake live as long as it does.
        unsafe { x.hold_stream(theirs.0, true) }.expect("it waits");
        fake.fill_on(theirs, x.address().get(), 3, BYTES);
        // SAFETY: as above.
        unsafe { x.follow_stream(theirs.0) }.expect("it is followed");
        fill(&queue, &x, 4);
        assert!(!x.is_idle() && !fake.is_idle(theirs));
        fake.resume();
        assert_eq!(bytes(&x), [4; BYTES]);
    });
}

/// Only what uses the memory is held back, not the queue.
#[test]
fn memory_follows_a_stream_by_itself() {
    watched(|| {
        let (fake, device) = fake();
        let queue = device.default_queue().expect("a queue");
        let theirs = fake.stream();
        let (x, other) = (memory(&queue, 1), memory(&queue, 1));
        queue.wait().expect("all went well");
        fake.hold(theirs, true);
        fake.fill_on(theirs, x.address().get(), 2, BYTES);
        // SAFETY: streams of the fake live as long as it does.
        unsafe { x.follow_stream(theirs.0) }.expect("it is followed");
        fill(&queue, &other, 3);
        assert_eq!(bytes(&other), [3; BYTES]);
        assert!(!x.is_idle());
        fake.hold(theirs, false);
        assert_eq!(bytes(&x), [2; BYTES]);
    });
}

/// What a task of the host's has to do first is waited for, as no stream can.
#[test]
fn what_the_host_has_to_do_is_waited_for() {
    watched(|| {
        let (fake, device) = fake();
        let queue = device.default_queue().expect("a queue");
        let theirs = fake.stream();
        let x = memory(&queue, 1);
        let gate = Gate::new();
        queue.gate(&gate, &[]).expect("it is taken");
        fill(&queue, &x, 2);
        std::thread::scope(|scope| {
            scope.spawn(|| gate.open(Ok(())));
            // SAFETY: streams of the fake live as long as it does.
            unsafe { x.hold_stream(theirs.0, false) }.expect("it waits");
        });
        fake.fill_on(theirs, x.address().get(), 3, BYTES);
        // SAFETY: as above.
        unsafe { x.follow_stream(theirs.0) }.expect("it is followed");
        assert_eq!(bytes(&x), [3; BYTES]);
    });
}

#[test]
fn counters_of_streams_serve_again() {
    watched(|| {
        let (fake, device) = fake();
        let queue = device.default_queue().expect("a queue");
        let theirs = fake.stream();
        // SAFETY: streams of the fake live as long as it does.
        let follow = || unsafe { queue.follow_stream(theirs.0) }.expect("it is followed");
        follow().wait().expect("all went well");
        fake.calls();
        for _ in 0..1100 {
            follow().wait().expect("all went well");
        }
        assert!(!fake.calls().contains(&"cuMemHostAlloc"));
    });
}

/// Work that is recorded isn't done, so that a wait for it would never end.
#[test]
fn a_stream_that_is_recorded_is_refused() {
    let (fake, device) = fake();
    let queue = device.default_queue().expect("a queue");
    let theirs = fake.stream();
    let x = memory(&queue, 1);
    fake.capture(theirs);
    // SAFETY: streams of the fake live as long as it does.
    let refused = unsafe { queue.follow_stream(theirs.0) }.expect_err("it is recorded");
    let text = refused.to_string();
    assert!(text.contains("being recorded into a graph"), "{text}");
    // SAFETY: as above.
    assert!(unsafe { x.hold_stream(theirs.0, true) }.is_err());
    fill(&queue, &x, 2);
    assert_eq!(bytes(&x), [2; BYTES]);
}

/// Another library's memory comes from our pool, in the order of its streams.
#[test]
fn a_pool_serves_the_streams_of_another_library() {
    watched(|| {
        let (fake, device) = fake();
        let queue = device.default_queue().expect("a queue");
        let pool = device.default_pool(MemoryKind::Device);
        let allocator = StreamAllocator::new(&pool);
        let streams = [fake.stream(), fake.stream()];
        let result = memory(&queue, 0);
        let mut dice = Dice::numbered(5);
        for round in 0..200_u8 {
            let stream = streams[dice.roll(2)];
            // SAFETY: streams of the fake live as long as it does.
            let address = unsafe { allocator.allocate(BYTES, stream.0) }.expect("memory");
            fake.fill_on(stream, address.get(), round, BYTES);
            fake.copy_on(stream, address.get(), result.address().get(), BYTES);
            // SAFETY: as above.
            unsafe { allocator.free(address, stream.0) }.expect("it is ours");
            // Who gets the same bytes comes behind.
            drop(memory(&queue, 255));
            // SAFETY: as above.
            unsafe { result.follow_stream(stream.0) }.expect("it is followed");
            assert_eq!(bytes(&result), [round; BYTES]);
        }
        assert_eq!(allocator.live(), 0);
        // SAFETY: as above.
        let unknown = unsafe { allocator.free(Address::new(64), streams[0].0) };
        assert!(unknown.is_err());
    });
}

/// What a stream has freed it has again at once, while its work is pending, and without a word to it.
#[test]
fn a_stream_has_again_what_it_freed() {
    watched(|| {
        let (fake, device) = fake();
        let pool = device.default_pool(MemoryKind::Device);
        let allocator = StreamAllocator::new(&pool);
        let stream = fake.stream();
        // SAFETY: streams of the fake live as long as it does.
        let allocate = || unsafe { allocator.allocate(BYTES, stream.0) }.expect("memory");
        let first = allocate();
        fake.hold(stream, true);
        fake.fill_on(stream, first.get(), 1, BYTES);
        for _ in 0..10 {
            // SAFETY: as above.
            unsafe { allocator.free(first, stream.0) }.expect("it is ours");
            fake.calls();
            assert_eq!(allocate(), first);
            assert!(!fake.calls().contains(&"cuStreamWaitValue64"));
        }
        fake.hold(stream, false);
    });
}

/// The device's own stream, as a library that asks for it has it.
fn own_stream(device: &Device) -> StreamHandle {
    StreamHandle(device.stream().expect("it has one"))
}

/// A consumer gives the stream work on what it was lent, and says nothing when it is done.
#[test]
fn memory_that_is_lent_is_in_order_with_the_devices_own_stream() {
    watched(|| {
        let (fake, device) = fake();
        let own = own_stream(&device);
        let out_of_order = QueueOptions {
            out_of_order: true,
            ..QueueOptions::default()
        };
        let queues = [device.default_queue(), device.create_queue(&out_of_order)];
        let queues = queues.map(|queue| queue.expect("a queue"));
        let x = memory(&queues[0], 0);
        for round in 0..100_u8 {
            fill(&queues[0], &x, 255);
            x.lend_to_stream().expect("it waits");
            fake.fill_on(own, x.address().get(), 2 * round, BYTES);
            if round % 3 == 0 {
                // Nothing was submitted in between, so that it needs no word either.
                fake.fill_on(own, x.address().get(), 2 * round + 1, BYTES);
            }
            let queue = &queues[usize::from(round % 2)];
            let y = queue.allocate(MemoryKind::Device, BYTES).expect("memory");
            queue.copy(&x, 0, &y, 0, BYTES).expect("it is taken");
            let written = 2 * round + u8::from(round % 3 == 0);
            assert_eq!(bytes(&y), [written; BYTES]);
            assert_eq!(bytes(&x), [written; BYTES]);
        }
    });
}

#[test]
fn the_host_waits_for_no_loan() {
    watched(|| {
        let (fake, device) = fake();
        let own = own_stream(&device);
        let queue = device.default_queue().expect("a queue");
        let x = memory(&queue, 1);
        fake.hold(own, true);
        for round in 2..5 {
            x.lend_to_stream().expect("it waits");
            fake.fill_on(own, x.address().get(), round, BYTES);
            fill(&queue, &x, 10 * round);
        }
        assert!(!x.is_idle());
        let soon = Instant::now() + Duration::from_millis(1);
        assert!(x.wait_idle_until(soon).is_err(), "the stream isn't done");
        fake.hold(own, false);
        x.wait_idle().expect("all went well");
        assert_eq!(bytes(&x), [40; BYTES]);
    });
}

/// Another stream that is handed the memory comes behind the device's own.
#[test]
fn a_loan_is_before_other_streams() {
    watched(|| {
        let (fake, device) = fake();
        let (own, theirs) = (own_stream(&device), fake.stream());
        let queue = device.default_queue().expect("a queue");
        let x = memory(&queue, 1);
        x.lend_to_stream().expect("it waits");
        fake.hold(own, true);
        fake.fill_on(own, x.address().get(), 2, BYTES);
        // SAFETY: streams of the fake live as long as it does.
        unsafe { x.hold_stream(theirs.0, true) }.expect("it waits");
        fake.fill_on(theirs, x.address().get(), 3, BYTES);
        // SAFETY: as above.
        unsafe { x.follow_stream(theirs.0) }.expect("it is followed");
        fake.hold(own, false);
        assert_eq!(bytes(&x), [3; BYTES]);
    });
}

/// The last handle goes while the stream has work on the bytes: whoever gets them comes behind that.
#[test]
fn what_was_lent_has_its_next_owner_behind_the_stream() {
    watched(|| {
        let (fake, device) = fake();
        let own = own_stream(&device);
        let queue = device.default_queue().expect("a queue");
        let x = memory(&queue, 1);
        let address = x.address();
        x.lend_to_stream().expect("it waits");
        fake.hold(own, true);
        fake.fill_on(own, address.get(), 2, BYTES);
        drop(x);
        drain_releases();
        let next: Vec<_> = (3..7).map(|byte| memory(&queue, byte)).collect();
        fake.hold(own, false);
        while !fake.is_idle(own) {
            std::thread::yield_now();
        }
        for (memory, byte) in next.iter().zip(3..) {
            assert_eq!(bytes(memory), [byte; BYTES]);
        }
        // With the life of its memory the loan has ended.
        drop(next);
        let again: Vec<_> = (0..8).map(|byte| memory(&queue, byte)).collect();
        queue.wait().expect("all went well");
        assert!(again.iter().any(|memory| memory.address() == address));
        assert!(again.iter().all(Allocation::is_idle));
    });
}

#[test]
fn the_owner_of_foreign_memory_is_told_behind_the_stream() {
    watched(|| {
        let (fake, device) = fake();
        let own = own_stream(&device);
        let queue = device.default_queue().expect("a queue");
        let theirs = memory(&queue, 1);
        let told = Arc::new(AtomicBool::new(false));
        let tell = Arc::clone(&told);
        let release = Release::anywhere(move || tell.store(true, Ordering::Release));
        // SAFETY: `theirs` is there until it is told.
        let imported =
            unsafe { queue.import(MemoryKind::Device, theirs.address(), BYTES, release) };
        let imported = imported.expect("it is taken");
        imported.lend_to_stream().expect("it waits");
        fake.hold(own, true);
        fake.fill_on(own, theirs.address().get(), 2, BYTES);
        drop(imported);
        drain_releases();
        assert!(!told.load(Ordering::Acquire));
        fake.hold(own, false);
        while !told.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    });
}

#[test]
fn the_stream_that_is_shown_is_one() {
    let (_fake, device) = fake();
    let shown = device.stream().expect("it has one");
    assert_eq!(device.stream().expect("it has one"), shown);
    let cpu = millpond_hal::null::NullDriver::default();
    let cpu = Device::open(cpu.devices().expect("a device").remove(0));
    assert!(cpu.stream().is_err());
}
