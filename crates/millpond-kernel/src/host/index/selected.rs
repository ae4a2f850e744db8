//! Byte offsets of the elements that a mask selects, a tile at a time.

use std::ops::Range;

use millpond_types::Layout;

use super::TILE;
use crate::host::gather::gather;
use crate::host::level::{Work, at_level};
use crate::host::tile::{TILE_BYTES, Tile};
use crate::simd;
use crate::template::space::Space;

const _: () = assert!(TILE <= TILE_BYTES, "a tile holds as many truth values");

/// What was found in a tile of a mask.
pub(super) enum Found<'a> {
    /// All of so many elements, which follow one another along a row of the array.
    Run { first: isize, count: usize },
    /// Elements at these offsets.
    Listed(&'a [isize]),
}

impl Found<'_> {
    pub(super) const fn len(&self) -> usize {
        match self {
            Self::Run { count, .. } => *count,
            Self::Listed(offsets) => offsets.len(),
        }
    }

    /// The first of them, at most so many.
    pub(super) fn cut(self, most: usize) -> Self {
        match self {
            Self::Run { first, count } => Self::Run {
                first,
                count: count.min(most),
            },
            Self::Listed(offsets) => Self::Listed(&offsets[..offsets.len().min(most)]),
        }
    }
}

/// Elements of a mask that are one piece of work: what threads of a device list in memory that they share.
pub(crate) const BLOCK: usize = if cfg!(test) { TILE + 100 } else { 4096 };

/// A mask over elements of an array.
pub(super) struct Selected {
    /// The mask's elements in row-major order: where those of the array lie, and their own place.
    space: Space,
    footprint: Range<usize>,
}

impl Selected {
    /// The elements that a mask of truth values selects of an array of the same shape, whose
    /// elements are `size` bytes.
    pub(super) fn new(mask: &Layout, array: Option<(&Layout, usize)>) -> Self {
        Self {
            space: Space::ordered(mask.shape(), &[array, Some((mask, 1))]),
            footprint: mask.span(),
        }
    }

    /// The mask's elements in row-major order: where those of the array lie, and their own place.
    pub(super) const fn space(&self) -> &Space {
        &self.space
    }

    /// Bytes of the mask that are read.
    pub(super) fn footprint(&self) -> Range<usize> {
        self.footprint.clone()
    }

