//! Factorisations, by cuSOLVER.

use millpond_hal::FailureKind;
use millpond_linalg::{DecompositionKernel, Routine};
use millpond_testkit::watchdog::watched;
use num_complex::Complex;

use super::*;

/// Matrices beyond those that are small.
const SIZE: usize = 52;

/// Such matrices, and small ones for every size of what a block of threads shares.
const SIZES: [usize; 6] = [SIZE, 48, 20, 9, 5, 1];

type Number = Complex<f64>;

/// A matrix, row by row.
#[derive(Clone)]
struct Matrix {
    rows: usize,
    columns: usize,
    numbers: Vec<Number>,
}

impl Matrix {
    fn of(rows: usize, columns: usize, number: impl Fn(usize, usize) -> Number) -> Self {
        let all = (0..rows * columns).map(|index| number(index / columns, index % columns));
        Self {
            rows,
            columns,
            numbers: all.collect(),
        }
    }

    fn at(&self, row: usize, column: usize) -> Number {
        self.numbers[row * self.columns + column]
    }

    fn times(&self, other: &Self) -> Self {
        assert_eq!(self.columns, other.rows);
        Self::of(self.rows, other.columns, |row, column| {
            (0..self.columns)
                .map(|inner| self.at(row, inner) * other.at(inner, column))
                .sum()
        })
    }

    fn adjoint(&self) -> Self {
        Self::of(self.columns, self.rows, |row, column| {
            self.at(column, row).conj()
        })
    }

    fn identity(size: usize) -> Self {
        Self::of(size, size, |row, column| f64::from(row == column).into())
    }

    /// The matrix that has numbers on its diagonal.
    fn diagonal(rows: usize, columns: usize, numbers: &[Number]) -> Self {
        Self::of(rows, columns, |row, column| {
            if row == column {
                numbers[row]
            } else {
                0.0.into()
            }
        })
    }

    fn assert_is(&self, wanted: &Self, dtype: DType, what: &str) {
        assert_eq!(
            (self.rows, self.columns),
            (wanted.rows, wanted.columns),
            "{what}"
        );
        let largest = wanted
            .numbers
            .iter()
            .fold(1.0, |most: f64, it| most.max(it.norm()));
        let bound = largest * if dtype.real().size() == 4 { 2e-4 } else { 1e-9 };
        for (index, (a, b)) in self.numbers.iter().zip(&wanted.numbers).enumerate() {
            assert!(
                (a - b).norm() <= bound,
                "{what}, {dtype}: {a} for {b} at {index}"
            );
        }
    }
}

/// A matrix as dice throw it.
fn any_matrix(dice: &mut Dice, dtype: DType, rows: usize, columns: usize) -> Matrix {
    let mut part = || dice.roll(2001) as f64 / 1000.0 - 1.0;
    let numbers = (0..rows * columns).map(|_| {
        let re = part();
        Complex::new(re, if dtype.is_complex() { part() } else { 0.0 })
    });
    let numbers: Vec<Number> = numbers.collect();
    Matrix {
        rows,
        columns,
        numbers,
    }
}

/// A square one whose inverse has no large numbers, and whose determinant is within every range.
fn far_from_singular(dice: &mut Dice, dtype: DType, size: usize) -> Matrix {
    let any = any_matrix(dice, dtype, size, size);
    Matrix::of(size, size, |row, column| {
        // Off the diagonal, so that rows have to be exchanged.
        let large = f64::from(column == (row + 1) % size);
        any.at(row, column) / 8.0 + 2.5 * large
    })
}

/// The element of a layout at an index.
fn place(layout: &Layout, index: &[usize]) -> usize {
    let steps = layout.strides().iter().zip(index);
    let sum: isize = steps.map(|(step, &at)| step * at as isize).sum();
    layout.offset().wrapping_add_signed(sum)
}

/// A stack of matrices in memory, as a layout says.
fn stored(dtype: DType, layout: &Layout, matrices: &[Matrix]) -> Vec<u8> {
    let mut bytes = vec![0; layout.byte_span(dtype.size()).end];
    for (number, matrix) in matrices.iter().enumerate() {
        for row in 0..matrix.rows {
            for column in 0..matrix.columns {
                let begin = place(layout, &[number, row, column]) * dtype.size();
                let value = matrix.at(row, column);
                let real = dtype.real().size();
                for (index, part) in [value.re, value.im].into_iter().enumerate() {
                    if index * real >= dtype.size() {
                        continue;
                    }
                    let to = &mut bytes[begin + index * real..][..real];
                    if real == 4 {
                        to.copy_from_slice(&(part as f32).to_ne_bytes());
                    } else {
                        to.copy_from_slice(&part.to_ne_bytes());
                    }
                }
            }
        }
    }
    bytes
}

