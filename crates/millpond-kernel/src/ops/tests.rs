//! What operations accept, and that the rows are what they say.

use millpond_types::DType::{
    self, Bfloat16, Bool, Complex64, Complex128, Float16, Float32, Float64, Int8, Int16, Int64,
    Uint8, Uint64,
};

use super::{find, operations};

fn outcome(name: &str, inputs: &[DType]) -> Option<(DType, DType)> {
    let signature = find(name).unwrap().resolve(inputs, Float64).ok()?;
    Some((*signature.inputs.last().unwrap(), signature.output))
}

#[test]
fn dtypes_are_resolved_as_the_standard_and_dpctl_do() {
    type Row = (&'static str, &'static [DType], Option<(DType, DType)>);
    let rows: &[Row] = &[
        ("add", &[Bool, Bool], Some((Bool, Bool))),
        ("add", &[Int8, Uint8], Some((Int16, Int16))),
        ("add", &[Int64, Uint64], Some((Float64, Float64))),
        ("add", &[Float16, Bfloat16], Some((Float32, Float32))),
        ("subtract", &[Bool, Bool], None),
        ("subtract", &[Bool, Int8], Some((Int8, Int8))),
        ("negative", &[Bool], None),
        ("square", &[Bool], Some((Int8, Int8))),
        ("divide", &[Int8, Int8], Some((Float64, Float64))),
        ("divide", &[Float16, Float16], Some((Float16, Float16))),
        ("sin", &[Int16], Some((Float64, Float64))),
        ("sin", &[Bfloat16], Some((Bfloat16, Bfloat16))),
        ("abs", &[Complex64], Some((Complex64, Float32))),
        ("real", &[Complex128], Some((Complex128, Float64))),
        ("real", &[Float32], Some((Float32, Float32))),
        ("less", &[Float16, Float16], Some((Float16, Bool))),
        ("isnan", &[Int8], Some((Int8, Bool))),
        ("bitwise_and", &[Float32, Float32], None),
        ("bitwise_and", &[Bool, Uint8], Some((Uint8, Uint8))),
        ("bitwise_left_shift", &[Bool, Bool], None),
        ("atan2", &[Complex64, Complex64], None),
        ("where", &[Bool, Int8, Float32], Some((Float32, Float32))),
        ("where", &[Int8, Int8, Int8], None),
        ("clip", &[Int8, Int16, Int8], Some((Int16, Int16))),
        ("floor", &[Int64], Some((Int64, Int64))),
        ("add", &[Int8], None),
    ];
    for (name, inputs, expected) in rows {
        assert_eq!(outcome(name, inputs), *expected, "{name} of {inputs:?}");
    }
}

#[test]
fn a_default_float_of_single_precision_is_kept_to() {
    let signature = find("exp").unwrap().resolve(&[Int64], Float32).unwrap();
    assert_eq!(signature.output, Float32);
}

#[test]
fn refusals_name_the_operation_and_the_dtypes() {
    let error = find("bitwise_or")
        .unwrap()
        .resolve(&[Float32, Int8], Float64);
    let text = error.unwrap_err().to_string();
    assert_eq!(text, "bitwise_or is not defined for float32 and int8");
}

#[test]
fn every_element_wise_function_of_the_standard_has_a_row() {
    const STANDARD: &str = "abs acos acosh add asin asinh atan atan2 atanh bitwise_and \
        bitwise_left_shift bitwise_invert bitwise_or bitwise_right_shift bitwise_xor ceil clip \
        conj copysign cos cosh divide equal exp expm1 floor floor_divide greater greater_equal \
        hypot imag isfinite isinf isnan less less_equal log log1p log2 log10 logaddexp \
        logical_and logical_not logical_or logical_xor maximum minimum multiply negative \
        nextafter not_equal positive pow real reciprocal remainder round sign signbit sin sinh \
        square sqrt subtract tan tanh trunc where";
    const BEYOND: &str = "angle cbrt exp2 proj rsqrt";
    let names: Vec<_> = STANDARD
        .split_whitespace()
        .chain(BEYOND.split_whitespace())
        .collect();
    for name in &names {
        assert!(find(name).is_some(), "no row for {name}");
    }
    assert_eq!(operations().count(), names.len());
}

#[test]
fn rows_are_documented_and_agree_with_their_bodies() {
    for operation in operations() {
        let text = operation.documentation();
        assert!(
            text.ends_with('.') && text.len() > 10,
            "{operation:?}: {text}"
        );
        assert!(operation.dtypes().count() > 0);
        for dtype in operation.dtypes() {
            let kernel = operation.contiguous_loop(dtype).unwrap();
            assert_eq!(kernel.input(operation.arity() - 1), dtype);
        }
    }
}
