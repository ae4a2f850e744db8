//! A command that somebody else completes.
//!
//! A queue that reaches a closed gate goes no further until the gate is opened; no thread waits
//! for it meanwhile. Gates join foreign work to a queue (rule O8), hand host tasks to a thread
//! that a runtime doesn't own, bridge drivers, and make races deterministic in tests.

use std::fmt;
use std::sync::{Arc, PoisonError};

use crate::error::{Failure, FailureKind};
use crate::sync::Mutex;

type Waiter = Box<dyn FnOnce(Result<(), Failure>) + Send>;
type Announcement = Box<dyn FnOnce() + Send>;

enum State {
    Closed {
        waiters: Vec<Waiter>,
        reached: Option<Announcement>,
    },
    Open(Result<(), Failure>),
}

impl Drop for State {
    fn drop(&mut self) {
        let Self::Closed { waiters, .. } = self else {
            return;
        };
        for waiter in std::mem::take(waiters) {
            let reason = "every handle of the gate was dropped before it was opened";
            waiter(Err(Failure::new(FailureKind::Lost, "gate", reason)));
        }
    }
}

/// A gate; clones are handles to the same one. It opens once.
///
/// If the last handle goes while it is closed, nobody can open it any more: whoever waits for it is
/// told of a failure.
#[derive(Clone)]
pub struct Gate(Arc<Mutex<State>>);

impl Gate {
    /// A closed gate.
    #[must_use]
    pub fn new() -> Self {
        Self::closed(None)
    }

    /// A closed gate that tells when somebody first waits for it, which is when a queue reaches
    /// it: the time to begin the work that it stands for.
    ///
    /// The callback runs at most once, on the thread that waits, with no lock held; it must not
    /// block. It is dropped unused if the gate opens first or no queue reaches it.
    #[must_use]
    pub fn announcing(reached: impl FnOnce() + Send + 'static) -> Self {
        Self::closed(Some(Box::new(reached)))
    }

    fn closed(reached: Option<Announcement>) -> Self {
        let waiters = Vec::new();
        Self(Arc::new(Mutex::new(State::Closed { waiters, reached })))
    }

    /// Opens the gate with the outcome of the work that it stands for.
    ///
    /// Waiters run on the calling thread, with no lock held. Opening it again changes nothing;
    /// the answer says whether this call opened it.
    pub fn open(&self, outcome: Result<(), Failure>) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State::Closed { waiters, reached } = &mut *state else {
            return false;
        };
        let waiters = std::mem::take(waiters);
        let unused = reached.take();
        let answers = std::iter::repeat_n(outcome.clone(), waiters.len());
        *state = State::Open(outcome);
        drop(state);
        drop(unused);
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
            State::Closed { .. } => None,
            State::Open(outcome) => Some(outcome.clone()),
        }
    }

    /// Calls `waiter` with the outcome: at once if the gate is open, else from [`Gate::open`], or
    /// with a failure from the end of the last handle.
    pub fn on_open(&self, waiter: impl FnOnce(Result<(), Failure>) + Send + 'static) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = match &mut *state {
            State::Closed { waiters, reached } => {
                waiters.push(Box::new(waiter));
                let reached = reached.take();
                drop(state);
                if let Some(reached) = reached {
                    reached();
                }
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn a_gate_announces_its_first_waiter_once() {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        let gate = Gate::announcing(move || {
            counted.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!(count.load(Ordering::Relaxed), 0);
        gate.on_open(|outcome| assert_eq!(outcome, Ok(())));
        gate.on_open(|outcome| assert_eq!(outcome, Ok(())));
        assert_eq!(count.load(Ordering::Relaxed), 1);
        assert!(gate.open(Ok(())));
    }

    #[test]
    fn waiters_hear_that_nobody_can_open_the_gate_any_more() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let gate = Gate::new();
        let handle = gate.clone();
        gate.on_open(move |outcome| sender.send(outcome).expect("somebody listens"));
        drop(gate);
        assert!(receiver.try_recv().is_err(), "a handle is left");
        drop(handle);
        let failure = receiver.try_recv().expect("told").expect_err("a failure");
        assert_eq!(failure.kind(), FailureKind::Lost);
        assert!(receiver.try_recv().is_err(), "told once");
    }

    #[test]
    fn the_announcement_may_open_the_gate() {
        let cell: Arc<Mutex<Option<Gate>>> = Arc::default();
        let inside = Arc::clone(&cell);
        let gate = Gate::announcing(move || {
            let gate = inside.lock().expect("not poisoned").take();
            assert!(
                gate.expect("set before the gate is waited for")
                    .open(Ok(()))
            );
        });
        *cell.lock().expect("not poisoned") = Some(gate.clone());
        gate.on_open(|outcome| assert_eq!(outcome, Ok(())));
        assert!(gate.is_open());
    }

    #[test]
    fn an_open_gate_announces_nothing_and_forgets_its_callback() {
        let kept = Arc::new(());
        let held = Arc::clone(&kept);
        let gate = Gate::announcing(move || drop(held));
        assert!(gate.open(Ok(())));
        assert_eq!(Arc::strong_count(&kept), 1);
    }
}
