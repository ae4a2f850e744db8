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

/// Elements of a mask that are one piece of work.
pub(super) const BLOCK: usize = if cfg!(test) { TILE + 100 } else { 16384 };

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

    /// Calls `with` with the offsets of what is selected in a block, [`TILE`] at most at a time, in
    /// order.
    ///
    /// # Safety
    /// As for [`Selected::count`].
    pub(super) unsafe fn each(
        &self,
        mask: *const u8,
        block: usize,
        mut with: impl FnMut(&[isize]),
    ) {
        let mut offsets = [0; TILE];
        let (range, stride) = (self.block(block), self.space.inner_stride(0));
        for position in range.clone().step_by(TILE) {
            let count = TILE.min(range.end - position);
            let mut found = 0;
            // SAFETY: the caller's promise.
            unsafe {
                self.rows(mask, position, count, |first, bytes| {
                    found += list(bytes, first, stride, &mut offsets[found..]);
                });
            }
            if found > 0 {
                with(&offsets[..found]);
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

/// Lists where bytes aren't zero, `stride` apart from `first` on; how many there are.
fn list(bytes: &[u8], first: isize, stride: isize, offsets: &mut [isize]) -> usize {
    let mut found = 0;
    for (number, bytes) in bytes.chunks(64).enumerate() {
        let begin = first + stride * (number * 64) as isize;
        let mut left = bits(bytes);
        if left == u64::MAX {
            for (index, offset) in offsets[found..][..64].iter_mut().enumerate() {
                *offset = begin + stride * index as isize;
            }
            found += 64;
            continue;
        }
        let count = left.count_ones() as usize;
        for offset in &mut offsets[found..][..count] {
            *offset = begin + stride * left.trailing_zeros() as isize;
            left &= left - 1;
        }
        found += count;
    }
    found
}

/// A bit for each of at most 64 bytes that isn't zero.
fn bits(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut result = 0;
    for (number, word) in words.iter().enumerate() {
        result |= bits_of_word(u64::from_le_bytes(*word)) << (8 * number);
    }
    for (number, &byte) in rest.iter().enumerate() {
        result |= u64::from(byte != 0) << (8 * words.len() + number);
    }
    result
}

/// A bit for each byte of a word that isn't zero.
const fn bits_of_word(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // The top bit of each byte, without a carry from one to the next; then these bits side by side.
    let tops = (((word & LOW) + LOW) | word) & !LOW;
    (tops >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
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
                let found = list(&bytes, 5, -3, &mut offsets);
                assert_eq!(offsets[..found], wanted);
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
