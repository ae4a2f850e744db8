//! Which queues keep blocks of a pool, by class: where a request looks that its own queue's cache
//! doesn't serve.
//!
//! A cache says in two words of which classes it may have blocks. They are written under the
//! line of its queue only and read without it, so a request passes by the queues that have nothing
//! for it. They may say too much, which costs a look. They never say too little to a thread that
//! knows of the free: the class is noted before the line is unlocked under which the block came,
//! and forgotten under the line when there is none of it.

use std::sync::Arc;

use millpond_hal::QueueId;

use crate::pool::class::{CLASSES, Class};
use crate::queue::{LineLock, QueueCore};
use crate::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
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
        if !self.may_have(class) {
            self.note_first(class);
        }
    }

    #[cold]
    fn note_first(&self, class: Class) {
        let (word, bit) = self.place(class);
        word.store(word.load(Relaxed) | bit, Relaxed);
    }

    /// Notes that there is none; under the line.
    #[inline]
    pub(crate) fn forget(&self, class: Class) {
        let (word, bit) = self.place(class);
        word.store(word.load(Relaxed) & !bit, Relaxed);
    }

    /// Numbers of the classes of which there may be blocks. Others have none under the line.
    pub(crate) fn classes(&self) -> impl Iterator<Item = usize> + use<> {
        [0, 1]
            .map(|word| self.0[word].load(Relaxed))
            .into_iter()
            .enumerate()
            .flat_map(|(index, word)| {
                let rest =
                    std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)));
                let rest = rest.take_while(|&rest| rest != 0);
                rest.map(move |rest| 64 * index + rest.trailing_zeros() as usize)
            })
            .take_while(|&index| index < CLASSES)
    }

    /// Notes that there is nothing, under the line.
    pub(crate) fn clear(&self) {
        for word in &self.0 {
            word.store(0, Relaxed);
        }
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

/// One queue that has a cache of a pool.
#[derive(Debug)]
pub(crate) struct Keeper {
    id: QueueId,
    /// Guards the cache. Nothing is behind it any more once the queue has ended.
    pub(crate) line: Arc<LineLock>,
    pub(crate) kept: Kept,
    has_left: AtomicBool,
}

impl Keeper {
    /// Notes that the cache is gone.
    pub(crate) fn leave(&self) {
        self.has_left.store(true, Relaxed);
        self.kept.clear();
    }
}

/// Some queues that have a cache of one pool, by ascending id.
pub(crate) type Others = Arc<[Arc<Keeper>]>;

/// The queues that have a cache of one pool.
///
/// The list is never changed, only replaced by another one, so that whoever looks for a block goes
/// through the one it knows without a lock, and without counting itself among those who use a queue.
#[derive(Debug, Default)]
pub(crate) struct Keepers {
    list: Mutex<Others>,
    /// Where the list lies, to tell whether one is still it.
    place: AtomicUsize,
}

impl Keepers {
    /// Adds a queue; what its cache says what it has with.
    #[cold]
    pub(crate) fn add(&self, queue: &QueueCore) -> Arc<Keeper> {
        let keeper = Arc::new(Keeper {
            id: queue.native().id(),
            line: Arc::clone(queue.line_lock()),
            kept: Kept::default(),
            has_left: AtomicBool::new(false),
        });
        let mut list = lock(&self.list);
        let present = list.iter().filter(|other| !other.has_left.load(Relaxed));
        let mut present: Vec<_> = present.cloned().collect();
        let place = present.partition_point(|other| other.id < keeper.id);
        present.insert(place, Arc::clone(&keeper));
        let before = std::mem::replace(&mut *list, Others::from(present));
        self.place.store(place_of(&list), Relaxed);
        drop(list);
        drop(before);
        keeper
    }

    /// All of them, the queue that asks among them.
    pub(crate) fn all(&self) -> Others {
        Arc::clone(&lock(&self.list))
    }

    /// Replaces a list that was had before, if it isn't the newest any more: who knows of a queue's
    /// cache finds it there.
    #[inline]
    pub(crate) fn refresh(&self, known: &mut Others) {
        // A list that somebody has lies where no other one does.
        if self.place.load(Relaxed) != place_of(known) {
            *known = self.all();
        }
    }
}

fn place_of(list: &Others) -> usize {
    Arc::as_ptr(list).addr()
}
