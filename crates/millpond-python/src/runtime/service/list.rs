//! The list of callables: whose time hasn't come, whose has, whose won't.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::job::Job;

#[derive(Default)]
struct State {
    /// Jobs whose time hasn't come.
    waiting: HashMap<u64, Job>,
    /// Jobs whose time has come, in that order.
    ready: VecDeque<Job>,
    /// Jobs whose time won't come, to be dropped by a thread of Python's.
    dead: Vec<Job>,
    running: bool,
    /// How many have been run.
    served: u64,
    stopping: bool,
}

static STATE: LazyLock<Mutex<State>> = LazyLock::new(Mutex::default);
static CHANGED: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number for a job.
pub(super) fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The time of a job has come.
pub(super) fn announce(number: u64) {
    let mut state = lock();
    if let Some(job) = state.waiting.remove(&number) {
        state.ready.push_back(job);
        CHANGED.notify_all();
    }
}

/// The time of a job won't come any more, unless it has.
pub(super) fn abandon(number: u64) {
    let mut state = lock();
    if let Some(job) = state.waiting.remove(&number) {
        state.dead.push(job);
        CHANGED.notify_all();
    }
}

/// What the thread does next.
pub(super) enum Next {
    /// Run a job.
    Run(Job),
    /// There were only jobs to let go.
    Look,
    /// End.
    Stop,
}

/// Waits for the next job, and answers with it and with jobs to let go.
pub(super) fn wait_for_job() -> (Next, Vec<Job>) {
    let mut state = lock();
    if std::mem::take(&mut state.running) {
        state.served += 1;
        CHANGED.notify_all();
    }
    loop {
        let dead = std::mem::take(&mut state.dead);
        if let Some(job) = state.ready.pop_front() {
            state.running = true;
            return (Next::Run(job), dead);
        }
        if state.stopping {
            return (Next::Stop, dead);
        }
        if !dead.is_empty() {
            return (Next::Look, dead);
        }
        state = CHANGED.wait(state).unwrap_or_else(PoisonError::into_inner);
    }
}

/// What is left to do, and how far the thread has come.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Progress {
    /// Whether there are jobs that haven't run.
    pub(super) outstanding: bool,
    /// Whether one runs.
    pub(super) running: bool,
    served: u64,
}

/// Looks at the list.
pub(super) fn progress() -> Progress {
    let state = lock();
    Progress {
        outstanding: state.running || !state.waiting.is_empty() || !state.ready.is_empty(),
        running: state.running,
        served: state.served,
    }
}

/// Sleeps until the list changes, or for a while.
pub(super) fn look_again_after(time: Duration) {
    let state = lock();
    // Why it ended doesn't matter to who looks again.
    drop(CHANGED.wait_timeout(state, time));
}

/// Appends a job whose time hasn't come.
pub(super) fn append(number: u64, job: Job) {
    lock().waiting.insert(number, job);
}

/// Takes back a job whose time hasn't come.
pub(super) fn take_back(number: u64) -> Option<Job> {
    lock().waiting.remove(&number)
}

/// Lets the thread end when it has run what is ready; the answer is for the caller to drop.
pub(super) fn close() -> Vec<Job> {
    let mut state = lock();
    state.stopping = true;
    CHANGED.notify_all();
    let waiting = std::mem::take(&mut state.waiting);
    let dead = std::mem::take(&mut state.dead);
    waiting.into_values().chain(dead).collect()
}
