"""The array that a `usm_ndarray` is made around: its layout, its dtype, and its memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from millpond._millpond import tensor as _native
from millpond.dpctl import _usm_interface
from millpond.dpctl import memory as dpmem
from millpond.dpctl._device import SyclDevice
from millpond.dpctl.tensor import _dtypes
from millpond.memory import Memory
from millpond.tensor import Array


def array(
    shape: Any, dtype: Any, strides: Any, buffer: Any, offset: int, order: str, keywords: dict[str, Any]
) -> Array:
    """Make an array over new memory, of which `buffer` names the kind, or over memory that is there.

    Raises
    ------
    ValueError
        For another order or kind of memory, and for memory that is too small.
    TypeError
        For a shape or a dtype that is none.
    """
    lengths = sizes(shape)
    if order not in ("C", "F"):
        raise ValueError(f"order is 'C' or 'F', not {order!r}")
    if strides is not None:
        strides = steps(strides, lengths)
    elif order == "C":
        strides = _usm_interface.contiguous(lengths)
    else:
        strides = _usm_interface.contiguous(lengths[::-1])[::-1]
    if isinstance(buffer, bytes):
        buffer = buffer.decode()
    if dtype is None:
        dtype = default_dtype(buffer, keywords)
    kind = _dtypes.ours(dtype)
    if isinstance(buffer, str):
        if buffer not in dpmem._CLASSES:
            raise ValueError(f"buffer {buffer!r} is none of 'device', 'shared', 'host', memory and a usm_ndarray")
        low, high = reach(lengths, strides)
        buffer, offset = dpmem._CLASSES[buffer]((high - low + 1) * np.dtype(dtype).itemsize, **keywords), -low
    if not isinstance(buffer, Memory):
        raise ValueError(f"buffer is a kind of memory, memory or a usm_ndarray, not {type(buffer).__name__}")
    if offset < 0:
        raise ValueError(f"offset is 0 or more, not {offset}")
    made: Array = _native._over(buffer, kind, lengths, strides, offset)
    return made


def reach(lengths: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int]:
    """Return how far elements lie below and above the one of index zero."""
    far = [step * (size - 1) for size, step in zip(lengths, strides, strict=True) if size]
    return sum(min(step, 0) for step in far), sum(max(step, 0) for step in far)


def sizes(shape: Any) -> tuple[int, ...]:
    """Return the sizes of the axes that a shape says."""
    if hasattr(shape, "tolist"):
        shape = shape.tolist()
    if not isinstance(shape, (list, tuple)):
        shape = [shape]
    if not all(hasattr(size, "__index__") for size in shape):
        raise TypeError(f"a shape is an integer or a tuple of integers, not {shape!r}")
    return tuple(int(size) for size in shape)


def steps(strides: Any, sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the steps of the axes, of which there must be as many as sizes."""
    if isinstance(strides, int):
        strides = (strides,)
    if not isinstance(strides, (list, tuple)) or len(strides) != len(sizes):
        raise ValueError(f"strides {strides!r} aren't those of shape {sizes}")
    return tuple(int(step) for step in strides)


def default_dtype(buffer: Any, keywords: dict[str, Any]) -> str:
    """Return the floating-point dtype of the device where memory is, or will be."""
    if isinstance(buffer, Memory):
        device = SyclDevice._of(buffer.device)
    else:
        queue = keywords.get("queue")
        device = SyclDevice() if queue is None else queue.sycl_device
    return "f8" if device.has_aspect_fp64 else "f4"
