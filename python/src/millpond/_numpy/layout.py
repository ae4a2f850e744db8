"""NumPy's functions that look at elements in another shape or order, by those of `millpond.tensor`.

Each takes what NumPy's takes. `NotImplemented` says that NumPy has to compute it.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

from millpond import tensor as xp
from millpond.tensor import Array


def _reshape(a: Array, /, shape: Any, order: Any = "C", *, copy: bool | None = None) -> Any:
    return xp.reshape(a, shape, order=order, copy=copy) if order in ("C", "F") else NotImplemented


def _ravel(a: Array, order: Any = "C") -> Any:
    return xp.reshape(a, (-1,), order=order) if order in ("C", "F") else NotImplemented


def _transpose(a: Array, axes: Any = None) -> Array:
    return xp.permute_dims(a, tuple(range(a.ndim))[::-1] if axes is None else axes)


def _squeeze(a: Array, axis: Any = None) -> Array:
    return xp.squeeze(a, axis=tuple(i for i, size in enumerate(a.shape) if size == 1) if axis is None else axis)


def _concatenate(arrays: Any, /, axis: int | None = 0, out: Any = None, **keywords: Any) -> Any:
    if out is not None or keywords or not _are_ours(arrays):
        return NotImplemented
    return xp.concat(list(arrays), axis=axis)


def _stack(arrays: Any, axis: int = 0, out: Any = None, **keywords: Any) -> Any:
    if out is not None or keywords or not _are_ours(arrays):
        return NotImplemented
    return xp.stack(list(arrays), axis=axis)


def _are_ours(arrays: Any) -> bool:
    return isinstance(arrays, (list, tuple)) and all(isinstance(array, Array) for array in arrays)


def _broadcast_to(array: Array, shape: Any, subok: bool = False) -> Array:
    return xp.broadcast_to(array, (shape,) if isinstance(shape, int) else tuple(shape))


def _broadcast_arrays(*arrays: Any, subok: bool = False) -> Any:
    return xp.broadcast_arrays(*arrays) if _are_ours(arrays) else NotImplemented


def _diagonal(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    return xp.linalg.diagonal(xp.moveaxis(a, (axis1, axis2), (-2, -1)), offset=offset)


def _trace(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> Any:
    return NotImplemented if out is not None else xp.sum(_diagonal(a, offset, axis1, axis2), axis=-1, dtype=dtype)


def _size(a: Array, axis: Any = None) -> int:
    if axis is None:
        return a.size
    return math.prod(a.shape[operator.index(one)] for one in (axis if isinstance(axis, tuple) else (axis,)))


def _like(function: Any, shaped: Any) -> Any:
    """A function that makes an array like another, of another shape if it is told so."""

    def like(
        a: Array,
        *value: Any,
        dtype: Any = None,
        order: Any = "K",
        subok: bool = True,
        shape: Any = None,
        device: Any = None,
    ) -> Any:
        values = 1 if function is xp.full_like else 0
        if device is not None or len(value) > values + 1:
            return NotImplemented
        if len(value) > values:
            value, dtype = value[:values], value[values]
        if shape is None:
            return function(a, *value, dtype=dtype, order=order)
        dtype = a.dtype if dtype is None else dtype
        return shaped(shape, *value, dtype=dtype, queue=a.queue, usm_type=a.usm_type)

    return like


def _copy(a: Array, order: Any = "K", subok: bool = False) -> Array:
    return xp.copy(a, order=order)


ANSWERS: dict[str, Callable[..., Any]] = {
    "broadcast_arrays": _broadcast_arrays,
    "broadcast_to": _broadcast_to,
    "concatenate": _concatenate,
    "copy": _copy,
    "diagonal": _diagonal,
    "empty_like": _like(xp.empty_like, xp.empty),
    "expand_dims": xp.expand_dims,
    "flip": lambda m, axis=None: xp.flip(m, axis=axis),
    "full_like": _like(xp.full_like, xp.full),
    "moveaxis": lambda a, source, destination: xp.moveaxis(a, source, destination),
    "ndim": lambda a: a.ndim,
    "ones_like": _like(xp.ones_like, xp.ones),
    "ravel": _ravel,
    "repeat": lambda a, repeats, axis=None: xp.repeat(a, repeats, axis=axis),
    "reshape": _reshape,
    "roll": lambda a, shift, axis=None: xp.roll(a, shift, axis=axis),
    "shape": lambda a: a.shape,
    "size": _size,
    "squeeze": _squeeze,
    "stack": _stack,
    "swapaxes": lambda a, axis1, axis2: xp.swapaxes(a, axis1, axis2),
    "tile": lambda array, reps: xp.tile(array, (reps,) if isinstance(reps, int) else tuple(reps)),
    "trace": _trace,
    "transpose": _transpose,
    "tril": lambda m, k=0: xp.tril(m, k=k),
    "triu": lambda m, k=0: xp.triu(m, k=k),
    "zeros_like": _like(xp.zeros_like, xp.zeros),
}
