//! Element-wise kernels: each operation, dtype, layout, cast, level and split.

use millpond_hal::HostKernel;
use millpond_testkit::trial::bytes_of;
use millpond_types::{DType, Layout, Scalar};
use num_complex::Complex;

use super::array::{Array, AtLevel, Lie, is_close, levels, line, operands, run, sample};
use crate::error::PlanError;
use crate::host::body::Body;
use crate::host::map::compute_dtype;
use crate::host::stream::PAST_CACHES;
use crate::simd::Level;
use crate::{Input, MapKernel, Operation, find, operations};

/// An element as the scalar body computes it: without vectors, one at a time.
fn reference(body: &dyn Body, inputs: &[Scalar], output: DType) -> Scalar {
    #[repr(align(16))]
    struct Aligned([u8; 16]);
    let inputs: Vec<_> = inputs
        .iter()
        .enumerate()
        .map(|(index, value)| Aligned(value.to_bytes(body.input(index))))
        .collect();
    let mut out = Aligned([0; 16]);
    let mut addresses = [out.0.as_ptr(); 3];
    for (address, input) in addresses.iter_mut().zip(&inputs) {
        *address = input.0.as_ptr();
    }
    // SAFETY: one aligned element of each operand.
    unsafe { body.run(Level::Baseline, out.0.as_mut_ptr(), addresses, 1) };
    let computed = Scalar::from_bytes(body.output(), &out.0).unwrap();
    // Through the output's dtype and back, as the kernel stores it.
    Scalar::from_bytes(output, &computed.to_bytes(output)).unwrap()
}

/// Runs an operation over arrays of these layouts, and compares each element.
fn check(
    operation: &'static Operation,
    inputs: &mut [Array],
    output: (DType, Layout),
    cuts: &[usize],
) {
    let dtypes: Vec<_> = inputs.iter().map(|input| input.dtype).collect();
    let signature = operation.resolve(&dtypes, DType::Float64).unwrap();
    let body = operation.body(&signature.inputs).unwrap();
    let mut out = Array::blank(output.0, output.1);
    let arguments: Vec<_> = inputs
        .iter()
        .map(|input| Input::Array(input.dtype, &input.layout))
        .collect();
    let kernel =
        MapKernel::new(operation, &signature, (out.dtype, &out.layout), &arguments).unwrap();
    let mut arrays = vec![&mut out];
    arrays.extend(inputs.iter_mut());
    run(&kernel, &mut arrays, cuts);
    out.check_guards();
    for index in 0..out.layout.size() {
        let values: Vec<_> = inputs.iter().map(|input| input.element(index)).collect();
        let expected = reference(body, &values, out.dtype);
        let found = out.element(index);
        let ulp = if body.is_heavy() {
            2 * operation.ulp().max(1)
        } else {
            0
        };
        let ulp = if signature.output.is_complex() {
            16 * ulp
        } else {
            ulp
        };
        assert!(
            is_close(out.dtype, found, expected, ulp),
            "{kernel:?} of {values:?}: {found:?}, not {expected:?}"
        );
    }
}

#[test]
fn every_operation_agrees_with_its_scalar_body_at_every_level() {
    for level in levels() {
        let _forced = AtLevel::new(level);
        for operation in operations() {
            for &dtype in DType::ALL {
                let dtypes = operands(operation, dtype);
                let Ok(signature) = operation.resolve(&dtypes, DType::Float64) else {
                    continue;
                };
                for size in [1, 7, 300] {
                    let mut inputs: Vec<_> = dtypes
                        .iter()
                        .enumerate()
                        .map(|(operand, &dtype)| {
                            Array::of(dtype, line(size), |index| {
                                sample(dtype, index * (1 + operand * 3) + operand)
                            })
                        })
                        .collect();
                    check(operation, &mut inputs, (signature.output, line(size)), &[]);
                }
            }
        }
    }
}

