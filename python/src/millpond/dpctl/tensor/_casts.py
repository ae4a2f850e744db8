"""Casts as dpctl has them, where `millpond.tensor` would refuse: whatever there is becomes what is asked for."""

from __future__ import annotations

from typing import Any

from millpond import tensor as xp
from millpond.tensor import Array


def for_assignment(value: Any, target: Array) -> Any:
    """Return a value for an assignment, which in dpctl casts whatever there is to the dtype of its target."""
    if isinstance(value, complex) and not xp.isdtype(target.dtype, "complex floating"):
        return bool(value) if target.dtype == xp.bool else value.real
    if isinstance(value, Array):
        return without_imaginary(value, target.dtype)
    return value


def without_imaginary(array: Array, dtype: Any) -> Array:
    """Return what a cast from complex numbers to others takes of them, as NumPy casts, and other arrays as they are."""
    if not xp.isdtype(array.dtype, "complex floating") or xp.isdtype(dtype, "complex floating"):
        return array
    return xp.not_equal(array, 0) if dtype == xp.bool else xp.real(array)