/// The matrix of a number in a stack; a vector is one of one column.
fn loaded(dtype: DType, layout: &Layout, bytes: &[u8], number: usize) -> Matrix {
    let parts = dtype.size() / dtype.real().size();
    let numbers = numbers(dtype, bytes);
    let [rows, columns] = match layout.shape() {
        [_, rows, columns] => [*rows, *columns],
        [_, rows] => [*rows, 1],
        _ => [1, 1],
    };
    Matrix::of(rows, columns, |row, column| {
        let index = [number, row, column];
        let element = place(layout, &index[..layout.ndim()]) * parts;
        let im = if parts == 2 {
            numbers[element + 1]
        } else {
            0.0
        };
        Complex::new(numbers[element], im)
    })
}

/// Runs a routine on two matrices in any layout; the answers are the results for each.
fn run(
    bench: &Bench,
    dice: &mut Dice,
    routine: Routine,
    dtype: DType,
    inputs: &[[Matrix; 2]],
) -> Result<[Vec<Matrix>; 2], Failure> {
    let layouts: Vec<Layout> = inputs
        .iter()
        .map(|[one, _]| any_layout(dice, &[2, one.rows, one.columns], None))
        .collect();
    let (first, last) = (&inputs[0][0], &inputs[inputs.len() - 1][0]);
    let shapes = routine.shapes(first.rows, first.columns, last.columns);
    let dtypes = routine.dtypes(dtype);
    let outputs: Vec<Layout> = shapes
        .iter()
        .map(|shape| {
            let shape: Vec<usize> = [2].iter().chain(shape).copied().collect();
            any_layout(dice, &shape, None)
        })
        .collect();
    let references = |layouts: &[Layout]| -> Vec<Layout> { layouts.to_vec() };
    let (to, from) = (references(&outputs), references(&layouts));
    let kernel = DecompositionKernel::new(
        routine,
        dtype,
        &to.iter().collect::<Vec<_>>(),
        &from.iter().collect::<Vec<_>>(),
    );
    let mut operands: Vec<Vec<u8>> = outputs
        .iter()
        .zip(&dtypes)
        .map(|(layout, dtype)| vec![0; layout.byte_span(dtype.size()).end])
        .collect();
    for (layout, matrices) in layouts.iter().zip(inputs) {
        operands.push(stored(dtype, layout, matrices));
    }
    bench.run(kernel.expect("it fits"), &mut operands)?;
    Ok([0, 1].map(|number| {
        let results = outputs.iter().zip(&dtypes).zip(&operands);
        results
            .map(|((layout, dtype), bytes)| loaded(*dtype, layout, bytes, number))
            .collect()
    }))
}

const DTYPES: [DType; 4] = [
    DType::Float32,
    DType::Float64,
    DType::Complex64,
    DType::Complex128,
];

/// Each dtype with each of the sizes.
fn every(sizes: [usize; 6]) -> impl Iterator<Item = (DType, usize)> {
    DTYPES
        .into_iter()
        .flat_map(move |dtype| sizes.map(|size| (dtype, size)))
}

impl Bench {
    /// Asserts that so many runs for two matrices of a size were the library's, by this function, or those of
    /// kernels in its place.
    fn assert_done(&self, size: usize, function: &str, runs: usize) {
        let calls = self.fake.calls();
        let count = |name: &str| calls.iter().filter(|call| call.starts_with(name)).count();
        if size == SIZE {
            assert_eq!(count(function), 2 * runs);
        } else {
            assert_eq!((count("cusolver"), count("cuLaunchKernel")), (0, runs));
        }
    }
}

