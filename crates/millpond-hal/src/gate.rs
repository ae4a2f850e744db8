//! A command that somebody else completes.
//!
//! A queue that reaches a closed gate goes no further until the gate is opened; no thread waits
//! for it meanwhile. Gates join foreign work to a queue (rule O8), hand host tasks to a thread
//! that a runtime doesn't own, bridge drivers, and make races deterministic in tests.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Failure;

type Waiter = Box<dyn FnOnce(Result<(), Failure>) + Send>;

enum State {
    Closed(Vec<Waiter>),
    Open(Result<(), Failure>),
}

/// A gate; clones are handles to the same one. It opens once.
#[derive(Clone)]
pub struct Gate(Arc<Mutex<State>>);

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(State::Closed(Vec::new()))))
    }

    /// Opens the gate with the outcome of the work that it stands for.
    ///
    /// Waiters run on the calling thread, with no lock held. Opening it again changes nothing;
    /// the answer says whether this call opened it.
    pub fn open(&self, outcome: Result<(), Failure>) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State::Closed(waiters) = &mut *state else {
            return false;
        };
        let waiters = std::mem::take(waiters);
        let answers = std::iter::repeat_n(outcome.clone(), waiters.len());
        *state = State::Open(outcome);
        drop(state);
        for (waiter, answer) in waiters.into_iter().zip(answers) {
            waiter(answer);
        }
        true
    }

    /// Whether it was opened.
    pub fn is_open(&self) -> bool {
        self.outcome().is_some()
    }

    /// What it was opened with; `None` while it is closed.
    pub fn outcome(&self) -> Option<Result<(), Failure>> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Closed(_) => None,
            State::Open(outcome) => Some(outcome.clone()),
        }
    }

    /// Calls `waiter` with the outcome: at once if the gate is open, else from [`Gate::open`].
    pub fn on_open(&self, waiter: impl FnOnce(Result<(), Failure>) + Send + 'static) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = match &mut *state {
            State::Closed(waiters) => {
                waiters.push(Box::new(waiter));
                return;
            }
            State::Open(outcome) => outcome.clone(),
        };
        drop(state);
        waiter(outcome);
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("open", &self.is_open())
            .finish()
    }
}
