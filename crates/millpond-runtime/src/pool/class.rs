//! Size classes: four for each power of two from 256 bytes to 64 KiB, eight from there to 4 MiB.
//!
//! A request is rounded up to its class, which wastes at most a fifth of what is granted, and above
//! 64 KiB at most a ninth. Larger requests are rounded up to a multiple of [`LARGE_GRANULE`] and
//! matched by size. Where memory is short none is rounded up to more than a whole granule.

/// Every size is a multiple of this many bytes.
pub(crate) const GRANULE: usize = 256;

/// How many classes there are.
pub(crate) const CLASSES: usize = COARSE + 8 * 6;

/// How many of them there are up to [`COARSEST`].
const COARSE: usize = 4 + 4 * 6;

/// The largest size up to which there are four classes for each power of two.
const COARSEST: usize = 64 << 10;

/// The largest size that has a class.
pub(crate) const LARGEST: usize = 4 << 20;

/// Larger blocks are bulky: few, dear, and worth merging with their neighbours soon.
pub(crate) const BULKY: usize = 1 << 20;

/// The first class of bulky blocks.
pub(crate) const BULKY_CLASS: usize = COARSE + 8 * 4;

/// Sizes above the largest class are multiples of this many bytes.
pub(crate) const LARGE_GRANULE: usize = 64 << 10;

/// Where a request belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// One of the fixed sizes.
    Small(u8),
    /// A size of its own.
    Large,
    /// What was asked for and no more, where memory is short.
    Exact,
    /// Memory of the driver for one request, which isn't pooled.
    Dedicated,
}

/// The class of a request and the bytes it is granted; `None` if it can't be counted.
#[inline]
pub(crate) fn of(bytes: usize) -> Option<(Class, usize)> {
    if let Some((index, size)) = handy(bytes) {
        return Some((Class::Small(index as u8), size));
    }
    if bytes <= LARGEST {
        let (index, size) = within_octave(bytes, 16, 3);
        return Some((Class::Small((COARSE + index) as u8), size));
    }
    let granted = bytes.checked_next_multiple_of(LARGE_GRANULE)?;
    isize::try_from(granted).ok()?;
    Some((Class::Large, granted))
}

/// The number of a request's class and the bytes it is granted, if these are few enough for a block
/// that isn't bulky.
#[inline]
pub(crate) fn handy(bytes: usize) -> Option<(usize, usize)> {
    if bytes <= 4 * GRANULE {
        let index = bytes.saturating_sub(1) / GRANULE;
        return Some((index, (index + 1) * GRANULE));
    }
    if bytes <= COARSEST {
        let (index, size) = within_octave(bytes, 10, 2);
        return Some((4 + index, size));
    }
    if bytes <= BULKY {
        let (index, size) = within_octave(bytes, 16, 3);
        return Some((COARSE + index, size));
    }
    None
}

/// The class of a size above `1 << first`, counted from there with `1 << bits` for each power of
/// two, and its size.
#[inline]
const fn within_octave(bytes: usize, first: u32, bits: u32) -> (usize, usize) {
    let last = bytes - 1;
    let octave = last.ilog2() - first;
    let shift = octave + first - bits;
    let part = (last >> shift) & ((1 << bits) - 1);
    let size = ((1 << bits) + part + 1) << shift;
    (((octave as usize) << bits) + part, size)
}

/// The largest block without a class that a request of a size may be given: an eighth more.
#[inline]
pub(crate) fn most(size: usize) -> usize {
    size + size / 8
}

/// Bytes, rounded up to whole granules.
pub(crate) fn granule_multiple(bytes: usize) -> usize {
    bytes.div_ceil(GRANULE).saturating_mul(GRANULE)
}

/// The least that a request must be granted: a multiple of the granule, and never nothing.
pub(crate) fn exact(bytes: usize) -> usize {
    granule_multiple(bytes.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_tight_and_in_order() {
        let mut previous = (0, 0);
        for bytes in (0..LARGEST).step_by(61).chain([LARGEST]) {
            let Some((Class::Small(index), size)) = of(bytes) else {
                panic!("{bytes}")
            };
            assert!(size >= bytes && size % GRANULE == 0, "{bytes} got {size}");
            let part = if bytes > COARSEST { 9 } else { 5 };
            assert!(
                bytes <= 1024 || (size - bytes) * part <= size,
                "{bytes} got {size}"
            );
            assert!(usize::from(index) < CLASSES);
            assert!((index == previous.0) == (size == previous.1) || bytes == 0);
            assert!(index >= previous.0);
            previous = (index, size);
        }
        assert_eq!(usize::from(previous.0), CLASSES - 1);
        assert_eq!(previous.1, LARGEST);
        let class = |bytes| of(bytes).map(|(class, _)| class);
        assert_eq!(class(BULKY), Some(Class::Small(BULKY_CLASS as u8 - 1)));
        assert_eq!(handy(BULKY), Some((BULKY_CLASS - 1, BULKY)));
        assert_eq!(handy(BULKY + 1), None);
        assert_eq!(class(BULKY + 1), Some(Class::Small(BULKY_CLASS as u8)));
    }

    #[test]
    fn class_boundaries_are_exact() {
        for index in 0..CLASSES {
            let size = if index < 4 {
                (index + 1) * GRANULE
            } else if index < COARSE {
                let (octave, quarter) = ((index - 4) / 4, (index - 4) % 4);
                (256 << octave) * (quarter + 5)
            } else {
                let (octave, eighth) = ((index - COARSE) / 8, (index - COARSE) % 8);
                (8192 << octave) * (eighth + 9)
            };
            assert_eq!(of(size), Some((Class::Small(index as u8), size)));
            assert_ne!(
                of(size + 1).map(|found| found.0),
                Some(Class::Small(index as u8))
            );
        }
    }

    #[test]
    fn sizes_beyond_the_address_space_are_refused() {
        assert_eq!(
            of(LARGEST + 1),
            Some((Class::Large, LARGEST + LARGE_GRANULE))
        );
        assert_eq!(of(usize::MAX), None);
        assert_eq!(of(isize::MAX as usize + 1), None);
    }
}
