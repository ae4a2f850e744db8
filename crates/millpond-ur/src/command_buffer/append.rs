//! Copies, fills and hints of command buffers.

use millpond::Access;

use crate::argument::{In, Pointer};
use crate::buffer::Buffer;
use crate::command_buffer::appends;
use crate::handle::Handle;
use crate::numbers::{Code, UsmAdviceFlags, UsmMigrationFlags};
use crate::transfers::{self, Direction};
use crate::usm::check_range;
use crate::usm_commands::{Hint, copy, fill, hint, pattern};

/// Between buffers and memory of the program: the same in both directions.
macro_rules! transfers {
    ($($name:ident: $direction:ident),* $(,)?) => {
        appends! {$(
            fn $name(
                target,
                buffer: Handle<Buffer>,
                offset: usize,
                size: usize,
                address: Pointer,
            ) {
                let buffer = buffer.get()?;
                let part = (&*buffer, offset, size);
                transfers::transfer(target.keeping(&buffer), part, address, Direction::$direction)
            }
        )*}
    };
}
transfers! {
    urCommandBufferAppendMemBufferReadExp: Read,
    urCommandBufferAppendMemBufferWriteExp: Write,
}

appends! {
    fn urCommandBufferAppendUSMMemcpyExp(target, dst: Pointer, src: Pointer, size: usize) {
        let (dst, src) = (dst.required()?, src.required()?);
        check_range(dst, size, Access::Update)?;
        check_range(src, size, Access::Read)?;
        if size == 0 || (dst != src && dst.abs_diff(src) < size) {
            return Err(Code::INVALID_SIZE);
        }
        copy(target, src, dst, size)
    }

    fn urCommandBufferAppendUSMFillExp(
        target,
        memory: Pointer,
        value: In<u8>,
        pattern_size: usize,
        size: usize,
    ) {
        let address = memory.required()?;
        let value = pattern(value, pattern_size, size)?;
        check_range(address, size, Access::Update)?;
        fill(target, address, size, &value)
    }

    fn urCommandBufferAppendUSMPrefetchExp(
        target,
        memory: Pointer,
        size: usize,
        flags: UsmMigrationFlags,
    ) {
        let address = memory.required()?;
        flags.check()?;
        if size == 0 {
            return Err(Code::INVALID_SIZE);
        }
        check_range(address, size, Access::Read)?;
        hint(target, (address, size), Hint::Prefetch)
    }

    fn urCommandBufferAppendUSMAdviseExp(
        target,
        memory: Pointer,
        size: usize,
        flags: UsmAdviceFlags,
    ) {
        let address = memory.required()?;
        flags.check()?;
        if size == 0 {
            return Err(Code::INVALID_SIZE);
        }
        check_range(address, size, Access::Read)?;
        hint(target, (address, size), Hint::Advise(flags))
    }

    fn urCommandBufferAppendMemBufferCopyExp(
        target,
        src: Handle<Buffer>,
        dst: Handle<Buffer>,
        src_offset: usize,
        dst_offset: usize,
        size: usize,
    ) {
        let (src, dst) = (src.get()?, dst.get()?);
        let target = target.keeping(&src).keeping(&dst);
        transfers::copy_between(target, (&src, src_offset), (&dst, dst_offset), size)
    }

    fn urCommandBufferAppendMemBufferFillExp(
        target,
        buffer: Handle<Buffer>,
        value: In<u8>,
        pattern_size: usize,
        offset: usize,
        size: usize,
    ) {
        let buffer = buffer.get()?;
        let value = pattern(value, pattern_size, size)?;
        transfers::fill_part(target.keeping(&buffer), (&buffer, offset, size), &value)
    }
}
