//! The executor's synchronisation types under the model checker.
//!
//! What the checker lacks is made here: a parking token that a mutex can't lose, sequentially
//! consistent accesses, which are given fences, and stores that exchanges can't overlook. Without
//! these it finds executions that no machine has.

pub(crate) use loom::hint::spin_loop;
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering};
pub(crate) use loom::sync::{Condvar, Mutex, MutexGuard};

use loom::sync::atomic::fence;

/// The checker's, which doesn't know constant initialisers.
macro_rules! local {
    ($(#[$attribute:meta])* static $name:ident: $type:ty = const { $initial:expr };) => {
        loom::thread_local! { $(#[$attribute])* static $name: $type = $initial; }
    };
}
pub(crate) use local as thread_local;

fn fenced(order: Ordering) {
    if order == Ordering::SeqCst {
        fence(order);
    }
}

fn after<T>(order: Ordering, value: T) -> T {
    fenced(order);
    value
}

/// An atomic truth value.
#[derive(Debug, Default)]
pub(crate) struct AtomicBool(loom::sync::atomic::AtomicBool);

impl AtomicBool {
    pub(crate) fn new(value: bool) -> Self {
        Self(loom::sync::atomic::AtomicBool::new(value))
    }

    pub(crate) fn load(&self, order: Ordering) -> bool {
        fenced(order);
        after(order, self.0.load(order))
    }

    /// As an exchange: the checker lets one that follows a plain store overlook it, and read what
    /// an exchange before that store wrote.
    pub(crate) fn store(&self, value: bool, order: Ordering) {
        self.swap(value, order);
    }

    pub(crate) fn swap(&self, value: bool, order: Ordering) -> bool {
        fenced(order);
        after(order, self.0.swap(value, order))
    }
}

/// An atomic number.
#[derive(Debug, Default)]
pub(crate) struct AtomicUsize(loom::sync::atomic::AtomicUsize);

impl AtomicUsize {
    pub(crate) fn new(value: usize) -> Self {
        Self(loom::sync::atomic::AtomicUsize::new(value))
    }

    pub(crate) fn load(&self, order: Ordering) -> usize {
        fenced(order);
        after(order, self.0.load(order))
    }

    pub(crate) fn store(&self, value: usize, order: Ordering) {
        fenced(order);
        self.0.store(value, order);
        fenced(order);
    }

    pub(crate) fn fetch_add(&self, value: usize, order: Ordering) -> usize {
        fenced(order);
        after(order, self.0.fetch_add(value, order))
    }

    pub(crate) fn fetch_sub(&self, value: usize, order: Ordering) -> usize {
        fenced(order);
        after(order, self.0.fetch_sub(value, order))
    }

    pub(crate) fn fetch_update(
        &self,
        set: Ordering,
        fetch: Ordering,
        next: impl FnMut(usize) -> Option<usize>,
    ) -> Result<usize, usize> {
        fenced(set);
        after(set, self.0.fetch_update(set, fetch, next))
    }
}

pub(crate) mod thread {
    use std::cell::OnceCell;
    use std::sync::{Arc, PoisonError};
    use std::time::Duration;

    pub(crate) use loom::thread::{Builder, JoinHandle, ThreadId, yield_now};

    use super::{Condvar, Mutex};
    use crate::sync::lock;

    /// A thread with its token.
    #[derive(Clone)]
    pub(crate) struct Thread(Arc<Seat>);

    struct Seat {
        id: ThreadId,
        token: Mutex<bool>,
        given: Condvar,
    }

    loom::thread_local! {
        static CURRENT: OnceCell<Thread> = OnceCell::new();
    }

    impl Thread {
        fn new() -> Self {
            Self(Arc::new(Seat {
                id: loom::thread::current().id(),
                token: Mutex::new(false),
                given: Condvar::new(),
            }))
        }

        pub(crate) fn id(&self) -> ThreadId {
            self.0.id
        }

        pub(crate) fn unpark(&self) {
            *lock(&self.0.token) = true;
            self.0.given.notify_all();
        }
    }

    pub(crate) fn current() -> Thread {
        CURRENT.with(|current| current.get_or_init(Thread::new).clone())
    }

    pub(crate) fn park() {
        let Thread(seat) = current();
        let mut token = lock(&seat.token);
        while !std::mem::take(&mut *token) {
            token = seat
                .given
                .wait(token)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// There is no clock in a model, and no model sets a deadline.
    pub(crate) fn park_timeout(_: Duration) {
        park();
    }

    /// A model can't ask; handles are then kept until the device ends.
    pub(crate) fn is_finished(_: &JoinHandle<()>) -> bool {
        false
    }
}
