//! Which plans are kept.

#![allow(clippy::unwrap_used, reason = "tests")]

// By its path: no more of the crate has to be built for it, and it is nobody else's matter.
#[path = "../src/kept.rs"]
mod kept;

use std::cell::Cell;

use kept::{Kept, PLANS, POINTS};
use rustfft::{Fft, FftDirection, FftPlanner};

#[test]
fn plans_are_kept_in_bounded_memory_and_the_oldest_go_first() {
    let kept: Kept<dyn Fft<f64>> = Kept::new();
    let made = Cell::new(false);
    let is_made = |length| {
        made.set(false);
        kept.plan((length, FftDirection::Forward), || {
            made.set(true);
            FftPlanner::new().plan_fft_forward(4)
        });
        made.get()
    };
    for length in 1..=PLANS {
        assert!(is_made(length));
    }
    assert!(!is_made(1), "it was kept, and is the newest");
    assert!(is_made(1000));
    assert!(!is_made(3));
    assert!(is_made(2), "it was the oldest");
    assert!(is_made(POINTS + 1));
    assert!(!is_made(POINTS + 1), "the newest is kept whatever it has");
    assert!(is_made(1), "a long one is kept alone");
    assert!(is_made(POINTS + 1), "and goes first");
}
