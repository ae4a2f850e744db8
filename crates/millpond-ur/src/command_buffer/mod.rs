//! Command buffers: commands that are listed once and enqueued many times.
//!
//! A list is what it was told: each command comes behind those that its sync points name, in a list with
//! an order behind the one before as well. To enqueue it is to enqueue its commands, one after the other,
//! so that nothing else is known of them than of commands that are enqueued by themselves. Executions of a
//! list come one after the other.

mod append;
mod kernels;
mod rectangles;

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use millpond::runtime::queue::as_task;
use smallvec::SmallVec;

use crate::argument::{Answer, In, Out};
use crate::context::Context;
use crate::device::Device;
use crate::entry::entry;
use crate::error::code;
use crate::event::Event;
use crate::handle::{Handle, Place, create, kinds};
use crate::mutants::{Rule, broken};
use crate::numbers::{Code, Command, CommandBufferInfo, StructureType};
use crate::property::Property;
use crate::queue::{Call, Done, Enqueued, Queue, Target, Work};
use crate::structures::{CommandBufferDesc, Header};
use crate::usm_commands::do_nothing;
use crate::waits::Waits;

pub(crate) use append::{
    urCommandBufferAppendMemBufferCopyExp, urCommandBufferAppendMemBufferFillExp,
    urCommandBufferAppendMemBufferReadExp, urCommandBufferAppendMemBufferWriteExp,
    urCommandBufferAppendUSMAdviseExp, urCommandBufferAppendUSMFillExp,
    urCommandBufferAppendUSMMemcpyExp, urCommandBufferAppendUSMPrefetchExp,
};
pub(crate) use kernels::{
    Listed, urCommandBufferAppendKernelLaunchExp, urCommandBufferAppendKernelLaunchWithArgsExp,
    urCommandBufferUpdateKernelLaunchExp,
};
pub(crate) use rectangles::{
    urCommandBufferAppendMemBufferCopyRectExp, urCommandBufferAppendMemBufferReadRectExp,
    urCommandBufferAppendMemBufferWriteRectExp,
};

use kernels::Launched;

/// A list of commands.
#[derive(Debug)]
pub(crate) struct CommandBuffer {
    place: Place<CommandBuffer>,
    context: Arc<Context>,
    device: Arc<Device>,
    options: Options,
    state: Mutex<State>,
}

kinds! { CommandBuffer: INVALID_COMMAND_BUFFER_EXP }

/// How a list was made.
#[derive(Clone, Copy, Debug)]
struct Options {
    is_updatable: bool,
    is_in_order: bool,
    is_profiling: bool,
}

#[derive(Debug, Default)]
struct State {
    steps: Vec<Step>,
    is_final: bool,
    /// The launches that can be changed.
    listed: Vec<Arc<Listed>>,
    /// The end of the last execution.
    last: Option<millpond::Event>,
}

/// A command of a list.
struct Step {
    work: Box<Work>,
    /// The numbers of those that it comes behind.
    behind: SmallVec<[u32; 4]>,
    /// What it uses, which lives as long as the list.
    _keeps: SmallVec<[Arc<dyn Any + Send + Sync>; 2]>,
    /// Of a launch that can be changed, what it was made of.
    launched: Option<Launched>,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "step behind {:?}", self.behind)
    }
}

/// What every command of a list is appended with.
#[derive(Clone, Copy)]
struct Where {
    count: u32,
    list: In<u32>,
    events: u32,
    event_list: In<Handle<Event>>,
    point: Out<u32>,
    event: Out<Handle<Event>>,
}

/// A command on its way into a list.
struct Appended<'a> {
    buffer: &'a CommandBuffer,
    behind: SmallVec<[u32; 4]>,
    keeps: SmallVec<[Arc<dyn Any + Send + Sync>; 2]>,
    launched: Option<Launched>,
    point: Out<u32>,
}

