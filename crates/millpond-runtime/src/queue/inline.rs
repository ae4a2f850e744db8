//! Small commands, run on the calling thread.
//!
//! A kernel whose operands are all at home on its queue, and whose queue has nothing unfinished,
//! can run while the queue's line is locked: nobody else can submit to the queue or to these
//! operands meanwhile, so it takes effect at once and needs no sequence number. If operands are at
//! home elsewhere, the lines of their homes are locked as well. Anything less simple takes the
//! general way, which gives the same result.
//!
//! What the host is about to look at needs no queue to be idle, since it comes after its operands'
//! last uses and nothing else (rule O5).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use millpond_hal::{Address, Failure, FailureKind, HostKernel};
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::explain;
use crate::lifecycle;
use crate::memory::Allocation;
use crate::queue::line::Lines;
use crate::queue::submit::{Use, describe};
use crate::queue::{INLINE_NANOSECONDS, QueueCore};
use crate::trace::current_origin;

/// The most operands of a kernel that is run here.
const MOST: usize = 4;

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
        if line.closed || !idle || !operands.iter().all(quiet) {
            return None;
        }
        let bases = &bases[..operands.len()];
        Some(explain::inline(self.native(), kernel, || {
            run(kernel, bases)
        }))
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
