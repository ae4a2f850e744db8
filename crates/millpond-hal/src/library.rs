//! What a kernel is in the words of textbooks: a product of matrices, a Fourier transform, a
//! factorisation.
//!
//! Vendors of devices have libraries for these, whose work of years no source that a kernel brings
//! along could match. A kernel that is one of them says so by
//! [`HostKernel::library_work`](crate::HostKernel::library_work), in terms of numbers, sizes and steps;
//! which library does it, in which of its forms and whether any fits, is for a backend to say. What a
//! backend has no library for is carried out as if the kernel had said nothing.
//!
//! Everything is a stack of matrices: one operand holds one matrix for each element of the stack, a
//! vector as a matrix of one row or column. Steps are in bytes, and may be negative, or zero where one
//! element stands for many.

use millpond_types::DType;
use smallvec::SmallVec;

use crate::error::FailureKind;
use crate::kernel::KernelError;

/// The most operands of such work.
pub const OPERANDS: usize = 4;

/// Work that libraries of vendors do, for every matrix of a stack.
#[derive(Clone, Debug, PartialEq)]
pub struct LibraryWork {
    /// What is done.
    pub task: Task,
    /// Where the matrices of each of the kernel's operands lie, results first.
    pub operands: SmallVec<[Matrix; OPERANDS]>,
    /// The axes that count the matrices, the outermost first.
    pub stack: SmallVec<[Axis; 2]>,
}

/// The matrices of an operand, by the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Matrix {
    /// What its elements are.
    pub dtype: DType,
    /// Bytes from the operand's base to the first element.
    pub begin: isize,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Bytes from row to row and from column to column.
    pub steps: [isize; 2],
}

/// An axis of a stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axis {
    /// Matrices along it.
    pub size: usize,
    /// Bytes from one to the next, for each operand.
    pub steps: [isize; OPERANDS],
}

/// What is done with a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Task {
    /// The second operand times the third, all of one dtype. Integers wrap; floats are multiplied and
    /// added in their precision, none narrower.
    Product {
        /// Whether elements of the second operand are conjugated.
        conjugates: bool,
    },
    /// The Fourier transform of each line. A line is a matrix of one row; what it lacks of the points
    /// that are needed is zero.
    Transform {
        /// What is transformed into what.
        spectrum: Spectrum,
        /// Points.
        length: usize,
        /// What results are multiplied by.
        scale: f64,
    },
    /// A matrix taken apart, or what follows straight from its parts.
    Factorisation(Factorisation),
}

/// What is transformed into what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spectrum {
    /// Complex to complex, with the negative exponent.
    Forward,
    /// Complex to complex, with the positive exponent.
    Inverse,
    /// Real to the first half of the complex spectrum: `n / 2 + 1` of its points.
    RealForward,
    /// The first half of the spectrum, of a real signal, to that. The imaginary parts of the ends of
    /// the spectrum, which such a signal doesn't have, don't count.
    RealInverse,
}

/// What a matrix is taken apart into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Factorisation {
    /// The triangular matrix whose product with its adjoint is the matrix, of which the other
    /// triangle doesn't count. Results have zeros there.
    Cholesky {
        /// Whether it is the upper triangle.
        upper: bool,
    },
    /// The determinant.
    Determinant,
    /// The sign of the determinant, and the logarithm of its modulus.
    LogDeterminant,
    /// The inverse.
    Inverse,
    /// What the second operand has to be multiplied with to give the third.
    Solve,
    /// A matrix with orthonormal columns, and an upper triangle.
    Qr,
    /// Left singular vectors, singular values, and the adjoint of the right singular vectors.
    Svd,
    /// The singular values.
    SingularValues,
    /// The eigenvalues of a self-adjoint matrix, of which the upper triangle doesn't count.
    SelfAdjointEigenvalues,
    /// The same and the eigenvectors.
    SelfAdjointEigen,
}

/// Why there is no result for the numbers of a matrix: a failure of
/// [`FailureKind::Numeric`] with these words, whoever finds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Undefined {
    /// Infinities or NaNs, from which iterations come to no end.
    #[error("the matrix has infinities or NaNs")]
    NotFinite,
    /// A matrix that isn't the product of a triangular one and its adjoint.
    #[error("the matrix is not positive definite")]
    NotPositiveDefinite,
    /// A matrix without an inverse.
    #[error("the matrix is singular")]
    Singular,
    /// An iteration that came to no end.
    #[error("the iteration did not converge")]
    Diverged,
}

impl From<Undefined> for KernelError {
    fn from(undefined: Undefined) -> Self {
        Self::new(FailureKind::Numeric, undefined.to_string())
    }
}

impl LibraryWork {
    /// How many matrices the stack has.
    #[must_use]
    pub fn count(&self) -> usize {
        self.stack.iter().map(|axis| axis.size).product()
    }
}

impl Axis {
    /// An axis of a size with these steps; operands beyond them stay where they are.
    #[must_use]
    pub fn new(size: usize, steps: &[isize]) -> Self {
        let step = |operand: usize| steps.get(operand).copied().unwrap_or(0);
        Self {
            size,
            steps: std::array::from_fn(step),
        }
    }
}
