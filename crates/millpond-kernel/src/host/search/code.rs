//! Searches and runs on devices that compile. Members are the host's: devices look for them in sorted arrays.

use millpond_hal::code::{Call, DeviceCode, Launches, Report};
use millpond_hal::{Address, KernelError};

use super::find::{FindKernel, outside};
use super::runs::{CountRuns, PIECE, Runs, WriteRuns, changed};
use crate::device::search::{Finding, RunArrays, RunsOf};

impl FindKernel {
    fn finding(&self) -> Finding {
        let finder = &self.0;
        Finding {
            find: finder.find,
            dtype: finder.dtype,
            sorted: finder.sorted.0,
            wanted: finder.wanted.0,
            is_through: finder.sorter.is_some(),
        }
    }
}

// SAFETY: what is loaded and stored are elements of the operands, as many as the footprints say; a position
// out of bounds names the first one.
unsafe impl DeviceCode for FindKernel {
    fn key(&self, key: &mut Vec<u8>) {
        self.finding().key(key);
    }

    fn source(&self) -> String {
        self.finding().source()
    }

    fn reports(&self) -> bool {
        self.0.sorter.is_some()
    }

    fn launches(&self, call: &Call<'_>) -> Launches {
        let (finder, bases) = (&self.0, call.bases);
        let sorter = finder.sorter.map(|begin| bases[3].offset(begin));
        let arrays = [
            bases[0],
            bases[1].offset(finder.sorted.1),
            bases[2].offset(finder.wanted.1),
            sorter.unwrap_or(Address::new(0)),
        ];
        self.finding().launches(call, arrays)
    }

    fn error(&self, [_, _, position, _]: Report) -> KernelError {
        outside(position.cast_signed(), self.0.sorted.0)
    }
}

impl Runs {
    const fn on_device(&self) -> RunsOf {
        RunsOf {
            dtype: self.dtype,
            size: self.size,
            pieces: self.pieces(),
            piece: PIECE,
        }
    }
}

// SAFETY: elements are loaded, and the count and the pieces of the table are stored.
unsafe impl DeviceCode for CountRuns {
    fn key(&self, key: &mut Vec<u8>) {
        self.0.on_device().key(key);
    }

    fn source(&self) -> String {
        self.0.on_device().source()
    }

    fn launches(&self, call: &Call<'_>) -> Launches {
        let none = Address::new(0);
        let arrays = RunArrays {
            sorted: call.bases[2],
            positions: none,
            table: call.bases[1],
            count: call.bases[0],
            values: none,
            indices: none,
            counts: none,
            inverse: none,
        };
        self.0.on_device().count(call, &arrays)
    }
}

// SAFETY: of outputs as many runs are stored as were counted, or elements of the inverse, whatever the table
// and the positions say.
unsafe impl DeviceCode for WriteRuns {
    fn key(&self, key: &mut Vec<u8>) {
        self.plan.on_device().key(key);
    }

    fn source(&self) -> String {
        self.plan.on_device().source()
    }

    fn reports(&self) -> bool {
        true
    }

    fn launches(&self, call: &Call<'_>) -> Launches {
        let (to, outputs) = (self.targets(call.bases), self.wanted.outputs());
        let none = Address::new(0);
        let arrays = RunArrays {
            sorted: call.bases[outputs + 1],
            positions: call.bases.get(outputs + 2).copied().unwrap_or(none),
            table: call.bases[outputs],
            count: none,
            values: Address::of(to.values),
            indices: Address::of(to.indices),
            counts: Address::of(to.counts),
            inverse: Address::of(to.inverse),
        };
        self.plan.on_device().write(self.runs, call, &arrays)
    }

    fn error(&self, _: Report) -> KernelError {
        changed()
    }
}
