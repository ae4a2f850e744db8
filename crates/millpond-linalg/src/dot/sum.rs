//! The sum of the products of two pieces of vectors.

use millpond_kernel::host::gather::gather;
use millpond_kernel::host::level::{Work, at_level};
use millpond_kernel::simd;

use crate::number::Number;

/// Bytes of sums that are kept side by side, so that additions needn't wait for one another, and
/// such sums at most.
const SIDE_BY_SIDE: usize = 256;
const MOST_LANES: usize = 64;

/// Sums of numbers that are kept side by side.
pub(super) const fn lanes<T>() -> usize {
    let fitting = SIDE_BY_SIDE / size_of::<T>();
    if fitting < MOST_LANES {
        fitting
    } else {
        MOST_LANES
    }
}

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
    pub(super) unsafe fn sum<T: Number, const LANES: usize>(&self, conjugate: bool) -> T {
        let item = size_of::<T>() as isize;
        if self.steps == [item; 2] {
            // SAFETY: elements follow one another.
            let lhs = unsafe { slice(self.lhs.cast(), self.length) };
            // SAFETY: as above.
            let rhs = unsafe { slice(self.rhs.cast(), self.length) };
            let mut sum = T::default();
            let (level, to) = (simd::current(), &mut sum);
            if conjugate {
                at_level(level, SumProducts::<T, LANES, true> { to, lhs, rhs });
            } else {
                at_level(level, SumProducts::<T, LANES, false> { to, lhs, rhs });
            }
            return sum;
        }
        let mut sums = [T::default(); LANES];
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
            let [lhs, rhs] = gathered.each_ref().map(|elements| &elements[..count]);
            let level = simd::current();
            let sums = &mut sums;
            if conjugate {
                at_level(level, AddProducts::<T, LANES, true> { sums, lhs, rhs });
            } else {
                at_level(level, AddProducts::<T, LANES, false> { sums, lhs, rhs });
            }
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

/// Sums products.
struct SumProducts<'a, T, const LANES: usize, const CONJUGATE: bool> {
    to: &'a mut T,
    lhs: &'a [T],
    rhs: &'a [T],
}

impl<T: Number, const LANES: usize, const CONJUGATE: bool> Work
    for SumProducts<'_, T, LANES, CONJUGATE>
{
    type Home = T;

    #[inline(always)]
    fn work(self) {
        let mut sums = [T::default(); LANES];
        add::<T, LANES, CONJUGATE>(&mut sums, self.lhs, self.rhs);
        *self.to = total(&sums);
    }
}

/// Adds products to sums that are kept.
struct AddProducts<'a, T, const LANES: usize, const CONJUGATE: bool> {
    sums: &'a mut [T; LANES],
    lhs: &'a [T],
    rhs: &'a [T],
}

impl<T: Number, const LANES: usize, const CONJUGATE: bool> Work
    for AddProducts<'_, T, LANES, CONJUGATE>
{
    type Home = T;

    #[inline(always)]
    fn work(self) {
        add::<T, LANES, CONJUGATE>(self.sums, self.lhs, self.rhs);
    }
}

/// Adds products to the sums, in turn. Sums are named by numbers: only such ones does the compiler
/// keep in registers.
#[inline(always)]
fn add<T: Number, const LANES: usize, const CONJUGATE: bool>(
    sums: &mut [T; LANES],
    lhs: &[T],
    rhs: &[T],
) {
    let plus = |sum: T, a: T, b: T| {
        if CONJUGATE {
            sum.plus_conjugate(a, b)
        } else {
            sum.plus(a, b)
        }
    };
    let (lhs, lhs_rest) = lhs.as_chunks::<LANES>();
    let (rhs, rhs_rest) = rhs.as_chunks::<LANES>();
    // Apart from those that the rest is added to, whose number isn't known.
    let mut kept = *sums;
    for (a, b) in lhs.iter().zip(rhs) {
        for lane in 0..LANES {
            kept[lane] = plus(kept[lane], a[lane], b[lane]);
        }
    }
    *sums = kept;
    for ((sum, &a), &b) in sums.iter_mut().zip(lhs_rest).zip(rhs_rest) {
        *sum = plus(*sum, a, b);
    }
}

/// The sum of the sums, added in pairs.
#[inline(always)]
fn total<T: Number, const LANES: usize>(sums: &[T; LANES]) -> T {
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
