//! Several element-wise operations as one: each tile passes through all of them while it is in the
//! first-level cache, and what nobody looks at afterwards is never written.
//!
//! A [`FusedKernel`] is made of its first step and may be given more until it begins, which
//! [`HostKernel::begin`] says. It computes with the very loops and conversions that each step by
//! itself would use, so its results have the same bits.
//!
//! * `chain` is what was asked for, and decides what can be joined;
//! * `program` is what is carried out: loads, conversions, bodies and stores, with a place for each
//!   intermediate, and `compile` makes one of a chain;
//! * `pair` has loops for two operations at once, whose bits are those of both;
//! * `run` carries it out, tile by tile.

use std::fmt;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use millpond_hal::code::DeviceCode;
use millpond_hal::{
    Access, Address, Footprint, Growing, HostKernel, KernelError, Moves, Touch, Traffic,
};
use millpond_types::shape::Tuple;

mod chain;
mod code;
mod compile;
mod elsewhere;
mod pair;
mod program;
mod run;

pub use chain::{Operand, Step, View};

use chain::Chain;
use elsewhere::Elsewhere;
use program::Program;

use crate::device::elements::Elements;
use crate::device::tape::Tape;
use crate::host::reduce::ReduceKernel;

/// How long a kernel that could begin waits for a further step: about what a program in Python
/// takes to ask for a few operations.
const LINGER: Duration = Duration::from_micros(20);

/// How long at most after the first step: a kernel that stood behind others has waited enough.
const PATIENCE: Duration = Duration::from_micros(200);

/// Element-wise operations over arrays of one shape, carried out together.
///
/// Its operands are those of the first step: the output and then the inputs that aren't scalars.
/// Whoever adds a step promises for the step's own operands what a submission would.
pub struct FusedKernel {
    draft: Mutex<Draft>,
    made: Instant,
    sealed: Condvar,
    program: OnceLock<Program>,
    /// The program as devices carry it out.
    elements: OnceLock<Elements>,
    /// The same as instructions, if it can be put so.
    tape: OnceLock<Option<Tape>>,
    operands: Box<[Footprint]>,
}

/// What changes until the kernel begins.
struct Draft {
    /// `None` once it has begun.
    chain: Option<Chain>,
    is_sealed: bool,
    /// Whether somebody waits for it to be sealed.
    is_awaited: bool,
}

impl FusedKernel {
    /// The kernel of one step; `None` if it can't be carried out in this way.
    #[must_use]
    pub fn new(step: &Step<'_>) -> Option<Self> {
        let shape = step.output.layout.shape();
        let size = step.output.layout.size();
        let mut chain = Chain::new(shape);
        if size == 0 || !chain.join(step) {
            return None;
        }
        let bytes = |view: &View<'_>| view.layout.byte_span(view.dtype.size());
        let filled = size * step.output.dtype.size();
        let output = Footprint::filled(bytes(&step.output), filled);
        let inputs = step.inputs.iter().filter_map(|input| match input {
            Operand::Array(view) => Some(Footprint {
                bytes: bytes(view),
                access: Access::Read,
            }),
            Operand::Scalar(_) => None,
        });
        Some(Self {
            operands: std::iter::once(output).chain(inputs).collect(),
            draft: Mutex::new(Draft {
                chain: Some(chain),
                is_sealed: false,
                is_awaited: false,
            }),
            made: Instant::now(),
            sealed: Condvar::new(),
            program: OnceLock::new(),
            elements: OnceLock::new(),
            tape: OnceLock::new(),
        })
    }

    /// Appends a step, if the kernel hasn't begun and the step fits.
    pub fn join(&self, step: &Step<'_>) -> bool {
        let mut draft = self.draft();
        let open = !draft.is_sealed;
        draft
            .chain
            .as_mut()
            .is_some_and(|chain| open && chain.join(step))
    }

