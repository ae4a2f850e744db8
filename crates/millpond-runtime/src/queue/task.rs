//! Threads that run host tasks: what these submit never waits, as the queue waits for them, and they
//! don't wait for the queue.

use std::cell::Cell;

use crate::error::{Error, Result};

thread_local! {
    /// Whether this thread runs a host task, which must not wait for room on a queue.
    static IN_TASK: Cell<bool> = const { Cell::new(false) };
    /// The queue that has this thread run a task, and waits for it.
    static OF_QUEUE: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Runs a task of a queue.
pub(super) fn as_task_of<R>(queue: u64, body: impl FnOnce() -> R) -> R {
    struct Restore(Option<u64>);
    impl Drop for Restore {
        fn drop(&mut self) {
            OF_QUEUE.set(self.0);
        }
    }
    let _restore = Restore(OF_QUEUE.replace(Some(queue)));
    as_task(body)
}

/// Fails within a task of a queue, which would wait for itself.
///
/// # Errors
/// [`Error::Invalid`].
pub(super) fn check_wait(queue: u64) -> Result<()> {
    if OF_QUEUE.get() == Some(queue) {
        return Err(Error::Invalid {
            what: "wait",
            reason: format!("a task of queue {queue} cannot wait for it, which waits for the task"),
        });
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use millpond_hal::null::NullDriver;
    use millpond_hal::{Driver, QueueOptions};

    use crate::device::Device;
    use crate::error::{Error, Result};

    #[test]
    fn a_task_cannot_wait_for_its_own_queue() -> Result<()> {
        let device = Device::open(NullDriver::default().devices()?.remove(0));
        let (own, other) = (
            device.default_queue()?,
            device.create_queue(&QueueOptions::default())?,
        );
        let (tell, told) = mpsc::channel();
        let queues = [own.clone(), other];
        let task = own.task("waits", &[], move || {
            for queue in &queues {
                tell.send(queue.wait()).expect("the test listens");
            }
            Ok(())
        })?;
        task.wait()?;
        let answers: Vec<Result<()>> = told.iter().collect();
        assert!(
            matches!(answers[..], [Err(Error::Invalid { .. }), Ok(())]),
            "{answers:?}"
        );
        own.wait()
    }
}
