//! Prints functions and types as C++.

use std::fmt::Write;

use millpond_types::DType;

use crate::device::trace::{Function, Number, Part, Sort, Term, binary, unary};
use crate::math::{Real, derived};

/// What every source begins with: see the files. Some need more of them.
pub(super) fn prelude(more: &[&str]) -> String {
    let mut text = String::from(include_str!("native.cuh"));
    shared_prelude(&mut text);
    text.extend(more.iter().copied());
    text.push_str("// ---- The kernel ----\n");
    text
}

/// What some sources need more than the prelude.
#[cfg(test)]
pub(super) const MORE: &[&str] = &[
    include_str!("scratch.cuh"),
    include_str!("put.cuh"),
    include_str!("reduce.cuh"),
    include_str!("scan.cuh"),
    include_str!("mask.cuh"),
    include_str!("key.cuh"),
    include_str!("digits.cuh"),
    include_str!("rows.cuh"),
    include_str!("sweep.cuh"),
    include_str!("find.cuh"),
    include_str!("runs.cuh"),
];

/// The part of the prelude that isn't the device's own.
pub(super) fn shared_prelude(text: &mut String) {
    text.push_str(include_str!("prelude.cuh"));
    text.push_str("\nnamespace mp {\n");
    let wide: [(&str, Function); 3] = [
        (
            "asinh",
            unary(|x: Number| derived::asinh_by(x, Number::ln_1p)),
        ),
        (
            "acosh",
            unary(|x: Number| derived::acosh_by(x, Number::ln_1p)),
        ),
        (
            "logaddexp",
            binary(|x: Number, y: Number| {
                derived::log_add_exp_by((x, y), false, Number::exp, Number::ln_1p)
            }),
        ),
    ];
    for (name, function) in &wide {
        let inputs = vec![DType::Float64; function.parameters.len()];
        define(text, name, function, &inputs, DType::Float64);
        let names = ["a", "b"];
        let parameters: Vec<_> = inputs
            .iter()
            .zip(names)
            .map(|(_, name)| format!("float {name}"))
            .collect();
        let arguments: Vec<_> = inputs
            .iter()
            .zip(names)
            .map(|(_, name)| format!("double({name})"))
            .collect();
        let (parameters, arguments) = (parameters.join(", "), arguments.join(", "));
        let _ = writeln!(
            text,
            "MP_DEVICE float {name}({parameters}) {{ return float({name}({arguments})); }}"
        );
    }
    text.push_str("}  // namespace mp\n\n");
}

/// The type of values of a dtype.
pub(super) const fn type_name(dtype: DType) -> &'static str {
    match dtype {
        DType::Bool => "bool",
        DType::Int8 => "mp::i8",
        DType::Int16 => "mp::i16",
        DType::Int32 => "mp::i32",
        DType::Int64 => "mp::i64",
        DType::Uint8 => "mp::u8",
        DType::Uint16 => "mp::u16",
        DType::Uint32 => "mp::u32",
        DType::Uint64 => "mp::u64",
        DType::Float16 => "mp::half",
        DType::Bfloat16 => "mp::bfloat",
        DType::Float32 => "float",
        DType::Float64 => "double",
        DType::Complex64 => "mp::complex<float>",
        DType::Complex128 => "mp::complex<double>",
    }
}

/// Appends the definition of a function over operands of these dtypes.
pub(super) fn define(
    text: &mut String,
    name: &str,
    function: &Function,
    inputs: &[DType],
    output: DType,
) {
    // Numbers of a body have one type; the last operand has it, as the first may be a condition.
    let number = type_name(inputs.last().copied().unwrap_or(output).real());
    let parameters: Vec<_> = inputs
        .iter()
        .zip(PARAMETERS)
        .map(|(&dtype, name)| format!("{} {name}", type_name(dtype)))
        .collect();
    let _ = writeln!(
        text,
        "MP_DEVICE {} {name}({}) {{",
        type_name(output),
        parameters.join(", ")
    );
    for ((node, recorded), needed) in function.terms.iter().enumerate().zip(function.needed()) {
        if needed {
            let kind = if recorded.is_truth { "bool" } else { number };
            let _ = write!(text, "    const {kind} t{node} = ");
            write_term(text, &recorded.term, number);
            text.push_str(";\n");
        }
    }
    let results: Vec<_> = function
        .results
        .iter()
        .map(|node| format!("t{node}"))
        .collect();
    let results = results.join(", ");
    let _ = match function.result {
        Sort::Complex => writeln!(text, "    return {}{{{results}}};\n}}", type_name(output)),
        _ => writeln!(text, "    return {results};\n}}"),
    };
}

/// The names of parameters.
const PARAMETERS: [&str; 3] = ["a", "b", "c"];

fn write_term(text: &mut String, term: &Term, number: &str) {
    let _ = match term {
        Term::Parameter { index, part } => {
            let part = match part {
                Part::Whole => "",
                Part::Real => ".re",
                Part::Imaginary => ".im",
            };
            write!(text, "{}{part}", PARAMETERS[*index])
        }
        Term::Literal(bits) => write!(text, "{number}({})", literal(f64::from_bits(*bits))),
        Term::Integer(value) => write!(text, "{number}({value})"),
        Term::Truth(value) => write!(text, "{value}"),
        Term::Constant(name) => write!(text, "mp::constants<{number}>::{name}"),
        Term::Call(function, operands) => {
            let operands: Vec<_> = operands.iter().map(|node| format!("t{node}")).collect();
            write!(text, "mp::{function}({})", operands.join(", "))
        }
    };
}

/// A literal of a double, or what converts to one.
fn literal(value: f64) -> String {
    if value.is_finite() {
        // The shortest digits that give the number back.
        return format!("{value:e}");
    }
    let bits = (value as f32).to_bits();
    format!("mp::float_of({bits:#x}u)")
}
