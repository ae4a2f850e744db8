//! How a command is carried out by a thread.

use std::sync::Arc;

use millpond_hal::{Address, Command, Failure, Pattern};

use super::hosted::Trouble;
use super::library;
use super::line::{Begun, Notes};
use super::route::Route;
use super::{CudaQueue, Work};
use crate::api::Pointer;
use crate::card::CudaError;
use crate::crew::{discard, guard};
use crate::lanes::Signal;
use crate::pace::Pace;
use crate::staging::Carriage;

impl CudaQueue {
    /// Carries a command out on a thread of the crew; the answer is what the thread may do next.
    pub(crate) fn carry_out(self: Arc<Self>, begun: Begun) -> Option<Work> {
        if begun.route == Route::Kernel {
            return self.prepare(begun);
        }
        let Begun {
            sequence,
            command,
            route,
            mut failure,
            notes: Notes { origin, watch },
            signals,
            program: _,
            is_meanwhile: _,
            job: _,
        } = begun;
        // Of a kernel that was thought to be the device's.
        if let Err(error) = self.await_signals(&signals) {
            failure = failure.or_else(|| Some(error.fail(&command, origin.clone())));
        }
        if failure.is_some() {
            discard(command);
            return self.conclude(sequence, failure).carry_out_but_one();
        }
        if let Command::Launch { kernel, .. } = &command
            && let Err((kind, reason)) = guard(|| {
                kernel.begin();
                Ok(())
            })
        {
            let failure = command.fail(kind, reason, origin);
            discard(command);
            return self.conclude(sequence, Some(failure)).carry_out_but_one();
        }
        if let Some(watch) = watch {
            watch.began();
        }
        let failure = match command {
            Command::Launch {
                ref kernel,
                ref bases,
            } => {
                // SAFETY: the submitter promised A1 to A3 and the kernel's rules; what the command
                // follows has ended.
                let outcome = unsafe { library::carry_out(&self.station, &**kernel, bases) };
                let failure = outcome.err().map(|trouble| match trouble {
                    Trouble::Kernel(kind, reason) => command.fail(kind, reason, origin),
                    Trouble::Device(error) => error.fail(&command, origin),
                });
                discard(command);
                failure
            }
            Command::Task { name, task } => guard(task).err().map(|(kind, reason)| {
                Failure::with_origin(kind, format!("host task {name}"), reason, origin)
            }),
            Command::Gate(gate) => {
                gate.on_open(move |outcome| self.pass_gate(sequence, outcome));
                return None;
            }
            Command::Copy { src, dst, bytes } => {
                if let Route::Staged { upload } = route {
                    let (host, device) = if upload { (src, dst) } else { (dst, src) };
                    let carriage = Carriage {
                        host: host.get(),
                        device: device.get() as Pointer,
                        bytes,
                        upload,
                    };
                    // SAFETY: the submitter promised A1 to A3; what the command follows has ended.
                    let outcome = unsafe { carriage.run(&self.station) };
                    outcome.err().map(|error| error.fail(&command, origin))
                } else {
                    // SAFETY: as above; both ranges are the host's and don't overlap.
                    unsafe { copy(src, dst, bytes) };
                    None
                }
            }
            Command::Fill {
                dst,
                pattern,
                bytes,
            } => {
                // SAFETY: as above.
                unsafe { fill(dst, pattern, bytes) };
                None
            }
            // A barrier of a queue without order: everything before it has ended.
            _ => None,
        };
        self.conclude(sequence, failure).carry_out_but_one()
    }
}

impl CudaQueue {
    /// Waits until the device has done what others of its streams were given.
    fn await_signals(&self, signals: &[Signal]) -> Result<(), CudaError> {
        let pace = Pace::new();
        for signal in signals {
            while !signal.is_given() {
                if pace.step(None)
                    && let Some(failure) = self.station.card.loss()
                {
                    return Err(CudaError::Lost(failure.clone()));
                }
            }
        }
        Ok(())
    }
}

/// # Safety
/// Both ranges are the host's, may be used so, and don't overlap.
unsafe fn copy(src: Address, dst: Address, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        dst.as_ptr::<u8>()
            .copy_from_nonoverlapping(src.as_ptr::<u8>(), bytes);
    }
}

/// # Safety
/// The range is the host's, may be written, and a multiple of the pattern's length.
unsafe fn fill(dst: Address, pattern: Pattern, bytes: usize) {
    let pattern = pattern.bytes();
    for begin in (0..bytes).step_by(pattern.len()) {
        let place = dst.offset(begin).as_ptr::<u8>();
        // SAFETY: the caller's promise: a whole pattern fits.
        unsafe { place.copy_from_nonoverlapping(pattern.as_ptr(), pattern.len()) };
    }
}