impl CommandBuffer {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a command is appended.
    ///
    /// # Errors
    /// A list that is final; sync points that aren't there, or a number of them without a list; events,
    /// which commands of lists neither wait for nor have.
    fn append(&self, place: Where) -> Answer<Appended<'_>> {
        let wrong = Code::INVALID_COMMAND_BUFFER_SYNC_POINT_WAIT_LIST_EXP;
        if place.list.is_null() != (place.count == 0) {
            return Err(wrong);
        }
        if place.event_list.is_null() != (place.events == 0) {
            return Err(Code::INVALID_EVENT_WAIT_LIST);
        }
        if place.events > 0 || !place.event.is_null() {
            return Err(Code::UNSUPPORTED_FEATURE);
        }
        let points = place.list.list(place.count as usize).map_err(|_| wrong)?;
        let state = self.state();
        if state.is_final {
            return Err(Code::INVALID_OPERATION);
        }
        let there = state.steps.len() as u32;
        if points.iter().any(|&point| point >= there) {
            return Err(Code::INVALID_COMMAND_BUFFER_SYNC_POINT_EXP);
        }
        let mut behind = SmallVec::from_slice(points);
        if broken(Rule::SyncPoints) {
            behind.clear();
        }
        if self.options.is_in_order && there > 0 {
            behind.push(there - 1);
        }
        Ok(Appended {
            buffer: self,
            behind,
            keeps: SmallVec::new(),
            launched: None,
            point: place.point,
        })
    }

    /// Enqueues every command, once there is room for one. Host tasks that the queue runs may want the list
    /// too, so that nothing waits while it is locked.
    fn enqueue(&self, queue: &millpond::Queue, waits: &Waits) -> Answer<Done> {
        queue.wait_for_room().map_err(|error| code(&error))?;
        as_task(|| self.enqueue_at_once(queue, waits))
    }

    fn enqueue_at_once(&self, queue: &millpond::Queue, waits: &Waits) -> Answer<Done> {
        let mut state = self.state();
        let last = state.last.clone();
        let mut starts = waits.runtime();
        starts.extend(last.as_ref().filter(|_| !broken(Rule::ListsInTurn)));
        let mut first = None;
        let mut made: Vec<millpond::Event> = Vec::with_capacity(state.steps.len());
        let mut is_end = vec![true; state.steps.len()];
        for step in &state.steps {
            let done = {
                let behind = step.behind.iter().map(|&point| &made[point as usize]);
                let behind: SmallVec<[_; 4]> = behind.collect();
                let after = if queue.is_in_order() && !made.is_empty() {
                    &[]
                } else if behind.is_empty() {
                    &starts[..]
                } else {
                    &behind[..]
                };
                (step.work)(queue, after).map_err(|error| code(&error))?
            };
            for &point in &step.behind {
                is_end[point as usize] = false;
            }
            first.get_or_insert_with(|| done.first.unwrap_or_else(|| done.last.clone()));
            made.push(done.last);
        }
        let ends = made.iter().zip(is_end).filter(|(_, is_end)| *is_end);
        let ends: SmallVec<[_; 4]> = ends.map(|(event, _)| event).collect();
        let end = match (&made[..], &ends[..]) {
            ([], _) => do_nothing(queue, "command buffer", &starts),
            ([.., last], _) if queue.is_in_order() => Ok(last.clone()),
            (_, [end]) => Ok((*end).clone()),
            (_, ends) => do_nothing(queue, "command buffer", ends),
        };
        let end = end.map_err(|error| code(&error))?;
        state.last = Some(end.clone());
        Ok(Done { first, last: end })
    }
}

/// Functions that append a command: what they are given before the sync points that it comes behind, and what
/// they do with where it goes.
macro_rules! appends {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($target:ident, $($argument:ident: $kind:ty),* $(,)?) $body:block
    )*) => {
        $crate::entry::entry! {$(
            $(#[$doc])*
            fn $name(
                list: $crate::handle::Handle<$crate::command_buffer::CommandBuffer>,
                $($argument: $kind,)*
                point_count: u32,
                points: $crate::argument::In<u32>,
                event_count: u32,
                events: $crate::argument::In<$crate::handle::Handle<$crate::event::Event>>,
                point: $crate::argument::Out<u32>,
                event: $crate::argument::Out<$crate::handle::Handle<$crate::event::Event>>,
                command: $crate::argument::Out<usize>,
            ) {
                let list = list.get()?;
                // What commands that can't be changed have no handle for.
                if !command.is_null() {
                    return Err($crate::numbers::Code::UNSUPPORTED_FEATURE);
                }
                let $target = list.append($crate::command_buffer::Where {
                    count: point_count,
                    list: points,
                    events: event_count,
                    event_list: events,
                    point,
                    event,
                })?;
                $body
            }
        )*}
    };
}
use appends;

impl Appended<'_> {
    /// Has something live as long as the list.
    fn keeping(mut self, kept: &Arc<impl Any + Send + Sync>) -> Self {
        self.keeps.push(Arc::clone(kept) as _);
        self
    }
}

