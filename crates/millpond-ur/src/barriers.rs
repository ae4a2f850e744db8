//! Commands that only wait.

use crate::argument::{Answer, In, Out};
use crate::entry::entry;
use crate::error::code;
use crate::event::Event;
use crate::handle::Handle;
use crate::mutants::{Rule, broken};
use crate::numbers::Command;
use crate::queue::{Enqueued, Queue};
use crate::structures::EnqueueExtProperties;
use crate::usm_commands::{do_nothing, nothing};
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
    if broken(Rule::Barrier) {
        return nothing(enqueued, "barrier");
    }
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
        if waits.is_empty() && !broken(Rule::WaitForAll) {
            return enqueued.submit(|queue, _| do_nothing(queue, "wait for all", &[&queue.record()?]));
        }
        nothing(enqueued, "wait for events")
    }

    fn urEnqueueEventsWaitWithBarrier(
        queue: Handle<Queue>,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        barrier(queue, (count, list), event)
    }

    /// The same with properties, of which there are hints only. An event that may be used again stands
    /// for this command from now on, if one is passed.
    fn urEnqueueEventsWaitWithBarrierExt(
        queue: Handle<Queue>,
        properties: In<EnqueueExtProperties>,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let owner = queue.get()?;
        if let Some(properties) = properties.value() {
            properties.flags.check()?;
        }
        let passed = event.value().and_then(|event: Handle<Event>| event.get().ok());
        let Some(reused) = passed.filter(|event| event.may_stand_for(owner.context())) else {
            return barrier(queue, (count, list), event);
        };
        let waits = &Waits::new(count, list)?;
        let command = Command::EVENTS_WAIT_WITH_BARRIER;
        let enqueued = Enqueued { queue: &owner, command, waits, blocking: false, event: Out::NULL };
        let mut done = owner.runtime().barrier(&waits.runtime()).map_err(|error| code(&error))?;
        if reused.keeps_times() && !owner.runtime().is_profiling() {
            done = owner.device().time_of(&[&done])?;
        }
        if broken(Rule::ReusedEvent) {
            return Ok(());
        }
        reused.stand_for(enqueued.signal(done));
        Ok(())
    }
}
