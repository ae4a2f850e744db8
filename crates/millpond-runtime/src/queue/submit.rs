//! Submission: from a command and its operands to a place on the queue.

use std::fmt;
use std::sync::Arc;

use millpond_hal::{Access, Command, DeviceError, Gate, HostKernel, Submission, Touch, Watch};
use millpond_types::MemoryKind;
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::event::Event;
use crate::explain::{self, Closed};
use crate::lifecycle;
use crate::memory::{Allocation, Dependencies};
use crate::queue::QueueCore;
use crate::queue::batch::Batch;
use crate::queue::bridge::{Bridge, open_when_reached};
use crate::queue::fit::{check_device, check_kernel};
use crate::queue::line::{Line, Lines};
use crate::queue::task::in_task;
use crate::trace::current_origin;

/// Commands of a queue that may be unfinished before a submission waits (rule O4).
pub const BACKLOG: u64 = 4096;

/// Work that costs at most this many nanoseconds may run on the calling thread. About what handing
/// it to another thread and back costs on a machine whose threads sleep.
pub const INLINE_NANOSECONDS: u32 = 25_000;

/// One operand of a command.
#[derive(Clone, Copy, Debug)]
pub struct Use<'a> {
    /// The memory.
    pub allocation: &'a Allocation,
    /// What the command does with it.
    pub access: Access,
}

