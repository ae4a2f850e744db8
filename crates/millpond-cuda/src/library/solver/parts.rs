//! What a factorisation needs in scratch memory, for one matrix at a time.

use millpond_hal::library::{Factorisation, Matrix};
use millpond_types::DType;

use crate::api::Pointer;

/// What parts are aligned to.
const ALIGNED: usize = 256;

/// The sizes of a factorisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub(super) dtype: DType,
    /// Rows and columns of the matrix as the library is given it.
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// Columns of the other factor: right-hand sides, the columns of a matrix with orthonormal ones.
    pub(super) sides: usize,
    /// Whether the library is given the matrix with rows for columns.
    pub(super) turned: bool,
}

impl Sizes {
    /// The sizes of a factorisation of matrices, results first.
    pub(super) fn of(factorisation: Factorisation, operands: &[Matrix]) -> Option<Self> {
        let inputs = if factorisation == Factorisation::Solve {
            2
        } else {
            1
        };
        let (results, inputs) = operands.split_at_checked(operands.len().checked_sub(inputs)?)?;
        let matrix = inputs.first()?;
        // The library takes singular values of matrices with at least as many rows as columns.
        let of_values = matches!(
            factorisation,
            Factorisation::Svd | Factorisation::SingularValues
        );
        let turned = of_values && matrix.rows < matrix.columns;
        let (rows, columns) = if turned {
            (matrix.columns, matrix.rows)
        } else {
            (matrix.rows, matrix.columns)
        };
        let sides = match factorisation {
            Factorisation::Inverse => rows,
            Factorisation::Solve => inputs.get(1)?.columns,
            Factorisation::Qr => results.first()?.columns,
            Factorisation::Svd if turned => results.get(2)?.rows,
            Factorisation::Svd => results.first()?.columns,
            _ => 0,
        };
        Some(Self {
            dtype: matrix.dtype,
            rows,
            columns,
            sides,
            turned,
        })
    }

    /// The smaller side.
    pub(super) const fn least(&self) -> usize {
        if self.rows < self.columns {
            self.rows
        } else {
            self.columns
        }
    }
}

/// Where the parts lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// The matrix, column by column.
    pub(super) matrix: Pointer,
    /// Right-hand sides, or left singular vectors.
    pub(super) second: Pointer,
    /// Right singular vectors.
    pub(super) third: Pointer,
    /// Eigenvalues or singular values.
    pub(super) values: Pointer,
    /// The exchanges of rows, or the scales of reflections.
    pub(super) factors: Pointer,
    /// The word by which the library tells what it found.
    pub(super) found: Pointer,
    /// What the library works in.
    pub(super) work: Pointer,
}

impl Parts {
    /// The parts of a factorisation behind an address.
    pub(super) fn at(begin: Pointer, factorisation: Factorisation, sizes: &Sizes) -> Self {
        let Sizes {
            rows,
            columns,
            sides,
            ..
        } = *sizes;
        let (item, real) = (sizes.dtype.size(), sizes.dtype.real().size());
        let mut end = begin;
        let mut take = |bytes: usize| {
            let address = end;
            end += bytes.next_multiple_of(ALIGNED) as Pointer;
            address
        };
        let needs = |these: &[Factorisation]| usize::from(these.contains(&factorisation));
        // An orthonormal matrix takes the place of the one that it comes from.
        let widest = columns.max(needs(&[Factorisation::Qr]) * sides);
        let of_sides = [
            Factorisation::Inverse,
            Factorisation::Solve,
            Factorisation::Svd,
        ];
        Self {
            matrix: take(rows * widest * item),
            second: take(needs(&of_sides) * rows * sides * item),
            third: take(needs(&[Factorisation::Svd]) * columns * columns * item),
            values: take(columns * real),
            factors: take(rows.max(columns) * item.max(size_of::<i64>())),
            found: take(size_of::<i64>()),
            work: take(0),
        }
    }
}
