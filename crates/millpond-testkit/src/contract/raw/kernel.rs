//! A kernel that adds one to each byte, so that a byte tells how often its index ran.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use millpond_hal::{Access, Address, FailureKind, Footprint, HostKernel, KernelError};

/// What a kernel is to do wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Report an error at this index.
    Error(usize),
    /// Report at this index that a number has no result.
    Numeric(usize),
    /// Panic at this index.
    Panic(usize),
}

/// Adds one to byte `i` of its operand for each `i` of its extent.
#[derive(Debug)]
pub struct Increment {
    extent: usize,
    grain: usize,
    trouble: Option<Trouble>,
    ran: AtomicUsize,
    ran_at_finish: AtomicUsize,
    finished: AtomicUsize,
}

impl Increment {
    /// A kernel of this extent and grain.
    #[must_use]
    pub const fn new(extent: usize, grain: usize) -> Self {
        Self {
            extent,
            grain,
            trouble: None,
            ran: AtomicUsize::new(0),
            ran_at_finish: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
        }
    }

    /// The same, but it goes wrong.
    #[must_use]
    pub const fn with(mut self, trouble: Trouble) -> Self {
        self.trouble = Some(trouble);
        self
    }

    /// How many pieces were done in all.
    pub fn ran(&self) -> usize {
        self.ran.load(Ordering::Relaxed)
    }

    /// How many pieces were done when it was last finished.
    pub fn ran_at_finish(&self) -> usize {
        self.ran_at_finish.load(Ordering::Relaxed)
    }

    /// How often it was finished.
    pub fn finished(&self) -> usize {
        self.finished.load(Ordering::Relaxed)
    }

    fn check(&self, index: usize) -> Result<(), KernelError> {
        match self.trouble {
            Some(Trouble::Error(at)) if at == index => {
                Err(KernelError::from(format!("error at index {at}")))
            }
            Some(Trouble::Numeric(at)) if at == index => {
                let reason = format!("error at index {at}");
                Err(KernelError::new(FailureKind::Numeric, reason))
            }
            Some(Trouble::Panic(at)) if at == index => panic!("panic at index {at}"),
            _ => Ok(()),
        }
    }
}

// SAFETY: `run` touches only bytes `range` of operand 0, which lie in the footprint that is
// declared as updated; disjoint ranges touch disjoint bytes; the counters are atomic. `finish`
// touches no operand.
unsafe impl HostKernel for Increment {
    fn operands(&self) -> usize {
        1
    }

    fn footprint(&self, _operand: usize) -> Footprint {
        Footprint {
            bytes: 0..self.extent,
            access: Access::Update,
        }
    }

    fn extent(&self) -> usize {
        self.extent
    }

    fn grain(&self) -> usize {
        self.grain
    }

    unsafe fn run(&self, bases: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        assert!(range.end <= self.extent, "{range:?} of {}", self.extent);
        self.ran.fetch_add(range.len(), Ordering::Relaxed);
        for index in range {
            self.check(index)?;
            let byte = bases[0].offset(index).as_ptr::<u8>();
            // SAFETY: the index lies in the footprint, which the caller keeps allocated,
            // initialised and free of conflicting accesses.
            let value = unsafe { byte.read() };
            // SAFETY: as above.
            unsafe { byte.write(value.wrapping_add(1)) };
        }
        Ok(())
    }

    unsafe fn finish(&self, _bases: &[Address]) -> Result<(), KernelError> {
        self.finished.fetch_add(1, Ordering::Relaxed);
        self.ran_at_finish.store(self.ran(), Ordering::Relaxed);
        Ok(())
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "increment of {} bytes", self.extent)
    }
}
