//! What can be asked of a queue beside kernels: copies, fills, host tasks, barriers, gates, hints.

use std::ops::Range;
use std::sync::Arc;

use millpond_hal::{Access, Advice, Command, Gate, Pattern, Touch};

use crate::error::Result;
use crate::event::Event;
use crate::lifecycle;
use crate::memory::Allocation;
use crate::pool::{RecordedPoint, Step};
use crate::queue::Queue;
use crate::queue::fit::{
    check_copied, check_copy, check_device, check_fill, check_range, overwrite,
};
use crate::queue::submit::Use;
use crate::queue::task::as_task_of;

/// What runs on a host thread when the queue reaches it; the error's text becomes the failure.
pub type TaskResult = std::result::Result<(), String>;

impl Queue {
    /// Copies bytes between allocations, or within one where the ranges don't overlap. Those of
    /// another device may be copied if it works in the host's memory, as the CPU does, if both are
    /// of one driver, or if they are of host kind.
    ///
    /// # Errors
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch); ranges outside of the allocations, or overlapping; a closed queue.
    pub fn copy(
        &self,
        src: &Allocation,
        src_offset: usize,
        dst: &Allocation,
        dst_offset: usize,
        bytes: usize,
    ) -> Result<()> {
        check_copied(self.device(), 0, src)?;
        check_copied(self.device(), 1, dst)?;
        let ranges = [(src.bytes(), src_offset), (dst.bytes(), dst_offset)];
        check_copy(ranges, bytes, src.same_as(dst))?;
        if bytes == 0 {
            return Ok(());
        }
        let uses = [
            Use {
                allocation: src,
                access: Access::Read,
            },
            Use {
                allocation: dst,
                access: overwrite(dst.bytes(), bytes),
            },
        ];
        let command = Command::Copy {
            src: src.address().offset(src_offset),
            dst: dst.address().offset(dst_offset),
            bytes,
        };
        self.core().submit(&uses, command).map(drop)
    }

    /// Repeats a pattern over a range of bytes.
    ///
    /// # Errors
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch) for memory of another device that isn't of host kind; a range
    /// outside of the allocation, or not a multiple of the pattern; a closed queue.
    pub fn fill(&self, dst: &Allocation, range: Range<usize>, pattern: Pattern) -> Result<()> {
        self.check_own("fill", dst)?;
        let bytes = range.len();
        check_fill(dst.bytes(), &range, pattern)?;
        if bytes == 0 {
            return Ok(());
        }
        let uses = [Use {
            allocation: dst,
            access: overwrite(dst.bytes(), bytes),
        }];
        let dst = dst.address().offset(range.start);
        self.core()
            .submit(
                &uses,
                Command::Fill {
                    dst,
                    pattern,
                    bytes,
                },
            )
            .map(drop)
    }

    /// Runs a closure on a host thread, in order with everything that uses the same memory.
    ///
    /// The closure may submit to queues; it must not wait for work behind itself.
    ///
    /// # Errors
    /// A closed queue. What the closure returns or panics with surfaces at a wait.
    pub fn task(
        &self,
        name: impl Into<Arc<str>>,
        uses: &[Use<'_>],
        task: impl FnOnce() -> TaskResult + Send + 'static,
    ) -> Result<Event> {
        self.task_after(name, uses, &[], task)
    }

    /// The same, behind events as well: for work that memory doesn't order, or that is foreign.
    ///
    /// Events order and no more: whether what they stand for failed is nothing to the task.
    ///
    /// ```
    /// # use millpond_hal::{Driver, null::NullDriver};
    /// # use millpond_runtime::Device;
    /// # let device = Device::open(NullDriver::default().devices()?.remove(0));
    /// let (one, other) = (device.default_queue()?, device.create_queue(&Default::default())?);
    /// let read = one.task("read a file", &[], || Ok(()))?;
    /// other.task_after("parse it", &[], &[&read], || Ok(()))?.wait()?;
    /// # Ok::<(), millpond_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Queue::task`].
    pub fn task_after(
        &self,
        name: impl Into<Arc<str>>,
        uses: &[Use<'_>],
        after: &[&Event],
        task: impl FnOnce() -> TaskResult + Send + 'static,
    ) -> Result<Event> {
        let command = self.task_command(name.into(), task);
        self.behind(uses, command, after)
    }

    /// Runs a closure on a host thread that uses memory by its address, without a handle.
    ///
    /// Nothing but the queue and the events orders such uses, and nothing keeps the memory for
    /// them: the allocation must have begun before, by the event of
    /// [`Queue::allocate_with`](crate::Queue::allocate_with) or on this very queue, and
    /// [`Queue::free`](crate::Queue::free) must come after. `claims` says what is used, to be
    /// checked where `MILLPOND_CHECK_ORDER` is on, and changes nothing else.
    ///
    /// ```
    /// # use millpond_hal::{Driver, null::NullDriver};
    /// # use millpond_runtime::{Access, Device, MemoryKind, Touch};
    /// # let device = Device::open(NullDriver::default().devices()?.remove(0));
    /// let queue = device.default_queue()?;
    /// let memory = queue.allocate(MemoryKind::Shared, 64)?;
    /// let claim = Touch { address: memory.address(), bytes: 64, access: Access::Write };
    /// queue.task_at("solver", &[claim], &[], move || {
    ///     // Foreign code is called here with the address.
    ///     Ok(())
    /// })?;
    /// queue.free(memory, &[]).map_err(|(error, _)| error)?;
    /// # Ok::<(), millpond_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    /// A closed queue. What the closure returns or panics with surfaces at a wait.
    pub fn task_at(
        &self,
        name: impl Into<Arc<str>>,
        claims: &[Touch],
        after: &[&Event],
        task: impl FnOnce() -> TaskResult + Send + 'static,
    ) -> Result<Event> {
        let command = self.task_command(name.into(), task);
        let done = self
            .core()
            .submit_after(&[], Some(claims), command, after)?;
        self.note_followed(&done, after);
        Ok(done)
    }

    fn task_command(
        &self,
        name: Arc<str>,
        task: impl FnOnce() -> TaskResult + Send + 'static,
    ) -> Command {
        let queue = self.id();
        Command::Task {
            name,
            task: Box::new(move || as_task_of(queue, task)),
        }
    }

    /// Holds the queue until the gate is opened, which may be done from any thread.
    ///
    /// # Errors
    /// A closed queue.
    pub fn gate(&self, gate: &Gate, uses: &[Use<'_>]) -> Result<Event> {
        self.gate_after(gate, uses, &[])
    }

    /// The same, behind events as well, as for [`Queue::task_after`].
    ///
    /// # Errors
    /// A closed queue.
    pub fn gate_after(&self, gate: &Gate, uses: &[Use<'_>], after: &[&Event]) -> Result<Event> {
        self.behind(uses, Command::Gate(gate.clone()), after)
    }

    /// Waits on the queue for everything before it and for the events; later commands wait for it.
    ///
    /// # Errors
    /// A closed queue.
    pub fn barrier(&self, events: &[&Event]) -> Result<Event> {
        let barrier = self
            .core()
            .submit_after(&[], Some(&[]), Command::Barrier, events)?;
        for event in events {
            self.note_follow(barrier.sequence(), event);
        }
        Ok(barrier.of_all())
    }

    /// Makes everything submitted from now on happen after the event, wherever it was recorded.
    ///
    /// # Errors
    /// A closed queue; on an out-of-order queue this submits a barrier.
    pub fn wait_for(&self, event: &Event) -> Result<()> {
        lifecycle::check("waiting for an event")?;
        if !self.is_in_order() {
            return self.barrier(&[event]).map(drop);
        }
        let native = event.queue_core().native();
        let foreign = !Arc::ptr_eq(native, self.core().native());
        let mut line = self.core().lock();
        line.check_open(self.core())?;
        if foreign {
            let site = self.core().device().site();
            line.learn(event, site);
            line.counted.begin(&site.unsettled);
            line.waits.follow(event);
        }
        let submitted = line.submitted;
        drop(line);
        if foreign {
            self.note_follow(submitted, event);
        }
        Ok(())
    }

    /// Has recordings know that what comes behind this command comes behind the event too.
    fn note_follow(&self, submitted: u64, event: &Event) {
        let native = self.core().native();
        self.device().site().note(|| Step::Follow {
            at: native.point(submitted).into(),
            after: RecordedPoint::of_events(&[event]),
        });
    }

    /// Hints that a range will be used on the device.
    ///
    /// # Errors
    /// [`Error::DeviceMismatch`](crate::Error::DeviceMismatch) for memory of another device that isn't of host kind; a range
    /// outside of the allocation; a closed queue.
    pub fn prefetch(&self, allocation: &Allocation, range: Range<usize>) -> Result<()> {
        self.check_own("prefetch", allocation)?;
        check_range("prefetch", allocation.bytes(), range.start, range.len())?;
        let address = allocation.address().offset(range.start);
        let uses = [Use {
            allocation,
            access: Access::Read,
        }];
        self.core()
            .submit(
                &uses,
                Command::Prefetch {
                    address,
                    bytes: range.len(),
                },
            )
            .map(drop)
    }

    /// Hints how a range is used.
    ///
    /// # Errors
    /// As for [`Queue::prefetch`].
    pub fn advise(
        &self,
        allocation: &Allocation,
        range: Range<usize>,
        advice: Advice,
    ) -> Result<()> {
        self.check_own("advise", allocation)?;
        check_range("advise", allocation.bytes(), range.start, range.len())?;
        let address = allocation.address().offset(range.start);
        let uses = [Use {
            allocation,
            access: Access::Read,
        }];
        let command = Command::Advise {
            address,
            bytes: range.len(),
            advice,
        };
        self.core().submit(&uses, command).map(drop)
    }

    /// Fails unless the queue's device can use the memory.
    fn check_own(&self, operation: &'static str, memory: &Allocation) -> Result<()> {
        check_device(self.device(), 0, memory, || operation.to_owned())
    }

    fn behind(&self, uses: &[Use<'_>], command: Command, after: &[&Event]) -> Result<Event> {
        let done = self.core().submit_event(uses, command, after)?;
        self.note_followed(&done, after);
        Ok(done)
    }

    /// Has recordings know that a command, and what comes behind it in order, comes behind events.
    pub(super) fn note_followed(&self, done: &Event, after: &[&Event]) {
        if self.is_in_order() {
            for event in after {
                self.note_follow(done.sequence() - 1, event);
            }
        }
    }
}
