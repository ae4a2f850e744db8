//! Products against sums of products, whatever the shapes, strides and pieces.

#![allow(clippy::unwrap_used, reason = "tests")]

use millpond_hal::HostKernel;
use millpond_testkit::trial::{bytes_of, run};
use millpond_types::{DType, Layout};

use millpond_linalg::ProductKernel;

/// What layouts address, and how it compares.
fn element(layout: &Layout, index: &[usize]) -> usize {
    let steps = layout.strides().iter().zip(index);
    let sum: isize = steps.map(|(&stride, &at)| stride * at as isize).sum();
    (layout.offset() as isize + sum) as usize
}

#[test]
fn floats_are_multiplied_in_any_layout_and_in_any_pieces() {
    for (rows, inner, columns) in [
        (1, 1, 1),
        (2, 3, 4),
        (7, 0, 5),
        (0, 3, 4),
        (40, 50, 0),
        (5, 70, 1),
        (1, 9, 300),
        (130, 65, 67),
        (33, 2, 260),
        (8, 8, 8),
        (3, 3, 3),
        (16, 32, 8),
        (16, 33, 8),
        (17, 3, 2),
    ] {
        let a = Layout::new(
            &[3, rows, inner],
            &[(rows * inner) as isize, 1, rows as isize],
            0,
        )
        .unwrap();
        let columns_back = columns as isize - 1;
        let b = Layout::new(
            &[3, inner, columns],
            &[0, columns as isize, -1],
            columns_back as usize,
        )
        .unwrap();
        let c = Layout::contiguous(&[3, rows, columns], 8).unwrap();
        let mut x: Vec<f64> = (0..=3 * rows * inner)
            .map(|n| (n % 13) as f64 - 6.0)
            .collect();
        let mut y: Vec<f64> = (0..inner * columns + columns)
            .map(|n| (n % 7) as f64 - 3.0)
            .collect();
        for chunk in [1, 2, 100] {
            let mut z = vec![f64::NAN; 3 * rows * columns];
            let kernel = ProductKernel::new(DType::Float64, &c, &a, &b, 2).unwrap();
            let operands = &mut [bytes_of(&mut z), bytes_of(&mut x), bytes_of(&mut y)];
            run(&kernel, operands, chunk).unwrap();
            for (index, &value) in z.iter().enumerate() {
                let (s, i, j) = (
                    index / (rows * columns),
                    index / columns % rows,
                    index % columns,
                );
                let terms =
                    (0..inner).map(|k| x[element(&a, &[s, i, k])] * y[element(&b, &[s, k, j])]);
                assert_eq!(
                    value,
                    terms.sum::<f64>(),
                    "{rows} {inner} {columns} at {index}"
                );
            }
        }
    }
}

#[test]
fn integers_wrap_and_are_exact() {
    let (rows, inner, columns) = (5, 300, 270);
    let a = Layout::contiguous(&[rows, inner], 8).unwrap();
    let b = Layout::new(&[inner, columns], &[1, inner as isize], 0).unwrap();
    let c = Layout::new(&[rows, columns], &[1, rows as isize], 0).unwrap();
    let mut x: Vec<i64> = (0..(rows * inner) as i64)
        .map(|n| n * 0x1234_5678_9abc)
        .collect();
    let mut y: Vec<i64> = (0..(inner * columns) as i64)
        .map(|n| (n - 700) * 0x7_6543_2101)
        .collect();
    let mut z = vec![1_i64; rows * columns];
    let kernel = ProductKernel::new(DType::Int64, &c, &a, &b, 1).unwrap();
    let operands = &mut [bytes_of(&mut z), bytes_of(&mut x), bytes_of(&mut y)];
    run(&kernel, operands, 1).unwrap();
    for row in 0..rows {
        for column in 0..columns {
            let terms = (0..inner).map(|k| x[row * inner + k].wrapping_mul(y[column * inner + k]));
            let wanted = terms.fold(0_i64, i64::wrapping_add);
            assert_eq!(z[column * rows + row], wanted);
        }
    }
}

#[test]
fn products_that_run_on_are_one() {
    let item = 4;
    let a = Layout::contiguous(&[10, 20, 30], item).unwrap();
    let b = Layout::new(&[10, 30, 5], &[0, 5, 1], 0).unwrap();
    let c = Layout::contiguous(&[10, 20, 5], item).unwrap();
    let joined = ProductKernel::new(DType::Float32, &c, &a, &b, 1).unwrap();
    assert_eq!(joined.extent(), 1);
    let b = Layout::contiguous(&[10, 30, 5], item).unwrap();
    let apart = ProductKernel::new(DType::Float32, &c, &a, &b, 1).unwrap();
    assert_eq!(apart.extent(), 10);
}

#[test]
fn large_products_are_cut_and_small_ones_stay_whole() {
    let blocks = |products: usize, size: usize, threads| {
        let layout = Layout::contiguous(&[products, size, size], 8).unwrap();
        let kernel = ProductKernel::new(DType::Float64, &layout, &layout, &layout, threads);
        kernel.unwrap().extent()
    };
    assert_eq!(blocks(1, 1024, 2), 8);
    assert_eq!(blocks(1, 1024, 1), 1);
    assert_eq!(blocks(8, 1024, 2), 8, "one for each product");
    assert_eq!(blocks(1, 100, 64), 1);
}

/// The product of a stack of matrices and of the same turned, as one would write it.
fn gram(x: &[i64], layout: &Layout, (sets, rows, inner): (usize, usize, usize)) -> Vec<i64> {
    let mut wanted = Vec::new();
    for (s, i, j) in indices(sets, rows, rows) {
        let at = |row, term| x[element(layout, &[s, row, term])];
        wanted.push(
            (0..inner)
                .map(|k| at(i, k).wrapping_mul(at(j, k)))
                .fold(0, i64::wrapping_add),
        );
    }
    wanted
}

