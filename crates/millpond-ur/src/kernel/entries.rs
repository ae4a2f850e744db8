//! Entries of programs, on each device that the program was built for.

use std::sync::Arc;

use millpond::runtime::{Accelerator, Entry, Grid};

use crate::argument::{Answer, In, Out, Text};
use crate::device::Device;
use crate::entry::entry;
use crate::error::code;
use crate::handle::Handle;
use crate::kernel::arguments::Arguments;
use crate::kernel::range::Range;
use crate::kernel::{Body, Kernel};
use crate::numbers::Code;
use crate::program::{OnDevices, Program};
use crate::queue::Target;

/// An entry of a program.
#[derive(Debug)]
pub(super) struct Entries {
    pub(super) program: Arc<Program>,
    pub(super) name: String,
    on: OnDevices,
}

/// What is known of a device that runs entries.
pub(super) fn accelerator(device: &Device) -> Answer<&Accelerator> {
    let accelerator = device.runtime().info().accelerator.as_deref();
    accelerator.ok_or(Code::INVALID_DEVICE)
}

impl Entries {
    /// The entry on a device.
    ///
    /// # Errors
    /// A device that the program isn't for.
    pub(super) fn on(&self, device: &Arc<Device>) -> Answer<&Arc<dyn Entry>> {
        let found = self.on.iter().find(|(on, _)| Arc::ptr_eq(on, device));
        found.map(|(_, entry)| entry).ok_or(Code::INVALID_DEVICE)
    }

    /// Parameters, where the driver tells.
    pub(super) fn parameters(&self) -> Option<usize> {
        let parameters = self.on[0].1.info().parameters.as_ref()?;
        Some(parameters.len())
    }

    /// Registers of each item.
    pub(super) fn registers(&self) -> u32 {
        self.on[0].1.info().registers
    }

    /// The bytes that each group may have of its own: of the device that has most.
    pub(super) fn local_memory(&self) -> usize {
        let each = self
            .on
            .iter()
            .filter_map(|(device, _)| accelerator(device).ok());
        each.map(|known| known.shared_memory as usize)
            .max()
            .unwrap_or(0)
    }

    /// Groups for items of these numbers on a device.
    pub(super) fn suggested(&self, device: &Arc<Device>, global: [usize; 3]) -> Answer<[usize; 3]> {
        let (entry, known) = (self.on(device)?, accelerator(device)?);
        let most = known.block_axes.map(|axis| axis as usize);
        Ok(blocks_of(global, most, entry.info().block as usize))
    }

    /// Enqueues a launch.
    pub(super) fn launch(
        &self,
        target: impl Target,
        arguments: &Arguments,
        range: &Range,
    ) -> Answer {
        let device = target.device();
        let (entry, known) = (self.on(device)?, accelerator(device)?);
        if !range.begins_at_zero() {
            return Err(Code::UNSUPPORTED_FEATURE);
        }
        let limited = |numbers: [usize; 3], most: [u32; 3], code| {
            let fits = numbers
                .iter()
                .zip(most)
                .all(|(&number, most)| number <= most as usize);
            if fits {
                Ok(numbers.map(|number| number as u32))
            } else {
                Err(code)
            }
        };
        let threads = limited(range.local, known.block_axes, Code::INVALID_WORK_GROUP_SIZE)?;
        if range.local.iter().product::<usize>() > entry.info().block as usize {
            return Err(Code::INVALID_WORK_GROUP_SIZE);
        }
        let blocks = limited(range.groups(), known.grid_axes, Code::INVALID_VALUE)?;
        let laid = arguments.for_entry(entry.info().parameters.as_deref())?;
        let room = known
            .shared_memory
            .saturating_sub(entry.info().shared_memory);
        let shared_memory = u32::try_from(laid.local)
            .ok()
            .filter(|&bytes| bytes <= room);
        let grid = Grid {
            blocks,
            threads,
            shared_memory: shared_memory.ok_or(Code::OUT_OF_RESOURCES)?,
            arguments: laid.arguments,
        };
        let entry = Arc::clone(entry);
        target.put(move |queue, after| {
            // SAFETY: what the caller of the interface promises of a kernel that it launches: that it
            // stays in memory which is there until the command has finished, in the order of the queue
            // and its events. Parameters were checked, as far as they are known.
            unsafe { queue.run_at(&entry, grid.clone(), after) }
        })
    }
}

/// Groups that divide what there is: along the first axis as many items as a few warps have.
fn blocks_of(global: [usize; 3], most: [usize; 3], all: usize) -> [usize; 3] {
    const USUAL: usize = 256;
    let mut room = all.clamp(1, USUAL);
    let mut local = [1; 3];
    for axis in 0..3 {
        let limit = room.min(most[axis].max(1)).min(global[axis]);
        let divides = |size: &usize| global[axis].is_multiple_of(*size);
        local[axis] = (1..=limit).rev().find(divides).unwrap_or(1);
        room /= local[axis];
    }
    local
}

entry! {
    /// A kernel by its name in a program that was built.
    fn urKernelCreate(program: Handle<Program>, name: Text, kernel: Out<Handle<Kernel>>) {
        let program = program.get()?;
        let name = name.required()?.to_str().map_err(|_| Code::INVALID_KERNEL_NAME)?;
        let kernel = kernel.required()?;
        let on = program.entries(name)?;
        let (context, name) = (Arc::clone(program.context()), name.to_owned());
        kernel.set(Kernel::make(context, Body::Entries(Entries { program, name, on }))?.handle());
        Ok(())
    }

    /// How many groups the whole device holds at a time.
    fn urKernelSuggestMaxCooperativeGroupCount(
        kernel: Handle<Kernel>,
        device: Handle<Device>,
        dimensions: u32,
        local: In<usize>,
        local_memory: usize,
        count: Out<u32>,
    ) {
        let kernel = kernel.get()?;
        let device = kernel.context.device(device)?;
        if local.is_null() {
            return Err(Code::INVALID_NULL_POINTER);
        }
        let count = count.required()?;
        if !(1..=3).contains(&dimensions) {
            return Err(Code::INVALID_WORK_DIMENSION);
        }
        let Body::Entries(entries) = &kernel.body else {
            return Err(Code::UNSUPPORTED_FEATURE);
        };
        let sizes = local.list(dimensions as usize)?.iter();
        let threads = sizes.copied().try_fold(1_usize, usize::checked_mul);
        let (entry, known) = (entries.on(&device)?, accelerator(&device)?);
        let threads = threads.filter(|&all| (1..=entry.info().block as usize).contains(&all));
        let threads = threads.ok_or(Code::INVALID_WORK_GROUP_SIZE)?;
        let bytes = u32::try_from(local_memory).map_err(|_| Code::INVALID_VALUE)?;
        let each = entry.resident_blocks(threads as u32, bytes);
        let each = each.map_err(|error| code(&error.into()))?;
        count.set(each * known.machine.multiprocessors);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::blocks_of;

    #[test]
    fn groups_divide_the_items_and_fit_a_block() {
        let most = [1024, 1024, 64];
        assert_eq!(blocks_of([1 << 20, 1, 1], most, 1024), [256, 1, 1]);
        assert_eq!(blocks_of([48, 10, 7], most, 1024), [48, 5, 1]);
        assert_eq!(
            blocks_of([1009, 4, 1], most, 1024),
            [1, 4, 1],
            "a prime number"
        );
        assert_eq!(blocks_of([64, 1, 1], most, 32), [32, 1, 1]);
    }
}
