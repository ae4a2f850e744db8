//! Docstrings of element-wise functions, in NumPy's form: each from its row and what all have in
//! common.

use millpond::kernel::ops::{Example, Operation, rows};
use millpond::types::{DType, Kind};
use smallvec::SmallVec;

/// Operations that the standard doesn't have.
const BEYOND: [&Operation; 5] = [
    &rows::angle,
    &rows::cbrt,
    &rows::exp2,
    &rows::proj,
    &rows::rsqrt,
];

/// The docstring of an operation's function.
pub(crate) fn of(operation: &Operation) -> String {
    let arguments = operation.arguments().join(", ");
    let (kinds, dtype) = (kinds(operation), result_dtype(operation));
    let (operands, refused, shapes) = if operation.arity() == 1 {
        ("The elements", REFUSED_ALONE, SHAPES_OF_ONE)
    } else {
        (OPERANDS, REFUSED_TOGETHER, SHAPES_OF_SEVERAL)
    };
    let sections = [
        operation.documentation().to_owned(),
        format!(
            "Parameters\n----------\n{arguments} : Array or number\n    {operands}, of a dtype \
             that is {kinds}.\n{OUT}\n{ORDER}"
        ),
        format!("Returns\n-------\nArray\n    The result, `out` if that was given; {dtype}."),
        format!("Raises\n------\nTypeError\n    {refused}\nValueError\n    {shapes}"),
        format!("Notes\n-----\n{}{}", error(operation), source(operation)),
    ];
    let example = operation.example().map(|example| {
        format!(
            "Examples\n--------\n>>> import millpond.tensor as xp\n>>> {}\nArray({})",
            call(operation.name(), example),
            example.result
        )
    });
    let sections: Vec<String> = sections.into_iter().chain(example).collect();
    sections.join("\n\n")
}

const OPERANDS: &str = "The operands, which are broadcast to one shape and promoted to one dtype";

const OUT: &str = "\
out : Array, optional
    Where the result goes; it may overlap the operands.";

const ORDER: &str = "\
order : {'K', 'C', 'F', 'A'}, optional
    How the axes of a new result lie in memory.";

const REFUSED_ALONE: &str = "\
For elements of another dtype, for what is no array, and for an `out` of a dtype of a lower kind.";

const REFUSED_TOGETHER: &str = "\
For operands of other dtypes, for what is neither an array nor a number, for numbers alone, and
    for an `out` of a dtype of a lower kind.";

const SHAPES_OF_ONE: &str = "For an `out` of another shape.";

const SHAPES_OF_SEVERAL: &str =
    "For shapes that can't be broadcast, and for an `out` of another shape.";

/// How exact floats are, where that can be said.
fn error(operation: &Operation) -> String {
    match operation.ulp() {
        0 => String::new(),
        ulp => format!("Floats are within {ulp} units in the last place of the exact result.\n\n"),
    }
}

/// Where the standard has the function.
fn source(operation: &Operation) -> &'static str {
    if BEYOND.contains(&operation) {
        "Beyond the Array API standard."
    } else {
        "Array API standard, element-wise functions; beyond it: `out`, `order`."
    }
}

/// An example as Python writes it: what stands in brackets is an array.
fn call(name: &str, example: Example) -> String {
    let written = example.operands.iter().map(|operand| {
        if operand.starts_with('[') {
            format!("xp.asarray({operand})")
        } else {
            (*operand).to_owned()
        }
    });
    let operands: Vec<String> = written.collect();
    format!("xp.{name}({})", operands.join(", "))
}

/// The dtype that the operation gives for operands of one.
fn output(operation: &Operation, dtype: DType) -> Option<DType> {
    let inputs: SmallVec<[DType; 3]> = SmallVec::from_elem(dtype, operation.arity());
    let signature = operation.resolve(&inputs, DType::Float64).ok()?;
    Some(signature.output)
}

fn result_dtype(operation: &Operation) -> &'static str {
    if output(operation, DType::Int64) == Some(DType::Bool) {
        return "its dtype is ``bool``";
    }
    let becomes_real = |dtype| output(operation, dtype).is_some_and(DType::is_float);
    match (becomes_real(DType::Complex128), becomes_real(DType::Int64)) {
        (true, true) => "its dtype is real, for integers the default float",
        (true, false) => "its dtype is real",
        (false, true) => "its dtype is that of the operands, for integers the default float",
        (false, false) => "its dtype is that of the operands",
    }
}

fn kinds(operation: &Operation) -> String {
    let accepted = |kind| {
        let mut dtypes = DType::ALL.iter().filter(|dtype| dtype.kind() == kind);
        dtypes.any(|&dtype| output(operation, dtype).is_some())
    };
    let kinds: Vec<_> = [
        (Kind::Bool, "bool"),
        (Kind::Int, "integer"),
        (Kind::Float, "real"),
        (Kind::Complex, "complex"),
    ]
    .into_iter()
    .filter(|(kind, _)| accepted(*kind))
    .map(|(_, name)| name)
    .collect();
    kinds.join(", ")
}
