//! Commands that are submitted together, as one step.
//!
//! The lines of all their memory are held from the first to the last, so nothing comes between
//! them: neither on the queue nor on their memory.

use std::ops::Range;
use std::sync::Arc;

use millpond_hal::{Access, Command};
use smallvec::SmallVec;

use crate::error::Result;
use crate::event::Event;
use crate::memory::{Allocation, Dependencies};
use crate::queue::QueueCore;
use crate::queue::bridge::Bridge;
use crate::queue::line::Line;
use crate::queue::submit::Use;

/// What [`QueueCore::submit_together`] appends to.
pub(crate) struct Batch<'q> {
    queue: &'q Arc<QueueCore>,
    line: &'q mut Line,
    bridges: &'q mut SmallVec<[Bridge; 1]>,
    /// The last command before.
    before: u64,
}

impl<'q> Batch<'q> {
    pub(super) fn new(
        queue: &'q Arc<QueueCore>,
        line: &'q mut Line,
        bridges: &'q mut SmallVec<[Bridge; 1]>,
    ) -> Self {
        let before = line.submitted;
        Self {
            queue,
            line,
            bridges,
            before,
        }
    }

    /// Appends a command behind everything that its operands require.
    ///
    /// The caller has checked that the command stays within its operands, and has named their
    /// lines.
    pub(crate) fn append(&mut self, uses: &[Use<'_>], command: Command) -> Result<()> {
        self.append_after(uses, command, Dependencies::default())
    }

    fn append_after(
        &mut self,
        uses: &[Use<'_>],
        command: Command,
        others: Dependencies,
    ) -> Result<()> {
        let queue = self.queue;
        let appended = queue.append(self.line, uses, None, command, others, self.bridges);
        appended.map(drop)
    }

    /// Appends a command that does nothing and ends with all of them: it fails if one of them did,
    /// and stands for all uses of the memory. The answer is its event.
    pub(crate) fn end(&mut self, name: &Arc<str>, memory: &Allocation) -> Result<Event> {
        let native = self.queue.native();
        let matters = |sequence: &u64| !native.reached(*sequence) || native.has_failed(*sequence);
        let commands = self.sequences().filter(matters);
        let others = Dependencies {
            after: commands
                .map(|sequence| (Arc::clone(native), sequence))
                .collect(),
            ..Dependencies::default()
        };
        let command = Command::Task {
            name: Arc::clone(name),
            task: Box::new(|| Ok(())),
        };
        let uses = [Use {
            allocation: memory,
            access: Access::Write,
        }];
        self.append_after(&uses, command, others)?;
        Ok(self.queue.event_at(self.line, self.line.submitted))
    }

    /// The commands so far. Nobody else submits to the queue meanwhile.
    pub(super) fn sequences(&self) -> Range<u64> {
        self.before + 1..self.line.submitted + 1
    }
}
