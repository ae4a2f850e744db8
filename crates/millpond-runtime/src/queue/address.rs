//! Copies, fills and programs that use memory which is known by its address alone.
//!
//! For surfaces whose programs pass addresses, and order what they enqueue themselves. Commands that
//! name their memory are in `work.rs`.

use std::sync::Arc;

use millpond_hal::{Address, Command, Entry, Grid, Pattern};
use smallvec::SmallVec;

use crate::error::{Error, Result};
use crate::event::Event;
use crate::queue::Queue;
use crate::queue::fit::check_fill;

impl Queue {
    /// Copies bytes between addresses, behind the events. Nothing but the queue and the events orders
    /// it, and nothing keeps the memory for it: see [`Queue::task_at`].
    ///
    /// # Errors
    /// A closed queue.
    ///
    /// # Safety
    /// Until the command has finished, the device may read `bytes` bytes at `src` and write as many at
    /// `dst`; the ranges don't overlap; nobody writes the source or uses the destination but what is
    /// ordered before the command or behind it.
    pub unsafe fn copy_at(
        &self,
        src: Address,
        dst: Address,
        bytes: usize,
        after: &[&Event],
    ) -> Result<Event> {
        self.submit_at(Command::Copy { src, dst, bytes }, after)
    }

    /// Repeats a pattern over `bytes` bytes at an address, behind the events. As for
    /// [`Queue::copy_at`].
    ///
    /// # Errors
    /// A number of bytes that isn't a multiple of the pattern; a closed queue.
    ///
    /// # Safety
    /// Until the command has finished, the device may write `bytes` bytes at `dst`, and nobody uses
    /// them but what is ordered before the command or behind it.
    pub unsafe fn fill_at(
        &self,
        dst: Address,
        bytes: usize,
        pattern: Pattern,
        after: &[&Event],
    ) -> Result<Event> {
        check_fill(bytes, &(0..bytes), pattern)?;
        let command = Command::Fill {
            dst,
            pattern,
            bytes,
        };
        self.submit_at(command, after)
    }

    /// Launches an entry of a program that the device has loaded, behind the events. As for
    /// [`Queue::copy_at`]: what it uses is known to the caller only.
    ///
    /// # Errors
    /// A shape without blocks or threads, or with more threads than the entry takes; other parameters
    /// than it has; an entry of another device; a closed queue.
    ///
    /// # Safety
    /// What the entry reads and writes with these parameters may be used so by the device until the
    /// command has finished, and nobody does otherwise but what is ordered before it or behind it. Where
    /// the driver doesn't tell an entry's parameters, they are what it has.
    pub unsafe fn run_at(
        &self,
        entry: &Arc<dyn Entry>,
        grid: Grid,
        after: &[&Event],
    ) -> Result<Event> {
        check_grid(entry, &grid)?;
        let command = Command::Run {
            entry: Arc::clone(entry),
            grid: Box::new(grid),
        };
        self.submit_at(command, after)
    }

    fn submit_at(&self, command: Command, after: &[&Event]) -> Result<Event> {
        let claims = command.touches();
        let done = self
            .core()
            .submit_after(&[], Some(&claims), command, after)?;
        self.note_followed(&done, after);
        Ok(done)
    }
}

/// # Errors
/// A shape that nothing can be launched with; other parameters than the entry has.
fn check_grid(entry: &Arc<dyn Entry>, grid: &Grid) -> Result<()> {
    let info = entry.info();
    let invalid = |reason: String| Error::Invalid {
        what: "launch",
        reason: format!("{}: {reason}", info.name),
    };
    if grid.blocks.contains(&0) || grid.threads.contains(&0) {
        let (blocks, threads) = (grid.blocks, grid.threads);
        return Err(invalid(format!("{blocks:?} blocks of {threads:?} threads")));
    }
    let threads: u64 = grid.threads.iter().map(|&axis| u64::from(axis)).product();
    if threads > u64::from(info.block) {
        let most = info.block;
        return Err(invalid(format!(
            "{threads} threads in a block of at most {most}"
        )));
    }
    let given: Vec<usize> = grid.arguments.iter().map(SmallVec::len).collect();
    if info.parameters.as_ref().is_some_and(|has| *has != given) {
        let has = info.parameters.as_deref().unwrap_or_default();
        return Err(invalid(format!("arguments of {given:?} bytes for {has:?}")));
    }
    Ok(())
}
