//! Commands on buffers that use their bytes in one piece.

use millpond::Access;

use crate::argument::{Answer, Flag, In, Out, Pointer};
use crate::buffer::Buffer;
use crate::entry::entry;
use crate::event::Event;
use crate::handle::Handle;
use crate::mutants::{Rule, broken};
use crate::numbers::{Code, Command, MapFlags};
use crate::queue::{Enqueued, Queue, Target};
use crate::usm::check_range;
use crate::usm_commands::{copy, fill, nothing, pattern};
use crate::waits::Waits;

/// Which way bytes go between a buffer and memory of the program.
#[derive(Clone, Copy)]
pub(crate) enum Direction {
    Read,
    Write,
}

impl Direction {
    /// What is done with the program's memory.
    pub(crate) fn of_host(self) -> Access {
        match self {
            Self::Read => Access::Update,
            Self::Write => Access::Read,
        }
    }

    /// Where they come from, and where they go.
    pub(crate) fn ends<T>(self, buffer: T, host: T) -> (T, T) {
        match self {
            Self::Read => (buffer, host),
            Self::Write => (host, buffer),
        }
    }
}

/// Copies between a part of a buffer and memory of the program.
pub(crate) fn transfer(
    target: impl Target,
    (buffer, offset, size): (&Buffer, usize, usize),
    address: Pointer,
    direction: Direction,
) -> Answer {
    let host = address.required()?;
    buffer.check_range(offset, size)?;
    check_range(host, size, direction.of_host())?;
    let (from, to) = direction.ends(buffer.address() + offset, host);
    copy(target, from, to, size)
}

/// Copies between parts of buffers, which don't overlap.
pub(crate) fn copy_between(
    target: impl Target,
    (src, src_offset): (&Buffer, usize),
    (dst, dst_offset): (&Buffer, usize),
    size: usize,
) -> Answer {
    src.check_range(src_offset, size)?;
    dst.check_range(dst_offset, size)?;
    let (from, to) = (src.address() + src_offset, dst.address() + dst_offset);
    if from.abs_diff(to) < size {
        return Err(Code::INVALID_SIZE);
    }
    copy(target, from, to, size)
}

/// Fills a part of a buffer with whole patterns, as the buffer is divided into them.
pub(crate) fn fill_part(
    target: impl Target,
    (buffer, offset, size): (&Buffer, usize, usize),
    pattern: &[u8],
) -> Answer {
    if !offset.is_multiple_of(pattern.len()) {
        return Err(Code::INVALID_SIZE);
    }
    buffer.check_range(offset, size)?;
    fill(target, buffer.address() + offset, size, pattern)
}

/// Between buffers and memory of the program: the same in both directions.
macro_rules! transfers {
    ($($name:ident by $command:ident: $direction:ident),* $(,)?) => {
        entry! {$(
            fn $name(
                queue: Handle<Queue>,
                buffer: Handle<Buffer>,
                blocking: Flag,
                offset: usize,
                size: usize,
                address: Pointer,
                count: u32,
                list: In<Handle<Event>>,
                event: Out<Handle<Event>>,
            ) {
                let queue = &queue.get()?;
                let buffer = buffer.get()?;
                let waits = &Waits::new(count, list)?;
                let (command, blocking) = (Command::$command, blocking.is_set());
                let enqueued = Enqueued { queue, command, waits, blocking, event };
                transfer(enqueued, (&buffer, offset, size), address, Direction::$direction)
            }
        )*}
    };
}
transfers! {
    urEnqueueMemBufferRead by MEM_BUFFER_READ: Read,
    urEnqueueMemBufferWrite by MEM_BUFFER_WRITE: Write,
}

entry! {
    fn urEnqueueMemBufferCopy(
        queue: Handle<Queue>,
        src: Handle<Buffer>,
        dst: Handle<Buffer>,
        src_offset: usize,
        dst_offset: usize,
        size: usize,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let (src, dst) = (src.get()?, dst.get()?);
        let waits = &Waits::new(count, list)?;
        let command = Command::MEM_BUFFER_COPY;
        let enqueued = Enqueued { queue, command, waits, blocking: false, event };
        copy_between(enqueued, (&src, src_offset), (&dst, dst_offset), size)
    }

    fn urEnqueueMemBufferFill(
        queue: Handle<Queue>,
        buffer: Handle<Buffer>,
        value: In<u8>,
        pattern_size: usize,
        offset: usize,
        size: usize,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let buffer = buffer.get()?;
        let value = pattern(value, pattern_size, size)?;
        let waits = &Waits::new(count, list)?;
        let command = Command::MEM_BUFFER_FILL;
        let enqueued = Enqueued { queue, command, waits, blocking: false, event };
        fill_part(enqueued, (&buffer, offset, size), &value)
    }

    /// The address of a part of a buffer, which the program may use from the event on.
    fn urEnqueueMemBufferMap(
        queue: Handle<Queue>,
        buffer: Handle<Buffer>,
        blocking: Flag,
        flags: MapFlags,
        offset: usize,
        size: usize,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
        address: Out<Pointer>,
    ) {
        let queue = &queue.get()?;
        let buffer = buffer.get()?;
        let address = address.required()?;
        flags.check()?;
        if flags.has(MapFlags::WRITE_INVALIDATE_REGION)
            && (flags.has(MapFlags::READ) || flags.has(MapFlags::WRITE))
        {
            return Err(Code::INVALID_VALUE);
        }
        let waits = &Waits::new(count, list)?;
        buffer.check_range(offset, size)?;
        let (command, blocking) = (Command::MEM_BUFFER_MAP, blocking.is_set());
        nothing(Enqueued { queue, command, waits, blocking, event }, "map")?;
        let offset = if broken(Rule::MapOffset) { 0 } else { offset };
        address.set(Pointer::to(buffer.address() + offset));
        Ok(())
    }

    /// Ends a program's use of a mapped part, so that commands may use it from the event on.
    fn urEnqueueMemUnmap(
        queue: Handle<Queue>,
        buffer: Handle<Buffer>,
        address: Pointer,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let buffer = buffer.get()?;
        let address = address.required()?;
        let waits = &Waits::new(count, list)?;
        let offset = address.checked_sub(buffer.address()).ok_or(Code::INVALID_VALUE)?;
        buffer.check_range(offset, 0).map_err(|_| Code::INVALID_VALUE)?;
        let command = Command::MEM_UNMAP;
        nothing(Enqueued { queue, command, waits, blocking: false, event }, "unmap")
    }
}
