//! A bitonic network that sorts few keys within registers.

use std::arch::x86_64::__m512i;

use super::lanes::Lanes;

/// Vectors that it sorts at most.
pub(super) const NETWORK: usize = 16;

/// Sorts as many keys as the network takes.
///
/// # Safety
/// The processor has the instructions of vectors.
#[inline(always)]
pub(super) unsafe fn sort_few<K: Lanes>(keys: &mut [K]) {
    match keys.len().div_ceil(K::COUNT) {
        0 => {}
        // SAFETY: as the caller vouches; so below.
        1 => unsafe { network::<K, 1>(keys) },
        // SAFETY: as above.
        2 => unsafe { network::<K, 2>(keys) },
        // SAFETY: as above.
        3..=4 => unsafe { network::<K, 4>(keys) },
        // SAFETY: as above.
        5..=8 => unsafe { network::<K, 8>(keys) },
        // SAFETY: as above.
        _ => unsafe { network::<K, NETWORK>(keys) },
    }
}

/// Sorts the keys of `N` vectors, the last of which may be part or missing.
///
/// # Safety
/// The processor has the instructions of vectors.
#[inline(always)]
unsafe fn network<K: Lanes, const N: usize>(keys: &mut [K]) {
    let (count, base) = (keys.len(), keys.as_mut_ptr());
    let left = |vector: usize| count.saturating_sub(vector * K::COUNT).min(K::COUNT);
    // SAFETY: as the caller vouches.
    let last = unsafe { K::LAST.splat() };
    let mut vectors = [last; N];
    for (number, vector) in vectors.iter_mut().enumerate() {
        let from = base.wrapping_add(number * K::COUNT);
        // SAFETY: no more than are left.
        let lanes = unsafe { K::load_part(from, left(number), last) };
        // SAFETY: as the caller vouches.
        *vector = unsafe { K::sort(lanes) };
    }
    // SAFETY: as the caller vouches; so below.
    unsafe { merge::<K, N, 1>(&mut vectors) };
    // SAFETY: as above.
    unsafe { merge::<K, N, 2>(&mut vectors) };
    // SAFETY: as above.
    unsafe { merge::<K, N, 4>(&mut vectors) };
    // SAFETY: as above.
    unsafe { merge::<K, N, 8>(&mut vectors) };
    for (number, vector) in vectors.iter().enumerate() {
        let to = base.wrapping_add(number * K::COUNT);
        // SAFETY: no more than are left.
        unsafe { K::store_part(to, left(number), *vector) };
    }
}

/// Merges each two neighbouring sorted runs of `RUN` vectors.
///
/// # Safety
/// The processor has the instructions of vectors.
#[inline(always)]
unsafe fn merge<K: Lanes, const N: usize, const RUN: usize>(vectors: &mut [__m512i; N]) {
    if RUN >= N {
        return;
    }
    for run in vectors.chunks_exact_mut(2 * RUN) {
        let (lower, upper) = run.split_at_mut(RUN);
        let mut larger = [lower[0]; RUN];
        for number in 0..RUN {
            // The second run backwards makes one bitonic sequence of both.
            // SAFETY: as the caller vouches.
            let other = unsafe { K::reverse(upper[RUN - 1 - number]) };
            // SAFETY: as the caller vouches.
            (lower[number], larger[number]) = unsafe { K::order(lower[number], other) };
        }
        upper.copy_from_slice(&larger);
        for half in [lower, upper] {
            let mut step = RUN / 2;
            while step > 0 {
                for number in (0..RUN).filter(|number| number & step == 0) {
                    let (a, b) = (half[number], half[number + step]);
                    // SAFETY: as the caller vouches.
                    (half[number], half[number + step]) = unsafe { K::order(a, b) };
                }
                step /= 2;
            }
            for lanes in half {
                // SAFETY: as the caller vouches.
                *lanes = unsafe { K::clean(*lanes) };
            }
        }
    }
}
