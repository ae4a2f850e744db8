//! Waiting for a command, and helping meanwhile.
//!
//! A waiting thread runs the commands of its queue that stand before the awaited one, and pieces
//! of any command that its device spreads. It begins no unrelated command, since that could take
//! longer than what it waits for. With nothing to do it spins for a moment, then sleeps; it is
//! woken by the end of the command or by work that nobody else is free for.

use std::time::Instant;

use millpond_hal::Wait;

use super::dependent::Dependent;
use super::{Begun, CpuQueue, Role};
use crate::executor::{SPIN, current, spin_until};
use crate::sync::{Arc, Ordering, lock, thread};

impl CpuQueue {
    /// Waits for a command, with help.
    pub(crate) fn wait_for(self: &Arc<Self>, sequence: u64, deadline: Option<Instant>) -> Wait {
        if self.progress.completed() >= sequence {
            return Wait::Reached;
        }
        let mut attached = false;
        let outcome = self.help_until(sequence, deadline, &mut attached);
        if attached && outcome == Wait::TimedOut {
            lock(&self.line).detach(sequence, thread::current().id());
        }
        outcome
    }

    fn help_until(
        self: &Arc<Self>,
        sequence: u64,
        deadline: Option<Instant>,
        attached: &mut bool,
    ) -> Wait {
        let role = Role::Helper {
            queue: self,
            target: sequence,
            deadline,
        };
        let board = &self.crew().board;
        let mut spin_end = None;
        loop {
            if self.is_reached(sequence) {
                return Wait::Reached;
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline)
                || self.is_beyond_the_end(sequence)
            {
                return Wait::TimedOut;
            }
            if let Some(begun) = self.begin(&role) {
                self.run_from(begun, &role);
                spin_end = None;
                continue;
            }
            if board.has_shares()
                && let Some(spread) = board.take_share(self.id)
            {
                if let Some((queue, begun)) = spread.participate(&role) {
                    queue.run_from(begun, &role);
                }
                spin_end = None;
                continue;
            }
            let now = Instant::now();
            let until = *spin_end.get_or_insert_with(|| now + SPIN);
            if self.crew().spins && now < until {
                let until = deadline.map_or(until, |deadline| deadline.min(until));
                spin_until(until, || {
                    self.progress.completed() >= sequence
                        || self.listed.load(Ordering::Relaxed)
                        || board.has_shares()
                });
                continue;
            }
            if !*attached {
                let thread = Dependent::Thread(thread::current());
                let answer = lock(&self.line).attach(sequence, thread);
                *attached = answer.is_ok();
            }
            if *attached && !self.is_reached(sequence) {
                self.sleep(&role, deadline);
                spin_end = None;
            }
        }
    }

    /// Sleeps until woken or the deadline, unless there is something to help with.
    fn sleep(self: &Arc<Self>, role: &Role<'_>, deadline: Option<Instant>) {
        let own = thread::current();
        let board = &self.crew().board;
        if !board.add_helper(self.id, &own) {
            return;
        }
        // What was offered before this thread counted as asleep called nobody.
        if let Some(begun) = self.begin(role) {
            board.remove_helper(own.id());
            self.run_from(begun, role);
            return;
        }
        let crew = current();
        if let Some(crew) = &crew {
            crew.answer(crew.board.block());
        }
        match deadline {
            None => thread::park(),
            Some(deadline) => {
                thread::park_timeout(deadline.saturating_duration_since(Instant::now()));
            }
        }
        if let Some(crew) = &crew {
            crew.board.unblock();
        }
        board.remove_helper(own.id());
    }

    fn run_from(self: &Arc<Self>, begun: Begun, role: &Role<'_>) {
        let mut next = Some(begun);
        while let Some(begun) = next {
            next = self.run(begun, role);
        }
    }

    /// Whether the command was not submitted and never can be.
    fn is_beyond_the_end(&self, sequence: u64) -> bool {
        sequence > self.submitted.load(Ordering::Acquire) && self.crew().is_finished()
    }
}
