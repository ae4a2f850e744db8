//! What the threads of a device could do, and which of them have nothing to do.
//!
//! One mutex guards it all, so "is there work" and "I go to sleep" can't miss each other. Nothing
//! is woken under the lock: operations answer with a [`Call`] that the executor acts on.
//!
//! The policy for waking: new work wakes nobody while a worker spins (it will see the work), else
//! one idle worker, else a new one while there are fewer than the limit, else a thread that waits
//! for the queue. Whoever takes work and leaves some behind makes the next call, as does every
//! thread with each piece of a spread command that it takes: many threads are woken in a time that
//! grows with the logarithm of their number, and share the price.

use std::collections::VecDeque;

use millpond_hal::QueueId;

use super::spread::Spread;
use crate::queue::CpuQueue;
use crate::sync::thread::{Thread, ThreadId};
use crate::sync::{Arc, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering, lock};

/// Work for a thread.
pub(crate) enum Job {
    /// A queue with a command that may start.
    Line(Arc<CpuQueue>),
    /// A command with pieces that nobody took yet.
    Share(Arc<Spread>),
}

/// Who is to be told about new work.
pub(crate) enum Call {
    /// Nobody: somebody is looking already, or everybody is busy.
    Nobody,
    /// A sleeping thread.
    Wake(Thread),
    /// A new worker, which is counted already.
    Spawn,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Arc<CpuQueue>>,
    spreads: Vec<Arc<Spread>>,
    /// Workers that are asleep, the one that was busy last at the end.
    idle: Vec<Thread>,
    /// Waiting threads that are asleep, and what they wait for.
    helpers: Vec<(QueueId, Thread)>,
    /// Workers that look for work without sleeping.
    spinning: usize,
    /// Workers that exist.
    workers: usize,
    /// Workers that sleep inside a host task which waits for a queue.
    blocked: usize,
    closed: bool,
}

/// The work and the sleepers of one device.
pub(crate) struct Board {
    state: Mutex<State>,
    /// Lines and spreads on the board, to look at without the lock.
    offers: AtomicUsize,
    /// Spreads on the board, likewise.
    shares: AtomicUsize,
    /// Waiting threads that are asleep, likewise.
    sleepers: AtomicUsize,
    /// Workers that could be woken or started, likewise.
    recruits: AtomicUsize,
    /// Workers that may be awake at once.
    limit: usize,
    /// Signalled when the last pending command of a closed board has finished.
    drained: Condvar,
}

/// What an idle worker is to do next.
pub(crate) enum Rest {
    /// Look for work again.
    Again,
    /// Park until woken.
    Park,
    /// End: there are more workers than the limit, or no more work will come.
    Leave,
}

