//! What is done to one matrix.

use faer::{Mat, MatRef, Side};
use millpond_hal::library::{Factorisation, Undefined};
use millpond_types::DType;
use num_complex::Complex;

use super::field::Field;
use super::lu::{self, Factors};

/// What is done to each matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Routine {
    /// The triangular matrix whose product with its adjoint is the matrix, of which the other
    /// triangle doesn't count.
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
    /// What the first matrix has to be multiplied with to give the second.
    Solve,
    /// A matrix with orthonormal columns, and an upper triangle.
    Qr {
        /// Whether the first is square.
        complete: bool,
    },
    /// Left singular vectors, singular values, and the adjoint of the right singular vectors.
    Svd {
        /// Whether the vectors make square matrices.
        full: bool,
    },
    /// The singular values.
    SingularValues,
    /// The eigenvalues of a self-adjoint matrix, of which the upper triangle doesn't count.
    SelfAdjointEigenvalues,
    /// The same and the eigenvectors.
    SelfAdjointEigen,
    /// The eigenvalues.
    Eigenvalues,
    /// The eigenvalues and the eigenvectors.
    Eigen,
}

/// One result.
pub(super) enum Value<T> {
    Same(Mat<T>),
    Real(Mat<f64>),
    Complex(Mat<Complex<f64>>),
}

type Outcome<T> = Result<Vec<Value<T>>, Undefined>;

/// Which dtype a result has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    /// That of the matrix.
    Same,
    /// The real one of its precision.
    Real,
    /// The complex one.
    Complex,
}

impl Sort {
    pub(super) const fn of(self, dtype: DType) -> DType {
        match (self, dtype) {
            (Self::Same, dtype) => dtype,
            (Self::Real, dtype) => dtype.real(),
            (Self::Complex, DType::Float32) => DType::Complex64,
            (Self::Complex, DType::Float64) => DType::Complex128,
            (Self::Complex, dtype) => dtype,
        }
    }
}

