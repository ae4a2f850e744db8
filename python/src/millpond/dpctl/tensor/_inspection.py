"""What a program may ask of the namespace, and of dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from millpond import tensor as xp
from millpond.dpctl._device import SyclDevice
from millpond.dpctl._platform import get_devices
from millpond.dpctl.tensor import _dtypes
from millpond.dpctl.tensor._array import usm_ndarray
from millpond.dpctl.tensor._device import Device
from millpond.dpctl.utils import ExecutionPlacementError
from millpond.tensor import Array


class _Info:
    """The inspection interface of the Array API standard, with devices and dtypes as dpctl has them."""

    _info = xp.__array_namespace_info__()

    def capabilities(self) -> dict[str, Any]:
        """Return what the namespace can do."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": None}

    def default_device(self) -> SyclDevice:
        """Return the device that arrays are made on."""
        return SyclDevice()

    def devices(self) -> list[SyclDevice]:
        """Return all devices."""
        return get_devices()

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """Return the dtypes of arrays for which none is named."""
        return _numpy(self._info.default_dtypes(device=_native(device)))

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> dict[str, Any]:
        """Return the dtypes that a device computes with, of some kinds."""
        if kind is not None and not isinstance(kind, (str, tuple)):
            raise TypeError(f"kind is a string or a tuple of strings, not {kind!r}")
        return _numpy(self._info.dtypes(device=_native(device), kind=kind))


def _numpy(dtypes: dict[str, Any]) -> dict[str, Any]:
    return {name: dtype.dtype for name, dtype in dtypes.items() if dtype != xp.bfloat16}


def _native(device: Any) -> Any:
    return Device.create_device(device).sycl_device._device


def __array_namespace_info__() -> _Info:
    """Return what tells of the namespace."""
    return _Info()


def finfo(dtype: Any, /) -> Any:
    """Return the limits of floating-point numbers, as NumPy has them."""
    return np.finfo(dtype.dtype if isinstance(dtype, usm_ndarray) else np.dtype(dtype))


def iinfo(dtype: Any, /) -> Any:
    """Return the limits of integers, as NumPy has them."""
    return np.iinfo(dtype.dtype if isinstance(dtype, usm_ndarray) else np.dtype(dtype))


def can_cast(from_: Any, to: Any, /, *, casting: str = "safe") -> bool:
    """Say whether a rule allows elements of one dtype to become another's.

    Raises
    ------
    TypeError
        For what is no dtype, nor an array as the first argument.
    """
    if isinstance(to, usm_ndarray):
        raise TypeError("can_cast: the second argument is a dtype, not an array")
    source = from_.dtype if isinstance(from_, usm_ndarray) else np.dtype(from_)
    return xp.can_cast(_dtypes.ours(source), _dtypes.ours(np.dtype(to)), casting=casting)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Say whether a dtype is of a kind.

    Raises
    ------
    TypeError
        For what is no dtype, and for what is no kind.
    ValueError
        For another name of a kind.
    """
    if not isinstance(dtype, np.dtype):
        raise TypeError(f"isdtype: expected a dtype, not {type(dtype).__name__}")
    kinds = kind if isinstance(kind, tuple) else (kind,)
    if any(not isinstance(one, (str, np.dtype)) for one in kinds):
        raise TypeError(f"isdtype: a kind is a string, a dtype or a tuple of these, not {kind!r}")
    return xp.isdtype(
        _dtypes.ours(dtype), tuple(_dtypes.ours(one) if isinstance(one, np.dtype) else one for one in kinds)
    )


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the dtype that arrays and dtypes are promoted to.

    Raises
    ------
    ExecutionPlacementError
        For arrays of several devices.
    """
    given = [
        value._array
        if isinstance(value, usm_ndarray)
        else value
        if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)
        else _dtypes.ours(value.dtype if isinstance(value, (np.generic, np.ndarray)) else value)
        for value in arrays_and_dtypes
    ]
    if given and all(isinstance(value, (bool, int, float, complex)) for value in given):
        return np.result_type(*map(type, given))
    if len({value.device for value in given if isinstance(value, Array)}) > 1:
        raise ExecutionPlacementError("result_type: the arrays are on several devices")
    return xp.result_type(*given).dtype
