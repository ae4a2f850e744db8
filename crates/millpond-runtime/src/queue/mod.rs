//! Queues: ordered lines of commands on one device.
//!
//! `line.rs` has the submission protocol, `submit.rs` carries it out, `work.rs` lists what can be
//! asked of a queue, `native.rs` is the backend's part of it.

mod address;
mod batch;
mod bridge;
mod call;
mod closing;
mod driven;
pub(crate) mod fit;
mod gone;
mod hold;
mod inline;
mod life;
mod line;
#[cfg(all(test, loom))]
mod model;
mod native;
mod recycling;
pub(crate) mod submit;
mod task;
#[cfg(test)]
#[allow(unsafe_code, reason = "kernels make promises")]
mod tests;
mod unsettled;
mod window;
pub(crate) mod work;

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use millpond_hal as hal;
use millpond_hal::{Failure, HostKernel, QueueOptions};
use millpond_types::MemoryKind;
use millpond_types::config::Config;
use smallvec::SmallVec;

use crate::device::Device;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::explain::Closed;
use crate::lifecycle;
use crate::memory::{Allocation, Block, Lent, Source};
use crate::sync::MutexGuard;

pub(crate) use batch::Batch;
pub use call::Operands;
pub use closing::close_windows_at_random;
pub(crate) use gone::Gone;
pub use hold::Hold;
pub(crate) use hold::interrupt as interrupt_holds;
pub(crate) use line::{Line, LineLock};
pub(crate) use native::Native;
pub(crate) use submit::stop_if_interrupted;
pub use submit::{BACKLOG, INLINE_NANOSECONDS, Use};
pub(crate) use task::in_task;
pub use task::{as_task, serve_tasks};
pub(crate) use unsettled::{Counted, Unsettled};

/// Handle to a queue. Clones are the same queue, and only they compare equal. `Send`, `Sync`.
///
/// ```
/// # use millpond_hal::{Driver, null::NullDriver};
/// # use millpond_runtime::Device;
/// # let device = Device::open(NullDriver::default().devices()?.remove(0));
/// let queue = device.default_queue()?;
/// let event = queue.record()?;
/// event.wait()?;
/// # Ok::<(), millpond_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct Queue(Arc<QueueCore>);

/// What handles of a queue, and allocations at home on it, share. It has cache lines of its own:
/// two queues have nothing in common that one of them writes.
#[repr(align(128))]
pub(crate) struct QueueCore {
    device: Device,
    native: Arc<Native>,
    profiling: bool,
    /// Whether small commands may run on the calling thread.
    pub(crate) inline: bool,
    /// Whether commands may grow after they were submitted.
    grows: bool,
    /// Whether a layer over the driver wants to know what commands use.
    listened_to: bool,
    line: Arc<LineLock>,
}

impl Queue {
    #[inline]
    pub(crate) fn of(core: Arc<QueueCore>) -> Self {
        Self(core)
    }

    #[inline]
    pub(crate) fn core(&self) -> &Arc<QueueCore> {
        &self.0
    }

    /// The device it belongs to.
    #[inline]
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// A number that no other queue of the process has or will have.
    pub fn id(&self) -> u64 {
        self.0.native.id().get()
    }

    /// Whether commands take effect in the order of their submission.
    pub fn is_in_order(&self) -> bool {
        self.0.native.in_order
    }

    /// Whether the times of its commands are kept for [`Event::times`].
    pub fn is_profiling(&self) -> bool {
        self.0.profiling
    }

    /// Whether everything submitted has finished, and there is no event to wait for.
    pub fn is_idle(&self) -> bool {
        self.0.is_idle(&self.0.lock())
    }

    /// Whether a wait would return at once and have nothing to tell: everything submitted has
    /// finished, and every failure was told. Never after shutdown or in a forked process.
    ///
    /// To ask is not to wait: memory of pools without rule R3 is no freer by it.
    #[inline]
    pub fn is_settled(&self) -> bool {
        lifecycle::is_running() && self.0.is_settled(&self.0.lock())
    }

    /// Waits for everything submitted so far, if the wait would return at once and have nothing to
    /// tell; whether it did.
    #[inline]
    pub fn try_wait(&self) -> bool {
        lifecycle::is_running() && self.0.try_wait()
    }

    /// Allocates from the device's pool of this kind. The address is known at once; the bytes are
    /// uninitialised.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] with what the pool holds; a closed queue.
    #[inline]
    pub fn allocate(&self, kind: MemoryKind, bytes: usize) -> Result<Allocation> {
        self.0.device.allocate(&self.0, kind, bytes)
    }