impl Routine {
    /// What operations on arrays are called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cholesky { .. } => "cholesky",
            Self::Determinant => "det",
            Self::LogDeterminant => "slogdet",
            Self::Inverse => "inv",
            Self::Solve => "solve",
            Self::Qr { .. } => "qr",
            Self::Svd { .. } => "svd",
            Self::SingularValues => "svdvals",
            Self::SelfAdjointEigenvalues => "eigvalsh",
            Self::SelfAdjointEigen => "eigh",
            Self::Eigenvalues => "eigvals",
            Self::Eigen => "eig",
        }
    }

    /// What libraries of devices call it, of those that they have.
    pub(super) const fn factorisation(self) -> Option<Factorisation> {
        Some(match self {
            Self::Cholesky { upper } => Factorisation::Cholesky { upper },
            Self::Determinant => Factorisation::Determinant,
            Self::LogDeterminant => Factorisation::LogDeterminant,
            Self::Inverse => Factorisation::Inverse,
            Self::Solve => Factorisation::Solve,
            Self::Qr { .. } => Factorisation::Qr,
            Self::Svd { .. } => Factorisation::Svd,
            Self::SingularValues => Factorisation::SingularValues,
            Self::SelfAdjointEigenvalues => Factorisation::SelfAdjointEigenvalues,
            Self::SelfAdjointEigen => Factorisation::SelfAdjointEigen,
            Self::Eigenvalues | Self::Eigen => return None,
        })
    }

    /// Matrices that it takes.
    #[must_use]
    pub const fn arity(self) -> usize {
        if matches!(self, Self::Solve) { 2 } else { 1 }
    }

    /// Whether the matrix, the first, must be square.
    #[must_use]
    pub const fn needs_square(self) -> bool {
        !matches!(
            self,
            Self::Qr { .. } | Self::Svd { .. } | Self::SingularValues
        )
    }

    /// The shapes of the results, of `rows` by `columns`, and of `sides` right-hand sides.
    #[must_use]
    pub fn shapes(self, rows: usize, columns: usize, sides: usize) -> Vec<Vec<usize>> {
        let least = rows.min(columns);
        match self {
            Self::Cholesky { .. } | Self::Inverse => vec![vec![rows, rows]],
            Self::Determinant => vec![vec![]],
            Self::LogDeterminant => vec![vec![], vec![]],
            Self::Solve => vec![vec![rows, sides]],
            Self::Qr { complete: true } => vec![vec![rows, rows], vec![rows, columns]],
            Self::Qr { complete: false } => vec![vec![rows, least], vec![least, columns]],
            Self::Svd { full: true } => vec![vec![rows, rows], vec![least], vec![columns, columns]],
            Self::Svd { full: false } => vec![vec![rows, least], vec![least], vec![least, columns]],
            Self::SingularValues => vec![vec![least]],
            Self::SelfAdjointEigenvalues | Self::Eigenvalues => vec![vec![rows]],
            Self::SelfAdjointEigen | Self::Eigen => vec![vec![rows], vec![rows, rows]],
        }
    }

    /// The dtypes of the results for a matrix of a dtype.
    #[must_use]
    pub fn dtypes(self, dtype: DType) -> Vec<DType> {
        self.sorts().iter().map(|sort| sort.of(dtype)).collect()
    }

    const fn sorts(self) -> &'static [Sort] {
        match self {
            Self::Cholesky { .. } | Self::Determinant | Self::Inverse | Self::Solve => {
                &[Sort::Same]
            }
            Self::LogDeterminant => &[Sort::Same, Sort::Real],
            Self::Qr { .. } => &[Sort::Same, Sort::Same],
            Self::Svd { .. } => &[Sort::Same, Sort::Real, Sort::Same],
            Self::SingularValues | Self::SelfAdjointEigenvalues => &[Sort::Real],
            Self::SelfAdjointEigen => &[Sort::Real, Sort::Same],
            Self::Eigenvalues => &[Sort::Complex],
            Self::Eigen => &[Sort::Complex, Sort::Complex],
        }
    }

    /// Does it.
    pub(super) fn run<T: Field>(self, matrices: &[Mat<T>]) -> Outcome<T> {
        let matrix = matrices[0].as_ref();
        let (rows, columns) = matrix.shape();
        if rows == 0 || columns == 0 {
            let sides = matrices.last().map_or(0, Mat::ncols);
            return Ok(self.of_nothing(rows, columns, sides));
        }
        match self {
            Self::Cholesky { upper } => cholesky(matrix, upper),
            Self::Determinant => {
                let pivots = Factors::of(matrix).pivots().fold(T::of_real(1.0), T::times);
                Ok(vec![scalar(pivots)])
            }
            Self::LogDeterminant => Ok(log_determinant(matrix)),
            Self::Inverse => {
                let identity = |row: usize, column: usize| T::of_real(f64::from(row == column));
                Ok(vec![Value::Same(lu::solve(matrix, identity, rows)?)])
            }
            Self::Solve => {
                let sides = &matrices[1];
                let side = |row: usize, column: usize| sides[(row, column)];
                Ok(vec![Value::Same(lu::solve(matrix, side, sides.ncols())?)])
            }
            Self::Qr { complete } => {
                let factors = matrix.qr();
                let (q, r) = if complete {
                    (factors.compute_Q(), factors.R())
                } else {
                    (factors.compute_thin_Q(), factors.thin_R())
                };
                let r = upper_part(r, q.ncols());
                Ok(vec![Value::Same(q), Value::Same(r)])
            }
            Self::Svd { full } => svd(matrix, full),
            Self::SingularValues => {
                let (scaled, scale) = in_range(matrix)?;
                let values = scaled.singular_values().map_err(|_| Undefined::Diverged)?;
                Ok(vec![Value::Real(reals(values.into_iter(), scale))])
            }
            Self::SelfAdjointEigenvalues => {
                let (scaled, scale) = in_range(matrix)?;
                let values = scaled
                    .self_adjoint_eigenvalues(Side::Lower)
                    .map_err(|_| Undefined::Diverged)?;
                Ok(vec![Value::Real(reals(values.into_iter(), scale))])
            }
            Self::SelfAdjointEigen => {
                let (scaled, scale) = in_range(matrix)?;
                let found = scaled
                    .self_adjoint_eigen(Side::Lower)
                    .map_err(|_| Undefined::Diverged)?;
                let values = found
                    .S()
                    .column_vector()
                    .iter()
                    .map(|value| value.real_part());
                let values = reals(values, scale);
                Ok(vec![Value::Real(values), Value::Same(found.U().to_owned())])
            }
            Self::Eigenvalues => {
                let (scaled, scale) = in_range(matrix)?;
                let values = scaled.eigenvalues().map_err(|_| Undefined::Diverged)?;
                let values = Mat::from_fn(rows, 1, |row, _| values[row] * scale);
                Ok(vec![Value::Complex(values)])
            }
            Self::Eigen => {
                let (scaled, scale) = in_range(matrix)?;
                let (values, vectors) = match eigen(scaled.as_ref()) {
                    Err(_) => eigen(nudged(scaled.as_ref()).as_ref())?,
                    found => found?,
                };
                let values = Mat::from_fn(rows, 1, |row, _| values[row] * scale);
                Ok(vec![Value::Complex(values), Value::Complex(vectors)])
            }
        }
    }

    /// The results for a matrix without elements.
    fn of_nothing<T: Field>(self, rows: usize, columns: usize, sides: usize) -> Vec<Value<T>> {
        let shapes = self.shapes(rows, columns, sides);
        let ones = matches!(
            self,
            Self::Determinant | Self::Svd { .. } | Self::Qr { .. } | Self::LogDeterminant
        );
        let value = |(shape, &sort): (&Vec<usize>, &Sort)| {
            let (rows, columns) = match shape[..] {
                [] => (1, 1),
                [rows] => (rows, 1),
                [rows, columns, ..] => (rows, columns),
            };
            match sort {
                Sort::Real => Value::Real(Mat::zeros(rows, columns)),
                Sort::Complex => Value::Complex(Mat::zeros(rows, columns)),
                Sort::Same => Value::Same(Mat::from_fn(rows, columns, |row, column| {
                    T::of_real(f64::from(ones && row == column))
                })),
            }
        };
        shapes.iter().zip(self.sorts()).map(value).collect()
    }
}

