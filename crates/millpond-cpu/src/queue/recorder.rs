//! The times of a queue's latest commands.
//!
//! Kept in a ring: a queue that profiles for days uses constant memory, and the times of a
//! command are forgotten once many later ones were submitted.

use std::time::{Duration, Instant};

use millpond_hal::Times;

/// Commands whose times are kept.
const KEPT: u64 = 1 << 16;

/// The time since a moment fixed for the process.
pub(crate) fn now() -> Duration {
    static EPOCH: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    EPOCH.get_or_init(Instant::now).elapsed()
}

#[derive(Clone, Copy, Default)]
struct Entry {
    sequence: u64,
    submitted: Duration,
    started: Duration,
    finished: Option<Duration>,
}

/// The times of the latest commands of one queue.
#[derive(Default)]
pub(crate) struct Recorder {
    entries: Vec<Entry>,
}

impl Recorder {
    fn entry(&mut self, sequence: u64) -> Option<&mut Entry> {
        let entry = self.entries.get_mut((sequence % KEPT) as usize)?;
        (entry.sequence == sequence).then_some(entry)
    }

    pub(crate) fn submitted(&mut self, sequence: u64, time: Duration) {
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

    pub(crate) fn started(&mut self, sequence: u64, time: Duration) {
        if let Some(entry) = self.entry(sequence) {
            entry.started = time;
        }
    }

    pub(crate) fn finished(&mut self, sequence: u64, time: Duration) {
        if let Some(entry) = self.entry(sequence) {
            entry.finished = Some(time);
        }
    }

    pub(crate) fn times(&self, sequence: u64) -> Option<Times> {
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
