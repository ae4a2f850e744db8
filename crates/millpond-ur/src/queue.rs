//! Queues, and how commands get onto them.

use std::sync::Arc;

use millpond::QueueOptions;

use crate::argument::{Answer, In, Out};
use crate::context::Context;
use crate::device::Device;
use crate::entry::entry;
use crate::error::code;
use crate::event::{Event, Signal};
use crate::handle::{Handle, Place, create, kinds};
use crate::mutants::{Rule, broken};
use crate::numbers::{Code, Command, QueueFlags, QueueInfo, StructureType};
use crate::property::Property;
use crate::structures::{Header, QueueProperties, chain};
use crate::waits::Waits;

/// A queue.
#[derive(Debug)]
pub(crate) struct Queue {
    place: Place<Queue>,
    context: Arc<Context>,
    device: Arc<Device>,
    runtime: millpond::Queue,
    flags: QueueFlags,
}

kinds! { Queue: INVALID_QUEUE }

/// What is enqueued: its kind, what it comes after, and whether the caller waits and wants an event.
pub(crate) struct Enqueued<'a> {
    pub(crate) queue: &'a Arc<Queue>,
    pub(crate) command: Command,
    pub(crate) waits: &'a Waits,
    pub(crate) blocking: bool,
    pub(crate) event: Out<Handle<Event>>,
}

/// What was handed to the runtime as one command.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    /// Where it is several, the one that begins first.
    pub(crate) first: Option<millpond::Event>,
    /// When all is done.
    pub(crate) last: millpond::Event,
}

impl From<millpond::Event> for Done {
    fn from(last: millpond::Event) -> Self {
        Self { first: None, last }
    }
}

/// A command as a call that enqueues it, as often as that is wanted: on a queue, behind events.
pub(crate) trait Call<D>:
    Fn(&millpond::Queue, &[&millpond::Event]) -> millpond::Result<D> + Send + Sync + 'static
{
}

impl<D, C> Call<D> for C where
    C: Fn(&millpond::Queue, &[&millpond::Event]) -> millpond::Result<D> + Send + Sync + 'static
{
}

/// The same, whatever it is made of.
pub(crate) type Work = dyn Call<Done>;

/// Where a command goes: to a queue now, or into a list for later.
pub(crate) trait Target {
    /// The device that will carry it out.
    fn device(&self) -> &Arc<Device>;

    /// Takes the command.
    fn put<D: Into<Done>>(self, work: impl Call<D>) -> Answer;
}

impl Target for Enqueued<'_> {
    fn device(&self) -> &Arc<Device> {
        self.queue.device()
    }

    fn put<D: Into<Done>>(self, work: impl Call<D>) -> Answer {
        self.submit(work)
    }
}

impl Enqueued<'_> {
    /// Hands the command to the runtime, by a call that answers its event there.
    pub(crate) fn submit<D: Into<Done>>(
        self,
        call: impl FnOnce(&millpond::Queue, &[&millpond::Event]) -> millpond::Result<D>,
    ) -> Answer {
        let done =
            call(&self.queue.runtime, &self.waits.runtime()).map_err(|error| code(&error))?;
        self.submitted(done)
    }

    /// Answers the event of a command that was handed to the runtime.
    pub(crate) fn submitted(self, done: impl Into<Done>) -> Answer {
        let done = done.into();
        if self.blocking && !broken(Rule::Blocking) {
            done.last.wait().map_err(|error| code(&error))?;
        }
        if !self.event.is_null() {
            let made = Event::make(self.queue, self.signal(done))?;
            self.event.set(made.handle());
        }
        Ok(())
    }

    /// What an event of the command stands for.
    pub(crate) fn signal(&self, done: impl Into<Done>) -> Signal {
        let Done { first, last } = done.into();
        Signal {
            queue: Some(Arc::clone(self.queue)),
            command: if broken(Rule::Command) {
                Command::EVENTS_WAIT
            } else {
                self.command
            },
            first: first.filter(|_| !broken(Rule::FirstTimes)),
            runtime: last,
            recorded: None,
        }
    }
}

impl Queue {
    pub(crate) fn handle(&self) -> Handle<Self> {
        self.place.handle()
    }

    pub(crate) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    pub(crate) fn runtime(&self) -> &millpond::Queue {
        &self.runtime
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        let has_work = !broken(Rule::LeftWork) && !self.runtime.is_idle();
        // A queue that can't say what it does was closed, and has nothing to do.
        let last = has_work.then(|| self.runtime.record().ok()).flatten();
        self.context.leave(&self.runtime, last);
    }
}

