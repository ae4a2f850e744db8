//! Quicksort of unsigned keys by vectors of AVX-512, for what fits a cache.
//!
//! Vectors are parted by comparison with the pivot, in place. Few keys are sorted within registers
//! by a bitonic network. Equal keys are the same bits, so nothing tells if it is stable.

mod lanes;
mod network;

use std::arch::x86_64::{__m512i, _mm512_loadu_si512, _mm512_storeu_si512};

use super::spread::{PARTS, PIVOTS};
use crate::host::level::{Home, Work};
use lanes::{Lanes, first};
use network::{NETWORK, sort_few};

/// Sorts keys.
///
/// # Safety
/// The processor has the instructions of [`Level::Avx512`](crate::simd::Level::Avx512).
pub(super) unsafe fn sort<K: Lanes>(keys: &mut [K]) {
    // SAFETY: the caller vouches for the processor.
    unsafe { <K as Home>::avx512(Quicksort(keys)) };
}

struct Quicksort<'a, K>(&'a mut [K]);

impl<K: Lanes> Work for Quicksort<'_, K> {
    type Home = K;

    #[inline(always)]
    fn work(self) {
        let depth = 2 * self.0.len().max(1).ilog2();
        // SAFETY: this is compiled into a function of that level only.
        unsafe { quicksort(self.0, depth) };
    }
}

/// Moves keys to the parts between pivots, in any order within a part, and says where each begins.
///
/// # Safety
/// As for [`sort`].
pub(super) unsafe fn group<K: Lanes>(keys: &mut [K], pivots: &[K; PIVOTS]) -> [usize; PARTS] {
    let mut starts = [0; PARTS];
    let group = Group {
        keys,
        pivots,
        starts: &mut starts,
    };
    // SAFETY: the caller vouches for the processor.
    unsafe { <K as Home>::avx512(group) };
    starts
}

struct Group<'a, K> {
    keys: &'a mut [K],
    pivots: &'a [K],
    starts: &'a mut [usize],
}

impl<K: Lanes> Work for Group<'_, K> {
    type Home = K;

    #[inline(always)]
    fn work(self) {
        // SAFETY: this is compiled into a function of that level only.
        unsafe { split(self.keys, 0, self.pivots, self.starts) };
    }
}

/// Splits keys at the middle pivot, and either side at the others. The first key is number `begin`.
///
/// # Safety
/// The processor has these instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn split<K: Lanes>(keys: &mut [K], begin: usize, pivots: &[K], starts: &mut [usize]) {
    if pivots.is_empty() {
        starts.fill(begin);
        return;
    }
    let middle = pivots.len() / 2;
    let below = if keys.len() > NETWORK * K::COUNT {
        // SAFETY: as the caller vouches.
        unsafe { part::<K, false>(keys, pivots[middle]) }
    } else {
        // SAFETY: as the caller vouches.
        unsafe { sort_few(keys) };
        keys.partition_point(|key| *key < pivots[middle])
    };
    let (lower, upper) = keys.split_at_mut(below);
    let (before, behind) = starts.split_at_mut(middle + 1);
    // SAFETY: as the caller vouches.
    unsafe { split(lower, begin, &pivots[..middle], before) };
    // SAFETY: as the caller vouches.
    unsafe { split(upper, begin + below, &pivots[middle + 1..], behind) };
}

/// # Safety
/// The processor has these instructions.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn quicksort<K: Lanes>(mut keys: &mut [K], mut depth: u32) {
    while keys.len() > NETWORK * K::COUNT {
        if depth == 0 {
            // Pivots were bad all along.
            return keys.sort_unstable();
        }
        depth -= 1;
        // SAFETY: as the caller vouches.
        let pivot = unsafe { pivot(keys) };
        // SAFETY: as the caller vouches.
        let mut below = unsafe { part::<K, false>(keys, pivot) };
        if below == 0 {
            // The pivot is the smallest key: all that equal it are in their place.
            // SAFETY: as the caller vouches.
            below = unsafe { part::<K, true>(keys, pivot) };
            keys = &mut keys[below..];
            continue;
        }
        let (lower, upper) = keys.split_at_mut(below);
        // The shorter side by recursion, so that the stack stays low.
        let (shorter, longer) = if lower.len() < upper.len() {
            (lower, upper)
        } else {
            (upper, lower)
        };
        // SAFETY: as the caller vouches.
        unsafe { quicksort(shorter, depth) };
        keys = longer;
    }
    // SAFETY: as the caller vouches.
    unsafe { sort_few(keys) };
}

