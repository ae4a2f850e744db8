//! One body, compiled for each set of vector instructions.

use crate::simd::Level;

/// A loop that is to be compiled for every level.
///
/// Implementations mark `work` as `#[inline(always)]`, and so everything on the way to the
/// arithmetic: only what is inlined into the level's function uses its instructions.
pub trait Work {
    /// Does it.
    fn work(self);
}

/// Runs the loop with the instructions of `level`, which the processor has.
#[inline]
pub fn at_level<W: Work>(level: Level, work: W) {
    debug_assert!(level <= crate::simd::supported(), "level comes from simd");
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level above baseline comes from `simd::current` or `simd::supported`, which
        // return it only if the processor was found to have these features.
        Level::Avx512 => unsafe { avx512(work) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx2 => unsafe { avx2(work) },
        _ => work.work(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<W: Work>(work: W) {
    work.work();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"
)]
fn avx512<W: Work>(work: W) {
    work.work();
}
