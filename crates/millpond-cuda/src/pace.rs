//! How often a thread looks at what a device has done.

use std::hint;
use std::thread;
use std::time::{Duration, Instant};

/// How long a thread looks without a pause.
const SPIN: Duration = Duration::from_micros(30);

/// The longest pause.
const LONGEST: Duration = Duration::from_millis(1);

/// A thread's patience: it looks all the time for a moment, then after pauses that are a part of
/// what it has waited for so far. So a wait is longer than what it waits for by a few percent, and
/// takes as little of a processor.
#[derive(Debug)]
pub(crate) struct Pace {
    begin: Instant,
}

impl Pace {
    pub(crate) fn new() -> Self {
        Self {
            begin: Instant::now(),
        }
    }

    /// Begins anew: something has moved.
    pub(crate) fn reset(&mut self) {
        self.begin = Instant::now();
    }

    /// How long to pause now; `None` while the thread should go on looking.
    pub(crate) fn pause(&self) -> Option<Duration> {
        let waited = self.begin.elapsed();
        (waited >= SPIN).then(|| (waited / 16).min(LONGEST))
    }

    /// Lets a moment pass, but not beyond the deadline. Whether that was a pause, after which a
    /// thread has the time to ask the driver how the device is.
    pub(crate) fn step(&self, deadline: Option<Instant>) -> bool {
        match self.pause() {
            None => {
                for _ in 0..16 {
                    hint::spin_loop();
                }
                false
            }
            Some(pause) => {
                let left = deadline.map(|end| end.saturating_duration_since(Instant::now()));
                thread::sleep(left.map_or(pause, |left| left.min(pause)));
                true
            }
        }
    }
}
