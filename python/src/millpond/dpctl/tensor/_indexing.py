"""Functions that pick elements by their places, or by conditions.

With ``mode="wrap"``, the default of dpctl, indices below ``-n`` count as ``-n`` and those above ``n - 1`` as that, for
an axis of `n` elements; negative ones count from its end.
"""

from __future__ import annotations

from typing import Any

from millpond import tensor as xp
from millpond.dpctl.tensor._array import array_of, as_axis_error, computed, operand, usm_ndarray, wrapped
from millpond.dpctl.tensor._elementwise import common_queue, operands_of
from millpond.tensor import Array


def _indices(x: Array, indices: Any, axis: int | None, mode: str) -> tuple[Array, str]:
    """Return indices that lie on their axis, and a mode that leaves them."""
    if mode not in ("clip", "wrap"):
        raise ValueError(f"mode is 'wrap' or 'clip', not {mode!r}")
    places = array_of(indices)
    common_queue((x, places))
    if not xp.isdtype(places.dtype, "integral"):
        raise IndexError(f"indices are integers, not numbers of {places.dtype}")
    if mode == "clip":
        return places, mode
    n = x.size if axis is None else x.shape[axis] if -x.ndim <= axis < x.ndim else 0
    return (xp.clip(places, -n, n - 1) if n else places), "wrap"


def _check_axis(x: Array, axis: int | None, what: str) -> None:
    if axis is None and x.ndim > 1:
        raise ValueError(f"{what}: an array of {x.ndim} axes needs axis=")


def take(
    x: usm_ndarray,
    indices: usm_ndarray,
    /,
    *,
    axis: int | None = None,
    out: usm_ndarray | None = None,
    mode: str = "wrap",
) -> usm_ndarray:
    """Return elements by their places along an axis."""
    array = array_of(x)
    _check_axis(array, axis, "take")
    places, mode = _indices(array, indices, axis, mode)
    if out is None:
        return computed(xp.take, array, places, axis=axis, mode=mode)
    target = array_of(out)
    common_queue((array, target))
    if target.dtype != array.dtype:
        raise ValueError(f"take: the output is of {target.dtype}, the result of {array.dtype}")
    if not target.flags.writable:
        raise ValueError("take: the output is read-only")
    xp.take(array, places, axis=axis, out=target, mode=mode)  # type: ignore[arg-type]
    return out


def take_along_axis(x: usm_ndarray, indices: usm_ndarray, /, *, axis: int = -1, mode: str = "wrap") -> usm_ndarray:
    """Return elements by places of their own along an axis."""
    array = array_of(x)
    places, mode = _indices(array, indices, axis, mode)
    return computed(xp.take_along_axis, array, places, axis=axis, mode=mode)


def put(x: usm_ndarray, indices: usm_ndarray, vals: Any, /, *, axis: int | None = None, mode: str = "wrap") -> None:
    """Write elements by their places along an axis. Of several for one place the last stays."""
    array = array_of(x)
    _check_axis(array, axis, "put")
    places, mode = _indices(array, indices, axis, mode)
    xp.put(array, places, _values(vals, x), axis=axis, mode=mode)  # type: ignore[arg-type]


def put_along_axis(x: usm_ndarray, indices: usm_ndarray, vals: Any, /, *, axis: int = -1, mode: str = "wrap") -> None:
    """Write elements by places of their own along an axis."""
    array = array_of(x)
    places, mode = _indices(array, indices, axis, mode)
    try:
        xp.put_along_axis(array, places, _values(vals, x), axis=axis, mode=mode)  # type: ignore[arg-type]
    except IndexError as error:
        raise as_axis_error(error) from None


def _values(vals: Any, x: usm_ndarray) -> Any:
    if isinstance(vals, usm_ndarray):
        common_queue((x._array, vals._array))
    return operand(vals, x)


def extract(condition: usm_ndarray, arr: usm_ndarray) -> usm_ndarray:
    """Return the elements where a condition holds."""
    mask, array = array_of(condition), array_of(arr)
    common_queue((mask, array))
    if mask.shape != array.shape:
        raise ValueError(f"extract: the condition has shape {mask.shape}, the array {array.shape}")
    return wrapped(xp.extract(mask, array))


def place(arr: usm_ndarray, mask: usm_ndarray, vals: usm_ndarray) -> None:
    """Write values, again and again, to where a condition holds."""
    arrays = array_of(arr), array_of(mask), array_of(vals)
    common_queue(arrays)
    xp.place(*arrays)


def nonzero(arr: usm_ndarray) -> tuple[usm_ndarray, ...]:
    """Return the places of elements that aren't zero, an array for each axis."""
    array = array_of(arr)
    if array.ndim == 0:
        raise ValueError("nonzero: an array without axes has no places")
    return tuple(wrapped(places) for places in xp.nonzero(array))


def where(
    condition: usm_ndarray, x1: Any, x2: Any, /, *, order: str = "K", out: usm_ndarray | None = None
) -> usm_ndarray:
    """Choose between elements of two arrays by a condition."""
    mask = array_of(condition)
    operands = operands_of(condition, x1, x2)
    order = order if order in ("C", "F", "A") else "K"
    if mask.dtype != xp.bool:
        operands[0] = xp.astype(mask, xp.bool)
    if not any(isinstance(value, Array) for value in operands[1:]):
        operands[1] = xp.asarray(x1, queue=mask.queue, usm_type=mask.usm_type)
    if out is None:
        return wrapped(xp.where(*operands, order=order))  # type: ignore[arg-type]
    target = array_of(out)
    if not target.flags.writable:
        raise ValueError("where: the output is read-only")
    common_queue((mask, target))
    dtype = xp.result_type(*operands[1:])
    if target.dtype != dtype:
        raise ValueError(f"where: the output is of {target.dtype}, the result of {dtype}")
    xp.where(*operands, order=order, out=target)  # type: ignore[arg-type]
    return out
