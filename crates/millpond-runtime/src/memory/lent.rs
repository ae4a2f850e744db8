//! Whom a block's bytes are lent to: who else has their address, and may use it at any time.

use crate::sync::atomic::{AtomicU8, Ordering::Relaxed};

const HOST: u8 = 1;
const STREAM: u8 = 2;

/// Whom the bytes are lent to, until their life ends.
#[derive(Debug, Default)]
pub(crate) struct Lent(AtomicU8);

impl Lent {
    /// Lends them to host code, or to others who look as it does: when a command's call has returned.
    pub(crate) fn to_host(&self) {
        self.0.fetch_or(HOST, Relaxed);
    }

    /// Lends them to whoever gives work to the device's own stream.
    pub(crate) fn to_stream(&self) {
        self.0.fetch_or(STREAM, Relaxed);
    }

    #[inline]
    pub(crate) fn is_to_host(&self) -> bool {
        self.0.load(Relaxed) & HOST != 0
    }

    #[inline]
    pub(crate) fn is_to_stream(&self) -> bool {
        self.0.load(Relaxed) & STREAM != 0
    }

    /// Whether anybody has the address.
    #[inline]
    pub(crate) fn is_any(&self) -> bool {
        self.0.load(Relaxed) != 0
    }

    /// Nobody has it any more.
    #[inline]
    pub(crate) fn end(&self) {
        self.0.store(0, Relaxed);
    }
}
