//! Cases of reductions.

use millpond_types::{DType, Layout, Scalar};

use super::Case;
use crate::host::tests::array::{Array, Lie, sample};
use crate::ops::reduction::REDUCTIONS;
use crate::{ReduceKernel, Reduction, find_reduction};

fn case(reduction: &'static Reduction, input: Array, axes: &[usize]) -> Option<Case> {
    let signature = reduction.resolve(input.dtype, None, DType::Float64).ok()?;
    let shape = input.layout.shape();
    let kept = (0..shape.len()).filter(|axis| !axes.contains(axis));
    let out_shape: Vec<_> = kept.map(|axis| shape[axis]).collect();
    let layout = Layout::column_major(&out_shape, 1).unwrap().at_offset(1);
    let out = Array::blank(signature.output, layout);
    let axes = axes.to_vec();
    Some(Case {
        make: Box::new(move |arrays| {
            let (output, input) = (&arrays[0], &arrays[1]);
            let kernel = ReduceKernel::new(
                reduction,
                signature,
                (output.dtype, &output.layout),
                (input.dtype, &input.layout),
                &axes,
                1.0,
            );
            Box::new(kernel.unwrap())
        }),
        arrays: vec![out, input],
        // Both sides add in orders of their own.
        ulp: 300,
    })
}

/// Every reduction of every dtype, along rows.
pub(super) fn reductions() -> Vec<Case> {
    let mut cases = Vec::new();
    for &reduction in REDUCTIONS {
        for &dtype in DType::ALL {
            let layout = Lie::Contiguous.layout(5, 37);
            let input = Array::of(dtype, layout, |index| sample(dtype, index));
            cases.extend(case(reduction, input, &[1]));
        }
    }
    cases
}

/// Elements that lie in every way, along rows, columns and both, in numbers for every way of sharing
/// them.
pub(super) fn shares() -> Vec<Case> {
    let mut cases = Vec::new();
    for name in ["sum", "argmax", "var"] {
        let reduction = find_reduction(name).unwrap();
        let shapes = [
            (3, 5000),
            (1, 40000),
            (700, 40),
            (1500, 3),
            (3000, 33),
            (1, 1),
        ];
        for (rows, columns) in shapes {
            for &lie in Lie::ALL {
                for axes in [&[0][..], &[1], &[0, 1]] {
                    let layout = lie.layout(rows, columns);
                    // Few different numbers, so that the first of equal ones counts.
                    let input = Array::of(DType::Float32, layout, |index| {
                        Scalar::Float((index * 7 % 1013) as f64)
                    });
                    cases.extend(case(reduction, input, axes));
                }
            }
        }
    }
    let layout = Layout::new(&[6, 5, 4, 3], &[1, 6, 100, 30], 7).unwrap();
    let input = Array::of(DType::Int16, layout, |index| sample(DType::Int16, index));
    cases.extend(case(find_reduction("sum").unwrap(), input, &[0, 2]));
    let nothing = Array::blank(DType::Float32, Layout::contiguous(&[4, 0], 1).unwrap());
    cases.extend(case(find_reduction("sum").unwrap(), nothing, &[1]));
    cases
}
