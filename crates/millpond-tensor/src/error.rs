//! What can go wrong with arrays, each with the values that explain it, and the class that
//! surfaces map it to.

use millpond_fft::FftError;
use millpond_kernel::{PlanError, UnsupportedDType};
use millpond_linalg::LinalgError;
use millpond_runtime::{Error as RuntimeError, FailureKind};
use millpond_types::promote::PromotionError;
use millpond_types::shape::{MAX_NDIM, ShapeError, Tuple};
use millpond_types::{DType, Scalar, Shape};

/// An error of an array operation. Nothing was changed by the call that answers one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The runtime refused, or work submitted earlier failed.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// A shape that can't be.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// An array of more axes than there may be.
    #[error("{operation}: an array has {MAX_NDIM} dimensions at most, not {ndim}")]
    Dimensions {
        /// The operation.
        operation: &'static str,
        /// The axes asked for.
        ndim: usize,
    },
    /// Operands of an operation that don't broadcast to one shape.
    #[error("{operation}: {error}")]
    Broadcast {
        /// The operation.
        operation: &'static str,
        /// What doesn't fit.
        error: ShapeError,
    },
    /// Dtypes without a common one.
    #[error("{operation}: {error}")]
    Promotion {
        /// The operation.
        operation: &'static str,
        /// What has no common dtype.
        error: PromotionError,
    },
    /// The operation isn't defined for the dtypes.
    #[error(transparent)]
    UnsupportedDType(#[from] UnsupportedDType),
    /// The operation can't be carried out as asked.
    #[error(transparent)]
    Plan(PlanError),
    /// A kernel of linear algebra that can't be made.
    #[error(transparent)]
    Linalg(#[from] LinalgError),
    /// A transform that can't be made.
    #[error(transparent)]
    Fft(#[from] FftError),
    /// The device doesn't compute with the dtype.
    #[error("{device} does not support {dtype}")]
    DeviceDType {
        /// The device.
        device: String,
        /// The dtype.
        dtype: DType,
    },
    /// A result that the target's dtype can't take.
    #[error("{operation}: cannot cast from {from} to {to} by the rule '{casting}'")]
    Casting {
        /// The operation.
        operation: &'static str,
        /// The dtype of the values.
        from: DType,
        /// The dtype of the target.
        to: DType,
        /// The rule that forbids it.
        casting: &'static str,
    },
    /// An index outside of an axis.
    #[error("index {index} is out of bounds for axis {axis} with size {size}")]
    Index {
        /// The index.
        index: isize,
        /// The axis.
        axis: usize,
        /// Its size.
        size: usize,
    },
    /// An index expression that the array can't take.
    #[error("invalid index for an array of {ndim} dimensions: {reason}")]
    IndexExpression {
        /// The axes there are.
        ndim: usize,
        /// What is wrong.
        reason: String,
    },
    /// An array that must not be written.
    #[error("{operation}: the array is read-only")]
    ReadOnly {
        /// The operation.
        operation: &'static str,
    },
    /// An argument out of its range.
    #[error("{operation}: {reason}")]
    Value {
        /// The operation.
        operation: &'static str,
        /// What is wrong, with the values.
        reason: String,
    },
    /// An argument of the wrong sort.
    #[error("{operation}: {reason}")]
    Type {
        /// The operation.
        operation: &'static str,
        /// What is wrong, with the values.
        reason: String,
    },
    /// The host has no memory for a copy.
    #[error("{operation}: no host memory for {bytes} bytes")]
    HostMemory {
        /// The operation.
        operation: &'static str,
        /// Bytes asked for.
        bytes: usize,
    },
    /// An integer that the dtype can't hold.
    #[error("{operation}: {value} is out of bounds for {dtype}")]
    Overflow {
        /// The operation.
        operation: &'static str,
        /// The integer.
        value: i128,
        /// The dtype.
        dtype: DType,
    },
    /// An output whose shape isn't the result's.
    #[error("{operation}: the output has shape {}, the result has shape {}", Tuple(.output), Tuple(.result))]
    OutputShape {
        /// The operation.
        operation: &'static str,
        /// The output's shape.
        output: Shape,
        /// The result's shape.
        result: Shape,
    },
    /// Operands of different devices; nothing is transferred unasked.
    #[error(
        "{operation}: operands are on {first} and {second}; move one of them with to_device first"
    )]
    Devices {
        /// The operation.
        operation: &'static str,
        /// A device.
        first: String,
        /// Another.
        second: String,
    },
    /// A layout that reaches outside of the memory.
    #[error("an array of {dtype}, shape {} and offset {offset} reaches outside of {bytes} bytes", Tuple(.shape))]
    Span {
        /// The dtype.
        dtype: DType,
        /// The shape.
        shape: Shape,
        /// The offset of element zero, in elements.
        offset: usize,
        /// Bytes there are.
        bytes: usize,
    },
    /// Something that isn't offered.
    #[error("{operation}: {reason}")]
    NotImplemented {
        /// The operation.
        operation: &'static str,
        /// What isn't offered.
        reason: String,
    },
}

