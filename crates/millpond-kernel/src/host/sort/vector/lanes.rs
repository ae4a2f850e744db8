//! Keys as the lanes of vectors of AVX-512.

use std::arch::x86_64::{
    __m512i, _mm_loadl_epi64, _mm512_cmple_epu32_mask, _mm512_cmple_epu64_mask,
    _mm512_cmplt_epu32_mask, _mm512_cmplt_epu64_mask, _mm512_cvtepu8_epi64, _mm512_loadu_si512,
    _mm512_mask_loadu_epi32, _mm512_mask_loadu_epi64, _mm512_mask_storeu_epi32,
    _mm512_mask_storeu_epi64, _mm512_mask_ternarylogic_epi32, _mm512_mask_ternarylogic_epi64,
    _mm512_maskz_compress_epi32, _mm512_maskz_compress_epi64, _mm512_min_epu32, _mm512_min_epu64,
    _mm512_permutexvar_epi32, _mm512_permutexvar_epi64, _mm512_set1_epi32, _mm512_set1_epi64,
    _mm512_storeu_si512, _mm512_ternarylogic_epi32, _mm512_ternarylogic_epi64,
};

/// Keys as the lanes of a vector.
///
/// # Safety of all of it
/// The processor has the instructions of [`Level::Avx512`](crate::simd::Level::Avx512); addresses
/// are valid for the elements that are read or written.
#[allow(
    private_bounds,
    reason = "how lanes are exchanged is nobody else's affair"
)]
pub(in crate::host::sort) trait Lanes:
    Copy + Ord + Send + Sync + 'static
{
    /// Lanes of a vector.
    const COUNT: usize;
    /// The largest key.
    const LAST: Self;

    unsafe fn splat(self) -> __m512i;
    /// The first `count` lanes from memory, the others from `rest`.
    unsafe fn load_part(from: *const Self, count: usize, rest: __m512i) -> __m512i;
    unsafe fn store_part(to: *mut Self, count: usize, lanes: __m512i);
    /// A bit for each lane below the pivot.
    unsafe fn below(lanes: __m512i, pivot: __m512i) -> u32;
    /// A bit for each lane that isn't above the pivot.
    unsafe fn up_to(lanes: __m512i, pivot: __m512i) -> u32;
    /// The lanes whose bits are set, in front.
    unsafe fn compress(lanes: __m512i, bits: u32) -> __m512i;
    /// Writes the lanes whose bits are set from `front` on and the others up to `end`, where whole
    /// vectors of places are free, and spoils what else is free there.
    unsafe fn part(lanes: __m512i, bits: u32, front: *mut Self, end: *mut Self);
    /// The smaller and the larger of each two lanes.
    unsafe fn order(a: __m512i, b: __m512i) -> (__m512i, __m512i);
    /// The lanes backwards.
    unsafe fn reverse(lanes: __m512i) -> __m512i;
    /// Sorts lanes that are bitonic together.
    unsafe fn clean(lanes: __m512i) -> __m512i;
    /// Sorts any lanes.
    unsafe fn sort(lanes: __m512i) -> __m512i;
}

/// Compares lanes of a vector with one another.
trait Exchange {
    /// Lane `i` of the result is lane `i ^ FLIP`.
    unsafe fn swap<const FLIP: usize>(lanes: __m512i) -> __m512i;
    /// Compares each lane `i` with lane `i ^ FLIP`; those with `BIT` set keep the larger.
    unsafe fn exchange<const FLIP: usize, const BIT: usize>(lanes: __m512i) -> __m512i;
}