/// The middle of as many keys as a vector has lanes.
///
/// # Safety
/// As for [`quicksort`]; there are more keys than lanes.
#[inline(always)]
unsafe fn pivot<K: Lanes>(keys: &[K]) -> K {
    let step = keys.len() / K::COUNT;
    let mut sample = [K::LAST; 16];
    for (lane, slot) in sample[..K::COUNT].iter_mut().enumerate() {
        *slot = keys[lane * step + step / 2];
    }
    // SAFETY: the array has that many elements.
    let lanes = unsafe { _mm512_loadu_si512(sample.as_ptr().cast()) };
    // SAFETY: as the caller vouches.
    let sorted = unsafe { K::sort(lanes) };
    // SAFETY: the array has that many elements.
    unsafe { _mm512_storeu_si512(sample.as_mut_ptr().cast(), sorted) };
    sample[K::COUNT / 2]
}

/// Vectors that are read before any of them is written.
const BLOCK: usize = 4;

const _: () = assert!(
    NETWORK >= 3 * BLOCK,
    "there are blocks on either side and less than one more"
);

/// Moves keys below the pivot to the front, or those up to it if `INCLUSIVE`; returns how many.
///
/// The outermost blocks are put aside first. From then on the places that are free on either side
/// hold a block at least once another was read from the side that had fewer, and keys go to the
/// end of their side that they belong to.
///
/// # Safety
/// As for [`quicksort`]; there are more keys than the network takes.
#[inline(always)]
unsafe fn part<K: Lanes, const INCLUSIVE: bool>(keys: &mut [K], pivot: K) -> usize {
    let (block, count) = (BLOCK * K::COUNT, keys.len());
    let rest = count % block;
    let mut aside = [K::LAST; 3 * BLOCK * 16];
    let (front, back) = aside[..2 * block + rest].split_at_mut(block);
    front.copy_from_slice(&keys[..block]);
    back.copy_from_slice(&keys[count - block - rest..]);
    let base = keys.as_mut_ptr();
    // SAFETY: as the caller vouches.
    let pivot = unsafe { pivot.splat() };
    // Keys between the first two are to be read, places up to the third and from the last on are
    // filled.
    let (mut begin, mut end, mut lower, mut upper) = (block, count - block - rest, 0, count);
    while begin < end {
        // Read on either way, rather than from an address that depends on the side: a branch lets
        // the processor go on with the side that it guesses, where an address would have it wait
        // for what the last keys were.
        let block = if upper - end < begin - lower {
            end -= block;
            // SAFETY: a block of keys is left.
            unsafe { load_block(base.wrapping_add(end)) }
        } else {
            begin += block;
            // SAFETY: as above.
            unsafe { load_block(base.wrapping_add(begin - block)) }
        };
        for lanes in block {
            // SAFETY: as the caller vouches.
            let bits = unsafe { choose::<K, INCLUSIVE>(lanes, pivot) };
            let chosen = bits.count_ones() as usize;
            let (front, back) = (base.wrapping_add(lower), base.wrapping_add(upper));
            // SAFETY: a whole vector of places is free on either side.
            unsafe { K::part(lanes, bits, front, back) };
            lower += chosen;
            upper -= K::COUNT - chosen;
        }
    }
    for keys in aside[..2 * block + rest].chunks(K::COUNT) {
        // SAFETY: as many keys are there.
        let lanes = unsafe { K::load_part(keys.as_ptr(), keys.len(), pivot) };
        // SAFETY: as the caller vouches.
        let bits = unsafe { choose::<K, INCLUSIVE>(lanes, pivot) } & first(keys.len());
        let chosen = bits.count_ones() as usize;
        // SAFETY: as the caller vouches.
        let before = unsafe { K::compress(lanes, bits) };
        // SAFETY: as many places are free as keys are left.
        unsafe { K::store_part(base.wrapping_add(lower), chosen, before) };
        // SAFETY: as the caller vouches.
        let behind = unsafe { K::compress(lanes, !bits & first(keys.len())) };
        lower += chosen;
        upper -= keys.len() - chosen;
        // SAFETY: as above.
        unsafe { K::store_part(base.wrapping_add(upper), keys.len() - chosen, behind) };
    }
    lower
}

/// # Safety
/// A block of keys lies there.
#[inline(always)]
unsafe fn load_block<K: Lanes>(from: *const K) -> [__m512i; BLOCK] {
    std::array::from_fn(|number| {
        let from = from.wrapping_add(number * K::COUNT);
        // SAFETY: as the caller vouches.
        unsafe { _mm512_loadu_si512(from.cast()) }
    })
}

#[inline(always)]
unsafe fn choose<K: Lanes, const INCLUSIVE: bool>(lanes: __m512i, pivot: __m512i) -> u32 {
    if INCLUSIVE {
        // SAFETY: as the trait says.
        unsafe { K::up_to(lanes, pivot) }
    } else {
        // SAFETY: as the trait says.
        unsafe { K::below(lanes, pivot) }
    }
}
