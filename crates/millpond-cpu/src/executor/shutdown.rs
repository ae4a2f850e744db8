//! The orderly end of a device: its work is done, then its threads end.
//!
//! Work that can't go on by itself, because a gate stays closed or a point is never reached, gets
//! a period of grace and then fails, so that a program's exit never hangs on it. A command that
//! runs is waited for however long it takes.

use std::time::{Duration, Instant};

use millpond_hal::{Failure, FailureKind};

use super::{Crew, Executor, worker};
use crate::queue::Registry;
use crate::sync::{Arc, Ordering, lock};

/// How long work may stand still before it is given up.
const GRACE: Duration = Duration::from_secs(1);

/// How often the work is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(10);

impl Executor {
    /// Refuses new work, waits for what was submitted and ends the threads.
    ///
    /// Called from a host task of the device itself it only refuses new work: the threads end
    /// when the rest is done.
    pub(crate) fn shut_down(&self, registry: &Registry) {
        let crew = self.crew();
        crew.closing.store(true, Ordering::SeqCst);
        crew.board.close();
        if worker::current().is_some_and(|current| Arc::ptr_eq(&current, crew)) {
            return;
        }
        drain(crew, registry);
        for queue in registry.queues() {
            if Arc::ptr_eq(queue.crew(), crew) {
                queue.release_early();
            }
        }
        let handles = std::mem::take(&mut *lock(&crew.handles));
        for handle in handles {
            // A worker doesn't panic: what could, is caught where foreign code is called.
            let _ = handle.join();
        }
    }
}

fn drain(crew: &Arc<Crew>, registry: &Registry) {
    let mut still_since = None;
    let mut given_up = false;
    while !crew.is_finished() {
        crew.board.wait_drained(LOOK, || crew.is_finished());
        let queues = registry.queues();
        // Work of another device may be what this one's waits for.
        if queues.iter().any(|queue| queue.is_active()) {
            still_since = None;
            continue;
        }
        let since: Instant = *still_since.get_or_insert_with(Instant::now);
        if !given_up && since.elapsed() < GRACE {
            continue;
        }
        given_up = true;
        let failure = Failure::new(
            FailureKind::Lost,
            "work pending at shutdown",
            format!("{} was shut down before it could start", crew.label()),
        );
        for queue in &queues {
            if Arc::ptr_eq(queue.crew(), crew) {
                queue.give_up(&failure);
            }
        }
    }
}