/// What sort of error it is; surfaces map each to an exception of theirs in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorClass {
    /// The wrong sort of argument, dtypes included.
    Type,
    /// An argument out of its range, shapes included.
    Value,
    /// An index out of its axis.
    Index,
    /// An integer out of the range of a dtype.
    Overflow,
    /// No memory.
    Memory,
    /// Memory that can't be reached or exported.
    Buffer,
    /// The runtime: devices, queues, failures of earlier work.
    Runtime,
    /// Something that isn't offered.
    NotImplemented,
}

impl Error {
    /// What sort of error it is.
    #[must_use]
    pub fn class(&self) -> ErrorClass {
        match self {
            Self::Runtime(error) => class_of_runtime(error),
            Self::Shape(ShapeError::TooLarge { .. }) | Self::HostMemory { .. } => {
                ErrorClass::Memory
            }
            Self::Shape(ShapeError::Axis { .. })
            | Self::Index { .. }
            | Self::IndexExpression { .. } => ErrorClass::Index,
            Self::Promotion { .. }
            | Self::UnsupportedDType(_)
            | Self::Plan(PlanError::DType(_))
            | Self::Linalg(LinalgError::DType { .. })
            | Self::Fft(FftError::DType { .. })
            | Self::Casting { .. }
            | Self::DeviceDType { .. }
            | Self::Type { .. } => ErrorClass::Type,
            Self::Overflow { .. } => ErrorClass::Overflow,
            Self::NotImplemented { .. } => ErrorClass::NotImplemented,
            Self::Shape(_)
            | Self::Dimensions { .. }
            | Self::Broadcast { .. }
            | Self::Plan(_)
            | Self::Linalg(_)
            | Self::Fft(_)
            | Self::ReadOnly { .. }
            | Self::Value { .. }
            | Self::OutputShape { .. }
            | Self::Devices { .. }
            | Self::Span { .. } => ErrorClass::Value,
        }
    }

    pub(crate) fn value(operation: &'static str, reason: impl Into<String>) -> Self {
        Self::Value {
            operation,
            reason: reason.into(),
        }
    }

    pub(crate) fn wrong_type(operation: &'static str, reason: impl Into<String>) -> Self {
        Self::Type {
            operation,
            reason: reason.into(),
        }
    }
}

const fn class_of_failure(kind: FailureKind) -> ErrorClass {
    match kind {
        FailureKind::Index => ErrorClass::Index,
        FailureKind::Value => ErrorClass::Value,
        _ => ErrorClass::Runtime,
    }
}

fn class_of_runtime(error: &RuntimeError) -> ErrorClass {
    match error {
        RuntimeError::OutOfMemory(_) => ErrorClass::Memory,
        RuntimeError::Failed(failure) => class_of_failure(failure.kind()),
        RuntimeError::HostAccess { .. } => ErrorClass::Buffer,
        RuntimeError::UnknownDevice { .. } => ErrorClass::Value,
        _ => ErrorClass::Runtime,
    }
}

impl From<PlanError> for Error {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::DType(error) => Self::UnsupportedDType(error),
            PlanError::Axes(error) => Self::Shape(error),
            other => Self::Plan(other),
        }
    }
}

/// Result of an array operation.
pub type Result<T> = std::result::Result<T, Error>;

/// Names the operation that asks for a shape.
pub(crate) trait During<T> {
    /// The value, or an error that names the operation.
    fn during(self, operation: &'static str) -> Result<T>;
}

impl<T> During<T> for std::result::Result<T, ShapeError> {
    #[inline]
    fn during(self, operation: &'static str) -> Result<T> {
        self.map_err(|error| match error {
            ShapeError::Dimensions { ndim } => Error::Dimensions { operation, ndim },
            other => Error::Shape(other),
        })
    }
}

/// Fails with [`Error::Overflow`] if an integer dtype can't hold the integer.
pub(crate) fn check_fits(operation: &'static str, value: Scalar, dtype: DType) -> Result<()> {
    match value {
        Scalar::Int(value) if !Scalar::Int(value).fits(dtype) => Err(Error::Overflow {
            operation,
            value,
            dtype,
        }),
        _ => Ok(()),
    }
}