fn scalar<T: Field>(value: T) -> Value<T> {
    Value::Same(Mat::from_fn(1, 1, |_, _| value))
}

/// Real numbers as a column, multiplied by a power of two.
fn reals(values: impl Iterator<Item = f64>, scale: f64) -> Mat<f64> {
    let values: Vec<f64> = values.collect();
    Mat::from_fn(values.len(), 1, |row, _| values[row] * scale)
}

/// The upper triangle with as many rows, zeros below.
fn upper_part<T: Field>(matrix: MatRef<'_, T>, rows: usize) -> Mat<T> {
    Mat::from_fn(rows, matrix.ncols(), |row, column| {
        if row <= column {
            matrix[(row, column)]
        } else {
            T::default()
        }
    })
}

fn cholesky<T: Field>(matrix: MatRef<'_, T>, upper: bool) -> Outcome<T> {
    let size = matrix.nrows();
    let lower = |row: usize, column: usize| {
        if upper {
            matrix[(column, row)].conjugate()
        } else {
            matrix[(row, column)]
        }
    };
    let wanted = Mat::from_fn(size, size, |row, column| {
        if row >= column {
            lower(row, column)
        } else {
            lower(column, row).conjugate()
        }
    });
    let refused = Undefined::NotPositiveDefinite;
    let Ok(factor) = wanted.llt(Side::Lower) else {
        return Err(refused);
    };
    let factor = factor.L();
    // Comparisons with NaN hold nothing up.
    if !(0..size).all(|index| factor[(index, index)].modulus() > 0.0) {
        return Err(refused);
    }
    Ok(vec![Value::Same(Mat::from_fn(
        size,
        size,
        |row, column| match (upper, row >= column) {
            (false, true) => factor[(row, column)],
            (true, _) if column >= row => factor[(column, row)].conjugate(),
            _ => T::default(),
        },
    ))])
}

fn log_determinant<T: Field>(matrix: MatRef<'_, T>) -> Vec<Value<T>> {
    let (mut sign, mut logarithm) = (T::of_real(1.0), 0.0);
    for pivot in Factors::of(matrix).pivots() {
        let modulus = pivot.modulus();
        logarithm += modulus.ln();
        let unit = if modulus == 0.0 {
            T::default()
        } else {
            pivot.over(T::of_real(modulus))
        };
        sign = sign.times(unit);
    }
    if sign.modulus() == 0.0 {
        logarithm = f64::NEG_INFINITY;
    }
    vec![
        scalar(sign),
        Value::Real(reals(std::iter::once(logarithm), 1.0)),
    ]
}

