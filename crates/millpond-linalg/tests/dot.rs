//! Sums of products in any layout, of every length, in any pieces.

#![allow(clippy::unwrap_used, reason = "tests")]

use millpond_testkit::trial::{bytes_of, run};
use millpond_types::{DType, Layout};
use num_complex::Complex;

use millpond_linalg::DotKernel;

/// Longer than what is summed in one piece.
const LONG: usize = 1 << 15;

#[test]
fn sums_are_the_same_in_any_pieces() {
    for length in [0, 1, 63, 64, 65, 1000, LONG, 3 * LONG + 5] {
        let a = Layout::contiguous(&[3, length], 4).unwrap();
        let b = Layout::new(&[3, length], &[0, -2], 2 * length.max(1) - 2).unwrap();
        let c = Layout::new(&[3], &[2], 1).unwrap();
        let mut x: Vec<i32> = (0..3 * length as i32)
            .map(|n| n.wrapping_mul(77_777))
            .collect();
        let mut y: Vec<i32> = (0..=2 * length as i32).map(|n| n - 500).collect();
        for chunk in [1, 2, 1000] {
            let mut z = [9_i32; 6];
            let kernel = DotKernel::new("dot", DType::Int32, &c, [&a, &b], false).unwrap();
            let operands = &mut [bytes_of(&mut z), bytes_of(&mut x), bytes_of(&mut y)];
            run(&kernel, operands, chunk).unwrap();
            for row in 0..3 {
                let terms =
                    (0..length).map(|k| x[row * length + k].wrapping_mul(y[2 * (length - 1 - k)]));
                assert_eq!(z[2 * row + 1], terms.fold(0, i32::wrapping_add), "{length}");
            }
            assert_eq!([z[0], z[2], z[4]], [9; 3], "gaps stay");
        }
    }
}

#[test]
fn the_first_vector_is_conjugated_if_asked_for() {
    let layout = Layout::contiguous(&[2], 16).unwrap();
    let scalar = Layout::scalar();
    let mut x = [Complex::new(1.0_f64, 2.0), Complex::new(0.0, 1.0)];
    let mut y = [Complex::new(3.0_f64, -1.0), Complex::new(5.0, 0.0)];
    for (conjugate, wanted) in [
        (false, Complex::new(5.0, 10.0)),
        (true, Complex::new(1.0, -12.0)),
    ] {
        let mut z = [Complex::new(0.0_f64, 0.0)];
        let layouts = [&layout; 2];
        let kernel = DotKernel::new("dot", DType::Complex128, &scalar, layouts, conjugate).unwrap();
        let operands = &mut [bytes_of(&mut z), bytes_of(&mut x), bytes_of(&mut y)];
        run(&kernel, operands, 1).unwrap();
        assert_eq!(z[0], wanted);
    }
}

#[test]
fn errors_grow_with_the_pieces_and_not_with_the_length() {
    let length = 1 << 20;
    let layout = Layout::contiguous(&[length], 4).unwrap();
    let mut x = vec![0.1_f32; length];
    let mut y = vec![1.0_f32; length];
    let mut z = [0.0_f32];
    let layouts = [&layout; 2];
    let kernel = DotKernel::new("dot", DType::Float32, &Layout::scalar(), layouts, false).unwrap();
    let operands = &mut [bytes_of(&mut z), bytes_of(&mut x), bytes_of(&mut y)];
    run(&kernel, operands, 3).unwrap();
    let wanted = f64::from(0.1_f32) * length as f64;
    assert!((f64::from(z[0]) / wanted - 1.0).abs() < 1e-5, "{}", z[0]);
}
