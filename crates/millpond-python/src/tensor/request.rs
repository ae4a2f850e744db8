//! What a program asks of a new array: the arguments that the functions that make arrays share.

use millpond::tensor::{Order, Place, Tensor, creation, data_types};
use millpond::types::{DType, Scalar};
use pyo3::prelude::*;

use crate::error::Raise;
use crate::runtime::PyQueue;
use crate::tensor::array::PyArray;
use crate::tensor::dtype::DTypeLike;
use crate::tensor::operators::Answer;
use crate::tensor::place::{DeviceLike, KindLike, Where};
use crate::tensor::scalar::{self, Number};
use crate::tensor::{enter, order};

/// Dtype, order and place of a new array.
#[derive(Debug)]
pub(crate) struct Request {
    /// The dtype, if one was named.
    pub(crate) dtype: Option<DType>,
    /// How the axes lie in memory.
    pub(crate) order: Order,
    /// Where it goes, as far as that was said.
    pub(crate) place: Where,
}

impl Request {
    /// What the arguments ask for.
    ///
    /// # Errors
    /// `ValueError` for an order that there isn't.
    pub(crate) fn new(
        py: Python<'_>,
        dtype: Option<DTypeLike>,
        order: &str,
        device: Option<DeviceLike>,
        usm_type: Option<KindLike>,
        queue: Option<Py<PyQueue>>,
    ) -> PyResult<Self> {
        enter(py);
        Ok(Self {
            dtype: dtype.map(|dtype| dtype.0),
            order: order::parse(order)?,
            place: Where::new(device, queue, usm_type),
        })
    }

    /// Whether nothing is asked for.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.dtype.is_none() && self.order == Order::K && self.place.is_open()
    }

    /// The dtype, the default float of the place's device if none was named.
    pub(crate) fn dtype_or_float(&self, place: &Place) -> DType {
        self.dtype
            .unwrap_or_else(|| data_types::default_float(place.device()))
    }

    /// An array of a shape with one value everywhere.
    pub(crate) fn filled<'py>(
        &self,
        py: Python<'py>,
        shape: &[usize],
        value: &Fill<'py>,
    ) -> Answer<'py> {
        let result = match value {
            Fill::Array(value) => {
                let value = value.get().tensor();
                let place = self.place.beside(value)?;
                let dtype = self.dtype.unwrap_or(value.dtype());
                let result = creation::empty_in_order(shape, dtype, self.order, &place);
                assigned(result.raise()?, value)?
            }
            Fill::Number(value, own) => {
                let (dtype, place) = (self.dtype.or(*own), self.place.place()?);
                self.constant(shape, *value, dtype, &place)?
            }
        };
        PyArray::object(py, result)
    }

    /// As [`Request::filled`], of the default float if no dtype was named.
    pub(crate) fn filled_with_float<'py>(
        &self,
        py: Python<'py>,
        shape: &[usize],
        value: i128,
    ) -> Answer<'py> {
        let place = self.place.place()?;
        let dtype = Some(self.dtype_or_float(&place));
        PyArray::object(py, self.constant(shape, Scalar::Int(value), dtype, &place)?)
    }

    /// An array on the model of another with one value everywhere.
    pub(crate) fn filled_like<'py>(
        &self,
        py: Python<'py>,
        model: &Tensor,
        value: &Fill<'py>,
    ) -> Answer<'py> {
        let place = Some(self.place.beside(model)?);
        let (dtype, order, place) = (self.dtype, self.order, place.as_ref());
        match value {
            Fill::Array(value) => {
                let result = creation::empty_like(model, dtype, order, place).raise()?;
                PyArray::object(py, assigned(result, value.get().tensor())?)
            }
            Fill::Number(value, _) => {
                PyArray::of(py, creation::full_like(model, *value, dtype, order, place))
            }
        }
    }

    fn constant(
        &self,
        shape: &[usize],
        value: Scalar,
        dtype: Option<DType>,
        place: &Place,
    ) -> PyResult<Tensor> {
        if self.order != Order::F {
            return creation::full(shape, value, dtype, place).raise();
        }
        // A shape read backwards in row-major order is the shape in column-major order.
        let reversed: Vec<usize> = shape.iter().rev().copied().collect();
        let tensor = creation::full(&reversed, value, dtype, place).raise()?;
        let axes: Vec<isize> = (0..reversed.len() as isize).rev().collect();
        tensor.permute_dims(&axes).raise()
    }
}

/// An array with the elements of another, which are broadcast.
fn assigned(target: Tensor, value: &Tensor) -> PyResult<Tensor> {
    target.assign(value).raise()?;
    Ok(target)
}

/// The value of all elements: a number, with its dtype if it has one, or an array.
#[derive(Debug)]
pub(crate) enum Fill<'py> {
    Array(Bound<'py, PyArray>),
    Number(Scalar, Option<DType>),
}

impl Fill<'_> {
    pub(crate) fn integer(value: i128) -> Self {
        Self::Number(Scalar::Int(value), None)
    }
}

impl<'py> FromPyObject<'_, 'py> for Fill<'py> {
    type Error = PyErr;

    fn extract(obj: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = obj.cast::<PyArray>() {
            return Ok(Self::Array(array.to_owned()));
        }
        if let Some((value, dtype)) = scalar::of_numpy(&obj)? {
            return Ok(Self::Number(value, Some(dtype)));
        }
        Ok(Self::Number(obj.extract::<Number>()?.0, None))
    }
}
