//! Events, and the gates by which foreign work takes part.

use millpond::runtime::Status as EventState;
use millpond::{Event, Failure, FailureKind, Gate, Queue};

use crate::data::{In, Out, Text};
use crate::describe::functions;
use crate::handle::{Give, Keep, Object, Take};
use crate::number::Number;
use crate::queue::deadline;
use crate::task::Callback;

impl Object for Event {
    const NAME: &'static str = "mp_event";
}

impl Object for Gate {
    const NAME: &'static str = "mp_gate";
}

functions! {
    /// Adds a count to a handle.
    fn mp_event_retain(event: Keep<Event>) -> () {
        event.retain();
    }

    /// Lets go of a count of a handle.
    fn mp_event_release(event: Take<Event>) -> () {
        drop(event.take());
    }

    /// The queue that it was recorded on.
    fn mp_event_queue(event: Keep<Event>, queue: Give<Queue>) {
        let place = queue.ready()?;
        place.give(event.get()?.queue());
        Ok(())
    }

    /// What has become of the work. Doesn't wait.
    fn mp_event_status(event: Keep<Event>, state: Out<Number<EventState>>) {
        state.put(Number::of(event.get()?.status()))
    }

    /// Waits until the work has finished; its failure is the call's, every time.
    fn mp_event_wait(event: Keep<Event>) {
        Ok(event.get()?.wait()?)
    }

    /// The same, for at most so many nanoseconds: MP_TIMED_OUT then.
    fn mp_event_wait_for(event: Keep<Event>, nanoseconds: u64) {
        Ok(event.get()?.wait_until(deadline(nanoseconds))?)
    }

    /// Calls back when the work has finished, well or not: at once if it has, else from a thread that the callback must
    /// not block. This is how foreign work comes behind work of a queue.
    fn mp_event_on_complete(event: Keep<Event>, callback: In<Callback>) {
        let call = callback.get()?.take()?;
        event.get()?.on_complete(call);
        Ok(())
    }

    /// When the command was submitted, started and finished, in nanoseconds since a moment of the process; of a queue
    /// that profiles, once it has finished.
    fn mp_event_times(
        event: Keep<Event>,
        submitted: Out<u64>,
        started: Out<u64>,
        finished: Out<u64>,
    ) {
        let times = event.get()?.times()?;
        submitted.put(times.submitted.as_nanos() as u64)?;
        started.put(times.started.as_nanos() as u64)?;
        finished.put(times.finished.as_nanos() as u64)
    }

    /// Makes a closed gate. With a callback, it tells when a queue first reaches the gate: the time for foreign work to
    /// begin. callback may be null.
    fn mp_gate_create(callback: In<Callback>, gate: Give<Gate>) {
        let call = callback.optional().map(Callback::take).transpose()?;
        let place = gate.ready()?;
        place.give(match call {
            Some(call) => Gate::announcing(move || call(EventState::Pending)),
            None => Gate::new(),
        });
        Ok(())
    }

    /// Adds a count to a handle.
    fn mp_gate_retain(gate: Keep<Gate>) -> () {
        gate.retain();
    }

    /// Lets go of a count of a handle. A gate that nobody opens holds its queues.
    fn mp_gate_release(gate: Take<Gate>) -> () {
        drop(gate.take());
    }

    /// Opens a gate, from any thread. With a text, the gate's events fail for that reason, and what depends on them;
    /// failure may be null. Opening it again changes nothing.
    fn mp_gate_open(gate: Keep<Gate>, failure: Text) {
        let gate = gate.get()?;
        gate.open(match failure.optional() {
            Some(reason) => Err(Failure::new(FailureKind::Command, "gate", reason)),
            None => Ok(()),
        });
        Ok(())
    }

    /// Whether it was opened.
    fn mp_gate_is_open(gate: Keep<Gate>, answer: Out<bool>) {
        answer.put(gate.get()?.is_open())
    }
}
