//! What a replay counts.

use std::collections::HashMap;
use std::sync::Arc;

use crate::memory::Allocation;
use crate::pool::recording::{Refused, Replay};
use crate::pool::report::OutOfMemory;

/// The answer so far, and what is in use now, in bytes.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) replay: Replay,
    requested: usize,
    used: usize,
    requested_by_tag: HashMap<Arc<str>, usize>,
}

impl Tally {
    /// Counts a request that found memory, and all that is used with it now.
    pub(super) fn begin(&mut self, memory: &Allocation, tag: Option<&Arc<str>>, reserved: usize) {
        let replay = &mut self.replay;
        self.requested += memory.bytes();
        self.used += memory.block().capacity;
        replay.allocations += 1;
        replay.requested_high = replay.requested_high.max(self.requested);
        replay.used_high = replay.used_high.max(self.used);
        if reserved > replay.reserved_high {
            replay.reserved_high = reserved;
            replay.used_at_reserved_high = 0;
        }
        if reserved == replay.reserved_high {
            replay.used_at_reserved_high = replay.used_at_reserved_high.max(self.used);
        }
        if let Some(tag) = tag {
            let sum = self.requested_by_tag.entry(Arc::clone(tag)).or_default();
            *sum += memory.bytes();
            let high = replay.tags.entry(Arc::clone(tag)).or_default();
            *high = (*high).max(*sum);
        }
    }

    /// Counts its end.
    pub(super) fn end(&mut self, memory: &Allocation, tag: Option<&Arc<str>>) {
        self.requested -= memory.bytes();
        self.used -= memory.block().capacity;
        if let Some(sum) = tag.and_then(|tag| self.requested_by_tag.get_mut(tag)) {
            *sum -= memory.bytes();
        }
    }

    /// Counts a request that found none.
    pub(super) fn refuse(&mut self, step: usize, report: &OutOfMemory) {
        self.replay.refused += 1;
        let first = &mut self.replay.first_refusal;
        first.get_or_insert_with(|| Refused::new(step, report));
    }
}
