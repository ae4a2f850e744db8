//! Memory objects: all bytes of an allocation, or some.

use std::ffi::c_void;
use std::ops::Range;

use millpond::runtime::Access;
use millpond::tensor::Tensor;
use millpond::{Address, Allocation, Event, MemoryKind, Pool, Queue, Release};

use crate::data::{Bytes, In, List, Out};
use crate::describe::functions;
use crate::handle::{Give, Keep, Object, Take};
use crate::number::Number;
use crate::queue::{events_of, stream_at};
use crate::status::{Problem, Result};
use crate::task::Owner;

/// Bytes of an allocation, which views share.
#[derive(Clone, Debug)]
pub struct Memory {
    /// The allocation.
    pub allocation: Allocation,
    /// Where the bytes begin in it.
    pub offset: usize,
    /// How many there are.
    pub bytes: usize,
    /// Whether they must not be written.
    pub read_only: bool,
}

impl Object for Memory {
    const NAME: &'static str = "mp_memory";
}

impl Memory {
    /// All bytes of an allocation.
    pub fn whole(allocation: Allocation, read_only: bool) -> Self {
        Self {
            offset: 0,
            bytes: allocation.bytes(),
            allocation,
            read_only,
        }
    }

    /// A range of the bytes, as one of the allocation.
    pub(crate) fn range(
        &self,
        what: &'static str,
        offset: usize,
        bytes: usize,
    ) -> Result<Range<usize>> {
        match offset.checked_add(bytes) {
            Some(end) if end <= self.bytes => Ok(self.offset + offset..self.offset + end),
            _ => Err(Problem::Runtime(millpond::Error::Bounds {
                operation: what.to_owned(),
                begin: offset,
                end: offset.saturating_add(bytes),
                size: self.bytes,
            })),
        }
    }

    /// Fails if an array has elements outside of the bytes.
    pub(crate) fn check_within(&self, array: &Tensor) -> Result<()> {
        let span = array.layout().byte_span(array.item_size());
        if array.size() > 0 && (span.start < self.offset || span.end > self.offset + self.bytes) {
            return Err(Problem::Argument {
                what: "mp_array_of_memory",
                reason: format!(
                    "elements lie in bytes {span:?} of the allocation, the memory in {:?}",
                    self.offset..self.offset + self.bytes
                ),
            });
        }
        Ok(())
    }

    /// The same, if it may be written.
    pub(crate) fn writable(&self, what: &'static str) -> Result<&Self> {
        if self.read_only {
            let reason = "the memory is read-only".to_owned();
            return Err(Problem::Argument { what, reason });
        }
        Ok(self)
    }
}

/// Wraps memory of the program's own. The release tells its owner even if it is only dropped.
pub(crate) fn adopt(
    queue: &Queue,
    kind: MemoryKind,
    pointer: *mut c_void,
    bytes: usize,
    release: Release,
) -> Result<Allocation> {
    let refuse = |reason: String| Problem::Argument {
        what: "memory to be wrapped",
        reason,
    };
    if pointer.is_null() || pointer.addr().checked_add(bytes).is_none() {
        return Err(refuse(format!(
            "{bytes} bytes at {pointer:?} are not memory"
        )));
    }
    let device = queue.device();
    if kind != MemoryKind::Device && !device.info().host_executed {
        return Err(refuse(format!(
            "{device} does not reach memory of the host"
        )));
    }
    // SAFETY: the header says that the bytes are initialised, may be read and written by host and
    // device until the release, and touched by nobody else but behind a wait.
    Ok(unsafe { queue.adopt(kind, Address::of(pointer), bytes, release) }?)
}