impl Target for Appended<'_> {
    fn device(&self) -> &Arc<Device> {
        &self.buffer.device
    }

    fn put<D: Into<Done>>(self, work: impl Call<D>) -> Answer {
        let mut state = self.buffer.state();
        self.point.set(state.steps.len() as u32);
        state.steps.push(Step {
            work: Box::new(move |queue, after| work(queue, after).map(Into::into)),
            behind: self.behind,
            _keeps: self.keeps,
            launched: self.launched,
        });
        Ok(())
    }
}

impl Drop for CommandBuffer {
    fn drop(&mut self) {
        for listed in self.state().listed.drain(..) {
            listed.release();
        }
    }
}

impl From<Options> for Property {
    /// As the description that the list was made with.
    fn from(options: Options) -> Self {
        let Options {
            is_updatable,
            is_in_order,
            is_profiling,
        } = options;
        let mut bytes = [0; size_of::<CommandBufferDesc>()];
        bytes[..4].copy_from_slice(&StructureType::EXP_COMMAND_BUFFER_DESC.0.to_ne_bytes());
        let flags = [is_updatable, is_in_order, is_profiling].map(u8::from);
        bytes[size_of::<Header>()..][..flags.len()].copy_from_slice(&flags);
        Self::of_bytes(&bytes)
    }
}

entry! {
    fn urCommandBufferCreateExp(
        context: Handle<Context>,
        device: Handle<Device>,
        desc: In<CommandBufferDesc>,
        buffer: Out<Handle<CommandBuffer>>,
    ) {
        let context = context.get()?;
        let device = context.device(device)?;
        let desc = desc.required()?;
        let buffer = buffer.required()?;
        let options = Options {
            is_updatable: desc.is_updatable.is_set(),
            is_in_order: desc.is_in_order.is_set(),
            is_profiling: desc.is_profiling.is_set(),
        };
        let state = Mutex::default();
        let made = create(|place| CommandBuffer { place, context, device, options, state })?;
        buffer.set(made.place.handle());
        Ok(())
    }

    fn urCommandBufferRetainExp(buffer: Handle<CommandBuffer>) {
        buffer.retain()
    }

    /// Gives a reference back. What was enqueued is finished, also after the last.
    fn urCommandBufferReleaseExp(buffer: Handle<CommandBuffer>) {
        buffer.release().map(drop)
    }

    /// Ends a list, which can be enqueued from now on.
    fn urCommandBufferFinalizeExp(buffer: Handle<CommandBuffer>) {
        let buffer = buffer.get()?;
        let mut state = buffer.state();
        if state.is_final {
            return Err(Code::INVALID_OPERATION);
        }
        state.is_final = true;
        Ok(())
    }

    /// Enqueues the commands of a list, behind the events and the list's last execution.
    fn urEnqueueCommandBufferExp(
        queue: Handle<Queue>,
        buffer: Handle<CommandBuffer>,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let (queue, buffer) = (&queue.get()?, buffer.get()?);
        let waits = &Waits::new(count, list)?;
        if !Arc::ptr_eq(queue.context(), &buffer.context) {
            return Err(Code::INVALID_CONTEXT);
        }
        if !Arc::ptr_eq(queue.device(), &buffer.device) {
            return Err(Code::INVALID_DEVICE);
        }
        if !buffer.state().is_final {
            return Err(Code::INVALID_OPERATION);
        }
        let done = buffer.enqueue(queue.runtime(), waits)?;
        let command = Command::ENQUEUE_COMMAND_BUFFER_EXP;
        Enqueued { queue, command, waits, blocking: false, event }.submitted(done)
    }

    fn urCommandBufferGetInfoExp(
        buffer: Handle<CommandBuffer>,
        what: CommandBufferInfo,
        room: usize,
        value: Out<u8>,
        size: Out<usize>,
    ) {
        let buffer = buffer.get()?;
        let property: Property = match what {
            CommandBufferInfo::REFERENCE_COUNT => buffer.place.references().into(),
            CommandBufferInfo::DESCRIPTOR => buffer.options.into(),
            _ => return Err(Code::INVALID_ENUMERATION),
        };
        property.answer(room, value, size)
    }

    fn urCommandBufferGetNativeHandleExp(buffer: Handle<CommandBuffer>, native: Out<usize>) {
        buffer.get()?;
        native.required()?.set(buffer.native());
        Ok(())
    }
}
