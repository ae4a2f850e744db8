//! Access from the host: waiting for exactly what is observed (rule O5), and copies.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use millpond_hal::{Access, Address, Command};

use crate::error::Result;
use crate::lifecycle;
use crate::memory::{Allocation, Dependencies, Release};
use crate::queue::fit::{check_range, overwrite};
use crate::queue::{Queue, QueueCore, Use};

/// Copies up to this size run on the calling thread when nothing stands before them.
const SMALL: usize = 64 << 10;

/// Bytes of the host that may wait to be copied (rule O4); beyond, writes wait for their copy.
const MOST_STAGED: usize = 64 << 20;

static STAGED: AtomicUsize = AtomicUsize::new(0);

impl Allocation {
    /// Waits until everything that writes it has finished.
    ///
    /// # Errors
    /// The failure of its last writer, every time it is asked.
    pub fn wait_written(&self) -> Result<()> {
        self.follow_if_lent()?;
        self.dependencies(Access::Read)?.wait()
    }

    /// Waits until everything that uses it has finished.
    ///
    /// # Errors
    /// The failure of its last writer, every time it is asked.
    pub fn wait_idle(&self) -> Result<()> {
        self.follow_if_lent()?;
        self.dependencies(Access::Update)?.wait()
    }

    /// Waits until everything that writes it has finished, or until the deadline.
    ///
    /// # Errors
    /// [`crate::Error::TimedOut`]; else as for [`Allocation::wait_written`].
    pub fn wait_written_until(&self, deadline: Instant) -> Result<()> {
        self.wait_until(Access::Read, deadline)
    }

    /// Waits until everything that uses it has finished, or until the deadline.
    ///
    /// # Errors
    /// [`crate::Error::TimedOut`]; else as for [`Allocation::wait_idle`].
    pub fn wait_idle_until(&self, deadline: Instant) -> Result<()> {
        self.wait_until(Access::Update, deadline)
    }

    fn wait_until(&self, access: Access, deadline: Instant) -> Result<()> {
        let begin = Instant::now();
        self.follow_if_lent()?;
        let dependencies = self.dependencies(access)?;
        for (queue, sequence) in dependencies.behind.iter().chain(&dependencies.after) {
            queue.wait_until(*sequence, Some(deadline), begin)?;
        }
        dependencies.wait()
    }

    /// Whether nothing is pending on it, as far as is known without asking a stream that it is lent to.
    pub fn is_idle(&self) -> bool {
        if self.is_on_stream() {
            return false;
        }
        let home = self.block().home();
        home.with_line(|_| self.block().tracking.is_idle(home.native()))
    }

    pub(crate) fn dependencies(&self, access: Access) -> Result<Dependencies> {
        lifecycle::check("waiting for memory")?;
        let home = self.block().home();
        let mut found = Dependencies::default();
        home.with_line(|_| {
            let block = self.block();
            block.check_valid()?;
            block
                .tracking
                .capture(home.native(), None, access, &mut found);
            Ok(found)
        })
    }

    /// Copies bytes to the host, in order with what was submitted before.
    ///
    /// # Errors
    /// A range outside of the allocation; the failure of its last writer.
    pub fn read(&self, offset: usize, to: &mut [u8]) -> Result<()> {
        check_range("read", self.bytes(), offset, to.len())?;
        let src = self.address().offset(offset);
        self.copy_with_host(Access::Read, src, Address::of(to.as_mut_ptr()), to.len())
    }

    /// Copies bytes to the host where nothing stands before that: few of them, from memory that the
    /// host computes in and on which nothing is pending. Whether it did.
    ///
    /// # Errors
    /// A range outside of the allocation.
    pub fn read_at_once(&self, offset: usize, to: &mut [u8]) -> Result<bool> {
        check_range("read", self.bytes(), offset, to.len())?;
        lifecycle::check("copying")?;
        let src = self.address().offset(offset);
        Ok(self.copy_at_once(src, Address::of(to.as_mut_ptr()), to.len()))
    }

    /// Copies bytes from the host, in order with what was submitted before; returns when they have
    /// been copied.
    ///
    /// # Errors
    /// A range outside of the allocation; a closed queue.
    pub fn write(&self, offset: usize, from: &[u8]) -> Result<()> {
        check_range("write", self.bytes(), offset, from.len())?;
        let dst = self.address().offset(offset);
        let access = overwrite(self.bytes(), from.len());
        self.copy_with_host(access, Address::of(from.as_ptr()), dst, from.len())
    }

    /// Copies bytes from the host in queue order, without waiting: where anything stands before them,
    /// a copy is kept until then.
    ///
    /// # Errors
    /// As for [`Allocation::write`].
    pub fn write_soon(&self, offset: usize, from: &[u8]) -> Result<()> {
        check_range("write", self.bytes(), offset, from.len())?;
        lifecycle::check("copying")?;
        let dst = self.address().offset(offset);
        if self.copy_at_once(Address::of(from.as_ptr()), dst, from.len()) {
            return Ok(());
        }
        self.write_owned(offset, from.to_vec())
    }

