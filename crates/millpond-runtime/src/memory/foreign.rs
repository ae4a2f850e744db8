//! Memory that somebody else owns, and telling them when it is no longer used (rule M3).
//!
//! A release that needs an interpreter, or any other thread of its owner's choice, is *deferred*:
//! it goes to a list that [`drain_releases`] empties, which surfaces call at their next entry.
//! Workers of a backend only ever push to the list.

use std::fmt;
use std::sync::Arc;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::queue::{Native, interrupt_holds};
use crate::sync::{Mutex, lock};

type Call = Box<dyn FnOnce() + Send>;

/// What to call when foreign memory is no longer used; called exactly once.
pub struct Release {
    /// In a lock only to be shared between threads; it is taken out by the one that calls it.
    call: Mutex<Call>,
    deferred: bool,
}

impl Release {
    /// A release that may run on any thread, also of a backend. It must not block or panic.
    #[must_use]
    pub fn anywhere(call: impl FnOnce() + Send + 'static) -> Self {
        Self {
            call: Mutex::new(Box::new(call)),
            deferred: false,
        }
    }

    /// A release that runs inside of [`drain_releases`] only.
    #[must_use]
    pub fn deferred(call: impl FnOnce() + Send + 'static) -> Self {
        Self {
            call: Mutex::new(Box::new(call)),
            deferred: true,
        }
    }

    fn run(self) {
        let call = self
            .call
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if self.deferred {
            let mut list = lock(&DEFERRED);
            list.push(call);
            WAITING.store(list.len(), Ordering::Release);
        } else {
            call();
        }
    }

    /// Runs when all of the points have been reached.
    pub(crate) fn after(self, points: &[(Arc<Native>, u64)]) {
        if points.is_empty() {
            self.run();
            return;
        }
        let state = Arc::new((AtomicUsize::new(points.len()), Mutex::new(Some(self))));
        for (queue, sequence) in points {
            let state = Arc::clone(&state);
            queue.hal().on_reached(
                *sequence,
                Box::new(move || {
                    if state.0.fetch_sub(1, Ordering::AcqRel) == 1 {
                        let release = lock(&state.1).take();
                        if let Some(release) = release {
                            release.run();
                        }
                    }
                }),
            );
        }
    }
}

impl fmt::Debug for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Release")
            .field("deferred", &self.deferred)
            .finish_non_exhaustive()
    }
}

static DEFERRED: Mutex<Vec<Call>> = Mutex::new(Vec::new());
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Runs the deferred releases of foreign memory whose last use has completed.
///
/// Costs one load where there are none, so surfaces can afford it at every call.
#[inline]
pub fn drain_releases() {
    if WAITING.load(Ordering::Relaxed) != 0 {
        drain();
    }
}

#[cold]
fn drain() {
    interrupt_holds();
    let calls = {
        let mut list = lock(&DEFERRED);
        WAITING.store(0, Ordering::Relaxed);
        std::mem::take(&mut *list)
    };
    for call in calls {
        call();
    }
}
