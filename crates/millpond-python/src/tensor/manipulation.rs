//! Functions that rearrange elements: views where strides can say it, copies elsewhere.

use millpond::tensor::{Tensor, manipulation};
use millpond::types::shape;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::error::Raise;
use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray, tuple_of};
use crate::tensor::extent::{Integers, ShapeLike, tuple};
use crate::tensor::operators::Answer;
use crate::tensor::{enter, indexing, order};

/// Gives the elements another shape.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// shape : int or tuple of int
///     The shape; one size may be -1 and follows from the others.
/// order : {'C', 'F'}, optional
///     How the elements are counted, in both shapes.
/// copy : bool, optional
///     Whether elements are copied always, never (which fails where it would be needed), or, by
///     default, where it is needed.
///
/// Returns
/// -------
/// Array
///     A view where strides can say it, else a copy.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For a shape of another number of elements, and where ``copy=False`` forbids a copy
///     that is needed.
///
/// Notes
/// -----
/// Array API standard, manipulation functions; beyond it: `order`.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.reshape(xp.arange(6), (2, -1))
/// Array([[0, 1, 2],
///        [3, 4, 5]])
#[pyfunction]
#[pyo3(signature = (x, /, shape, *, order="C", copy=None))]
fn reshape<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    shape: Integers,
    order: &str,
    copy: Option<bool>,
) -> Answer<'py> {
    enter(py);
    let order = order::parse(order)?;
    PyArray::of(py, x.tensor().reshape_in_order(&shape.0, order, copy))
}

/// Views an array with its axes in another order.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axes : tuple of int
///     Each axis once, in the new order.
///
/// Returns
/// -------
/// Array
///     A view of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     If not each axis is named once.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.permute_dims(xp.ones((2, 3, 4)), (2, 0, 1)).shape
/// (4, 2, 3)
#[pyfunction]
#[pyo3(signature = (x, /, axes))]
fn permute_dims<'py>(py: Python<'py>, x: ArrayLike<'py>, axes: Integers) -> Answer<'py> {
    PyArray::of(py, x.tensor().permute_dims(&axes.0))
}

/// Views an array with the last two axes exchanged.
///
/// Parameters
/// ----------
/// x : Array
///     Matrices, in the last two axes.
///
/// Returns
/// -------
/// Array
///     A view of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an array of fewer than two axes.
///
/// Notes
/// -----
/// Array API standard, linear algebra functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.matrix_transpose(xp.asarray([[1, 2], [3, 4]]))
/// Array([[1, 3],
///        [2, 4]])
#[pyfunction]
#[pyo3(signature = (x))]
fn matrix_transpose<'py>(py: Python<'py>, x: ArrayLike<'py>) -> Answer<'py> {
    PyArray::of(py, x.tensor().matrix_transpose())
}

/// Views an array with axes moved elsewhere; the others keep their order.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// source : int or tuple of int
///     The axes to move.
/// destination : int or tuple of int
///     Where each of them goes.
///
/// Returns
/// -------
/// Array
///     A view of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For axes that are named twice, and for other numbers of sources than of
///     destinations.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.moveaxis(xp.ones((2, 3, 4)), 0, -1).shape
/// (3, 4, 2)
#[pyfunction]
#[pyo3(signature = (x, source, destination, /))]
fn moveaxis<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    source: Integers,
    destination: Integers,
) -> Answer<'py> {
    PyArray::of(py, x.tensor().moveaxis(&source.0, &destination.0))
}

/// Views an array with two axes exchanged.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis1, axis2 : int
///     The axes.
///
/// Returns
/// -------
/// Array
///     A view of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Beyond the Array API standard.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.swapaxes(xp.ones((2, 3, 4)), 0, 2).shape
/// (4, 3, 2)
#[pyfunction]
#[pyo3(signature = (x, axis1, axis2))]
fn swapaxes<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer)] axis1: isize,
    #[pyo3(from_py_with = integer::integer)] axis2: isize,
) -> Answer<'py> {
    PyArray::of(py, x.tensor().swapaxes(axis1, axis2))
}

