//! Moving elements of any size between arrays and tiles.
//!
//! Elements are moved as bytes of their size, whatever they mean, so there are five loops of each
//! kind and not one for each dtype.

use crate::template::space::Space;

/// Calls `$with!(Type)` with an unsigned type of the element's size.
macro_rules! sized {
    ($size:expr, $with:ident) => {
        match $size {
            1 => $with!(u8),
            2 => $with!(u16),
            4 => $with!(u32),
            8 => $with!(u64),
            _ => $with!([u64; 2]),
        }
    };
}

pub(super) use sized;

/// Reads `count` elements `stride` bytes apart into contiguous memory.
///
/// # Safety
/// Each element is valid for reads and initialised, `dst` is valid for writes of `count` elements
/// of `size` bytes, 1, 2, 4, 8 or 16; they don't overlap. Alignment doesn't matter.
#[inline]
pub unsafe fn gather(size: usize, src: *const u8, stride: isize, dst: *mut u8, count: usize) {
    if stride == size as isize {
        // SAFETY: the elements follow one another.
        return unsafe { std::ptr::copy_nonoverlapping(src, dst, count * size) };
    }
    macro_rules! run {
        ($t:ty) => {
            // SAFETY: as the caller vouches.
            unsafe { gather_as::<$t>(src, stride, dst.cast(), count) }
        };
    }
    sized!(size, run);
}

/// # Safety
/// As for [`gather`].
unsafe fn gather_as<T: Copy>(src: *const u8, stride: isize, dst: *mut T, count: usize) {
    if stride == 0 {
        if count > 0 {
            // SAFETY: there is at least one element.
            let value = unsafe { src.cast::<T>().read_unaligned() };
            for index in 0..count {
                // SAFETY: `index` is below `count`.
                unsafe { dst.wrapping_add(index).write_unaligned(value) };
            }
        }
        return;
    }
    let size = size_of::<T>() as isize;
    if stride == 2 * size {
        // SAFETY: as the caller vouches.
        return unsafe { gather_every::<T, 2>(src.cast(), dst, count) };
    }
    if stride == -size {
        // SAFETY: as the caller vouches.
        return unsafe { gather_every::<T, -1>(src.cast(), dst, count) };
    }
    for index in 0..count {
        let src = src.wrapping_offset(stride * index as isize).cast::<T>();
        // SAFETY: this is element `index` of the source.
        let value = unsafe { src.read_unaligned() };
        // SAFETY: `index` is below `count`.
        unsafe { dst.wrapping_add(index).write_unaligned(value) };
    }
}

/// As [`gather`] with a stride that the compiler knows, so that it can use vectors.
///
/// # Safety
/// As for [`gather`].
unsafe fn gather_every<T: Copy, const STEP: isize>(src: *const T, dst: *mut T, count: usize) {
    for index in 0..count {
        let src = src.wrapping_offset(STEP * index as isize);
        // SAFETY: this is element `index` of the source.
        let value = unsafe { src.read_unaligned() };
        // SAFETY: `index` is below `count`.
        unsafe { dst.wrapping_add(index).write_unaligned(value) };
    }
}

/// Reads the elements of an operand of a space from number `position` on into contiguous memory.
///
/// # Safety
/// The elements are valid for reads, with `base` in place of the operand's; the rest as for
/// [`gather`].
pub(super) unsafe fn gather_space(
    (space, operand): (&Space, usize),
    (size, base): (usize, *const u8),
    (position, count): (usize, usize),
    mut dst: *mut u8,
) {
    let stride = space.inner_stride(operand);
    if let (0, [outer, inner]) = (stride, space.axes()) {
        let first = base.wrapping_offset(space.begin()[operand]);
        let step = outer.strides[operand];
        macro_rules! run {
            ($t:ty) => {
                // SAFETY: as the caller vouches.
                unsafe { repeat_as::<$t>((first, step), (inner.size, position), dst.cast(), count) }
            };
        }
        return sized!(size, run);
    }
    space.rows(position, count, |offsets, length| {
        let src = base.wrapping_offset(offsets[operand]);
        // SAFETY: `length` elements of a row; all rows together have `count`.
        unsafe { gather(size, src, stride, dst, length) };
        dst = dst.wrapping_add(length * size);
    });
}

/// Reads elements that come so many times each, from number `position` on.
///
/// # Safety
/// As for [`gather_space`].
unsafe fn repeat_as<T: Copy>(
    (first, step): (*const u8, isize),
    (times, position): (usize, usize),
    dst: *mut T,
    count: usize,
) {
    let (mut index, mut left) = ((position / times) as isize, times - position % times);
    let mut done = 0;
    while done < count {
        let src = first.wrapping_offset(step * index).cast::<T>();
        // SAFETY: an element of the operand.
        let value = unsafe { src.read_unaligned() };
        let end = count.min(done + left);
        for at in done..end {
            // SAFETY: `at` is below `count`.
            unsafe { dst.wrapping_add(at).write_unaligned(value) };
        }
        (done, index, left) = (end, index + 1, times);
    }
}

/// Writes `count` contiguous elements to places `stride` bytes apart.
///
/// # Safety
/// As for [`gather`], with the sides exchanged.
#[inline]
pub unsafe fn scatter(size: usize, src: *const u8, dst: *mut u8, stride: isize, count: usize) {
    if stride == size as isize {
        // SAFETY: the elements follow one another.
        return unsafe { std::ptr::copy_nonoverlapping(src, dst, count * size) };
    }
    macro_rules! run {
        ($t:ty) => {
            // SAFETY: as the caller vouches.
            unsafe { scatter_as::<$t>(src.cast(), dst, stride, count) }
        };
    }
    sized!(size, run);
}

/// Writes contiguous elements to the places of an operand of a space from number `position` on.
///
/// # Safety
/// As for [`gather_space`], with the sides exchanged.
pub(super) unsafe fn scatter_space(
    (space, operand): (&Space, usize),
    mut src: *const u8,
    (size, base): (usize, *mut u8),
    (position, count): (usize, usize),
) {
    let stride = space.inner_stride(operand);
    space.rows(position, count, |offsets, length| {
        let dst = base.wrapping_offset(offsets[operand]);
        // SAFETY: `length` elements of a row; all rows together have `count`.
        unsafe { scatter(size, src, dst, stride, length) };
        src = src.wrapping_add(length * size);
    });
}

/// # Safety
/// As for [`scatter`].
unsafe fn scatter_as<T: Copy>(src: *const T, dst: *mut u8, stride: isize, count: usize) {
    for index in 0..count {
        // SAFETY: `index` is below `count`.
        let value = unsafe { src.wrapping_add(index).read_unaligned() };
        let dst = dst.wrapping_offset(stride * index as isize).cast::<T>();
        // SAFETY: this is element `index` of the destination.
        unsafe { dst.write_unaligned(value) };
    }
}
