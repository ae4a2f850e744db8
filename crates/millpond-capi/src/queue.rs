//! Queues.

use std::ffi::c_void;
use std::time::{Duration, Instant};

use millpond::{Event, Gate, Pattern, Queue};

use crate::data::{In, List, Out};
use crate::describe::functions;
use crate::device::NamedDevice;
use crate::handle::{Give, Keep, Object, Take};
use crate::memory::Memory;
use crate::status::{Problem, Result};
use crate::task::{MemoryUse, Task, uses};

impl Object for Queue {
    const NAME: &'static str = "mp_queue";
}

functions! {
    /// Adds a count to a handle.
    fn mp_queue_retain(queue: Keep<Queue>) -> () {
        queue.retain();
    }

    /// Lets go of a count of a handle. What was submitted is finished all the same.
    fn mp_queue_release(queue: Take<Queue>) -> () {
        drop(queue.take());
    }

    /// The device that it belongs to.
    fn mp_queue_device(queue: Keep<Queue>, device: Give<NamedDevice>) {
        let place = device.ready()?;
        place.give(queue.get()?.device().clone().into());
        Ok(())
    }

    /// A number that no other queue of the process has or will have: equal for handles to the same queue.
    fn mp_queue_id(queue: Keep<Queue>, id: Out<u64>) {
        id.put(queue.get()?.id())
    }

    /// Whether commands take effect in the order of their submission.
    fn mp_queue_is_in_order(queue: Keep<Queue>, answer: Out<bool>) {
        answer.put(queue.get()?.is_in_order())
    }

    /// Whether everything submitted has finished. Doesn't wait.
    fn mp_queue_is_idle(queue: Keep<Queue>, answer: Out<bool>) {
        answer.put(queue.get()?.is_idle())
    }

    /// Waits for everything submitted so far; the first failure that no wait has told is the call's.
    fn mp_queue_wait(queue: Keep<Queue>) {
        Ok(queue.get()?.wait()?)
    }

    /// The same, for at most so many nanoseconds: MP_TIMED_OUT then.
    fn mp_queue_wait_for(queue: Keep<Queue>, nanoseconds: u64) {
        Ok(queue.get()?.wait_until(deadline(nanoseconds))?)
    }

    /// Closes the queue to new work; what was submitted is finished.
    fn mp_queue_close(queue: Keep<Queue>) {
        queue.get()?.close();
        Ok(())
    }

    /// An event for everything submitted so far.
    fn mp_queue_record(queue: Keep<Queue>, event: Give<Event>) {
        let place = event.ready()?;
        place.give(queue.get()?.record()?);
        Ok(())
    }

    /// Makes everything submitted from now on happen after everything before, and after the events. The barrier's own
    /// event is given unless event is null.
    fn mp_queue_barrier(
        queue: Keep<Queue>,
        events: List<Keep<Event>>,
        count: usize,
        event: Give<Event>,
    ) {
        let done = queue.get()?.barrier(&events_of(&events, count)?)?;
        event.give(done);
        Ok(())
    }

    /// Makes everything submitted from now on happen after an event, of whichever queue.
    fn mp_queue_follow(queue: Keep<Queue>, event: Keep<Event>) {
        Ok(queue.get()?.wait_for(event.get()?)?)
    }

    /// Runs a task on a thread of the host when the queue reaches it, in order with all that uses the same memory, on
    /// whichever queue, and behind the events. Handles of what it uses may be released at once. The event is given
    /// unless event is null.
    fn mp_queue_submit(
        queue: Keep<Queue>,
        task: In<Task>,
        used: List<MemoryUse>,
        used_count: usize,
        events: List<Keep<Event>>,
        event_count: usize,
        event: Give<Event>,
    ) {
        let (name, body) = task.get()?.take()?;
        let uses = uses(&used, used_count)?;
        let after = events_of(&events, event_count)?;
        event.give(queue.get()?.task_after(name, &uses, &after, body)?);
        Ok(())
    }

    /// Holds the queue, and whatever uses the memory, until the gate is opened: foreign work has its turn, which opens
    /// the gate when it is done. The event is given unless event is null.
    fn mp_queue_gate(
        queue: Keep<Queue>,
        gate: Keep<Gate>,
        used: List<MemoryUse>,
        used_count: usize,
        events: List<Keep<Event>>,
        event_count: usize,
        event: Give<Event>,
    ) {
        let uses = uses(&used, used_count)?;
        let after = events_of(&events, event_count)?;
        event.give(queue.get()?.gate_after(gate.get()?, &uses, &after)?);
        Ok(())
    }

    /// Copies bytes of memory, in order.
    fn mp_queue_copy(
        queue: Keep<Queue>,
        source: Keep<Memory>,
        source_offset: usize,
        target: Keep<Memory>,
        target_offset: usize,
        bytes: usize,
    ) {
        let (source, target) = (source.get()?, target.get()?);
        let from = source.range("copy", source_offset, bytes)?;
        let to = target.writable("copy")?.range("copy", target_offset, bytes)?;
        Ok(queue.get()?.copy(&source.allocation, from.start, &target.allocation, to.start, bytes)?)
    }

    /// Repeats a pattern of 1, 2, 4, 8 or 16 bytes over bytes of memory, in order.
    fn mp_queue_fill(
        queue: Keep<Queue>,
        target: Keep<Memory>,
        offset: usize,
        bytes: usize,
        pattern: List<u8>,
        pattern_bytes: usize,
    ) {
        let target = target.get()?.writable("fill")?;
        let range = target.range("fill", offset, bytes)?;
        let pattern = Pattern::new(pattern.get(pattern_bytes)?).ok_or_else(|| Problem::Argument {
            what: "fill",
            reason: format!("a pattern of {pattern_bytes} bytes, not of 1, 2, 4, 8 or 16"),
        })?;
        Ok(queue.get()?.fill(&target.allocation, range, pattern)?)
    }

    /// Makes everything submitted from now on happen after what a stream of the device's driver (a CUstream; null is the
    /// default stream) was given so far. Nothing waits on the host. The event is given unless event is null.
    fn mp_queue_follow_stream(queue: Keep<Queue>, stream: *mut c_void, event: Give<Event>) {
        let queue = queue.get()?;
        // SAFETY: the caller hands in a stream that lives.
        let followed = unsafe { queue.follow_stream(stream_at(stream)) }?;
        event.give(followed);
        Ok(())
    }

    /// Makes what a stream of the device's driver is given from now on happen after everything submitted to the queue so
    /// far. The host waits only for what it has to carry out itself, such as tasks.
    fn mp_queue_hold_stream(queue: Keep<Queue>, stream: *mut c_void) {
        let queue = queue.get()?;
        let event = queue.record()?;
        // SAFETY: the caller hands in a stream that lives.
        Ok(unsafe { queue.device().hold_stream(stream_at(stream), &[&event]) }?)
    }
}

/// A stream by its number. The driver's own for the default stream names the one that all users of a device share.
pub(crate) fn stream_at(stream: *mut c_void) -> usize {
    const DEFAULT: usize = 1;
    if stream.is_null() {
        DEFAULT
    } else {
        stream.addr()
    }
}

/// What a list of events names.
pub(crate) fn events_of(list: &List<Keep<Event>>, count: usize) -> Result<Vec<&Event>> {
    list.get(count)?.iter().map(Keep::get).collect()
}

/// The moment so many nanoseconds from now; none if that can't be counted.
pub(crate) fn deadline(nanoseconds: u64) -> Option<Instant> {
    Instant::now().checked_add(Duration::from_nanos(nanoseconds))
}