/// The flags that a queue is made with.
fn flags(properties: In<QueueProperties>) -> Answer<QueueFlags> {
    let Some(properties) = properties.value() else {
        return Ok(QueueFlags::default());
    };
    let flags = properties.flags.check()?;
    let are_both = |one: QueueFlags, other: QueueFlags| flags.has(one) && flags.has(other);
    if are_both(QueueFlags::PRIORITY_LOW, QueueFlags::PRIORITY_HIGH)
        || are_both(
            QueueFlags::SUBMISSION_BATCHED,
            QueueFlags::SUBMISSION_IMMEDIATE,
        )
    {
        return Err(Code::INVALID_QUEUE_PROPERTIES);
    }
    if flags.has(QueueFlags::ON_DEVICE) || flags.has(QueueFlags::ON_DEVICE_DEFAULT) {
        return Err(Code::INVALID_QUEUE_PROPERTIES);
    }
    let behind = chain(properties.header)?;
    if behind
        .iter()
        .any(|(kind, _)| *kind != StructureType::QUEUE_INDEX_PROPERTIES)
    {
        return Err(Code::INVALID_QUEUE_PROPERTIES);
    }
    Ok(flags)
}

fn make(context: Arc<Context>, device: Arc<Device>, flags: QueueFlags) -> Answer<Arc<Queue>> {
    let options = QueueOptions {
        out_of_order: flags.has(QueueFlags::OUT_OF_ORDER_EXEC_MODE_ENABLE),
        profiling: flags.has(QueueFlags::PROFILING_ENABLE),
    };
    let runtime = device.runtime().create_queue(&options);
    let runtime = runtime.map_err(|error| code(&error))?;
    let made = create(|place| Queue {
        place,
        context,
        device,
        runtime,
        flags,
    })?;
    made.context.add_queue(&made.runtime);
    Ok(made)
}

entry! {
    fn urQueueCreate(
        context: Handle<Context>,
        device: Handle<Device>,
        properties: In<QueueProperties>,
        queue: Out<Handle<Queue>>,
    ) {
        let context = context.get()?;
        let device = context.device(device)?;
        let queue = queue.required()?;
        let flags = flags(properties)?;
        queue.set(make(context, device, flags)?.handle());
        Ok(())
    }

    fn urQueueRetain(queue: Handle<Queue>) {
        queue.retain()
    }

    /// Gives a reference back. What was submitted is finished, also after the last.
    fn urQueueRelease(queue: Handle<Queue>) {
        queue.release().map(drop)
    }

    fn urQueueGetInfo(
        queue: Handle<Queue>,
        what: QueueInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let queue = queue.get()?;
        let property: Property = match what {
            QueueInfo::CONTEXT => queue.context.handle().into(),
            QueueInfo::DEVICE => queue.device.handle().into(),
            QueueInfo::FLAGS => queue.flags.0.into(),
            QueueInfo::REFERENCE_COUNT => queue.place.references().into(),
            QueueInfo::EMPTY => queue.runtime.is_idle().into(),
            // Of queues on a device, of which there are none.
            QueueInfo::DEVICE_DEFAULT | QueueInfo::SIZE => {
                return Err(Code::UNSUPPORTED_ENUMERATION);
            }
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        property.answer(room, value, size)
    }

    /// Waits for everything submitted to the queue.
    fn urQueueFinish(queue: Handle<Queue>) {
        queue.get()?.runtime.wait().map_err(|error| code(&error))
    }

    /// Has the queue begin. It does so by itself.
    fn urQueueFlush(queue: Handle<Queue>) {
        queue.get().map(drop)
    }

    fn urQueueGetNativeHandle(queue: Handle<Queue>, _how: In<Header>, native: Out<usize>) {
        queue.get()?;
        native.required()?.set(queue.native());
        Ok(())
    }

    fn urQueueCreateWithNativeHandle(
        native: usize,
        context: Handle<Context>,
        _device: Handle<Device>,
        _properties: In<Header>,
        queue: Out<Handle<Queue>>,
    ) {
        context.get()?;
        let queue = queue.required()?;
        let same = Handle::<Queue>::of_native(native);
        same.retain()?;
        queue.set(same);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::make;
    use crate::context;
    use crate::numbers::QueueFlags;
    use crate::platform::Platform;

    #[test]
    fn work_of_a_queue_is_known_while_it_goes_and_when_it_is_gone() {
        let device = &Platform::all().unwrap()[0].devices()[0];
        let context = context::make(&[device.handle()]).unwrap();
        let queue = make(
            Arc::clone(&context),
            Arc::clone(device),
            QueueFlags::default(),
        )
        .unwrap();
        let is_open = Arc::new(AtomicBool::new(false));
        let gate = Arc::clone(&is_open);
        let wait = move || {
            while !gate.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            Ok(())
        };
        let held = queue.runtime.task_at("gate", &[], &[], wait).unwrap();
        let known = || context.pending().unwrap().len();
        assert_eq!(known(), 1);
        drop(queue.handle().release().unwrap());
        // Nobody has it any more, and it hasn't said yet what it leaves.
        let going = Arc::into_inner(queue).unwrap();
        assert_eq!(known(), 1);
        drop(going);
        assert_eq!(known(), 1);
        is_open.store(true, Ordering::Release);
        held.wait().unwrap();
        assert_eq!(known(), 0);
        drop(context.handle().release().unwrap());
    }
}
