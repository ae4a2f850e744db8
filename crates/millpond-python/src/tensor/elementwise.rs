//! Element-wise functions: one object for each row of the operations.

use millpond::kernel::ops::{self, Operation, rows};
use millpond::tensor::{Operand, apply};
use millpond::types::DType;
use pyo3::Borrowed;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use smallvec::SmallVec;

use crate::error::Raise;
use crate::tensor::array::PyArray;
use crate::tensor::operand::Operands;
use crate::tensor::operators::Answer;
use crate::tensor::out::Out;
use crate::tensor::quick_call::QuickClass;
use crate::tensor::{docstring, enter, operators, order};

// A function that works element by element, but for how it is called: `quick_call` derives the class
// that programs see. It has no documentation for Python, as it would hide that of the functions.
#[pyclass(
    frozen,
    subclass,
    name = "_ElementwiseFunction",
    module = "millpond.tensor"
)]
#[derive(Debug)]
pub(crate) struct ElementwiseFunction {
    operation: &'static Operation,
    documentation: String,
}

impl ElementwiseFunction {
    /// The result for an array, alone or with what it combines with; `None` leaves the call to the
    /// long way, which knows what else there is.
    #[inline]
    pub(super) fn quickly<'py>(
        &self,
        first: Borrowed<'_, 'py, PyAny>,
        second: Option<Borrowed<'_, 'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Ok(array) = first.cast_exact::<PyArray>() else {
            return Ok(None);
        };
        match (self.operation.arity(), second) {
            (1, None) => operators::unary(first.py(), self.operation, array.get()).map(Some),
            (2, Some(second)) => operators::combined(self.operation, array.get(), &second),
            _ => Ok(None),
        }
    }
}

#[pymethods]
impl ElementwiseFunction {
    // A signature would be a documentation of the class.
    #[new]
    #[pyo3(text_signature = None)]
    fn new(name: &str) -> PyResult<Self> {
        let operation = ops::operations().find(|operation| operation.name() == name);
        let Some(operation) = operation else {
            let reason = format!("there is no element-wise function '{name}'");
            return Err(PyValueError::new_err(reason));
        };
        Ok(Self {
            operation,
            documentation: docstring::of(operation),
        })
    }

    #[pyo3(signature = (*args, out=None, order="K"))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        out: Option<Out<'py>>,
        order: &str,
    ) -> Answer<'py> {
        let name = self.operation.name();
        if args.len() != self.operation.arity() {
            return Err(PyTypeError::new_err(format!(
                "{name}: takes {} positional arguments, {} were given",
                self.operation.arity(),
                args.len()
            )));
        }
        let operands = Operands::of(name, args.iter_borrowed())?;
        call(
            args.py(),
            self.operation,
            &operands.list(),
            out.as_ref(),
            order,
        )
    }

    /// The name.
    #[getter]
    fn __name__(&self) -> &'static str {
        self.operation.name()
    }

    #[getter]
    fn __qualname__(&self) -> &'static str {
        self.operation.name()
    }

    #[getter]
    fn __doc__(&self) -> &str {
        &self.documentation
    }

    #[getter]
    fn __signature__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let inspect = py.import("inspect")?;
        let parameter = inspect.getattr("Parameter")?;
        let parameters = PyList::empty(py);
        for &argument in self.operation.arguments() {
            let kind = parameter.getattr("POSITIONAL_ONLY")?;
            parameters.append(parameter.call1((argument, kind))?)?;
        }
        let keyword = parameter.getattr("KEYWORD_ONLY")?;
        for (name, default) in [("out", None), ("order", Some("K"))] {
            let options = PyDict::new(py);
            options.set_item("default", default)?;
            parameters.append(parameter.call((name, &keyword), Some(&options))?)?;
        }
        inspect.getattr("Signature")?.call1((parameters,))
    }

    /// Number of operands.
    #[getter]
    fn nin(&self) -> usize {
        self.operation.arity()
    }

    /// Number of results.
    #[getter]
    fn nout(&self) -> usize {
        1
    }

    /// Largest error of a float result, in units of its last place.
    #[getter]
    fn ulp(&self) -> u32 {
        self.operation.ulp()
    }

    /// Dtypes it computes with, as NumPy abbreviates them: operands, an arrow, the result.
    #[getter]
    fn types(&self) -> Vec<String> {
        signatures(self.operation)
    }

    fn __repr__(&self) -> String {
        format!("<function millpond.tensor.{}>", self.operation.name())
    }

    fn __reduce__(&self) -> &'static str {
        self.operation.name()
    }
}

/// Applies an operation as its Python function does.
pub(crate) fn call<'py>(
    py: Python<'py>,
    operation: &'static Operation,
    operands: &[Operand<'_>],
    out: Option<&Out<'py>>,
    order: &str,
) -> Answer<'py> {
    let order = order::parse(order)?;
    enter(py);
    let result = apply(operation, operands, out.map(Out::tensor)).raise()?;
    match out {
        Some(out) => Ok(out.object()),
        None => PyArray::object(py, order::arranged(result, order)?),
    }
}

fn signatures(operation: &Operation) -> Vec<String> {
    // The half types are computed in `float32`, but are accepted and given all the same.
    DType::ALL
        .iter()
        .filter_map(|&dtype| {
            let inputs: SmallVec<[DType; 3]> = SmallVec::from_elem(dtype, operation.arity());
            let signature = operation.resolve(&inputs, DType::Float64).ok()?;
            if signature.inputs != inputs {
                return None;
            }
            let inputs: String = inputs.iter().map(|dtype| dtype.numpy_char()).collect();
            Some(format!("{inputs}->{}", signature.output.numpy_char()))
        })
        .collect()
}

/// Adds the class and a function for each operation that has no signature of its own.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let class = QuickClass::new(module.py())?;
    module.add("ElementwiseFunction", class.object())?;
    let special = [&rows::clip, &rows::where_];
    for operation in ops::operations().filter(|operation| !special.contains(operation)) {
        module.add(operation.name(), class.function(operation.name())?)?;
    }
    Ok(())
}
