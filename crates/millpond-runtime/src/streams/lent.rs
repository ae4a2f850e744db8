//! Memory that is lent to the device's own stream: whoever knows the stream may give it work on the memory at any
//! time, without a word. DLPack's C interface has consumers do so.
//!
//! A loan isn't given back, since nobody says when it ends. Each later use of the memory, also by an owner that
//! gets the bytes when this one is gone, comes behind what the stream was given until then. Nothing waits on the
//! host for that.

use crate::error::Result;
use crate::memory::Allocation;

impl Allocation {
    /// Lends the memory to whoever gives work to [`Device::stream`](crate::Device::stream): what that stream is given
    /// from now on comes behind what is pending on the memory, and what uses the memory later behind what the
    /// stream was given until then. Once is enough for what the stream does, each time for what was pending.
    ///
    /// # Errors
    /// A device without streams; as for [`Allocation::hold_stream`].
    pub fn lend_to_stream(&self) -> Result<()> {
        let stream = self.home().device().stream()?;
        self.block().lent.to_stream();
        // SAFETY: the device's own stream lives as long as the device.
        unsafe { self.hold_stream(stream, true) }
    }

    /// Has what uses the memory next come behind the stream, if the memory is lent to it.
    #[inline]
    pub(crate) fn follow_if_lent(&self) -> Result<()> {
        if self.is_on_stream() {
            self.follow_own_stream()
        } else {
            Ok(())
        }
    }

    #[cold]
    pub(crate) fn follow_own_stream(&self) -> Result<()> {
        let stream = self.home().device().stream()?;
        // SAFETY: the device's own stream lives as long as the device.
        unsafe { self.follow_stream(stream) }
    }
}
