//! Threads that run host tasks: what these submit never waits, as the queue waits for them.

use std::cell::Cell;

thread_local! {
    /// Whether this thread runs a host task, which must not wait for room on a queue.
    static IN_TASK: Cell<bool> = const { Cell::new(false) };
}

/// Whether the calling thread runs a host task.
pub(crate) fn in_task() -> bool {
    IN_TASK.get()
}

/// Says that the calling thread runs host tasks from now on, on behalf of gates: what it submits
/// never waits, neither for room on a queue nor for memory shared with the host.
pub fn serve_tasks() {
    IN_TASK.set(true);
}

/// Marks the thread as running a host task for the time of a call: what the body submits never waits,
/// neither for room on a queue nor for memory shared with the host.
pub fn as_task<R>(body: impl FnOnce() -> R) -> R {
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            IN_TASK.set(self.0);
        }
    }
    let _restore = Restore(IN_TASK.replace(true));
    body()
}
