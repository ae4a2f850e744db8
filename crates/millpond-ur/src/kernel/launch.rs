//! Launches of kernels: groups of work items, shared out among the cores of a device.

use std::ffi::c_void;
use std::sync::Arc;

use millpond::runtime::queue::as_task;

use crate::argument::{Answer, In, Out};
use crate::device::Device;
use crate::entry::entry;
use crate::event::Event;
use crate::handle::Handle;
use crate::kernel::arguments::Arguments;
use crate::kernel::range::{Group, Range, suggested};
use crate::kernel::{Body, Kernel};
use crate::mutants::{Rule, broken};
use crate::numbers::{Code, Command};
use crate::queue::{Done, Enqueued, Queue, Target};
use crate::structures::{Header, KernelArgument};
use crate::waits::Waits;

/// Bytes of memory that a group may have of its own.
pub(crate) const LOCAL_MEMORY: usize = 32 << 10;

/// A function that runs one group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function(extern "C" fn(*const usize, *const Group));

impl Function {
    /// The function at an address.
    pub(super) fn at(address: usize) -> Option<Self> {
        let pointer = std::ptr::with_exposed_provenance::<c_void>(address);
        if pointer.is_null() {
            return None;
        }
        // SAFETY: a native handle is the address of such a function, by the promise of whoever makes a
        // kernel of it.
        Some(Self(unsafe {
            std::mem::transmute::<*const c_void, extern "C" fn(_, _)>(pointer)
        }))
    }

    pub(super) fn address(self) -> usize {
        self.0 as usize
    }
}

/// Enqueues a launch of what a kernel runs.
pub(crate) fn launch(
    target: impl Target,
    kernel: &Kernel,
    arguments: Arguments,
    range: Range,
) -> Answer {
    match &kernel.body {
        Body::Function(function) => groups(target, *function, arguments, range),
        Body::Entries(entries) => entries.launch(target, &arguments, &range),
    }
}

/// Groups for items of these numbers on a device, where a launch says nothing of them.
pub(crate) fn suggest(
    kernel: &Kernel,
    device: &Arc<Device>,
    global: [usize; 3],
) -> Answer<[usize; 3]> {
    match &kernel.body {
        Body::Function(_) => Ok(suggested(global, device.runtime().info().cores)),
        Body::Entries(entries) => entries.suggested(device, global),
    }
}

/// The items of a launch on a device.
pub(crate) fn range_for(
    kernel: &Kernel,
    device: &Arc<Device>,
    dimensions: u32,
    numbers: (In<usize>, In<usize>, In<usize>),
) -> Answer<Range> {
    Range::read(dimensions, numbers, |global| {
        suggest(kernel, device, global)
    })
}

/// Enqueues a launch of a function: pieces of it on the device, between two commands of the queue that
/// have its place.
fn groups(target: impl Target, function: Function, arguments: Arguments, range: Range) -> Answer {
    let all: usize = range.groups().iter().product();
    let device = Arc::clone(target.device());
    let pieces = device.runtime().info().cores.clamp(1, all);
    let each = all.div_ceil(pieces);
    let helper = device.groups()?.clone();
    let arguments = Arc::new(arguments);
    let piece = move |behind: &[&millpond::Event], numbers: std::ops::Range<usize>| {
        let arguments = Arc::clone(&arguments);
        helper.task_at("groups of a kernel", &[], behind, move || {
            let laid = arguments.lay_out();
            for number in numbers {
                let group = range.group(number);
                (function.0)(laid.addresses.as_ptr(), &raw const group);
            }
            Ok(())
        })
    };
    target.put(move |queue, after| {
        // Launches that are held back elsewhere are no matter of this one, which waits for its own queue.
        queue.wait_for_room()?;
        as_task(|| {
            let begin = queue.task_at("kernel", &[], after, || Ok(()))?;
            let behind: &[_] = if broken(Rule::KernelBehind) {
                &[]
            } else {
                &[&begin]
            };
            let until = |pieces: usize| pieces.saturating_mul(each).min(all);
            let ends = (0..pieces).map(|number| piece(behind, until(number)..until(number + 1)));
            let ends = ends.collect::<millpond::Result<Vec<_>>>()?;
            let mut ends: Vec<_> = ends.iter().collect();
            if broken(Rule::KernelBefore) {
                ends.clear();
            }
            let last = queue.task_at("kernel", &[], &ends, || Ok(()))?;
            let first = Some(begin);
            Ok(Done { first, last })
        })
    })
}

