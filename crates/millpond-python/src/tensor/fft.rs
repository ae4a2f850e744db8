//! Fourier transforms: the module that `millpond.tensor.fft` re-exports.

use millpond::tensor::fft as transforms;
use millpond::tensor::fft::{Along, Norm};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::integer;
use crate::tensor::array::{ArrayLike, PyArray};
use crate::tensor::dtype::DTypeLike;
use crate::tensor::enter;
use crate::tensor::extent::Integers;
use crate::tensor::operators::Answer;
use crate::tensor::place::{DeviceLike, Where};

/// A function for each transform along one axis: what they take is written once.
macro_rules! single_axis {
    ($($(#[doc = $about:literal])* $name:ident: $($example:literal),+;)*) => { $(
        $(#[doc = $about])*
        ///
        /// Parameters
        /// ----------
        /// x : Array
        ///     The array.
        /// n : int, optional
        ///     Number of points: the axis is padded with zeros, or cut.
        /// axis : int, optional
        ///     The axis.
        /// norm : {'backward', 'ortho', 'forward'}, optional
        ///     Which direction divides by the number of points: the inverse, both by the square
        ///     root, or the forward one.
        ///
        /// Returns
        /// -------
        /// Array
        ///     The points along the axis, complex or real.
        ///
        /// Raises
        /// ------
        /// TypeError
        ///     For what is no array, and for complex numbers where real ones are transformed.
        /// ValueError
        ///     For fewer points than one, and for an unknown norm.
        /// IndexError
        ///     For an axis that `x` doesn't have.
        ///
        /// Notes
        /// -----
        /// Array API standard, extension fft.
        ///
        /// Examples
        /// --------
        /// >>> import millpond.tensor as xp
        $(#[doc = $example])+
        #[pyfunction]
        #[pyo3(
            signature = (x, /, *, n=None, axis=-1, norm="backward"),
            text_signature = "(x, /, *, n=None, axis=-1, norm='backward')"
        )]
        fn $name<'py>(
            py: Python<'py>,
            x: ArrayLike<'py>,
            #[pyo3(from_py_with = integer::integer_or_none)] n: Option<isize>,
            #[pyo3(from_py_with = integer::integer)] axis: isize,
            norm: &str,
        ) -> Answer<'py> {
            enter(py);
            PyArray::of(py, transforms::$name(x.tensor(), n, axis, mode(norm)?))
        }
    )* };
}

