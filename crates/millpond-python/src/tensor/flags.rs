//! What an array says about its layout and whether it may be written.

use millpond::tensor::Tensor;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;

/// How the elements of an array lie in memory, and whether they may be written.
///
/// The values are attributes, and items by the letters that NumPy uses: ``flags["C"]``.
#[pyclass(frozen, eq, hash, module = "millpond.tensor")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "three independent answers are what it is"
)]
pub(crate) struct Flags {
    /// Whether the elements follow one another in row-major order.
    #[pyo3(get)]
    c_contiguous: bool,
    /// Whether the elements follow one another in column-major order.
    #[pyo3(get)]
    f_contiguous: bool,
    /// Whether operations may write the elements.
    #[pyo3(get)]
    writable: bool,
}

impl Flags {
    pub(crate) fn of(tensor: &Tensor) -> Self {
        Self {
            c_contiguous: tensor.is_contiguous(),
            f_contiguous: tensor.layout().is_column_major(),
            writable: !tensor.is_read_only(),
        }
    }
}

#[pymethods]
impl Flags {
    /// Contiguous in either order.
    #[getter]
    fn forc(&self) -> bool {
        self.c_contiguous || self.f_contiguous
    }

    /// Contiguous in column-major order, and not in row-major order.
    #[getter]
    fn fnc(&self) -> bool {
        self.f_contiguous && !self.c_contiguous
    }

    /// Contiguous in either order.
    #[getter]
    fn contiguous(&self) -> bool {
        self.forc()
    }

    fn __getitem__(&self, name: &str) -> PyResult<bool> {
        match name {
            "C" | "C_CONTIGUOUS" => Ok(self.c_contiguous),
            "F" | "F_CONTIGUOUS" => Ok(self.f_contiguous),
            "W" | "WRITABLE" | "WRITEABLE" => Ok(self.writable),
            "FC" => Ok(self.forc()),
            "FNC" => Ok(self.fnc()),
            "FORC" | "CONTIGUOUS" => Ok(self.forc()),
            _ => Err(PyKeyError::new_err(format!(
                "unknown flag '{name}'; the flags are C, F, W, FC, FNC and FORC"
            ))),
        }
    }

    fn __repr__(&self) -> String {
        let word = |value| if value { "True" } else { "False" };
        format!(
            "Flags(c_contiguous={}, f_contiguous={}, writable={})",
            word(self.c_contiguous),
            word(self.f_contiguous),
            word(self.writable)
        )
    }
}
