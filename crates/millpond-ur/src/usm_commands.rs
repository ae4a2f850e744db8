//! Commands on memory that programs know by its address.

use millpond::runtime::Advice;
use millpond::{Access, Address, Pattern, Touch};

use crate::argument::{Answer, Flag, In, Out, Pointer};
use crate::entry::entry;
use crate::event::Event;
use crate::grid::{Extent, Grid, copy_grid, fill_grid};
use crate::handle::Handle;
use crate::numbers::{Code, Command, UsmAdviceFlags, UsmMigrationFlags};
use crate::queue::{Enqueued, Queue, Target};
use crate::usm::{check_range, find};
use crate::waits::Waits;

/// A pattern that a fill repeats.
pub(crate) fn pattern(value: In<u8>, size: usize, filled: usize) -> Answer<Vec<u8>> {
    if value.is_null() {
        return Err(Code::INVALID_NULL_POINTER);
    }
    if size == 0 || filled == 0 || !filled.is_multiple_of(size) {
        return Err(Code::INVALID_SIZE);
    }
    Ok(value.list(size)?.to_vec())
}

/// Fills bytes with a pattern.
pub(crate) fn fill(target: impl Target, dst: usize, bytes: usize, value: &[u8]) -> Answer {
    let Some(pattern) = Pattern::new(value) else {
        return fill_grid(
            target,
            Grid::plane(dst, bytes),
            Extent::plane(bytes, 1),
            value,
        );
    };
    target.put(move |queue, after| {
        // SAFETY: what the caller promises of the address; the queue and the events order it.
        unsafe { queue.fill_at(Address::new(dst), bytes, pattern, after) }
    })
}

/// Copies bytes. Those of a buffer in the program's memory may be copied to where they are.
pub(crate) fn copy(target: impl Target, src: usize, dst: usize, bytes: usize) -> Answer {
    if bytes == 0 || src == dst {
        return nothing(target, "copy of nothing");
    }
    if src.abs_diff(dst) < bytes {
        let [src, dst] = [src, dst].map(|address| Grid::plane(address, bytes));
        return copy_grid(target, src, dst, Extent::plane(bytes, 1));
    }
    target.put(move |queue, after| {
        let (src, dst) = (Address::new(src), Address::new(dst));
        // SAFETY: what the caller promises of the addresses; the queue and the events order it.
        unsafe { queue.copy_at(src, dst, bytes, after) }
    })
}

/// A command that does nothing but say when it would be done.
pub(crate) fn nothing(target: impl Target, name: &'static str) -> Answer {
    target.put(move |queue, after| do_nothing(queue, name, after))
}

/// The same on a queue.
pub(crate) fn do_nothing(
    queue: &millpond::Queue,
    name: &'static str,
    after: &[&millpond::Event],
) -> millpond::Result<millpond::Event> {
    if queue.is_in_order() {
        // Everything is behind everything, and no thread is needed for it.
        return queue.barrier(after);
    }
    queue.task_at(name, &[], after, || Ok(()))
}

/// What the runtime can be told of how memory is used.
fn advice(flags: UsmAdviceFlags) -> Option<Advice> {
    flags
        .has(UsmAdviceFlags::SET_READ_MOSTLY)
        .then_some(Advice::ReadMostly)
}

/// What the device is told of memory.
#[derive(Clone, Copy)]
pub(crate) enum Hint {
    /// It will be used there.
    Prefetch,
    /// How it is used.
    Advise(UsmAdviceFlags),
}

/// A hint about bytes of a program's memory, passed on to the runtime; about others there is none.
pub(crate) fn hint(target: impl Target, (address, bytes): (usize, usize), hint: Hint) -> Answer {
    target.put(move |queue, after| {
        // A hint that the runtime doesn't take changes nothing.
        if let Some(memory) = find(address, |usm| usm.memory.clone()) {
            let begin = address - memory.address().get();
            let range = begin..begin + bytes;
            let _ = match hint {
                Hint::Prefetch => queue.prefetch(&memory, range),
                Hint::Advise(flags) => {
                    advice(flags).map_or(Ok(()), |advice| queue.advise(&memory, range, advice))
                }
            };
        }
        do_nothing(queue, "hint", after)
    })
}