fn indices(a: usize, b: usize, c: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..a * b * c).map(move |n| (n / (b * c), n / c % b, n % c))
}

#[test]
fn sums_of_small_results_are_cut_and_added_in_order() {
    let (rows, inner, columns) = (20, 300_000, 30);
    let a = Layout::new(&[rows, inner], &[1, rows as isize], 0).unwrap();
    let b = Layout::contiguous(&[inner, columns], 8).unwrap();
    let c = Layout::new(&[rows, columns], &[1, rows as isize], 0).unwrap();
    let mut x: Vec<f64> = (0..rows * inner).map(|n| (n % 13) as f64 - 6.0).collect();
    let mut y: Vec<f64> = (0..inner * columns).map(|n| (n % 7) as f64 - 3.0).collect();
    let mut wanted = vec![0.0; rows * columns];
    for (left, right) in x.chunks(rows).zip(y.chunks(columns)) {
        for (n, sum) in wanted.iter_mut().enumerate() {
            *sum += left[n % rows] * right[n / rows];
        }
    }
    for threads in [1, 2, 16] {
        let kernel = ProductKernel::new(DType::Float64, &c, &a, &b, threads).unwrap();
        assert_eq!(kernel.extent() > 1, threads > 1);
        for chunk in [1, 3, 100] {
            let mut z = vec![f64::NAN; rows * columns];
            let operands = &mut [bytes_of(&mut z), bytes_of(&mut x), bytes_of(&mut y)];
            run(&kernel, operands, chunk).unwrap();
            assert_eq!(z, wanted, "{threads} threads");
        }
    }
}

#[test]
fn products_with_their_own_transposes_are_computed_once() {
    let mut seen = [false; 2];
    for (rows, inner, threads) in [
        (300, 40, 1),
        (200, 200, 2),
        (140, 600, 8),
        (140, 4, 2),
        (140, 0, 2),
    ] {
        let matrix = rows * inner;
        let layout = |strides: &[isize]| Layout::new(&[2, rows, inner], strides, 0).unwrap();
        let a = layout(&[matrix as isize, 1, rows as isize]);
        let b = Layout::new(&[2, inner, rows], &[matrix as isize, rows as isize, 1], 0).unwrap();
        let c = Layout::new(
            &[2, rows, rows],
            &[(rows * rows) as isize, 1, rows as isize],
            0,
        )
        .unwrap();
        let mut x: Vec<i64> = (0..=2 * matrix as i64)
            .map(|n| n * 0x1234_5678_9abc)
            .collect();
        let mut y = x.clone();
        let wanted = gram(&x, &a, (2, rows, inner));
        let plain = ProductKernel::new(DType::Int64, &c, &a, &b, threads).unwrap();
        let plain_extent = plain.extent();
        let kernel = plain.with_one_base(threads);
        seen[usize::from(kernel.extent() != plain_extent)] = true;
        for chunk in [1, 100] {
            let mut z = vec![1_i64; 2 * rows * rows];
            let operands = &mut [bytes_of(&mut z), bytes_of(&mut x), bytes_of(&mut y)];
            run(&kernel, operands, chunk).unwrap();
            assert_eq!(z, wanted, "{rows} {inner} {threads}");
        }
    }
    assert_eq!(seen, [true; 2], "some are mirrored and some are too small");
}

#[test]
fn only_the_same_matrix_turned_is_mirrored() {
    let (size, item) = (512, 8);
    let x = Layout::contiguous(&[size, size], item).unwrap();
    let turned = Layout::new(&[size, size], &[1, size as isize], 0).unwrap();
    let behind = Layout::new(&[size, size], &[1, size as isize], 1).unwrap();
    let extent = |lhs: &Layout, rhs: &Layout| {
        let kernel = ProductKernel::new(DType::Float64, &x, lhs, rhs, 2).unwrap();
        (kernel.extent(), kernel.with_one_base(2).extent())
    };
    for (lhs, rhs, is_mirrored) in [
        (&x, &turned, true),
        (&turned, &x, true),
        (&x, &x, false),
        (&turned, &turned, false),
        (&x, &behind, false),
    ] {
        let (plain, other) = extent(lhs, rhs);
        assert_eq!(plain != other, is_mirrored, "{lhs:?} {rhs:?}");
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    let a = Layout::contiguous(&[2, 3], 8).unwrap();
    let c = Layout::contiguous(&[2, 2], 8).unwrap();
    let error = ProductKernel::new(DType::Float64, &c, &a, &a, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "matmul: an operand of shape (2, 3) where shape (3, 2) is needed"
    );
    let error = ProductKernel::new(DType::Bool, &c, &c, &c, 1).unwrap_err();
    assert_eq!(error.to_string(), "matmul is not defined for bool");
}

#[test]
fn operands_off_their_alignment_fail() {
    let layout = Layout::contiguous(&[1, 1], 8).unwrap();
    let kernel = ProductKernel::new(DType::Float64, &layout, &layout, &layout, 1).unwrap();
    let (mut x, mut y, mut z) = ([0.0_f64; 2], [0.0_f64; 1], [0.0_f64; 1]);
    let operands = &mut [
        bytes_of(&mut z),
        &mut bytes_of(&mut x)[1..],
        bytes_of(&mut y),
    ];
    let error = run(&kernel, operands, 1).unwrap_err();
    assert!(error.reason.contains("not aligned to 8 bytes"), "{error}");
}
