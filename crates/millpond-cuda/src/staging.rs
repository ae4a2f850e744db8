//! Pinned buffers that bytes of the host's ordinary memory go through.
//!
//! A device copies from and to pinned memory by itself. What fits a small buffer is put into it when
//! the copy begins, or taken from it when the copy is seen to have ended. More is carried by a
//! thread, piece by piece, with one buffer on its way while the thread works on the other; what is
//! large is divided among several threads, since one copies much slower than the device does.

use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::api::{PORTABLE, Pointer, StreamHandle};
use crate::card::{CudaError, Current};
use crate::lanes::Lane;
use crate::pace::Pace;
use crate::station::Station;

/// Bytes of a small buffer.
pub(crate) const SMALL: usize = 64 << 10;

/// Bytes of a large one.
pub(crate) const LARGE: usize = 4 << 20;

/// Bytes that are worth a thread of their own.
const SHARE: usize = 16 << 20;

/// Threads that carry one copy, at most.
const THREADS: usize = 4;

/// A pinned buffer.
#[derive(Debug)]
pub(crate) struct Buffer {
    pub(crate) address: Pointer,
    bytes: usize,
}

impl Buffer {
    fn pointer(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.address as usize)
    }

    /// Copies bytes into the buffer.
    ///
    /// # Safety
    /// `src` may be read for so many bytes, which fit the buffer; nobody else uses the buffer.
    pub(crate) unsafe fn load(&self, src: usize, bytes: usize) {
        debug_assert!(bytes <= self.bytes);
        let src: *const u8 = std::ptr::with_exposed_provenance(src);
        // SAFETY: the caller's promise; a buffer of this backend overlaps with nothing.
        unsafe { self.pointer().copy_from_nonoverlapping(src, bytes) };
    }

    /// Copies bytes out of the buffer.
    ///
    /// # Safety
    /// `dst` may be written for so many bytes, which the buffer holds; nobody else uses the buffer.
    pub(crate) unsafe fn store(&self, dst: usize, bytes: usize) {
        debug_assert!(bytes <= self.bytes);
        let dst: *mut u8 = std::ptr::with_exposed_provenance_mut(dst);
        // SAFETY: the caller's promise; a buffer of this backend overlaps with nothing.
        unsafe { dst.copy_from_nonoverlapping(self.pointer(), bytes) };
    }
}

/// What is to be done when a copy has ended: a buffer goes back, perhaps after its bytes were taken.
#[derive(Debug)]
pub(crate) struct Landing {
    pub(crate) buffer: Buffer,
    /// Where the bytes go, and how many.
    pub(crate) goal: Option<(usize, usize)>,
}

/// The buffers of a device that nobody uses.
#[derive(Debug, Default)]
pub(crate) struct Staging {
    small: Mutex<Vec<Buffer>>,
    large: Mutex<Vec<Buffer>>,
}

impl Staging {
    fn list(&self, bytes: usize) -> &Mutex<Vec<Buffer>> {
        if bytes == SMALL {
            &self.small
        } else {
            &self.large
        }
    }

    /// A small buffer.
    pub(crate) fn small(&self, current: &Current<'_>) -> Result<Buffer, CudaError> {
        self.take(current, SMALL)
    }

    /// A large buffer.
    pub(crate) fn large(&self, current: &Current<'_>) -> Result<Buffer, CudaError> {
        self.take(current, LARGE)
    }

    fn take(&self, current: &Current<'_>, bytes: usize) -> Result<Buffer, CudaError> {
        let mut list = self
            .list(bytes)
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(buffer) = list.pop() {
            return Ok(buffer);
        }
        let mut pointer = std::ptr::null_mut();
        // SAFETY: the address is written to a place of its type.
        let code = unsafe {
            current
                .api()
                .allocate_host(&raw mut pointer, bytes, PORTABLE)
        };
        current.check("cuMemHostAlloc", code)?;
        Ok(Buffer {
            address: pointer.expose_provenance() as Pointer,
            bytes,
        })
    }

    /// Gives a buffer back that no stream uses.
    pub(crate) fn give(&self, buffer: Buffer) {
        let list = self.list(buffer.bytes);
        let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
        list.push(buffer);
    }

    /// Gives the memory of unused buffers back.
    pub(crate) fn close(&self, current: &Current<'_>) {
        for list in [&self.small, &self.large] {
            let mut list = list.lock().unwrap_or_else(PoisonError::into_inner);
            for buffer in list.drain(..) {
                // SAFETY: had from the driver by `take`; nobody has it any more.
                let _ = unsafe { current.api().free_host(buffer.pointer().cast()) };
            }
        }
    }
}

/// A copy between a device and the host's ordinary memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carriage {
    /// Where the host's bytes are.
    pub(crate) host: usize,
    /// Where the device's bytes are.
    pub(crate) device: Pointer,
    pub(crate) bytes: usize,
    /// Whether the host's are the source.
    pub(crate) upload: bool,
}