/// Views an array with new axes of size one.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis : int or tuple of int, optional
///     Where the new axes are, in the result.
///
/// Returns
/// -------
/// Array
///     A view of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an axis that is named twice.
/// IndexError
///     For an axis that the result doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.expand_dims(xp.ones(3), (0, -1)).shape
/// (1, 3, 1)
#[pyfunction]
#[pyo3(signature = (x, /, axis=Integers::one(0)), text_signature = "(x, /, axis=0)")]
fn expand_dims<'py>(py: Python<'py>, x: ArrayLike<'py>, axis: Integers) -> Answer<'py> {
    PyArray::of(py, x.tensor().expand_dims(&axis.0))
}

/// Views an array without axes of size one.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis : int or tuple of int, optional
///     The axes to leave out; all of size one, if nothing is said.
///
/// Returns
/// -------
/// Array
///     A view of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For an axis of another size than one.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.squeeze(xp.ones((1, 3, 1)), axis=0).shape
/// (3, 1)
#[pyfunction]
#[pyo3(signature = (x, /, axis=None))]
fn squeeze<'py>(py: Python<'py>, x: ArrayLike<'py>, axis: Option<Integers>) -> Answer<'py> {
    PyArray::of(py, x.tensor().squeeze(Integers::given(axis.as_ref())))
}

/// Views an array with the elements along axes in reverse order.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis : int or tuple of int, optional
///     The axes; all of them, if nothing is said.
///
/// Returns
/// -------
/// Array
///     A view of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.flip(xp.asarray([1, 2, 3]))
/// Array([3, 2, 1])
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=None))]
fn flip<'py>(py: Python<'py>, x: ArrayLike<'py>, axis: Option<Integers>) -> Answer<'py> {
    PyArray::of(py, x.tensor().flip(Integers::given(axis.as_ref())))
}

/// Views an array with its elements repeated, so that it has a shape; the view is read-only.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// shape : int or tuple of int
///     The shape.
///
/// Returns
/// -------
/// Array
///     A view of `x` that can't be written.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     If `x` doesn't broadcast to the shape.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.broadcast_to(xp.asarray([1, 2]), (2, 2))
/// Array([[1, 2],
///        [1, 2]])
#[pyfunction]
#[pyo3(signature = (x, /, shape))]
fn broadcast_to<'py>(py: Python<'py>, x: ArrayLike<'py>, shape: ShapeLike) -> Answer<'py> {
    PyArray::of(py, x.tensor().broadcast_to(&shape.0))
}

/// Views arrays with the shape that all broadcast to.
///
/// Parameters
/// ----------
/// *arrays : Array
///     The arrays.
///
/// Returns
/// -------
/// tuple of Array
///     The views.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     If the shapes don't broadcast.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> x, y = xp.broadcast_arrays(xp.ones((2, 1)), xp.ones(3))
/// >>> x.shape, y.shape
/// ((2, 3), (2, 3))
#[pyfunction]
#[pyo3(signature = (*arrays))]
fn broadcast_arrays<'py>(arrays: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
    let arrays = Arrays::of(arrays)?;
    let views = manipulation::broadcast_arrays(&arrays.tensors()).raise()?;
    tuple_of(arrays.py, views)
}

/// Says which shape all of some shapes broadcast to.
///
/// Parameters
/// ----------
/// *shapes : tuple of int
///     The shapes.
///
/// Returns
/// -------
/// tuple of int
///     The shape.
///
/// Raises
/// ------
/// ValueError
///     If the shapes don't broadcast.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.broadcast_shapes((2, 1), (3,))
/// (2, 3)
#[pyfunction]
#[pyo3(signature = (*shapes))]
fn broadcast_shapes<'py>(shapes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
    let owned: Vec<ShapeLike> = shapes
        .iter_borrowed()
        .map(pyo3::Borrowed::extract)
        .collect::<PyResult<_>>()?;
    let borrowed: Vec<&[usize]> = owned.iter().map(|shape| &shape.0[..]).collect();
    let joined = shape::broadcast(&borrowed)
        .map_err(millpond::tensor::Error::from)
        .raise()?;
    tuple(shapes.py(), &joined)
}

