//! Streams of other libraries: followed and held without a wait of the host's.

use std::sync::Arc;

use millpond_hal::Driver;
use millpond_runtime::{
    Address, Allocation, Device, Gate, MemoryKind, Pattern, Queue, Registry, StreamAllocator,
};
use millpond_testkit::dice::Dice;
use millpond_testkit::watchdog::watched;

use super::super::Fake;
use crate::CudaDriver;

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

#[test]
fn the_stream_that_is_shown_is_one() {
    let (_fake, device) = fake();
    let shown = device.stream().expect("it has one");
    assert_eq!(device.stream().expect("it has one"), shown);
    let cpu = millpond_hal::null::NullDriver::default();
    let cpu = Device::open(cpu.devices().expect("a device").remove(0));
    assert!(cpu.stream().is_err());
}
