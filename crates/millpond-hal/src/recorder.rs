//! The times of a queue's latest commands, for backends whose queues keep them.
//!
//! Kept in a ring: a queue that profiles for days uses constant memory, and the times of a
//! command are forgotten once many later ones were submitted.
//!
//! ```
//! use millpond_hal::recorder::{Recorder, now};
//!
//! let mut recorder = Recorder::default();
//! recorder.submitted(1, now());
//! recorder.started(1, now());
//! assert_eq!(recorder.times(1), None);
//! recorder.finished(1, now());
//! let times = recorder.times(1).unwrap();
//! assert!(times.submitted <= times.started && times.started <= times.finished);
//! ```

use std::time::{Duration, Instant};

use crate::queue::Times;

/// Commands whose times are kept.
const KEPT: u64 = 1 << 16;

/// The time since a moment fixed for the process, the one that [`Times`] are since.
#[must_use]
pub fn now() -> Duration {
    static EPOCH: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    EPOCH.get_or_init(Instant::now).elapsed()
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    sequence: u64,
    submitted: Duration,
    started: Duration,
    finished: Option<Duration>,
}

/// The times of the latest commands of one queue.
#[derive(Debug, Default)]
pub struct Recorder {
    entries: Vec<Entry>,
}

impl Recorder {
    fn entry(&mut self, sequence: u64) -> Option<&mut Entry> {
        let entry = self.entries.get_mut((sequence % KEPT) as usize)?;
        (entry.sequence == sequence).then_some(entry)
    }

    /// Begins to keep the times of a command.
    pub fn submitted(&mut self, sequence: u64, time: Duration) {
        let index = (sequence % KEPT) as usize;
        if index >= self.entries.len() {
            self.entries.resize(index + 1, Entry::default());
        }
        self.entries[index] = Entry {
            sequence,
            submitted: time,
            ..Entry::default()
        };
    }

    /// Notes when a command began to run; the last call counts.
    pub fn started(&mut self, sequence: u64, time: Duration) {
        if let Some(entry) = self.entry(sequence) {
            entry.started = time;
        }
    }

    /// Notes when a command finished.
    pub fn finished(&mut self, sequence: u64, time: Duration) {
        if let Some(entry) = self.entry(sequence) {
            entry.finished = Some(time);
        }
    }

    /// Notes what the device itself says of a finished command, within the time that the host saw
    /// it take: two clocks never agree entirely.
    pub fn corrected(&mut self, sequence: u64, began: Duration, ended: Duration) {
        if let Some(entry) = self.entry(sequence)
            && let Some(seen) = entry.finished
        {
            entry.started = began.clamp(entry.submitted, seen);
            entry.finished = Some(ended.clamp(entry.started, seen));
        }
    }

    /// The times of a command that has finished, unless too many came after it.
    #[must_use]
    pub fn times(&self, sequence: u64) -> Option<Times> {
        let entry = self.entries.get((sequence % KEPT) as usize)?;
        if entry.sequence != sequence {
            return None;
        }
        Some(Times {
            submitted: entry.submitted,
            started: entry.started,
            finished: entry.finished?,
        })
    }
}
