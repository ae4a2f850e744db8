//! How many elements a mask selects, and where those of each of its blocks begin.

use std::fmt;
use std::ops::Range;

use millpond_hal::code::DeviceCode;
use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_types::Layout;
use millpond_types::shape::Tuple;
use smallvec::SmallVec;

use super::selected::Selected;

/// Counts what a mask selects.
///
/// Operands are the counts and the mask. The counts are integers of 64 bits, as many as
/// [`MaskCountKernel::counts`] says: how many elements are selected before each block of the mask,
/// and last how many in all.
pub struct MaskCountKernel {
    pub(super) selected: Selected,
    shape: SmallVec<[usize; 4]>,
}

impl MaskCountKernel {
    /// The kernel for a mask of truth values.
    #[must_use]
    pub fn new(mask: &Layout) -> Self {
        Self {
            selected: Selected::new(mask, None),
            shape: mask.shape().into(),
        }
    }

    /// How many counts there are.
    #[must_use]
    pub fn counts(&self) -> usize {
        self.selected.blocks() + 1
    }
}

impl fmt::Debug for MaskCountKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

/// Where the counts begin at an address.
fn count_at(counts: Address, block: usize) -> *mut i64 {
    counts.as_ptr::<i64>().wrapping_add(block)
}

/// The numbers of the elements that a block selects, among all that are selected.
///
/// # Safety
/// The counts may be read, and there is this block.
pub(super) unsafe fn counted(counts: Address, block: usize) -> Range<usize> {
    // SAFETY: the caller's promise.
    let begin = unsafe { total(counts, block) };
    // SAFETY: there is one count more than there are blocks.
    let end = unsafe { total(counts, block + 1) };
    begin..end
}

/// How many elements so many blocks select.
///
/// # Safety
/// The counts may be read, and there are as many blocks.
pub(super) unsafe fn total(counts: Address, blocks: usize) -> usize {
    // SAFETY: the caller's promise.
    unsafe { count_at(counts, blocks).read_unaligned() as usize }
}

// SAFETY: every access is to an element of the mask, or to a count: of a block in `run`, of all in
// `finish`.
unsafe impl HostKernel for MaskCountKernel {
    fn operands(&self) -> usize {
        2
    }

    fn footprint(&self, operand: usize) -> Footprint {
        match operand {
            0 => Footprint {
                bytes: 0..self.counts() * size_of::<i64>(),
                access: Access::Write,
            },
            _ => Footprint {
                bytes: self.selected.footprint(),
                access: Access::Read,
            },
        }
    }

    fn extent(&self) -> usize {
        self.selected.blocks()
    }

    fn grain(&self) -> usize {
        16
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        for block in range {
            // SAFETY: the caller vouches for the mask.
            let found = unsafe { self.selected.count(bases[1].as_ptr(), block) };
            // SAFETY: as above, for the counts; this one is the block's own.
            unsafe { count_at(bases[0], block).write_unaligned(found as i64) };
        }
        Ok(())
    }

    unsafe fn finish(&self, bases: &[Address]) -> Result<(), KernelError> {
        let mut total = 0;
        for block in 0..self.selected.blocks() {
            let at = count_at(bases[0], block);
            // SAFETY: every block was counted, and nobody else touches the counts.
            let found = unsafe { at.read_unaligned() };
            // SAFETY: as above.
            unsafe { at.write_unaligned(total) };
            total += found;
        }
        // SAFETY: as above; this is the last count.
        unsafe { count_at(bases[0], self.selected.blocks()).write_unaligned(total) };
        Ok(())
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        self.has_code().then_some(self)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "count of a mask of shape {}", Tuple(&self.shape))
    }
}
