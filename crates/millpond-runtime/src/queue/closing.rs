//! Windows that close at moments which a seed picks, for tests: whichever moment a device begins a
//! window at, nobody may see it from the results.
//!
//! Devices choose the moment by their speed, so that a test meets few of them, and not the same ones
//! twice. Programs don't use this; where no seed was given, it costs them a load for each operation
//! that could be joined and each array that goes while a window is open.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What all queues ask.
static MOMENTS: Moments = Moments(AtomicU64::new(0));

/// Has windows close at random moments from here on, those of the seed; of none, when they would.
pub fn close_windows_at_random(seed: Option<u64>) {
    MOMENTS.start(seed);
}

/// Whether a window that could grow is to close here.
#[inline]
pub(super) fn is_due() -> bool {
    MOMENTS.next()
}

/// The state of a generator of random numbers; zero without a seed.
struct Moments(AtomicU64);

impl Moments {
    fn start(&self, seed: Option<u64>) {
        // Any seed but zero will do, and seeds that are alike must not begin alike.
        let spread = |seed: u64| seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        self.0.store(seed.map_or(0, spread), Relaxed);
    }

    #[inline]
    fn next(&self) -> bool {
        let state = self.0.load(Relaxed);
        state != 0 && self.roll(state)
    }

    /// One moment in four.
    #[cold]
    fn roll(&self, mut state: u64) -> bool {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.0.store(state, Relaxed);
        state >> 62 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(seed: Option<u64>) -> Vec<bool> {
        let moments = Moments(AtomicU64::new(0));
        moments.start(seed);
        std::iter::repeat_with(|| moments.next())
            .take(1000)
            .collect()
    }

    #[test]
    fn a_seed_picks_some_moments_and_always_the_same() {
        for seed in 0..20 {
            let picked = moments(Some(seed));
            let count = picked.iter().filter(|&&due| due).count();
            assert!((150..350).contains(&count), "{count} of seed {seed}");
            assert_eq!(picked, moments(Some(seed)));
            assert_ne!(picked, moments(Some(seed + 1)));
        }
    }

    #[test]
    fn without_a_seed_there_are_none() {
        assert!(!moments(None).contains(&true));
    }
}
