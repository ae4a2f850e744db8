//! Memory of a device that is underway: from the driver to a pool, back, or from a queue's cache to
//! a store.
//!
//! No lock is held over all of such a way, so in the middle of it the bytes are to be found
//! nowhere, though a pool's maximum or the device counts them. A request that another thread
//! catches there waits for the end of the way and looks again, where it would be refused.

use std::sync::PoisonError;
use std::time::Instant;

use crate::error::{Error, Result};
use crate::pool::wish::Wait;
use crate::sync::{Condvar, Mutex, lock};
use crate::waiting;

/// The ways that are gone at this moment, and those that have ended.
#[derive(Debug, Default)]
pub(crate) struct Underway {
    state: Mutex<State>,
    /// Told whenever a way ends.
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    ways: usize,
    /// Requests that wait for the end of one.
    waiting: usize,
    ends: Ends,
}

/// How many ways have ended that changed something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ends {
    /// With memory for whoever asks next.
    gains: usize,
    /// With growth that failed: the bytes that were reserved for it may be reserved again.
    failures: usize,
}

/// What had ended at some moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen(Ends);

/// One way, which ends when this is dropped.
#[derive(Debug)]
#[must_use = "the way ends when this is dropped"]
pub(crate) struct Way<'a> {
    underway: &'a Underway,
    ends: Ends,
}

impl Underway {
    /// Begins a way, before the memory leaves the place where others find it. This may be said
    /// under any lock, and must not be while waiting for another way.
    pub(crate) fn begin(&self) -> Way<'_> {
        lock(&self.state).ways += 1;
        Way {
            underway: self,
            ends: Ends::default(),
        }
    }

    /// To be asked before looking for memory.
    pub(crate) fn seen(&self) -> Seen {
        Seen(lock(&self.state).ends)
    }

    /// Whether nothing is on its way, and nothing has come since then.
    pub(crate) fn is_still(&self, since: &Seen) -> bool {
        let state = lock(&self.state);
        state.ways == 0 && state.ends == since.0
    }

    /// Whether looking again may find what wasn't found since then. While there are ways whose end
    /// is open, and as long as the request may, this waits for one. What others reserved for growth
    /// and didn't get is of use `within_maximum` only: the driver was asked already.
    pub(crate) fn wait(&self, since: &Seen, within_maximum: bool, wait: Wait) -> Result<bool> {
        const WHAT: &str = "a wait for memory";
        let begin = Instant::now();
        let deadline = match wait {
            Wait::Never => Some(begin),
            Wait::Until(deadline) => Some(deadline),
            Wait::Forever => None,
        };
        let mut answer = None;
        let ended = waiting::run(true, |until| {
            let mut state = lock(&self.state);
            loop {
                let has_gained = state.ends.gains != since.0.gains;
                let has_failed = state.ends.failures != since.0.failures;
                if has_gained || (within_maximum && has_failed) {
                    answer = Some(Ok(true));
                    return true;
                }
                if state.ways == 0 || wait == Wait::Never {
                    answer = Some(Ok(false));
                    return true;
                }
                let now = Instant::now();
                if deadline.is_some_and(|deadline| deadline <= now) {
                    answer = Some(Err(Error::TimedOut {
                        waited: begin.elapsed(),
                    }));
                    return true;
                }
                let end = until.into_iter().chain(deadline).min();
                if end.is_some_and(|end| end <= now) {
                    return false;
                }
                state.waiting += 1;
                state = if let Some(end) = end {
                    let slept = self.ended.wait_timeout(state, end - now);
                    slept.unwrap_or_else(PoisonError::into_inner).0
                } else {
                    let slept = self.ended.wait(state);
                    slept.unwrap_or_else(PoisonError::into_inner)
                };
                state.waiting -= 1;
            }
        });
        if !ended {
            return Err(Error::Interrupted { what: WHAT });
        }
        answer.unwrap_or(Ok(false))
    }
}

impl Way<'_> {
    /// There is memory at its end that others may find.
    pub(crate) fn gains(&mut self) {
        self.ends.gains = 1;
    }

    /// Bytes were reserved, and unless it gains the driver has no memory for them.
    pub(crate) fn has_reserved(&mut self) {
        self.ends.failures = 1;
    }
}

impl Drop for Way<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.underway.state);
        state.ways -= 1;
        state.ends.gains += self.ends.gains;
        state.ends.failures += self.ends.failures;
        let anyone = state.waiting > 0;
        drop(state);
        // Telling nobody is a call of the system as well.
        if anyone {
            self.underway.ended.notify_all();
        }
    }
}
