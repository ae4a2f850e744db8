//! Memory beyond the caches: stores past them, and loads ahead of their use.
//!
//! An ordinary store reads the line that it is going to overwrite. Where an output is larger than
//! what the caches keep until it is read again, that is a part of the traffic for nothing.

/// Bytes of an output from which it is written past the caches. Tests get there with less.
pub(super) const PAST_CACHES: usize = if cfg!(test) { 16 << 10 } else { 32 << 20 };

/// Bytes of a line of the caches.
const LINE: usize = 64;

/// Copies bytes past the caches; [`fence`] comes after the last.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes, and they don't overlap.
#[cfg(target_arch = "x86_64")]
pub(super) unsafe fn store(src: *const u8, dst: *mut u8, len: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};

    const VECTOR: usize = size_of::<__m128i>();
    let head = dst.align_offset(LINE).min(len);
    // SAFETY: `head <= len`.
    unsafe { std::ptr::copy_nonoverlapping(src, dst, head) };
    let lines = (len - head) / LINE;
    for line in 0..lines {
        for part in 0..LINE / VECTOR {
            let at = head + line * LINE + part * VECTOR;
            // SAFETY: `at + VECTOR <= head + lines * LINE <= len`; it needs no alignment.
            let value = unsafe { _mm_loadu_si128(src.wrapping_add(at).cast()) };
            // SAFETY: as above; `dst + head` is aligned, `at - head` a multiple of the vector.
            unsafe { _mm_stream_si128(dst.wrapping_add(at).cast(), value) };
        }
    }
    let done = head + lines * LINE;
    let (src, dst) = (src.wrapping_add(done), dst.wrapping_add(done));
    // SAFETY: the rest of both.
    unsafe { std::ptr::copy_nonoverlapping(src, dst, len - done) };
}

/// Copies bytes; this processor decides by itself what passes its caches.
///
/// # Safety
/// `src` is valid for reads and `dst` for writes of `len` bytes, and they don't overlap.
#[cfg(not(target_arch = "x86_64"))]
pub(super) unsafe fn store(src: *const u8, dst: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(src, dst, len) };
}

/// Orders stores past the caches before whatever this thread does later.
pub(super) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    };
}

/// Asks for the lines that `len` bytes lie in; the address needn't be valid.
#[inline]
pub(super) fn prefetch(address: *const u8, len: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};

        let begin = address.addr() % LINE;
        for line in (0..begin + len).step_by(LINE) {
            let address = address.wrapping_sub(begin).wrapping_add(line);
            // SAFETY: every x86-64 has the instruction, which has no effect but on caches.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (address, len);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_are_exact_at_every_offset() {
        let src: Vec<u8> = (0..1000).map(|index| (index % 251) as u8).collect();
        for offset in 0..=LINE {
            for len in [0, 1, 15, 16, 63, 64, 65, 127, 128, 200, 900] {
                let mut dst = vec![255; 1000];
                let (from, to) = (src[3..].as_ptr(), dst[offset..].as_mut_ptr());
                prefetch(from, len);
                // SAFETY: both slices are longer than `len`.
                unsafe { store(from, to, len) };
                fence();
                assert_eq!(dst[offset..offset + len], src[3..3 + len]);
                assert!(dst[..offset].iter().all(|&byte| byte == 255));
                assert!(dst[offset + len..].iter().all(|&byte| byte == 255));
            }
        }
    }
}