/// Copies an array with its elements shifted along axes; what leaves at one end enters at the
/// other.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// shift : int or tuple of int
///     How far, for each axis.
/// axis : int or tuple of int, optional
///     The axes; without, the elements are shifted as if they were in one row.
///
/// Returns
/// -------
/// Array
///     A copy, of the shape of `x`.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For other numbers of shifts than of axes.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.roll(xp.asarray([1, 2, 3]), 1)
/// Array([3, 1, 2])
#[pyfunction]
#[pyo3(signature = (x, /, shift, *, axis=None))]
fn roll<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    shift: Integers,
    axis: Option<Integers>,
) -> Answer<'py> {
    enter(py);
    let shifts = shift.beside(axis.as_ref());
    PyArray::of(py, x.tensor().roll(&shifts, Integers::given(axis.as_ref())))
}

/// Joins arrays along an axis.
///
/// Parameters
/// ----------
/// arrays : sequence of Array
///     The arrays; their shapes differ along the axis at most.
/// axis : int, optional
///     The axis; with None, all elements come in one row.
///
/// Returns
/// -------
/// Array
///     The elements, of the dtype that those of the arrays promote to.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For no array, and for shapes that differ along other axes.
/// IndexError
///     For an axis that the arrays don't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.concat([xp.asarray([1, 2]), xp.asarray([3])])
/// Array([1, 2, 3])
#[pyfunction]
#[pyo3(signature = (arrays, /, *, axis=Some(0)), text_signature = "(arrays, /, *, axis=0)")]
fn concat<'py>(
    arrays: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = integer::integer_or_none)] axis: Option<isize>,
) -> Answer<'py> {
    let py = arrays.py();
    enter(py);
    let arrays = Arrays::of(arrays)?;
    PyArray::of(py, manipulation::concat(&arrays.tensors(), axis))
}

/// Joins arrays along a new axis.
///
/// Parameters
/// ----------
/// arrays : sequence of Array
///     The arrays, all of one shape.
/// axis : int, optional
///     Where the new axis is, in the result.
///
/// Returns
/// -------
/// Array
///     The elements, of the dtype that those of the arrays promote to.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For no array, and for arrays of several shapes.
/// IndexError
///     For an axis that the result doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.stack([xp.asarray([1, 2]), xp.asarray([3, 4])], axis=1)
/// Array([[1, 3],
///        [2, 4]])
#[pyfunction]
#[pyo3(signature = (arrays, /, *, axis=0))]
fn stack<'py>(
    arrays: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = integer::integer)] axis: isize,
) -> Answer<'py> {
    let py = arrays.py();
    enter(py);
    let arrays = Arrays::of(arrays)?;
    PyArray::of(py, manipulation::stack(&arrays.tensors(), axis))
}

/// Views what lies along an axis, one after the other.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// axis : int, optional
///     The axis.
///
/// Returns
/// -------
/// tuple of Array
///     The views, which lack the axis.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> first, second = xp.unstack(xp.asarray([[1, 2], [3, 4]]))
/// >>> second
/// Array([3, 4])
#[pyfunction]
#[pyo3(signature = (x, /, *, axis=0))]
fn unstack<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    #[pyo3(from_py_with = integer::integer)] axis: isize,
) -> PyResult<Bound<'py, PyTuple>> {
    tuple_of(py, x.tensor().unstack(axis).raise()?)
}

