//! Reductions against a naive loop over the elements.

use millpond_hal::HostKernel;
use millpond_types::{DType, Layout, Scalar};

use super::array::{Array, AtLevel, Lie, is_close, levels, run, sample};
use crate::error::PlanError;
use crate::ops::reduction::REDUCTIONS;
use crate::{ReduceKernel, Reduction, find_reduction};

/// The naive result of some elements, in double precision; integers wrap with the output.
fn naive(name: &str, values: &[Scalar], correction: f64) -> Scalar {
    let floats: Vec<f64> = values.iter().map(|value| value.to_f64()).collect();
    let count = values.len() as f64;
    let best = |largest: bool| {
        let mut best = 0;
        for (index, &value) in floats.iter().enumerate() {
            let better = if largest {
                value > floats[best]
            } else {
                value < floats[best]
            };
            if (better || value.is_nan()) && !floats[best].is_nan() {
                best = index;
            }
        }
        best
    };
    let mean = floats.iter().sum::<f64>() / count;
    let squares = || {
        floats
            .iter()
            .map(|value| (value - mean).powi(2))
            .sum::<f64>()
    };
    let variance = || squares() / (count - correction).max(0.0);
    let is_integer = values
        .iter()
        .all(|value| matches!(value, Scalar::Int(_) | Scalar::Bool(_)));
    match name {
        "all" => Scalar::Bool(values.iter().all(|value| value.is_truthy())),
        "any" => Scalar::Bool(values.iter().any(|value| value.is_truthy())),
        "count_nonzero" => {
            Scalar::Int(values.iter().filter(|value| value.is_truthy()).count() as i128)
        }
        "argmax" => Scalar::Int(best(true) as i128),
        "argmin" => Scalar::Int(best(false) as i128),
        "max" => values[best(true)],
        "min" => values[best(false)],
        "sum" if is_integer => Scalar::Int(values.iter().map(|value| value.to_i128()).sum()),
        "prod" if is_integer => {
            Scalar::Int(values.iter().fold(1, |a, b| a.wrapping_mul(b.to_i128())))
        }
        "sum" => Scalar::Complex(values.iter().map(|value| value.to_complex()).sum()),
        "prod" => Scalar::Complex(values.iter().map(|value| value.to_complex()).product()),
        "mean" => Scalar::Complex(
            values
                .iter()
                .map(|value| value.to_complex())
                .sum::<num_complex::Complex<f64>>()
                / count,
        ),
        "var" => Scalar::Float(variance()),
        "std" => Scalar::Float(variance().sqrt()),
        "logsumexp" => Scalar::Float(floats.iter().map(|value| value.exp()).sum::<f64>().ln()),
        "reduce_hypot" => {
            Scalar::Float(floats.iter().map(|value| value * value).sum::<f64>().sqrt())
        }
        other => panic!("no naive {other}"),
    }
}

/// Reduces, and compares each output with the naive result.
fn check(reduction: &'static Reduction, input: &mut Array, axes: &[usize], cuts: &[usize]) {
    let dtype = input.dtype;
    let Ok(signature) = reduction.resolve(dtype, None, DType::Float64) else {
        return;
    };
    let shape = input.layout.shape().to_vec();
    let kept: Vec<_> = (0..shape.len())
        .filter(|axis| !axes.contains(axis))
        .collect();
    let out_shape: Vec<_> = kept.iter().map(|&axis| shape[axis]).collect();
    let layout = Layout::column_major(&out_shape, 1).unwrap().at_offset(1);
    let mut out = Array::blank(signature.output, layout);
    let layouts = (input.layout.clone(), out.layout.clone());
    let kernel = ReduceKernel::new(
        reduction,
        signature,
        (out.dtype, &layouts.1),
        (dtype, &layouts.0),
        axes,
        1.0,
    )
    .unwrap();
    run(&kernel, &mut [&mut out, input], cuts);
    out.check_guards();
    for index in 0..out.layout.size() {
        let mut values = Vec::new();
        for element in 0..input.layout.size() {
            let (mut rest, mut place, mut scale) = (element, 0, 1);
            for axis in (0..shape.len()).rev() {
                if kept.contains(&axis) {
                    place += rest % shape[axis] * scale;
                    scale *= shape[axis];
                }
                rest /= shape[axis];
            }
            if place == index {
                values.push(input.element(element));
            }
        }
        let expected = naive(reduction.name(), &values, 1.0);
        let expected = Scalar::from_bytes(out.dtype, &expected.to_bytes(out.dtype)).unwrap();
        let found = out.element(index);
        assert!(
            is_close(out.dtype, found, expected, 600),
            "{kernel:?} output {index}: {found:?}, not {expected:?}"
        );
    }
}

