//! What a thread that runs commands is there for.

use std::time::Instant;

use millpond_hal::Command;

use super::CpuQueue;
use super::line::Line;

/// Why a thread runs commands; decides which it may begin.
pub(crate) enum Role<'a> {
    /// A worker: any.
    Worker,
    /// A thread that has something else to do next: none.
    Leaving,
    /// A thread that waits for a command: those on the way to it.
    Helper {
        /// The queue it waits on.
        queue: &'a CpuQueue,
        /// The command it waits for.
        target: u64,
        /// When it must be back.
        deadline: Option<Instant>,
    },
}

impl Role<'_> {
    /// Whether the thread should stop what it does for others.
    pub(crate) fn is_fulfilled(&self) -> bool {
        match self {
            Self::Worker | Self::Leaving => false,
            Self::Helper {
                queue,
                target,
                deadline,
            } => {
                queue.is_reached(*target)
                    || deadline.is_some_and(|deadline| Instant::now() >= deadline)
            }
        }
    }

    /// Whether the thread may begin this command of `owner`.
    ///
    /// A host task may take any time, so a helper only runs one that stands between it and its
    /// target, and none if it has a deadline.
    pub(crate) fn permits(
        &self,
        owner: &CpuQueue,
        line: &Line,
        sequence: u64,
        command: &Command,
    ) -> bool {
        match self {
            Self::Worker => true,
            Self::Leaving => false,
            Self::Helper {
                queue,
                target,
                deadline,
            } => {
                let is_task = matches!(command, Command::Task { .. });
                if !std::ptr::eq(*queue, owner) || (is_task && deadline.is_some()) {
                    false
                } else if owner.in_order() {
                    sequence <= *target
                } else {
                    sequence == *target || (!is_task && !line.is_finished(*target))
                }
            }
        }
    }
}
