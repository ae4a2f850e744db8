//! Commands that only wait, and functions of the host that run in the order of queues.

use crate::argument::{Answer, In, Out, UserData};
use crate::entry::entry;
use crate::event::Event;
use crate::handle::Handle;
use crate::numbers::{Code, Command};
use crate::queue::{Enqueued, Queue};
use crate::structures::{EnqueueExtProperties, HostTaskProperties};
use crate::usm_commands::nothing;
use crate::waits::Waits;

/// Holds back what comes next until everything before and the events are done.
fn barrier(
    queue: Handle<Queue>,
    (count, list): (u32, In<Handle<Event>>),
    event: Out<Handle<Event>>,
) -> Answer {
    let queue = &queue.get()?;
    let waits = &Waits::new(count, list)?;
    let command = Command::EVENTS_WAIT_WITH_BARRIER;
    let enqueued = Enqueued {
        queue,
        command,
        waits,
        blocking: false,
        event,
    };
    enqueued.submit(millpond::Queue::barrier)
}

entry! {
    /// Waits for events, or for everything before it where there are none, and holds nothing back.
    fn urEnqueueEventsWait(
        queue: Handle<Queue>,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let waits = &Waits::new(count, list)?;
        let command = Command::EVENTS_WAIT;
        let enqueued = Enqueued { queue, command, waits, blocking: false, event };
        if waits.is_empty() {
            return enqueued.submit(|queue, _| queue.barrier(&[]));
        }
        nothing(enqueued, "wait for events", &[])
    }

    fn urEnqueueEventsWaitWithBarrier(
        queue: Handle<Queue>,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        barrier(queue, (count, list), event)
    }

    /// The same with properties, of which there are hints only.
    fn urEnqueueEventsWaitWithBarrierExt(
        queue: Handle<Queue>,
        properties: In<EnqueueExtProperties>,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        queue.get()?;
        if let Some(properties) = properties.value() {
            properties.flags.check()?;
        }
        barrier(queue, (count, list), event)
    }

    /// Runs a function of the host in the order of the queue. It may enqueue, and must not wait for
    /// what is behind it.
    fn urEnqueueHostTaskExp(
        queue: Handle<Queue>,
        task: Option<extern "C" fn(UserData)>,
        data: UserData,
        properties: In<HostTaskProperties>,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let task = task.ok_or(Code::INVALID_NULL_POINTER)?;
        if let Some(properties) = properties.value() {
            properties.flags.check()?;
        }
        let waits = &Waits::new(count, list)?;
        let command = Command::HOST_TASK_EXP;
        let enqueued = Enqueued { queue, command, waits, blocking: false, event };
        enqueued.submit(|queue, after| {
            queue.task_at("host task", &[], after, move || {
                task(data);
                Ok(())
            })
        })
    }
}
