//! Cases of element-wise kernels.

use millpond_types::{DType, Layout, Scalar};

use super::Case;
use crate::host::tests::array::{Array, Lie, line, operands, sample};
use crate::{
    GenerateKernel, Input, MapKernel, Operation, Rule, find, operations as all_operations,
};

/// The kernel of an operation over arrays, and its operands.
fn case(operation: &'static Operation, inputs: Vec<Array>, output: Layout) -> Case {
    let dtypes: Vec<_> = inputs.iter().map(|input| input.dtype).collect();
    let signature = operation.resolve(&dtypes, DType::Float64).unwrap();
    let out = Array::blank(signature.output, output);
    // Both sides may be off by as much as the row says; parts of complex results by more, as terms
    // cancel in them.
    let ulp = 2 * operation.ulp();
    let ulp = if out.dtype.is_complex() {
        16 * ulp
    } else {
        ulp
    };
    Case {
        make: Box::new(move |arrays| {
            let (out, inputs) = arrays.split_first().unwrap();
            let inputs = inputs
                .iter()
                .map(|input| Input::Array(input.dtype, &input.layout));
            let inputs: Vec<_> = inputs.collect();
            let output = (out.dtype, &out.layout);
            Box::new(MapKernel::new(operation, &signature, output, &inputs).unwrap())
        }),
        arrays: std::iter::once(out).chain(inputs).collect(),
        ulp,
    }
}

/// Every operation with every dtype that it computes with, over arrays without gaps.
pub(super) fn operations() -> Vec<Case> {
    let mut cases = Vec::new();
    for operation in all_operations() {
        for &dtype in DType::ALL {
            let dtypes = operands(operation, dtype);
            // Conversions are cases of their own.
            let Ok(signature) = operation.resolve(&dtypes, DType::Float64) else {
                continue;
            };
            if signature.inputs.last() != Some(&dtype) {
                continue;
            }
            let inputs = dtypes.iter().enumerate().map(|(operand, &dtype)| {
                Array::of(dtype, line(301), |index| {
                    sample(dtype, index * (1 + operand * 3) + operand)
                })
            });
            cases.push(case(operation, inputs.collect(), line(301)));
        }
    }
    cases
}

/// Lengths whose squares are beyond what the dtype holds, or vanish in it.
pub(super) fn lengths() -> Vec<Case> {
    const SIDES: [f64; 11] = [
        0.0,
        -3.0,
        4e-324,
        3e-310,
        1e-200,
        1e-154,
        2e-17,
        1e154,
        -3e200,
        1.2e308,
        f64::INFINITY,
    ];
    let side = |step: usize| {
        Array::of(DType::Float64, line(SIDES.len() * SIDES.len()), |index| {
            Scalar::Float(SIDES[index / step % SIDES.len()])
        })
    };
    let sides = vec![side(1), side(SIDES.len())];
    let output = line(SIDES.len() * SIDES.len());
    vec![case(find("hypot").unwrap(), sides, output)]
}

/// Operands that lie in every way.
pub(super) fn layouts() -> Vec<Case> {
    let add = find("add").unwrap();
    let mut cases = Vec::new();
    for (rows, columns) in [(1, 1), (3, 7), (9, 100), (40, 64), (130, 3), (300, 257)] {
        for &a in Lie::ALL {
            for &b in Lie::ALL {
                for &out in &Lie::ALL[..5] {
                    if rows * columns > 1000
                        && !(a as usize + b as usize + out as usize).is_multiple_of(4)
                    {
                        continue;
                    }
                    let input = |lie: Lie, dtype| {
                        Array::of(dtype, lie.layout(rows, columns), |index| {
                            sample(dtype, index)
                        })
                    };
                    let inputs = vec![input(a, DType::Float32), input(b, DType::Float32)];
                    cases.push(case(add, inputs, out.layout(rows, columns)));
                }
            }
        }
    }
    // At addresses that aren't multiples of anything.
    for dtype in [
        DType::Float32,
        DType::Complex64,
        DType::Complex128,
        DType::Int16,
    ] {
        let input = |bytes| {
            let array = Array::of(dtype, line(37), |index| sample(dtype, index));
            array.moved(bytes)
        };
        let mut askew = case(add, vec![input(1), input(4)], line(37));
        askew.arrays[0] = Array::blank(dtype, line(37)).moved(3);
        cases.push(askew);
    }
    // Axes that can't be joined, and a scalar.
    let input = Layout::new(&[3, 4, 5, 6], &[1, 3, 200, 12], 7).unwrap();
    let output = Layout::contiguous(&[3, 4, 5, 6], 1).unwrap();
    let array = Array::of(DType::Int16, input, |index| sample(DType::Int16, index));
    let signature = add.resolve(&[DType::Int16; 2], DType::Float64).unwrap();
    let out = Array::blank(DType::Int16, output);
    cases.push(Case {
        make: Box::new(move |arrays| {
            let (out, input) = (&arrays[0], &arrays[1]);
            let inputs = [
                Input::Array(input.dtype, &input.layout),
                Input::Scalar(Scalar::Int(7)),
            ];
            Box::new(MapKernel::new(add, &signature, (out.dtype, &out.layout), &inputs).unwrap())
        }),
        arrays: vec![out, array],
        ulp: 0,
    });
    cases
}

