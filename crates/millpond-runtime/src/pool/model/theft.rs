//! Queues that allocate and free while others take blocks out of their caches, and a device that
//! ends commands whenever it likes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use millpond_hal::Access;
use millpond_types::MemoryKind;
use shuttle::thread;

use super::provider::{Provider, check, queue};
use crate::memory::Allocation;
use crate::queue::{Queue, Use};

/// More than half of a segment: what one queue frees another takes, or has to grow for.
const BYTES: usize = 20 << 20;

/// Who wrote last at an address, as commands do. No thread of a model stops while it is locked.
type Memory = Arc<Mutex<BTreeMap<usize, usize>>>;

/// Has commands write a name into an allocation, and read it back.
fn write_and_read(queue: &Queue, allocation: &Allocation, memory: &Memory, name: usize) {
    let at = allocation.address().get();
    let use_of = |access| [Use { allocation, access }];
    let bytes = Arc::clone(memory);
    let write = move || {
        bytes.lock().unwrap().insert(at, name);
        Ok(())
    };
    let written = queue.task("write", &use_of(Access::Write), write);
    let bytes = Arc::clone(memory);
    let read = move || match bytes.lock().unwrap().get(&at) {
        Some(found) if *found == name => Ok(()),
        found => Err(format!("{name} finds the bytes of {found:?}")),
    };
    let read = queue.task("read", &use_of(Access::Read), read);
    written.and(read).unwrap();
}

/// Threads with a queue each, which allocate, use and free twice, and a thread that ends commands.
fn program(threads: usize, orders: bool) {
    let (device, provider) = Provider::open(None, true);
    let memory = Memory::default();
    let queues: Vec<_> = (0..threads).map(|_| queue(&device)).collect();
    // So that there is something to take from the first.
    drop(queues[0].allocate(MemoryKind::Device, BYTES).unwrap());
    let actors = (0..threads).map(|name| {
        let (queues, memory) = (queues.clone(), Arc::clone(&memory));
        let provider = Arc::clone(&provider);
        thread::spawn(move || {
            let queue = &queues[name];
            for turn in 0..2 {
                if orders && turn == 1 {
                    let before = queues[(name + 1) % queues.len()].record().unwrap();
                    queue.barrier(&[&before]).unwrap();
                }
                let block = queue.allocate(MemoryKind::Device, BYTES).unwrap();
                let block = provider.watch(block);
                write_and_read(queue, block.allocation(), &memory, name * 10 + turn);
            }
        })
    });
    let mut actors: Vec<_> = actors.collect();
    let driver = provider.driver.clone();
    actors.push(thread::spawn(move || {
        for _ in 0..4 * threads {
            driver.run_all();
            thread::yield_now();
        }
    }));
    for actor in actors {
        actor.join().unwrap();
    }
    provider.driver.run_all();
    for queue in &queues {
        queue.wait().unwrap();
    }
    let held = device.pool(MemoryKind::Device).statistics();
    assert_eq!((held.live, held.cached), (0, held.reserved), "{held:?}");
}

#[test]
fn blocks_of_two_queues_go_to_one_of_them_and_only_behind_their_last_use() {
    check(5000, || program(2, false));
}

#[test]
fn blocks_of_three_queues_that_follow_each_other_do_too() {
    check(3000, || program(3, true));
}

/// A block is taken from a queue that uses it still, behind an event, and freed unused: whoever takes
/// it next has to come behind the first queue's use, though it was never at home there.
#[test]
fn a_block_that_goes_through_a_queue_unused_is_still_behind_its_last_use() {
    check(3000, || {
        let (device, provider) = Provider::open(None, true);
        let memory = Memory::default();
        let [user, between, asking] = [(); 3].map(|()| queue(&device));
        // So that its own count is beyond what it gets from the user's.
        for _ in 0..4 {
            between.task("before", &[], || Ok(())).unwrap();
        }
        provider.driver.run_all();
        let block = user.allocate(MemoryKind::Device, BYTES).unwrap();
        write_and_read(&user, &block, &memory, 1);
        drop(block);
        let used = user.record().unwrap();
        let ids = [&asking, &user, &between].map(|queue| queue.core().native().id());
        let (own, bytes) = (Arc::clone(&provider), Arc::clone(&memory));
        let (middle, last) = (between.clone(), asking.clone());
        let threads = [
            thread::spawn(move || {
                middle.barrier(&[&used]).unwrap();
                drop(middle.allocate(MemoryKind::Device, BYTES).unwrap());
            }),
            thread::spawn(move || {
                let block = last.allocate(MemoryKind::Device, BYTES).unwrap();
                let block = own.watch(block);
                write_and_read(&last, block.allocation(), &bytes, 2);
            }),
        ];
        for thread in threads {
            thread.join().unwrap();
        }
        // The last queue is as fast as it may be.
        while ids.iter().any(|id| provider.driver.step(*id).is_some()) {}
        for queue in [&user, &between, &asking] {
            queue.wait().unwrap();
        }
    });
}
