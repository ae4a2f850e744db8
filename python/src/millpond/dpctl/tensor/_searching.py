"""Functions that sort and search, sets, and the rest of the namespace's arithmetic."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from millpond import tensor as xp
from millpond.dpctl.tensor._array import array_of, computed, usm_ndarray, wrapped
from millpond.dpctl.tensor._elementwise import common_queue, operands_of
from millpond.tensor import Array


class UniqueAllResult(NamedTuple):
    """The different elements, and all about them."""

    values: usm_ndarray
    indices: usm_ndarray
    inverse_indices: usm_ndarray
    counts: usm_ndarray


class UniqueCountsResult(NamedTuple):
    """The different elements, and how often each occurs."""

    values: usm_ndarray
    counts: usm_ndarray


class UniqueInverseResult(NamedTuple):
    """The different elements, and which of them each element is."""

    values: usm_ndarray
    inverse_indices: usm_ndarray


class TopKResult(NamedTuple):
    """The first elements of an order, and their places."""

    values: usm_ndarray
    indices: usm_ndarray


def sort(
    x: usm_ndarray, /, *, axis: int = -1, descending: bool = False, stable: bool = True, kind: str | None = None
) -> usm_ndarray:
    """Return the elements in order along an axis; equal ones stay as they are, whatever `stable` and `kind` say."""
    return computed(xp.sort, array_of(x), axis=axis, descending=descending, stable=stable, kind=_kind(kind))


def argsort(
    x: usm_ndarray, axis: int = -1, descending: bool = False, stable: bool = True, kind: str | None = None
) -> usm_ndarray:
    """Return the places of the elements in order along an axis."""
    return computed(xp.argsort, array_of(x), axis=axis, descending=descending, stable=stable, kind=_kind(kind))


def _kind(kind: Any) -> Any:
    if kind not in (None, "stable", "mergesort", "radixsort"):
        raise ValueError(f"kind is 'stable', 'mergesort' or 'radixsort', not {kind!r}")
    return kind


def top_k(x: usm_ndarray, k: int, /, *, axis: int | None = None, mode: str = "largest") -> TopKResult:
    """Return the largest or smallest elements along an axis, and their places."""
    return TopKResult(*map(wrapped, xp.top_k(array_of(x), k, axis=axis, mode=mode)))  # type: ignore[arg-type]


def searchsorted(
    x1: usm_ndarray, x2: usm_ndarray, /, *, side: str = "left", sorter: usm_ndarray | None = None
) -> usm_ndarray:
    """Return where elements belong among sorted ones."""
    arrays = [array_of(x1), array_of(x2)]
    order = None if sorter is None else array_of(sorter)
    if order is not None and not xp.isdtype(order.dtype, "integral"):
        raise ValueError(f"searchsorted: the sorter holds places, not numbers of {order.dtype}")
    common_queue(arrays if order is None else [*arrays, order])
    return wrapped(xp.searchsorted(*arrays, side=side, sorter=order))  # type: ignore[arg-type]


def unique_values(x: usm_ndarray) -> usm_ndarray:
    """Return the different elements."""
    return wrapped(xp.unique_values(array_of(x)))


def unique_counts(x: usm_ndarray) -> UniqueCountsResult:
    """Return the different elements, and how often each occurs."""
    return UniqueCountsResult(*map(wrapped, xp.unique_counts(array_of(x))))


def unique_inverse(x: usm_ndarray) -> UniqueInverseResult:
    """Return the different elements, and which of them each element is."""
    return UniqueInverseResult(*map(wrapped, xp.unique_inverse(array_of(x))))


def unique_all(x: usm_ndarray) -> UniqueAllResult:
    """Return the different elements, and all about them."""
    return UniqueAllResult(*map(wrapped, xp.unique_all(array_of(x))))


def isin(x: Any, test_elements: Any, /, *, invert: bool | None = False) -> usm_ndarray:
    """Say which elements are among others."""
    if not isinstance(invert, (bool, np.bool_, type(None))):
        raise TypeError(f"isin: invert is a truth value, not {type(invert).__name__}")
    first, second = operands_of(x, test_elements)
    return wrapped(xp.isin(first, second, invert=bool(invert)))


def diff(x: usm_ndarray, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> usm_ndarray:
    """Return the differences between neighbours."""
    array = array_of(x)
    ends = [end._array if isinstance(end, usm_ndarray) else end for end in (prepend, append)]
    for end in ends:
        if not isinstance(end, (type(None), type(array), bool, int, float, complex, np.generic)):
            raise TypeError(f"diff: what comes before or behind is an array or a number, not {type(end).__name__}")
    common_queue([array, *(end for end in ends if isinstance(end, type(array)))])
    return computed(xp.diff, array, axis=axis, n=n, prepend=ends[0], append=ends[1])


def clip(
    x: usm_ndarray, /, min: Any = None, max: Any = None, out: usm_ndarray | None = None, order: str = "K"
) -> usm_ndarray:
    """Return the elements, those beyond two bounds as these."""
    array = array_of(x)
    order = order if order in ("C", "F", "A") else "K"
    bounds = [None if bound is None else operands_of(x, bound)[1] for bound in (min, max)]
    for bound in bounds:
        if isinstance(bound, Array) and not xp.can_cast(bound.dtype, array.dtype):
            raise ValueError(f"clip: bounds of {bound.dtype} aren't bounds of {array.dtype}")
    if out is None:
        return wrapped(_clipped(array, *bounds, order=order))
    target = array_of(out)
    if not target.flags.writable:
        raise ValueError("clip: the output is read-only")
    common_queue((array, target))
    if target.dtype != array.dtype:
        raise ValueError(f"clip: the output is of {target.dtype}, the result of {array.dtype}")
    _clipped(array, *bounds, order=order, out=target)
    return out


def _clipped(array: Any, low: Any, high: Any, **keywords: Any) -> Any:
    try:
        return xp.clip(array, low, high, **keywords)
    except TypeError as error:
        raise ValueError(str(error)) from error


def allclose(
    a1: usm_ndarray, a2: usm_ndarray, atol: float = 1e-8, rtol: float = 1e-5, equal_nan: bool = False
) -> usm_ndarray:
    """Say whether all elements are nearly those of another array."""
    arrays = array_of(a1), array_of(a2)
    common_queue(arrays)
    if atol < 0 or rtol < 0:
        raise ValueError("allclose: tolerances are 0 or more")
    if all(xp.isdtype(array.dtype, "real floating") for array in arrays):
        # Both arrays count, and the larger tolerance, where NumPy adds that of the second to the other.
        first, second = arrays
        limit = xp.maximum(rtol * xp.maximum(xp.abs(first), xp.abs(second)), atol)
        near = xp.where(xp.isfinite(first) & xp.isfinite(second), xp.abs(first - second) <= limit, first == second)
        return wrapped(xp.all(near | (xp.isnan(first) & xp.isnan(second)) if equal_nan else near))
    return wrapped(xp.allclose(*arrays, atol=atol, rtol=rtol, equal_nan=equal_nan))
