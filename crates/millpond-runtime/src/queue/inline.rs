//! Small commands, run on the calling thread.
//!
//! A kernel whose operands are all at home on its queue, and whose queue has nothing unfinished,
//! can run while the queue's line is locked: nobody else can submit to the queue or to these
//! operands meanwhile, so it takes effect at once and needs no sequence number. If operands are at
//! home elsewhere, the lines of their homes are locked as well. Anything less simple takes the
//! general way, which gives the same result.
//!
//! The memory of a result is allocated under the same lock, where that takes no more than the queue
//! has at hand.
//!
//! What the host is about to look at needs no queue to be idle, since it comes after its operands'
//! last uses and nothing else (rule O5).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use millpond_hal::{Address, Failure, FailureKind, HostKernel};
use millpond_types::MemoryKind;
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::explain;
use crate::lifecycle;
use crate::memory::Allocation;
use crate::queue::line::{Line, Lines};
use crate::queue::submit::{Use, describe};
use crate::queue::{INLINE_NANOSECONDS, Queue, QueueCore};
use crate::trace::current_origin;

/// The most operands of a kernel that is run here.
const MOST: usize = 12;

impl QueueCore {
    /// Runs the kernel, if it is simple and nothing stands before it; `None` leaves it to others.
    #[inline]
    pub(crate) fn run_here<K: HostKernel>(
        self: &Arc<Self>,
        kernel: &K,
        operands: &[&Allocation],
    ) -> Option<Result<()>> {
        if operands.len() != kernel.operands() || operands.len() > MOST {
            return None;
        }
        let mut bases = [Address::new(0); MOST];
        for (index, operand) in operands.iter().enumerate() {
            let block = operand.block();
            if !Arc::ptr_eq(block.home(), self) {
                return self.run_quiet(kernel, operands, true);
            }
            if kernel.footprint(index).bytes.end > block.bytes {
                return None;
            }
            bases[index] = block.base;
        }
        let line = self.lock();
        if !self.is_quiet(&line, operands) {
            return None;
        }
        let bases = &bases[..operands.len()];
        Some(explain::inline(self.native(), kernel, || {
            run(kernel, bases)
        }))
    }

    /// The same of a kernel whose first operand is yet to be allocated, under the same lock; that
    /// operand.
    #[inline]
    pub(crate) fn run_here_into_new<K: HostKernel>(
        self: &Arc<Self>,
        kernel: &K,
        kind: MemoryKind,
        bytes: usize,
        inputs: &[&Allocation],
    ) -> Option<Result<Allocation>> {
        let count = 1 + inputs.len();
        let fits = |operand: usize, bytes: usize| kernel.footprint(operand).bytes.end <= bytes;
        if count != kernel.operands() || count > MOST || !fits(0, bytes) {
            return None;
        }
        let mut bases = [Address::new(0); MOST];
        for (index, input) in inputs.iter().enumerate() {
            let block = input.block();
            if !Arc::ptr_eq(block.home(), self) || !fits(1 + index, block.bytes) {
                return None;
            }
            bases[1 + index] = block.base;
        }
        let pool = self.device().default_pool_if_current(kind)?;
        let class = pool.plain_class(self, bytes)?;
        let answer;
        let memory;
        {
            let mut line = self.lock();
            if !self.is_quiet(&line, inputs) {
                return None;
            }
            let home = || Queue::of(Arc::clone(self));
            memory = pool.allocate_plainly(self, &mut line, class, bytes, home)?;
            bases[0] = memory.address();
            answer = self
                .is_quiet(&line, &[&memory])
                .then(|| explain::inline(self.native(), kernel, || run(kernel, &bases[..count])));
        }
        // Without the line: memory that isn't handed out goes back under it.
        Some(answer?.map(|()| memory))
    }

