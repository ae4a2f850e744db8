"""Products of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from millpond import tensor as xp
from millpond.dpctl.tensor import _dtypes
from millpond.dpctl.tensor._array import array_of, computed, usm_ndarray, wrapped
from millpond.dpctl.tensor._elementwise import common_queue
from millpond.tensor import Array


def _pair(x1: Any, x2: Any) -> tuple[Array, Array]:
    pair = array_of(x1), array_of(x2)
    common_queue(pair)
    return pair


def matrix_transpose(x: usm_ndarray) -> usm_ndarray:
    """Return a view with the last two axes exchanged."""
    return wrapped(xp.matrix_transpose(array_of(x)))


def matmul(
    x1: usm_ndarray, x2: usm_ndarray, out: usm_ndarray | None = None, dtype: Any = None, order: str = "K"
) -> usm_ndarray:
    """Multiply matrices; axes before the last two count them and are broadcast."""
    first, second = _pair(x1, x2)
    order = order if order in ("C", "F", "A") else "K"
    if order in "KA" and all(array.flags.f_contiguous and not array.flags.c_contiguous for array in (first, second)):
        order = "F"
    wanted = xp.result_type(first, second) if dtype is None else _dtypes.ours(dtype)
    if not all(xp.can_cast(array.dtype, wanted, casting="same_kind") for array in (first, second)):
        raise ValueError(f"matmul: arrays of {first.dtype} and {second.dtype} aren't multiplied as {wanted}")
    if out is None:
        return wrapped(xp.matmul(first, second, dtype=wanted, order=order))  # type: ignore[arg-type]
    target = array_of(out)
    if not target.flags.writable:
        raise ValueError("matmul: the output is read-only")
    common_queue((first, target))
    if target.dtype != wanted:
        raise ValueError(f"matmul: the output is of {target.dtype}, the result of {wanted}")
    xp.matmul(first, second, out=target, dtype=wanted, order=order)  # type: ignore[arg-type]
    return out


def tensordot(x1: usm_ndarray, x2: usm_ndarray, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> usm_ndarray:
    """Multiply arrays and add up the products along axes of both."""
    if not isinstance(axes, int) and len(axes) != 2:
        raise ValueError(f"tensordot: axes are a number, or two sequences of axes, not {axes!r}")
    return computed(xp.tensordot, *_pair(x1, x2), axes=axes)


def vecdot(x1: usm_ndarray, x2: usm_ndarray, axis: int = -1) -> usm_ndarray:
    """Multiply arrays, the first conjugated, and add up the products along an axis."""
    return computed(xp.vecdot, *_pair(x1, x2), axis=axis)