functions! {
    /// Allocates from the pool that the queue's device uses for the kind, in the order of the queue. The bytes are not
    /// initialised.
    fn mp_memory_allocate(
        queue: Keep<Queue>,
        kind: Number<MemoryKind>,
        bytes: usize,
        memory: Give<Memory>,
    ) {
        let place = memory.ready()?;
        place.give(Memory::whole(queue.get()?.allocate(kind.get()?, bytes)?, false));
        Ok(())
    }

    /// The same, from a pool.
    fn mp_memory_allocate_from(
        pool: Keep<Pool>,
        queue: Keep<Queue>,
        bytes: usize,
        memory: Give<Memory>,
    ) {
        let place = memory.ready()?;
        place.give(Memory::whole(queue.get()?.allocate_from(pool.get()?, bytes)?, false));
        Ok(())
    }

    /// Wraps initialised bytes of the program's own, which it hands over with their owner. Until the owner is told that
    /// the last use has completed, the program touches them as it does other memory: by tasks, or behind a wait, unless
    /// mp_memory_share_with_host was called.
    fn mp_memory_wrap(
        queue: Keep<Queue>,
        kind: Number<MemoryKind>,
        pointer: *mut c_void,
        bytes: usize,
        owner: In<Owner>,
        memory: Give<Memory>,
    ) {
        let release = owner.get()?.take();
        let place = memory.ready()?;
        let allocation = adopt(queue.get()?, kind.get()?, pointer, bytes, release)?;
        place.give(Memory::whole(allocation, false));
        Ok(())
    }

    /// Some of the bytes, as a memory object of their own.
    fn mp_memory_view(memory: Keep<Memory>, offset: usize, bytes: usize, view: Give<Memory>) {
        let place = view.ready()?;
        let memory = memory.get()?;
        let range = memory.range("view", offset, bytes)?;
        place.give(Memory { offset: range.start, bytes, ..memory.clone() });
        Ok(())
    }

    /// Adds a count to a handle: whoever has one owns the bytes, for instance the context of a task.
    fn mp_memory_retain(memory: Keep<Memory>) -> () {
        memory.retain();
    }

    /// Lets go of a count of a handle, at any time and from any thread, also while work is pending. Nothing waits.
    fn mp_memory_release(memory: Take<Memory>) -> () {
        drop(memory.take());
    }

    /// Frees memory in the order of a queue, behind the events, for uses by address that no command named. The handle,
    /// which must be the only one to the bytes, is taken. The event of the free is given unless event is null.
    fn mp_memory_free(
        queue: Keep<Queue>,
        memory: Take<Memory>,
        events: List<Keep<Event>>,
        count: usize,
        event: Give<Event>,
    ) {
        let memory = memory.take().ok_or(Problem::Null { what: Memory::NAME })?;
        let allocation = memory.object().allocation.clone();
        drop(memory);
        let queue = queue.get()?;
        let done = queue.free(allocation, &events_of(&events, count)?).map_err(|(error, _)| error)?;
        event.give(done);
        Ok(())
    }

    /// The address of the first byte. It is valid for tasks that name the memory, and for the host behind a wait.
    fn mp_memory_pointer(memory: Keep<Memory>, pointer: Out<*mut c_void>) {
        let memory = memory.get()?;
        pointer.put(memory.allocation.address().offset(memory.offset).as_ptr())
    }

    /// The number of bytes.
    fn mp_memory_size(memory: Keep<Memory>, bytes: Out<usize>) {
        bytes.put(memory.get()?.bytes)
    }

    /// The kind of memory.
    fn mp_memory_kind(memory: Keep<Memory>, kind: Out<Number<MemoryKind>>) {
        kind.put(Number::of(memory.get()?.allocation.kind()))
    }

    /// The queue that it was allocated on.
    fn mp_memory_queue(memory: Keep<Memory>, queue: Give<Queue>) {
        let place = queue.ready()?;
        place.give(memory.get()?.allocation.queue());
        Ok(())
    }

    /// Whether the bytes come from a pool of millpond, and not from an owner of their own.
    fn mp_memory_is_managed(memory: Keep<Memory>, answer: Out<bool>) {
        answer.put(!memory.get()?.allocation.is_foreign())
    }

    /// Whether the bytes must not be written.
    fn mp_memory_is_read_only(memory: Keep<Memory>, answer: Out<bool>) {
        answer.put(memory.get()?.read_only)
    }

    /// Whether both have bytes of the same allocation.
    fn mp_memory_same(memory: Keep<Memory>, other: Keep<Memory>, same: Out<bool>) {
        same.put(memory.get()?.allocation.same_as(&other.get()?.allocation))
    }

    /// Waits until nothing pending is in the way of an access by the host: writes, for reading; all uses, for writing.
    fn mp_memory_wait(memory: Keep<Memory>, access: Number<Access>) {
        let allocation = &memory.get()?.allocation;
        Ok(if access.get()?.writes() {
            allocation.wait_idle()
        } else {
            allocation.wait_written()
        }?)
    }

    /// The address for host code to use at any time: from now on commands on the memory finish before the call returns
    /// that submits them. Not of device memory.
    fn mp_memory_share_with_host(memory: Keep<Memory>, pointer: Out<*mut c_void>) {
        let memory = memory.get()?;
        let address = memory.allocation.share_with_host(false)?;
        pointer.put(address.offset(memory.offset).as_ptr())
    }

    /// Copies bytes to the host, and waits for that and for nothing else.
    fn mp_memory_read(memory: Keep<Memory>, offset: usize, target: Bytes, bytes: usize) {
        let memory = memory.get()?;
        let range = memory.range("read", offset, bytes)?;
        let mut target = target;
        Ok(memory.allocation.read(range.start, target.get(bytes)?)?)
    }

    /// Copies bytes from the host, and waits for that and for nothing else.
    fn mp_memory_write(memory: Keep<Memory>, offset: usize, source: List<u8>, bytes: usize) {
        let memory = memory.get()?.writable("write")?;
        let range = memory.range("write", offset, bytes)?;
        Ok(memory.allocation.write(range.start, source.get(bytes)?)?)
    }

    /// Makes what uses the memory from now on, on whichever queue, happen after what a stream was given so far: for
    /// foreign work on the memory. No queue is held back, and nothing waits on the host.
    fn mp_memory_follow_stream(memory: Keep<Memory>, stream: *mut c_void) {
        // SAFETY: the caller hands in a stream that lives.
        Ok(unsafe { memory.get()?.allocation.follow_stream(stream_at(stream)) }?)
    }

    /// Makes what a stream is given from now on happen after what is pending on the memory and in the way of such an
    /// access. The host waits only for what it has to carry out itself, such as tasks.
    fn mp_memory_hold_stream(memory: Keep<Memory>, stream: *mut c_void, access: Number<Access>) {
        let (memory, writes) = (memory.get()?, access.get()?.writes());
        if writes {
            memory.writable("hold_stream")?;
        }
        // SAFETY: the caller hands in a stream that lives.
        Ok(unsafe { memory.allocation.hold_stream(stream_at(stream), writes) }?)
    }
}