    /// The number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.space.size().div_ceil(BLOCK)
    }

    /// Whether the array's elements of a size follow one another.
    pub(super) fn is_linear(&self, size: usize) -> bool {
        self.space.is_linear(0, size)
    }

    fn block(&self, number: usize) -> Range<usize> {
        let begin = number * BLOCK;
        begin..self.space.size().min(begin + BLOCK)
    }

    /// How many elements of a block are selected.
    ///
    /// # Safety
    /// The footprint from `mask` on may be read.
    pub(super) unsafe fn count(&self, mask: *const u8, block: usize) -> usize {
        let (range, mut total) = (self.block(block), 0);
        for position in range.clone().step_by(TILE) {
            let count = TILE.min(range.end - position);
            // SAFETY: the caller's promise.
            unsafe {
                self.rows(mask, position, count, |_, bytes| {
                    let mut found = 0;
                    at_level(
                        simd::current(),
                        Count {
                            bytes,
                            found: &mut found,
                        },
                    );
                    total += found;
                });
            }
        }
        total
    }

    /// Calls `with` for what is selected in a block, in order and at most [`TILE`] elements at a
    /// time; with runs only if `runs` allows it.
    ///
    /// # Safety
    /// As for [`Selected::count`].
    pub(super) unsafe fn each(
        &self,
        mask: *const u8,
        block: usize,
        runs: bool,
        mut with: impl FnMut(Found<'_>),
    ) {
        let mut offsets = [0; TILE];
        let (range, stride) = (self.block(block), self.space.inner_stride(0));
        // A tile of several rows is no run, whatever is selected.
        let runs = runs && self.space.axes().len() == 1;
        for position in range.clone().step_by(TILE) {
            let count = TILE.min(range.end - position);
            if runs {
                // SAFETY: the caller's promise.
                unsafe {
                    self.rows(mask, position, count, |first, bytes| {
                        Bits::new(bytes).parts((first, stride), count, &mut offsets, &mut with);
                    });
                }
                continue;
            }
            let mut found = 0;
            // SAFETY: as above.
            unsafe {
                self.rows(mask, position, count, |first, bytes| {
                    found += Bits::new(bytes).list(first, stride, &mut offsets[found..]);
                });
            }
            if found > 0 {
                with(Found::Listed(&offsets[..found]));
            }
        }
    }

    /// Calls `with` for each row of at most [`TILE`] elements with the offset of its first and the
    /// bytes of the mask.
    ///
    /// # Safety
    /// As for [`Selected::count`].
    unsafe fn rows(
        &self,
        mask: *const u8,
        position: usize,
        count: usize,
        mut with: impl FnMut(isize, &[u8]),
    ) {
        let stride = self.space.inner_stride(1);
        let mut tile = Tile::new();
        self.space.rows(position, count, |offsets, length| {
            let mut bytes = mask.wrapping_offset(offsets[1]);
            if stride != 1 {
                let to = tile.as_mut_ptr();
                // SAFETY: a row of the mask, which the caller vouches for, and room for it.
                unsafe { gather(1, bytes, stride, to, length) };
                bytes = to;
            }
            // SAFETY: `length` bytes of the mask, or of the tile that was filled.
            with(offsets[0], unsafe {
                std::slice::from_raw_parts(bytes, length)
            });
        });
    }
}

/// Counts bytes that aren't zero.
struct Count<'a> {
    bytes: &'a [u8],
    found: &'a mut usize,
}

impl Work for Count<'_> {
    type Home = Selected;

    #[inline(always)]
    fn work(self) {
        // Few enough for a byte to count them.
        for bytes in self.bytes.chunks(128) {
            let found: u8 = bytes.iter().map(|&byte| u8::from(byte != 0)).sum();
            *self.found += usize::from(found);
        }
    }
}

/// A bit for each byte of a row that isn't zero.
struct Bits([u64; TILE / 64]);

impl Bits {
    /// The bits of at most [`TILE`] bytes.
    fn new(bytes: &[u8]) -> Self {
        let mut bits = [0; TILE / 64];
        let (words, rest) = bytes.as_chunks::<64>();
        for (bits, word) in bits.iter_mut().zip(words) {
            *bits = bits_of(word);
        }
        for (number, &byte) in rest.iter().enumerate() {
            bits[words.len()] |= u64::from(byte != 0) << number;
        }
        Self(bits)
    }

    /// Lists where bits are set, `stride` apart from `first` on; how many there are.
    fn list(&self, first: isize, stride: isize, offsets: &mut [isize]) -> usize {
        let mut found = 0;
        for (number, &word) in self.0.iter().enumerate() {
            let begin = first + stride * (number * 64) as isize;
            found += list(word, begin, stride, &mut offsets[found..]);
        }
        found
    }