    /// Appends a reduction of an array to another, which nobody else writes; the kernel comes back
    /// if it doesn't fit.
    ///
    /// # Errors
    /// The kernel of the reduction.
    pub fn join_reduction(
        &self,
        kernel: Box<ReduceKernel>,
        input: &View<'_>,
        output: &View<'_>,
    ) -> Result<(), Box<ReduceKernel>> {
        let mut draft = self.draft();
        let open = !draft.is_sealed;
        match &mut draft.chain {
            Some(chain) if open => chain.join_fold(kernel, input, output),
            _ => Err(kernel),
        }
    }

    fn draft(&self) -> MutexGuard<'_, Draft> {
        self.draft.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no further step comes for a moment.
    fn linger(&self) {
        let count = |draft: &Draft| {
            let chain = draft.chain.as_ref().filter(|_| !draft.is_sealed);
            chain.map_or(0, |chain| chain.steps.len() + chain.folds.len())
        };
        let mut draft = self.draft();
        let mut before = 0;
        draft.is_awaited = true;
        while count(&draft) > before && self.made.elapsed() < PATIENCE {
            before = count(&draft);
            let waited = self.sealed.wait_timeout(draft, LINGER);
            draft = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        draft.is_awaited = false;
        draft.is_sealed = true;
    }

    fn program(&self) -> &Program {
        self.program.get_or_init(|| {
            let mut draft = self.draft();
            draft.is_sealed = true;
            let chain = draft.chain.take();
            drop(draft);
            Program::new(chain.unwrap_or_else(|| Chain::new(&[])))
        })
    }
}

impl fmt::Debug for FusedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.describe(f)
    }
}

impl Growing for FusedKernel {
    fn seal(&self) {
        let mut draft = self.draft();
        draft.is_sealed = true;
        if draft.is_awaited {
            self.sealed.notify_all();
        }
    }

    fn forget(&self, addresses: &Range<usize>) {
        if let Some(chain) = &mut self.draft().chain {
            chain.forget(addresses);
        }
    }
}

// SAFETY: every access goes to an element of an array of a step, for which whoever gave the step
// answers as for an operand; scratch memory is the call's own.
unsafe impl HostKernel for FusedKernel {
    fn operands(&self) -> usize {
        self.operands.len()
    }

    fn footprint(&self, operand: usize) -> Footprint {
        self.operands[operand].clone()
    }

    fn traffic(&self) -> Traffic {
        self.program().traffic
    }

    fn begin(&self) {
        if self.program.get().is_none() {
            self.linger();
            self.program();
        }
    }

    fn extent(&self) -> usize {
        self.program().extent()
    }

    fn grain(&self) -> usize {
        self.program().grain()
    }

    unsafe fn run(&self, _: &[Address], range: Range<usize>) -> Result<(), KernelError> {
        // SAFETY: the caller vouches for all arrays and the range.
        unsafe { self.program().run(&Moves::default(), range) };
        Ok(())
    }

    unsafe fn finish(&self, _: &[Address]) -> Result<(), KernelError> {
        // SAFETY: as above, and every piece was run.
        unsafe { self.program().finish(&Moves::default()) }
    }

    fn grows(&self) -> bool {
        let draft = self.draft();
        !draft.is_sealed && draft.chain.is_some()
    }

    fn touches(&self) -> Vec<Touch> {
        self.program().touches()
    }

    fn elsewhere(&self, moves: Moves) -> Option<Box<dyn HostKernel + '_>> {
        let kernel = self;
        Some(Box::new(Elsewhere { kernel, moves }))
    }

    fn device_code(&self) -> Option<&dyn DeviceCode> {
        self.fits_devices().then_some(self)
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn write(f: &mut fmt::Formatter<'_>, names: &[&str], shape: &[usize]) -> fmt::Result {
            if let [name] = names {
                return write!(f, "{name} of shape {}", Tuple(shape));
            }
            write!(f, "fused({}) of shape {}", names.join(", "), Tuple(shape))
        }
        if let Some(program) = self.program.get() {
            return write(f, program.names(), program.shape());
        }
        let draft = self.draft();
        let Some(chain) = &draft.chain else {
            return f.write_str("fused");
        };
        write(f, &chain.names(), chain.shape())
    }
}
