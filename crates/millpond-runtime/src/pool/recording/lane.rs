//! A queue of a recording and the one that stands for it in a replay.
//!
//! A lane knows which uses of memory are to come, by the number that their command had, and submits
//! them no later than anything refers to a command that is later on the queue. So what was recorded
//! as an event or a wait finds the same commands before it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::event::Event;
use crate::queue::Queue;

/// A use that is to come: the number of its command, the step that allocated the memory, and whether
/// it writes, if that is known.
pub(super) type Planned = (u64, usize, Option<bool>);

pub(super) struct Lane {
    pub(super) queue: Queue,
    planned: BinaryHeap<Reverse<Planned>>,
    /// Up to this number everything that the recording knows was submitted.
    submitted: u64,
    /// Up to this number the host has waited, or it was before the recording.
    over: u64,
    /// What was submitted, by recorded number, ascending; of what is over the last is kept.
    marks: VecDeque<(u64, Event)>,
}

impl Lane {
    /// A queue whose commands up to `submitted` were before the recording.
    pub(super) fn new(queue: Queue, submitted: u64) -> Self {
        Self {
            queue,
            planned: BinaryHeap::new(),
            submitted,
            over: submitted,
            marks: VecDeque::new(),
        }
    }

    /// Plans a use, unless its command is one of those that are submitted: then it was a use of
    /// whoever had the bytes before.
    pub(super) fn plan(&mut self, planned: Planned) {
        if planned.0 > self.submitted {
            self.planned.push(Reverse(planned));
        }
    }

    /// The next planned use up to this number; without one, all up to there is submitted.
    pub(super) fn take_planned(&mut self, upto: u64) -> Option<Planned> {
        match self.planned.peek() {
            Some(Reverse((sequence, ..))) if *sequence <= upto => {
                self.planned.pop().map(|Reverse(planned)| planned)
            }
            _ => {
                self.submitted = self.submitted.max(upto);
                None
            }
        }
    }

    /// Whether a recorded command that isn't over has nothing that stands for it: it used other
    /// memory, or this by its address.
    pub(super) fn lacks(&self, sequence: u64) -> bool {
        let last = self.marks.back().map_or(0, |(mark, _)| *mark);
        sequence > last.max(self.over)
    }

    /// Notes that the host has waited for everything up to this number.
    pub(super) fn end(&mut self, sequence: u64) {
        self.over = self.over.max(sequence);
        self.forget();
    }

    /// Notes a command that stands for the recorded one.
    pub(super) fn mark(&mut self, sequence: u64, event: Event) {
        self.marks.push_back((sequence, event));
    }

    /// The last command up to this number, if the replay has one.
    pub(super) fn event_at(&self, sequence: u64) -> Option<Event> {
        let behind = self.marks.partition_point(|(mark, _)| *mark <= sequence);
        let last = behind.checked_sub(1)?;
        Some(self.marks[last].1.clone())
    }

    /// Forgets what is over, but for the last of it.
    pub(super) fn forget(&mut self) {
        let completed = self.queue.core().native().progress().completed();
        while self.marks.len() > 1 && self.marks[1].1.sequence() <= completed {
            self.marks.pop_front();
        }
    }
}
