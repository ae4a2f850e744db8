//! Who is told when a command finishes, and how, without recursion.
//!
//! A finished command may complete others, wake threads and call foreign callbacks, which may in
//! turn finish commands. [`notify`] keeps that flat: what a callback causes on the same thread is
//! put behind it, not inside it, so a chain of any length needs constant stack.

use std::cell::RefCell;
use std::collections::VecDeque;

use millpond_hal::{Failure, Watch};

use super::CpuQueue;
use crate::executor::guard;
use crate::sync::thread::Thread;
use crate::sync::{Arc, thread_local};

/// Code that wants to know that a command has finished.
pub(crate) type Callback = Box<dyn FnOnce() + Send>;

/// Who waits for a command.
pub(crate) enum Dependent {
    /// A command that starts after it.
    Command {
        /// Its queue.
        queue: Arc<CpuQueue>,
        /// Its number.
        sequence: u64,
        /// Whether a failure becomes its own.
        shares_failure: bool,
    },
    /// A thread that parked.
    Thread(Thread),
    /// A callback.
    Callback(Callback),
    /// Who asked to be told of this very command.
    Watch(Arc<dyn Watch>),
}

thread_local! {
    /// The callbacks that a call of [`run`] further up this thread's stack has yet to make;
    /// `None` if there is no such call.
    static DEFERRED: RefCell<Option<VecDeque<Callback>>> = const { RefCell::new(None) };
}

/// Tells the dependents of a command that finished, with its failure. Called without a lock.
pub(crate) fn notify(dependents: Vec<Dependent>, failure: Option<&Failure>) {
    for dependent in dependents {
        match dependent {
            Dependent::Command {
                queue,
                sequence,
                shares_failure,
            } => queue.unblock(sequence, 1, failure.filter(|_| shares_failure)),
            Dependent::Thread(thread) => thread.unpark(),
            Dependent::Callback(callback) => run(callback),
            Dependent::Watch(watch) => watch.ended(failure),
        }
    }
}

/// Runs a callback, or leaves it to the call of this function that is going on on this thread.
///
/// A panic of a callback has nowhere to go on a thread of the backend and is dropped.
fn run(callback: Callback) {
    let mut current = Some(callback);
    let nested = deferred(|deferred| {
        if let Some(list) = deferred {
            list.extend(current.take());
            return true;
        }
        *deferred = Some(VecDeque::new());
        false
    });
    if nested == Some(true) {
        return;
    }
    while let Some(callback) = current {
        // The fault is dropped, as said above.
        let _ = guard(|| {
            callback();
            Ok::<_, String>(())
        });
        current = deferred(|deferred| {
            let next = deferred.as_mut().and_then(VecDeque::pop_front);
            if next.is_none() {
                *deferred = None;
            }
            next
        })
        .flatten();
    }
}

/// Works on this thread's list; `None` on a thread that is at its end and has none any more.
fn deferred<T>(work: impl FnOnce(&mut Option<VecDeque<Callback>>) -> T) -> Option<T> {
    DEFERRED
        .try_with(|deferred| work(&mut deferred.borrow_mut()))
        .ok()
}