/// Ordinary numbers, whose sums don't cancel.
fn plain(dtype: DType, index: usize) -> Scalar {
    match dtype.kind() {
        millpond_types::Kind::Float => Scalar::Float(1.0 + (index * 31 % 17) as f64 * 0.125),
        millpond_types::Kind::Complex => sample(dtype, index),
        _ => sample(dtype, index),
    }
}

#[test]
fn every_reduction_agrees_with_the_naive_loop() {
    for level in levels() {
        let _forced = AtLevel::new(level);
        for &reduction in REDUCTIONS {
            for &dtype in DType::ALL {
                let mut input =
                    Array::of(dtype, Lie::Contiguous.layout(5, 70), |i| plain(dtype, i));
                if dtype.is_complex()
                    && matches!(
                        reduction.name(),
                        "max" | "min" | "argmax" | "argmin" | "prod"
                    )
                {
                    continue;
                }
                for axes in [&[0][..], &[1], &[0, 1], &[]] {
                    check(reduction, &mut input, axes, &[2]);
                }
            }
        }
    }
}

#[test]
fn every_layout_and_axis_is_reduced_right() {
    for name in ["sum", "max", "argmin", "var", "count_nonzero"] {
        let reduction = find_reduction(name).unwrap();
        for &lie in Lie::ALL {
            for (rows, columns) in [(3, 5), (90, 4), (4, 90), (70, 300)] {
                for dtype in [DType::Float32, DType::Int16] {
                    let layout = lie.layout(rows, columns);
                    let mut input = Array::of(dtype, layout, |index| plain(dtype, index));
                    for axes in [&[0][..], &[1], &[1, 0]] {
                        check(reduction, &mut input, axes, &[1, 7]);
                    }
                }
            }
        }
    }
}

#[test]
fn high_columns_are_reduced_side_by_side() {
    for level in levels() {
        let _forced = AtLevel::new(level);
        for name in ["argmax", "argmin", "max", "sum", "any"] {
            for dtype in [DType::Bool, DType::Int8, DType::Float32, DType::Float64] {
                let layout = Layout::contiguous(&[300, 45], 1).unwrap();
                let value = |index: usize| match name {
                    "sum" => plain(dtype, index),
                    _ => sample(dtype, index / 3),
                };
                let mut input = Array::of(dtype, layout, value);
                check(find_reduction(name).unwrap(), &mut input, &[0], &[7]);
            }
        }
    }
}

#[test]
fn middle_axes_are_reduced_right() {
    for shape in [[4, 5, 6], [2, 70, 40], [40, 70, 2]] {
        let layout = Layout::contiguous(&shape, 1).unwrap();
        let mut input = Array::of(DType::Float64, layout, |index| plain(DType::Float64, index));
        for axes in [&[1][..], &[0, 2], &[0, 1], &[2, 1]] {
            for name in ["sum", "argmax", "logsumexp"] {
                check(find_reduction(name).unwrap(), &mut input, axes, &[3]);
            }
        }
    }
}

