"""Functions that make one number of many: reductions, statistics, and sums along the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from millpond import tensor as xp
from millpond.dpctl.tensor import _dtypes
from millpond.dpctl.tensor._array import array_of, as_axis_error, computed, usm_ndarray, wrapped
from millpond.dpctl.tensor._casts import without_imaginary
from millpond.dpctl.tensor._elementwise import common_queue

_Axes = int | Sequence[int] | None


def _reduced(function: Callable[..., Any], x: Any, out: Any, **keywords: Any) -> usm_ndarray:
    """Compute a result, into `out` if there is one, whose dtype must be the result's."""
    array = array_of(x)
    if out is None:
        return computed(function, array, **keywords)
    target = array_of(out)
    if not target.flags.writable:
        raise ValueError(f"{function.__name__}: the output is read-only")
    dtype = function(xp.empty((1,) * array.ndim, dtype=array.dtype, queue=array.queue), **keywords).dtype
    if target.dtype != dtype:
        raise ValueError(f"{function.__name__}: the output is of {target.dtype}, the result of {dtype}")
    common_queue((array, target))
    computed(function, array, out=target, **keywords)
    return out  # type: ignore[no-any-return]


def _of_floats(function: Callable[..., Any], x: Any, out: Any, dtype: Any, **keywords: Any) -> usm_ndarray:
    """Compute a result of floating-point numbers, which integers become before, and others of `dtype` after."""
    array, wanted = array_of(x), _dtypes.ours(dtype)
    if xp.isdtype(array.dtype, "complex floating"):
        raise ValueError(f"{function.__name__} isn't computed of {array.dtype}")
    if xp.isdtype(array.dtype, ("bool", "integral")):
        default = xp.float64 if array.device.has_float64 else xp.float32
        array = xp.astype(array, wanted if wanted is not None and xp.isdtype(wanted, "real floating") else default)
    if wanted is None or xp.isdtype(wanted, "real floating"):
        return _reduced(function, wrapped(array), out, dtype=wanted, **keywords)
    try:
        result = xp.astype(function(array, **keywords), wanted)
    except IndexError as error:
        raise as_axis_error(error) from None
    if out is None:
        return wrapped(result)
    out[...] = wrapped(result)
    return out  # type: ignore[no-any-return]


def _accumulated(function: Callable[..., Any], x: Any, out: Any, dtype: Any, **keywords: Any) -> usm_ndarray:
    """Compute sums or products along the way of what elements are as elements of `dtype`."""
    array, wanted = array_of(x), _dtypes.ours(dtype)
    if wanted is not None and not xp.can_cast(array.dtype, wanted, casting="same_kind"):
        array = xp.astype(without_imaginary(array, wanted), wanted)
    return _reduced(function, wrapped(array), out, dtype=wanted, **keywords)


def sum(
    x: usm_ndarray,
    /,
    *,
    axis: _Axes = None,
    dtype: Any = None,
    keepdims: bool = False,
    out: usm_ndarray | None = None,
) -> usm_ndarray:
    """Add up elements."""
    return _reduced(xp.sum, x, out, axis=axis, dtype=_dtypes.ours(dtype), keepdims=keepdims)


def prod(
    x: usm_ndarray,
    /,
    *,
    axis: _Axes = None,
    dtype: Any = None,
    keepdims: bool = False,
    out: usm_ndarray | None = None,
) -> usm_ndarray:
    """Multiply elements."""
    return _reduced(xp.prod, x, out, axis=axis, dtype=_dtypes.ours(dtype), keepdims=keepdims)


def logsumexp(
    x: usm_ndarray,
    /,
    *,
    axis: _Axes = None,
    dtype: Any = None,
    keepdims: bool = False,
    out: usm_ndarray | None = None,
) -> usm_ndarray:
    """Return the logarithm of the sum of exponentials."""
    return _of_floats(xp.logsumexp, x, out, dtype, axis=axis, keepdims=keepdims)


def reduce_hypot(
    x: usm_ndarray,
    /,
    *,
    axis: _Axes = None,
    dtype: Any = None,
    keepdims: bool = False,
    out: usm_ndarray | None = None,
) -> usm_ndarray:
    """Return the root of the sum of squares."""
    return _of_floats(xp.reduce_hypot, x, out, dtype, axis=axis, keepdims=keepdims)


