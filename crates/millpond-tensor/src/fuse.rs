//! Element-wise work and reductions that may be joined to the work before them.
//!
//! What is small runs at once where nothing stands before it. Everything else goes to the queue's
//! window (`millpond_runtime`), where a chain of operations becomes one pass over memory. Work that
//! doesn't fit there is launched by itself, with the same result.

use millpond_kernel::{FusedKernel, FusedOperand, FusedStep, FusedView, Operation, ReduceKernel};
use millpond_runtime::{Access, Queue, Use};
use millpond_types::{DType, Layout};
use smallvec::SmallVec;

use crate::error::Result;
use crate::operand::Operand;
use crate::plain::MAX_OPERANDS;
use crate::tensor::Tensor;

/// An element-wise operation, or a copy, whose operands have the shape of its target or are
/// scalars.
pub(crate) struct Work<'a> {
    /// `None` copies.
    pub(crate) operation: Option<&'static Operation>,
    /// The dtypes that the operation computes with, one for each input.
    pub(crate) computes: &'a [DType],
    pub(crate) target: &'a Tensor,
    /// The inputs, and where those arrays lie that don't have the target's shape themselves.
    pub(crate) inputs: &'a [Operand<'a>],
    pub(crate) wide: &'a [Option<Layout>],
}

impl Work<'_> {
    /// Has it done together with the work before it, if it can be; whether that was so.
    ///
    /// # Errors
    /// A closed queue.
    pub(crate) fn launch(&self, queue: &Queue) -> Result<bool> {
        let target = self.target;
        let mut uses: SmallVec<[Use<'_>; MAX_OPERANDS]> = SmallVec::new();
        uses.push(written(target));
        let mut inputs: SmallVec<[FusedOperand<'_>; MAX_OPERANDS]> = SmallVec::new();
        for (operand, wide) in self.inputs.iter().zip(self.wide) {
            inputs.push(match operand {
                Operand::Scalar(value) => FusedOperand::Scalar(*value),
                Operand::Tensor(tensor) => {
                    uses.push(read(tensor));
                    let layout = wide.as_ref().unwrap_or(tensor.layout());
                    FusedOperand::Array(view(tensor, layout))
                }
            });
        }
        let step = FusedStep {
            operation: self.operation,
            computes: self.computes,
            output: view(target, target.layout()),
            inputs: &inputs,
        };
        let joined = |kernel: &FusedKernel| kernel.join(&step);
        Ok(queue.launch_growing(&uses, joined, || FusedKernel::new(&step))?)
    }
}

/// Has a reduction done together with the work before it, if it can be; else the kernel comes back.
///
/// # Errors
/// A closed queue.
pub(crate) fn reduce(
    queue: &Queue,
    kernel: Box<ReduceKernel>,
    target: &Tensor,
    input: &Tensor,
) -> Result<Option<Box<ReduceKernel>>> {
    let mut kernel = Some(kernel);
    let uses = [written(target), read(input)];
    let joined = |fused: &FusedKernel| {
        let (from, to) = (view(input, input.layout()), view(target, target.layout()));
        let answer = kernel
            .take()
            .map(|kernel| fused.join_reduction(kernel, &from, &to));
        kernel = answer.and_then(std::result::Result::err);
        kernel.is_none()
    };
    queue.launch_growing(&uses, joined, || None)?;
    Ok(kernel)
}

fn view<'a>(tensor: &Tensor, layout: &'a Layout) -> FusedView<'a> {
    FusedView {
        dtype: tensor.dtype(),
        layout,
        base: tensor.memory().address(),
    }
}

fn written(target: &Tensor) -> Use<'_> {
    let covers = target.bytes() == target.memory().bytes();
    Use {
        allocation: target.memory(),
        access: if covers {
            Access::Write
        } else {
            Access::Update
        },
    }
}

fn read(input: &Tensor) -> Use<'_> {
    Use {
        allocation: input.memory(),
        access: Access::Read,
    }
}
