//! Reclaimers that several threads call at once, and that come and go meanwhile.

use std::sync::Arc;

use millpond_types::MemoryKind;
use shuttle::thread;

use super::provider::{Provider, check, queue};
use crate::pool::{PoolOptions, Tag};
use crate::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use crate::sync::{Mutex, lock};

const MIB: usize = 1 << 20;

/// Two blocks are in a cache that gives one up at a time, and two threads want one each: what one of
/// them has given up for it the other may get, and then asks for the second.
#[test]
fn whoever_has_memory_given_up_gets_some_or_asks_again() {
    check(1500, || {
        let (device, provider) = Provider::open(None, false);
        let options = PoolOptions {
            maximum_size: Some(2 * MIB),
            min_driver_alloc: 1,
            ..PoolOptions::default()
        };
        let pool = device.create_pool(MemoryKind::Device, options).unwrap();
        let home = queue(&device);
        let blocks = [(); 2].map(|()| home.allocate_from(&pool, MIB).unwrap());
        let cache = Arc::new(Mutex::new(Vec::from(blocks)));
        let given_up = Arc::clone(&cache);
        let _reclaimer = device.add_reclaimer(move |_| drop(lock(&given_up).pop()));
        // Another one goes while it may be called.
        let calls = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&calls);
        let going = device.add_reclaimer(move |_| {
            count.fetch_add(1, SeqCst);
        });
        let threads = [(); 2].map(|()| {
            let (queue, pool) = (queue(&device), pool.clone());
            let provider = Arc::clone(&provider);
            thread::spawn(move || provider.watch(queue.allocate_from(&pool, MIB).unwrap()))
        });
        drop(going);
        let had = threads.map(|thread| thread.join().unwrap());
        assert!(lock(&cache).is_empty());
        drop(had);
        let before = calls.load(SeqCst);
        // The blocks are free again: nobody is asked for more.
        drop(home.allocate_from(&pool, 2 * MIB));
        assert_eq!(calls.load(SeqCst), before, "it is gone");
        let held = pool.statistics();
        assert_eq!((held.live, held.used), (0, 0));
        assert_eq!(held.reserved, provider.bytes());
    });
}

/// Two threads of one tag are beyond its soft budget at once. What they count comes back, also if the
/// reclaimer of one of them frees what the other counts.
#[test]
fn a_soft_budget_that_threads_exceed_together_leaves_nothing_charged() {
    check(1500, || {
        let (device, _provider) = Provider::open(None, false);
        let tag = Tag::new("tenant");
        tag.set_soft_budget(Some(MIB));
        let cache = Arc::new(Mutex::new(Vec::new()));
        let given_up = Arc::clone(&cache);
        let _reclaimer = device.add_reclaimer(move |told| {
            assert_eq!(told.tag.as_deref(), Some("tenant"));
            lock(&given_up).clear();
        });
        let threads = [(); 2].map(|()| {
            let (queue, tag) = (queue(&device), tag.clone());
            let cache = Arc::clone(&cache);
            thread::spawn(move || {
                for _ in 0..2 {
                    let mut memory = queue.allocate(MemoryKind::Device, MIB).unwrap();
                    // As in a scope, of which the checker knows none.
                    memory.set_tag(tag.charge(MIB).unwrap().keep(MIB));
                    let pool = queue.device().default_pool_core(MemoryKind::Device);
                    if let Ok(charge) = pool.charge(&tag, MIB) {
                        drop(charge);
                    }
                    lock(&cache).push(memory);
                }
            })
        });
        for thread in threads {
            thread.join().unwrap();
        }
        lock(&cache).clear();
        assert_eq!((tag.used(), tag.live()), (0, 0));
    });
}
