//! Memory that programs know by its address: asking for it, giving it back, asking about it.

mod info;
mod live;
mod range;

use std::sync::Arc;

use millpond::runtime::pool::LARGEST_ALIGNMENT;
use millpond::runtime::queue::as_task;
use millpond::{Access, Address, AllocateOptions, Allocation, MemoryKind, Reuse};

use crate::argument::{Answer, In, Out, Pointer};
use crate::context::Context;
use crate::device::Device;
use crate::entry::entry;
use crate::error::{code, memory_code};
use crate::handle::Handle;
use crate::mutants::{Rule, broken};
use crate::numbers::{Code, StructureType};
use crate::pool::{self, Chosen, Pool};
use crate::structures::{UsmDesc, UsmDeviceDesc, UsmHostDesc, chain};

pub(crate) use info::{urUSMGetMemAllocInfo, usm_type};
pub(crate) use live::{Usm, add, find, is_of_device, take};
pub(crate) use range::check_range;

/// Memory is had from what is free by now: it may be used at once, on every queue.
const AT_ONCE: Reuse = Reuse {
    follow_events: false,
    opportunistic: true,
    internal_dependencies: false,
};

/// # Errors
/// No bytes, or more than the device has.
pub(crate) fn check_size(device: &Device, size: usize) -> Answer {
    if size == 0 || size > device.runtime().info().max_allocation {
        return Err(Code::INVALID_USM_SIZE);
    }
    Ok(())
}

/// The alignment that is asked for. Hints and locations say nothing to a processor's own memory.
fn alignment(desc: In<UsmDesc>, kind: MemoryKind) -> Answer<usize> {
    let Some(desc) = desc.value() else {
        return Ok(1);
    };
    desc.hints.check()?;
    for (next, header) in chain(desc.header)? {
        match next {
            StructureType::USM_HOST_DESC if kind != MemoryKind::Device => {
                header.cast::<UsmHostDesc>().required()?.flags.check()?;
            }
            StructureType::USM_DEVICE_DESC if kind != MemoryKind::Host => {
                header.cast::<UsmDeviceDesc>().required()?.flags.check()?;
            }
            StructureType::USM_ALLOC_LOCATION_DESC => {}
            _ => return Err(Code::INVALID_ARGUMENT),
        }
    }
    let align = desc.align.max(1) as usize;
    if broken(Rule::Alignment) && align.is_power_of_two() && align <= LARGEST_ALIGNMENT {
        return Ok(1);
    }
    if broken(Rule::AlignmentPower) {
        return Ok(align.next_power_of_two().min(LARGEST_ALIGNMENT));
    }
    if !align.is_power_of_two() {
        return Err(Code::INVALID_VALUE);
    }
    if align > LARGEST_ALIGNMENT && !broken(Rule::AlignmentLimit) {
        return Err(Code::UNSUPPORTED_ALIGNMENT);
    }
    Ok(align.min(LARGEST_ALIGNMENT))
}

/// Memory that may be used at once, on every queue.
pub(crate) fn allocate_now(
    device: &Device,
    pool: &millpond::Pool,
    size: usize,
    alignment: usize,
) -> millpond::Result<Allocation> {
    let queue = device.memory_queue().map_err(|_| millpond::Error::Closed {
        queue: device.runtime().name().to_owned(),
    })?;
    let options = AllocateOptions {
        alignment,
        reuse: (!broken(Rule::AtOnce)).then_some(AT_ONCE),
        ..AllocateOptions::default()
    };
    // Frees that are held back don't hold what is asked for.
    let memory = as_task(|| queue.allocate_with(pool, size, &options))?.0;
    if !broken(Rule::AtOnce) {
        memory.wait_idle()?;
    }
    Ok(memory)
}

fn allocate(
    context: &Arc<Context>,
    device: &Arc<Device>,
    pool: Option<Arc<Pool>>,
    kind: MemoryKind,
    (size, alignment): (usize, usize),
) -> Answer<usize> {
    check_size(device, size)?;
    let Chosen { pool, runtime } = pool::choose(context, device, pool, kind)?;
    let memory = allocate_now(device, &runtime, size, alignment);
    let memory = memory.map_err(|error| memory_code(&error, kind))?;
    Ok(add(Usm {
        context: Arc::clone(context),
        device: Arc::clone(device),
        pool: Arc::downgrade(&pool),
        depth: pool.depth(),
        kind,
        memory,
    }))
}

/// Gives memory back behind everything that was enqueued in the context so far. Nothing waits.
pub(crate) fn free_behind_all(
    context: &Context,
    memory: Allocation,
) -> Result<(), (Code, Allocation)> {
    let before = match context.pending() {
        Ok(_) if broken(Rule::FreeBehindAll) => Vec::new(),
        Ok(before) => before,
        Err(code) => return Err((code, memory)),
    };
    let queue = memory.queue();
    let after: Vec<_> = before.iter().collect();
    match as_task(|| queue.free(memory, &after)) {
        Ok(_) => Ok(()),
        Err((error, memory)) => Err((code(&error), memory)),
    }
}