#[test]
fn equations_inverses_and_determinants_are_right() {
    watched(|| {
        let Some(bench) = Bench::with_pieces() else {
            return;
        };
        let mut dice = Dice::numbered(4);
        for (dtype, size) in every(SIZES) {
            let matrices = [(); 2].map(|()| far_from_singular(&mut dice, dtype, size));
            let sides = [(); 2].map(|()| any_matrix(&mut dice, dtype, size, 11));
            let inputs = [matrices.clone(), sides.clone()];
            let found = run(&bench, &mut dice, Routine::Solve, dtype, &inputs).expect("solved");
            for ((matrix, side), results) in matrices.iter().zip(&sides).zip(&found) {
                matrix.times(&results[0]).assert_is(side, dtype, "solve");
            }
            let inputs = [matrices.clone()];
            let found = run(&bench, &mut dice, Routine::Inverse, dtype, &inputs).expect("inverted");
            for (matrix, results) in matrices.iter().zip(&found) {
                let product = matrix.times(&results[0]);
                product.assert_is(&Matrix::identity(size), dtype, "inv");
            }
            let determinants =
                run(&bench, &mut dice, Routine::Determinant, dtype, &inputs).expect("it is");
            let logarithms =
                run(&bench, &mut dice, Routine::LogDeterminant, dtype, &inputs).expect("it is");
            bench.assert_done(size, "cusolverDnXgetrf", 4);
            for (matrix, (whole, apart)) in
                matrices.iter().zip(determinants.iter().zip(&logarithms))
            {
                let wanted = by_host(Routine::LogDeterminant, dtype, matrix);
                apart[0].assert_is(&wanted[0], dtype, "sign");
                apart[1].assert_is(&wanted[1], dtype, "logarithm");
                let wanted = by_host(Routine::Determinant, dtype, matrix);
                whole[0].assert_is(&wanted[0], dtype, "det");
            }
        }
    });
}

/// The results of the host for a matrix.
fn by_host(routine: Routine, dtype: DType, matrix: &Matrix) -> Vec<Matrix> {
    let layout = |shape: &[usize], dtype: DType| {
        let shape: Vec<usize> = [1].iter().chain(shape).copied().collect();
        Layout::contiguous(&shape, dtype.size()).expect("a layout")
    };
    let shapes = routine.shapes(matrix.rows, matrix.columns, 0);
    let dtypes = routine.dtypes(dtype);
    let outputs: Vec<Layout> = shapes
        .iter()
        .zip(&dtypes)
        .map(|(shape, dtype)| layout(shape, *dtype))
        .collect();
    let input = layout(&[matrix.rows, matrix.columns], dtype);
    let kernel = DecompositionKernel::new(
        routine,
        dtype,
        &outputs.iter().collect::<Vec<_>>(),
        &[&input],
    );
    let mut operands: Vec<Vec<u8>> = outputs
        .iter()
        .zip(&dtypes)
        .map(|(layout, dtype)| vec![0; layout.byte_span(dtype.size()).end])
        .collect();
    operands.push(stored(dtype, &input, std::slice::from_ref(matrix)));
    on_host(&kernel.expect("it fits"), &mut operands);
    let results = outputs.iter().zip(&dtypes).zip(&operands);
    results
        .map(|((layout, dtype), bytes)| loaded(*dtype, layout, bytes, 0))
        .collect()
}

#[test]
fn factors_of_positive_definite_matrices_are_right() {
    watched(|| {
        let Some(bench) = Bench::with_pieces() else {
            return;
        };
        let mut dice = Dice::numbered(5);
        for (dtype, size) in every(SIZES) {
            let upper = dice.roll(2) == 0;
            let matrices = [(); 2].map(|()| {
                let matrix = any_matrix(&mut dice, dtype, size, size);
                matrix.times(&matrix.adjoint())
            });
            let routine = Routine::Cholesky { upper };
            let found = run(
                &bench,
                &mut dice,
                routine,
                dtype,
                std::slice::from_ref(&matrices),
            );
            for (matrix, results) in matrices.iter().zip(&found.expect("it is")) {
                let factor = &results[0];
                let product = if upper {
                    factor.adjoint().times(factor)
                } else {
                    factor.times(&factor.adjoint())
                };
                product.assert_is(matrix, dtype, "cholesky");
                for row in 0..size {
                    for column in 0..row {
                        let (row, column) = if upper { (row, column) } else { (column, row) };
                        assert_eq!(factor.at(row, column), Complex::default(), "zeros");
                    }
                }
            }
            bench.assert_done(size, "cusolverDnXpotrf", 1);
        }
    });
}

