//! Events: places in the history of a queue.

use pyo3::prelude::*;

use crate::error::{Result, check};
use crate::handle::{handles, told};
use crate::import::table;
use crate::raw::{MP_EVENT_COMPLETE, MP_EVENT_FAILED, MP_EVENT_PENDING};

handles! {
    /// A place in a queue's history that one can wait for: `millpond.Event` in Python.
    Event(mp_event): mp_event_retain, mp_event_release, mp_event_from_python, mp_event_to_python;
}

/// What has become of the work that an event stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It hasn't finished.
    Pending,
    /// It has finished well.
    Complete,
    /// It failed; [`Event::wait`] says how.
    Failed,
}

impl Event {
    /// What has become of the work. Doesn't wait.
    ///
    /// # Errors
    /// After the shutdown, and in a forked child.
    pub fn state(&self) -> Result<State> {
        Ok(match told!(self, mp_event_status, MP_EVENT_PENDING)? {
            MP_EVENT_COMPLETE => State::Complete,
            MP_EVENT_FAILED => State::Failed,
            _ => State::Pending,
        })
    }

    /// Waits until the work has finished, without the interpreter lock.
    ///
    /// # Errors
    /// The work's failure, every time.
    pub fn wait(&self, py: Python<'_>) -> Result<()> {
        // SAFETY: the handle is counted for this one.
        py.detach(|| check(unsafe { (table().mp_event_wait)(self.as_ptr()) }))
    }
}