fn svd<T: Field>(matrix: MatRef<'_, T>, full: bool) -> Outcome<T> {
    let (scaled, scale) = in_range(matrix)?;
    let found = if full {
        scaled.svd()
    } else {
        scaled.thin_svd()
    };
    let found = found.map_err(|_| Undefined::Diverged)?;
    let values = found
        .S()
        .column_vector()
        .iter()
        .map(|value| value.real_part());
    let (left, right) = (found.U(), found.V());
    let adjoint = Mat::from_fn(right.ncols(), right.nrows(), |row, column| {
        right[(column, row)].conjugate()
    });
    Ok(vec![
        Value::Same(left.to_owned()),
        Value::Real(reals(values, scale)),
        Value::Same(adjoint),
    ])
}

/// The exponent of two up to which, and down to which, numbers aren't scaled: their squares, and
/// sums of many, are far from the ends of the range.
const IN_RANGE: i32 = 300;

/// The matrix, multiplied by a power of two if its largest number calls for it, and what results
/// are to be multiplied by in turn. Iterations don't end well with anything but numbers.
fn in_range<T: Field>(matrix: MatRef<'_, T>) -> Result<(Mat<T>, f64), Undefined> {
    let moduli = || {
        matrix
            .col_iter()
            .flat_map(|column| column.iter().map(|&x| x.modulus()))
    };
    if !moduli().all(f64::is_finite) {
        return Err(Undefined::NotFinite);
    }
    let largest = moduli().fold(0.0, f64::max);
    let exponent = if largest == 0.0 {
        0.0
    } else {
        largest.log2().round()
    };
    if exponent.abs() <= f64::from(IN_RANGE) {
        return Ok((matrix.to_owned(), 1.0));
    }
    // Half at a time, as the inverse of a subnormal power is infinite.
    let half = (-exponent / 2.0).round();
    let (first, second) = (half.exp2(), (-exponent - half).exp2());
    let scaled = Mat::from_fn(matrix.nrows(), matrix.ncols(), |row, column| {
        let value = matrix[(row, column)].times(T::of_real(first));
        value.times(T::of_real(second))
    });
    Ok((scaled, exponent.exp2()))
}

/// Eigenvalues and eigenvectors.
type Eigen = (Vec<Complex<f64>>, Mat<Complex<f64>>);

/// Eigenvalues and eigenvectors of length one. Where eigenvalues coincide and their vectors do as
/// well, these may leave the range on the way, which is an error like any other.
fn eigen<T: Field>(matrix: MatRef<'_, T>) -> Result<Eigen, Undefined> {
    let found = matrix.eigen().map_err(|_| Undefined::Diverged)?;
    let vectors = with_unit_columns(found.U());
    let is_fine = |value: &Complex<f64>| value.is_finite();
    if !vectors.col_iter().all(|column| column.iter().all(is_fine)) {
        return Err(Undefined::Diverged);
    }
    Ok((found.S().column_vector().iter().copied().collect(), vectors))
}

/// The matrix with each number changed by no more than a rounding of the largest, which sets
/// eigenvalues that coincide apart. What belongs to it belongs to the matrix as exactly as results
/// of iterations do.
fn nudged<T: Field>(matrix: MatRef<'_, T>) -> Mat<T> {
    let moduli = matrix
        .col_iter()
        .flat_map(|column| column.iter().map(|&x| x.modulus()));
    let unit = moduli.fold(0.0, f64::max) * f64::EPSILON;
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |row, column| {
        // Numbers between -1 and 1 without a pattern.
        let mixed = (row as u64 * 0x9e37_79b9 + column as u64 * 0x85eb_ca6b + 1)
            .wrapping_mul(0x2545_f491_4f6c_dd1d);
        let nudge = (mixed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0;
        matrix[(row, column)].plus(T::of_real(nudge * unit))
    })
}

/// The matrix with columns of length one.
fn with_unit_columns(matrix: MatRef<'_, Complex<f64>>) -> Mat<Complex<f64>> {
    let lengths: Vec<f64> = matrix.col_iter().map(|column| column.norm_l2()).collect();
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |row, column| {
        let length = lengths[column];
        if length > 0.0 {
            matrix[(row, column)] / length
        } else {
            matrix[(row, column)]
        }
    })
}