/// Numbers at the ends of what dtypes hold.
fn extreme(dtype: DType, index: usize) -> Scalar {
    const ENDS: &[f64] = &[
        127.0,
        128.0,
        -128.0,
        -129.0,
        255.0,
        256.0,
        32767.5,
        -32769.0,
        65535.0,
        65519.9,
        65520.0,
        2_147_483_647.0,
        2_147_483_648.0,
        -2_147_483_649.0,
        4_294_967_295.0,
        4_294_967_296.0,
        9.223_372_036_854_775e18,
        9.223_372_036_854_776e18,
        -9.3e18,
        1.844_674_407_370_955_2e19,
        3.39e38,
        1e300,
        -0.9,
        0.999_999_9,
        5.960_464_5e-8,
        2.980_232_2e-8,
        2.980_232_24e-8,
        1.000_976_562_5,
        1.000_488_281_25,
        1.000_488_281_250_1,
        1.003_906_25,
        1.003_906_250_000_1,
    ];
    match dtype {
        DType::Int64 => Scalar::Int(i128::from((i64::MIN >> (index % 63)) + (index % 3) as i64)),
        DType::Uint64 => Scalar::Int(i128::from((u64::MAX >> (index % 63)) - (index % 3) as u64)),
        _ if dtype.is_complex() || index.is_multiple_of(2) => sample(dtype, index),
        DType::Float16 | DType::Bfloat16 | DType::Float32 | DType::Float64 => {
            Scalar::Float(ENDS[index / 2 % ENDS.len()])
        }
        _ => sample(dtype, index),
    }
}

/// Copies from every dtype to every other.
pub(super) fn casts() -> Vec<Case> {
    let mut cases = Vec::new();
    for &from in DType::ALL {
        for &to in DType::ALL {
            let mut input = Array::of(from, line(131), |index| extreme(from, index));
            if from == DType::Bool {
                // Foreign memory may hold other bytes than 0 and 1.
                input.raw_mut(3)[0] = 2;
            }
            let out = Array::blank(to, line(131));
            cases.push(Case {
                make: Box::new(move |arrays| {
                    let input = Input::Array(from, &arrays[1].layout);
                    Box::new(MapKernel::copy((to, &arrays[0].layout), input).unwrap())
                }),
                arrays: vec![out, input],
                ulp: 0,
            });
        }
    }
    cases
}

/// Arrays that are made of nothing.
pub(super) fn rules() -> Vec<Case> {
    let (start, step) = (Scalar::Float(0.1), Scalar::Float(0.3));
    let stop = Scalar::Float(7.7);
    let interval = |count, endpoint| Rule::Linspace {
        start,
        stop,
        count,
        endpoint,
    };
    let ends = (Scalar::Float(-1e308), Scalar::Float(1e308));
    let endless = Rule::Linspace {
        start: ends.0,
        stop: ends.1,
        count: 120,
        endpoint: true,
    };
    let diagonal = -2;
    let whole = Rule::Arange {
        start: Scalar::Int(i128::from(i64::MAX) - 30),
        step: Scalar::Int(7),
    };
    let rules = [
        (Rule::Arange { start, step }, DType::Float32),
        (Rule::Arange { start, step }, DType::Complex128),
        (whole, DType::Int64),
        (whole, DType::Uint8),
        (interval(120, true), DType::Float64),
        (interval(120, false), DType::Float16),
        (interval(120, true), DType::Complex64),
        (endless, DType::Float64),
        (Rule::Eye { diagonal }, DType::Float32),
        (Rule::Lower { diagonal }, DType::Bool),
        (Rule::Upper { diagonal }, DType::Int32),
    ];
    let mut cases = Vec::new();
    for (rule, dtype) in rules {
        for &lie in &Lie::ALL[..5] {
            let out = Array::blank(dtype, lie.layout(8, 15));
            cases.push(Case {
                make: Box::new(move |arrays| {
                    Box::new(GenerateKernel::new(rule, (dtype, &arrays[0].layout)).unwrap())
                }),
                arrays: vec![out],
                ulp: 0,
            });
        }
    }
    cases
}