impl QueueCore {
    /// Runs a kernel on operands: at once if it is small and everything is quiet, else in order.
    ///
    /// `cost` is an estimate in nanoseconds on one thread.
    #[inline]
    pub(crate) fn launch<K: HostKernel + 'static>(
        self: &Arc<Self>,
        kernel: K,
        operands: &[&Allocation],
        cost: u32,
    ) -> Result<()> {
        lifecycle::check("launching")?;
        if cost <= INLINE_NANOSECONDS
            && self.inline
            && let Some(answer) = self.run_here(&kernel, operands)
        {
            return answer;
        }
        self.launch_in_order(kernel, operands)
    }

    /// The same of a kernel whose first operand is yet to be allocated; that operand.
    #[inline]
    pub(crate) fn launch_into_new<K: HostKernel + 'static>(
        self: &Arc<Self>,
        kernel: K,
        kind: MemoryKind,
        bytes: usize,
        inputs: &[&Allocation],
        cost: u32,
    ) -> Result<Allocation> {
        lifecycle::check("launching")?;
        if cost <= INLINE_NANOSECONDS
            && self.inline
            && let Some(answer) = self.run_here_into_new(&kernel, kind, bytes, inputs)
        {
            return answer;
        }
        self.launch_after_allocation(kernel, kind, bytes, inputs, cost)
    }

    /// The same at once or not at all.
    #[inline]
    pub(crate) fn launch_into_new_at_once<K: HostKernel>(
        self: &Arc<Self>,
        kernel: &K,
        kind: MemoryKind,
        bytes: usize,
        inputs: &[&Allocation],
        cost: u32,
    ) -> Option<Result<Allocation>> {
        if let Err(error) = lifecycle::check("launching") {
            return Some(Err(error));
        }
        if cost > INLINE_NANOSECONDS || !self.inline {
            return None;
        }
        self.run_here_into_new(kernel, kind, bytes, inputs)
    }

    #[inline(never)]
    fn launch_after_allocation<K: HostKernel + 'static>(
        self: &Arc<Self>,
        kernel: K,
        kind: MemoryKind,
        bytes: usize,
        inputs: &[&Allocation],
        cost: u32,
    ) -> Result<Allocation> {
        let memory = self.device().allocate(self, kind, bytes)?;
        let operands = std::iter::once(&memory).chain(inputs.iter().copied());
        let operands: SmallVec<[&Allocation; 4]> = operands.collect();
        self.launch(kernel, &operands, cost)?;
        drop(operands);
        Ok(memory)
    }

    pub(super) fn launch_in_order<K: HostKernel + 'static>(
        self: &Arc<Self>,
        kernel: K,
        operands: &[&Allocation],
    ) -> Result<()> {
        let sizes: SmallVec<[usize; 4]> = operands.iter().map(|operand| operand.bytes()).collect();
        let accesses = check_kernel(&kernel, &sizes)?;
        let use_ = |(&allocation, access)| Use { allocation, access };
        let uses: SmallVec<[Use<'_>; 4]> = operands.iter().zip(accesses).map(use_).collect();
        let bases = operands.iter().map(|operand| operand.address()).collect();
        self.check_devices(&uses, || describe(&kernel))?;
        let kernel: Arc<dyn HostKernel> = Arc::new(kernel);
        self.submit(&uses, Command::Launch { kernel, bases })
            .map(drop)
    }

    pub(crate) fn check_devices(&self, uses: &[Use<'_>], name: impl Fn() -> String) -> Result<()> {
        for (operand, use_) in uses.iter().enumerate() {
            if !std::ptr::eq(Arc::as_ptr(use_.allocation.block().home()), self) {
                check_device(self.device(), operand, use_.allocation, &name)?;
            }
        }
        Ok(())
    }

    /// Appends a command behind everything that its operands require; its sequence number.
    ///
    /// The caller has checked that the command stays within its operands.
    pub(crate) fn submit(self: &Arc<Self>, uses: &[Use<'_>], command: Command) -> Result<u64> {
        let others = Dependencies::default();
        let sequence =
            self.submit_behind(uses, None, command, others, |_, sequence, _| sequence)?;
        self.wait_if_shared(uses, sequence)?;
        Ok(sequence)
    }

    /// The same behind events as well; its event.
    pub(crate) fn submit_event(
        self: &Arc<Self>,
        uses: &[Use<'_>],
        command: Command,
        after: &[&Event],
    ) -> Result<Event> {
        let event = self.submit_after(uses, None, command, after)?;
        self.wait_if_shared(uses, event.sequence())?;
        Ok(event)
    }

    /// Appends a command behind events as well; its event. With claims it touches nothing but what it
    /// claims by address. The caller waits where that has to be.
    pub(crate) fn submit_after(
        self: &Arc<Self>,
        uses: &[Use<'_>],
        claims: Option<&[Touch]>,
        command: Command,
        after: &[&Event],
    ) -> Result<Event> {
        let mut events = Dependencies::default();
        for event in after {
            events.follow(event);
        }
        // Whatever comes after a barrier, or on an in-order queue, comes after the events.
        let learns = self.native().in_order || matches!(command, Command::Barrier);
        self.submit_behind(uses, claims, command, events, |line, sequence, _| {
            for event in after.iter().filter(|_| learns) {
                line.learn(event, self.device().site());
            }
            self.event_at(line, sequence)
        })
    }

    /// The claims are those of a command that doesn't touch its operands itself. What is answered
    /// is asked for under the line: an event that is made later claims to know what others have the
    /// queue follow since. It also gets what the command follows.
    pub(super) fn submit_behind<R>(
        self: &Arc<Self>,
        uses: &[Use<'_>],
        claims: Option<&[Touch]>,
        command: Command,
        others: Dependencies,
        answer: impl FnOnce(&mut Line, u64, &Dependencies) -> R,
    ) -> Result<R> {
        lifecycle::check("submitting")?;
        follow_streams(uses, &command)?;
        let mut bridges = SmallVec::new();
        let answer = {
            let mut lines = self.lock_with_room(uses)?;
            let line = &mut lines.own;
            self.append(line, uses, claims, command, others, &mut bridges)
                .map(|(sequence, follow)| answer(line, sequence, &follow))
        };
        self.settle(answer, bridges)
    }

    /// What remains to be done once the lines are unlocked, also of commands that were refused at
    /// last: a gate that nobody opens holds its queue.
    pub(super) fn settle<T>(&self, answer: Result<T>, bridges: SmallVec<[Bridge; 1]>) -> Result<T> {
        open_when_reached(bridges);
        if let Err(Error::Device(refusal)) = &answer {
            self.device().site().note_refusal(refusal);
        }
        answer
    }

    /// Hands over several commands as one step, which nothing comes between: the body appends them
    /// and answers the event that stands for all. `uses` names, for its line, all memory that they
    /// use. They need room as one command does.
    pub(crate) fn submit_together(
        self: &Arc<Self>,
        uses: &[Use<'_>],
        body: impl FnOnce(&mut Batch<'_>) -> Result<Event>,
    ) -> Result<Event> {
        lifecycle::check("submitting")?;
        for use_ in uses {
            use_.allocation.follow_if_lent()?;
        }
        let mut bridges = SmallVec::new();
        let (answer, commands) = {
            let mut lines = self.lock_with_room(uses)?;
            let mut batch = Batch::new(self, &mut lines.own, &mut bridges);
            (body(&mut batch), batch.sequences())
        };
        match self.settle(answer, bridges) {
            Ok(event) => {
                self.wait_if_shared(uses, event.sequence())?;
                Ok(event)
            }
            Err(refusal) => {
                // No end stands for what was submitted before one of them was refused.
                for sequence in commands {
                    stop_if_interrupted(self.wait_if_shared(uses, sequence))?;
                }
                Err(refusal)
            }
        }
    }

    /// Waits for a command on memory shared with the host, which may look at the bytes, or change
    /// them, as soon as the call returns that submits it.
    pub(super) fn wait_if_shared(&self, uses: &[Use<'_>], sequence: u64) -> Result<()> {
        if !uses.iter().any(|use_| use_.allocation.is_host_shared()) || in_task() {
            return Ok(());
        }
        let waited = self
            .native()
            .wait_or_stop(sequence, "a wait for memory of the host");
        if let Err(Error::Failed(failure)) = &waited {
            failure.surface();
        }
        waited
    }

    /// Locks the lines once the queue has room for a command.
    pub(super) fn lock_with_room<'a>(self: &'a Arc<Self>, uses: &[Use<'a>]) -> Result<Lines<'a>> {
        loop {
            let lines = Lines::lock(self, uses);
            lines.own.check_open(self)?;
            for use_ in uses {
                use_.allocation.block().check_valid()?;
            }
            let unfinished = lines.own.submitted - self.native().progress().completed();
            if unfinished < BACKLOG || in_task() {
                return Ok(lines);
            }
            let target = lines.own.submitted - BACKLOG / 2;
            drop(lines);
            self.native()
                .stall(target, "a wait for room on the queue")?;
        }
    }

    /// Appends a command behind what the queue waits for, and what it and its operands require:
    /// its sequence number, and all of that.
    pub(super) fn append(
        &self,
        line: &mut Line,
        uses: &[Use<'_>],
        claims: Option<&[Touch]>,
        command: Command,
        others: Dependencies,
        bridges: &mut SmallVec<[Bridge; 1]>,
    ) -> Result<(u64, Dependencies)> {
        let mut follow = std::mem::take(&mut line.waits);
        let waits = (follow.after.len(), follow.behind.len());
        follow.append(others);
        match self.append_behind(line, uses, claims, command, &mut follow, bridges) {
            Ok(sequence) => Ok((sequence, follow)),
            Err(error) => {
                // The next command has to wait in its stead.
                follow.after.truncate(waits.0);
                follow.behind.truncate(waits.1);
                line.waits = follow;
                Err(error)
            }
        }
    }

    /// The protocol of `line.rs`: capture, hand over, record.
    pub(super) fn append_behind(
        &self,
        line: &mut Line,
        uses: &[Use<'_>],
        claims: Option<&[Touch]>,
        command: Command,
        follow: &mut Dependencies,
        bridges: &mut SmallVec<[Bridge; 1]>,
    ) -> Result<u64> {
        let native = self.native();
        for use_ in uses {
            let block = use_.allocation.block();
            let home = block.home().native();
            if let Some(reads) = block.tracking.reads_to_join(native) {
                let join = self.append_join(line, &reads);
                let kept = join.as_ref().map_or(&reads[..], std::slice::from_ref);
                for &sequence in kept {
                    block.tracking.record(home, native, sequence, Access::Read);
                }
                join?;
            }
            block
                .tracking
                .capture(home, Some(native), use_.access, follow);
        }
        let mut after = Dependencies::points(&follow.after, native.driver);
        let mut behind = Dependencies::points(&follow.behind, native.driver);
        for (list, points, content) in [
            (&follow.after, &mut after, true),
            (&follow.behind, &mut behind, false),
        ] {
            for (queue, sequence) in Dependencies::strangers(list, native.driver) {
                let gate = Gate::new();
                let wait = Submission::new(Command::Gate(gate.clone()));
                let sequence_of_gate = self.hand_over(line, wait)?;
                points.push(native.point(sequence_of_gate));
                let queue = Arc::clone(queue);
                bridges.push(Bridge {
                    gate,
                    queue,
                    sequence: *sequence,
                    content,
                });
            }
        }
        let touches = match claims {
            None => touches(&command, uses),
            Some(_) => SmallVec::new(),
        };
        let submission = Submission {
            after: &after,
            behind: &behind,
            touches: &touches,
            claims: claims.unwrap_or_default(),
            ..Submission::new(command)
        };
        let sequence = self.hand_over(line, submission)?;
        for point in after.iter().chain(&behind) {
            // On an out-of-order queue only this command is ordered behind them.
            if native.in_order && point.queue != native.id() {
                line.clock.learn(*point);
            }
        }
        line.tidy_clock(self.device().site());
        for use_ in uses {
            let block = use_.allocation.block();
            block
                .tracking
                .record(block.home().native(), native, sequence, use_.access);
        }
        Ok(sequence)
    }

    /// A command that finishes after everything submitted so far, and holds nothing back; the last one, if
    /// nothing came since. It needs no room: what is submitted next does.
    pub(super) fn append_join_of_all(&self, line: &mut Line) -> Result<u64> {
        line.check_open(self)?;
        if line.joined != line.submitted {
            let first = self.native().progress().completed() + 1;
            let unfinished = (first..=line.submitted).filter(|&one| !self.native().reached(one));
            line.joined = self.append_join(line, &unfinished.collect::<Vec<_>>())?;
        }
        Ok(line.joined)
    }

    /// A command that does nothing and finishes when the given commands of this queue have.
    fn append_join(&self, line: &mut Line, sequences: &[u64]) -> Result<u64> {
        let behind: SmallVec<[_; 64]> = sequences
            .iter()
            .map(|&sequence| self.native().point(sequence))
            .collect();
        let join = Command::Task {
            name: Arc::from("join"),
            task: Box::new(|| Ok(())),
        };
        let submission = Submission {
            behind: &behind,
            ..Submission::new(join)
        };
        Ok(self.hand_over(line, submission)?)
    }

    pub(super) fn hand_over(
        &self,
        line: &mut Line,
        mut submission: Submission<'_>,
    ) -> std::result::Result<u64, DeviceError> {
        line.seal(Closed::Next);
        line.window = None;
        line.counted.begin(&self.device().site().unsettled);
        submission.origin = current_origin();
        let note = explain::note(self.native(), &submission.command);
        submission.watch = note.clone().map(|note| note as Arc<dyn Watch>);
        // SAFETY: A1: memory of operands goes back to the driver only when every point recorded on
        // it was reached, and this command's point is recorded before the lines are unlocked; host
        // buffers of blocking copies outlive the wait for their command. A2: operands were checked
        // to be of this device or reachable. A3: what `tracking` captured is passed on. A4: the
        // queue's line is locked.
        let point = unsafe { self.native().hal().submit(submission) }?;
        line.submitted = point.sequence;
        if let Some(note) = note {
            note.place(point.sequence);
        }
        Ok(point.sequence)
    }
}

/// Has operands come behind the streams that use them, unless the command is what sees to that.
fn follow_streams(uses: &[Use<'_>], command: &Command) -> Result<()> {
    if matches!(command, Command::Stream(_)) {
        return Ok(());
    }
    uses.iter()
        .try_for_each(|use_| use_.allocation.follow_if_lent())
}

/// What a command uses that doesn't say so itself, for layers that check.
fn touches(command: &Command, uses: &[Use<'_>]) -> SmallVec<[Touch; 4]> {
    if !matches!(command, Command::Task { .. } | Command::Gate(_)) {
        return SmallVec::new();
    }
    whole(uses)
}

/// All bytes of operands.
pub(super) fn whole(uses: &[Use<'_>]) -> SmallVec<[Touch; 4]> {
    let touch = |use_: &Use<'_>| Touch {
        address: use_.allocation.address(),
        bytes: use_.allocation.bytes(),
        access: use_.access,
    };
    uses.iter().map(touch).collect()
}

/// Passes an interruption on and lets any other answer of a wait be.
pub(crate) fn stop_if_interrupted(waited: Result<()>) -> Result<()> {
    match waited {
        Err(error @ Error::Interrupted { .. }) => Err(error),
        _ => Ok(()),
    }
}

/// A kernel's own description, as text.
pub(crate) fn describe(kernel: &dyn HostKernel) -> String {
    struct Described<'a>(&'a dyn HostKernel);
    impl fmt::Display for Described<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            self.0.describe(f)
        }
    }
    Described(kernel).to_string()
}
