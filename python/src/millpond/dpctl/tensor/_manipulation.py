"""Functions that see the elements of arrays in another shape or order, or join arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from millpond import tensor as xp
from millpond.dpctl.tensor._array import array_of, computed, usm_ndarray, wrapped
from millpond.dpctl.tensor._elementwise import common_queue
from millpond.dpctl.utils import ExecutionPlacementError
from millpond.tensor import Array

_Axes = int | Sequence[int]


def _several(arrays: Any) -> list[Array]:
    if not isinstance(arrays, (list, tuple)):
        raise TypeError(f"expected a list or a tuple of arrays, not {type(arrays).__name__}")
    found = [array_of(array) for array in arrays]
    if not found:
        raise TypeError("expected one array or more, got none")
    try:
        common_queue(found)
    except ExecutionPlacementError as error:
        # Joining is where dpctl has another class for it.
        raise ValueError(str(error)) from error
    return found


def reshape(X: usm_ndarray, /, shape: _Axes, *, order: str = "C", copy: bool | None = None) -> usm_ndarray:
    """See the elements in another shape; a copy where that takes one."""
    array = array_of(X)
    if order not in ("C", "F", "c", "f"):
        raise ValueError(f"reshape: order is 'C' or 'F', not {order!r}")
    if copy not in (None, True, False):
        raise ValueError(f"reshape: copy is None, True or False, not {copy!r}")
    result = xp.reshape(array, shape, order=order.upper(), copy=copy)  # type: ignore[arg-type]
    return X if result.shape == array.shape and not copy else wrapped(result)


def permute_dims(X: usm_ndarray, /, axes: _Axes) -> usm_ndarray:
    """See the axes in another order."""
    return computed(xp.permute_dims, array_of(X), axes)


def moveaxis(X: usm_ndarray, source: _Axes, destination: _Axes, /) -> usm_ndarray:
    """See some axes in other places."""
    return computed(xp.moveaxis, array_of(X), source, destination)


def swapaxes(X: usm_ndarray, axis1: int, axis2: int) -> usm_ndarray:
    """See two axes exchanged."""
    return computed(xp.swapaxes, array_of(X), axis1, axis2)


def expand_dims(X: usm_ndarray, /, *, axis: _Axes = 0) -> usm_ndarray:
    """See the elements with further axes of one element."""
    return computed(xp.expand_dims, array_of(X), axis=axis)


def squeeze(X: usm_ndarray, /, axis: _Axes | None = None) -> usm_ndarray:
    """See the elements without axes of one element."""
    array = array_of(X)
    if array.ndim == 0:
        # As NumPy, which lets an array without axes have the first one.
        axes = () if axis is None else axis if isinstance(axis, tuple) else (axis,)
        if not all(one in (0, -1) for one in axes):
            raise np.exceptions.AxisError(f"axis {axis} is out of bounds for an array of 0 dimensions")
        if len(axes) > 1:
            raise ValueError(f"squeeze: axes {axes} name an axis twice")
        return X
    result = computed(xp.squeeze, array, axis=axis)
    return X if result.shape == X.shape else result


def flip(X: usm_ndarray, /, *, axis: _Axes | None = None) -> usm_ndarray:
    """See axes backwards."""
    return computed(xp.flip, array_of(X), axis=axis)


def broadcast_to(X: usm_ndarray, /, shape: _Axes) -> usm_ndarray:
    """See the elements again and again, in another shape."""
    return computed(xp.broadcast_to, array_of(X), shape)


def broadcast_arrays(*args: usm_ndarray) -> tuple[usm_ndarray, ...]:
    """See arrays in the shape that they have in common."""
    arrays = [array_of(array) for array in args]
    if not arrays:
        raise ValueError("broadcast_arrays: expected one array or more, got none")
    common_queue(arrays)
    return tuple(wrapped(array) for array in xp.broadcast_arrays(*arrays))


def roll(x: usm_ndarray, /, shift: _Axes, *, axis: _Axes | None = None) -> usm_ndarray:
    """Move elements along axes, those at the end to the begin."""
    array = array_of(x)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,)
    if any(isinstance(one, (tuple, list)) for one in shifts):
        raise ValueError(f"roll: shift is an integer, or one for each axis, not {shift!r}")
    # Steps all around change nothing, however many more there are than the machine counts.
    around = math.prod(array.shape) or 1
    shifts = tuple(operator.index(one) % around for one in shifts)
    return computed(xp.roll, array, shifts if isinstance(shift, (tuple, list)) else shifts[0], axis=axis)


def concat(arrays: Sequence[usm_ndarray], /, *, axis: int | None = 0) -> usm_ndarray:
    """Join arrays along an axis that they have."""
    return computed(xp.concat, _several(arrays), axis=axis)


def stack(arrays: Sequence[usm_ndarray], /, *, axis: int = 0) -> usm_ndarray:
    """Join arrays along a new axis."""
    return computed(xp.stack, _several(arrays), axis=axis)


def unstack(X: usm_ndarray, /, *, axis: int = 0) -> tuple[usm_ndarray, ...]:
    """See an array as those that lie along an axis."""
    return tuple(wrapped(part) for part in xp.unstack(array_of(X), axis=axis))


def tile(x: usm_ndarray, repetitions: _Axes, /) -> usm_ndarray:
    """Lay an array side by side with itself."""
    return computed(xp.tile, array_of(x), repetitions)


def repeat(x: usm_ndarray, repeats: Any, /, *, axis: int | None = None) -> usm_ndarray:
    """Repeat each element."""
    counts = repeats
    if isinstance(repeats, usm_ndarray):
        counts = repeats._array
        common_queue([array_of(x), counts])
    return computed(xp.repeat, array_of(x), counts, axis=axis)
