//! Operators of arrays: a table of Python's methods for the operations, and the few that differ.

use millpond::kernel::ops::rows;
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;

use super::PyArray;
use crate::tensor::linalg::product;
use crate::tensor::operators::{self, Answer};

macro_rules! unary {
    ($($row:ident: $method:ident;)*) => {
        #[pymethods]
        impl PyArray {
            $(
                fn $method<'py>(&self, py: Python<'py>) -> Answer<'py> {
                    operators::unary(py, &rows::$row, self)
                }
            )*
        }
    };
}

macro_rules! binary {
    ($($row:ident: $method:ident, $reflected:ident, $in_place:ident;)*) => {
        #[pymethods]
        impl PyArray {
            $(
                fn $method<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
                    operators::binary(&rows::$row, self, other)
                }

                fn $reflected<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
                    operators::reflected(&rows::$row, self, other)
                }

                fn $in_place(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
                    operators::in_place(&rows::$row, self, other)
                }
            )*
        }
    };
}

unary! {
    positive: __pos__;
    negative: __neg__;
    abs: __abs__;
    bitwise_invert: __invert__;
}

binary! {
    add: __add__, __radd__, __iadd__;
    subtract: __sub__, __rsub__, __isub__;
    multiply: __mul__, __rmul__, __imul__;
    divide: __truediv__, __rtruediv__, __itruediv__;
    floor_divide: __floordiv__, __rfloordiv__, __ifloordiv__;
    remainder: __mod__, __rmod__, __imod__;
    bitwise_and: __and__, __rand__, __iand__;
    bitwise_or: __or__, __ror__, __ior__;
    bitwise_xor: __xor__, __rxor__, __ixor__;
    bitwise_left_shift: __lshift__, __rlshift__, __ilshift__;
    bitwise_right_shift: __rshift__, __rrshift__, __irshift__;
}

#[pymethods]
impl PyArray {
    fn __richcmp__<'py>(&self, other: &Bound<'py, PyAny>, how: CompareOp) -> Answer<'py> {
        let operation = match how {
            CompareOp::Lt => &rows::less,
            CompareOp::Le => &rows::less_equal,
            CompareOp::Eq => &rows::equal,
            CompareOp::Ne => &rows::not_equal,
            CompareOp::Gt => &rows::greater,
            CompareOp::Ge => &rows::greater_equal,
        };
        operators::binary(operation, self, other)
    }

    fn __pow__<'py>(&self, other: &Bound<'py, PyAny>, modulo: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::refuse_modulo(modulo)?;
        operators::binary(&rows::pow, self, other)
    }

    fn __rpow__<'py>(&self, other: &Bound<'py, PyAny>, modulo: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::refuse_modulo(modulo)?;
        operators::reflected(&rows::pow, self, other)
    }

    fn __ipow__(&self, other: &Bound<'_, PyAny>, modulo: &Bound<'_, PyAny>) -> PyResult<()> {
        operators::refuse_modulo(modulo)?;
        operators::in_place(&rows::pow, self, other)
    }

    fn __divmod__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::divided(other.py(), |row| operators::binary(row, self, other))
    }

    fn __rdivmod__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        operators::divided(other.py(), |row| operators::reflected(row, self, other))
    }

    fn __matmul__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        product::operator(self, other, false)
    }

    fn __rmatmul__<'py>(&self, other: &Bound<'py, PyAny>) -> Answer<'py> {
        product::operator(self, other, true)
    }

    fn __imatmul__(&self, other: &Bound<'_, PyAny>) -> PyResult<()> {
        product::in_place(self, other)
    }
}
