//! Copies and fills of memory that is known by its address alone.
//!
//! For surfaces whose programs pass addresses, and order what they enqueue themselves. Commands that
//! name their memory are in `work.rs`.

use millpond_hal::{Address, Command, Pattern};

use crate::error::Result;
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

    fn submit_at(&self, command: Command, after: &[&Event]) -> Result<Event> {
        let claims = command.touches();
        let done = self
            .core()
            .submit_after(&[], Some(&claims), command, after)?;
        self.note_followed(&done, after);
        Ok(done)
    }
}