    /// Runs a kernel over its whole extent on these operands, in order with everything else that
    /// uses them.
    ///
    /// `cost` estimates the work in nanoseconds on one thread. Small work on a quiet queue runs
    /// before this returns, and its error is this call's; other errors surface at a wait.
    ///
    /// # Errors
    /// Operands that don't fit the kernel or the device; a closed queue.
    #[inline]
    pub fn launch<K: HostKernel + 'static>(
        &self,
        kernel: K,
        operands: &[&Allocation],
        cost: u32,
    ) -> Result<()> {
        self.0.launch(kernel, operands, cost)
    }

    /// Allocates memory of this kind and launches a kernel whose first operand it is: as
    /// [`Queue::allocate`] and [`Queue::launch`] would, but small work takes the queue's lock once.
    ///
    /// # Errors
    /// As for both.
    #[inline]
    pub fn launch_into_new<K: HostKernel + 'static>(
        &self,
        kernel: K,
        kind: MemoryKind,
        bytes: usize,
        inputs: &[&Allocation],
        cost: u32,
    ) -> Result<Allocation> {
        self.0.launch_into_new(kernel, kind, bytes, inputs, cost)
    }

    /// The same where that takes no wait: `None`, and nothing was done, unless the work is small and
    /// nothing stands before it. A kernel that has run tells what it found.
    ///
    /// # Errors
    /// As for [`Queue::launch_into_new`], but for those of memory that isn't at hand.
    #[inline]
    pub fn launch_into_new_at_once<K: HostKernel>(
        &self,
        kernel: &K,
        kind: MemoryKind,
        bytes: usize,
        inputs: &[&Allocation],
        cost: u32,
    ) -> Option<Result<Allocation>> {
        self.0
            .launch_into_new_at_once(kernel, kind, bytes, inputs, cost)
    }

    /// Waits for everything submitted so far.
    ///
    /// # Errors
    /// The first failure that no wait has told yet (rule O7).
    pub fn wait(&self) -> Result<()> {
        self.wait_until(None)
    }

    /// Waits for everything submitted so far, or until the deadline.
    ///
    /// # Errors
    /// As for [`Queue::wait`]; [`Error::TimedOut`].
    pub fn wait_until(&self, deadline: Option<Instant>) -> Result<()> {
        lifecycle::check("waiting")?;
        if self.0.try_wait() {
            return Ok(());
        }
        self.finish(deadline)?;
        self.check()
    }

    /// Waits for everything submitted so far, or until the deadline, and tells of no failure. On an
    /// out-of-order queue that isn't closed this submits a barrier.
    ///
    /// # Errors
    /// [`Error::TimedOut`]; a queue that was closed just now; a task of this queue, which would wait for itself.
    pub fn finish(&self, deadline: Option<Instant>) -> Result<()> {
        lifecycle::check("waiting")?;
        task::check_wait(self.id())?;
        let begin = Instant::now();
        let sequence = self.0.last_command();
        let sequence = sequence.map_or_else(|| self.barrier(&[]).map(|event| event.sequence()), Ok);
        let sequence = sequence?;
        let native = &self.0.native;
        native.wait_for_all(sequence, deadline, begin)?;
        self.0.device.site().after_wait(native.point(sequence));
        Ok(())
    }

    /// Whether something failed that no wait has told yet, without waiting.
    ///
    /// # Errors
    /// The first such failure, which then counts as told (rule O7).
    pub fn check(&self) -> Result<()> {
        self.0
            .untold_failure()
            .map_or(Ok(()), |failure| Err(Error::Failed(failure)))
    }

    /// Closes the queue to new work; what was submitted is finished. Closing twice does nothing.
    ///
    /// Allocations at home on it stay valid, for commands of other queues.
    pub fn close(&self) {
        self.0.lock().closed = true;
    }

    /// An event for everything submitted so far, which holds nothing back.
    ///
    /// On an out-of-order queue that isn't idle it stands for a command of its own, which waits for no
    /// room: the next one does.
    ///
    /// # Errors
    /// A closed queue, if it is out of order and not idle.
    pub fn record(&self) -> Result<Event> {
        let mut line = self.0.lock();
        // The last command doesn't stand for all on an out-of-order queue, nor for what the queue
        // waits for since. A closed queue takes no more commands that could.
        let stands_for_all = if self.is_in_order() {
            line.waits.is_empty() || line.closed
        } else {
            self.0.is_idle(&line)
        };
        if stands_for_all {
            return Ok(self.0.event_at(&line, line.submitted).of_all());
        }
        if self.is_in_order() {
            drop(line);
            return self.barrier(&[]);
        }
        lifecycle::check("recording an event")?;
        let joined = self.0.append_join_of_all(&mut line);
        let event = joined.map(|joined| self.0.event_at(&line, joined).of_all());
        drop(line);
        self.0.settle(event, SmallVec::new())
    }

    /// Waits until the queue has room for a command, as every submission does by itself (rule O4).
    ///
    /// For several commands that are submitted under a lock which what the queue runs may want too: once
    /// there is room, [`as_task`] has none of them wait.
    ///
    /// # Errors
    /// A closed queue.
    pub fn wait_for_room(&self) -> Result<()> {
        lifecycle::check("waiting for room")?;
        self.0.lock_with_room(&[]).map(drop)
    }
}

