//! Plans that are kept for the next time: making one costs as much as some transforms.
//!
//! The last few are kept, the least recently used ones go first, and long ones go before there are
//! many of them: a service that transforms ever new lengths doesn't grow.

use std::sync::{Arc, Mutex, PoisonError};

use rustfft::FftDirection;

/// The most plans that are kept, of each sort and precision.
pub(crate) const PLANS: usize = 32;

/// The most points that kept plans have together; the newest is kept whatever it has.
pub(crate) const POINTS: usize = 1 << 21;

/// Plans by length and direction, the most recently used last.
pub(crate) struct Kept<P: ?Sized>(Mutex<Vec<(Key, Arc<P>)>>);

type Key = (usize, FftDirection);

impl<P: ?Sized> Kept<P> {
    pub(crate) const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// The plan of a key, which is made if it isn't kept. Several threads may make it at once: none
    /// waits for another's.
    pub(crate) fn plan(&self, key: Key, make: impl FnOnce() -> Arc<P>) -> Arc<P> {
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
