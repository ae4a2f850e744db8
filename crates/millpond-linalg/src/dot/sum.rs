//! The sum of the products of two pieces of vectors.

use std::marker::PhantomData;

use millpond_kernel::host::gather::gather;
use millpond_kernel::host::level::{Work, at_level};
use millpond_kernel::simd;

use crate::number::Number;

/// Vectors of sums that are kept side by side, so that additions needn't wait for one another.
const SETS: usize = 4;

/// Bytes of such a vector, and elements at most.
const VECTOR: usize = 64;
const MOST: usize = 16;

/// Elements of a vector of sums.
pub(super) const fn width<T>() -> usize {
    let fitting = VECTOR / size_of::<T>();
    if fitting < MOST { fitting } else { MOST }
}

/// Sums that are kept: of a vector's elements in turn. The compiler keeps them in registers as long as
/// each is named by numbers that it knows.
type Sums<T, const WIDTH: usize> = [[T; WIDTH]; SETS];

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
    pub(super) unsafe fn sum<T: Number, const WIDTH: usize>(&self, conjugate: bool) -> T {
        if self.is_whole::<T>() {
            let mut sum = T::default();
            // SAFETY: the caller's promise.
            unsafe { self.sums::<T, WIDTH>(conjugate, [0; 2], 1, |_, found| sum = found) };
            return sum;
        }
        let mut sums = [[T::default(); WIDTH]; SETS];
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
                at_level(level, AddProducts::<T, WIDTH, true> { sums, lhs, rhs });
            } else {
                at_level(level, AddProducts::<T, WIDTH, false> { sums, lhs, rhs });
            }
        }
        total(sums)
    }

    /// Whether the elements of both follow one another.
    pub(super) const fn is_whole<T>(&self) -> bool {
        let item = size_of::<T>() as isize;
        self.steps[0] == item && self.steps[1] == item
    }

    /// Tells the number and the sum of each of `count` lines, of which the next lies so many bytes
    /// behind one.
    ///
    /// # Safety
    /// As for [`Line::sum`], for each of them, which [are whole](Line::is_whole).
    pub(super) unsafe fn sums<T: Number, const WIDTH: usize>(
        &self,
        conjugate: bool,
        strides: [isize; 2],
        count: usize,
        found: impl FnMut(usize, T),
    ) {
        let (level, line) = (simd::current(), self);
        if conjugate {
            let sum = SumProducts::<T, _, WIDTH, true>::new(line, strides, count, found);
            at_level(level, sum);
        } else {
            let sum = SumProducts::<T, _, WIDTH, false>::new(line, strides, count, found);
            at_level(level, sum);
        }
    }
}

/// The elements from an address on.
///
/// # Safety
/// `length` initialised elements lie there, aligned and unchanged while they are borrowed.
#[inline(always)]
unsafe fn slice<'a, T>(address: *const T, length: usize) -> &'a [T] {
    if length == 0 {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(address, length) }
}

/// Sums products along lines.
///
/// Made by [`Line::sums`] only, whose caller vouches for what is read.
struct SumProducts<'a, T, F, const WIDTH: usize, const CONJUGATE: bool> {
    line: &'a Line,
    strides: [isize; 2],
    count: usize,
    found: F,
    number: PhantomData<T>,
}

impl<'a, T, F, const WIDTH: usize, const CONJUGATE: bool> SumProducts<'a, T, F, WIDTH, CONJUGATE> {
    const fn new(line: &'a Line, strides: [isize; 2], count: usize, found: F) -> Self {
        Self {
            line,
            strides,
            count,
            found,
            number: PhantomData,
        }
    }
}

impl<T: Number, F: FnMut(usize, T), const WIDTH: usize, const CONJUGATE: bool> Work
    for SumProducts<'_, T, F, WIDTH, CONJUGATE>
{
    type Home = T;

    #[inline(always)]
    fn work(mut self) {
        let Line {
            lhs, rhs, length, ..
        } = *self.line;
        for number in 0..self.count {
            let at =
                |first: *const u8, stride: isize| first.wrapping_offset(stride * number as isize);
            // SAFETY: elements of a line, which follow one another.
            let lhs = unsafe { slice(at(lhs, self.strides[0]).cast(), length) };
            // SAFETY: as above.
            let rhs = unsafe { slice(at(rhs, self.strides[1]).cast(), length) };
            let sums = [[T::default(); WIDTH]; SETS];
            let sums = plus_products::<T, WIDTH, CONJUGATE>(sums, lhs, rhs);
            (self.found)(number, total(sums));
        }
    }
}

