//! The threads that carry out what a device can't: host tasks, gates, copies by way of the host.
//!
//! Threads are started as work comes and end when they had nothing to do for a while. There are at
//! most as many as processors, but for those that a task made wait for a queue: each of them is
//! replaced meanwhile, so that tasks which wait for tasks don't starve.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use millpond_hal::{Failure, FailureKind};

use crate::queue::Work;

/// How long a thread waits for work before it ends.
const IDLE: Duration = Duration::from_secs(5);

/// Threads at least, whatever the number of processors.
const FEWEST: usize = 2;

/// The threads of a device.
pub(crate) struct Crew {
    state: Mutex<State>,
    wake: Condvar,
    name: String,
    most: usize,
}

#[derive(Default)]
struct State {
    work: VecDeque<Work>,
    threads: usize,
    /// Threads that wait for work.
    idle: usize,
    /// Threads that wait for a queue, in a task.
    blocked: usize,
    dismissed: bool,
}

thread_local! {
    /// The crew that this thread belongs to.
    static CURRENT: RefCell<Option<Arc<Crew>>> = const { RefCell::new(None) };
}

impl Crew {
    pub(crate) fn new(label: &str) -> Arc<Self> {
        let processors = thread::available_parallelism().map_or(FEWEST, usize::from);
        Arc::new(Self {
            state: Mutex::default(),
            wake: Condvar::new(),
            name: format!("millpond {label}"),
            most: processors.max(FEWEST),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives a piece of work to the threads.
    pub(crate) fn give(self: &Arc<Self>, work: Work) {
        let mut state = self.lock();
        state.work.push_back(work);
        self.man(state);
    }

    /// Sees to it that a thread takes what is there.
    fn man(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        if state.work.is_empty() {
            return;
        }
        if state.idle > 0 {
            self.wake.notify_one();
        }
        let enough = state.idle >= state.work.len();
        if enough || state.threads.saturating_sub(state.blocked) >= self.most {
            return;
        }
        state.threads += 1;
        drop(state);
        let crew = Arc::clone(self);
        let thread = thread::Builder::new().name(self.name.clone());
        if thread.spawn(move || crew.serve()).is_err() {
            // The system has no thread for it now: those that there are will come to it, or the
            // next call.
            self.lock().threads -= 1;
        }
    }

    /// What a thread does until it isn't needed.
    fn serve(self: Arc<Self>) {
        CURRENT.with_borrow_mut(|current| *current = Some(Arc::clone(&self)));
        while let Some(work) = self.next() {
            let mut next = Some(work);
            while let Some(work) = next {
                next = work.carry_out();
            }
        }
        CURRENT.with_borrow_mut(Option::take);
    }

    fn next(&self) -> Option<Work> {
        let mut state = self.lock();
        loop {
            if let Some(work) = state.work.pop_front() {
                return Some(work);
            }
            if state.dismissed {
                break;
            }
            state.idle += 1;
            let (guard, timeout) = self
                .wake
                .wait_timeout(state, IDLE)
                .unwrap_or_else(PoisonError::into_inner);
            state = guard;
            state.idle -= 1;
            if timeout.timed_out() && state.work.is_empty() {
                break;
            }
        }
        state.threads -= 1;
        None
    }

    /// Whether the calling thread belongs to it.
    pub(crate) fn is_current(&self) -> bool {
        current().is_some_and(|crew| std::ptr::eq(Arc::as_ptr(&crew), self))
    }

    /// Ends the threads once they have nothing to do.
    pub(crate) fn dismiss(&self) {
        self.lock().dismissed = true;
        self.wake.notify_all();
    }
}

/// The crew that the calling thread belongs to.
fn current() -> Option<Arc<Crew>> {
    CURRENT
        .try_with(|current| current.borrow().clone())
        .unwrap_or(None)
}

/// Says that a thread of a crew waits for a queue, until it is dropped.
pub(crate) struct Blocked(Option<Arc<Crew>>);

impl Blocked {
    /// Of the calling thread, if it is of a crew.
    pub(crate) fn begin() -> Self {
        let crew = current();
        if let Some(crew) = &crew {
            let mut state = crew.lock();
            state.blocked += 1;
            crew.man(state);
        }
        Self(crew)
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        if let Some(crew) = &self.0 {
            crew.lock().blocked -= 1;
        }
    }
}

/// Runs foreign code; a panic becomes an error.
pub(crate) fn guard<T>(
    code: impl FnOnce() -> Result<T, String>,
) -> Result<T, (FailureKind, String)> {
    match catch_unwind(AssertUnwindSafe(code)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(reason)) => Err((FailureKind::Command, reason)),
        Err(panic) => Err((FailureKind::Panic, Failure::panic_reason(panic))),
    }
}

/// Drops what may hold foreign code; a panic has nowhere to go.
pub(crate) fn discard(held: impl Sized) {
    let _ = guard(|| {
        drop(held);
        Ok(())
    });
}
