//! Streams, and the counters by which their work is seen to finish.
//!
//! A lane is a stream and a counter in the host's memory. Behind each piece of work the stream
//! writes its number, the *ticket*, to the counter; so whether the work is done is a load on the
//! host, and another stream waits for it by the same counter, on any device. No event is made for
//! a command, and none is kept for a point.
//!
//! Counters only ever count up, and a lane that goes back keeps its count: a stream that has yet to
//! look at a counter finds at least what it waits for.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::api::{AT_LEAST, NON_BLOCKING, PORTABLE, Pointer, StreamHandle};
use crate::card::{Card, CudaError, Current};
use crate::scratch::Scratch;

/// Bytes between counters: what the processor takes from memory at a time.
const STRIDE: usize = 64;

/// Bytes that counters are had in.
const BLOCK: usize = 64 << 10;

/// Something that a stream does when its counter reaches a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signal {
    counter: Pointer,
    ticket: u64,
}

/// A stream with its counter. Whoever holds it is the only one who gives it work.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) stream: StreamHandle,
    counter: Pointer,
    /// The last number that was given to a piece of work.
    ticket: u64,
    /// Memory of its kernels.
    pub(crate) scratch: Scratch,
}

/// What a counter holds.
fn count(counter: Pointer) -> u64 {
    let counter: *const AtomicU64 = std::ptr::with_exposed_provenance(counter as usize);
    // SAFETY: the counter lies in memory that `Lanes` keeps until the driver ends, is aligned,
    // and is only ever written by devices, as a whole.
    let counter = unsafe { &*counter };
    counter.load(Ordering::Acquire)
}

impl Lane {
    /// Tickets up to this one are done; what the work has written is seen afterwards.
    pub(crate) fn done(&self) -> u64 {
        count(self.counter)
    }

    /// Whether all its work is done.
    pub(crate) fn is_idle(&self) -> bool {
        self.done() >= self.ticket
    }

    /// The last piece of work that it was given.
    pub(crate) const fn last(&self) -> Signal {
        Signal {
            counter: self.counter,
            ticket: self.ticket,
        }
    }

    /// Makes what follows on the stream wait.
    pub(crate) fn follow(&self, current: &Current<'_>, signal: Signal) -> Result<(), CudaError> {
        if signal.counter == self.counter {
            return Ok(());
        }
        let Signal { counter, ticket } = signal;
        // SAFETY: the stream is this lane's; counters stay where they are.
        let code = unsafe {
            current
                .api()
                .stream_wait(self.stream, counter, ticket, AT_LEAST)
        };
        current.check("cuStreamWaitValue64", code)
    }

    /// Numbers the work that was given to the stream since the last call.
    pub(crate) fn mark(&mut self, current: &Current<'_>) -> Result<u64, CudaError> {
        let ticket = self.ticket + 1;
        // SAFETY: as for `follow`. Without flags the write comes after all effects of the work.
        let code = unsafe {
            current
                .api()
                .stream_write(self.stream, self.counter, ticket, 0)
        };
        current.check("cuStreamWriteValue64", code)?;
        self.ticket = ticket;
        Ok(ticket)
    }

    /// Asks the driver whether the device still works.
    pub(crate) fn probe(&self, current: &Current<'_>) -> Result<(), CudaError> {
        Self::probe_stream(self.stream, current)
    }

    /// The same by the stream of a lane that is in use.
    pub(crate) fn probe_stream(
        stream: StreamHandle,
        current: &Current<'_>,
    ) -> Result<(), CudaError> {
        // SAFETY: the stream is a lane's; it ends with the device's station only.
        match unsafe { current.api().stream_query(stream) } {
            crate::api::Code::NOT_READY => Ok(()),
            code => current.check("cuStreamQuery", code),
        }
    }
}

impl Signal {
    /// Whether the stream has come so far.
    pub(crate) fn is_given(self) -> bool {
        count(self.counter) >= self.ticket
    }

    pub(crate) const fn ticket(self) -> u64 {
        self.ticket
    }

    pub(crate) const fn counter(self) -> Pointer {
        self.counter
    }

    /// The next of the same counter.
    pub(crate) const fn next(self) -> Self {
        Self {
            counter: self.counter,
            ticket: self.ticket + 1,
        }
    }
}

/// The lanes of a device that nobody uses.
#[derive(Default)]
pub(crate) struct Lanes(Mutex<Store>);

#[derive(Default)]
struct Store {
    free: Vec<Lane>,
    /// The counters that nobody had yet: the next one, and how many. Counters are never given
    /// back, since streams of other devices may have yet to look at them.
    next: Pointer,
    left: usize,
}

impl Lanes {
    /// A lane that is idle.
    pub(crate) fn take(&self, card: &Card) -> Result<Lane, CudaError> {
        let mut store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lane) = store.free.pop() {
            return Ok(lane);
        }
        let current = card.enter()?;
        let counter = store.counter(&current)?;
        let mut stream = StreamHandle(0);
        // SAFETY: the stream is written to a place of its type.
        let code = unsafe { current.api().stream_create(&raw mut stream, NON_BLOCKING) };
        current.check("cuStreamCreate", code)?;
        Ok(Lane {
            stream,
            counter,
            ticket: 0,
            scratch: Scratch::default(),
        })
    }

    /// A counter that nobody had yet, before its first ticket.
    pub(crate) fn new_counter(&self, current: &Current<'_>) -> Result<Signal, CudaError> {
        let mut store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counter = store.counter(current)?;
        Ok(Signal { counter, ticket: 0 })
    }

    /// Gives a lane back whose work is done, or whose device is lost.
    pub(crate) fn give(&self, lane: Lane) {
        let mut store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        store.free.push(lane);
    }

    /// Ends the streams that nobody uses.
    pub(crate) fn close(&self, current: &Current<'_>) {
        let mut store = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for mut lane in std::mem::take(&mut store.free) {
            lane.scratch.close(current);
            // SAFETY: the stream is the lane's, and nobody has it any more.
            let _ = unsafe { current.api().stream_destroy(lane.stream) };
        }
    }
}

impl Store {
    /// A counter that nobody had yet; it holds 0.
    fn counter(&mut self, current: &Current<'_>) -> Result<Pointer, CudaError> {
        if self.left == 0 {
            let mut block = std::ptr::null_mut();
            // SAFETY: the address is written to a place of its type.
            let code = unsafe { current.api().allocate_host(&raw mut block, BLOCK, PORTABLE) };
            current.check("cuMemHostAlloc", code)?;
            // SAFETY: the block is as long, new, and the host's to write.
            unsafe { block.cast::<u8>().write_bytes(0, BLOCK) };
            self.next = block.expose_provenance() as Pointer;
            self.left = BLOCK / STRIDE;
        }
        let counter = self.next;
        self.next += STRIDE as Pointer;
        self.left -= 1;
        Ok(counter)
    }
}