#[test]
fn many_pieces_of_one_output_are_merged_in_order_however_they_were_run() {
    let size = 200_000;
    for name in ["sum", "std", "argmax", "min", "mean"] {
        let reduction = find_reduction(name).unwrap();
        let layout = Layout::contiguous(&[size], 4).unwrap();
        let value = |index: usize| Scalar::Float(((index * 7919) % 10_007) as f64 * 0.1 - 300.0);
        let mut input = Array::of(DType::Float32, layout.clone(), value);
        let signature = reduction
            .resolve(DType::Float32, None, DType::Float64)
            .unwrap();
        let mut results = Vec::new();
        for cuts in [&[][..], &[1], &[1, 2, 3]] {
            let mut out = Array::blank(signature.output, Layout::scalar());
            let kernel = ReduceKernel::new(
                reduction,
                signature,
                (signature.output, &Layout::scalar()),
                (DType::Float32, &layout),
                &[0],
                0.0,
            )
            .unwrap();
            assert!(kernel.extent() > 3, "a large reduction is shared");
            run(&kernel, &mut [&mut out, &mut input], cuts);
            results.push(out.raw(0).to_vec());
        }
        assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{name}");
    }
}

#[test]
fn the_first_nan_wins() {
    let values = [1.0, 5.0, f64::NAN, -9.0, f64::NAN, 7.0];
    for dtype in [DType::Float16, DType::Float32, DType::Float64] {
        let layout = Layout::contiguous(&[6], 1).unwrap();
        let mut input = Array::of(dtype, layout, |index| Scalar::Float(values[index]));
        for name in ["max", "min", "argmax", "argmin"] {
            check(find_reduction(name).unwrap(), &mut input, &[0], &[]);
        }
    }
}

#[test]
fn variance_does_not_cancel_far_from_zero() {
    let layout = Layout::contiguous(&[3000], 8).unwrap();
    let value = |index: usize| Scalar::Float(1e9 + (index % 2) as f64);
    let mut input = Array::of(DType::Float64, layout, value);
    let reduction = find_reduction("var").unwrap();
    let signature = reduction
        .resolve(DType::Float64, None, DType::Float64)
        .unwrap();
    let mut out = Array::blank(DType::Float64, Layout::scalar());
    let input_layout = input.layout.clone();
    let kernel = ReduceKernel::new(
        reduction,
        signature,
        (DType::Float64, &Layout::scalar()),
        (DType::Float64, &input_layout),
        &[0],
        0.0,
    )
    .unwrap();
    run(&kernel, &mut [&mut out, &mut input], &[]);
    assert!((out.element(0).to_f64() - 0.25).abs() < 1e-12);
}

#[test]
fn sums_of_many_small_floats_keep_their_digits() {
    let layout = Layout::contiguous(&[1_000_000], 4).unwrap();
    let mut input = Array::of(DType::Float32, layout.clone(), |_| Scalar::Float(0.1));
    let reduction = find_reduction("sum").unwrap();
    let signature = reduction
        .resolve(DType::Float32, None, DType::Float64)
        .unwrap();
    let mut out = Array::blank(DType::Float32, Layout::scalar());
    let output = (DType::Float32, &Layout::scalar());
    let kernel = ReduceKernel::new(
        reduction,
        signature,
        output,
        (DType::Float32, &layout),
        &[0],
        0.0,
    )
    .unwrap();
    run(&kernel, &mut [&mut out, &mut input], &[]);
    let exact = 1e6 * f64::from(0.1_f32);
    assert!((out.element(0).to_f64() - exact).abs() < exact * 1e-6);
}

