//! The sum of the products of two pieces of vectors.

use millpond_kernel::host::gather::gather;
use millpond_kernel::host::level::{Work, at_level};
use millpond_kernel::simd;

use crate::number::Number;

/// Sums that are kept side by side, so that additions needn't wait for one another.
const LANES: usize = 64;

/// Elements that are gathered at a time, where a vector doesn't lie in one piece.
const GATHERED: usize = 512;

/// Pieces of two vectors: the addresses of the first elements, and the bytes between them.
pub(super) struct Line {
    pub(super) lhs: *const u8,
    pub(super) rhs: *const u8,
    pub(super) steps: [isize; 2],
    pub(super) length: usize,
}

impl Line {
    /// The sum of their products.
    ///
    /// # Safety
    /// `length` elements of `T` may be read from each address on, in these steps; both are aligned.
    pub(super) unsafe fn sum<T: Number>(&self, conjugate: bool) -> T {
        let item = size_of::<T>() as isize;
        let mut sums = [T::default(); LANES];
        if self.steps == [item; 2] {
            // SAFETY: elements follow one another.
            let lhs = unsafe { slice(self.lhs.cast(), self.length) };
            // SAFETY: as above.
            let rhs = unsafe { slice(self.rhs.cast(), self.length) };
            add(&mut sums, lhs, rhs, conjugate);
            return total(&sums);
        }
        let mut gathered = [[T::default(); GATHERED]; 2];
        for begin in (0..self.length).step_by(GATHERED) {
            let count = GATHERED.min(self.length - begin);
            let addresses = [self.lhs, self.rhs];
            for ((to, from), step) in gathered.iter_mut().zip(addresses).zip(self.steps) {
                let from = from.wrapping_offset(step * begin as isize);
                let to = to.as_mut_ptr().cast();
                // SAFETY: `count` elements that the caller vouches for; there is room for them.
                unsafe { gather(size_of::<T>(), from, step, to, count) };
            }
            let [lhs, rhs] = &gathered;
            add(&mut sums, &lhs[..count], &rhs[..count], conjugate);
        }
        total(&sums)
    }
}

/// The elements from an address on.
///
/// # Safety
/// `length` initialised elements lie there, aligned and unchanged while they are borrowed.
unsafe fn slice<'a, T>(address: *const T, length: usize) -> &'a [T] {
    if length == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(address, length) }
}

fn add<T: Number>(sums: &mut [T; LANES], lhs: &[T], rhs: &[T], conjugate: bool) {
    let level = simd::current();
    if conjugate {
        at_level(level, AddProducts::<T, true> { sums, lhs, rhs });
    } else {
        at_level(level, AddProducts::<T, false> { sums, lhs, rhs });
    }
}

/// Adds products to the sums, in turn.
struct AddProducts<'a, T, const CONJUGATE: bool> {
    sums: &'a mut [T; LANES],
    lhs: &'a [T],
    rhs: &'a [T],
}

impl<T: Number, const CONJUGATE: bool> Work for AddProducts<'_, T, CONJUGATE> {
    type Home = T;

    #[inline(always)]
    fn work(self) {
        let plus = |sum: T, a: T, b: T| {
            if CONJUGATE {
                sum.plus_conjugate(a, b)
            } else {
                sum.plus(a, b)
            }
        };
        let mut sums = *self.sums;
        let (lhs, lhs_rest) = self.lhs.as_chunks::<LANES>();
        let (rhs, rhs_rest) = self.rhs.as_chunks::<LANES>();
        for (lhs, rhs) in lhs.iter().zip(rhs) {
            for ((sum, &a), &b) in sums.iter_mut().zip(lhs).zip(rhs) {
                *sum = plus(*sum, a, b);
            }
        }
        for ((sum, &a), &b) in sums.iter_mut().zip(lhs_rest).zip(rhs_rest) {
            *sum = plus(*sum, a, b);
        }
        *self.sums = sums;
    }
}

/// The sum of the sums, added in pairs.
fn total<T: Number>(sums: &[T; LANES]) -> T {
    let mut sums = *sums;
    let mut count = LANES;
    while count > 1 {
        count /= 2;
        for index in 0..count {
            sums[index] = sums[index].add(sums[count + index]);
        }
    }
    sums[0]
}
