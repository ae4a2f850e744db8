//! Functions of a program that have their place on queues, and the clock of a device.

use crate::argument::{Flag, In, Out, UserData};
use crate::buffer::Buffer;
use crate::entry::entry;
use crate::error::code;
use crate::event::{Event, Signal};
use crate::handle::Handle;
use crate::mutants::{Rule, broken};
use crate::numbers::{Code, Command};
use crate::queue::{Enqueued, Queue};
use crate::structures::{HostTaskProperties, NativeCommandProperties};
use crate::waits::Waits;

entry! {
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

    /// Calls a function that enqueues, now: what it puts on the queue, which it finds by its native
    /// handle, comes behind the events, and before what the command's own event stands for.
    fn urEnqueueNativeCommandExp(
        queue: Handle<Queue>,
        function: Option<extern "C" fn(Handle<Queue>, UserData)>,
        data: UserData,
        buffer_count: u32,
        buffers: In<Handle<Buffer>>,
        properties: In<NativeCommandProperties>,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let function = function.ok_or(Code::INVALID_NULL_POINTER)?;
        if let Some(properties) = properties.value() {
            properties.flags.check()?;
        }
        if buffers.is_null() != (buffer_count == 0) {
            return Err(Code::INVALID_VALUE);
        }
        for buffer in buffers.list(buffer_count as usize)? {
            buffer.get()?;
        }
        let waits = &Waits::new(count, list)?;
        if !waits.is_empty() && !broken(Rule::NativeWaits) {
            queue.runtime().barrier(&waits.runtime()).map_err(|error| code(&error))?;
        }
        function(queue.handle(), data);
        let command = Command::ENQUEUE_NATIVE_EXP;
        Enqueued { queue, command, waits, blocking: false, event }.submit(millpond::Queue::barrier)
    }

    /// Has an event tell when everything before it on the queue was done, whether or not the queue keeps
    /// times.
    fn urEnqueueTimestampRecordingExp(
        queue: Handle<Queue>,
        blocking: Flag,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let event = event.required()?;
        let waits = &Waits::new(count, list)?;
        let (recorded, _) = queue.device().now()?;
        // What was enqueued before is before it on every queue.
        let before = queue.runtime().record().map_err(|error| code(&error))?;
        let mut after = waits.runtime();
        if !broken(Rule::TimestampBehind) {
            after.push(&before);
        }
        queue.runtime().wait_for_room().map_err(|error| code(&error))?;
        let told = queue.device().time_of(&after)?;
        let enqueued = Enqueued {
            queue,
            command: Command::TIMESTAMP_RECORDING_EXP,
            waits,
            blocking: blocking.is_set(),
            event: Out::NULL,
        };
        let signal = Signal { recorded: Some(recorded), ..enqueued.signal(told.clone()) };
        event.set(Event::make(queue, signal)?.handle());
        // And what comes next is behind it where the queue has an order.
        let behind: &[_] = if broken(Rule::TimestampBefore) { &[] } else { &[&told] };
        enqueued.submit(|queue, _| queue.task_at("timestamp", &[], behind, || Ok(())))
    }
}
