//! Commands on buffers that use their bytes in one piece.

use crate::argument::{Flag, In, Out, Pointer};
use crate::buffer::Buffer;
use crate::entry::entry;
use crate::event::Event;
use crate::handle::Handle;
use crate::numbers::{Code, Command, MapFlags};
use crate::queue::{Enqueued, Queue};
use crate::usm_commands::{copy, fill, nothing, pattern};
use crate::waits::Waits;

entry! {
    fn urEnqueueMemBufferRead(
        queue: Handle<Queue>,
        buffer: Handle<Buffer>,
        blocking: Flag,
        offset: usize,
        size: usize,
        dst: Pointer,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let buffer = buffer.get()?;
        let dst = dst.required()?;
        let waits = &Waits::new(count, list)?;
        buffer.check_range(offset, size)?;
        let (command, blocking) = (Command::MEM_BUFFER_READ, blocking.is_set());
        let enqueued = Enqueued { queue, command, waits, blocking, event };
        copy(enqueued, buffer.address() + offset, dst, size)
    }

    fn urEnqueueMemBufferWrite(
        queue: Handle<Queue>,
        buffer: Handle<Buffer>,
        blocking: Flag,
        offset: usize,
        size: usize,
        src: Pointer,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let buffer = buffer.get()?;
        let src = src.required()?;
        let waits = &Waits::new(count, list)?;
        buffer.check_range(offset, size)?;
        let (command, blocking) = (Command::MEM_BUFFER_WRITE, blocking.is_set());
        let enqueued = Enqueued { queue, command, waits, blocking, event };
        copy(enqueued, src, buffer.address() + offset, size)
    }

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
        src.check_range(src_offset, size)?;
        dst.check_range(dst_offset, size)?;
        let (from, to) = (src.address() + src_offset, dst.address() + dst_offset);
        if from.abs_diff(to) < size {
            return Err(Code::INVALID_SIZE);
        }
        let command = Command::MEM_BUFFER_COPY;
        copy(Enqueued { queue, command, waits, blocking: false, event }, from, to, size)
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
        if !offset.is_multiple_of(pattern_size) {
            return Err(Code::INVALID_SIZE);
        }
        let waits = &Waits::new(count, list)?;
        buffer.check_range(offset, size)?;
        let command = Command::MEM_BUFFER_FILL;
        let enqueued = Enqueued { queue, command, waits, blocking: false, event };
        fill(enqueued, buffer.address() + offset, size, &value)
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
        nothing(Enqueued { queue, command, waits, blocking, event }, "map", &[])?;
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
        nothing(Enqueued { queue, command, waits, blocking: false, event }, "unmap", &[])
    }
}
