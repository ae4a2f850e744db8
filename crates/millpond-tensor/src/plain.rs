//! Calls that need nothing resolved: contiguous arrays of one shape and dtype, such as rows of
//! another one, which the operation computes with as they are.
//!
//! Small operations cost about as much as what is done about them, so this way does little: no
//! promotion, no broadcast, no plan, no counting of users. Whatever it doesn't take is left to the
//! general way in `apply.rs`, which gives the same result.

use millpond_kernel::ops::rows;
use millpond_kernel::{ContiguousLoop, Operation};
use millpond_runtime::{Allocation, MemoryKind, Queue};
use millpond_types::promote::with_scalar;
use millpond_types::{DType, Layout, Scalar};

use crate::cost;
use crate::data_types::is_half;
use crate::error::Result;
use crate::fuse::Work;
use crate::operand::Operand;
use crate::place::check_device;
use crate::tensor::Tensor;

/// The most operands of an operation, its result included.
pub(crate) const MAX_OPERANDS: usize = 4;

/// Such a call, but for the memory of its result.
pub(crate) struct PlainCall<'a> {
    operation: &'static Operation,
    /// What the operation computes with, and what it gives.
    dtype: DType,
    output: DType,
    /// The operand that is a number.
    scalar: Option<(usize, Scalar)>,
    /// The array that all others are like.
    model: &'a Tensor,
    queue: &'a Queue,
    kind: MemoryKind,
    /// The first place is the result's.
    memories: [&'a Allocation; MAX_OPERANDS],
    /// The byte that each begins at.
    begins: [usize; MAX_OPERANDS],
    count: usize,
    operands: &'a [Operand<'a>],
}

