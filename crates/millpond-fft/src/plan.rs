//! Plans of transforms, kept for the next time: making one costs as much as some transforms.
//!
//! The last few are kept, the least recently used ones go first, and long ones go before there are
//! many of them: a service that transforms ever new lengths doesn't grow.

use std::sync::{Arc, Mutex, PoisonError};

use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};

/// The most plans that are kept, of each sort and precision.
const PLANS: usize = 32;

/// The most points that kept plans have together; the newest is kept whatever it has.
const POINTS: usize = 1 << 21;

/// Plans by length and direction, the most recently used last.
pub(crate) struct Kept<P: ?Sized>(Mutex<Vec<(Key, Arc<P>)>>);

type Key = (usize, FftDirection);

impl<P: ?Sized> Kept<P> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The plan of a key, which is made if it isn't kept. Several threads may make it at once: none
    /// waits for another's.
    fn plan(&self, key: Key, make: impl FnOnce() -> Arc<P>) -> Arc<P> {
        if let Some(plan) = self.kept(key) {
            return plan;
        }
        let plan = make();
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(other, _)| *other != key);
        kept.push((key, Arc::clone(&plan)));
        let points =
            |kept: &[(Key, _)]| -> usize { kept.iter().map(|((length, _), _)| length).sum() };
        while kept.len() > PLANS || (kept.len() > 1 && points(&kept) > POINTS) {
            kept.remove(0);
        }
        plan
    }

    fn kept(&self, key: Key) -> Option<Arc<P>> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(other, _)| *other == key)?;
        let found = kept.remove(at);
        let plan = Arc::clone(&found.1);
        kept.push(found);
        Some(plan)
    }
}

/// A real number whose transforms are planned.
pub(crate) trait Precision: FftNum + Default {
    /// Where plans of complex transforms are kept.
    fn complex() -> &'static Kept<dyn Fft<Self>>;
    /// Where plans of real transforms are kept.
    fn forward() -> &'static Kept<dyn RealToComplex<Self>>;
    /// Where plans of their inverses are kept.
    fn inverse() -> &'static Kept<dyn ComplexToReal<Self>>;
    /// The nearest number.
    fn of(number: f64) -> Self;
}

macro_rules! precisions {
    ($($t:ty),*) => { $(
        impl Precision for $t {
            fn complex() -> &'static Kept<dyn Fft<Self>> {
                static KEPT: Kept<dyn Fft<$t>> = Kept::new();
                &KEPT
            }

            fn forward() -> &'static Kept<dyn RealToComplex<Self>> {
                static KEPT: Kept<dyn RealToComplex<$t>> = Kept::new();
                &KEPT
            }

            fn inverse() -> &'static Kept<dyn ComplexToReal<Self>> {
                static KEPT: Kept<dyn ComplexToReal<$t>> = Kept::new();
                &KEPT
            }

            fn of(number: f64) -> Self {
                number as Self
            }
        }
    )* };
}

precisions!(f32, f64);

/// The plan of a complex transform.
pub(crate) fn complex<T: Precision>(length: usize, direction: FftDirection) -> Arc<dyn Fft<T>> {
    T::complex().plan((length, direction), || {
        FftPlanner::new().plan_fft(length, direction)
    })
}

/// The plan of a real transform.
pub(crate) fn forward<T: Precision>(length: usize) -> Arc<dyn RealToComplex<T>> {
    T::forward().plan((length, FftDirection::Forward), || {
        RealFftPlanner::new().plan_fft_forward(length)
    })
}

/// The plan of the inverse of a real transform.
pub(crate) fn inverse<T: Precision>(length: usize) -> Arc<dyn ComplexToReal<T>> {
    T::inverse().plan((length, FftDirection::Inverse), || {
        RealFftPlanner::new().plan_fft_inverse(length)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(kept: &Kept<dyn Fft<f64>>) -> Vec<usize> {
        let kept = kept.0.lock().unwrap();
        kept.iter().map(|((length, _), _)| *length).collect()
    }

    #[test]
    fn plans_are_kept_in_bounded_memory_and_the_oldest_go_first() {
        let kept: Kept<dyn Fft<f64>> = Kept::new();
        let small = || FftPlanner::new().plan_fft_forward(4);
        let plan = |length| kept.plan((length, FftDirection::Forward), small);
        let first = plan(1);
        for length in 2..=PLANS {
            plan(length);
        }
        assert!(
            Arc::ptr_eq(&first, &plan(1)),
            "it was kept, and is the newest"
        );
        plan(1000);
        assert_eq!(lengths(&kept).len(), PLANS);
        assert_eq!(lengths(&kept)[..2], [3, 4], "2 was the oldest");
        plan(POINTS + 1);
        assert_eq!(lengths(&kept), [POINTS + 1], "a long one is kept alone");
        plan(5);
        assert_eq!(lengths(&kept), [5]);
    }
}