#[test]
fn sums_of_the_largest_small_integers_lose_nothing() {
    let extremes = [
        (DType::Bool, 1),
        (DType::Int8, -128),
        (DType::Int16, i128::from(i16::MIN)),
        (DType::Int32, i128::from(i32::MIN)),
        (DType::Uint8, 255),
        (DType::Uint16, i128::from(u16::MAX)),
        (DType::Uint32, i128::from(u32::MAX)),
    ];
    // More than all lanes of a run hold, along an axis and side by side.
    let (long, wide) = (5 * 4096 + 7, 37);
    for (dtype, value) in extremes {
        for (shape, axis, count) in [([wide, long], 1, long), ([long, wide], 0, long)] {
            let layout = Layout::contiguous(&shape, dtype.size()).unwrap();
            let mut input = Array::of(dtype, layout.clone(), |_| Scalar::Int(value));
            for name in ["sum", "count_nonzero"] {
                let reduction = find_reduction(name).unwrap();
                let signature = reduction.resolve(dtype, None, DType::Float64).unwrap();
                let results = Layout::contiguous(&[wide], 8).unwrap();
                let mut out = Array::blank(signature.output, results.clone());
                let output = (signature.output, &results);
                let from = (dtype, &layout);
                let kernel = ReduceKernel::new(reduction, signature, output, from, &[axis], 0.0);
                run(&kernel.unwrap(), &mut [&mut out, &mut input], &[]);
                let one = if name == "sum" { value } else { 1 };
                for index in 0..wide {
                    let found = out.element(index).to_i128();
                    assert_eq!(found, one * count as i128, "{name} of {dtype}, axis {axis}");
                }
            }
        }
    }
}

#[test]
fn reductions_of_nothing_have_their_identity_or_a_clear_error() {
    let layout = Layout::contiguous(&[3, 0], 8).unwrap();
    let out_layout = Layout::contiguous(&[3], 8).unwrap();
    let expected = [
        ("sum", 0.0),
        ("prod", 1.0),
        ("all", 1.0),
        ("any", 0.0),
        ("count_nonzero", 0.0),
        ("logsumexp", f64::NEG_INFINITY),
        ("reduce_hypot", 0.0),
        ("mean", f64::NAN),
        ("var", f64::NAN),
    ];
    for &reduction in REDUCTIONS {
        let signature = reduction
            .resolve(DType::Float64, None, DType::Float64)
            .unwrap();
        let kernel = ReduceKernel::new(
            reduction,
            signature,
            (signature.output, &out_layout),
            (DType::Float64, &layout),
            &[1],
            0.0,
        );
        if !reduction.has_identity() {
            let error = kernel.unwrap_err();
            assert!(matches!(error, PlanError::Empty { .. }));
            let text = format!(
                "{} of no elements has no value: shape (3, 0), axes (1,)",
                reduction.name()
            );
            assert_eq!(error.to_string(), text);
            continue;
        }
        let mut out = Array::blank(signature.output, out_layout.clone());
        let mut input = Array::blank(DType::Float64, layout.clone());
        run(&kernel.unwrap(), &mut [&mut out, &mut input], &[]);
        if let Some((name, value)) = expected.iter().find(|(name, _)| *name == reduction.name()) {
            let found = out.element(2).to_f64();
            assert!(
                found == *value || (found.is_nan() && value.is_nan()),
                "{name}: {found}"
            );
        }
    }
}

#[test]
fn kept_axes_of_size_one_are_accepted() {
    let layout = Layout::contiguous(&[3, 4], 1).unwrap();
    let kept = Layout::contiguous(&[3, 1], 1).unwrap();
    let reduction = find_reduction("sum").unwrap();
    let signature = reduction
        .resolve(DType::Uint8, None, DType::Float64)
        .unwrap();
    assert_eq!(signature.output, DType::Uint64);
    let make = |output: &Layout| {
        ReduceKernel::new(
            reduction,
            signature,
            (DType::Uint64, output),
            (DType::Uint8, &layout),
            &[1],
            0.0,
        )
    };
    assert!(make(&kept).is_ok());
    let wrong = Layout::contiguous(&[4], 1).unwrap();
    assert_eq!(
        make(&wrong).unwrap_err().to_string(),
        "sum of shape (3, 4) over axes (1,) does not give shape (4,)"
    );
}
