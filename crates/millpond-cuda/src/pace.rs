//! How often a thread looks at what a device has done.

use std::hint;
use std::thread;
use std::time::{Duration, Instant};

/// How long a thread looks without a pause, and without letting go of its processor.
const SPIN: Duration = Duration::from_micros(30);

/// How long whoever waits looks without a pause. A pause takes the system's fifty microseconds more
/// than it was asked for: what a device has done by then would be known late by a good part of it.
const WATCH: Duration = Duration::from_millis(1);

/// The longest pause.
const LONGEST: Duration = Duration::from_millis(1);

/// A thread's patience: it looks all the time for a while, then after pauses that are a part of
/// what it has waited for so far. So a wait is longer than what it waits for by a few percent, and
/// what takes long takes as little of a processor.
#[derive(Debug)]
pub(crate) struct Pace {
    begin: Instant,
    /// How long it looks without a pause.
    watch: Duration,
}

impl Pace {
    /// Of a thread that has nothing else to do.
    pub(crate) fn new() -> Self {
        Self {
            begin: Instant::now(),
            watch: WATCH,
        }
    }

    /// Of a thread that looks on in case that something moves, however long that takes.
    pub(crate) fn looking_on() -> Self {
        Self {
            begin: Instant::now(),
            watch: SPIN,
        }
    }

    /// Begins anew: something has moved.
    pub(crate) fn reset(&mut self) {
        self.begin = Instant::now();
    }

    /// How long to pause now; `None` while the thread should go on looking.
    pub(crate) fn pause(&self) -> Option<Duration> {
        self.pause_after(self.begin.elapsed())
    }

    fn pause_after(&self, waited: Duration) -> Option<Duration> {
        (waited >= self.watch).then(|| (waited / 16).min(LONGEST))
    }

    /// Lets a moment pass, but not beyond the deadline. Whether that was a pause, after which a
    /// thread has the time to ask the driver how the device is.
    pub(crate) fn step(&self, deadline: Option<Instant>) -> bool {
        let waited = self.begin.elapsed();
        match self.pause_after(waited) {
            None if waited < SPIN => {
                for _ in 0..16 {
                    hint::spin_loop();
                }
                false
            }
            None => {
                // Threads that have something to do come first.
                thread::yield_now();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_a_part_of_what_was_waited_for() {
        for (pace, watch) in [(Pace::new(), WATCH), (Pace::looking_on(), SPIN)] {
            assert_eq!(pace.pause_after(watch.mul_f64(0.99)), None);
            assert_eq!(pace.pause_after(watch), Some(watch / 16));
            assert_eq!(pace.pause_after(1000 * LONGEST), Some(LONGEST));
        }
    }
}
