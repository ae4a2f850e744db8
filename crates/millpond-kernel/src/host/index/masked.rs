//! What is done by masks, on devices that compile.

use millpond_hal::KernelError;
use millpond_hal::code::{Call, DeviceCode, Launches, Report};

use super::Direction;
use super::count::MaskCountKernel;
use super::mask::{MaskKernel, NonzeroKernel, Supply, changed};
use crate::device::mask::{MISFIT, MaskCode, Use};

impl MaskCountKernel {
    fn code(&self) -> MaskCode<'_> {
        MaskCode {
            what: Use::Count,
            mask: self.selected.space(),
            kept: None,
            supply: Supply::One,
            packed: (0, 0),
        }
    }
}

impl MaskKernel {
    fn code(&self) -> MaskCode<'_> {
        let item = self.dtype.size();
        MaskCode {
            what: match self.direction {
                Direction::Get => Use::Get(item),
                Direction::Set => Use::Set(item),
            },
            mask: self.selected.space(),
            kept: Some(&self.kept),
            supply: self.supply,
            packed: (self.kept.begin()[0], self.stride),
        }
    }
}

impl NonzeroKernel {
    fn code(&self) -> MaskCode<'_> {
        MaskCode {
            what: Use::Places,
            mask: self.selected.space(),
            kept: None,
            // As many as were counted.
            supply: Supply::Each(0),
            packed: (self.begin, self.stride),
        }
    }
}

/// What kernels have in common; `$error` is that of a report.
macro_rules! masked {
    ($($kernel:ident, $error:expr;)*) => { $(
        impl $kernel {
            pub(super) fn has_code(&self) -> bool {
                self.code().fits()
            }
        }

        // SAFETY: as on the host, accesses go to elements of the layouts and to counts: to the packed
        // side below what was counted, which is what it has, or below how many there are.
        unsafe impl DeviceCode for $kernel {
            fn key(&self, key: &mut Vec<u8>) {
                self.code().key(key);
            }

            fn source(&self) -> String {
                self.code().source()
            }

            fn reports(&self) -> bool {
                let code = self.code();
                code.what != Use::Count && code.supply != Supply::One
            }

            fn launches(&self, call: &Call<'_>) -> Launches {
                self.code().launches(call)
            }

            fn error(&self, report: Report) -> KernelError {
                let error: fn(&Self, Report) -> KernelError = $error;
                error(self, report)
            }
        }
    )* };
}

masked! {
    MaskCountKernel, |_, _| changed();
    MaskKernel, |kernel, [_, what, selected, _]| match what {
        MISFIT => kernel.misfit(selected as usize),
        _ => changed(),
    };
    NonzeroKernel, |_, _| changed();
}
