//! One body, compiled for each set of vector instructions.
//!
//! The compiler keeps a generic function's instances beside the function, all in one unit of code,
//! and makes a whole unit anew when anything in it changes. The instances of a trait's own methods
//! lie beside the type that they are called on. So loops are methods of [`Home`], and each of them
//! says which type it wants to lie beside: then a change to one operation makes little code anew.

use crate::simd::Level;

/// A loop that is to be compiled for every level.
///
/// Implementations mark `work` as `#[inline(always)]`, and so everything on the way to the
/// arithmetic: only what is inlined into the level's function uses its instructions.
pub trait Work {
    /// The type that the loop's code lies beside.
    type Home: Home;

    /// Does it.
    fn work(self);
}

/// Keeps the code of loops. Every type does.
pub trait Home {
    /// Runs the loop with the instructions that every processor has.
    #[inline(never)]
    fn baseline<W: Work>(work: W) {
        work.work();
    }

    /// The same for what is seldom needed.
    #[cold]
    #[inline(never)]
    fn seldom<W: Work>(work: W) {
        work.work();
    }

    /// Runs the loop with the instructions of [`Level::Avx2`].
    ///
    /// # Safety
    /// The processor has them.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
    unsafe fn avx2<W: Work>(work: W) {
        work.work();
    }

    /// Runs the loop with the instructions of [`Level::Avx512`].
    ///
    /// # Safety
    /// The processor has them.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt"
    )]
    unsafe fn avx512<W: Work>(work: W) {
        work.work();
    }
}

impl<T> Home for T {}

/// Runs the loop with the instructions of `level`, which the processor has.
#[inline]
pub fn at_level<W: Work>(level: Level, work: W) {
    debug_assert!(level <= crate::simd::supported(), "level comes from simd");
    match level {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a level above baseline comes from `simd::current` or `simd::supported`, which
        // return it only if the processor was found to have these features.
        Level::Avx512 => unsafe { W::Home::avx512(work) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        Level::Avx2 => unsafe { W::Home::avx2(work) },
        _ => W::Home::baseline(work),
    }
}