entry! {
    fn urEnqueueUSMFill(
        queue: Handle<Queue>,
        memory: Pointer,
        pattern_size: usize,
        value: In<u8>,
        size: usize,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let address = memory.required()?;
        let value = pattern(value, pattern_size, size)?;
        let waits = &Waits::new(count, list)?;
        check_range(address, size, Access::Update)?;
        let command = Command::USM_FILL;
        fill(Enqueued { queue, command, waits, blocking: false, event }, address, size, &value)
    }

    fn urEnqueueUSMMemcpy(
        queue: Handle<Queue>,
        blocking: Flag,
        dst: Pointer,
        src: Pointer,
        size: usize,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let (dst, src) = (dst.required()?, src.required()?);
        let waits = &Waits::new(count, list)?;
        check_range(dst, size, Access::Update)?;
        check_range(src, size, Access::Read)?;
        let enqueued = Enqueued {
            queue,
            command: Command::USM_MEMCPY,
            waits,
            blocking: blocking.is_set(),
            event,
        };
        if dst != src && dst.abs_diff(src) < size {
            return Err(Code::INVALID_SIZE);
        }
        copy(enqueued, src, dst, size)
    }

    fn urEnqueueUSMFill2D(
        queue: Handle<Queue>,
        memory: Pointer,
        pitch: usize,
        pattern_size: usize,
        value: In<u8>,
        width: usize,
        height: usize,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let grid = Grid::plane(memory.required()?, pitch);
        let extent = Extent::plane(width, height);
        let filled = width.checked_mul(height).ok_or(Code::INVALID_SIZE)?;
        let value = pattern(value, pattern_size, filled)?;
        let waits = &Waits::new(count, list)?;
        check_range(grid.address, grid.span(extent)?, Access::Update)?;
        let enqueued =
            Enqueued { queue, command: Command::USM_FILL_2D, waits, blocking: false, event };
        fill_grid(enqueued, grid, extent, &value)
    }

    fn urEnqueueUSMMemcpy2D(
        queue: Handle<Queue>,
        blocking: Flag,
        dst: Pointer,
        dst_pitch: usize,
        src: Pointer,
        src_pitch: usize,
        width: usize,
        height: usize,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let dst = Grid::plane(dst.required()?, dst_pitch);
        let src = Grid::plane(src.required()?, src_pitch);
        let extent = Extent::plane(width, height);
        let waits = &Waits::new(count, list)?;
        for (grid, access) in [(dst, Access::Update), (src, Access::Read)] {
            check_range(grid.address, grid.span(extent)?, access)?;
        }
        let enqueued = Enqueued {
            queue,
            command: Command::USM_MEMCPY_2D,
            waits,
            blocking: blocking.is_set(),
            event,
        };
        copy_grid(enqueued, src, dst, extent)
    }

    fn urEnqueueUSMPrefetch(
        queue: Handle<Queue>,
        memory: Pointer,
        size: usize,
        flags: UsmMigrationFlags,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let address = memory.required()?;
        flags.check()?;
        if size == 0 {
            return Err(Code::INVALID_SIZE);
        }
        let waits = &Waits::new(count, list)?;
        check_range(address, size, Access::Read)?;
        let enqueued =
            Enqueued { queue, command: Command::USM_PREFETCH, waits, blocking: false, event };
        hint(enqueued, (address, size), Hint::Prefetch)
    }

    fn urEnqueueUSMAdvise(
        queue: Handle<Queue>,
        memory: Pointer,
        size: usize,
        flags: UsmAdviceFlags,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let address = memory.required()?;
        flags.check()?;
        if size == 0 {
            return Err(Code::INVALID_SIZE);
        }
        let waits = &Waits::new(0, In::NULL)?;
        check_range(address, size, Access::Read)?;
        let enqueued =
            Enqueued { queue, command: Command::USM_ADVISE, waits, blocking: false, event };
        hint(enqueued, (address, size), Hint::Advise(flags))
    }
}

/// What a command does with a range, for checks of order.
pub(crate) fn touch(address: usize, bytes: usize, access: Access) -> Touch {
    Touch {
        address: Address::new(address),
        bytes,
        access,
    }
}