#[test]
fn every_layout_gives_the_same_elements_and_nothing_else() {
    let shapes = [
        (0, 5),
        (1, 1),
        (3, 7),
        (2, 8),
        (9, 100),
        (130, 3),
        (3, 1025),
        (1, 4097),
    ];
    let add = find("add").unwrap();
    for level in levels() {
        let _forced = AtLevel::new(level);
        for (rows, columns) in shapes {
            for &a in Lie::ALL {
                for &b in Lie::ALL {
                    for &out in &Lie::ALL[..5] {
                        if rows * columns > 1000
                            && !(a as usize + b as usize + out as usize).is_multiple_of(4)
                        {
                            continue;
                        }
                        let mut inputs = [
                            Array::of(DType::Float32, a.layout(rows, columns), |index| {
                                sample(DType::Float32, index)
                            }),
                            Array::of(DType::Int16, b.layout(rows, columns), |index| {
                                sample(DType::Int16, index)
                            }),
                        ];
                        let layout = out.layout(rows, columns);
                        check(
                            add,
                            &mut inputs,
                            (DType::Float32, layout.clone()),
                            &[1, 6, 700],
                        );
                        check(add, &mut inputs, (DType::Complex128, layout), &[3]);
                    }
                }
            }
        }
    }
}

#[test]
fn elements_of_every_size_are_gathered_and_scattered() {
    let positive = find("positive").unwrap();
    for dtype in [
        DType::Int8,
        DType::Float16,
        DType::Uint32,
        DType::Float64,
        DType::Complex128,
    ] {
        for &lie in &Lie::ALL[..5] {
            let mut inputs = [Array::of(dtype, lie.layout(11, 13), |index| {
                sample(dtype, index)
            })];
            for &out in &Lie::ALL[..5] {
                check(positive, &mut inputs, (dtype, out.layout(11, 13)), &[50]);
            }
        }
    }
}

#[test]
fn any_split_gives_the_same_bits() {
    let sin = find("sin").unwrap();
    let layout = Lie::Transposed.layout(137, 129);
    let mut input = Array::of(DType::Float32, layout, |index| {
        sample(DType::Float32, index)
    });
    let signature = sin.resolve(&[DType::Float32], DType::Float64).unwrap();
    let mut whole = Array::blank(DType::Float32, Lie::Sliced.layout(137, 129));
    let arguments = [Input::Array(DType::Float32, &input.layout.clone())];
    let kernel =
        MapKernel::new(sin, &signature, (DType::Float32, &whole.layout), &arguments).unwrap();
    let mut cut = whole.clone();
    for (level, seed) in levels().flat_map(|level| (1..9).map(move |seed| (level, seed))) {
        let _forced = AtLevel::new(level);
        run(&kernel, &mut [&mut whole, &mut input], &[]);
        let cuts: Vec<_> = (1..kernel.extent())
            .step_by((seed * 11 % kernel.extent()).max(1))
            .collect();
        run(&kernel, &mut [&mut cut, &mut input], &cuts);
        for index in 0..whole.layout.size() {
            assert_eq!(whole.raw(index), cut.raw(index));
        }
    }
}

#[test]
fn an_input_may_be_the_output() {
    let add = find("add").unwrap();
    let signature = add
        .resolve(&[DType::Int32, DType::Int32], DType::Float64)
        .unwrap();
    for &lie in &Lie::ALL[..5] {
        let layout = lie.layout(21, 70);
        let mut array = Array::of(DType::Int32, layout.clone(), |index| {
            Scalar::from(index as i32)
        });
        let input = Input::Array(DType::Int32, &layout);
        let kernel =
            MapKernel::new(add, &signature, (DType::Int32, &layout), &[input, input]).unwrap();
        let base = array.address();
        // SAFETY: every operand is the array, with the same layout.
        unsafe { kernel.run(&[base, base, base], 0..kernel.extent()) }.unwrap();
        for index in 0..layout.size() {
            assert_eq!(array.element(index), Scalar::from(2 * index as i32));
        }
    }
}

