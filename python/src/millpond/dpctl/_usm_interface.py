"""``__sycl_usm_array_interface__``: how objects of other packages show memory that millpond allocated.

The dictionary has the keys of dpctl and one more, ``memory``: the memory object itself. An address alone says neither
who owns it nor what is still to come on it, so objects whose dictionary lacks that key are refused; those that pass
on a dictionary of ours, changed or not, have it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from millpond.dpctl._context import SyclContext
from millpond.dpctl._device import SyclDevice
from millpond.dpctl._queue import SyclQueue
from millpond.memory import Memory

#: The attribute.
NAME = "__sycl_usm_array_interface__"


class Described(NamedTuple):
    """What a dictionary says."""

    #: The memory object whose address the dictionary has.
    memory: Memory
    #: Whether it mustn't be written.
    read_only: bool
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    #: In elements.
    strides: tuple[int, ...]
    #: The element of index zero, counted in elements from the begin of the memory object.
    offset: int

    @property
    def extent(self) -> tuple[int, int]:
        """The bytes that elements lie in: where they begin in the memory object, and how many they are."""
        low = high = self.offset
        for size, stride in zip(self.shape, self.strides, strict=True):
            low, high = low + min(stride * (size - 1), 0), high + max(stride * (size - 1), 0)
        size = self.dtype.itemsize
        return low * size, 0 if 0 in self.shape else (high - low + 1) * size


def describe(memory: Memory, dtype: np.dtype[Any], shape: tuple[int, ...], **more: Any) -> dict[str, Any]:
    """Return the dictionary for elements in memory; the address is that of its begin."""
    return {
        "data": (memory.ptr, more.get("read_only", False)),
        "shape": shape,
        "strides": more.get("strides"),
        "typestr": dtype.str,
        "version": 1,
        "syclobj": SyclQueue._of(memory.queue),
        "offset": more.get("offset", 0),
        "memory": memory,
    }


def read(obj: Any) -> Described:
    """Return what an object's dictionary says.

    Raises
    ------
    ValueError
        For a dictionary that isn't as dpctl defines it, and for memory that isn't millpond's.
    """
    found = getattr(obj, NAME)
    if not isinstance(found, dict):
        raise ValueError(f"{NAME} of {type(obj).__name__} is a {type(found).__name__}, not a dictionary")
    if found.get("version") != 1:
        raise ValueError(f"{NAME}: version is 1, not {found.get('version')!r}")
    data, syclobj = found.get("data"), found.get("syclobj")
    if not (isinstance(data, tuple) and len(data) == 2 and isinstance(data[0], int)):
        raise ValueError(f"{NAME}: data is an address and whether it is read-only, not {data!r}")
    if not isinstance(syclobj, (SyclQueue, SyclContext, SyclDevice, str)) and not hasattr(syclobj, "sycl_queue"):
        raise ValueError(f"{NAME}: syclobj is a SyclQueue, a SyclContext or a filter string, not {syclobj!r}")
    shape = _integers(found.get("shape"), "shape")
    if any(size < 0 for size in shape):
        raise ValueError(f"{NAME}: shape {shape} has negative sizes")
    if found.get("strides") is None:
        strides = contiguous(shape)
    else:
        strides = _integers(found["strides"], "strides")
        if len(strides) != len(shape):
            raise ValueError(f"{NAME}: {len(strides)} strides for {len(shape)} axes")
    memory = found.get("memory")
    if not isinstance(memory, Memory):
        raise ValueError(f"{NAME} of {type(obj).__name__}: memory at {data[0]:#x} isn't known to millpond")
    dtype = _dtype(found.get("typestr"))
    begin = data[0] - memory.ptr
    if begin % dtype.itemsize:
        raise ValueError(f"{NAME}: elements of {dtype} at {data[0]:#x} aren't aligned in their memory")
    offset = begin // dtype.itemsize + int(found.get("offset") or 0)
    described = Described(memory, bool(data[1]), dtype, shape, strides, offset)
    low, size = described.extent
    if size and (low < 0 or low + size > memory.nbytes):
        raise ValueError(f"{NAME}: elements lie outside of their memory of {memory.nbytes} bytes")
    return described


def contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of row-major elements without gaps."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * max(shape[axis + 1], 1)
    return tuple(strides)


def _integers(values: Any, what: str) -> tuple[int, ...]:
    if not isinstance(values, (tuple, list)) or not all(hasattr(value, "__index__") for value in values):
        raise ValueError(f"{NAME}: {what} is a tuple of integers, not {values!r}")
    return tuple(int(value) for value in values)


def _dtype(typestr: Any) -> np.dtype[Any]:
    try:
        dtype: np.dtype[Any] = np.dtype(typestr)
    except TypeError as error:
        raise ValueError(f"{NAME}: {error}") from error
    if dtype.kind not in "biufcV" or not dtype.isnative or dtype.hasobject:
        raise ValueError(f"{NAME}: there are no elements of {typestr!r}")
    return dtype