    /// Copies bytes from the host in queue order, without waiting: the vector is kept until then.
    ///
    /// # Errors
    /// As for [`Allocation::write`].
    pub fn write_owned(&self, offset: usize, from: Vec<u8>) -> Result<()> {
        check_range("write", self.bytes(), offset, from.len())?;
        let len = from.len();
        let staged = STAGED.fetch_add(len, Ordering::Relaxed);
        if staged + len > MOST_STAGED || (len <= SMALL && self.is_idle()) {
            STAGED.fetch_sub(len, Ordering::Relaxed);
            return self.write(offset, &from);
        }
        let queue = self.block().home().device().host_queue()?;
        let uses = [Use {
            allocation: self,
            access: overwrite(self.bytes(), from.len()),
        }];
        let command = Command::Copy {
            src: Address::of(from.as_ptr()),
            dst: self.address().offset(offset),
            bytes: from.len(),
        };
        let unstage = move || {
            STAGED.fetch_sub(from.len(), Ordering::Relaxed);
            drop(from);
        };
        match queue.core().submit(&uses, command) {
            Ok(sequence) => {
                Release::anywhere(unstage).after(&[(Arc::clone(queue.core().native()), sequence)]);
                Ok(())
            }
            Err(error) => {
                unstage();
                Err(error)
            }
        }
    }

    /// A copy between this memory and a host buffer that stays borrowed until it returns.
    fn copy_with_host(
        &self,
        access: Access,
        src: Address,
        dst: Address,
        bytes: usize,
    ) -> Result<()> {
        lifecycle::check("copying")?;
        if self.copy_at_once(src, dst, bytes) {
            return Ok(());
        }
        let home = self.block().home();
        let uses = [Use {
            allocation: self,
            access,
        }];
        // On the device's queue for the host, so that it waits for this memory only (rule O5).
        let queue = home.device().host_queue()?;
        let sequence = queue
            .core()
            .submit(&uses, Command::Copy { src, dst, bytes })?;
        // Without a deadline: the buffer must outlive the command.
        queue.core().native().wait(sequence).map_err(|failure| {
            failure.surface();
            failure.into()
        })
    }

    /// The same if nothing stands before it; whether it was made. One of the ranges lies within this
    /// allocation, the other is a borrowed slice.
    fn copy_at_once(&self, src: Address, dst: Address, bytes: usize) -> bool {
        if bytes == 0 {
            return true;
        }
        let home = self.block().home();
        if bytes > SMALL || !home.device().info().host_executed {
            return false;
        }
        let line = home.lock();
        let is_quiet = self.block().tracking.is_quiet(home.native());
        if is_quiet {
            // SAFETY: both ranges are live: one was checked to lie within this allocation, of a
            // device whose memory is host memory, the other is a borrowed slice. They don't
            // overlap, since safe code has no reference into an allocation. Nobody else uses the
            // allocation: it is quiet and its home's line is locked.
            unsafe {
                std::ptr::copy_nonoverlapping(src.as_ptr::<u8>(), dst.as_ptr::<u8>(), bytes);
            }
        }
        drop(line);
        is_quiet
    }
}

impl Queue {
    /// Wraps memory that somebody else owns; `release` is called once, after the last use.
    ///
    /// Memory of the host counts as shared with it: see [`Allocation::share_with_host`].
    ///
    /// # Errors
    /// A closed queue; then `release` isn't called.
    ///
    /// # Safety
    /// Until `release` is called, `bytes` bytes at `address` are initialised, may be read, and
    /// written unless commands only ever read them, by the host and by this queue's device; host
    /// code touches them only while no command on them is pending.
    pub unsafe fn import(
        &self,
        kind: millpond_types::MemoryKind,
        address: Address,
        bytes: usize,
        release: Release,
    ) -> Result<Allocation> {
        lifecycle::check("importing memory")?;
        QueueCore::import(self.core(), kind, address, bytes, release, true)
    }

    /// Wraps memory that is handed over: work on it is asynchronous, as on memory of a pool.
    /// `release` is called once, after the last use.
    ///
    /// # Errors
    /// A closed queue; then `release` isn't called.
    ///
    /// # Safety
    /// As for [`Queue::import`]; and host code touches the bytes only as it does those of a pool:
    /// behind a wait, or by the address that [`Allocation::share_with_host`] answers.
    pub unsafe fn adopt(
        &self,
        kind: millpond_types::MemoryKind,
        address: Address,
        bytes: usize,
        release: Release,
    ) -> Result<Allocation> {
        lifecycle::check("adopting memory")?;
        QueueCore::import(self.core(), kind, address, bytes, release, false)
    }
}
