//! Copies of rectangles of buffers, of three dimensions.

use std::sync::Arc;

use crate::argument::{Answer, Flag, In, Out, Pointer};
use crate::buffer::Buffer;
use crate::entry::entry;
use crate::event::Event;
use crate::grid::{Extent, Grid, copy_grid};
use crate::handle::Handle;
use crate::numbers::{Code, Command};
use crate::queue::{Enqueued, Queue, Target};
use crate::structures::{RectOffset, RectRegion};
use crate::transfers::Direction;
use crate::usm::check_range;
use crate::waits::Waits;

/// Where a rectangle begins, and how far apart its rows and slices are; 0 for next to one another.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    origin: RectOffset,
    row_pitch: usize,
    slice_pitch: usize,
}

impl RectRegion {
    /// # Errors
    /// No bytes, or more than there are addresses.
    fn extent(self) -> Answer<Extent> {
        let size = |number: u64| match usize::try_from(number) {
            Ok(0) | Err(_) => Err(Code::INVALID_SIZE),
            Ok(size) => Ok(size),
        };
        Ok(Extent {
            width: size(self.width)?,
            height: size(self.height)?,
            depth: size(self.depth)?,
        })
    }
}

impl Place {
    pub(crate) fn new(origin: RectOffset, row_pitch: usize, slice_pitch: usize) -> Self {
        Self {
            origin,
            row_pitch,
            slice_pitch,
        }
    }

    /// The grid of a rectangle in memory at an address, and the offset of its last byte's end.
    ///
    /// # Errors
    /// Pitches that are smaller than what they hold, or no multiple of it.
    fn grid(&self, address: usize, extent: Extent) -> Answer<(Grid, usize)> {
        let unless_none = |pitch: usize, dense: usize| if pitch == 0 { dense } else { pitch };
        let row_pitch = unless_none(self.row_pitch, extent.width);
        let slice = row_pitch
            .checked_mul(extent.height)
            .ok_or(Code::INVALID_SIZE)?;
        let slice_pitch = unless_none(self.slice_pitch, slice);
        if row_pitch < extent.width || slice_pitch < slice || slice_pitch % row_pitch != 0 {
            return Err(Code::INVALID_SIZE);
        }
        let coordinate = |number: u64, pitch: usize| {
            let number = usize::try_from(number).ok();
            number
                .and_then(|number| number.checked_mul(pitch))
                .ok_or(Code::INVALID_SIZE)
        };
        let RectOffset { x, y, z } = self.origin;
        let parts = [
            coordinate(x, 1)?,
            coordinate(y, row_pitch)?,
            coordinate(z, slice_pitch)?,
        ];
        let offset = parts
            .iter()
            .try_fold(0_usize, |sum, part| sum.checked_add(*part));
        let offset = offset.ok_or(Code::INVALID_SIZE)?;
        let grid = Grid {
            address: address.checked_add(offset).ok_or(Code::INVALID_SIZE)?,
            row_pitch,
            slice_pitch,
        };
        let end = offset
            .checked_add(grid.span(extent)?)
            .ok_or(Code::INVALID_SIZE)?;
        Ok((grid, end))
    }

    /// The same in a buffer, which has all of it.
    fn grid_in(&self, buffer: &Arc<Buffer>, extent: Extent) -> Answer<Grid> {
        let (grid, end) = self.grid(buffer.address(), extent)?;
        buffer.check_range(0, end)?;
        Ok(grid)
    }
}

/// Copies between a rectangle of a buffer and one of the program's memory.
pub(crate) fn transfer(
    target: impl Target,
    (buffer, inside): (&Arc<Buffer>, Place),
    (address, outside): (Pointer, Place),
    region: RectRegion,
    direction: Direction,
) -> Answer {
    let address = address.required()?;
    let extent = region.extent()?;
    let buffer = inside.grid_in(buffer, extent)?;
    let (host, _) = outside.grid(address, extent)?;
    check_range(host.address, host.span(extent)?, direction.of_host())?;
    let (from, to) = direction.ends(buffer, host);
    copy_grid(target, from, to, extent)
}

/// Copies between rectangles of buffers.
pub(crate) fn copy_between(
    target: impl Target,
    (src, from): (&Arc<Buffer>, Place),
    (dst, to): (&Arc<Buffer>, Place),
    region: RectRegion,
) -> Answer {
    let extent = region.extent()?;
    let (src, dst) = (from.grid_in(src, extent)?, to.grid_in(dst, extent)?);
    copy_grid(target, src, dst, extent)
}

/// Between buffers and memory of the program: the same in both directions.
macro_rules! transfers {
    ($($name:ident by $command:ident: $direction:ident),* $(,)?) => {
        entry! {$(
            fn $name(
                queue: Handle<Queue>,
                buffer: Handle<Buffer>,
                blocking: Flag,
                buffer_origin: RectOffset,
                host_origin: RectOffset,
                region: RectRegion,
                buffer_row_pitch: usize,
                buffer_slice_pitch: usize,
                host_row_pitch: usize,
                host_slice_pitch: usize,
                address: Pointer,
                count: u32,
                list: In<Handle<Event>>,
                event: Out<Handle<Event>>,
            ) {
                let queue = &queue.get()?;
                let buffer = buffer.get()?;
                let waits = &Waits::new(count, list)?;
                let inside = Place::new(buffer_origin, buffer_row_pitch, buffer_slice_pitch);
                let outside = Place::new(host_origin, host_row_pitch, host_slice_pitch);
                let (command, blocking) = (Command::$command, blocking.is_set());
                let enqueued = Enqueued { queue, command, waits, blocking, event };
                let (inside, outside) = ((&buffer, inside), (address, outside));
                transfer(enqueued, inside, outside, region, Direction::$direction)
            }
        )*}
    };
}
transfers! {
    urEnqueueMemBufferReadRect by MEM_BUFFER_READ_RECT: Read,
    urEnqueueMemBufferWriteRect by MEM_BUFFER_WRITE_RECT: Write,
}

entry! {
    fn urEnqueueMemBufferCopyRect(
        queue: Handle<Queue>,
        src: Handle<Buffer>,
        dst: Handle<Buffer>,
        src_origin: RectOffset,
        dst_origin: RectOffset,
        region: RectRegion,
        src_row_pitch: usize,
        src_slice_pitch: usize,
        dst_row_pitch: usize,
        dst_slice_pitch: usize,
        count: u32,
        list: In<Handle<Event>>,
        event: Out<Handle<Event>>,
    ) {
        let queue = &queue.get()?;
        let (src, dst) = (src.get()?, dst.get()?);
        let waits = &Waits::new(count, list)?;
        let from = Place::new(src_origin, src_row_pitch, src_slice_pitch);
        let to = Place::new(dst_origin, dst_row_pitch, dst_slice_pitch);
        let command = Command::MEM_BUFFER_COPY_RECT;
        let enqueued = Enqueued { queue, command, waits, blocking: false, event };
        copy_between(enqueued, (&src, from), (&dst, to), region)
    }
}