def max(
    x: usm_ndarray, /, *, axis: _Axes = None, keepdims: bool = False, out: usm_ndarray | None = None
) -> usm_ndarray:
    """Return the largest element."""
    return _reduced(xp.max, x, out, axis=axis, keepdims=keepdims)


def min(
    x: usm_ndarray, /, *, axis: _Axes = None, keepdims: bool = False, out: usm_ndarray | None = None
) -> usm_ndarray:
    """Return the smallest element."""
    return _reduced(xp.min, x, out, axis=axis, keepdims=keepdims)


def argmax(
    x: usm_ndarray, /, *, axis: int | None = None, keepdims: bool = False, out: usm_ndarray | None = None
) -> usm_ndarray:
    """Return the place of the largest element."""
    return _reduced(xp.argmax, x, out, axis=axis, keepdims=keepdims)


def argmin(
    x: usm_ndarray, /, *, axis: int | None = None, keepdims: bool = False, out: usm_ndarray | None = None
) -> usm_ndarray:
    """Return the place of the smallest element."""
    return _reduced(xp.argmin, x, out, axis=axis, keepdims=keepdims)


def count_nonzero(
    x: usm_ndarray, /, *, axis: _Axes = None, keepdims: bool = False, out: usm_ndarray | None = None
) -> usm_ndarray:
    """Return how many elements aren't zero."""
    return _reduced(xp.count_nonzero, x, out, axis=axis, keepdims=keepdims)


def all(x: usm_ndarray, /, *, axis: _Axes = None, keepdims: bool = False) -> usm_ndarray:
    """Say whether no element is zero."""
    return _reduced(xp.all, x, None, axis=axis, keepdims=keepdims)


def any(x: usm_ndarray, /, *, axis: _Axes = None, keepdims: bool = False) -> usm_ndarray:
    """Say whether an element isn't zero."""
    return _reduced(xp.any, x, None, axis=axis, keepdims=keepdims)


def mean(x: usm_ndarray, axis: _Axes = None, keepdims: bool = False) -> usm_ndarray:
    """Return the mean of elements."""
    return _reduced(xp.mean, x, None, axis=axis, keepdims=keepdims)


def var(x: usm_ndarray, axis: _Axes = None, correction: float = 0.0, keepdims: bool = False) -> usm_ndarray:
    """Return the variance of elements."""
    return _spread(xp.var, x, axis, correction, keepdims)


def std(x: usm_ndarray, axis: _Axes = None, correction: float = 0.0, keepdims: bool = False) -> usm_ndarray:
    """Return the standard deviation of elements."""
    return _spread(xp.std, x, axis, correction, keepdims)


def _spread(function: Any, x: usm_ndarray, axis: _Axes, correction: Any, keepdims: bool) -> usm_ndarray:
    if not isinstance(correction, (int, float)):
        raise TypeError(f"correction is a number, not {type(correction).__name__}")
    dtype = array_of(x).dtype
    if xp.isdtype(dtype, "complex floating"):
        raise ValueError(f"{function.__name__} isn't computed of {dtype}")
    result = _reduced(function, x, None, axis=axis, correction=correction, keepdims=keepdims)
    # Of no more elements than are taken off there is no spread, where NumPy has an infinite one.
    if correction > 0 and correction * result.size >= x.size:
        result[...] = np.nan
    return result


def cumulative_sum(
    x: usm_ndarray,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: bool = False,
    out: usm_ndarray | None = None,
) -> usm_ndarray:
    """Return the sums of the elements up to each."""
    return _accumulated(xp.cumulative_sum, x, out, dtype, axis=axis, include_initial=include_initial)


def cumulative_prod(
    x: usm_ndarray,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: bool = False,
    out: usm_ndarray | None = None,
) -> usm_ndarray:
    """Return the products of the elements up to each."""
    return _accumulated(xp.cumulative_prod, x, out, dtype, axis=axis, include_initial=include_initial)


def cumulative_logsumexp(
    x: usm_ndarray,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    include_initial: bool = False,
    out: usm_ndarray | None = None,
) -> usm_ndarray:
    """Return the logarithms of the sums of exponentials up to each."""
    return _of_floats(xp.cumulative_logsumexp, x, out, dtype, axis=axis, include_initial=include_initial)
