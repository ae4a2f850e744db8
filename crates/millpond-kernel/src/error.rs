//! What can be wrong with a request for a kernel.

use std::fmt;

use millpond_types::DType;
use millpond_types::shape::Tuple;
use smallvec::SmallVec;

/// Dtypes for which an operation has no meaning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{operation} is not defined for {}", List(.dtypes))]
pub struct UnsupportedDType {
    /// The operation's name.
    pub operation: &'static str,
    /// The dtypes of the operands, in order.
    pub dtypes: SmallVec<[DType; 4]>,
}

/// A kernel that can't be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The operation isn't defined for the dtypes.
    #[error(transparent)]
    DType(#[from] UnsupportedDType),
    /// The number of operands differs from what the operation takes.
    #[error("{operation} takes {expected} operands, not {given}")]
    Arity {
        /// The operation's name.
        operation: &'static str,
        /// How many it takes.
        expected: usize,
        /// How many were given.
        given: usize,
    },
    /// An operand whose shape isn't the output's; callers broadcast first.
    #[error("{operation} writes shape {}, operand {operand} has shape {}", Tuple(.output), Tuple(.input))]
    Shape {
        /// The operation's name.
        operation: &'static str,
        /// Which input.
        operand: usize,
        /// The shape of the output.
        output: Box<[usize]>,
        /// The shape of the input.
        input: Box<[usize]>,
    },
    /// A reduction of no elements that has no identity.
    #[error("{operation} of no elements has no value: shape {}, axes {}", Tuple(.shape), Tuple(.axes))]
    Empty {
        /// The reduction's name.
        operation: &'static str,
        /// The shape of the input.
        shape: Box<[usize]>,
        /// The axes that were to be reduced.
        axes: Box<[usize]>,
    },
    /// An output whose shape isn't the input's without the reduced axes.
    #[error("{operation} of shape {} over axes {} does not give shape {}", Tuple(.input), Tuple(.axes), Tuple(.output))]
    ReducedShape {
        /// The reduction's name.
        operation: &'static str,
        /// The shape of the input.
        input: Box<[usize]>,
        /// The axes to be reduced.
        axes: Box<[usize]>,
        /// The shape of the output.
        output: Box<[usize]>,
    },
    /// Axes that the input doesn't have, or has once only.
    #[error(transparent)]
    Axes(#[from] millpond_types::shape::ShapeError),
}

struct List<'a>(&'a [DType]);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, dtype) in self.0.iter().enumerate() {
            let separator = match index {
                0 => "",
                _ if index + 1 == self.0.len() => " and ",
                _ => ", ",
            };
            write!(f, "{separator}{dtype}")?;
        }
        Ok(())
    }
}
