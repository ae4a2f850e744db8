//! What waits for the task that a thread runs.

use std::cell::RefCell;
use std::sync::Arc;

use millpond::{Allocation, Queue};
use pyo3::prelude::*;

use crate::error::error;

thread_local! {
    /// The queue and the memory that wait for the task that this thread runs.
    static HELD: RefCell<Option<Held>> = const { RefCell::new(None) };
}

/// The queue and the memory that wait for a task.
pub(super) struct Held {
    pub(super) queue: Queue,
    pub(super) memory: Vec<Allocation>,
    pub(super) name: Arc<str>,
}

/// Notes what waits for the task that the calling thread runs from now on.
pub(super) fn set(held: Option<Held>) {
    HELD.set(held);
}

/// Fails if the calling thread runs a task that the queue waits for.
///
/// # Errors
/// `millpond.Error`.
pub(crate) fn check_wait(queue: &Queue) -> PyResult<()> {
    HELD.with_borrow(|held| match held {
        Some(held) if held.queue == *queue => Err(error(format!(
            "task {} cannot wait for queue {}, which waits for the task",
            held.name,
            queue.id()
        ))),
        _ => Ok(()),
    })
}

/// Fails if the calling thread runs a task that work on this memory waits for.
///
/// # Errors
/// `millpond.Error`.
pub(crate) fn check_memory(memory: &Allocation) -> PyResult<()> {
    HELD.with_borrow(|held| match held {
        Some(held) if held.memory.iter().any(|used| used.same_as(memory)) => Err(error(format!(
            "task {} cannot wait for memory that it uses: submit it with views=True, and look at \
             those",
            held.name
        ))),
        Some(held) if memory.is_on(&held.queue) => check_wait(&held.queue),
        _ => Ok(()),
    })
}
