//! Streams of other libraries on the same device: work of theirs and ours in an order, without a wait
//! of the host's (rule O8).
//!
//! A stream is known by what the device's own interface calls it by, such as a `CUstream`. What it was
//! given until a moment can be followed, by a queue or by memory that its owner hands over; and it can
//! be held until what is pending here has been done.

mod allocator;
mod lent;

use millpond_hal::{Access, Address, Command};
use millpond_types::MemoryKind;

use crate::device::Device;
use crate::error::Result;
use crate::event::Event;
use crate::lifecycle;
use crate::memory::{Allocation, Dependencies};
use crate::queue::{Native, Queue, Use};

pub use allocator::StreamAllocator;

impl Device {
    /// A stream of the device's own that other libraries may wait for or have wait for theirs, as DLPack
    /// and `__cuda_array_interface__` ask for; the same one whenever it is asked for. Nothing of ours
    /// is carried out on it.
    ///
    /// # Errors
    /// A device without streams, such as the CPU; a lost device.
    pub fn stream(&self) -> Result<usize> {
        lifecycle::check("asking for a stream")?;
        Ok(self.hal().stream()?)
    }

    /// The kind of the memory at an address, if it is memory that the device reaches and that its driver
    /// knows, also that of other libraries.
    ///
    /// # Errors
    /// A lost device.
    pub fn kind_at(&self, address: Address) -> Result<Option<MemoryKind>> {
        lifecycle::check("asking for memory")?;
        Ok(self.hal().kind_at(address)?)
    }

    /// Has a stream of another library's come behind events: what it is given from now on waits for
    /// them. The host waits only for what it has to carry out itself, such as tasks.
    ///
    /// # Errors
    /// A device without such streams; a stream that is being recorded into a graph, or that the driver
    /// refuses otherwise; a lost device.
    ///
    /// # Safety
    /// The stream lives until this returns.
    pub unsafe fn hold_stream(&self, stream: usize, after: &[&Event]) -> Result<()> {
        let mut follow = Dependencies::default();
        for event in after {
            follow.follow(event);
        }
        // SAFETY: the caller's promise.
        unsafe { self.hold_stream_behind(stream, &follow) }
    }

    /// # Safety
    /// As for [`Device::hold_stream`].
    unsafe fn hold_stream_behind(&self, stream: usize, follow: &Dependencies) -> Result<()> {
        lifecycle::check("holding a stream")?;
        let all = || follow.behind.iter().chain(&follow.after);
        let (ours, others): (Vec<_>, Vec<_>) =
            all().partition(|(queue, _)| queue.driver == self.driver());
        let points: Vec<_> = ours
            .iter()
            .map(|(queue, sequence)| queue.point(*sequence))
            .collect();
        // SAFETY: the caller's promise.
        let left = unsafe { self.hal().hold_stream(stream, &points) }?;
        let is_left = |queue: &Native, sequence: u64| left.contains(&queue.point(sequence));
        let on_host = ours
            .into_iter()
            .filter(|(queue, sequence)| is_left(queue, *sequence))
            .chain(others);
        for (queue, sequence) in on_host {
            queue.stall(*sequence, "a wait for what a stream is to follow")?;
        }
        Ok(())
    }
}

impl Queue {
    /// Has what is submitted to this queue from now on come behind what a stream of another library's
    /// was given so far. Nothing waits on the host.
    ///
    /// # Errors
    /// A device without such streams; a stream that is being recorded into a graph, or that the driver
    /// refuses otherwise; a closed queue.
    ///
    /// # Safety
    /// The stream lives until this returns.
    pub unsafe fn follow_stream(&self, stream: usize) -> Result<Event> {
        let command = Command::Stream(stream);
        if self.is_in_order() {
            return self.core().submit_after(&[], Some(&[]), command, &[]);
        }
        // The command of an out-of-order queue holds nothing back but by a barrier.
        let marked = self.core().submit_after(&[], Some(&[]), command, &[])?;
        self.barrier(&[&marked])
    }
}

impl Allocation {
    /// Has what uses the memory from now on come behind what a stream of another library's was given so
    /// far: for memory that the library has written there. Nothing waits on the host, and no queue is
    /// held back.
    ///
    /// # Errors
    /// As for [`Queue::follow_stream`].
    ///
    /// # Safety
    /// The stream lives until this returns.
    pub unsafe fn follow_stream(&self, stream: usize) -> Result<()> {
        let device = self.home().device();
        let uses = [Use {
            allocation: self,
            access: Access::Write,
        }];
        let queue = device.host_queue()?;
        let command = Command::Stream(stream);
        queue
            .core()
            .submit_after(&uses, Some(&[]), command, &[])
            .map(drop)
    }

    /// Has a stream of another library's come behind what is pending on the memory, so that the library
    /// may read it there and, if it `writes`, write it. The host waits only for what it has to carry out
    /// itself.
    ///
    /// # Errors
    /// As for [`Device::hold_stream`]; the failure of the last writer, where it is known.
    ///
    /// # Safety
    /// The stream lives until this returns.
    pub unsafe fn hold_stream(&self, stream: usize, writes: bool) -> Result<()> {
        let access = if writes { Access::Update } else { Access::Read };
        // What the device's own stream was given is before what it is given next.
        if self.is_on_stream() && stream != self.home().device().stream()? {
            self.follow_own_stream()?;
        }
        let follow = self.dependencies(access)?;
        for (queue, sequence) in &follow.after {
            queue.success(*sequence)?;
        }
        // SAFETY: the caller's promise.
        unsafe { self.home().device().hold_stream_behind(stream, &follow) }
    }
}