impl Carriage {
    /// Carries the bytes, with the help of threads if they are many.
    ///
    /// # Safety
    /// Both ranges may be used in this way, by nobody else meanwhile.
    pub(crate) unsafe fn run(self, station: &Station) -> Result<(), CudaError> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let most = processors.min(THREADS).min(self.bytes / SHARE).max(1);
        let share = (self.bytes / most).next_multiple_of(LARGE);
        let mut shares = (0..self.bytes)
            .step_by(share)
            .map(|begin| self.part(begin, share));
        let own = shares.next().unwrap_or(self);
        thread::scope(|scope| {
            let mut outcome = Ok(());
            let mut helpers = Vec::new();
            for part in shares {
                let helper = thread::Builder::new().name("millpond copy".to_owned());
                // SAFETY: the parts are disjoint; for each the caller's promise holds.
                match helper.spawn_scoped(scope, move || unsafe { part.carry(station) }) {
                    Ok(helper) => helpers.push(helper),
                    // Without a thread for it, it is this one's.
                    // SAFETY: as above.
                    Err(_) => outcome = outcome.and(unsafe { part.carry(station) }),
                }
            }
            // SAFETY: as above.
            outcome = outcome.and(unsafe { own.carry(station) });
            for helper in helpers {
                match helper.join() {
                    Ok(carried) => outcome = outcome.and(carried),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            outcome
        })
    }

    /// Gives the copy to a stream; the host's bytes are pinned.
    ///
    /// # Safety
    /// Both ranges may be used in this way, by nobody else until the stream has done so.
    pub(crate) unsafe fn give(
        self,
        current: &Current<'_>,
        stream: StreamHandle,
    ) -> Result<(), CudaError> {
        let host = self.host as Pointer;
        let (dst, src) = if self.upload {
            (self.device, host)
        } else {
            (host, self.device)
        };
        // SAFETY: the caller's promise.
        let code = unsafe { current.api().copy(dst, src, self.bytes, stream) };
        current.check("cuMemcpyAsync", code)
    }

    /// At most so many of the bytes, from the one at `begin` on.
    fn part(self, begin: usize, bytes: usize) -> Self {
        Self {
            host: self.host + begin,
            device: self.device + begin as Pointer,
            bytes: bytes.min(self.bytes - begin),
            upload: self.upload,
        }
    }

    /// Carries the bytes on the calling thread.
    ///
    /// # Safety
    /// As for [`Carriage::run`].
    unsafe fn carry(self, station: &Station) -> Result<(), CudaError> {
        let current = station.card.enter()?;
        let mut lane = station.lanes.take(&station.card)?;
        let mut buffers = Vec::new();
        let mut outcome = Ok(());
        for _ in 0..2 {
            match station.staging.take(&current, LARGE) {
                Ok(buffer) => buffers.push(buffer),
                Err(error) => outcome = Err(error),
            }
        }
        if outcome.is_ok() {
            // SAFETY: the caller's promise; the lane and the buffers are this call's alone.
            outcome = unsafe { self.pass(&current, &mut lane, &buffers) };
        }
        // What was begun before an error must have ended before anything goes back.
        let settled = if outcome.is_ok() {
            Ok(())
        } else {
            drain(&current, &mut lane)
        };
        for buffer in buffers {
            station.staging.give(buffer);
        }
        station.lanes.give(lane);
        outcome.and(settled)
    }

    /// # Safety
    /// As for [`Carriage::run`]; the lane is idle.
    unsafe fn pass(
        self,
        current: &Current<'_>,
        lane: &mut Lane,
        buffers: &[Buffer],
    ) -> Result<(), CudaError> {
        // For each buffer: the ticket of its copy, and the bytes that are to be taken from it.
        let mut under_way = vec![(0, 0, 0); buffers.len()];
        for (index, begin) in (0..self.bytes).step_by(LARGE).enumerate() {
            let slot = index % buffers.len();
            let (buffer, bytes) = (&buffers[slot], LARGE.min(self.bytes - begin));
            // SAFETY: the caller's promise; the range was copied before, by this call.
            unsafe { self.settle(current, lane, buffer, under_way[slot]) }?;
            let there = self.device + begin as Pointer;
            let (dst, src) = if self.upload {
                // SAFETY: the piece lies in the caller's range; the buffer's last copy has ended.
                unsafe { buffer.load(self.host + begin, bytes) };
                (there, buffer.address)
            } else {
                (buffer.address, there)
            };
            // SAFETY: both ranges are as long, by the caller's promise.
            let code = unsafe { current.api().copy(dst, src, bytes, lane.stream) };
            current.check("cuMemcpyAsync", code)?;
            under_way[slot] = (lane.mark(current)?, begin, bytes);
        }
        under_way.sort_unstable();
        for state in under_way {
            let slot = state.1 / LARGE % buffers.len();
            // SAFETY: as above.
            unsafe { self.settle(current, lane, &buffers[slot], state) }?;
        }
        Ok(())
    }

    /// Waits for a buffer's copy, and takes what it has brought.
    ///
    /// # Safety
    /// As for [`Carriage::run`]; the buffer's last copy is the one of this ticket.
    unsafe fn settle(
        self,
        current: &Current<'_>,
        lane: &Lane,
        buffer: &Buffer,
        (ticket, begin, bytes): (u64, usize, usize),
    ) -> Result<(), CudaError> {
        if bytes == 0 {
            return Ok(());
        }
        wait(current, lane, ticket)?;
        if !self.upload {
            // SAFETY: the piece lies in the caller's range, and the copy that filled the buffer has
            // ended.
            unsafe { buffer.store(self.host + begin, bytes) };
        }
        Ok(())
    }
}

/// Waits until a lane's work is done.
fn wait(current: &Current<'_>, lane: &Lane, ticket: u64) -> Result<(), CudaError> {
    let pace = Pace::new();
    while lane.done() < ticket {
        if pace.step(None) {
            lane.probe(current)?;
        }
    }
    Ok(())
}

/// Waits until nothing of a lane is under way, whether it was numbered or not.
pub(crate) fn drain(current: &Current<'_>, lane: &mut Lane) -> Result<(), CudaError> {
    let ticket = lane.mark(current)?;
    wait(current, lane, ticket)
}
