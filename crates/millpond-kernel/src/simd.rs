//! Which vector instructions the host loops use.
//!
//! The level is found once, from what the processor offers, and can be lowered so that tests and
//! comparisons run every path. It can't be raised above what the processor has.

use std::fmt;
use std::str::FromStr;
use std::sync::atomic::{AtomicU8, Ordering};

/// A set of vector instructions that loops are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// What every processor of the target has.
    Baseline = 1,
    /// x86-64 with AVX2, FMA, F16C and BMI.
    Avx2 = 2,
    /// x86-64 with AVX-512 F, BW, DQ and VL besides.
    Avx512 = 3,
}

impl Level {
    /// Every level, lowest first.
    pub const ALL: &'static [Self] = &[Self::Baseline, Self::Avx2, Self::Avx512];

    /// The name that the configuration uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Baseline => "baseline",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown vector level '{0}': expected baseline, avx2 or avx512")]
pub struct UnknownLevel(pub String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(name: &str) -> Result<Self, UnknownLevel> {
        let found = Self::ALL.iter().find(|level| level.name() == name);
        found.copied().ok_or_else(|| UnknownLevel(name.to_owned()))
    }
}

/// The level in use; 0 until it is asked for.
static CURRENT: AtomicU8 = AtomicU8::new(0);

/// The highest level that this processor can run.
#[must_use]
pub fn supported() -> Level {
    #[cfg(target_arch = "x86_64")]
    {
        let avx2 = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("fma")
            && is_x86_feature_detected!("f16c")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("lzcnt")
            && is_x86_feature_detected!("popcnt");
        let avx512 = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        match (avx2, avx512) {
            (true, true) => Level::Avx512,
            (true, false) => Level::Avx2,
            _ => Level::Baseline,
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        Level::Baseline
    }
}

/// The level that loops run at; never above [`supported`].
#[inline]
#[must_use]
pub fn current() -> Level {
    match CURRENT.load(Ordering::Relaxed) {
        1 => Level::Baseline,
        2 => Level::Avx2,
        3 => Level::Avx512,
        _ => force(Level::Avx512),
    }
}

/// Lets loops use `level`, or what the processor has if that is less; returns what they use now.
///
/// Work that runs at the moment may use either.
#[cold]
pub fn force(level: Level) -> Level {
    let level = level.min(supported());
    CURRENT.store(level as u8, Ordering::Relaxed);
    level
}

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::*;

    /// Keeps other tests from changing the level.
    pub(crate) fn hold() -> MutexGuard<'static, ()> {
        static LOCK: Mutex<()> = Mutex::new(());
        LOCK.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[test]
    fn levels_are_named_and_never_exceed_the_processor() {
        let _held = hold();
        for &level in Level::ALL {
            assert_eq!(level.name().parse(), Ok(level));
            assert!(force(level) <= supported());
        }
        assert_eq!(force(Level::Avx512), supported());
        assert!("sse9".parse::<Level>().is_err());
    }
}
