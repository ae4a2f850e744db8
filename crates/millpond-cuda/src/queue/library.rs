//! A kernel that a thread carries out: by a library on the device, where one does it, else by the host.

use millpond_hal::{Address, HostKernel};

use super::hosted::{self, Trouble};
use crate::crew::guard;
use crate::library::solver;
use crate::station::Station;

/// Carries out a kernel that has begun.
///
/// # Safety
/// As for [`HostKernel::run`] of the whole extent, but that what is in device memory is the
/// device's to read and write; what the command follows has ended, and nothing else uses its memory
/// meanwhile.
pub(super) unsafe fn carry_out(
    station: &Station,
    kernel: &dyn HostKernel,
    bases: &[Address],
) -> Result<(), Trouble> {
    // SAFETY: the caller's promise.
    let outcome = guard(|| Ok(unsafe { solver::carry_out(station, kernel, bases) }))?;
    match outcome {
        Some(Err(error)) if error.loss().is_none() => station.complain(&error),
        Some(outcome) => return Ok(outcome??),
        None => {}
    }
    // SAFETY: the caller's promise.
    unsafe { hosted::carry_out(station, kernel, bases) }
}
