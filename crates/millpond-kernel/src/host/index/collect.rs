//! What a short mask selects, found and moved in one pass that counts as it goes.
//!
//! The other kernels of masks know from a count before how many elements there are. For few elements
//! that count is most of the work, so here the output has room for all, and the kernel says
//! afterwards how many came.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};
use millpond_types::DType;

use crate::host::gather::sized;

/// What is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collected {
    /// Elements of a contiguous array, which begin at this byte of its memory.
    Elements(DType, usize),
    /// Where they are, as `int64`.
    Places,
}

/// A kernel that collects what a contiguous mask selects, in order, at the beginning of its output.
///
/// Operands are the output, with room for as many elements as the mask has, the mask, and the array
/// if elements are collected. What is written overlaps nothing else. It is run once.
pub struct CollectKernel {
    what: Collected,
    /// Elements of the mask, and the byte that they begin at.
    mask: (usize, usize),
    found: AtomicUsize,
}

impl CollectKernel {
    /// The most elements that a mask has for which this is the best way.
    pub const MOST: usize = 1024;

    /// The kernel for a mask of so many elements, which begin at this byte of its memory.
    #[must_use]
    pub const fn new(what: Collected, mask: (usize, usize)) -> Self {
        Self {
            what,
            mask,
            found: AtomicUsize::new(0),
        }
    }

    /// How many elements were collected, after it has run.
    #[must_use]
    pub fn found(&self) -> usize {
        self.found.load(Ordering::Relaxed)
    }

    /// Bytes of an element of the output.
    const fn item(&self) -> usize {
        match self.what {
            Collected::Elements(dtype, _) => dtype.size(),
            Collected::Places => size_of::<i64>(),
        }
    }
}

/// Writes the value of each number that the mask selects, one behind the other; how many there were.
///
/// # Safety
/// `count` truth values lie at `mask`, and `output` has room for as many values.
#[inline(always)]
unsafe fn collect<T>(
    (mask, count): (*const u8, usize),
    output: *mut T,
    value: impl Fn(usize) -> T,
) -> usize {
    let mut found = 0;
    for number in 0..count {
        // Written whether it is selected or not: a branch would be guessed wrong half of the time.
        // SAFETY: no more were found than numbers are behind.
        unsafe { output.wrapping_add(found).write_unaligned(value(number)) };
        // SAFETY: a truth value, which the caller vouches for.
        found += usize::from(unsafe { mask.wrapping_add(number).read() } != 0);
    }
    found
}

impl fmt::Debug for CollectKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

// SAFETY: the mask and as many elements of the others are touched, as the footprints say. There is
// one piece.
unsafe impl HostKernel for CollectKernel {
    fn operands(&self) -> usize {
        match self.what {
            Collected::Elements(..) => 3,
            Collected::Places => 2,
        }
    }

    fn footprint(&self, operand: usize) -> Footprint {
        let (count, begin) = self.mask;
        let bytes = match (operand, self.what) {
            (0, _) => {
                let bytes = 0..count * self.item();
                let access = Access::Write;
                return Footprint { bytes, access };
            }
            (2, Collected::Elements(dtype, begin)) => begin..begin + count * dtype.size(),
            _ => begin..begin + count,
        };
        Footprint {
            bytes,
            access: Access::Read,
        }
    }

    fn extent(&self) -> usize {
        1
    }

    fn grain(&self) -> usize {
        1
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        if range.is_empty() {
            return Ok(());
        }
        let (count, begin) = self.mask;
        let mask = bases[1].as_ptr::<u8>().wrapping_add(begin).cast_const();
        let output = bases[0].as_ptr::<u8>();
        let found = match self.what {
            Collected::Elements(dtype, begin) => {
                let array: *mut u8 = bases[2].as_ptr();
                let array = array.wrapping_add(begin);
                macro_rules! run {
                    ($t:ty) => {{
                        let element = |number: usize| {
                            let element = array.wrapping_add(number * size_of::<$t>());
                            // SAFETY: an element of the array, which the caller vouches for.
                            unsafe { element.cast::<$t>().read_unaligned() }
                        };
                        // SAFETY: the caller's promise.
                        unsafe { collect::<$t>((mask, count), output.cast(), element) }
                    }};
                }
                sized!(dtype.size(), run)
            }
            // SAFETY: as above.
            Collected::Places => unsafe {
                collect((mask, count), output.cast(), |number| number as i64)
            },
        };
        self.found.store(found, Ordering::Relaxed);
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.mask.0;
        match self.what {
            Collected::Elements(dtype, _) => write!(f, "elements({dtype} ({count},), mask)"),
            Collected::Places => write!(f, "nonzero(bool ({count},))"),
        }
    }
}

#[cfg(test)]
mod tests {
    use millpond_testkit::trial::run;

    use super::*;

    const MASK: [u8; 7] = [9, 1, 0, 0, 2, 1, 0];

    #[test]
    fn selected_elements_follow_one_another_in_order() {
        let kernel = CollectKernel::new(Collected::Elements(DType::Uint16, 2), (6, 1));
        let mut array: Vec<u8> = (0..14).collect();
        let mut output = [0; 12];
        let operands = &mut [&mut output[..], &mut { MASK }, &mut array];
        run(&kernel, operands, 1).unwrap();
        assert_eq!(kernel.found(), 3);
        assert_eq!(output[..6], [2, 3, 8, 9, 10, 11]);
    }

    #[test]
    fn places_are_counted_from_the_first_element_of_the_mask() {
        let kernel = CollectKernel::new(Collected::Places, (6, 1));
        let mut output = [0; 48];
        run(&kernel, &mut [&mut output[..], &mut { MASK }], 1).unwrap();
        assert_eq!(kernel.found(), 3);
        let places = output
            .as_chunks()
            .0
            .iter()
            .map(|at| i64::from_ne_bytes(*at));
        assert_eq!(places.take(3).collect::<Vec<_>>(), [0, 3, 4]);
    }

    #[test]
    fn a_mask_that_selects_everything_fills_the_output() {
        for count in [0, 1, 6] {
            let kernel = CollectKernel::new(Collected::Elements(DType::Uint8, 0), (count, 0));
            let (mut mask, mut array) = ([1; 6], [1, 2, 3, 4, 5, 6]);
            let mut output = vec![0; count];
            let operands = &mut [&mut output[..], &mut mask, &mut array[..]];
            run(&kernel, operands, 1).unwrap();
            assert_eq!((kernel.found(), &output[..]), (count, &array[..count]));
        }
    }
}
