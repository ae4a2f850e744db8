//! A scan on devices that compile. The kernel does all of it, so that the one of totals has nothing to
//! do; both have the same source, lest one be the device's and the other the host's.

use millpond_hal::code::{Call, DeviceCode, Launches, Machine};

use super::{Plan, Scan, ScanKernel, ScanTotals};
use crate::device::scan::{ScanCode, Side};

impl Plan {
    fn code(&self) -> ScanCode<'_> {
        let side = |side: &super::Side| Side {
            dtype: side.dtype,
            stride: side.stride,
        };
        ScanCode {
            name: match self.scan {
                Scan::Sum => "sum",
                Scan::Product => "prod",
                Scan::LogSumExp => "logsumexp",
            },
            compute: self.compute,
            output: side(&self.output),
            input: side(&self.input),
            rows: &self.rows,
            length: self.length,
        }
    }

    pub(super) fn has_code(&self) -> bool {
        self.code().fits()
    }
}

// SAFETY: what is loaded and stored are elements of the layouts, which lie within the footprints, and
// what is known of tiles, within the scratch memory.
unsafe impl DeviceCode for ScanKernel {
    fn key(&self, key: &mut Vec<u8>) {
        self.0.code().key(key);
    }

    fn source(&self) -> String {
        self.0.code().source()
    }

    fn scratch(&self, machine: &Machine) -> usize {
        self.0.code().scratch(machine)
    }

    fn launches(&self, call: &Call<'_>) -> Launches {
        self.0.code().launches(call)
    }
}

// SAFETY: nothing is launched.
unsafe impl DeviceCode for ScanTotals {
    fn key(&self, key: &mut Vec<u8>) {
        self.0.code().key(key);
    }

    fn source(&self) -> String {
        self.0.code().source()
    }

    fn launches(&self, _: &Call<'_>) -> Launches {
        Launches::new()
    }
}
