//! The window: a command that may grow until it begins (design 7).
//!
//! # Protocol
//! A kernel that implements [`Growing`] is submitted like any other, and its queue's line remembers
//! it. While it is the queue's last command, hasn't begun, and nobody has asked to be told when it
//! is done, further work may be *joined* to it instead of being submitted. What is joined has the
//! sequence number of the window, so it is recorded on its operands, waited for and reused behind
//! like any command, and nothing else in the runtime knows of windows:
//!
//! * It comes after everything that was submitted before, as the window does, and before everything
//!   that is submitted after.
//! * Whoever captures what an operand must be waited for finds the window's number, whether the
//!   window has grown since or not.
//! * A window only ever waits for what it waited for when it was submitted: work that must follow
//!   anything else isn't joined. So the order stays free of cycles. And it fails with what it
//!   depends on; work that depends on less, or on more, isn't joined, so that failures reach what
//!   depends on them and nothing else (rule O7).
//!
//! The backend says when the window begins ([`HostKernel::begin`]), which for a queue that is idle
//! may be a moment after it was submitted. It is *sealed*, so that it begins at once and takes no
//! more, by the next command, by whoever wants an event or waits, and by commands of other queues
//! on its operands: they wait for exactly what was asked for before (rules O5, O6).
//!
//! Memory whose last handle is dropped while its writer is in the window needs no write: nobody can
//! read it any more but the window itself. Once it is sealed somebody else could: a command of
//! another queue, or whoever has an event and uses memory by its address.

use std::any::Any;
use std::sync::Arc;

use millpond_hal::{Command, Growing, HostKernel, Joined};
use smallvec::SmallVec;

use crate::error::Result;
use crate::explain::{self, Closed, Note};
use crate::lifecycle;
use crate::memory::{Block, Dependencies, Source};
use crate::queue::fit::check_kernel;
use crate::queue::line::Line;
use crate::queue::submit::{Use, describe, whole};
use crate::queue::{INLINE_NANOSECONDS, Native, Queue, QueueCore, closing};
use crate::sync::atomic::{AtomicBool, Ordering::Relaxed};
use crate::trace::current_origin;
use crate::weaken::{Rule, is_broken};

/// The last command of a queue, if it may grow.
pub(crate) struct Window {
    kernel: Arc<dyn Growing>,
    sequence: u64,
    is_sealed: AtomicBool,
    note: Option<Arc<Note>>,
    /// Whose failure it shares.
    after: SmallVec<[(Arc<Native>, u64); 1]>,
}

impl std::fmt::Debug for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "window at {}", self.sequence)
    }
}

impl Window {
    /// Begins without waiting for more.
    fn seal(&self, why: Closed) {
        if !self.is_sealed.swap(true, Relaxed) {
            if let Some(note) = &self.note {
                note.close(why);
            }
            self.kernel.seal();
        }
    }

    /// A block's last handle was dropped.
    pub(crate) fn forget(&self, block: &Block) {
        if closing::is_due() {
            self.seal(Closed::Ready);
        }
        if self.is_sealed.load(Relaxed) {
            return;
        }
        let begin = block.base.get();
        self.kernel.forget(&(begin..begin + block.bytes));
    }
}