#[allow(
    clippy::inline_always,
    reason = "parts that are handed on in memory would be waited for"
)]
impl<'a> PlainCall<'a> {
    /// Hands the call on, if it is one, and else does `otherwise`.
    ///
    /// # Errors
    /// Arrays of different devices; those of what is done.
    #[inline(always)]
    pub(crate) fn with<R>(
        operation: &'static Operation,
        operands: &'a [Operand<'a>],
        plainly: impl FnOnce(Self) -> Result<R>,
        otherwise: impl FnOnce() -> Result<R>,
    ) -> Result<R> {
        let Some(model) = operands.iter().find_map(Operand::tensor) else {
            return otherwise();
        };
        let dtype = model.dtype();
        let Some(work) = operation.contiguous_loop(dtype) else {
            return otherwise();
        };
        let output = work.output();
        // A choice takes operands of two dtypes; all others take one.
        if operands.len() != operation.arity() || *operation == rows::where_ {
            return otherwise();
        }
        let queue = model.memory().home();
        let mut kind = model.kind();
        let mut scalar = None;
        let mut memories = [model.memory(); MAX_OPERANDS];
        let mut begins = [0; MAX_OPERANDS];
        let mut count = 1;
        for (index, operand) in operands.iter().enumerate() {
            match *operand {
                Operand::Tensor(tensor) => {
                    if !is_like(tensor, model, dtype) || count == MAX_OPERANDS {
                        return otherwise();
                    }
                    check_device(operation.name(), queue, tensor)?;
                    kind = kind.min(tensor.kind());
                    memories[count] = tensor.memory();
                    begins[count] = begin(tensor);
                    count += 1;
                }
                Operand::Scalar(value) => {
                    let same = with_scalar(dtype, value, DType::Float64) == dtype
                        && value.fits(dtype)
                        && !is_half(dtype);
                    if !same || scalar.is_some() {
                        return otherwise();
                    }
                    scalar = Some((index, value));
                }
            }
        }
        plainly(Self {
            operation,
            dtype,
            output,
            scalar,
            model,
            queue,
            kind,
            memories,
            begins,
            count,
            operands,
        })
    }

    /// Makes the result a new array.
    ///
    /// # Errors
    /// No memory; a closed queue.
    #[inline(always)]
    pub(crate) fn run(self) -> Result<Tensor> {
        let output = self.output;
        let nanoseconds = self.nanoseconds();
        if self.queue.is_worth_joining(nanoseconds) {
            return self.run_joined(nanoseconds);
        }
        // Early, for the same reason.
        let layout = self.layout()?;
        let bytes = layout.size() * output.size();
        let inputs = &self.memories[1..self.count];
        let memory =
            self.queue
                .launch_into_new(self.work()?, self.kind, bytes, inputs, nanoseconds)?;
        Ok(Tensor::assemble(memory, output, layout, false))
    }

    /// Puts the result into an array; `false` if the general way has to.
    ///
    /// # Errors
    /// An array of another device; a closed queue.
    #[inline(always)]
    pub(crate) fn run_into(self, out: &Tensor) -> Result<bool> {
        let output = self.output;
        let fits =
            is_like(out, self.model, output) && !out.is_read_only() && !out.memory().is_foreign();
        // In place needs the same elements and dtype on both sides.
        let kept = output == self.model.dtype();
        let begin = begin(out);
        let mut inputs = self
            .memories
            .iter()
            .zip(self.begins)
            .take(self.count)
            .skip(1);
        let is_apart = |(input, from): (&&Allocation, usize)| {
            (kept && from == begin) || !input.same_as(out.memory())
        };
        if !fits || !inputs.all(is_apart) {
            return Ok(false);
        }
        check_device(self.operation.name(), self.queue, out)?;
        let nanoseconds = self.nanoseconds();
        if self.queue.is_worth_joining(nanoseconds) && self.join(out)? {
            return Ok(true);
        }
        PlainCall::launch(self, out, nanoseconds)?;
        Ok(true)
    }

    #[inline(always)]
    fn launch(mut self, target: &'a Tensor, nanoseconds: u32) -> Result<()> {
        self.memories[0] = target.memory();
        self.begins[0] = begin(target);
        let memories = &self.memories[..self.count];
        Ok(self.queue.launch(self.work()?, memories, nanoseconds)?)
    }

    /// The loop, made where it is used: the processor would wait for one that is handed on in memory.
    #[inline(always)]
    fn work(&self) -> Result<ContiguousLoop> {
        let work = self.operation.contiguous_loop(self.dtype);
        let work = work.expect("the operation has a loop of the dtype");
        let work = work.over(self.model.size()).beginning_at(self.begins);
        match self.scalar {
            Some((index, value)) => Ok(work.with_scalar(index, value)?),
            None => Ok(work),
        }
    }

    /// The layout of a new result.
    #[inline(always)]
    fn layout(&self) -> Result<Layout> {
        let layout = self.model.layout();
        if layout.offset() == 0 {
            return Ok(layout.clone());
        }
        Ok(Layout::contiguous(layout.shape(), self.output.size())?)
    }

    #[inline(always)]
    fn nanoseconds(&self) -> u32 {
        let (size, dtype) = (self.model.size(), self.model.dtype());
        let bytes = self.count * size * dtype.size();
        cost::of_operation(self.operation, dtype, size, bytes)
    }

    /// As [`PlainCall::run`], for work that is worth joining.
    #[inline(never)]
    fn run_joined(self, nanoseconds: u32) -> Result<Tensor> {
        let (output, layout) = (self.output, self.layout()?);
        let bytes = layout.size() * output.size();
        let memory = self.queue.allocate(self.kind, bytes)?;
        let target = Tensor::assemble(memory, output, layout, false);
        if !self.join(&target)? {
            PlainCall::launch(self, &target, nanoseconds)?;
        }
        Ok(target)
    }

    /// Joins it to other work, if that can be.
    #[inline(never)]
    fn join(&self, target: &Tensor) -> Result<bool> {
        let work = self.work()?;
        let computes: [DType; MAX_OPERANDS - 1] = std::array::from_fn(|index| {
            let known = index < self.operands.len();
            if known {
                work.input(index)
            } else {
                DType::Bool
            }
        });
        let work = Work {
            operation: Some(self.operation),
            computes: &computes[..self.operands.len()],
            target,
            inputs: self.operands,
            wide: &[const { None }; MAX_OPERANDS][..self.operands.len()],
        };
        work.launch(self.queue)
    }
}

/// The byte of its memory that an array begins at.
#[allow(clippy::inline_always, reason = "as for the calls")]
#[inline(always)]
fn begin(tensor: &Tensor) -> usize {
    tensor.layout().offset() * tensor.item_size()
}

/// Whether an array has the model's shape and this dtype, and all its elements lie in order without
/// gaps.
#[inline]
fn is_like(tensor: &Tensor, model: &Tensor, dtype: DType) -> bool {
    let layout = tensor.layout();
    if tensor.dtype() != dtype || !layout.is_contiguous() {
        return false;
    }
    // Without a call, for these short lists.
    let (a, b) = (layout.shape(), model.shape());
    std::ptr::eq(tensor, model) || (a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b))
}
