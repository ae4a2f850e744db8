//! A kernel with the operands of one execution.
//!
//! The one place that calls kernels. Whatever they do wrong comes back as a fault.

use std::ops::Range;

use millpond_hal::{Address, Command, Failure, HostKernel};
use smallvec::SmallVec;

use super::fault::{Fault, discard, guard};
use crate::sync::Arc;

/// A kernel with its operands.
pub(crate) struct Launch {
    pub(crate) kernel: Arc<dyn HostKernel>,
    pub(crate) bases: SmallVec<[Address; 4]>,
}

/// How much work a kernel is.
#[derive(Clone, Copy)]
pub(crate) struct Size {
    pub(crate) extent: usize,
    pub(crate) grain: usize,
}

impl Launch {
    /// Begins, and asks the kernel how much work it is.
    pub(crate) fn begin(&self) -> Result<Size, Fault> {
        guard(|| {
            self.kernel.begin();
            Ok::<_, String>(Size {
                extent: self.kernel.extent(),
                grain: self.kernel.grain().max(1),
            })
        })
    }

    /// Runs the pieces of a range.
    ///
    /// # Safety
    /// Those of [`HostKernel::run`].
    pub(crate) unsafe fn run(&self, range: Range<usize>) -> Result<(), Fault> {
        // SAFETY: the caller's promise is that of the kernel.
        guard(|| unsafe { self.kernel.run(&self.bases, range) })
    }

    /// Combines partial results.
    ///
    /// # Safety
    /// Those of [`HostKernel::finish`].
    pub(crate) unsafe fn finish(&self) -> Result<(), Fault> {
        // SAFETY: the caller's promise is that of the kernel.
        guard(|| unsafe { self.kernel.finish(&self.bases) })
    }

    /// Lets go of the kernel, and answers the failure of the launch if it has one.
    pub(crate) fn end(
        self,
        outcome: Result<(), Fault>,
        origin: Option<Arc<str>>,
    ) -> Option<Failure> {
        let Self { kernel, bases } = self;
        let command = Command::Launch { kernel, bases };
        match outcome {
            Ok(()) => {
                discard(command);
                None
            }
            Err(fault) => Some(fault.of(command, origin)),
        }
    }
}
