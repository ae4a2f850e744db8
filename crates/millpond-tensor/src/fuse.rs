//! Element-wise work that may be joined to the work before it.
//!
//! What is small runs at once where nothing stands before it. Everything else goes to the queue's
//! window (`millpond_runtime`), where a chain of operations becomes one pass over memory. Work that
//! doesn't fit there is launched by itself, with the same result.

use millpond_kernel::{FusedKernel, FusedOperand, FusedStep, FusedView, Operation};
use millpond_runtime::{Access, INLINE_NANOSECONDS, Queue, Use};
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
    /// Whether work of this cost is better joined to other work than run at once.
    #[inline]
    #[must_use]
    pub(crate) fn is_worth_joining(queue: &Queue, nanoseconds: u32) -> bool {
        queue.may_grow() && nanoseconds > INLINE_NANOSECONDS
    }

    /// Has it done together with the work before it, if it can be; whether that was so.
    ///
    /// # Errors
    /// A closed queue.
    pub(crate) fn launch(&self, queue: &Queue) -> Result<bool> {
        let view = |tensor: &Tensor, layout| FusedView {
            dtype: tensor.dtype(),
            layout,
            base: tensor.memory().address(),
        };
        let mut uses: SmallVec<[Use<'_>; MAX_OPERANDS]> = SmallVec::new();
        let target = self.target;
        let covers = target.bytes() == target.memory().bytes();
        uses.push(Use {
            allocation: target.memory(),
            access: if covers {
                Access::Write
            } else {
                Access::Update
            },
        });
        let mut inputs: SmallVec<[FusedOperand<'_>; MAX_OPERANDS]> = SmallVec::new();
        for (operand, wide) in self.inputs.iter().zip(self.wide) {
            inputs.push(match operand {
                Operand::Scalar(value) => FusedOperand::Scalar(*value),
                Operand::Tensor(tensor) => {
                    uses.push(Use {
                        allocation: tensor.memory(),
                        access: Access::Read,
                    });
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
