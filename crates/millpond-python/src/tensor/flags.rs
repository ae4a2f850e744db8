//! What an array says about its layout and whether it may be written.

use millpond::tensor::Tensor;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;

use crate::error::Raise;
use crate::tensor::array::PyArray;

/// How the elements of an array lie in memory, and whether they may be written.
///
/// The answers are attributes, and items by the letters that NumPy uses: ``flags["C"]``. They are
/// always those of the array as it is; `writable` can be set, where the memory may be written.
#[pyclass(frozen, module = "millpond.tensor")]
#[derive(Debug)]
pub(crate) struct Flags(Py<PyArray>);

impl Flags {
    /// The flags of an array.
    pub(crate) fn of(array: &Bound<'_, PyArray>) -> Self {
        Self(array.clone().unbind())
    }

    fn tensor(&self) -> &Tensor {
        self.0.get().tensor()
    }
}

#[pymethods]
impl Flags {
    /// Whether the elements follow one another in row-major order.
    #[getter]
    fn c_contiguous(&self) -> bool {
        self.tensor().is_contiguous()
    }

    /// Whether the elements follow one another in column-major order.
    #[getter]
    fn f_contiguous(&self) -> bool {
        self.tensor().layout().is_column_major()
    }

    /// Whether operations may write the elements.
    ///
    /// Setting it raises `ValueError` for an array that was made read-only, such as a view of
    /// another one that is.
    #[getter]
    fn writable(&self) -> bool {
        !self.tensor().is_read_only()
    }

    #[setter]
    fn set_writable(&self, writable: bool) -> PyResult<()> {
        let (array, tensor) = (self.0.get(), self.tensor());
        if writable == self.writable() {
            return Ok(());
        }
        if !writable {
            array.become_view(tensor.clone().read_only());
            return Ok(());
        }
        if !array.may_be_writable() {
            return Err(PyValueError::new_err(
                "flags: the array was made read-only and cannot be made writable; a copy can be written",
            ));
        }
        let (memory, layout) = (tensor.memory().clone(), tensor.layout().clone());
        array.become_view(Tensor::from_parts(memory, tensor.dtype(), layout, false).raise()?);
        Ok(())
    }

    /// Contiguous in both orders.
    #[getter]
    fn fc(&self) -> bool {
        self.c_contiguous() && self.f_contiguous()
    }

    /// Contiguous in either order.
    #[getter]
    fn forc(&self) -> bool {
        self.c_contiguous() || self.f_contiguous()
    }

    /// Contiguous in column-major order, and not in row-major order.
    #[getter]
    fn fnc(&self) -> bool {
        self.f_contiguous() && !self.c_contiguous()
    }

    /// Contiguous in either order.
    #[getter]
    fn contiguous(&self) -> bool {
        self.forc()
    }

    /// All as bits: 1 for row-major, 2 for column-major, 4 for writable.
    #[getter]
    fn flags(&self) -> u8 {
        u8::from(self.c_contiguous())
            | u8::from(self.f_contiguous()) << 1
            | u8::from(self.writable()) << 2
    }

    fn __getitem__(&self, name: &str) -> PyResult<bool> {
        match name {
            "C" | "C_CONTIGUOUS" => Ok(self.c_contiguous()),
            "F" | "F_CONTIGUOUS" => Ok(self.f_contiguous()),
            "W" | "WRITABLE" | "WRITEABLE" => Ok(self.writable()),
            "FC" => Ok(self.fc()),
            "FNC" => Ok(self.fnc()),
            "FORC" | "CONTIGUOUS" => Ok(self.forc()),
            _ => Err(unknown(name)),
        }
    }

    fn __setitem__(&self, name: &str, value: bool) -> PyResult<()> {
        match name {
            "W" | "WRITABLE" | "WRITEABLE" => self.set_writable(value),
            "C" | "C_CONTIGUOUS" | "F" | "F_CONTIGUOUS" | "FC" | "FNC" | "FORC" | "CONTIGUOUS" => {
                Err(PyValueError::new_err(format!(
                    "flags: '{name}' follows from the layout and cannot be set"
                )))
            }
            _ => Err(unknown(name)),
        }
    }

    /// Equal to flags that say the same, and to the same bits.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        match other.cast::<Self>() {
            Ok(other) => self.flags() == other.get().flags(),
            Err(_) => other.extract().is_ok_and(|bits: u8| self.flags() == bits),
        }
    }

    fn __repr__(&self) -> String {
        let word = |value| if value { "True" } else { "False" };
        format!(
            "Flags(c_contiguous={}, f_contiguous={}, writable={})",
            word(self.c_contiguous()),
            word(self.f_contiguous()),
            word(self.writable())
        )
    }
}

fn unknown(name: &str) -> PyErr {
    PyKeyError::new_err(format!(
        "unknown flag '{name}'; the flags are C, F, W, FC, FNC and FORC"
    ))
}
