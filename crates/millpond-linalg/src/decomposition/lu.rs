//! Triangular factors of a matrix with rows exchanged, and what is solved with them.

use faer::{Mat, MatRef};
use millpond_hal::library::Undefined;

use super::field::Field;

/// Rows up to which a library spends more on finding its way than on the factors.
const SMALL: usize = 8;

/// `lower * upper` is the matrix with row `rows[i]` in place `i`.
pub(super) struct Factors<T> {
    lower: Mat<T>,
    upper: Mat<T>,
    rows: Vec<usize>,
}

impl<T: Field> Factors<T> {
    /// Takes a square matrix apart.
    pub(super) fn of(matrix: MatRef<'_, T>) -> Self {
        if matrix.nrows() <= SMALL {
            return Self::carefully(matrix);
        }
        let factors = matrix.partial_piv_lu();
        let fine = |part: MatRef<'_, T>| {
            part.col_iter()
                .all(|column| column.iter().all(|&x| x.is_number()))
        };
        if fine(factors.L()) && fine(factors.U()) {
            return Self {
                lower: factors.L().to_owned(),
                upper: factors.U().to_owned(),
                rows: factors.P().arrays().0.to_vec(),
            };
        }
        Self::carefully(matrix)
    }

    /// The same column by column: for small matrices, and where the library multiplied by the
    /// inverse of a pivot that was zero, or so small that it has none.
    fn carefully(matrix: MatRef<'_, T>) -> Self {
        let size = matrix.nrows();
        let mut work = matrix.to_owned();
        let mut rows: Vec<usize> = (0..size).collect();
        for pivot in 0..size {
            let largest = (pivot..size).fold(pivot, |best, row| {
                if work[(row, pivot)].modulus() > work[(best, pivot)].modulus() {
                    row
                } else {
                    best
                }
            });
            if work[(largest, pivot)].modulus() == 0.0 {
                continue;
            }
            rows.swap(pivot, largest);
            for column in 0..size {
                let swapped = work[(pivot, column)];
                work[(pivot, column)] = work[(largest, column)];
                work[(largest, column)] = swapped;
            }
            for row in pivot + 1..size {
                let factor = work[(row, pivot)].over(work[(pivot, pivot)]);
                work[(row, pivot)] = factor;
                for column in pivot + 1..size {
                    work[(row, column)] =
                        work[(row, column)].minus(factor.times(work[(pivot, column)]));
                }
            }
        }
        let part = |wanted: fn(usize, usize) -> bool, diagonal: bool| {
            Mat::from_fn(size, size, |row, column| {
                if row == column && !diagonal {
                    T::of_real(1.0)
                } else if wanted(row, column) {
                    work[(row, column)]
                } else {
                    T::default()
                }
            })
        };
        Self {
            lower: part(|row, column| row > column, false),
            upper: part(|row, column| row <= column, true),
            rows,
        }
    }

    /// The pivots, those of exchanged rows with the sign that makes their product the determinant.
    pub(super) fn pivots(&self) -> impl Iterator<Item = T> {
        let size = self.rows.len();
        let mut seen = vec![false; size];
        // A cycle of rows takes one exchange fewer than it has rows.
        let mut is_odd = false;
        for first in 0..size {
            let mut row = first;
            let mut length = 0;
            while !seen[row] {
                seen[row] = true;
                row = self.rows[row];
                length += 1;
            }
            is_odd ^= length > 0 && length % 2 == 0;
        }
        let sign = T::of_real(if is_odd { -1.0 } else { 1.0 });
        (0..size).map(move |index| {
            let pivot = self.upper[(index, index)];
            if index == 0 { pivot.times(sign) } else { pivot }
        })
    }

    /// Whether there is no inverse.
    pub(super) fn is_singular(&self) -> bool {
        (0..self.rows.len()).any(|index| self.upper[(index, index)].modulus() == 0.0)
    }

    /// What the matrix multiplied with gives the right-hand sides.
    pub(super) fn solve(&self, sides: impl Fn(usize, usize) -> T, columns: usize) -> Mat<T> {
        let mut result = Mat::from_fn(self.rows.len(), columns, |row, column| {
            sides(self.rows[row], column)
        });
        self.lower
            .as_ref()
            .solve_unit_lower_triangular_in_place(&mut result);
        self.upper
            .as_ref()
            .solve_upper_triangular_in_place(&mut result);
        result
    }
}

/// What a matrix that has an inverse multiplied with gives the right-hand sides.
///
/// # Errors
/// A matrix without an inverse.
pub(super) fn solve<T: Field>(
    matrix: MatRef<'_, T>,
    sides: impl Fn(usize, usize) -> T,
    columns: usize,
) -> Result<Mat<T>, Undefined> {
    if matrix.nrows() <= SMALL {
        return solve_few(matrix, sides, columns);
    }
    let factors = Factors::of(matrix);
    if factors.is_singular() {
        return Err(Undefined::Singular);
    }
    Ok(factors.solve(sides, columns))
}

/// The same for few rows, of which no factors are kept: rows of both sides are exchanged and taken
/// from one another together, then the unknowns are found from the last to the first.
fn solve_few<T: Field>(
    matrix: MatRef<'_, T>,
    sides: impl Fn(usize, usize) -> T,
    columns: usize,
) -> Result<Mat<T>, Undefined> {
    let size = matrix.nrows();
    let mut work = [[T::default(); SMALL]; SMALL];
    for (row, line) in work[..size].iter_mut().enumerate() {
        for (column, element) in line[..size].iter_mut().enumerate() {
            *element = matrix[(row, column)];
        }
    }
    let mut result = Mat::from_fn(size, columns, sides);
    for pivot in 0..size {
        let modulus = |row: usize| work[row][pivot].modulus();
        let larger = |best, row| {
            if modulus(row) > modulus(best) {
                row
            } else {
                best
            }
        };
        let largest = (pivot + 1..size).fold(pivot, larger);
        if modulus(largest) == 0.0 {
            return Err(Undefined::Singular);
        }
        if largest != pivot {
            work.swap(pivot, largest);
            for column in 0..columns {
                let first = result[(pivot, column)];
                result[(pivot, column)] = result[(largest, column)];
                result[(largest, column)] = first;
            }
        }
        let line = work[pivot];
        for row in pivot + 1..size {
            let factor = work[row][pivot].over(line[pivot]);
            for (element, &above) in work[row][pivot + 1..size]
                .iter_mut()
                .zip(&line[pivot + 1..])
            {
                *element = element.minus(factor.times(above));
            }
            for column in 0..columns {
                let above = factor.times(result[(pivot, column)]);
                result[(row, column)] = result[(row, column)].minus(above);
            }
        }
    }
    for column in 0..columns {
        for pivot in (0..size).rev() {
            let found = result[(pivot, column)].over(work[pivot][pivot]);
            result[(pivot, column)] = found;
            for row in 0..pivot {
                let above = work[row][pivot].times(found);
                result[(row, column)] = result[(row, column)].minus(above);
            }
        }
    }
    Ok(result)
}