macro_rules! lanes {
    ($($key:ident, $mask:ident, $count:literal: $splat:ident $load:ident $store:ident
       $below:ident $up_to:ident $compress:ident $min:ident $ternary:ident $mask_ternary:ident
       $permute:ident $part:ident,
       sort $($flip:literal $bit:literal),+, clean $($step:literal)+;)*) => { $(
        impl Lanes for $key {
            const COUNT: usize = $count;
            const LAST: Self = $key::MAX;

            #[inline(always)]
            unsafe fn splat(self) -> __m512i {
                // SAFETY: as the trait says; so everywhere below.
                unsafe { $splat(self.cast_signed()) }
            }

            #[inline(always)]
            unsafe fn load_part(from: *const Self, count: usize, rest: __m512i) -> __m512i {
                // SAFETY: as the trait says.
                unsafe { $load(rest, first(count) as $mask, from.cast()) }
            }

            #[inline(always)]
            unsafe fn store_part(to: *mut Self, count: usize, lanes: __m512i) {
                // SAFETY: as the trait says.
                unsafe { $store(to.cast(), first(count) as $mask, lanes) };
            }

            #[inline(always)]
            unsafe fn below(lanes: __m512i, pivot: __m512i) -> u32 {
                // SAFETY: as the trait says.
                u32::from(unsafe { $below(lanes, pivot) })
            }

            #[inline(always)]
            unsafe fn up_to(lanes: __m512i, pivot: __m512i) -> u32 {
                // SAFETY: as the trait says.
                u32::from(unsafe { $up_to(lanes, pivot) })
            }

            #[inline(always)]
            unsafe fn compress(lanes: __m512i, bits: u32) -> __m512i {
                // SAFETY: as the trait says.
                unsafe { $compress(bits as $mask, lanes) }
            }

            #[inline(always)]
            unsafe fn part(lanes: __m512i, bits: u32, front: *mut Self, end: *mut Self) {
                // SAFETY: as the trait says.
                unsafe { $part(lanes, bits, front, end) };
            }

            #[inline(always)]
            unsafe fn order(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
                // SAFETY: as the trait says.
                let smaller = unsafe { $min(a, b) };
                // What both have together, without the smaller: a maximum keeps the same port busy.
                // SAFETY: as the trait says.
                let larger = unsafe { $ternary::<XOR>(smaller, a, b) };
                (smaller, larger)
            }

            #[inline(always)]
            unsafe fn reverse(lanes: __m512i) -> __m512i {
                // SAFETY: as the trait says.
                unsafe { <$key as Exchange>::swap::<{ $count - 1 }>(lanes) }
            }

            #[inline(always)]
            unsafe fn clean(lanes: __m512i) -> __m512i {
                // SAFETY: as the trait says.
                $( let lanes = unsafe { <$key as Exchange>::exchange::<$step, $step>(lanes) }; )+
                lanes
            }

            #[inline(always)]
            unsafe fn sort(lanes: __m512i) -> __m512i {
                // SAFETY: as the trait says.
                $( let lanes = unsafe { <$key as Exchange>::exchange::<$flip, $bit>(lanes) }; )+
                lanes
            }
        }

        impl Exchange for $key {
            #[inline(always)]
            unsafe fn swap<const FLIP: usize>(lanes: __m512i) -> __m512i {
                let places: [$key; $count] =
                    const { flipped::<$count>(FLIP) }.map(|place| $key::from(place));
                // SAFETY: as many bytes as a vector has.
                let places = unsafe { _mm512_loadu_si512(places.as_ptr().cast()) };
                // SAFETY: as the trait says.
                unsafe { $permute(places, lanes) }
            }

            #[inline(always)]
            unsafe fn exchange<const FLIP: usize, const BIT: usize>(lanes: __m512i) -> __m512i {
                let upper = const { with_bit::<$count>(BIT) } as $mask;
                // SAFETY: as the trait says.
                let other = unsafe { <$key as Exchange>::swap::<FLIP>(lanes) };
                // SAFETY: as the trait says.
                let smaller = unsafe { $min(lanes, other) };
                // SAFETY: as the trait says.
                unsafe { $mask_ternary::<XOR>(smaller, upper, lanes, other) }
            }
        }
    )* };
}

