//! Copies and fills of bytes with gaps between them, rows and slices, by a thread of the host; on other
//! devices by their own commands (`rows.rs`).

use std::ptr;
use std::sync::Arc;

use millpond::{Access, Address};

use crate::argument::Answer;
use crate::mutants::{Rule, broken};
use crate::numbers::Code;
use crate::queue::Target;
use crate::rows;
use crate::usm::is_of_device;
use crate::usm_commands::touch;

/// Bytes of a pattern that are written at a time.
pub(crate) const PIECE: usize = 64 << 10;

/// How many bytes, rows and slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) depth: usize,
}

/// Where the first byte is, and how far apart rows and slices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grid {
    pub(crate) address: usize,
    pub(crate) row_pitch: usize,
    pub(crate) slice_pitch: usize,
}

impl Extent {
    /// One slice.
    pub(crate) fn plane(width: usize, height: usize) -> Self {
        Self {
            width,
            height,
            depth: 1,
        }
    }

    pub(crate) fn rows(self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.depth).flat_map(move |slice| (0..self.height).map(move |row| (slice, row)))
    }
}

impl Grid {
    /// Rows of one slice.
    pub(crate) fn plane(address: usize, row_pitch: usize) -> Self {
        Self {
            address,
            row_pitch,
            slice_pitch: 0,
        }
    }

    /// Bytes from the first to the last.
    ///
    /// # Errors
    /// No bytes; rows that overlap; more bytes than there are addresses.
    pub(crate) fn span(self, extent: Extent) -> Answer<usize> {
        let Extent {
            width,
            height,
            depth,
        } = extent;
        if width == 0 || height == 0 || depth == 0 || self.row_pitch < width {
            return Err(Code::INVALID_SIZE);
        }
        let rows = self.row_pitch.checked_mul(height - 1);
        let slices = self.slice_pitch.checked_mul(depth - 1);
        let gaps = rows
            .zip(slices)
            .and_then(|(rows, slices)| rows.checked_add(slices));
        gaps.and_then(|gaps| gaps.checked_add(width))
            .ok_or(Code::INVALID_SIZE)
    }

    pub(crate) fn row(self, (slice, row): (usize, usize)) -> Address {
        let slices = if broken(Rule::SlicePitch) {
            0
        } else {
            slice * self.slice_pitch
        };
        let rows = if broken(Rule::RowPitch) {
            0
        } else {
            row * self.row_pitch
        };
        Address::new(self.address + slices + rows)
    }
}

/// Copies bytes between grids, whose spans were checked.
///
/// # Errors
/// Rows that are copied onto themselves in memory which the host can't reach.
pub(crate) fn copy_grid(target: impl Target, src: Grid, dst: Grid, extent: Extent) -> Answer {
    if !target.device().is_host() {
        let first = (0, 0);
        let apart = src.row(first).get().abs_diff(dst.row(first).get());
        if apart >= extent.width {
            return rows::copy(target, src, dst, extent);
        }
        if [src, dst].iter().any(|grid| is_of_device(grid.address)) {
            return Err(Code::INVALID_SIZE);
        }
    }
    let claims = [
        touch(src.address, src.span(extent)?, Access::Read),
        touch(dst.address, dst.span(extent)?, Access::Update),
    ];
    target.put(move |queue, after| {
        queue.task_at("copy of rows", &claims, after, move || {
            for row in extent.rows() {
                let (src, dst) = (src.row(row).as_ptr::<u8>(), dst.row(row).as_ptr::<u8>());
                // SAFETY: what the caller of the interface promises of these addresses until the
                // command has finished; rows of one memory may overlap.
                unsafe { ptr::copy(src, dst, extent.width) }
            }
            Ok(())
        })
    })
}

/// Fills a grid with a pattern, which goes on from row to row; all bytes are a multiple of it.
pub(crate) fn fill_grid(target: impl Target, dst: Grid, extent: Extent, pattern: &[u8]) -> Answer {
    if !target.device().is_host() {
        return rows::fill(target, dst, extent, pattern);
    }
    let claims = [touch(dst.address, dst.span(extent)?, Access::Update)];
    let piece: Arc<[u8]> = pattern.repeat((PIECE / pattern.len()).max(1)).into();
    target.put(move |queue, after| {
        let piece = Arc::clone(&piece);
        queue.task_at("fill of rows", &claims, after, move || {
            let mut at = 0;
            for row in extent.rows() {
                let mut begin = 0;
                if broken(Rule::PatternGoesOn) {
                    at = 0;
                }
                while begin < extent.width {
                    let from = &piece[at..];
                    let bytes = from.len().min(extent.width - begin);
                    let dst = dst.row(row).offset(begin).as_ptr::<u8>();
                    // SAFETY: as for copies; the piece is memory of this closure.
                    unsafe { ptr::copy_nonoverlapping(from.as_ptr(), dst, bytes) }
                    begin += bytes;
                    at = (at + bytes) % piece.len();
                }
            }
            Ok(())
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{Extent, Grid};
    use crate::numbers::Code;

    #[test]
    fn spans_reach_from_the_first_byte_to_the_last() {
        let grid = Grid {
            address: 0,
            row_pitch: 10,
            slice_pitch: 100,
        };
        let extent = Extent {
            width: 3,
            height: 2,
            depth: 4,
        };
        assert_eq!(grid.span(extent), Ok(300 + 10 + 3));
        assert_eq!(Grid::plane(0, 10).span(Extent::plane(10, 1)), Ok(10));
        for wrong in [
            Extent::plane(0, 1),
            Extent::plane(1, 0),
            Extent::plane(11, 1),
        ] {
            assert_eq!(Grid::plane(0, 10).span(wrong), Err(Code::INVALID_SIZE));
        }
        let far = Grid::plane(0, usize::MAX).span(Extent::plane(1, 3));
        assert_eq!(far, Err(Code::INVALID_SIZE));
    }
}