/// The same for transforms along several.
macro_rules! several_axes {
    ($($(#[doc = $about:literal])* $name:ident: $($example:literal),+;)*) => { $(
        $(#[doc = $about])*
        ///
        /// Parameters
        /// ----------
        /// x : Array
        ///     The array.
        /// s : tuple of int, optional
        ///     Numbers of points along the axes, which are padded with zeros, or cut; -1 leaves an
        ///     axis as it is.
        /// axes : tuple of int, optional
        ///     The axes; the last ones, as many as `s` has, or all of them.
        /// norm : {'backward', 'ortho', 'forward'}, optional
        ///     Which direction divides by the number of points: the inverse, both by the square
        ///     root, or the forward one.
        ///
        /// Returns
        /// -------
        /// Array
        ///     The points along the axes, complex or real.
        ///
        /// Raises
        /// ------
        /// TypeError
        ///     For what is no array, and for complex numbers where real ones are transformed.
        /// ValueError
        ///     For fewer points than one, for axes that are named twice, for other numbers of them than of
        ///     lengths, and for an unknown norm.
        /// IndexError
        ///     For an axis that `x` doesn't have.
        ///
        /// Notes
        /// -----
        /// Array API standard, extension fft.
        ///
        /// Examples
        /// --------
        /// >>> import millpond.tensor as xp
        $(#[doc = $example])+
        #[pyfunction]
        #[pyo3(signature = (x, /, *, s=None, axes=None, norm="backward"))]
        fn $name<'py>(
            py: Python<'py>,
            x: ArrayLike<'py>,
            s: Option<Integers>,
            axes: Option<Integers>,
            norm: &str,
        ) -> Answer<'py> {
            enter(py);
            let how = Along {
                lengths: Integers::given(s.as_ref()),
                axes: Integers::given(axes.as_ref()),
            };
            PyArray::of(py, transforms::$name(x.tensor(), how, mode(norm)?))
        }
    )* };
}

single_axis! {
    /// Transforms along an axis by Fourier's transform.
    ///
    /// Any length takes time in proportion to ``n log n``. ``float32`` becomes ``complex64``.
    fft:
        " >>> xp.fft.fft(xp.asarray([1., 0., 0., 0.]))",
        " Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])";
    /// Transforms along an axis by the inverse of Fourier's transform.
    ifft:
        " >>> xp.fft.ifft(xp.asarray([4., 0., 0., 0.]))",
        " Array([1.+0.j, 1.+0.j, 1.+0.j, 1.+0.j])";
    /// Transforms real numbers along an axis into the first half of their spectrum.
    ///
    /// The result has ``n // 2 + 1`` points; the others mirror them.
    rfft:
        " >>> xp.real(xp.fft.rfft(xp.asarray([1., 1., 1., 1.])))",
        " Array([4., 0., 0.])";
    /// Transforms the first half of a spectrum along an axis into the real numbers that have it.
    ///
    /// The result has `n` points, by default an even number, ``2 * (m - 1)`` for `m` given ones.
    irfft:
        " >>> xp.fft.irfft(xp.asarray([4. + 0j, 0., 0.]))",
        " Array([1., 1., 1., 1.])";
    /// Transforms along an axis the first half of a signal that mirrors itself into its real
    /// spectrum.
    hfft:
        " >>> xp.fft.hfft(xp.asarray([1. + 0j, 0., 0.]))",
        " Array([1., 1., 1., 1.])";
    /// Transforms a real spectrum along an axis into the first half of its signal, which mirrors
    /// itself.
    ihfft:
        " >>> xp.real(xp.fft.ihfft(xp.asarray([4., 4., 4., 4.])))",
        " Array([4., 0., 0.])";
}

several_axes! {
    /// Transforms along axes by Fourier's transform.
    fftn:
        " >>> xp.fft.fftn(xp.ones((2, 2)))",
        " Array([[4.+0.j, 0.+0.j],",
        "        [0.+0.j, 0.+0.j]])";
    /// Transforms along axes by the inverse of Fourier's transform.
    ifftn:
        " >>> xp.fft.ifftn(xp.ones((2, 2)))",
        " Array([[1.+0.j, 0.+0.j],",
        "        [0.+0.j, 0.+0.j]])";
    /// Transforms real numbers along axes, the last of them into the first half of the spectrum.
    rfftn:
        " >>> xp.fft.rfftn(xp.ones((2, 2)))",
        " Array([[4.+0.j, 0.+0.j],",
        "        [0.+0.j, 0.+0.j]])";
    /// Transforms along axes the spectrum of real numbers, of the last axis the first half, into
    /// those.
    irfftn:
        " >>> xp.fft.irfftn(xp.fft.rfftn(xp.ones((2, 2))))",
        " Array([[1., 1.],",
        "        [1., 1.]])";
}

/// The mode of a name.
fn mode(name: &str) -> PyResult<Norm> {
    Norm::named(name).ok_or_else(|| {
        PyValueError::new_err(format!(
            "norm: expected 'backward', 'ortho' or 'forward', got '{name}'"
        ))
    })
}

macro_rules! frequencies {
    ($($(#[doc = $about:literal])* $name:ident: $($example:literal),+;)*) => { $(
        $(#[doc = $about])*
        ///
        /// Parameters
        /// ----------
        /// n : int
        ///     Number of points.
        /// d : float, optional
        ///     What lies between two points of the signal.
        /// dtype : dtype, optional
        ///     A real floating-point one; the default is the device's.
        /// device : Device, Queue or str, optional
        ///     Where the array goes; the default device, if nothing is said.
        ///
        /// Returns
        /// -------
        /// Array
        ///     The frequencies, in one axis.
        ///
        /// Raises
        /// ------
        /// TypeError
        ///     For a dtype that isn't a real floating-point one.
        /// ValueError
        ///     For fewer points than one.
        ///
        /// Notes
        /// -----
        /// Array API standard, extension fft.
        ///
        /// Examples
        /// --------
        /// >>> import millpond.tensor as xp
        $(#[doc = $example])+
        #[pyfunction]
        #[pyo3(signature = (n, /, *, d=1.0, dtype=None, device=None))]
        fn $name(
            py: Python<'_>,
            #[pyo3(from_py_with = integer::integer)] n: isize,
            d: f64,
            dtype: Option<DTypeLike>,
            device: Option<DeviceLike>,
        ) -> Answer<'_> {
            enter(py);
            let place = Where::new(device, None, None).place()?;
            PyArray::of(py, transforms::$name(n, d, dtype.map(|dtype| dtype.0), &place))
        }
    )* };
}

frequencies! {
    /// Returns the frequencies that the points of `fft` stand for.
    fftfreq:
        " >>> xp.fft.fftfreq(4)",
        " Array([ 0.  ,  0.25, -0.5 , -0.25])";
    /// Returns the frequencies that the points of `rfft` stand for.
    rfftfreq:
        " >>> xp.fft.rfftfreq(4)",
        " Array([0.  , 0.25, 0.5 ])";
}

macro_rules! shifts {
    ($($(#[doc = $about:literal])* $name:ident: $($example:literal),+;)*) => { $(
        $(#[doc = $about])*
        ///
        /// Parameters
        /// ----------
        /// x : Array
        ///     The array.
        /// axes : int or tuple of int, optional
        ///     The axes; all of them, if nothing is said.
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
        /// IndexError
        ///     For an axis that `x` doesn't have.
        ///
        /// Notes
        /// -----
        /// Array API standard, extension fft.
        ///
        /// Examples
        /// --------
        /// >>> import millpond.tensor as xp
        $(#[doc = $example])+
        #[pyfunction]
        #[pyo3(signature = (x, /, *, axes=None))]
        fn $name<'py>(py: Python<'py>, x: ArrayLike<'py>, axes: Option<Integers>) -> Answer<'py> {
            enter(py);
            PyArray::of(py, transforms::$name(x.tensor(), Integers::given(axes.as_ref())))
        }
    )* };
}

shifts! {
    /// Moves the frequency zero from the beginning to the middle.
    fftshift:
        " >>> xp.fft.fftshift(xp.asarray([0, 1, -2, -1]))",
        " Array([-2, -1,  0,  1])";
    /// Moves the frequency zero from the middle to the beginning.
    ifftshift:
        " >>> xp.fft.ifftshift(xp.asarray([-2, -1, 0, 1]))",
        " Array([ 0,  1, -2, -1])";
}

/// The module.
pub(super) fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    let module = PyModule::new(py, "millpond.tensor.fft")?;
    macro_rules! add {
        ($($name:ident)*) => { $( module.add_function(wrap_pyfunction!(self::$name, &module)?)?; )* };
    }
    add!(fft ifft fftn ifftn rfft irfft rfftn irfftn hfft ihfft);
    add!(fftfreq rfftfreq fftshift ifftshift);
    Ok(module)
}
