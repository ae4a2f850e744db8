//! Launches of command buffers, and how they are changed.

use std::sync::{Arc, Weak};

use crate::argument::{Answer, In, Out};
use crate::command_buffer::{CommandBuffer, Where};
use crate::device::Device;
use crate::entry::entry;
use crate::event::Event;
use crate::handle::{Handle, Place, create, kinds};
use crate::kernel::{Arguments, Kernel, Range, launch, range_for};
use crate::mutants::{Rule, broken};
use crate::numbers::Code;
use crate::queue::{Call, Done, Target, Work};
use crate::structures::{KernelArgument, UpdateKernelLaunch};

/// A launch of a list that can be changed, as C holds it: as long as the list is there.
#[derive(Debug)]
pub(crate) struct Listed {
    place: Place<Listed>,
    list: Weak<CommandBuffer>,
    number: usize,
}

kinds! { Listed: INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP }

impl Listed {
    pub(super) fn release(&self) {
        // Its list was the only one to have it.
        let _ = self.place.handle().release();
    }
}

/// What a launch was made of.
#[derive(Clone, Debug)]
pub(super) struct Launched {
    kernel: Arc<Kernel>,
    arguments: Arguments,
    range: Range,
}

/// Takes what a launch becomes.
struct Captured<'a> {
    device: &'a Arc<Device>,
    work: &'a mut Option<Box<Work>>,
}

impl Target for Captured<'_> {
    fn device(&self) -> &Arc<Device> {
        self.device
    }

    fn put<D: Into<Done>>(self, work: impl Call<D>) -> Answer {
        *self.work = Some(Box::new(move |queue, after| {
            work(queue, after).map(Into::into)
        }));
        Ok(())
    }
}

impl Launched {
    /// The same with other arguments and items.
    fn changed(&self, desc: &UpdateKernelLaunch, device: &Arc<Device>) -> Answer<Self> {
        let UpdateKernelLaunch {
            kernel,
            dimensions,
            offset,
            global,
            local,
            ..
        } = *desc;
        if kernel
            .optional()?
            .is_some_and(|other| !Arc::ptr_eq(&other, &self.kernel))
        {
            return Err(Code::UNSUPPORTED_FEATURE);
        }
        let mut changed = self.clone();
        changed.arguments.change(desc, &self.kernel)?;
        let suggest = |global| crate::kernel::suggest(&self.kernel, device, global);
        changed.range = self
            .range
            .changed(dimensions, (offset, global, local), suggest)?;
        Ok(changed)
    }

    fn work(&self, device: &Arc<Device>) -> Answer<Box<Work>> {
        let mut work = None;
        let target = Captured {
            device,
            work: &mut work,
        };
        launch(target, &self.kernel, self.arguments.clone(), self.range)?;
        work.ok_or(Code::INVALID_OPERATION)
    }
}

/// Appends a launch, and answers a handle by which it can be changed.
fn append(
    (list, kernel): (Handle<CommandBuffer>, Handle<Kernel>),
    alternatives: (u32, In<Handle<Kernel>>),
    place: Where,
    (dimensions, offset, global, local): (u32, In<usize>, In<usize>, In<usize>),
    arguments: impl FnOnce(&Kernel) -> Answer<Arguments>,
    command: Out<Handle<Listed>>,
) -> Answer {
    let (list, kernel) = (list.get()?, kernel.get()?);
    check_alternatives(alternatives)?;
    let mut target = list.append(place)?;
    let range = range_for(&kernel, &list.device, dimensions, (offset, global, local))?;
    let arguments = arguments(&kernel)?;
    if !Arc::ptr_eq(kernel.context(), &list.context) {
        return Err(Code::INVALID_CONTEXT);
    }
    if !command.is_null() && !list.options.is_updatable {
        return Err(Code::INVALID_OPERATION);
    }
    target = target.keeping(&kernel);
    target.launched = list.options.is_updatable.then(|| Launched {
        kernel: Arc::clone(&kernel),
        arguments: arguments.clone(),
        range,
    });
    launch(target, &kernel, arguments, range)?;
    if !command.is_null() {
        let mut state = list.state();
        let number = state.steps.len() - 1;
        let list = Arc::downgrade(&list);
        let made = create(|place| Listed {
            place,
            list,
            number,
        })?;
        command.set(made.place.handle());
        state.listed.push(made);
    }
    Ok(())
}

/// # Errors
/// A number of kernels without a list of them. Which kernels may come in a launch's place is nothing to
/// it, as none can.
fn check_alternatives((count, kernels): (u32, In<Handle<Kernel>>)) -> Answer {
    if kernels.is_null() != (count == 0) {
        return Err(Code::INVALID_VALUE);
    }
    let mut kernels = kernels.list(count as usize)?.iter();
    kernels.try_for_each(|kernel| kernel.get().map(drop))
}

/// Functions that append a launch: what they are given of arguments, and what those are.
macro_rules! launches {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $kind:ty),*) $arguments:expr;)*) => {
        entry! {$(
            $(#[$doc])*
            fn $name(
                list: Handle<CommandBuffer>,
                kernel: Handle<Kernel>,
                dimensions: u32,
                offset: In<usize>,
                global: In<usize>,
                local: In<usize>,
                $($argument: $kind,)*
                alternative_count: u32,
                alternatives: In<Handle<Kernel>>,
                point_count: u32,
                points: In<u32>,
                event_count: u32,
                events: In<Handle<Event>>,
                point: Out<u32>,
                event: Out<Handle<Event>>,
                command: Out<Handle<Listed>>,
            ) {
                let place = Where {
                    count: point_count,
                    list: points,
                    events: event_count,
                    event_list: events,
                    point,
                    event,
                };
                let items = (dimensions, offset, global, local);
                let alternatives = (alternative_count, alternatives);
                append((list, kernel), alternatives, place, items, $arguments, command)
            }
        )*}
    };
}
launches! {
    /// Appends a launch with the arguments that were set before.
    fn urCommandBufferAppendKernelLaunchExp() Kernel::set_arguments;

    /// Appends a launch with these arguments.
    fn urCommandBufferAppendKernelLaunchWithArgsExp(count: u32, list: In<KernelArgument>)
        |kernel: &Kernel| Arguments::of(list.list(count as usize)?, kernel.local_memory());
}

entry! {
    /// Changes launches of a list, for its next executions: all or, where one can't be, none.
    fn urCommandBufferUpdateKernelLaunchExp(
        list: Handle<CommandBuffer>,
        count: u32,
        updates: In<UpdateKernelLaunch>,
    ) {
        let list = list.get()?;
        if updates.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        if count == 0 {
            return Err(Code::INVALID_SIZE);
        }
        if !list.options.is_updatable || !list.state().is_final {
            return Err(Code::INVALID_OPERATION);
        }
        let mut state = list.state();
        let mut changes = Vec::new();
        for desc in updates.list(count as usize)? {
            let listed = desc.command.get()?;
            if !std::ptr::eq(listed.list.as_ptr(), Arc::as_ptr(&list)) {
                return Err(Code::INVALID_COMMAND_BUFFER_COMMAND_HANDLE_EXP);
            }
            let before = state.steps[listed.number].launched.as_ref();
            let launched = before.ok_or(Code::INVALID_OPERATION)?.changed(desc, &list.device)?;
            changes.push((listed.number, launched.work(&list.device)?, launched));
        }
        for (number, work, launched) in changes {
            if broken(Rule::Update) {
                continue;
            }
            let step = &mut state.steps[number];
            (step.work, step.launched) = (work, Some(launched));
        }
        Ok(())
    }
}