#[test]
fn scalars_take_the_place_of_arrays() {
    let subtract = find("subtract").unwrap();
    for level in levels() {
        let _forced = AtLevel::new(level);
        for size in [0, 1, 100, 1023, 1025, 5000] {
            let mut a = Array::of(DType::Float32, line(size), |index| {
                sample(DType::Float32, index)
            });
            let mut planned = Array::blank(DType::Float32, line(size));
            let mut short = planned.clone();
            let signature = subtract
                .resolve(&[DType::Float32, DType::Float32], DType::Float64)
                .unwrap();
            let layout = line(size);
            let arguments = [
                Input::Scalar(Scalar::Float(2.5)),
                Input::Array(DType::Float32, &layout),
            ];
            let kernel =
                MapKernel::new(subtract, &signature, (DType::Float32, &layout), &arguments)
                    .unwrap();
            run(&kernel, &mut [&mut planned, &mut a], &[11]);
            let kernel = subtract.contiguous_loop(DType::Float32).unwrap().over(size);
            let kernel = kernel.with_scalar(0, Scalar::Float(2.5)).unwrap();
            run(&kernel, &mut [&mut short, &mut a], &[5]);
            for index in 0..size {
                let expected = (2.5 - a.element(index).to_f64()) as f32;
                let found = planned.element(index).to_f64() as f32;
                assert!(found == expected || (found.is_nan() && expected.is_nan()));
                assert_eq!(planned.raw(index), short.raw(index));
            }
            planned.check_guards();
            short.check_guards();
        }
    }
}

#[test]
fn contiguous_loops_accept_unaligned_and_shared_memory() {
    let multiply = find("multiply").unwrap();
    let kernel = multiply.contiguous_loop(DType::Float64).unwrap().over(1000);
    let values: Vec<u8> = (0..1001)
        .flat_map(|index| f64::from(index).to_ne_bytes())
        .collect();
    let mut memory = [0_u8; 3].into_iter().chain(values).collect::<Vec<_>>();
    let base = millpond_hal::Address::of(memory.as_mut_ptr()).offset(3);
    // SAFETY: 1000 elements from byte 3 on; every operand is the same.
    unsafe { kernel.run(&[base, base, base], 0..1000) }.unwrap();
    for index in 0..1000 {
        let bytes = memory[3 + index * 8..][..8].try_into().unwrap();
        assert_eq!(f64::from_ne_bytes(bytes), (index * index) as f64);
    }
}

#[test]
fn contiguous_loops_begin_where_each_operand_does() {
    let subtract = find("subtract").unwrap();
    let begins = [24, 8, 16, 0];
    let kernel = subtract.contiguous_loop(DType::Float64).unwrap().over(5);
    let kernel = kernel.beginning_at(begins);
    let numbers = |first: usize| (first..first + 9).map(|number| number as f64);
    let mut a: Vec<f64> = numbers(0).collect();
    let mut b: Vec<f64> = numbers(100).collect();
    let mut out = [0.5; 9];
    for (operand, &begin) in begins[..3].iter().enumerate() {
        let bytes = kernel.footprint(operand).bytes;
        assert_eq!(bytes, begin..begin + 40);
    }
    let operands = &mut [bytes_of(&mut out), bytes_of(&mut a), bytes_of(&mut b)];
    millpond_testkit::trial::run(&kernel, operands, 2).unwrap();
    assert_eq!(
        out,
        [0.5, 0.5, 0.5, -101.0, -101.0, -101.0, -101.0, -101.0, 0.5]
    );
    // One of the operands is a number, and begins nowhere.
    let scalar = subtract.contiguous_loop(DType::Float64).unwrap().over(5);
    let scalar = scalar.with_scalar(0, Scalar::Float(1.0)).unwrap();
    let scalar = scalar.beginning_at([0, 16, 0, 0]);
    let operands = &mut [bytes_of(&mut out), bytes_of(&mut b)];
    millpond_testkit::trial::run(&scalar, operands, 2).unwrap();
    assert_eq!(out[..5], [-101.0, -102.0, -103.0, -104.0, -105.0]);
}