impl Board {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            state: Mutex::default(),
            offers: AtomicUsize::new(0),
            shares: AtomicUsize::new(0),
            sleepers: AtomicUsize::new(0),
            recruits: AtomicUsize::new(limit),
            limit,
            drained: Condvar::new(),
        }
    }

    /// Whether a look at the board may be worth its lock.
    pub(crate) fn has_offers(&self) -> bool {
        self.offers.load(Ordering::Relaxed) > 0
    }

    /// Whether a command with free pieces is on the board.
    pub(crate) fn has_shares(&self) -> bool {
        self.shares.load(Ordering::Relaxed) > 0
    }

    /// Whether a thread that waits for a queue is asleep.
    ///
    /// A caller that has just changed a queue under its lock may rely on it: a thread that goes to
    /// sleep is counted first and then looks at its queue a last time, under the same lock.
    pub(crate) fn has_helpers(&self) -> bool {
        self.sleepers.load(Ordering::Relaxed) > 0
    }

    /// Brings the numbers to look at up to date.
    fn publish(&self, state: &MutexGuard<'_, State>) {
        let shares = state.spreads.len();
        self.shares.store(shares, Ordering::Relaxed);
        self.offers
            .store(shares + state.lines.len(), Ordering::Relaxed);
        self.sleepers.store(state.helpers.len(), Ordering::Relaxed);
        let missing = self.limit.saturating_sub(state.workers - state.blocked);
        self.recruits
            .store(state.idle.len() + missing, Ordering::Relaxed);
    }

    /// Offers a queue that has a command which may start.
    pub(crate) fn add_line(&self, queue: Arc<CpuQueue>) -> Call {
        let mut state = lock(&self.state);
        let id = queue.identity();
        state.lines.push_back(queue);
        let call = state.call(self.limit, |&(wanted, _)| wanted == id);
        self.publish(&state);
        call
    }

    /// Offers the pieces of a command.
    pub(crate) fn add_share(&self, spread: &Arc<Spread>) -> Call {
        let mut state = lock(&self.state);
        state.spreads.push(Arc::clone(spread));
        let call = state.call(self.limit, |_| true);
        self.publish(&state);
        call
    }

    /// Whether a worker is free to take part in a command.
    pub(crate) fn has_recruits(&self) -> bool {
        self.recruits.load(Ordering::Relaxed) > 0
    }

    /// Calls one.
    pub(crate) fn recruit(&self) -> Call {
        let mut state = lock(&self.state);
        let call = state.call(self.limit, |_| false);
        self.publish(&state);
        call
    }

    /// Takes a command off whose last piece was taken.
    pub(crate) fn remove_share(&self, spread: &Arc<Spread>) {
        let mut state = lock(&self.state);
        state.spreads.retain(|other| !Arc::ptr_eq(other, spread));
        self.publish(&state);
    }

    /// Work for a worker, and whom to call for what is left. A worker that gets none counts as
    /// spinning until it calls [`Board::seen`] or [`Board::rest`].
    pub(crate) fn take(&self) -> (Option<Job>, Call) {
        let mut state = lock(&self.state);
        let job = match state.spreads.first() {
            Some(spread) => Some(Job::Share(Arc::clone(spread))),
            None => state.lines.pop_front().map(Job::Line),
        };
        let call = if job.is_none() {
            state.spinning += 1;
            Call::Nobody
        } else {
            let shared = state.spreads.first().is_some_and(|spread| spread.is_wide());
            let call = if shared || !state.lines.is_empty() {
                state.call(self.limit, |_| shared)
            } else {
                Call::Nobody
            };
            self.publish(&state);
            call
        };
        (job, call)
    }

    /// Pieces for a thread that waits for `queue`: that queue's if there are any.
    pub(crate) fn take_share(&self, queue: QueueId) -> Option<Arc<Spread>> {
        let state = lock(&self.state);
        let own = state.spreads.iter().find(|spread| spread.queue() == queue);
        own.or(state.spreads.first()).map(Arc::clone)
    }

    /// A spinning worker has seen an offer.
    pub(crate) fn seen(&self) {
        lock(&self.state).spinning -= 1;
    }

    /// A spinning worker has seen nothing for long enough.
    ///
    /// `finished` is asked under the lock, so that the end can't come between question and sleep.
    pub(crate) fn rest(&self, thread: &Thread, finished: impl Fn() -> bool) -> Rest {
        let mut state = lock(&self.state);
        state.spinning -= 1;
        if !state.lines.is_empty() || !state.spreads.is_empty() {
            return Rest::Again;
        }
        if (state.closed && finished()) || state.workers - state.blocked > self.limit {
            state.workers -= 1;
            self.publish(&state);
            return Rest::Leave;
        }
        state.idle.push(thread.clone());
        self.publish(&state);
        Rest::Park
    }

    /// A parked worker is awake again, whatever woke it.
    pub(crate) fn awake(&self, thread: ThreadId) {
        let mut state = lock(&self.state);
        state.idle.retain(|idle| idle.id() != thread);
        self.publish(&state);
    }

    /// A worker that was to be spawned could not be.
    pub(crate) fn not_spawned(&self) {
        let mut state = lock(&self.state);
        state.workers -= 1;
        self.publish(&state);
    }

    /// A thread that waits for `queue` is about to sleep. Answers `false`, and doesn't count it as
    /// asleep, if there are pieces that it could take.
    pub(crate) fn add_helper(&self, queue: QueueId, thread: &Thread) -> bool {
        let mut state = lock(&self.state);
        if !state.spreads.is_empty() {
            return false;
        }
        state.helpers.push((queue, thread.clone()));
        self.publish(&state);
        true
    }

    /// A waiting thread is awake again.
    pub(crate) fn remove_helper(&self, thread: ThreadId) {
        let mut state = lock(&self.state);
        state.helpers.retain(|(_, helper)| helper.id() != thread);
        self.publish(&state);
    }

    /// Calls a thread that sleeps while it waits for a queue, unless a worker looks anyway.
    pub(crate) fn call_helper(&self, queue: QueueId) -> Call {
        let mut state = lock(&self.state);
        if state.spinning > 0 {
            return Call::Nobody;
        }
        let call = state.call_helper(|&(wanted, _)| wanted == queue);
        self.publish(&state);
        call
    }

    /// A worker is about to sleep inside a host task: somebody else has to look at the board.
    pub(crate) fn block(&self) -> Call {
        let mut state = lock(&self.state);
        state.blocked += 1;
        let call = if state.lines.is_empty() && state.spreads.is_empty() {
            Call::Nobody
        } else {
            state.call(self.limit, |_| true)
        };
        self.publish(&state);
        call
    }

    /// That worker goes on with its task.
    pub(crate) fn unblock(&self) {
        let mut state = lock(&self.state);
        state.blocked -= 1;
        self.publish(&state);
    }

    /// Ends idle workers, now or once nothing is pending.
    pub(crate) fn close(&self) {
        let idle = {
            let mut state = lock(&self.state);
            state.closed = true;
            std::mem::take(&mut state.idle)
        };
        self.drained.notify_all();
        for thread in idle {
            thread.unpark();
        }
    }

    /// Sleeps until [`Board::close`] is called again or the time has passed, unless `finished`.
    pub(crate) fn wait_drained(&self, time: std::time::Duration, finished: impl Fn() -> bool) {
        let state = lock(&self.state);
        if !finished() {
            // The outcome is the same however the wait ends: the caller looks again.
            drop(self.drained.wait_timeout(state, time));
        }
    }
}

impl State {
    /// Whom to call for an offer that was just made or left.
    fn call(&mut self, limit: usize, wanted: impl Fn(&(QueueId, Thread)) -> bool) -> Call {
        if self.spinning > 0 {
            return Call::Nobody;
        }
        if let Some(thread) = self.idle.pop() {
            return Call::Wake(thread);
        }
        if self.workers - self.blocked < limit {
            self.workers += 1;
            return Call::Spawn;
        }
        self.call_helper(wanted)
    }

    fn call_helper(&mut self, wanted: impl Fn(&(QueueId, Thread)) -> bool) -> Call {
        match self.helpers.iter().position(wanted) {
            Some(index) => Call::Wake(self.helpers.swap_remove(index).1),
            None => Call::Nobody,
        }
    }
}
