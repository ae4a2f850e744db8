//! Copies of rectangles of command buffers.

use crate::argument::Pointer;
use crate::buffer::Buffer;
use crate::command_buffer::appends;
use crate::handle::Handle;
use crate::rectangles::{self, Place};
use crate::structures::{RectOffset, RectRegion};
use crate::transfers::Direction;

/// Between buffers and memory of the program: the same in both directions.
macro_rules! transfers {
    ($($name:ident: $direction:ident),* $(,)?) => {
        appends! {$(
            fn $name(
                target,
                buffer: Handle<Buffer>,
                buffer_origin: RectOffset,
                host_origin: RectOffset,
                region: RectRegion,
                buffer_row_pitch: usize,
                buffer_slice_pitch: usize,
                host_row_pitch: usize,
                host_slice_pitch: usize,
                address: Pointer,
            ) {
                let buffer = buffer.get()?;
                let inside = Place::new(buffer_origin, buffer_row_pitch, buffer_slice_pitch);
                let outside = Place::new(host_origin, host_row_pitch, host_slice_pitch);
                let (inside, outside) = ((&buffer, inside), (address, outside));
                let target = target.keeping(&buffer);
                rectangles::transfer(target, inside, outside, region, Direction::$direction)
            }
        )*}
    };
}
transfers! {
    urCommandBufferAppendMemBufferReadRectExp: Read,
    urCommandBufferAppendMemBufferWriteRectExp: Write,
}

appends! {
    fn urCommandBufferAppendMemBufferCopyRectExp(
        target,
        src: Handle<Buffer>,
        dst: Handle<Buffer>,
        src_origin: RectOffset,
        dst_origin: RectOffset,
        region: RectRegion,
        src_row_pitch: usize,
        src_slice_pitch: usize,
        dst_row_pitch: usize,
        dst_slice_pitch: usize,
    ) {
        let (src, dst) = (src.get()?, dst.get()?);
        let from = Place::new(src_origin, src_row_pitch, src_slice_pitch);
        let to = Place::new(dst_origin, dst_row_pitch, dst_slice_pitch);
        let target = target.keeping(&src).keeping(&dst);
        rectangles::copy_between(target, (&src, from), (&dst, to), region)
    }
}
