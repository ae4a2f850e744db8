//! Which queues keep blocks of a pool, by class: where a request looks that its own queue's cache
//! doesn't serve.
//!
//! A cache says in two words of which classes it may have blocks. They are written under the
//! line of its queue only and read without it, so a request passes by the queues that have nothing
//! for it. They may say too much, which costs a look. They never say too little to a thread that
//! knows of the free: the class is noted before the line is unlocked under which the block came,
//! and forgotten under the line when there is none of it.

use std::sync::{Arc, Weak};

use millpond_hal::QueueId;
use smallvec::SmallVec;

use crate::pool::class::{CLASSES, Class};
use crate::queue::QueueCore;
use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};
use crate::sync::{Mutex, lock};

/// The classes of which one queue's cache may have blocks. It has cache lines of its own: others
/// look at it whenever they miss.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Kept([AtomicU64; 2]);

impl Kept {
    /// Notes that there is a block of the class; under the line.
    #[inline]
    pub(crate) fn note(&self, class: Class) {
        let (word, bit) = self.place(class);
        let before = word.load(Relaxed);
        if before & bit == 0 {
            word.store(before | bit, Relaxed);
        }
    }

    /// Notes that there is none; under the line.
    #[inline]
    pub(crate) fn forget(&self, class: Class) {
        let (word, bit) = self.place(class);
        word.store(word.load(Relaxed) & !bit, Relaxed);
    }

    /// Whether there may be one.
    #[inline]
    pub(crate) fn may_have(&self, class: Class) -> bool {
        let (word, bit) = self.place(class);
        word.load(Relaxed) & bit != 0
    }

    /// The word and bit of a class. Blocks without one share the last.
    #[inline]
    fn place(&self, class: Class) -> (&AtomicU64, u64) {
        const { assert!(CLASSES < 128, "each class has a bit of two words") };
        let index = match class {
            Class::Small(index) => index,
            Class::Large | Class::Exact | Class::Dedicated => 127,
        };
        (&self.0[usize::from(index >> 6) & 1], 1 << (index & 63))
    }
}

/// The queues that have a cache of one pool, by ascending id.
#[derive(Debug, Default)]
pub(crate) struct Keepers(Mutex<Vec<Keeper>>);

#[derive(Debug)]
struct Keeper {
    id: QueueId,
    queue: Weak<QueueCore>,
    kept: Arc<Kept>,
}

impl Keepers {
    /// Adds a queue; what its cache says what it has with.
    #[cold]
    pub(crate) fn add(&self, queue: &Arc<QueueCore>) -> Arc<Kept> {
        let kept = Arc::new(Kept::default());
        let keeper = Keeper {
            id: queue.native().id(),
            queue: Arc::downgrade(queue),
            kept: Arc::clone(&kept),
        };
        let mut keepers = lock(&self.0);
        if keepers.len() == keepers.capacity() {
            keepers.retain(|keeper| keeper.queue.strong_count() > 0);
        }
        let place = keepers.partition_point(|other| other.id < keeper.id);
        keepers.insert(place, keeper);
        kept
    }

    /// The queues, other than this one, that may have a block of the class.
    pub(crate) fn others(
        &self,
        than: &Arc<QueueCore>,
        class: Class,
    ) -> SmallVec<[Arc<QueueCore>; 4]> {
        let mut others = SmallVec::new();
        for keeper in lock(&self.0).iter() {
            if keeper.kept.may_have(class)
                && !std::ptr::eq(keeper.queue.as_ptr(), Arc::as_ptr(than))
                && let Some(queue) = keeper.queue.upgrade()
            {
                others.push(queue);
            }
        }
        others
    }
}