    /// Whether neither the queue of this line nor anybody else has anything to do yet with operands
    /// that are at home on it, and none of them is the outcome of a failure.
    #[inline]
    fn is_quiet(&self, line: &Line, operands: &[&Allocation]) -> bool {
        let progress = self.native().progress();
        let idle = line.submitted == progress.completed() && line.waits.is_empty();
        let healthy = progress.failed() == 0;
        let quiet = |operand: &&Allocation| {
            let tracking = &operand.block().tracking;
            // On an idle queue all uses by the home queue have finished. Whether it is idle is a
            // matter of timing, which timeless memory must not show.
            !tracking.is_timeless()
                && ((healthy && !tracking.has_others()) || tracking.is_quiet(self.native()))
        };
        !line.closed && idle && operands.iter().all(quiet)
    }

    /// Runs a kernel behind the last uses of its operands and nothing else, on this queue of the
    /// host's unless it is small and they are over.
    pub(crate) fn observe<K: HostKernel + 'static>(
        self: &Arc<Self>,
        kernel: K,
        operands: &[&Allocation],
        cost: u32,
    ) -> Result<()> {
        lifecycle::check("observing")?;
        if cost <= INLINE_NANOSECONDS
            && self.device().info().host_executed
            && let Some(answer) = self.run_quiet(&kernel, operands, false)
        {
            return answer;
        }
        self.launch_in_order(kernel, operands)
    }

    /// Runs the kernel, if nobody uses its operands, which may be at home on other queues, and this
    /// queue is idle if that is asked; `None` leaves it to others.
    #[cold]
    fn run_quiet<K: HostKernel>(
        self: &Arc<Self>,
        kernel: &K,
        operands: &[&Allocation],
        idle: bool,
    ) -> Option<Result<()>> {
        if operands.len() != kernel.operands() {
            return None;
        }
        let mut uses: SmallVec<[Use<'_>; MOST]> = SmallVec::new();
        let mut bases: SmallVec<[Address; MOST]> = SmallVec::new();
        for (index, &allocation) in operands.iter().enumerate() {
            let (block, footprint) = (allocation.block(), kernel.footprint(index));
            let is_ours = block.home().device() == self.device();
            if footprint.bytes.end > block.bytes || !is_ours {
                return None;
            }
            let access = footprint.access;
            uses.push(Use { allocation, access });
            bases.push(block.base);
        }
        let lines = Lines::lock(self, &uses);
        let is_quiet = |operand: &&Allocation| {
            let block = operand.block();
            !block.tracking.is_timeless() && block.tracking.is_quiet(block.home().native())
        };
        let is_free = !lines.own.closed && (!idle || self.is_idle(&lines.own));
        if !is_free || !operands.iter().all(is_quiet) {
            return None;
        }
        Some(explain::inline(self.native(), kernel, || {
            run(kernel, &bases)
        }))
    }
}

/// Runs a kernel on the calling thread, under the line that guards its operands.
#[inline]
fn run<K: HostKernel>(kernel: &K, bases: &[Address]) -> Result<()> {
    let body = AssertUnwindSafe(|| {
        // SAFETY: the caller checked that there is a base for each operand and that the footprints
        // lie within live allocations; it holds the lines of all operands' homes and found them
        // quiet, so nobody else touches them until this returns; the range is the whole extent,
        // run once.
        unsafe { kernel.run(bases, 0..kernel.extent()) }?;
        // SAFETY: as above, and every piece was run.
        unsafe { kernel.finish(bases) }
    });
    match catch_unwind(body) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(fail(kernel, error.kind, &error.reason)),
        Err(payload) => {
            let reason = Failure::panic_reason(payload);
            Err(fail(kernel, FailureKind::Panic, &reason))
        }
    }
}

#[cold]
fn fail(kernel: &dyn HostKernel, kind: FailureKind, reason: &str) -> Error {
    let failure = Failure::with_origin(kind, describe(kernel), reason, current_origin());
    failure.surface();
    Error::Failed(failure)
}