#[test]
fn large_outputs_are_the_same_however_they_are_written() {
    let add = find("add").unwrap();
    for level in levels() {
        for dtype in [DType::Int8, DType::Float32, DType::Float64] {
            let size = PAST_CACHES / dtype.size() + 77;
            let line = line(size);
            let of = |shift| Array::of(dtype, line.clone(), |index| sample(dtype, index + shift));
            let (mut a, mut b) = (of(0), of(5));
            let body = add.body(&[dtype, dtype]).unwrap();
            let expected: Vec<_> = (0..size)
                .map(|index| reference(body, &[a.element(index), b.element(index)], dtype))
                .collect();
            let _forced = AtLevel::new(level);
            let inputs = [Input::Array(dtype, &line), Input::Array(dtype, &line)];
            let signature = add.resolve(&[dtype, dtype], DType::Float64).unwrap();
            let planned = MapKernel::new(add, &signature, (dtype, &line), &inputs).unwrap();
            let short = add.contiguous_loop(dtype).unwrap().over(size);
            for kernel in [&planned as &dyn HostKernel, &short] {
                let mut out = Array::blank(dtype, line.clone());
                run(kernel, &mut [&mut out, &mut a, &mut b], &[3, 5000]);
                out.check_guards();
                for (index, &expected) in expected.iter().enumerate() {
                    assert!(is_close(dtype, out.element(index), expected, 0));
                }
            }
            let copy = MapKernel::copy((dtype, &line), inputs[0]).unwrap();
            let mut out = Array::blank(dtype, line.clone());
            run(&copy, &mut [&mut out, &mut a], &[3, 5000]);
            out.check_guards();
            for index in 0..size {
                assert_eq!(out.raw(index), a.raw(index));
            }
        }
    }
}

