//! The kernels of a scan: what each piece comes to, and the results.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use millpond_hal::code::DeviceCode;
use millpond_hal::{Access, Address, Footprint, HostKernel, KernelError};

use super::Plan;

/// Finds what each piece comes to.
pub struct ScanTotals(pub(super) Arc<Plan>);

impl fmt::Debug for ScanTotals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(f)
    }
}

// SAFETY: elements of the input's layout are read, which lie within the footprint; of the scratch
// memory, the states of the range's pieces are written, and in the end all of them.
unsafe impl HostKernel for ScanTotals {
    fn operands(&self) -> usize {
        2
    }

    fn footprint(&self, operand: usize) -> Footprint {
        if operand > 0 {
            return self.0.read();
        }
        let bytes = self.0.state_bytes();
        Footprint::filled(0..bytes, bytes)
    }

    fn extent(&self) -> usize {
        self.0.extent()
    }

    fn grain(&self) -> usize {
        self.0.grain()
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        let (states, input) = (bases[0].as_ptr(), bases[1].as_ptr());
        // SAFETY: as the caller vouches.
        unsafe { self.0.run(std::ptr::null_mut(), input, states, range) };
        Ok(())
    }

    unsafe fn finish(&self, bases: &[Address]) -> Result<(), KernelError> {
        // SAFETY: every piece was run.
        unsafe { self.0.sum_up(bases[0].as_ptr()) };
        Ok(())
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        self.0.has_code().then_some(self)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(f)?;
        f.write_str(": totals")
    }
}

/// Writes what elements come to one by one.
pub struct ScanKernel(pub(super) Arc<Plan>);

impl fmt::Debug for ScanKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(f)
    }
}

// SAFETY: elements of the layouts are touched, which lie within the footprints.
unsafe impl HostKernel for ScanKernel {
    fn operands(&self) -> usize {
        2 + usize::from(self.0.pieces > 1)
    }

    fn footprint(&self, operand: usize) -> Footprint {
        match operand {
            0 => {}
            1 => return self.0.read(),
            _ => {
                return Footprint {
                    bytes: 0..self.0.state_bytes(),
                    access: Access::Read,
                };
            }
        }
        let side = &self.0.output;
        let filled = self.0.rows.size() * self.0.length * side.dtype.size();
        Footprint::filled(side.bytes.clone(), filled)
    }

    fn extent(&self) -> usize {
        self.0.extent()
    }

    fn grain(&self) -> usize {
        self.0.grain()
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        let states = bases
            .get(2)
            .map_or(std::ptr::null_mut(), |base| base.as_ptr());
        let (output, input) = (bases[0].as_ptr(), bases[1].as_ptr());
        // SAFETY: as the caller vouches.
        unsafe { self.0.run(output, input, states, range) };
        Ok(())
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        self.0.has_code().then_some(self)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.describe(f)
    }
}
