//! Which plans are kept.

#![allow(clippy::unwrap_used, reason = "tests")]

// By its path: no more of the crate has to be built for it, and it is nobody else's matter.
#[path = "../src/kept.rs"]
mod kept;

use std::sync::Arc;

use kept::{Kept, PLANS, POINTS};
use rustfft::{Fft, FftDirection, FftPlanner};

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
