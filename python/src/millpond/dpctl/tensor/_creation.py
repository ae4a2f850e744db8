"""Functions that make arrays. Each is that of `millpond.tensor`, on the queue that `device` or `sycl_queue` names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from millpond import tensor as xp
from millpond.dpctl._queue import SyclQueue
from millpond.dpctl.tensor import _dtypes
from millpond.dpctl.tensor._array import array_of, usm_ndarray, wrapped
from millpond.dpctl.tensor._device import placed
from millpond.dpctl.utils import validate_usm_type
from millpond.tensor import Array


def _place(device: Any, usm_type: str | None, sycl_queue: SyclQueue | None) -> dict[str, Any]:
    """Return the keywords of `millpond.tensor` that say where an array is."""
    validate_usm_type(usm_type, allow_none=True)
    return {"queue": placed(sycl_queue, device)._queue, "usm_type": usm_type}


def _order(order: Any, choices: str = "CF") -> Any:
    if not isinstance(order, str) or order.upper() not in choices or len(order) != 1:
        raise ValueError(f"order is one of {', '.join(choices)}, not {order!r}")
    return order.upper()


def empty(
    shape: Any,
    *,
    dtype: Any = None,
    order: str = "C",
    device: Any = None,
    usm_type: str = "device",
    sycl_queue: SyclQueue | None = None,
) -> usm_ndarray:
    """Make an array without elements being set."""
    return wrapped(
        xp.empty(shape, dtype=_dtypes.ours(dtype), order=_order(order), **_place(device, usm_type, sycl_queue))
    )


def zeros(
    shape: Any,
    *,
    dtype: Any = None,
    order: str = "C",
    device: Any = None,
    usm_type: str = "device",
    sycl_queue: SyclQueue | None = None,
) -> usm_ndarray:
    """Make an array of zeros."""
    return wrapped(
        xp.zeros(shape, dtype=_dtypes.ours(dtype), order=_order(order), **_place(device, usm_type, sycl_queue))
    )


def ones(
    shape: Any,
    *,
    dtype: Any = None,
    order: str = "C",
    device: Any = None,
    usm_type: str = "device",
    sycl_queue: SyclQueue | None = None,
) -> usm_ndarray:
    """Make an array of ones."""
    return wrapped(
        xp.ones(shape, dtype=_dtypes.ours(dtype), order=_order(order), **_place(device, usm_type, sycl_queue))
    )


def full(
    shape: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    order: str = "C",
    device: Any = None,
    usm_type: str | None = None,
    sycl_queue: SyclQueue | None = None,
) -> usm_ndarray:
    """Make an array of a number, or of the elements of an array that is broadcast to the shape."""
    layout = _order(order)
    if isinstance(fill_value, (usm_ndarray, np.ndarray, list, tuple)):
        from millpond.dpctl.tensor._conversion import asarray

        source = asarray(fill_value, dtype=dtype, device=device, usm_type=usm_type, sycl_queue=sycl_queue)
        return wrapped(xp.copy(xp.broadcast_to(source._array, _sizes(shape)), order=layout))
    value = fill_value.item() if isinstance(fill_value, np.generic) else fill_value
    if not isinstance(value, (bool, int, float, complex)):
        raise TypeError(f"full: the value is a number or an array, not {type(fill_value).__name__}")
    if dtype is None and isinstance(fill_value, np.generic):
        dtype = fill_value.dtype
    return wrapped(
        xp.full(
            shape, _cast(value, dtype), dtype=_dtypes.ours(dtype), order=layout, **_place(device, usm_type, sycl_queue)
        )
    )


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(shape) if isinstance(shape, (list, tuple)) else (int(shape),)


def _cast(value: Any, dtype: Any) -> Any:
    """Return a number as a number of a dtype's kind, as dpctl casts it."""
    kind = "" if dtype is None else np.dtype(dtype).kind
    if kind == "b":
        return bool(value)
    if kind in "iu" and kind:
        return int(value.real) if isinstance(value, complex) else int(value)
    if kind == "f":
        return float(value.real) if isinstance(value, complex) else float(value)
    return value


