//! A reduction on devices that compile.

use millpond_hal::code::{Call, DeviceCode, Launches, Machine};
use smallvec::SmallVec;

use crate::device::reduce::{Folding, Reduce, Supply};
use crate::host::reduce::ReduceKernel;

impl ReduceKernel {
    /// Its reducer, for an array of outputs of a dtype.
    pub(in crate::host) fn folding(&self) -> Folding {
        Folding {
            name: self.reduction.name(),
            compute: self.fold.compute(),
            output: self.output.0,
            correction: self.correction,
        }
    }

    /// Bytes from the base to the first output, and from one output to the next, where they are one
    /// axis.
    pub(in crate::host) fn outputs_lie(&self) -> (isize, isize) {
        (self.kept.begin()[0], self.kept.inner_stride(0))
    }

    fn reduce(&self) -> Reduce<'_> {
        Reduce {
            supply: Supply::Array {
                dtype: self.input.0,
                kept: &self.kept,
                reduced: &self.reduced,
            },
            foldings: SmallVec::from_iter([self.folding()]),
        }
    }
}

// SAFETY: what is loaded and stored are elements of the layouts, which lie within the footprints, and
// states within the scratch memory.
unsafe impl DeviceCode for ReduceKernel {
    fn key(&self, key: &mut Vec<u8>) {
        self.reduce().key(key);
    }

    fn source(&self) -> String {
        self.reduce().source()
    }

    fn scratch(&self, machine: &Machine) -> usize {
        self.reduce().scratch(machine)
    }

    fn launches(&self, call: &Call<'_>) -> Launches {
        self.reduce().launches(call)
    }
}
