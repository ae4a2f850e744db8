//! Budgets: a limit holds at every moment, and what isn't used comes back.

use std::sync::Arc;

use millpond_types::MemoryKind;
use shuttle::thread;

use super::provider::{Provider, check, check_all, queue};
use crate::pool::budget::Budget;
use crate::pool::{PoolOptions, Tag};
use crate::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const MIB: usize = 1 << 20;

/// Runs the same on several threads, and waits for them.
fn each(threads: usize, body: impl Fn(usize) + Send + Sync + 'static) {
    let body = Arc::new(body);
    let threads = (0..threads).map(|index| {
        let body = Arc::clone(&body);
        thread::spawn(move || body(index))
    });
    for thread in threads.collect::<Vec<_>>() {
        thread.join().unwrap();
    }
}

#[test]
fn no_more_is_ever_reserved_than_the_maximum_and_the_high_mark_sees_all_of_it() {
    check_all(|| {
        let budget = Arc::new(Budget::new(Some(3)));
        let seen = Arc::new(AtomicUsize::new(0));
        let (shared, most) = (Arc::clone(&budget), Arc::clone(&seen));
        each(2, move |index| {
            let Some(growth) = shared.reserve(2 - index) else {
                return;
            };
            most.fetch_max(shared.reserved(), SeqCst);
            growth.keep();
            shared.give_back(2 - index);
        });
        assert_eq!(budget.reserved(), 0);
        assert!((seen.load(SeqCst)..=3).contains(&budget.high()));
    });
}

#[test]
fn what_a_driver_refused_or_rounded_up_leaves_nothing_in_the_budget() {
    check_all(|| {
        let budget = Arc::new(Budget::new(Some(4)));
        let shared = Arc::clone(&budget);
        each(2, move |index| {
            if let Some(mut growth) = shared.reserve(2) {
                assert!(shared.reserved() <= 4);
                if index == 0 && growth.extend_to(3) {
                    assert!(shared.reserved() <= 4);
                    growth.keep();
                }
            }
        });
        assert!([0, 3].contains(&budget.reserved()));
    });
}

#[test]
fn a_pool_never_has_more_of_its_driver_than_its_maximum() {
    check(1500, || {
        const LIMIT: usize = 4 * MIB;
        let (device, provider) = Provider::open(Some(LIMIT), false);
        let options = PoolOptions {
            maximum_size: Some(LIMIT),
            min_driver_alloc: 2 * MIB,
            ..PoolOptions::default()
        };
        let pool = device.create_pool(MemoryKind::Device, options).unwrap();
        provider.refuse_in(2);
        let (shared, other) = (Arc::clone(&provider), pool.clone());
        each(3, move |index| {
            let bytes = [LIMIT, LIMIT / 2, LIMIT / 2][index];
            let queue = queue(other.device());
            for _ in 0..2 {
                if let Ok(memory) = queue.allocate_from(&other, bytes) {
                    drop(shared.watch(memory));
                }
                other.trim(0).unwrap();
            }
        });
        assert_eq!(pool.statistics().reserved, provider.bytes());
        // Nothing was lost: all of the budget can be had.
        let all = queue(&device).allocate_from(&pool, LIMIT).unwrap();
        drop(provider.watch(all));
    });
}

#[test]
fn a_tag_counts_no_more_than_its_budget_and_its_parents_what_it_does() {
    check(3000, || {
        let parent = Tag::new("parent");
        parent.set_budget(Some(2));
        let seen = Arc::new(AtomicUsize::new(0));
        let (shared, most) = (parent.clone(), Arc::clone(&seen));
        each(2, move |index| {
            let child = shared.child("child");
            let charged = child.charge(index + 1);
            let used = shared.used();
            assert!(used <= 2);
            if charged.is_ok() {
                most.fetch_max(used, SeqCst);
            }
            drop(charged);
            assert_eq!((child.used(), child.live()), (0, 0));
        });
        assert_eq!((parent.used(), parent.live()), (0, 0));
        assert!(parent.used_high() >= seen.load(SeqCst));
    });
}