impl Queue {
    /// Joins work to the window of the queue, or submits a kernel that is a window from then on.
    ///
    /// `join` adds the work to a kernel that may still grow, and answers whether it did; `make` is a
    /// kernel of the work alone, if there is one: the answer is whether either was done. `operands` are the kernel's, in its order.
    ///
    /// # Errors
    /// Operands that don't fit the kernel or the device; a closed queue.
    pub fn launch_growing<K: Growing>(
        &self,
        operands: &[Use<'_>],
        join: impl FnOnce(&K) -> bool,
        make: impl FnOnce() -> Option<K>,
    ) -> Result<bool> {
        lifecycle::check("launching")?;
        if self.core().join_window(operands, join)? {
            return Ok(true);
        }
        let Some(kernel) = make() else {
            return Ok(false);
        };
        self.core().open_window(operands, Arc::new(kernel))?;
        Ok(true)
    }

    /// Whether work that costs so many nanoseconds on one thread is better joined than launched by
    /// itself: on in-order queues of a device which runs host code or compiles, unless somebody looks
    /// at single commands; and not what may run on the calling thread.
    #[inline]
    pub fn is_worth_joining(&self, nanoseconds: u32) -> bool {
        let core = self.core();
        core.grows && (nanoseconds > INLINE_NANOSECONDS || !core.inline)
    }
}

impl QueueCore {
    /// Adds work to the window, if there is one that can take it.
    fn join_window<K: Growing>(
        self: &Arc<Self>,
        operands: &[Use<'_>],
        join: impl FnOnce(&K) -> bool,
    ) -> Result<bool> {
        if !operands.iter().all(|operand| self.is_plain(operand)) {
            return Ok(false);
        }
        let line = self.lock();
        line.check_open(self)?;
        let Some(window) = &line.window else {
            return Ok(false);
        };
        if window.sequence != line.submitted || !line.waits.is_empty() {
            return Ok(false);
        }
        if closing::is_due() {
            window.seal(Closed::Ready);
        }
        let (native, sequence) = (self.native(), window.sequence);
        let mut found = Dependencies::default();
        for operand in operands {
            let tracking = &operand.allocation.block().tracking;
            tracking.capture(native, Some(native), operand.access, &mut found);
        }
        let is_own = |(queue, number): &(Arc<Native>, u64)| {
            Arc::ptr_eq(queue, native) && *number == sequence
        };
        let reads_own = found.after.iter().any(is_own);
        found.after.retain(|point| !is_own(point));
        // What reads a value of the window depends on what the window depends on.
        let same_failures = if found.after.is_empty() {
            reads_own || window.after.is_empty()
        } else {
            let known = |(queue, number): &(Arc<Native>, u64)| {
                let mut after = window.after.iter();
                after.any(|(other, at)| Arc::ptr_eq(queue, other) && number == at)
            };
            found.after.iter().all(known) && (reads_own || found.after.len() == window.after.len())
        };
        let fits = same_failures && found.behind.is_empty();
        if !fits && !is_broken(Rule::JoinWhatFits) {
            return Ok(false);
        }
        let kernel: &dyn Any = &*window.kernel;
        if !kernel.downcast_ref::<K>().is_some_and(join) {
            return Ok(false);
        }
        let recorded = if is_broken(Rule::RecordJoined) {
            &[]
        } else {
            operands
        };
        for operand in recorded {
            let tracking = &operand.allocation.block().tracking;
            tracking.record(native, native, sequence, operand.access);
        }
        if self.listened_to {
            native.hal().joined(&Joined {
                sequence,
                command: describe(&*window.kernel).into(),
                touches: &whole(operands),
                origin: current_origin(),
            });
        }
        if let Some(note) = &window.note {
            note.join();
        }
        Ok(true)
    }

    /// Submits a kernel that may grow from then on.
    fn open_window<K: Growing>(self: &Arc<Self>, uses: &[Use<'_>], kernel: Arc<K>) -> Result<()> {
        let sizes: SmallVec<[usize; 4]> = uses.iter().map(|use_| use_.allocation.bytes()).collect();
        check_kernel(&*kernel, &sizes)?;
        self.check_devices(uses, || describe(&*kernel))?;
        let bases = uses.iter().map(|use_| use_.allocation.address()).collect();
        let command = Command::Launch {
            kernel: Arc::clone(&kernel) as Arc<dyn HostKernel>,
            bases,
        };
        let grows = uses.iter().all(|use_| self.is_plain(use_));
        if !grows {
            kernel.seal();
        }
        let keep = |line: &mut Line, sequence, follow: &Dependencies| {
            line.window = grows.then(|| Window {
                kernel,
                sequence,
                is_sealed: AtomicBool::new(false),
                note: explain::latest().inspect(|note| note.grows()),
                after: follow.after.iter().cloned().collect(),
            });
            sequence
        };
        let others = Dependencies::default();
        let sequence = self.submit_behind(uses, None, command, others, keep)?;
        self.wait_if_shared(uses, sequence)
    }

    /// Whether an operand's order is a matter of this queue's line alone.
    fn is_plain(self: &Arc<Self>, operand: &Use<'_>) -> bool {
        let block = operand.allocation.block();
        Arc::ptr_eq(block.home(), self)
            && matches!(block.source, Source::Pool { .. })
            && !block.is_host_shared()
            && !block.is_on_stream()
            && !block.tracking.is_revoked()
    }
}

impl Line {
    /// Has the window begin without waiting for more.
    #[inline]
    pub(crate) fn seal(&self, why: Closed) {
        if let Some(window) = &self.window {
            window.seal(why);
        }
    }
}
