//! Events: commands that one can wait for, and ask what has become of them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond::Status;

use crate::argument::{Answer, In, Out, UserData};
use crate::context::Context;
use crate::device::Device;
use crate::entry::entry;
use crate::error::code;
use crate::handle::{Handle, Place, create, kinds};
use crate::mutants::{Rule, broken};
use crate::numbers::{
    Code, Command, EventFlags, EventInfo, EventStatus, ExecutionInfo, ProfilingInfo,
};
use crate::property::Property;
use crate::queue::Queue;
use crate::structures::{EventDesc, Header};

/// A command that was submitted, or what stands for one after the other.
#[derive(Debug)]
pub(crate) struct Event {
    place: Place<Event>,
    context: Arc<Context>,
    standing: Standing,
    signal: Mutex<Signal>,
}

/// For which commands an event stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// For one.
    Once,
    /// For one after the other.
    Again,
    /// The same, with times whether or not their queues keep any.
    Timed,
}

/// What an event stands for at a time.
#[derive(Clone, Debug)]
pub(crate) struct Signal {
    /// None of an event that no command was enqueued for.
    pub(crate) queue: Option<Arc<Queue>>,
    pub(crate) command: Command,
    pub(crate) runtime: millpond::Event,
    /// Of a command that is several for the runtime, the one that begins first.
    pub(crate) first: Option<millpond::Event>,
    /// When the command was enqueued, of one that only tells the time.
    pub(crate) recorded: Option<u64>,
}

kinds! { Event: INVALID_EVENT }

/// What is called when a command has come so far.
type Callback = extern "C" fn(Handle<Event>, ExecutionInfo, UserData);

impl Event {
    /// The event of a command.
    pub(crate) fn make(queue: &Arc<Queue>, signal: Signal) -> Answer<Arc<Self>> {
        create(|place| Self {
            place,
            context: Arc::clone(queue.context()),
            standing: Standing::Once,
            signal: Mutex::new(signal),
        })
    }

    /// An event that nobody has to wait for.
    fn over(context: Arc<Context>, standing: Standing) -> Answer<Arc<Self>> {
        let signal = Signal {
            queue: None,
            command: Command::EVENTS_WAIT,
            runtime: context.first().over()?,
            first: None,
            recorded: None,
        };
        create(|place| Self {
            place,
            context,
            standing,
            signal: Mutex::new(signal),
        })
    }

    pub(crate) fn handle(&self) -> Handle<Self> {
        self.place.handle()
    }

    /// Whether it may stand for commands of a context, one after the other.
    pub(crate) fn may_stand_for(&self, context: &Arc<Context>) -> bool {
        self.standing != Standing::Once && Arc::ptr_eq(&self.context, context)
    }

    /// Whether it has times on every queue.
    pub(crate) fn keeps_times(&self) -> bool {
        self.standing == Standing::Timed && !broken(Rule::EventTimes)
    }

    /// Has it stand for another command from now on.
    pub(crate) fn stand_for(&self, signal: Signal) {
        let before = std::mem::replace(&mut *self.lock(), signal);
        // It may be what kept its queue.
        drop(before);
    }

    /// What it stands for now.
    pub(crate) fn signal(&self) -> Signal {
        self.lock().clone()
    }

    /// The same as the runtime knows it.
    pub(crate) fn runtime(&self) -> millpond::Event {
        self.lock().runtime.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Signal> {
        self.signal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Signal {
    fn status(&self) -> EventStatus {
        if broken(Rule::Status) {
            return EventStatus::COMPLETE;
        }
        match self.runtime.status() {
            Status::Pending => EventStatus::SUBMITTED,
            Status::Complete => EventStatus::COMPLETE,
            Status::Failed => EventStatus::ERROR,
        }
    }

    /// A moment in the command's life, in nanoseconds.
    fn moment(&self, what: ProfilingInfo) -> Answer<u64> {
        if let Some(recorded) = self.recorded
            && what <= ProfilingInfo::COMMAND_SUBMIT
        {
            return Ok(recorded);
        }
        let first = self
            .first
            .as_ref()
            .filter(|_| what < ProfilingInfo::COMMAND_END);
        let times = first
            .unwrap_or(&self.runtime)
            .times()
            .map_err(|_| match what {
                // Known later only, and not owed.
                ProfilingInfo::COMMAND_QUEUED if self.runtime.queue().is_profiling() => {
                    Code::UNSUPPORTED_ENUMERATION
                }
                _ => Code::PROFILING_INFO_NOT_AVAILABLE,
            })?;
        let moment = match what {
            ProfilingInfo::COMMAND_QUEUED | ProfilingInfo::COMMAND_SUBMIT => times.submitted,
            // A command that only tells the time begins when it has it.
            ProfilingInfo::COMMAND_START if broken(Rule::Times) => times.finished * 2,
            ProfilingInfo::COMMAND_START if self.recorded.is_none() => times.started,
            _ => times.finished,
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
        let signal = event.signal();
        let property: Property = match what {
            EventInfo::COMMAND_QUEUE => {
                let queue = signal.queue.as_ref();
                queue.map_or(Handle::NULL, |queue| queue.handle()).into()
            }
            EventInfo::CONTEXT => event.context.handle().into(),
            EventInfo::COMMAND_TYPE => signal.command.0.into(),
            EventInfo::COMMAND_EXECUTION_STATUS => signal.status().0.into(),
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
        Property::from(event.signal().moment(what)?).answer(room, value, size)
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
            if let Err(error) = event.runtime().wait() {
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
            event.set(Event::over(context, Standing::Once)?.handle());
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
            ExecutionInfo::COMPLETE if broken(Rule::Callback) => callback(event.handle(), status, data),
            ExecutionInfo::RUNNING | ExecutionInfo::COMPLETE => {
                let kept = Arc::clone(&event);
                event.runtime().on_complete(move |_| callback(kept.handle(), status, data));
            }
            _ => return Err(Code::INVALID_ENUMERATION),
        }
        Ok(())
    }

    /// An event that stands for nothing yet. Other processes' use isn't offered.
    fn urEventCreateExp(
        context: Handle<Context>,
        device: Handle<Device>,
        desc: In<EventDesc>,
        event: Out<Handle<Event>>,
    ) {
        let context = context.get()?;
        context.device(device)?;
        let flags = desc.required()?.flags.check()?;
        let event = event.required()?;
        if flags.has(EventFlags::IPC_EXP) {
            return Err(Code::UNSUPPORTED_FEATURE);
        }
        let is_timed = flags.has(EventFlags::ENABLE_PROFILING);
        let standing = if is_timed { Standing::Timed } else { Standing::Again };
        event.set(Event::over(context, standing)?.handle());
        Ok(())
    }
}
