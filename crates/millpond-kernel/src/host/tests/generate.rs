//! Ranges, identities and triangles.

use millpond_types::{DType, Layout, Scalar};

use super::array::{Array, Lie, run};
use crate::{GenerateKernel, Rule};

fn make(rule: Rule, dtype: DType, layout: Layout) -> Vec<Scalar> {
    let mut out = Array::blank(dtype, layout);
    let kernel = GenerateKernel::new(rule, (dtype, &out.layout)).unwrap();
    run(&kernel, &mut [&mut out], &[1, 4, 5]);
    out.check_guards();
    (0..out.layout.size())
        .map(|index| out.element(index))
        .collect()
}

#[test]
fn integer_ranges_are_exact_to_the_last_bit() {
    let start = Scalar::Int(i128::from(i64::MAX) - 3000);
    let rule = Rule::Arange {
        start,
        step: Scalar::Int(1),
    };
    let layout = Layout::contiguous(&[3000], 8).unwrap();
    let found = make(rule, DType::Int64, layout);
    assert_eq!(found[2999], Scalar::Int(i128::from(i64::MAX) - 1));
}

#[test]
fn float_ranges_multiply_and_do_not_accumulate() {
    let rule = Rule::Arange {
        start: Scalar::Float(1.0),
        step: Scalar::Float(0.1),
    };
    let found = make(rule, DType::Float64, Lie::Reversed.layout(1, 1000));
    assert_eq!(found[999], Scalar::Float(1.0 + 999.0 * 0.1));
}

#[test]
fn linspace_meets_its_ends_to_the_bit() {
    for (start, stop) in [(0.1, 0.7), (-1e308, 1e308), (3.0, 3.0), (5.0, -5.0)] {
        let (start, stop) = (Scalar::Float(start), Scalar::Float(stop));
        let rule = Rule::Linspace {
            start,
            stop,
            count: 50,
            endpoint: true,
        };
        let found = make(rule, DType::Float64, Layout::contiguous(&[50], 8).unwrap());
        assert_eq!((found[0], found[49]), (start, stop));
        assert!(found.iter().all(|value| value.to_f64().is_finite()));
    }
    let (start, stop) = (Scalar::Float(0.0), Scalar::Float(1.0));
    let rule = Rule::Linspace {
        start,
        stop,
        count: 4,
        endpoint: false,
    };
    let found = make(rule, DType::Float32, Layout::contiguous(&[4], 4).unwrap());
    assert_eq!(found[3], Scalar::Float(0.75));
}

#[test]
fn eye_and_triangles_follow_their_diagonal() {
    for diagonal in [-2, 0, 1, 9] {
        for (rule, holds) in [
            (
                Rule::Eye { diagonal },
                (|d, at| d == at) as fn(isize, isize) -> bool,
            ),
            (Rule::Lower { diagonal }, |d, at| at <= d),
            (Rule::Upper { diagonal }, |d, at| at >= d),
        ] {
            let layout = Layout::new(&[2, 4, 5], &[1, 10, 2], 0).unwrap();
            let found = make(rule, DType::Bool, layout);
            for (index, value) in found.into_iter().enumerate() {
                let at = (index % 5) as isize - (index / 5 % 4) as isize;
                assert_eq!(
                    value,
                    Scalar::Bool(holds(diagonal, at)),
                    "{rule:?} at {index}"
                );
            }
        }
    }
}

#[test]
fn fill_reaches_every_element_and_no_other() {
    let mut out = Array::blank(DType::Complex64, Lie::Sliced.layout(9, 9));
    let layout = out.layout.clone();
    let kernel = GenerateKernel::fill((DType::Complex64, &layout), Scalar::Float(1.5)).unwrap();
    run(&kernel, &mut [&mut out], &[40]);
    out.check_guards();
    assert!((0..81).all(|index| out.element(index).to_f64() == 1.5));
}

#[test]
fn ranges_of_truth_values_are_refused() {
    let rule = Rule::Arange {
        start: Scalar::Int(0),
        step: Scalar::Int(1),
    };
    let layout = Layout::contiguous(&[2], 1).unwrap();
    let error = GenerateKernel::new(rule, (DType::Bool, &layout)).unwrap_err();
    assert_eq!(error.to_string(), "arange is not defined for bool");
}