lanes! {
    u32, u16, 16:
        _mm512_set1_epi32 _mm512_mask_loadu_epi32 _mm512_mask_storeu_epi32
        _mm512_cmplt_epu32_mask _mm512_cmple_epu32_mask _mm512_maskz_compress_epi32
        _mm512_min_epu32 _mm512_ternarylogic_epi32 _mm512_mask_ternarylogic_epi32
        _mm512_permutexvar_epi32 part_16,
        sort 1 1, 3 2, 1 1, 7 4, 2 2, 1 1, 15 8, 4 4, 2 2, 1 1, clean 8 4 2 1;
    u64, u8, 8:
        _mm512_set1_epi64 _mm512_mask_loadu_epi64 _mm512_mask_storeu_epi64
        _mm512_cmplt_epu64_mask _mm512_cmple_epu64_mask _mm512_maskz_compress_epi64
        _mm512_min_epu64 _mm512_ternarylogic_epi64 _mm512_mask_ternarylogic_epi64
        _mm512_permutexvar_epi64 part_8,
        sort 1 1, 3 2, 1 1, 7 4, 2 2, 1 1, clean 4 2 1;
}

/// The table of the exclusive or of three.
const XOR: i32 = 0x96;

/// [`Lanes::part`] by two compressions, the second of which writes no more than its own.
#[inline(always)]
unsafe fn part_16(lanes: __m512i, bits: u32, front: *mut u32, end: *mut u32) {
    // SAFETY: as the trait says.
    let chosen = unsafe { <u32 as Lanes>::compress(lanes, bits) };
    // SAFETY: as the trait says.
    unsafe { _mm512_storeu_si512(front.cast(), chosen) };
    // SAFETY: as the trait says.
    let others = unsafe { <u32 as Lanes>::compress(lanes, !bits) };
    let count = 16 - bits.count_ones() as usize;
    // SAFETY: as the trait says.
    unsafe { <u32 as Lanes>::store_part(end.wrapping_sub(count), count, others) };
}

/// [`Lanes::part`] by one permutation, which has the chosen lanes in front and the others behind.
#[inline(always)]
unsafe fn part_8(lanes: __m512i, bits: u32, front: *mut u64, end: *mut u64) {
    let places = &PARTED[(bits & 0xff) as usize];
    // SAFETY: eight bytes.
    let places = unsafe { _mm_loadl_epi64(std::ptr::from_ref(places).cast()) };
    // SAFETY: as the trait says.
    let places = unsafe { _mm512_cvtepu8_epi64(places) };
    // SAFETY: as the trait says.
    let parted = unsafe { _mm512_permutexvar_epi64(places, lanes) };
    // SAFETY: as the trait says.
    unsafe { _mm512_storeu_si512(front.cast(), parted) };
    // SAFETY: as the trait says.
    unsafe { _mm512_storeu_si512(end.wrapping_sub(8).cast(), parted) };
}

/// For each choice of eight lanes, those that are chosen and then the others.
static PARTED: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut bits = 0;
    while bits < 256 {
        let (mut front, mut lane) = (0, 0);
        let mut back = (bits as u8).count_ones() as usize;
        while lane < 8 {
            let place = if bits >> lane & 1 == 1 {
                &mut front
            } else {
                &mut back
            };
            table[bits][*place] = lane;
            *place += 1;
            lane += 1;
        }
        bits += 1;
    }
    table
};

/// Each place with some of its bits turned.
const fn flipped<const N: usize>(flip: usize) -> [u8; N] {
    let mut places = [0; N];
    let mut lane = 0;
    while lane < N {
        places[lane] = (lane ^ flip) as u8;
        lane += 1;
    }
    places
}

/// A bit for each place that has `bit` set.
const fn with_bit<const N: usize>(bit: usize) -> u32 {
    let (mut bits, mut lane) = (0, 0);
    while lane < N {
        if lane & bit != 0 {
            bits |= 1 << lane;
        }
        lane += 1;
    }
    bits
}

/// The lowest `count` bits, at most 16.
#[inline(always)]
pub(super) const fn first(count: usize) -> u32 {
    (1 << count) - 1
}
