//! Memory of a device that remembers which commands use it.

use std::alloc::Layout;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use millpond_hal::{Address, Device, DeviceError, Point, Queue, RawAllocation, Submission};
use millpond_types::MemoryKind;

/// Memory of a device, released when the last command that names it has finished.
pub struct Memory {
    device: Arc<dyn Device>,
    allocation: Option<RawAllocation>,
    address: Address,
    len: usize,
    kind: MemoryKind,
    initialised: AtomicBool,
    uses: Mutex<Vec<Use>>,
}

/// A command that names the memory.
struct Use {
    queue: Arc<dyn Queue>,
    sequence: u64,
    /// Whether later commands of its queue follow it anyway.
    in_order: bool,
}

impl Memory {
    /// Takes `len` bytes, with the device's alignment.
    ///
    /// # Errors
    /// Those of [`Device::allocate`].
    pub fn new(
        device: &Arc<dyn Device>,
        kind: MemoryKind,
        len: usize,
    ) -> Result<Self, DeviceError> {
        let layout = Layout::from_size_align(len.max(1), device.info().alignment)
            .expect("a device's alignment is a power of two, and tests ask for few bytes");
        Self::with_layout(device, kind, layout)
    }

    /// Takes memory of a layout.
    ///
    /// # Errors
    /// Those of [`Device::allocate`].
    pub fn with_layout(
        device: &Arc<dyn Device>,
        kind: MemoryKind,
        layout: Layout,
    ) -> Result<Self, DeviceError> {
        let allocation = device.allocate(kind, layout)?;
        assert!(
            allocation.layout.size() >= layout.size(),
            "asked for {layout:?}, was given {allocation:?}"
        );
        Ok(Self {
            device: Arc::clone(device),
            address: allocation.address,
            len: layout.size(),
            kind: allocation.kind,
            initialised: AtomicBool::new(allocation.zeroed),
            uses: Mutex::new(Vec::new()),
            allocation: Some(allocation),
        })
    }

    /// Host memory that holds these bytes.
    pub fn holding(device: &Arc<dyn Device>, bytes: &[u8]) -> Self {
        let memory = Self::new(device, MemoryKind::Host, bytes.len())
            .expect("the device has a little host memory");
        memory.write(bytes);
        memory
    }

    /// The first byte.
    pub const fn address(&self) -> Address {
        self.address
    }

    /// The number of bytes.
    #[allow(clippy::len_without_is_empty, reason = "memory is never empty")]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// What the driver gave.
    pub fn allocation(&self) -> &RawAllocation {
        self.allocation
            .as_ref()
            .expect("an allocation is there until the drop")
    }

    /// A part of it.
    pub fn part(&self, range: Range<usize>) -> Part<'_> {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "bytes {range:?} of memory of {} bytes",
            self.len
        );
        Part {
            memory: self,
            range,
        }
    }

    /// All of it.
    pub fn all(&self) -> Part<'_> {
        self.part(0..self.len)
    }

    /// Overwrites the beginning from the host, and the rest with zeros, after every command that
    /// uses it.
    pub fn write(&self, bytes: &[u8]) {
        assert!(
            self.kind.host_accessible(),
            "the host may write {}",
            self.kind
        );
        assert!(bytes.len() <= self.len, "{} bytes fit", bytes.len());
        let _uses = self.settled();
        let start = self.address.as_ptr::<u8>();
        // SAFETY: the allocation is alive, `len` bytes long and reachable by the host; the lock
        // on `uses` keeps commands away, and all former ones have finished.
        unsafe { start.write_bytes(0, self.len) };
        // SAFETY: as above, and the bytes fit.
        unsafe { start.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        self.initialised.store(true, Ordering::Relaxed);
    }

    /// The content, read by the host after every command that uses it.
    pub fn bytes(&self) -> Vec<u8> {
        assert!(
            self.kind.host_accessible(),
            "the host may read {}",
            self.kind
        );
        assert!(self.is_initialised(), "only written memory is read");
        let _uses = self.settled();
        let mut bytes = vec![0; self.len];
        // SAFETY: the allocation is alive, `len` bytes long, reachable by the host and has been
        // written as a whole; the lock on `uses` keeps commands away, former ones have finished.
        unsafe {
            bytes
                .as_mut_ptr()
                .copy_from_nonoverlapping(self.address.as_ptr(), self.len);
        };
        bytes
    }

    /// Whether every byte was written, by the host or by a submitted command.
    pub(super) fn is_initialised(&self) -> bool {
        self.initialised.load(Ordering::Relaxed)
    }

    /// Whether it belongs to this device.
    pub(super) fn is_of(&self, device: &Arc<dyn Device>) -> bool {
        Arc::ptr_eq(&self.device, device)
    }

    /// Panics unless a command that `queue` is about to take follows all users of the memory.
    pub(super) fn check_order(&self, queue: &dyn Queue, submission: &Submission<'_>) {
        let uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        for earlier in &*uses {
            let point = Point {
                queue: earlier.queue.id(),
                sequence: earlier.sequence,
            };
            assert!(
                (earlier.in_order && point.queue == queue.id())
                    || submission.after.contains(&point)
                    || submission.behind.contains(&point)
                    || earlier.queue.reached(earlier.sequence),
                "the test orders commands on the same memory: {point} isn't waited for"
            );
        }
    }

    /// Remembers a submitted command; `whole` if it writes all of the memory.
    pub(super) fn record(
        &self,
        queue: &Arc<dyn Queue>,
        sequence: u64,
        in_order: bool,
        whole: bool,
    ) {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        uses.retain(|earlier| {
            let followed = in_order && earlier.queue.id() == queue.id();
            !followed && !earlier.queue.reached(earlier.sequence)
        });
        uses.push(Use {
            queue: Arc::clone(queue),
            sequence,
            in_order,
        });
        if whole {
            self.initialised.store(true, Ordering::Relaxed);
        }
    }

    /// Waits for every command that uses the memory, and keeps others away meanwhile.
    fn settled(&self) -> std::sync::MutexGuard<'_, Vec<Use>> {
        let mut uses = self.uses.lock().unwrap_or_else(PoisonError::into_inner);
        for earlier in uses.drain(..) {
            earlier.queue.wait(earlier.sequence, None);
        }
        uses
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        drop(self.settled());
        if let Some(allocation) = self.allocation.take() {
            // SAFETY: it came from this device, is given back once, and every command that names
            // it has finished; nothing borrows it, as `bytes` copies.
            unsafe { self.device.release(allocation) };
        }
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory")
            .field("allocation", &self.allocation)
            .finish_non_exhaustive()
    }
}

/// A range of bytes of a [`Memory`].
#[derive(Clone, Debug)]
pub struct Part<'m> {
    pub(super) memory: &'m Memory,
    pub(super) range: Range<usize>,
}

impl Part<'_> {
    /// The first byte.
    pub(super) fn address(&self) -> Address {
        self.memory.address.offset(self.range.start)
    }

    /// Whether it is all of the memory.
    pub(super) fn is_whole(&self) -> bool {
        self.range.len() == self.memory.len
    }
}
