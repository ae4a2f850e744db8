//! The elements of an array: chosen, replaced, one after the other, as numbers and as text.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::PyArray;
use crate::tensor::operators::Answer;
use crate::tensor::{conversion, indexing, iteration, printing};

#[pymethods]
impl PyArray {
    fn __getitem__<'py>(&self, key: &Bound<'py, PyAny>) -> Answer<'py> {
        indexing::get(self.tensor(), key)
    }

    fn __setitem__(&self, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        indexing::set(self.tensor(), key, value)
    }

    fn __delitem__(&self, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let _ = key;
        Err(PyTypeError::new_err(
            "elements of an array cannot be deleted",
        ))
    }

    fn __len__(&self) -> PyResult<usize> {
        iteration::length(self.tensor())
    }

    fn __iter__(&self) -> PyResult<iteration::ArrayIterator> {
        iteration::ArrayIterator::new(self.tensor())
    }

    fn __contains__(&self, value: &Bound<'_, PyAny>) -> PyResult<bool> {
        iteration::contains(self, value)
    }

    fn __bool__(&self, py: Python<'_>) -> PyResult<bool> {
        conversion::truth(py, self.tensor())
    }

    fn __int__<'py>(&self, py: Python<'py>) -> Answer<'py> {
        conversion::int(py, self.tensor())
    }

    fn __float__<'py>(&self, py: Python<'py>) -> Answer<'py> {
        conversion::float(py, self.tensor())
    }

    fn __complex__<'py>(&self, py: Python<'py>) -> Answer<'py> {
        conversion::complex(py, self.tensor())
    }

    fn __index__<'py>(&self, py: Python<'py>) -> Answer<'py> {
        conversion::index(py, self.tensor())
    }

    /// Reads the only element; waits for it.
    ///
    /// Returns
    /// -------
    /// bool, int, float or complex
    ///     The element.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     For an array of another number of elements than one.
    /// CommandError
    ///     If what computes the element failed.
    ///
    /// Notes
    /// -----
    /// Beyond the Array API standard.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> xp.asarray([[2.5]]).item()
    /// 2.5
    fn item<'py>(&self, py: Python<'py>) -> Answer<'py> {
        conversion::item(py, self.tensor())
    }

    /// Reads the elements; waits for them.
    ///
    /// Returns
    /// -------
    /// list, or bool, int, float or complex
    ///     Nested lists of numbers; of an array without axes its number.
    ///
    /// Raises
    /// ------
    /// CommandError
    ///     If what computes the elements failed.
    ///
    /// Notes
    /// -----
    /// Beyond the Array API standard.
    ///
    /// Examples
    /// --------
    /// >>> import millpond.tensor as xp
    /// >>> xp.asarray([[1, 2], [3, 4]]).tolist()
    /// [[1, 2], [3, 4]]
    fn tolist<'py>(&self, py: Python<'py>) -> Answer<'py> {
        conversion::list(py, self.tensor())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        printing::repr(py, self.tensor())
    }

    fn __str__(&self, py: Python<'_>) -> PyResult<String> {
        printing::text(py, self.tensor())
    }

    fn __format__(slf: &Bound<'_, Self>, spec: &str) -> PyResult<String> {
        printing::format(slf, spec)
    }
}
