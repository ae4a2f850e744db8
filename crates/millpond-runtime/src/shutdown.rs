//! The end of the runtime, in a fixed order (rule O10).
//!
//! 1. From now on every call but waits inside of step 2 answers [`crate::Error::ShutDown`], and
//!    destructors leak what would need a driver or a thread.
//! 2. Each device finishes what was submitted to it and stops its threads, in the order given. Work
//!    behind a gate that nobody opens is given up by the backend after a moment, so exit never
//!    hangs.
//! 3. Releases of foreign memory that came due are run by the caller's thread.
//!
//! After that no driver is called by anything in this crate.

use crate::device::Device;
use crate::lifecycle;
use crate::memory::drain_releases;

/// Shuts the runtime down for good: finishes all work of `devices` and stops their threads.
///
/// In a forked child, and when called again, it does nothing.
pub fn shutdown(devices: &[Device]) {
    if !lifecycle::is_running() {
        return;
    }
    lifecycle::shut_down();
    for device in devices {
        device.shutdown();
    }
    drain_releases();
}