def arange(
    start: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: Any = None,
    device: Any = None,
    usm_type: str = "device",
    sycl_queue: SyclQueue | None = None,
) -> usm_ndarray:
    """Make an array of numbers from `start` to `stop`, with equal steps."""
    if stop is None:
        start, stop = 0, start
    start, stop, step = (_number(value) for value in (start, stop, 1 if step is None else step))
    place = _place(device, usm_type, sycl_queue)
    if dtype is None:
        if not any(isinstance(value, complex) for value in (start, stop, step)):
            return wrapped(xp.arange(start, stop, step, **place))
        dtype = "complex128"
    wanted = np.dtype(dtype)
    _dtypes.ours(wanted)
    if wanted.kind == "f" and wanted.itemsize >= 4:
        return wrapped(xp.arange(start, stop, step, dtype=_dtypes.ours(wanted), **place))
    # As in dpctl, and NumPy: the count is that of the numbers as they are given, and the first two numbers, as numbers
    # of the dtype, say what all others are.
    count = max(0, math.ceil(((stop - start) / step).real)) if step else 0
    if wanted.kind == "b" and count > 2:
        raise ValueError("arange: there are two truth values only")
    first, second = (
        _cast(start, wanted if wanted.kind != "b" else "i1"),
        _cast(start + step, wanted if wanted.kind != "b" else "i1"),
    )
    exact = xp.int64 if wanted.kind in "biu" else xp.complex128 if wanted.kind == "c" else xp.float64
    if wanted == np.uint64:
        exact = xp.uint64
    if wanted == np.uint64 and second < first:
        # Steps down, of which the dtype has none.
        return wrapped(xp.arange(first, first + count * (second - first), second - first, dtype=exact, **place))
    steps = xp.astype(xp.arange(count, **place), exact)
    return wrapped(xp.astype(steps * (second - first) + first, _dtypes.ours(wanted)))


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, (np.generic, np.ndarray)) else value


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
    sycl_queue: SyclQueue | None = None,
    usm_type: str = "device",
) -> usm_ndarray:
    """Make an array of `num` numbers from `start` to `stop` at equal distances."""
    if not isinstance(endpoint, bool):
        raise TypeError(f"linspace: endpoint is a bool, not {type(endpoint).__name__}")
    if num < 0:
        raise ValueError(f"linspace: num is 0 or more, not {num}")
    place = _place(device, usm_type, sycl_queue)
    return wrapped(
        xp.linspace(_number(start), _number(stop), num, dtype=_dtypes.ours(dtype), endpoint=endpoint, **place)
    )


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    order: str = "C",
    device: Any = None,
    usm_type: str = "device",
    sycl_queue: SyclQueue | None = None,
) -> usm_ndarray:
    """Make a matrix of zeros with ones on a diagonal."""
    place = _place(device, usm_type, sycl_queue)
    return wrapped(xp.eye(n_rows, n_cols, k=k, dtype=_dtypes.ours(dtype), order=_order(order), **place))


def _like(x: Any, dtype: Any, order: str, device: Any, usm_type: str | None, sycl_queue: Any) -> dict[str, Any]:
    """Return the keywords for an array like another."""
    array = array_of(x)
    place = _place(device, usm_type, sycl_queue)
    if device is None and sycl_queue is None:
        place["queue"] = array.queue
    return {"dtype": _dtypes.ours(dtype), "order": _order(order, "CFAK"), **place}


def empty_like(
    x: usm_ndarray,
    /,
    *,
    dtype: Any = None,
    order: str = "K",
    device: Any = None,
    usm_type: str | None = None,
    sycl_queue: SyclQueue | None = None,
) -> usm_ndarray:
    """Make an array like another, without elements being set."""
    return wrapped(xp.empty_like(array_of(x), **_like(x, dtype, order, device, usm_type, sycl_queue)))


def zeros_like(
    x: usm_ndarray,
    /,
    *,
    dtype: Any = None,
    order: str = "K",
    device: Any = None,
    usm_type: str | None = None,
    sycl_queue: SyclQueue | None = None,
) -> usm_ndarray:
    """Make an array of zeros like another."""
    return wrapped(xp.zeros_like(array_of(x), **_like(x, dtype, order, device, usm_type, sycl_queue)))


def ones_like(
    x: usm_ndarray,
    /,
    *,
    dtype: Any = None,
    order: str = "K",
    device: Any = None,
    usm_type: str | None = None,
    sycl_queue: SyclQueue | None = None,
) -> usm_ndarray:
    """Make an array of ones like another."""
    return wrapped(xp.ones_like(array_of(x), **_like(x, dtype, order, device, usm_type, sycl_queue)))


def full_like(
    x: usm_ndarray,
    /,
    fill_value: Any,
    *,
    dtype: Any = None,
    order: str = "K",
    device: Any = None,
    usm_type: str | None = None,
    sycl_queue: SyclQueue | None = None,
) -> usm_ndarray:
    """Make an array of a number, or of elements that are broadcast, like another."""
    filled = empty_like(x, dtype=dtype, order=order, device=device, usm_type=usm_type, sycl_queue=sycl_queue)
    if isinstance(fill_value, (usm_ndarray, np.ndarray, list, tuple)):
        filled[...] = fill_value
        return filled
    if not isinstance(fill_value, (bool, int, float, complex, np.generic)):
        raise TypeError(f"full_like: the value is a number or an array, not {type(fill_value).__name__}")
    filled._array[...] = _cast(_number(fill_value), filled.dtype)
    return filled


def _of_matrix(x: Any, what: str) -> Any:
    array = array_of(x)
    if array.ndim < 2:
        raise ValueError(f"{what}: an array of shape {array.shape} has no matrices")
    return array


def _triangle(function: Any, array: Array, k: int) -> usm_ndarray:
    result = function(array, k=k)
    if array.flags.f_contiguous and not array.flags.c_contiguous:
        result = xp.copy(result, order="F")
    return wrapped(result)


def tril(x: usm_ndarray, /, *, k: int = 0) -> usm_ndarray:
    """Return the lower triangles of matrices, with zeros above."""
    return _triangle(xp.tril, _of_matrix(x, "tril"), k)


def triu(x: usm_ndarray, /, *, k: int = 0) -> usm_ndarray:
    """Return the upper triangles of matrices, with zeros below."""
    return _triangle(xp.triu, _of_matrix(x, "triu"), k)


def meshgrid(*arrays: usm_ndarray, indexing: str = "xy") -> tuple[usm_ndarray, ...]:
    """Return the coordinates of a grid, an array for each axis."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}")
    natives = [array_of(array) for array in arrays]
    if any(array.ndim != 1 for array in natives):
        raise ValueError("meshgrid: the arrays have one axis each")
    if len({array.dtype for array in natives}) > 1:
        raise ValueError("meshgrid: the arrays have one dtype")
    return tuple(wrapped(array) for array in xp.meshgrid(*natives, indexing=indexing))  # type: ignore[arg-type]