/// Adds products to sums that are kept.
struct AddProducts<'a, T, const WIDTH: usize, const CONJUGATE: bool> {
    sums: &'a mut Sums<T, WIDTH>,
    lhs: &'a [T],
    rhs: &'a [T],
}

impl<T: Number, const WIDTH: usize, const CONJUGATE: bool> Work
    for AddProducts<'_, T, WIDTH, CONJUGATE>
{
    type Home = T;

    #[inline(always)]
    fn work(self) {
        *self.sums = plus_products::<T, WIDTH, CONJUGATE>(*self.sums, self.lhs, self.rhs);
    }
}

/// The sums with the products added to them in turn.
#[expect(
    clippy::needless_range_loop,
    reason = "sums that are referred to aren't kept in registers"
)]
#[inline(always)]
fn plus_products<T: Number, const WIDTH: usize, const CONJUGATE: bool>(
    mut sums: Sums<T, WIDTH>,
    lhs: &[T],
    rhs: &[T],
) -> Sums<T, WIDTH> {
    let (lhs_sets, _) = lhs.as_chunks::<WIDTH>().0.as_chunks::<SETS>();
    let (rhs_sets, _) = rhs.as_chunks::<WIDTH>().0.as_chunks::<SETS>();
    for (a, b) in lhs_sets.iter().zip(rhs_sets) {
        for set in 0..SETS {
            sums[set] = plus::<T, WIDTH, CONJUGATE>(sums[set], &a[set], &b[set]);
        }
    }
    let done = rhs_sets.len() * SETS * WIDTH;
    for set in 0..SETS {
        let begin = done + set * WIDTH;
        if begin >= rhs.len() {
            break;
        }
        let (a, b) = (&lhs[begin..], &rhs[begin..]);
        sums[set] = match (a.first_chunk(), b.first_chunk()) {
            (Some(a), Some(b)) => plus::<T, WIDTH, CONJUGATE>(sums[set], a, b),
            _ => plus::<T, WIDTH, CONJUGATE>(sums[set], &filled(a), &filled(b)),
        };
    }
    sums
}

/// The sums with a product added to each.
#[inline(always)]
fn plus<T: Number, const WIDTH: usize, const CONJUGATE: bool>(
    mut sums: [T; WIDTH],
    a: &[T; WIDTH],
    b: &[T; WIDTH],
) -> [T; WIDTH] {
    for lane in 0..WIDTH {
        sums[lane] = if CONJUGATE {
            sums[lane].plus_conjugate(a[lane], b[lane])
        } else {
            sums[lane].plus(a[lane], b[lane])
        };
    }
    sums
}

/// The rest of a vector with zeros behind it, whose products change no sum: none is a negative zero.
#[inline(always)]
fn filled<T: Number, const WIDTH: usize>(rest: &[T]) -> [T; WIDTH] {
    let mut vector = [T::default(); WIDTH];
    for (slot, &element) in vector.iter_mut().zip(rest) {
        *slot = element;
    }
    vector
}

/// The sum of the sums, added in pairs.
#[inline(always)]
fn total<T: Number, const WIDTH: usize>(sums: Sums<T, WIDTH>) -> T {
    let both = |a: [T; WIDTH], b: [T; WIDTH]| {
        let mut sums = a;
        for lane in 0..WIDTH {
            sums[lane] = sums[lane].add(b[lane]);
        }
        sums
    };
    let [a, b, c, d] = sums;
    let mut sums = both(both(a, c), both(b, d));
    let mut count = WIDTH;
    while count > 1 {
        count /= 2;
        for index in 0..count {
            sums[index] = sums[index].add(sums[count + index]);
        }
    }
    sums[0]
}
