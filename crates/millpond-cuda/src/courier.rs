//! The thread that looks after queues which nobody looks at.
//!
//! A device tells nobody that it has finished: somebody has to look. Whoever waits does so himself.
//! For the rest there is this thread: what a callback or a thread's work waits for, and what was
//! left in a queue without a handle. It also makes the callbacks, so that none runs inside of a
//! call of a user's. It is started when there is something to look after.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use crate::crew::guard;
use crate::pace::Pace;
use crate::queue::{Callback, CudaQueue};

/// How long the thread waits for something to do before it ends.
const IDLE: Duration = Duration::from_secs(5);

/// The courier of a device.
pub(crate) struct Courier {
    state: Mutex<State>,
    wake: Condvar,
    name: String,
}

#[derive(Default)]
struct State {
    queues: Vec<Arc<CudaQueue>>,
    calls: VecDeque<Callback>,
    there: bool,
    /// Whether the thread has to be woken to see what is there.
    asleep: bool,
    dismissed: bool,
}

impl Courier {
    pub(crate) fn new(label: &str) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            wake: Condvar::new(),
            name: format!("millpond {label}"),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks after a queue until it says that it needs it no longer.
    pub(crate) fn enlist(self: &Arc<Self>, queue: Arc<CudaQueue>) {
        let mut state = self.lock();
        state.queues.push(queue);
        self.summon(state);
    }

    /// Makes a callback soon.
    pub(crate) fn post(self: &Arc<Self>, callback: Callback) {
        let mut state = self.lock();
        state.calls.push_back(callback);
        self.summon(state);
    }

    fn summon(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        if state.there {
            // A thread that looks around needs no call of the system's.
            if std::mem::take(&mut state.asleep) {
                drop(state);
                self.wake.notify_one();
            }
            return;
        }
        state.there = true;
        drop(state);
        let courier = Arc::clone(self);
        let thread = thread::Builder::new().name(self.name.clone());
        if thread.spawn(move || courier.serve()).is_err() {
            // Whatever is there waits for the next call.
            self.lock().there = false;
        }
    }

    fn serve(&self) {
        let mut pace = Pace::looking_on();
        let mut looked_after: Vec<Arc<CudaQueue>> = Vec::new();
        loop {
            let mut calls = VecDeque::new();
            {
                let mut state = self.lock();
                if state.queues.is_empty() && state.calls.is_empty() {
                    let pause = if looked_after.is_empty() {
                        if state.dismissed {
                            state.there = false;
                            return;
                        }
                        Some(IDLE)
                    } else {
                        pace.pause()
                    };
                    if let Some(pause) = pause {
                        state.asleep = true;
                        let (guard, timeout) = self
                            .wake
                            .wait_timeout(state, pause)
                            .unwrap_or_else(PoisonError::into_inner);
                        state = guard;
                        state.asleep = false;
                        let nothing = state.queues.is_empty() && state.calls.is_empty();
                        if looked_after.is_empty() && nothing && timeout.timed_out() {
                            state.there = false;
                            return;
                        }
                    }
                }
                if !state.queues.is_empty() {
                    pace.reset();
                    looked_after.append(&mut state.queues);
                }
                calls.append(&mut state.calls);
            }
            for call in calls {
                // A panic of a callback has nowhere to go.
                let _ = guard(|| {
                    call();
                    Ok(())
                });
            }
            let paused = pace.pause().is_some();
            looked_after.retain(|queue| {
                let (moved, stays) = queue.look_after(paused);
                if moved {
                    pace.reset();
                }
                stays
            });
        }
    }

    /// Ends the thread once it has nothing to look after.
    pub(crate) fn dismiss(&self) {
        self.lock().dismissed = true;
        self.wake.notify_one();
    }
}