#[test]
fn orthonormal_factors_are_right() {
    watched(|| {
        let Some(bench) = Bench::with_pieces() else {
            return;
        };
        let mut dice = Dice::numbered(6);
        let shapes = [
            [SIZE, SIZE],
            [SIZE + 9, SIZE],
            [SIZE, SIZE + 9],
            [SIZE + 4, SIZE],
        ];
        for (index, (dtype, [rows, columns])) in DTYPES.into_iter().zip(shapes).enumerate() {
            for complete in [index % 2 == 0, index % 2 == 1] {
                let matrices = [(); 2].map(|()| any_matrix(&mut dice, dtype, rows, columns));
                let routine = Routine::Qr { complete };
                let found = run(
                    &bench,
                    &mut dice,
                    routine,
                    dtype,
                    std::slice::from_ref(&matrices),
                );
                for (matrix, results) in matrices.iter().zip(&found.expect("it is")) {
                    let [q, r] = &results[..] else {
                        panic!("two results")
                    };
                    q.times(r).assert_is(matrix, dtype, "qr");
                    let identity = Matrix::identity(q.columns);
                    q.adjoint().times(q).assert_is(&identity, dtype, "q");
                    let mut below = (1..r.rows.min(r.columns + 1)).map(|row| r.at(row, row - 1));
                    assert!(below.all(|it| it == Complex::default()), "zeros");
                }
            }
        }
        assert_eq!(bench.calls("cusolverDnXgeqrf"), 2 * 8);
    });
}

#[test]
fn singular_values_and_vectors_are_right() {
    watched(|| {
        let Some(bench) = Bench::with_pieces() else {
            return;
        };
        let mut dice = Dice::numbered(7);
        let shapes = [
            [SIZE, SIZE + 5],
            [SIZE + 9, SIZE],
            [SIZE, SIZE + 9],
            [SIZE, SIZE],
        ];
        for (index, (dtype, [rows, columns])) in DTYPES.into_iter().zip(shapes).enumerate() {
            let matrices = [(); 2].map(|()| any_matrix(&mut dice, dtype, rows, columns));
            let inputs = [matrices.clone()];
            let values = run(&bench, &mut dice, Routine::SingularValues, dtype, &inputs);
            let values = values.expect("they are");
            for full in [index % 2 == 0, index % 2 == 1] {
                let routine = Routine::Svd { full };
                let found = run(&bench, &mut dice, routine, dtype, &inputs).expect("it is");
                for ((matrix, results), values) in matrices.iter().zip(&found).zip(&values) {
                    let [left, numbers, right] = &results[..] else {
                        panic!("three results")
                    };
                    numbers.assert_is(&values[0], dtype, "singular values");
                    let middle = Matrix::diagonal(left.columns, right.rows, &numbers.numbers);
                    left.times(&middle)
                        .times(right)
                        .assert_is(matrix, dtype, "svd");
                    let identity = Matrix::identity(left.columns);
                    left.adjoint()
                        .times(left)
                        .assert_is(&identity, dtype, "left");
                    let identity = Matrix::identity(right.rows);
                    right
                        .times(&right.adjoint())
                        .assert_is(&identity, dtype, "right");
                }
            }
        }
        assert_eq!(bench.calls("cusolverDnXgesvd"), 2 * 3 * 4);
    });
}

#[test]
fn eigenvalues_and_vectors_are_right() {
    watched(|| {
        let Some(bench) = Bench::with_pieces() else {
            return;
        };
        let mut dice = Dice::numbered(8);
        for (dtype, size) in every(SIZES) {
            let matrices = [(); 2].map(|()| {
                let matrix = any_matrix(&mut dice, dtype, size, size);
                // Also near the ends of the range, where squares are beyond it.
                let scale = match (dtype, size) {
                    (DType::Float64, 5) => 1e300,
                    (DType::Complex128, 9) => 1e200,
                    _ => 1.0,
                };
                Matrix::of(size, size, |row, column| {
                    (matrix.at(row, column) + matrix.at(column, row).conj()) * scale
                })
            });
            let inputs = [matrices.clone()];
            let routine = Routine::SelfAdjointEigenvalues;
            let values = run(&bench, &mut dice, routine, dtype, &inputs).expect("they are");
            let routine = Routine::SelfAdjointEigen;
            let found = run(&bench, &mut dice, routine, dtype, &inputs).expect("it is");
            for ((matrix, results), values) in matrices.iter().zip(&found).zip(&values) {
                let [numbers, vectors] = &results[..] else {
                    panic!("two results")
                };
                numbers.assert_is(&values[0], dtype, "eigenvalues");
                let middle = Matrix::diagonal(size, size, &numbers.numbers);
                let product = vectors.times(&middle).times(&vectors.adjoint());
                product.assert_is(matrix, dtype, "eigh");
                let product = vectors.adjoint().times(vectors);
                product.assert_is(&Matrix::identity(size), dtype, "vectors");
                let wanted = by_host(Routine::SelfAdjointEigenvalues, dtype, matrix);
                numbers.assert_is(&wanted[0], dtype, "the host's");
            }
            // Of complex ones that many don't fit.
            let is_hosts = dtype.is_complex() && (33..SIZE).contains(&size);
            bench.assert_done(size, "cusolverDnXsyevd", if is_hosts { 0 } else { 2 });
        }
        let (.., solver) = bench.end();
        assert_eq!(solver.handles(), 0, "all are given back");
    });
}