#[test]
fn casts_follow_the_scalar_conversion() {
    for level in levels() {
        let _forced = AtLevel::new(level);
        for &from in DType::ALL {
            for &to in DType::ALL {
                for size in [1, 300] {
                    let mut input = Array::of(from, line(size), |index| sample(from, index));
                    let mut out = Array::blank(to, line(size));
                    let layout = line(size);
                    let kernel =
                        MapKernel::copy((to, &layout), Input::Array(from, &layout)).unwrap();
                    run(&kernel, &mut [&mut out, &mut input], &[]);
                    out.check_guards();
                    for index in 0..size {
                        let value = input.element(index);
                        let is_float = !matches!(value, Scalar::Int(_) | Scalar::Bool(_));
                        // Floats clamp where integers wrap.
                        let real = value.to_f64();
                        let inside = real.is_finite() && (0.0..100.0).contains(&real);
                        if to.is_integer() && is_float && !inside {
                            continue;
                        }
                        let expected = Scalar::from_bytes(to, &value.to_bytes(to)).unwrap();
                        let found = out.element(index);
                        assert!(
                            is_close(to, found, expected, 0),
                            "{value:?} as {to}: {found:?}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn casts_to_halves_round_once() {
    // Just beside the middle between two halves, by less than `float32` or `float64` can hold.
    let middle = 1.0 + 0.5_f64.powi(8);
    let rows: &[(Scalar, DType, DType, f64)] = &[
        (
            Scalar::Float(middle + 1e-12),
            DType::Float64,
            DType::Bfloat16,
            1.0 + 0.5_f64.powi(7),
        ),
        (Scalar::Float(middle), DType::Float64, DType::Bfloat16, 1.0),
        (
            Scalar::Float(middle - 1e-12),
            DType::Float64,
            DType::Bfloat16,
            1.0,
        ),
        (
            Scalar::Float(-middle - 1e-12),
            DType::Float64,
            DType::Bfloat16,
            -1.0 - 0.5_f64.powi(7),
        ),
        (
            Scalar::Complex(Complex::new(middle + 1e-12, 7.0)),
            DType::Complex128,
            DType::Bfloat16,
            1.0 + 0.5_f64.powi(7),
        ),
        (
            Scalar::Complex(Complex::new(1.0 + 0.5_f64.powi(11) + 1e-12, 7.0)),
            DType::Complex128,
            DType::Float16,
            1.0 + 0.5_f64.powi(10),
        ),
        (
            Scalar::Float(1.0 + 0.5_f64.powi(11) + 1e-12),
            DType::Float64,
            DType::Float16,
            1.0 + 0.5_f64.powi(10),
        ),
        (
            Scalar::Int((1 << 30) + (1 << 22) + 1),
            DType::Int32,
            DType::Bfloat16,
            1_082_130_432.0,
        ),
        (
            Scalar::Int(-(1 << 30) - (1 << 22) - 1),
            DType::Int32,
            DType::Bfloat16,
            -1_082_130_432.0,
        ),
        (
            Scalar::Int((1 << 30) + (1 << 22)),
            DType::Uint32,
            DType::Bfloat16,
            1_073_741_824.0,
        ),
        (
            Scalar::Int((1 << 62) + (1 << 54) + 1),
            DType::Int64,
            DType::Bfloat16,
            2.0_f64.powi(62) + 2.0_f64.powi(55),
        ),
        (
            Scalar::Int(-(1 << 62) - (1 << 54) - 1),
            DType::Int64,
            DType::Bfloat16,
            -2.0_f64.powi(62) - 2.0_f64.powi(55),
        ),
        (
            Scalar::Int((1 << 63) + (1 << 55) - 1),
            DType::Uint64,
            DType::Bfloat16,
            2.0_f64.powi(63),
        ),
    ];
    for &(value, from, to, wanted) in rows {
        let layout = line(300);
        let mut input = Array::of(from, layout.clone(), |_| value);
        let mut out = Array::blank(to, layout.clone());
        let kernel = MapKernel::copy((to, &layout), Input::Array(from, &layout)).unwrap();
        run(&kernel, &mut [&mut out, &mut input], &[]);
        for index in [0, 299] {
            assert_eq!(
                out.element(index),
                Scalar::Float(wanted),
                "{value:?} of {from} as {to}"
            );
        }
    }
}

#[test]
fn floats_clamp_when_they_become_integers() {
    let values = [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e30,
        -1e30,
        -1.9,
        300.0,
    ];
    let mut input = Array::of(DType::Float64, line(7), |index| {
        Scalar::Float(values[index])
    });
    let mut out = Array::blank(DType::Int8, line(7));
    let layout = line(7);
    let kernel = MapKernel::copy(
        (DType::Int8, &layout),
        Input::Array(DType::Float64, &layout),
    );
    run(&kernel.unwrap(), &mut [&mut out, &mut input], &[]);
    let found: Vec<_> = (0..7).map(|index| out.element(index).to_i128()).collect();
    assert_eq!(found, [0, 127, -128, 127, -128, -1, 127]);
}

#[test]
fn halves_are_computed_in_single_precision_and_rounded_once() {
    let add = find("add").unwrap();
    assert_eq!(compute_dtype(DType::Bfloat16), DType::Float32);
    for dtype in [DType::Float16, DType::Bfloat16] {
        let mut inputs = [
            Array::of(dtype, line(600), |index| sample(dtype, index)),
            Array::of(
                dtype,
                Lie::Reversed
                    .layout(1, 600)
                    .reshape(&[600])
                    .unwrap()
                    .unwrap(),
                |index| sample(dtype, index + 5),
            ),
        ];
        check(add, &mut inputs, (dtype, line(600)), &[17]);
    }
}

#[test]
fn misfits_are_refused_by_name() {
    let add = find("add").unwrap();
    let signature = add
        .resolve(&[DType::Int8, DType::Int8], DType::Float64)
        .unwrap();
    let (four, five) = (line(4), line(5));
    let inputs = [
        Input::Array(DType::Int8, &four),
        Input::Array(DType::Int8, &five),
    ];
    let error = MapKernel::new(add, &signature, (DType::Int8, &four), &inputs).unwrap_err();
    assert_eq!(
        error.to_string(),
        "add writes shape (4,), operand 1 has shape (5,)"
    );
    let error = MapKernel::new(add, &signature, (DType::Int8, &four), &inputs[..1]).unwrap_err();
    assert!(matches!(
        error,
        PlanError::Arity {
            expected: 2,
            given: 1,
            ..
        }
    ));
}