/// Repeats an array as tiles do.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// repetitions : int or tuple of int
///     How many times along each axis, the last ones if there are fewer.
///
/// Returns
/// -------
/// Array
///     A copy; `x` counts as having as many axes as there are numbers, the new ones in
///     front.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     For a negative number.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.tile(xp.asarray([1, 2]), (2, 2))
/// Array([[1, 2, 1, 2],
///        [1, 2, 1, 2]])
#[pyfunction]
#[pyo3(signature = (x, repetitions, /))]
fn tile<'py>(py: Python<'py>, x: ArrayLike<'py>, repetitions: ShapeLike) -> Answer<'py> {
    enter(py);
    PyArray::of(py, x.tensor().tile(&repetitions.0))
}

/// Repeats each element.
///
/// Parameters
/// ----------
/// x : Array
///     The array.
/// repeats : int or Array
///     How many times; an array of integers has one for each element along the axis, or one for all,
///     and is waited for, since the shape depends on it.
/// axis : int, optional
///     The axis along which the copies lie; without, all elements come in one row.
///
/// Returns
/// -------
/// Array
///     A copy.
///
/// Raises
/// ------
/// TypeError
///     For what is no array.
/// ValueError
///     If a number is negative, or if there are as many as the axis has not.
/// IndexError
///     For an axis that `x` doesn't have.
///
/// Notes
/// -----
/// Array API standard, manipulation functions.
///
/// Examples
/// --------
/// >>> import millpond.tensor as xp
/// >>> xp.repeat(xp.asarray([7, 8, 9]), xp.asarray([2, 0, 1])).tolist()
/// [7, 7, 9]
#[pyfunction]
#[pyo3(signature = (x, repeats, /, *, axis=None))]
fn repeat<'py>(
    py: Python<'py>,
    x: ArrayLike<'py>,
    repeats: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = integer::integer_or_none)] axis: Option<isize>,
) -> Answer<'py> {
    enter(py);
    if let Some(counts) = indexing::array_beside(x.tensor(), repeats)? {
        return PyArray::of(py, x.tensor().repeat_each(&counts, axis));
    }
    let count = integer::integer(repeats)?;
    let count = usize::try_from(count)
        .map_err(|_| PyValueError::new_err(format!("repeat: repeats is negative: {count}")))?;
    PyArray::of(py, x.tensor().repeat(count, axis))
}

/// Arrays given as a sequence.
struct Arrays<'py> {
    py: Python<'py>,
    held: Vec<ArrayLike<'py>>,
}

impl<'py> Arrays<'py> {
    fn of(objects: &Bound<'py, PyAny>) -> PyResult<Self> {
        let held = objects
            .try_iter()?
            .map(|object| object?.extract())
            .collect::<PyResult<_>>()?;
        Ok(Self {
            py: objects.py(),
            held,
        })
    }

    fn tensors(&self) -> Vec<&Tensor> {
        self.held.iter().map(ArrayLike::tensor).collect()
    }
}

/// Adds the one function that `linalg` has as well.
pub(crate) fn register_matrix_transpose(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(matrix_transpose, module)?)
}

/// Adds the functions.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(reshape, module)?)?;
    module.add_function(wrap_pyfunction!(permute_dims, module)?)?;
    register_matrix_transpose(module)?;
    module.add_function(wrap_pyfunction!(moveaxis, module)?)?;
    module.add_function(wrap_pyfunction!(swapaxes, module)?)?;
    module.add_function(wrap_pyfunction!(expand_dims, module)?)?;
    module.add_function(wrap_pyfunction!(squeeze, module)?)?;
    module.add_function(wrap_pyfunction!(flip, module)?)?;
    module.add_function(wrap_pyfunction!(broadcast_to, module)?)?;
    module.add_function(wrap_pyfunction!(broadcast_arrays, module)?)?;
    module.add_function(wrap_pyfunction!(broadcast_shapes, module)?)?;
    module.add_function(wrap_pyfunction!(roll, module)?)?;
    module.add_function(wrap_pyfunction!(concat, module)?)?;
    module.add_function(wrap_pyfunction!(stack, module)?)?;
    module.add_function(wrap_pyfunction!(unstack, module)?)?;
    module.add_function(wrap_pyfunction!(tile, module)?)?;
    module.add_function(wrap_pyfunction!(repeat, module)?)
}
