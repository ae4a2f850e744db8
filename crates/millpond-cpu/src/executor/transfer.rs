//! Copies and fills, as kernels that threads can share.
//!
//! What is larger than the last-level cache, source and destination together, is written past the
//! caches: it would not stay there, and reading every line before it is overwritten is a third of
//! the traffic of a copy.

use std::fmt;
use std::ops::Range;

use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError, Pattern};

/// Bytes of one piece of work.
const PIECE: usize = 64 << 10;

/// Pieces worth handing to another thread.
const GRAIN: usize = 4;

/// Bytes from which a copy or fill is shared among threads.
pub(crate) const SHARED: usize = 1 << 20;

/// The bytes that a range of pieces covers.
fn bytes_of(pieces: &Range<usize>, total: usize) -> Range<usize> {
    pieces.start * PIECE..(pieces.end * PIECE).min(total)
}

/// A copy of some bytes from operand 0 to operand 1.
pub(crate) struct Copy {
    pub(crate) bytes: usize,
    /// Whether to write past the caches.
    pub(crate) streaming: bool,
}

// SAFETY: `run` reads operand 0 and writes operand 1 within `0..bytes`, the declared footprint, and
// disjoint pieces are disjoint bytes.
unsafe impl HostKernel for Copy {
    fn operands(&self) -> usize {
        2
    }

    fn footprint(&self, operand: usize) -> Footprint {
        Footprint {
            bytes: 0..self.bytes,
            access: if operand == 0 {
                Access::Read
            } else {
                Access::Write
            },
        }
    }

    fn extent(&self) -> usize {
        self.bytes.div_ceil(PIECE)
    }

    fn grain(&self) -> usize {
        GRAIN
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        let bytes = bytes_of(&range, self.bytes);
        let src = bases[0].offset(bytes.start).as_ptr::<u8>();
        let dst = bases[1].offset(bytes.start).as_ptr::<u8>();
        if self.streaming {
            // SAFETY: both ranges lie in the footprints, which the caller vouches for; source and
            // destination of a copy don't overlap.
            unsafe { stream::copy(src, dst, bytes.len()) };
        } else {
            // SAFETY: as above.
            unsafe { dst.copy_from_nonoverlapping(src, bytes.len()) };
        }
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "copy of {} bytes", self.bytes)
    }
}

/// A fill of operand 0 with a pattern.
pub(crate) struct Fill {
    pub(crate) bytes: usize,
    pub(crate) pattern: Pattern,
    /// Whether to write past the caches.
    pub(crate) streaming: bool,
}

impl Fill {
    /// Sixteen bytes of the repeated pattern.
    fn block(&self) -> [u8; 16] {
        let pattern = self.pattern.bytes();
        std::array::from_fn(|index| pattern[index % pattern.len()])
    }
}

// SAFETY: `run` writes operand 0 within `0..bytes`, the declared footprint, and disjoint pieces are
// disjoint bytes.
unsafe impl HostKernel for Fill {
    fn operands(&self) -> usize {
        1
    }

    fn footprint(&self, _operand: usize) -> Footprint {
        Footprint {
            bytes: 0..self.bytes,
            access: Access::Write,
        }
    }

    fn extent(&self) -> usize {
        self.bytes.div_ceil(PIECE)
    }

    fn grain(&self) -> usize {
        GRAIN
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        // Pieces begin at multiples of the block, so each begins with the pattern's first byte.
        let bytes = bytes_of(&range, self.bytes);
        let dst = bases[0].offset(bytes.start).as_ptr::<u8>();
        let block = self.block();
        if self.streaming {
            // SAFETY: the range lies in the footprint, which the caller vouches for.
            unsafe { stream::fill(dst, block, bytes.len()) };
        } else {
            // SAFETY: as above.
            unsafe { fill(dst, block, bytes.len()) };
        }
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fill of {} bytes", self.bytes)
    }
}

/// Repeats `block` over `len` bytes, the last time perhaps in part.
///
/// # Safety
/// `dst` is valid for writes of `len` bytes.
unsafe fn fill(dst: *mut u8, block: [u8; 16], len: usize) {
    if block == [block[0]; 16] {
        // SAFETY: the caller's promise.
        unsafe { dst.write_bytes(block[0], len) };
        return;
    }
    let whole = len / 16;
    for index in 0..whole {
        // SAFETY: `index * 16 + 16 <= len`; an array of bytes needs no alignment.
        unsafe { dst.cast::<[u8; 16]>().wrapping_add(index).write(block) };
    }
    let tail = dst.wrapping_add(whole * 16);
    // SAFETY: less than 16 bytes are left, and they lie within the caller's range.
    unsafe { tail.copy_from_nonoverlapping(block.as_ptr(), len % 16) };
}