    /// Calls `with` for what is set of `count` bits, `stride` apart from `first` on: for runs of
    /// whole words, and for lists of what stands between them.
    fn parts(
        &self,
        (first, stride): (isize, isize),
        count: usize,
        offsets: &mut [isize],
        mut with: impl FnMut(Found<'_>),
    ) {
        let (mut listed, mut run) = (0, 0..0);
        let place = |bit: usize| first + stride * bit as isize;
        for (number, &word) in self.0[..count.div_ceil(64)].iter().enumerate() {
            let begin = number * 64;
            let end = count.min(begin + 64);
            if word.count_ones() as usize == end - begin {
                if listed > 0 {
                    with(Found::Listed(&offsets[..listed]));
                    listed = 0;
                }
                let first = if run.is_empty() { begin } else { run.start };
                run = first..end;
                continue;
            }
            if !run.is_empty() {
                let (first, count) = (place(run.start), run.len());
                with(Found::Run { first, count });
                run = 0..0;
            }
            listed += list(word, place(begin), stride, &mut offsets[listed..]);
        }
        if listed > 0 {
            with(Found::Listed(&offsets[..listed]));
        }
        if !run.is_empty() {
            let (first, count) = (place(run.start), run.len());
            with(Found::Run { first, count });
        }
    }
}

/// Lists where bits of a word are set, `stride` apart from `begin` on; how many there are.
#[inline]
fn list(word: u64, begin: isize, stride: isize, offsets: &mut [isize]) -> usize {
    let (mut left, count) = (word, word.count_ones() as usize);
    for offset in &mut offsets[..count] {
        *offset = begin + stride * left.trailing_zeros() as isize;
        left &= left - 1;
    }
    count
}

/// A bit for each of 64 bytes that isn't zero.
#[cfg(target_arch = "x86_64")]
fn bits_of(bytes: &[u8; 64]) -> u64 {
    use std::arch::x86_64::{
        _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_setzero_si128,
    };

    let (parts, _) = bytes.as_chunks::<16>();
    let mut zeros = 0;
    for (number, part) in parts.iter().enumerate() {
        // SAFETY: 16 bytes, which need no alignment.
        let part = unsafe { _mm_loadu_si128(part.as_ptr().cast()) };
        // SAFETY: every x86-64 has the instruction.
        let zero = unsafe { _mm_setzero_si128() };
        // SAFETY: as above.
        let equal = unsafe { _mm_cmpeq_epi8(part, zero) };
        // SAFETY: as above.
        let equal = unsafe { _mm_movemask_epi8(equal) };
        zeros |= u64::from(equal.cast_unsigned()) << (16 * number);
    }
    !zeros
}

/// A bit for each of 64 bytes that isn't zero.
#[cfg(not(target_arch = "x86_64"))]
fn bits_of(bytes: &[u8; 64]) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let mut bits = 0;
    for (number, word) in bytes.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        // The top bit of each byte, without a carry from one to the next; then side by side.
        let tops = (((word & LOW) + LOW) | word) & !LOW;
        bits |= ((tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * number);
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_any_value_but_zero_are_listed_wherever_they_stand() {
        let mut state = 1_u64;
        for len in 0..200 {
            for density in [0, 3, 128, 250, 256] {
                let bytes: Vec<u8> = (0..len)
                    .map(|_| {
                        state = state
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1);
                        let value = (state >> 56) as u8;
                        if u64::from(value) < density {
                            value | 1 << (state >> 40 & 7)
                        } else {
                            0
                        }
                    })
                    .collect();
                let wanted: Vec<isize> = (0..len)
                    .filter(|&at| bytes[at as usize] != 0)
                    .map(|at| 5 - 3 * at)
                    .collect();
                let mut offsets = [0; TILE];
                let bits = Bits::new(&bytes);
                let found = bits.list(5, -3, &mut offsets);
                assert_eq!(offsets[..found], wanted);
                let mut parts = Vec::new();
                bits.parts((5, -3), bytes.len(), &mut [0; TILE], |found| match found {
                    Found::Listed(offsets) => parts.extend_from_slice(offsets),
                    Found::Run { first, count } => {
                        let last = first - 3 * (count as isize - 1);
                        assert!(count % 64 == 0 || last == 5 - 3 * (len - 1), "words run");
                        parts.extend((0..count as isize).map(|at| first - 3 * at));
                    }
                });
                assert_eq!(parts, wanted);
                let mut count = 0;
                Count {
                    bytes: &bytes,
                    found: &mut count,
                }
                .work();
                assert_eq!(count, found);
            }
        }
    }
}
