//! A few small arrays of one dtype, put side by side by one command.

use std::fmt;
use std::ops::Range;

use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use smallvec::SmallVec;

/// Bytes worth a thread of their own.
const GRAIN: usize = 1 << 16;

/// One of the arrays: contiguous, with as many rows as the others.
#[derive(Clone, Copy, Debug)]
pub struct JoinPart {
    /// Bytes before its first element.
    pub begin: usize,
    /// Bytes of one of its rows.
    pub row: usize,
}

/// Copies the rows of arrays to where they follow one another in the rows of the result.
///
/// Operands are the result and the arrays, each addressed by its base; the result overlaps no other.
pub struct JoinKernel {
    rows: usize,
    /// Bytes of a row of the result, and those of it before the first array's.
    pitch: usize,
    begin: usize,
    parts: SmallVec<[JoinPart; Self::PARTS]>,
}

impl JoinKernel {
    /// The most arrays that are joined at once: with the result, as many operands as a command has
    /// that runs where it is submitted.
    pub const PARTS: usize = 11;

    /// Arrays of so many rows, which begin at this byte of rows of `pitch` bytes.
    #[must_use]
    pub fn new(
        rows: usize,
        (begin, pitch): (usize, usize),
        parts: impl IntoIterator<Item = JoinPart>,
    ) -> Self {
        Self {
            rows,
            pitch,
            begin,
            parts: parts.into_iter().collect(),
        }
    }

    /// Bytes of a row that are written.
    fn written(&self) -> usize {
        self.parts.iter().map(|part| part.row).sum()
    }
}

impl fmt::Debug for JoinKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: bytes of the rows that the footprints are made of are read and written; each row of the
// result belongs to one piece.
unsafe impl HostKernel for JoinKernel {
    fn operands(&self) -> usize {
        1 + self.parts.len()
    }

    fn footprint(&self, operand: usize) -> Footprint {
        if let Some(part) = operand.checked_sub(1).map(|index| self.parts[index]) {
            return Footprint {
                bytes: part.begin..part.begin + self.rows * part.row,
                access: Access::Read,
            };
        }
        let written = self.written();
        let last = self.rows.saturating_sub(1) * self.pitch;
        Footprint::filled(self.begin..self.begin + last + written, self.rows * written)
    }

    fn extent(&self) -> usize {
        self.rows
    }

    fn grain(&self) -> usize {
        (GRAIN / self.written().max(1)).max(1)
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        let output: *mut u8 = bases[0].as_ptr();
        for row in range {
            let mut to = output.wrapping_add(row * self.pitch + self.begin);
            for (part, base) in self.parts.iter().zip(&bases[1..]) {
                let from: *mut u8 = base.as_ptr();
                let from = from.wrapping_add(part.begin + row * part.row);
                // SAFETY: a row of an array, and its place in a row of the result, which the caller
                // vouches for; they don't overlap.
                unsafe { std::ptr::copy_nonoverlapping(from.cast_const(), to, part.row) };
                to = to.wrapping_add(part.row);
            }
        }
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rows, count) = (self.rows, self.parts.len());
        write!(f, "join({count} arrays of {rows} rows)")
    }
}

#[cfg(test)]
mod tests {
    use millpond_testkit::trial::run;

    use super::*;

    #[test]
    fn rows_of_arrays_follow_one_another_and_nothing_else_changes() {
        let parts = [(1, 2), (0, 0), (3, 1)].map(|(begin, row)| JoinPart { begin, row });
        for chunk in [1, 2, 9] {
            let kernel = JoinKernel::new(3, (1, 5), parts);
            let (mut first, mut second, mut third) =
                ([9, 1, 2, 3, 4, 5, 6], [], [9, 9, 9, 7, 8, 7]);
            let mut output = [0; 15];
            let operands = &mut [&mut output[..], &mut first, &mut second, &mut third];
            run(&kernel, operands, chunk).unwrap();
            assert_eq!(output, [0, 1, 2, 7, 0, 0, 3, 4, 8, 0, 0, 5, 6, 7, 0]);
        }
    }
}