fn suggest_into(
    (queue, kernel): (Arc<Queue>, Arc<Kernel>),
    dimensions: u32,
    (offset, global): (In<usize>, In<usize>),
    local: Out<usize>,
) -> Answer {
    if global.is_null() {
        return Err(Code::INVALID_NULL_POINTER);
    }
    let local = local.required()?;
    let numbers = (offset, global, In::NULL);
    let range = range_for(&kernel, queue.device(), dimensions, numbers)?;
    local.set_all(range.local.into_iter().take(dimensions as usize));
    Ok(())
}

/// What both ways to launch check.
fn ready(queue: Handle<Queue>, kernel: Handle<Kernel>) -> Answer<(Arc<Queue>, Arc<Kernel>)> {
    let (queue, kernel) = (queue.get()?, kernel.get()?);
    if !Arc::ptr_eq(queue.context(), &kernel.context) {
        return Err(Code::INVALID_CONTEXT);
    }
    Ok((queue, kernel))
}

entry! {
    /// Launches with the arguments that were set before.
    fn urEnqueueKernelLaunch(
        queue: Handle<Queue>,
        kernel: Handle<Kernel>,
        dimensions: u32,
        offset: In<usize>,
        global: In<usize>,
        local: In<usize>,
        property_count: u32,
        _properties: In<Header>,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let (queue, kernel) = ready(queue, kernel)?;
        let waits = &Waits::new(count, list)?;
        let range = range_for(&kernel, queue.device(), dimensions, (offset, global, local))?;
        if property_count != 0 {
            return Err(Code::INVALID_OPERATION);
        }
        let arguments = kernel.set_arguments()?;
        let command = Command::KERNEL_LAUNCH;
        let enqueued = Enqueued { queue: &queue, command, waits, blocking: false, event };
        launch(enqueued, &kernel, arguments, range)
    }

    /// Launches with these arguments.
    fn urEnqueueKernelLaunchWithArgsExp(
        queue: Handle<Queue>,
        kernel: Handle<Kernel>,
        dimensions: u32,
        offset: In<usize>,
        global: In<usize>,
        local: In<usize>,
        argument_count: u32,
        arguments: In<KernelArgument>,
        properties: In<Header>,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let (queue, kernel) = ready(queue, kernel)?;
        let arguments = arguments.list(argument_count as usize)?;
        let waits = &Waits::new(count, list)?;
        let range = range_for(&kernel, queue.device(), dimensions, (offset, global, local))?;
        if !properties.is_null() {
            return Err(Code::INVALID_OPERATION);
        }
        let arguments = Arguments::of(arguments, kernel.local_memory())?;
        let command = Command::KERNEL_LAUNCH;
        let enqueued = Enqueued { queue: &queue, command, waits, blocking: false, event };
        launch(enqueued, &kernel, arguments, range)
    }

    fn urKernelGetSuggestedLocalWorkSize(
        kernel: Handle<Kernel>,
        queue: Handle<Queue>,
        dimensions: u32,
        offset: In<usize>,
        global: In<usize>,
        local: Out<usize>,
    ) {
        suggest_into(ready(queue, kernel)?, dimensions, (offset, global), local)
    }

    fn urKernelGetSuggestedLocalWorkSizeWithArgs(
        kernel: Handle<Kernel>,
        queue: Handle<Queue>,
        dimensions: u32,
        offset: In<usize>,
        global: In<usize>,
        argument_count: u32,
        arguments: In<KernelArgument>,
        local: Out<usize>,
    ) {
        let (queue, kernel) = ready(queue, kernel)?;
        Arguments::of(arguments.list(argument_count as usize)?, kernel.local_memory())?;
        suggest_into((queue, kernel), dimensions, (offset, global), local)
    }
}