impl QueueCore {
    pub(crate) fn new(
        device: Device,
        native: Arc<dyn hal::Queue>,
        driver: u64,
        options: &QueueOptions,
    ) -> Self {
        let in_order = !options.out_of_order;
        let single = in_order && !options.profiling;
        let inline = device.info().host_executed && single;
        let compiles = device.info().compiles && single;
        let grows = (inline || compiles) && Config::get().fusion;
        let listened_to = device.hal().listens();
        let native = Arc::new(Native::new(native, driver, in_order));
        let line = Arc::default();
        Self {
            device,
            native,
            profiling: options.profiling,
            inline,
            grows,
            listened_to,
            line,
        }
    }

    #[inline]
    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    #[inline]
    pub(crate) fn native(&self) -> &Arc<Native> {
        &self.native
    }

    #[inline]
    pub(crate) fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock()
    }

    /// What the line is behind.
    #[inline]
    pub(crate) fn line_lock(&self) -> &Arc<LineLock> {
        &self.line
    }

    /// An event for a command, with what the queue knows now.
    pub(crate) fn event_at(self: &Arc<Self>, line: &Line, sequence: u64) -> Event {
        line.seal(Closed::Waited);
        Event::new(Arc::clone(self), sequence, line.clock.clone())
    }

    /// Looks at the line, for whoever wants to know what the queue has to do yet.
    pub(crate) fn with_line<R>(&self, body: impl FnOnce(&mut Line) -> R) -> R {
        let mut line = self.lock();
        line.seal(Closed::Waited);
        body(&mut line)
    }

    /// Looks at what the line keeps for pools, which is no matter of the queue's last command: that
    /// may still grow.
    pub(crate) fn look<R>(&self, body: impl FnOnce(&mut Line) -> R) -> R {
        body(&mut self.lock())
    }

    /// A command that finishes after everything submitted so far; none if it takes a barrier.
    fn last_command(&self) -> Option<u64> {
        let line = self.lock();
        line.seal(Closed::Waited);
        let simple = (self.native.in_order || line.closed) && line.waits.is_empty();
        (simple || self.is_idle(&line)).then_some(line.submitted)
    }

    #[inline]
    fn is_idle(&self, line: &Line) -> bool {
        line.submitted == self.native.progress().completed() && line.waits.is_empty()
    }

    /// Whether a wait would return at once and have nothing to tell nor to do.
    #[inline]
    fn is_settled(&self, line: &Line) -> bool {
        self.is_idle(line)
            && self.native.progress().failed() as usize <= line.told
            && !self.device.site().has_duties()
    }

    /// The same; it then counts as a wait.
    #[inline]
    fn try_wait(&self) -> bool {
        let mut line = self.lock();
        let settled = self.is_settled(&line);
        if settled {
            self.native.observe_all(line.submitted);
            line.counted.end(&self.device.site().unsettled);
        }
        settled
    }

    /// Wraps foreign memory, at which the host looks whenever it likes if it is shared with it.
    /// `Queue::import` and `Queue::adopt` state what the caller promises.
    pub(crate) fn import(
        self: &Arc<Self>,
        kind: MemoryKind,
        base: hal::Address,
        bytes: usize,
        release: crate::memory::Release,
        host_shared: bool,
    ) -> Result<Allocation> {
        self.lock().check_open(self)?;
        let lent = Lent::default();
        if host_shared {
            lent.to_host();
        }
        Ok(Allocation::new(triomphe::Arc::new(Block {
            base,
            capacity: bytes,
            bytes,
            kind,
            home: Some(Queue::of(Arc::clone(self))),
            tracking: crate::memory::tracking::Tracking::default(),
            source: Source::Foreign(Some(release)),
            tag: None,
            lent,
        })))
    }

    /// The next failure of the queue that no wait has told.
    fn untold_failure(&self) -> Option<Failure> {
        let told = self.lock().told;
        if self.native.progress().failed() as usize <= told {
            return None;
        }
        let failures = self.native.hal().failures(told);
        let untold = failures.iter().position(|(_, failure)| failure.surface());
        let looked_at = untold.map_or(failures.len(), |position| position + 1);
        let mut line = self.lock();
        line.told = line.told.max(told + looked_at);
        untold.map(|position| failures[position].1.clone())
    }
}

impl Drop for QueueCore {
    fn drop(&mut self) {
        if lifecycle::is_running() {
            self.flush_caches();
            // Who still knows of the line by a list of queues finds nothing in it.
            let mut line = std::mem::take(&mut *self.lock());
            let (last, told) = (line.submitted, line.told);
            let mut counted = std::mem::take(&mut line.counted);
            drop(line);
            let site = self.device.site();
            site.gone.add(&self.native, last, told);
            counted.end(&site.unsettled);
        } else {
            std::mem::forget(self.lock().take_caches());
        }
    }
}

impl PartialEq for Queue {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Queue {}

impl std::hash::Hash for Queue {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id().hash(state);
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Queue({} on {})", self.id(), self.0.device)
    }
}

impl fmt::Debug for QueueCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.native.id(), self.device)
    }
}