#[cfg(target_arch = "x86_64")]
mod stream {
    //! Stores that bypass the caches. They aren't ordered by later releases, so each function ends
    //! with a fence.

    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};

    /// Bytes up to the next address that a vector store may have.
    fn to_aligned(dst: *mut u8, len: usize) -> usize {
        dst.align_offset(align_of::<__m128i>()).min(len)
    }

    /// # Safety
    /// `src` is valid for reads and `dst` for writes of `len` bytes, and they don't overlap.
    pub(super) unsafe fn copy(src: *const u8, dst: *mut u8, len: usize) {
        let head = to_aligned(dst, len);
        // SAFETY: `head <= len`.
        unsafe { dst.copy_from_nonoverlapping(src, head) };
        let lines = (len - head) / 64;
        for line in 0..lines {
            let offset = head + line * 64;
            for part in 0..4 {
                let at = offset + part * 16;
                // SAFETY: `at + 16 <= head + lines * 64 <= len`; the load needs no alignment.
                let value = unsafe { _mm_loadu_si128(src.wrapping_add(at).cast()) };
                // SAFETY: as above, and `dst + head` is aligned while `at - head` is a multiple
                // of 16.
                unsafe { _mm_stream_si128(dst.wrapping_add(at).cast(), value) };
            }
        }
        let done = head + lines * 64;
        let (src, dst) = (src.wrapping_add(done), dst.wrapping_add(done));
        // SAFETY: the rest of both ranges.
        unsafe { dst.copy_from_nonoverlapping(src, len - done) };
        // SAFETY: SSE is part of every x86-64.
        unsafe { _mm_sfence() };
    }

    /// # Safety
    /// `dst` is valid for writes of `len` bytes.
    pub(super) unsafe fn fill(dst: *mut u8, mut block: [u8; 16], len: usize) {
        let head = to_aligned(dst, len);
        // SAFETY: `head <= len`.
        unsafe { super::fill(dst, block, head) };
        block.rotate_left(head);
        // SAFETY: 16 bytes are read from an array of 16; the load needs no alignment.
        let value = unsafe { _mm_loadu_si128(block.as_ptr().cast()) };
        let whole = (len - head) / 16;
        for index in 0..whole {
            // SAFETY: `head + index * 16 + 16 <= len`, and `dst + head` is aligned.
            unsafe { _mm_stream_si128(dst.wrapping_add(head + index * 16).cast(), value) };
        }
        let done = head + whole * 16;
        // SAFETY: `done <= len`, and less than 16 bytes are left.
        unsafe { super::fill(dst.wrapping_add(done), block, len - done) };
        // SAFETY: SSE is part of every x86-64.
        unsafe { _mm_sfence() };
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod stream {
    //! Other processors choose by themselves when to bypass their caches.

    /// # Safety
    /// `src` is valid for reads and `dst` for writes of `len` bytes, and they don't overlap.
    pub(super) unsafe fn copy(src: *const u8, dst: *mut u8, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { dst.copy_from_nonoverlapping(src, len) };
    }

    /// # Safety
    /// `dst` is valid for writes of `len` bytes.
    pub(super) unsafe fn fill(dst: *mut u8, block: [u8; 16], len: usize) {
        // SAFETY: the caller's promise.
        unsafe { super::fill(dst, block, len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOTAL: usize = 3 * PIECE;
    const MARGIN: usize = 200;

    /// Runs a kernel piece by piece, the last first.
    fn run(kernel: &impl HostKernel, bases: &[Address]) {
        for piece in (0..kernel.extent()).rev() {
            // SAFETY: the tests' operands are as long as their kernels say.
            unsafe { kernel.run(bases, piece..piece + 1) }.expect("transfers don't fail");
        }
    }

    #[test]
    fn copies_are_exact_at_every_offset() {
        let src: Vec<u8> = (0..TOTAL).map(|index| (index % 251) as u8).collect();
        for streaming in [false, true] {
            for offset in 0..17 {
                for bytes in [0, 1, 15, 63, 64, 65, 200, PIECE + 33, 2 * PIECE + 1] {
                    let mut dst = vec![255; TOTAL + MARGIN];
                    let bases = [
                        Address::of(&raw const src[3]),
                        Address::of(&raw mut dst[offset]),
                    ];
                    run(&Copy { bytes, streaming }, &bases);
                    assert_eq!(dst[offset..offset + bytes], src[3..3 + bytes]);
                    assert!(dst[..offset].iter().all(|&byte| byte == 255));
                    assert!(dst[offset + bytes..].iter().all(|&byte| byte == 255));
                }
            }
        }
    }

    #[test]
    fn fills_are_exact_at_every_offset() {
        let bytes: Vec<u8> = (1..=16).collect();
        for streaming in [false, true] {
            for pattern in [1, 2, 4, 8, 16].map(|len| &bytes[..len]) {
                for offset in 0..17 {
                    for count in [0, 1, 3, 16, 77, PIECE / pattern.len() + 5] {
                        let bytes = count * pattern.len();
                        let mut dst = vec![255; TOTAL + MARGIN];
                        let kernel = Fill {
                            bytes,
                            pattern: Pattern::new(pattern).expect("a pattern"),
                            streaming,
                        };
                        run(&kernel, &[Address::of(&raw mut dst[offset])]);
                        let (before, rest) = dst.split_at(offset);
                        let (filled, after) = rest.split_at(bytes);
                        assert!(filled.chunks(pattern.len()).all(|chunk| chunk == pattern));
                        assert!(before.iter().chain(after).all(|&byte| byte == 255));
                    }
                }
            }
        }
    }
}
