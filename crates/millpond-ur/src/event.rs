//! Events: commands that one can wait for, and ask what has become of them.

use std::sync::Arc;

use millpond::Status;

use crate::argument::{Answer, In, Out, UserData};
use crate::context::Context;
use crate::entry::entry;
use crate::error::code;
use crate::handle::{Handle, Place, create, kinds};
use crate::numbers::{Code, Command, EventInfo, EventStatus, ExecutionInfo, ProfilingInfo};
use crate::property::Property;
use crate::queue::Queue;
use crate::structures::Header;

/// A command that was submitted.
#[derive(Debug)]
pub(crate) struct Event {
    place: Place<Event>,
    context: Arc<Context>,
    /// None of an event that no command was enqueued for.
    queue: Option<Arc<Queue>>,
    command: Command,
    runtime: millpond::Event,
}

kinds! { Event: INVALID_EVENT }

/// What is called when a command has come so far.
type Callback = extern "C" fn(Handle<Event>, ExecutionInfo, UserData);

impl Event {
    /// The event of a command.
    pub(crate) fn make(
        queue: Arc<Queue>,
        command: Command,
        runtime: millpond::Event,
    ) -> Answer<Arc<Self>> {
        create(|place| Self {
            place,
            context: Arc::clone(queue.context()),
            queue: Some(queue),
            command,
            runtime,
        })
    }

    /// An event that nobody has to wait for.
    fn over(context: Arc<Context>) -> Answer<Arc<Self>> {
        let queue = context.first().memory_queue()?;
        let runtime = queue.barrier(&[]).map_err(|error| code(&error))?;
        create(|place| Self {
            place,
            context,
            queue: None,
            command: Command::EVENTS_WAIT,
            runtime,
        })
    }

    pub(crate) fn handle(&self) -> Handle<Self> {
        self.place.handle()
    }

    pub(crate) fn runtime(&self) -> &millpond::Event {
        &self.runtime
    }

    fn status(&self) -> EventStatus {
        match self.runtime.status() {
            Status::Pending => EventStatus::SUBMITTED,
            Status::Complete => EventStatus::COMPLETE,
            Status::Failed => EventStatus::ERROR,
        }
    }

    /// A moment in the command's life, in nanoseconds.
    fn moment(&self, what: ProfilingInfo) -> Answer<u64> {
        let times = self.runtime.times().map_err(|_| match what {
            // Known later only, and not owed.
            ProfilingInfo::COMMAND_QUEUED if self.runtime.queue().is_profiling() => {
                Code::UNSUPPORTED_ENUMERATION
            }
            _ => Code::PROFILING_INFO_NOT_AVAILABLE,
        })?;
        let moment = match what {
            ProfilingInfo::COMMAND_QUEUED | ProfilingInfo::COMMAND_SUBMIT => times.submitted,
            ProfilingInfo::COMMAND_START => times.started,
            ProfilingInfo::COMMAND_END | ProfilingInfo::COMMAND_COMPLETE => times.finished,
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        Ok(moment.as_nanos() as u64)
    }
}

entry! {
    fn urEventGetInfo(
        event: Handle<Event>,
        what: EventInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let event = event.get()?;
        let property: Property = match what {
            EventInfo::COMMAND_QUEUE => {
                let queue = event.queue.as_ref();
                queue.map_or(Handle::NULL, |queue| queue.handle()).into()
            }
            EventInfo::CONTEXT => event.context.handle().into(),
            EventInfo::COMMAND_TYPE => event.command.0.into(),
            EventInfo::COMMAND_EXECUTION_STATUS => event.status().0.into(),
            EventInfo::REFERENCE_COUNT => event.place.references().into(),
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        property.answer(room, value, size)
    }

    fn urEventGetProfilingInfo(
        event: Handle<Event>,
        what: ProfilingInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let event = event.get()?;
        if what > ProfilingInfo::COMMAND_COMPLETE {
            return Err(Code::INVALID_ENUMERATION);
        }
        Property::from(event.moment(what)?).answer(room, value, size)
    }

    /// Waits for commands.
    fn urEventWait(count: u32, events: In<Handle<Event>>) {
        if events.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        if count == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let events: Answer<Vec<_>> = events.list(count as usize)?.iter().map(|event| event.get()).collect();
        let mut answer = Ok(());
        for event in events? {
            if let Err(error) = event.runtime.wait() {
                answer = Err(match code(&error) {
                    Code::ADAPTER_SPECIFIC => Code::IN_EVENT_LIST_EXEC_STATUS,
                    other => other,
                });
            }
        }
        answer
    }

    fn urEventRetain(event: Handle<Event>) {
        event.retain()
    }

    fn urEventRelease(event: Handle<Event>) {
        event.release().map(drop)
    }

    fn urEventGetNativeHandle(event: Handle<Event>, native: Out<usize>) {
        event.get()?;
        native.required()?.set(event.native());
        Ok(())
    }

    /// The event with this native handle; one that is over for none.
    fn urEventCreateWithNativeHandle(
        native: usize,
        context: Handle<Context>,
        _properties: In<Header>,
        event: Out<Handle<Event>>,
    ) {
        let context = context.get()?;
        let event = event.required()?;
        let same = Handle::<Event>::of_native(native);
        if native == 0 {
            event.set(Event::over(context)?.handle());
            return Ok(());
        }
        same.retain()?;
        event.set(same);
        Ok(())
    }

    /// Has a function called when the command has come so far: at once if it has, else from a thread
    /// of the device, which it must not block. A command that begins is told of when it ends.
    fn urEventSetCallback(
        event: Handle<Event>,
        status: ExecutionInfo,
        callback: Option<Callback>,
        data: UserData,
    ) {
        let event = event.get()?;
        let callback = callback.ok_or(Code::INVALID_NULL_POINTER)?;
        match status {
            ExecutionInfo::QUEUED | ExecutionInfo::SUBMITTED => {
                callback(event.handle(), status, data);
            }
            ExecutionInfo::RUNNING | ExecutionInfo::COMPLETE => {
                let kept = Arc::clone(&event);
                event.runtime.on_complete(move |_| callback(kept.handle(), status, data));
            }
            _ => return Err(Code::INVALID_ENUMERATION),
        }
        Ok(())
    }
}
