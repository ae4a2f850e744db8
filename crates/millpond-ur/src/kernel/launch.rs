//! Launches of kernels: groups of work items, shared out among the cores of a device.

use std::ffi::c_void;
use std::sync::Arc;

use crate::argument::{Answer, In, Out};
use crate::entry::entry;
use crate::event::Event;
use crate::handle::Handle;
use crate::kernel::Kernel;
use crate::kernel::arguments::Arguments;
use crate::mutants::{Rule, broken};
use crate::numbers::{Code, Command};
use crate::queue::{Enqueued, Queue};
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

/// A group, as functions are told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Group {
    /// Its number in each dimension.
    id: [usize; 3],
    /// Its items.
    size: [usize; 3],
    /// The number of its first item.
    first: [usize; 3],
    /// All items.
    global: [usize; 3],
}

/// Items, and the groups that they are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    offset: [usize; 3],
    global: [usize; 3],
    local: [usize; 3],
}

/// Three numbers of a list of fewer, the others the same.
fn three(list: In<usize>, dimensions: u32, other: usize) -> Answer<[usize; 3]> {
    let mut three = [other; 3];
    let given = list.list(dimensions as usize)?;
    three[..given.len()].copy_from_slice(given);
    Ok(three)
}

impl Range {
    fn read(
        dimensions: u32,
        (offset, global, local): (In<usize>, In<usize>, In<usize>),
        cores: usize,
    ) -> Answer<Self> {
        if !(1..=3).contains(&dimensions) {
            return Err(Code::INVALID_WORK_DIMENSION);
        }
        let global = three(global, dimensions, 1)?;
        let all = global
            .iter()
            .try_fold(1_usize, |all, &size| all.checked_mul(size));
        if all.is_none_or(|all| all == 0) {
            return Err(Code::INVALID_WORK_DIMENSION);
        }
        let offset = if offset.is_null() {
            [0; 3]
        } else {
            three(offset, dimensions, 0)?
        };
        let local = if local.is_null() {
            suggested(global, cores)
        } else {
            three(local, dimensions, 1)?
        };
        let fits = |axis: usize| local[axis] != 0 && global[axis].is_multiple_of(local[axis]);
        if !(0..3).all(fits) {
            return Err(Code::INVALID_WORK_GROUP_SIZE);
        }
        if (0..3).any(|axis| offset[axis].checked_add(global[axis]).is_none()) {
            return Err(Code::INVALID_VALUE);
        }
        Ok(Self {
            offset,
            global,
            local,
        })
    }

    fn groups(&self) -> [usize; 3] {
        [0, 1, 2].map(|axis| self.global[axis] / self.local[axis])
    }

    fn group(&self, number: usize) -> Group {
        let groups = self.groups();
        let id = [
            number % groups[0],
            number / groups[0] % groups[1],
            number / groups[0] / groups[1],
        ];
        Group {
            id,
            size: self.local,
            first: [0, 1, 2].map(|axis| self.offset[axis] + id[axis] * self.local[axis]),
            global: self.global,
        }
    }
}

/// Groups of whole rows, some for each core where there are as many.
fn suggested(global: [usize; 3], cores: usize) -> [usize; 3] {
    let pieces = cores * 4;
    let axis = if global[2] > 1 {
        2
    } else {
        usize::from(global[1] > 1)
    };
    let mut local = global;
    let wanted = global[axis].div_ceil(pieces);
    let divides = |size: &usize| global[axis].is_multiple_of(*size);
    // A number that nothing near divides has the smallest groups.
    local[axis] = (wanted..=wanted.saturating_mul(2))
        .find(divides)
        .unwrap_or(1);
    local
}

/// Enqueues a launch: pieces of it on the device, between two commands of the queue that have its place.
fn launch(
    enqueued: Enqueued<'_>,
    kernel: &Arc<Kernel>,
    arguments: Arguments,
    range: Range,
) -> Answer {
    let all: usize = range.groups().iter().product();
    let device = Arc::clone(enqueued.queue.device());
    let pieces = device.runtime().info().cores.clamp(1, all);
    let each = all.div_ceil(pieces);
    let helper = device.groups()?.clone();
    let arguments = Arc::new(arguments);
    let kernel = Arc::clone(kernel);
    enqueued.submit(move |queue, after| {
        let begin = queue.task_at("kernel", &[], after, || Ok(()))?;
        let mut ends = Vec::with_capacity(pieces);
        for piece in 0..pieces {
            let (kernel, arguments) = (Arc::clone(&kernel), Arc::clone(&arguments));
            let until = |pieces: usize| pieces.saturating_mul(each).min(all);
            let numbers = until(piece)..until(piece + 1);
            let behind: &[_] = if broken(Rule::KernelBehind) {
                &[]
            } else {
                &[&begin]
            };
            ends.push(helper.task_at("groups of a kernel", &[], behind, move || {
                let laid = arguments.lay_out();
                for number in numbers {
                    let group = range.group(number);
                    (kernel.function.0)(laid.addresses.as_ptr(), &raw const group);
                }
                Ok(())
            })?);
        }
        let mut ends: Vec<_> = ends.iter().collect();
        if broken(Rule::KernelBefore) {
            ends.clear();
        }
        queue.task_at("kernel", &[], &ends, || Ok(()))
    })
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
        let cores = queue.device().runtime().info().cores;
        let range = Range::read(dimensions, (offset, global, local), cores)?;
        if property_count != 0 {
            return Err(Code::INVALID_OPERATION);
        }
        let arguments = kernel.arguments().clone();
        arguments.check()?;
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
        let cores = queue.device().runtime().info().cores;
        let range = Range::read(dimensions, (offset, global, local), cores)?;
        if !properties.is_null() {
            return Err(Code::INVALID_OPERATION);
        }
        let arguments = Arguments::of(arguments)?;
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
        let (queue, _) = ready(queue, kernel)?;
        if global.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        let local = local.required()?;
        let cores = queue.device().runtime().info().cores;
        let range = Range::read(dimensions, (offset, global, In::NULL), cores)?;
        local.set_all(range.local.into_iter().take(dimensions as usize));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Range, suggested};

    #[test]
    fn groups_are_numbered_along_the_first_dimension_first() {
        let range = Range {
            offset: [10, 0, 0],
            global: [8, 6, 1],
            local: [4, 3, 1],
        };
        assert_eq!(range.groups(), [2, 2, 1]);
        let last = range.group(3);
        assert_eq!((last.id, last.first), ([1, 1, 0], [14, 3, 0]));
    }

    #[test]
    fn suggested_groups_divide_what_there_is() {
        for global in [[1, 1, 1], [7, 1, 1], [1000, 1, 1], [64, 48, 1], [3, 5, 97]] {
            let local = suggested(global, 4);
            assert!(
                (0..3).all(|axis| global[axis].is_multiple_of(local[axis])),
                "{global:?}"
            );
        }
        assert_eq!(suggested([1024, 1, 1], 4), [64, 1, 1]);
    }
}
