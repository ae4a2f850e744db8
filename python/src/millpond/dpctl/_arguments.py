"""Arguments of kernels that are no memory: described and checked as dpctl does, though there are no kernels."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

_DTYPES = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")


class LocalAccessor:
    """Memory that the work-items of a group share.

    Raises
    ------
    TypeError
        For a shape that is no list or tuple of integers.
    ValueError
        For another number of axes than 1 to 3, negative sizes, and other dtypes than numbers.
    """

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: str, shape: Sequence[int]) -> None:
        if not isinstance(shape, (list, tuple)) or not all(isinstance(size, Integral) for size in shape):
            raise TypeError(f"a shape is a list or tuple of integers, not {shape!r}")
        if not 1 <= len(shape) <= 3:
            raise ValueError(f"a shape has 1 to 3 axes, not {len(shape)}")
        if any(size < 0 for size in shape):
            raise ValueError(f"a shape has no negative sizes, got {shape!r}")
        if dtype not in _DTYPES:
            raise ValueError(f"dtype {dtype!r} is none of {', '.join(_DTYPES)}")
        self.dtype, self.shape = dtype, tuple(shape)

    def __repr__(self) -> str:
        return f"LocalAccessor({self.dtype!r}, {self.shape})"


class WorkGroupMemory:
    """Bytes that the work-items of a group share; an extension that isn't available."""

    def __init__(self, *args: Any) -> None:
        raise RuntimeError("WorkGroupMemory is not available: there are no kernels")

    @staticmethod
    def is_available() -> bool:
        """Say whether there are kernels that take it."""
        return False


class RawKernelArg:
    """Bytes that a kernel gets as they are; an extension that isn't available."""

    def __init__(self, *args: Any) -> None:
        raise RuntimeError("RawKernelArg is not available: there are no kernels")

    @staticmethod
    def is_available() -> bool:
        """Say whether there are kernels that take it."""
        return False