/// The functions that allocate on a device: the same but for the kind of memory.
macro_rules! allocations {
    ($($name:ident: $kind:ident),*) => {
        entry! {$(
            fn $name(
                context: Handle<Context>,
                device: Handle<Device>,
                desc: In<UsmDesc>,
                pool: Handle<Pool>,
                size: usize,
                memory: Out<Pointer>,
            ) {
                let context = context.get()?;
                let device = context.device(device)?;
                let pool = pool.optional()?;
                let memory = memory.required()?;
                let kind = MemoryKind::$kind;
                let shape = (size, alignment(desc, kind)?);
                memory.set(Pointer::to(allocate(&context, &device, pool, kind, shape)?));
                Ok(())
            }
        )*}
    };
}
allocations! { urUSMDeviceAlloc: Device, urUSMSharedAlloc: Shared }

entry! {
    fn urUSMHostAlloc(
        context: Handle<Context>,
        desc: In<UsmDesc>,
        pool: Handle<Pool>,
        size: usize,
        memory: Out<Pointer>,
    ) {
        let context = context.get()?;
        let pool = pool.optional()?;
        let memory = memory.required()?;
        let shape = (size, alignment(desc, MemoryKind::Host)?);
        let device = Arc::clone(context.first());
        memory.set(Pointer::to(allocate(&context, &device, pool, MemoryKind::Host, shape)?));
        Ok(())
    }

    /// Device memory for rows, and how far apart they begin: so that each begins where the device
    /// reads fastest, and at an element.
    fn urUSMPitchedAllocExp(
        context: Handle<Context>,
        device: Handle<Device>,
        desc: In<UsmDesc>,
        pool: Handle<Pool>,
        width: usize,
        height: usize,
        element: usize,
        memory: Out<Pointer>,
        pitch: Out<usize>,
    ) {
        let context = context.get()?;
        let device = context.device(device)?;
        let pool = pool.optional()?;
        let (memory, pitch) = (memory.required()?, pitch.required()?);
        let alignment = alignment(desc, MemoryKind::Device)?;
        if width == 0 || height == 0 || element == 0 {
            return Err(Code::INVALID_USM_SIZE);
        }
        if !width.is_multiple_of(element) {
            return Err(Code::INVALID_VALUE);
        }
        let apart = pitch_of(width, element).ok_or(Code::INVALID_USM_SIZE)?;
        let size = apart.checked_mul(height).ok_or(Code::INVALID_USM_SIZE)?;
        let shape = (size, alignment);
        let address = allocate(&context, &device, pool, MemoryKind::Device, shape)?;
        memory.set(Pointer::to(address));
        pitch.set(apart);
        Ok(())
    }

    /// Gives memory back, whichever way it was had: once everything that was enqueued in the context
    /// so far is done. The call itself doesn't wait.
    fn urUSMFree(context: Handle<Context>, memory: Pointer) {
        let context = context.get()?;
        let found = take(&context, memory.required()?)?;
        let Usm { memory, .. } = found;
        let freed = free_behind_all(&context, memory);
        freed.map_err(|(code, memory)| {
            add(Usm { memory, ..found });
            code
        })
    }

    /// Copies bytes, and returns when they are copied.
    fn urUSMContextMemcpyExp(context: Handle<Context>, dst: Pointer, src: Pointer, size: usize) {
        let context = context.get()?;
        let (dst, src) = (dst.required()?, src.required()?);
        if size == 0 {
            return Err(Code::INVALID_SIZE);
        }
        check_range(dst, size, Access::Update)?;
        check_range(src, size, Access::Read)?;
        if dst.abs_diff(src) < size {
            return Err(Code::INVALID_SIZE);
        }
        let queue = context.first().memory_queue()?;
        let (src, dst) = (Address::new(src), Address::new(dst));
        // SAFETY: what the caller promises of the addresses; they don't overlap.
        let copied = unsafe { queue.copy_at(src, dst, size, &[]) };
        copied.and_then(|copied| copied.wait()).map_err(|error| code(&error))
    }
}

/// Where rows begin: at lines of the cache, unless elements have another size than a line is of.
fn pitch_of(width: usize, element: usize) -> Option<usize> {
    const LINE: usize = 64;
    let step = if LINE.is_multiple_of(element) {
        LINE
    } else {
        element.checked_mul(LINE)?
    };
    if broken(Rule::Pitch) {
        return Some(width);
    }
    width.checked_next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use super::pitch_of;

    #[test]
    fn rows_begin_at_lines_of_the_cache_and_at_elements() {
        assert_eq!(pitch_of(100, 4), Some(128));
        assert_eq!(pitch_of(128, 16), Some(128));
        assert_eq!(pitch_of(120, 12), Some(768));
        assert_eq!(pitch_of(usize::MAX, 1), None);
        assert_eq!(pitch_of(8, usize::MAX), None);
    }
}