#[test]
fn matrices_without_a_result_fail_as_on_the_host() {
    watched(|| {
        let Some(bench) = Bench::with_pieces() else {
            return;
        };
        let mut dice = Dice::numbered(9);
        let dtype = DType::Float64;
        for size in SIZES.into_iter().filter(|&size| size > 1) {
            let regular = Matrix::identity(size);
            let mut singular = regular.clone();
            singular.numbers[0] = 0.0.into();
            let mut negative = regular.clone();
            negative.numbers[size + 1] = (-1.0).into();
            let mut infinite = regular.clone();
            infinite.numbers[1] = f64::INFINITY.into();
            let upper = false;
            for (routine, matrix, reason) in [
                (Routine::Inverse, &singular, "the matrix is singular"),
                (Routine::Solve, &singular, "the matrix is singular"),
                (
                    Routine::Cholesky { upper },
                    &negative,
                    "the matrix is not positive definite",
                ),
                (
                    Routine::SingularValues,
                    &infinite,
                    "the matrix has infinities or NaNs",
                ),
                (
                    Routine::SelfAdjointEigen,
                    &infinite,
                    "the matrix has infinities or NaNs",
                ),
            ] {
                if routine == Routine::SingularValues && size < SIZE {
                    continue;
                }
                // The second of two.
                let mut inputs = vec![[regular.clone(), matrix.clone()]];
                inputs.extend((routine.arity() == 2).then(|| [regular.clone(), regular.clone()]));
                let failure = run(&bench, &mut dice, routine, dtype, &inputs);
                let failure = failure.map(drop).expect_err("there is no result");
                assert_eq!(failure.kind(), FailureKind::Numeric);
                assert!(failure.reason().contains(reason), "{failure}");
                let function = match size {
                    SIZE => "cusolverDnX",
                    _ => "cuLaunchKernel",
                };
                assert!(bench.calls(function) > 0, "it was the device's");
            }
            let found = run(
                &bench,
                &mut dice,
                Routine::Determinant,
                dtype,
                &[[regular, singular]],
            );
            let found = found.expect("a singular matrix has one");
            assert_eq!(found.map(|results| results[0].numbers[0].re), [1.0, 0.0]);
        }
    });
}

#[test]
fn what_the_library_refuses_and_values_of_small_matrices_are_the_hosts() {
    watched(|| {
        let Some(bench) = Bench::with_pieces() else {
            return;
        };
        let mut dice = Dice::numbered(10);
        let dtype = DType::Float64;
        let twice = |size| {
            let matrix = Matrix::of(size, size, |row, column| {
                (2.0 * f64::from(row == column)).into()
            });
            [[matrix.clone(), matrix]]
        };
        let small = run(&bench, &mut dice, Routine::SingularValues, dtype, &twice(3));
        assert_eq!(small.expect("it is")[1][0].at(2, 0), 2.0.into());
        let calls = bench.fake.calls();
        let by_device = |call: &str| call.starts_with("cusolver") || call == "cuLaunchKernel";
        assert!(!calls.iter().any(|call| by_device(call)));
        let refused = crate::api::Code::NOT_SUPPORTED;
        bench.fake.fail("cusolverDnXgetrs", 1, refused);
        let large = run(&bench, &mut dice, Routine::Inverse, dtype, &twice(SIZE)).expect("it is");
        assert_eq!(large[1][0].at(2, 2), 0.5.into());
        let report = bench.driver.compiler_report().expect("there is a device");
        let wanted = "cusolverDnXgetrs: status 13, for a matrix of 52 by 52 of float64";
        assert!(report.contains(wanted), "{report}");
    });
}
