"""Arrays of other objects, and other objects of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

import numpy as np

from millpond import tensor as xp
from millpond.dpctl import _usm_interface
from millpond.dpctl._device import SyclDevice
from millpond.dpctl._queue import SyclQueue
from millpond.dpctl.tensor import _dtypes
from millpond.dpctl.tensor._array import array_of, of_interface, usm_ndarray, wrapped
from millpond.dpctl.tensor._casts import without_imaginary
from millpond.dpctl.tensor._device import Device, placed
from millpond.dpctl.utils import ExecutionPlacementError, validate_usm_type
from millpond.tensor import Array


class DLDeviceType(IntEnum):
    """Sorts of devices by DLPack's numbers."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


def asarray(
    obj: Any,
    /,
    *,
    dtype: Any = None,
    device: Any = None,
    copy: bool | None = None,
    usm_type: str | None = None,
    sycl_queue: SyclQueue | None = None,
    order: str = "K",
) -> usm_ndarray:
    """Return an array of an object: an array, a number, nested sequences of them, a buffer, or memory.

    Parameters
    ----------
    obj : object
        What is to be an array. Memory that an object shows by `__sycl_usm_array_interface__` isn't copied.
    dtype : dtype, optional
        The default is what holds all elements.
    device : Device, SyclDevice, SyclQueue or str, optional
        Where the array goes; where the object is, if nothing is said.
    copy : bool, optional
        Whether memory is copied always, never, or, by default, where it must be.
    usm_type : {"device", "shared", "host"}, optional
        Kind of memory.
    sycl_queue : SyclQueue, optional
        The queue, in place of `device`.
    order : {"K", "C", "F", "A"}, optional
        How the axes lie in memory.

    Raises
    ------
    TypeError
        For keywords that are none of these.
    ValueError
        For what can't be an array, or not without a copy that `copy` forbids.
    ExecutionPlacementError
        For sequences of arrays of several queues, if no queue is named.
    """
    if copy not in (None, True, False):
        raise TypeError(f"asarray: copy is None, True or False, not {copy!r}")
    if not isinstance(order, str):
        raise TypeError(f"asarray: order is a string, not {type(order).__name__}")
    if order.upper() not in ("C", "F", "A", "K"):
        raise ValueError(f"asarray: order is 'C', 'F', 'A' or 'K', not {order!r}")
    validate_usm_type(usm_type, allow_none=True)
    named = None if device is None and sycl_queue is None else placed(sycl_queue, device)
    keywords: dict[str, Any] = {
        "dtype": _dtypes.ours(dtype),
        "copy": copy,
        "usm_type": usm_type,
        "order": order.upper(),
    }
    if isinstance(obj, usm_ndarray):
        found = _moved(obj._array, named, keywords)
        return obj if found is obj._array else wrapped(found)
    if hasattr(obj, "__usm_ndarray__") and isinstance(obj.__usm_ndarray__, usm_ndarray):
        return wrapped(_moved(obj.__usm_ndarray__._array, named, keywords))
    if hasattr(obj, _usm_interface.NAME):
        return wrapped(_moved(of_interface(obj), named, keywords))
    if copy is False:
        raise ValueError(f"asarray: copy=False, but {type(obj).__name__} has no memory that an array could share")
    arrays = list(_arrays_in(obj))
    if arrays:
        return _of_sequence(obj, arrays, named, keywords)
    host = _host(obj)
    if dtype is None:
        keywords["dtype"] = _default(host, named)
    keywords["copy"] = None
    queue = (placed(None, None) if named is None else named)._queue
    if isinstance(obj, (bool, int, float, complex)):
        return wrapped(xp.asarray(obj, queue=queue, **keywords))
    return wrapped(xp.asarray(host, queue=queue, **{**keywords, "usm_type": usm_type or "device"}))


def _moved(array: Array, named: SyclQueue | None, keywords: dict[str, Any]) -> Array:
    """Return an array as the keywords want it, on the queue that is named."""
    queue = None if named is None or named._queue == array.queue else named._queue
    return xp.asarray(array, queue=queue, **keywords)


def _arrays_in(obj: Any) -> Iterator[Any]:
    """Find what has memory of a device in nested sequences."""
    if isinstance(obj, (list, tuple)):
        for part in obj:
            if isinstance(part, (list, tuple, usm_ndarray)) or hasattr(part, _usm_interface.NAME):
                yield from _arrays_in(part)
    elif isinstance(obj, usm_ndarray):
        yield obj._array
    elif hasattr(obj, _usm_interface.NAME):
        yield of_interface(obj)


def _of_sequence(obj: Any, arrays: list[Array], named: SyclQueue | None, keywords: dict[str, Any]) -> usm_ndarray:
    """Stack nested sequences that have arrays in them."""
    if named is None and any(array.queue != arrays[0].queue for array in arrays):
        raise ExecutionPlacementError("asarray: the arrays are of several queues; name one by sycl_queue or device")
    queue = arrays[0].queue if named is None else named._queue
    kind = keywords["usm_type"]
    if kind is None:
        kind = min((array.usm_type for array in arrays), key=("device", "shared", "host").index)
    shape, dtype = _extent(obj)
    if keywords["dtype"] is not None:
        dtype = keywords["dtype"]
    order: Any = keywords["order"] if keywords["order"] in ("C", "F") else "C"
    result = xp.empty(
        shape,
        dtype=_dtypes.ours(dtype) if isinstance(dtype, np.dtype) else dtype,
        queue=queue,
        usm_type=kind,
        order=order,
    )
    _fill(result, obj)
    return wrapped(result)


def _extent(obj: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and the dtype of nested sequences."""
    if isinstance(obj, (list, tuple)):
        parts = [_extent(part) for part in obj]
        shapes = {shape for shape, _ in parts}
        if len(shapes) != 1:
            raise ValueError(f"asarray: parts of a sequence have different shapes: {sorted(shapes)}")
        return (len(parts), *shapes.pop()), np.result_type(*(dtype for _, dtype in parts))
    if isinstance(obj, usm_ndarray):
        return obj.shape, obj.dtype
    if hasattr(obj, _usm_interface.NAME):
        shown = _usm_interface.read(obj)
        return shown.shape, shown.dtype
    host = _host(obj)
    return host.shape, host.dtype


def _fill(target: Array, obj: Any) -> None:
    if isinstance(obj, (list, tuple)):
        for place, part in enumerate(obj):
            _fill(target[place, ...], part)
        return
    if isinstance(obj, usm_ndarray):
        obj = obj._array
    elif hasattr(obj, _usm_interface.NAME):
        obj = of_interface(obj)
    if isinstance(obj, Array):
        if obj.device != target.device:
            obj = obj.to_device(target.queue)
        target[...] = xp.astype(without_imaginary(obj, target.dtype), target.dtype)
    else:
        target[...] = xp.asarray(_host(obj), queue=target.queue)


def _host(obj: Any) -> np.ndarray[Any, Any]:
    """Return an array of NumPy of what has no memory of a device."""
    if not isinstance(obj, (np.ndarray, np.generic, bool, int, float, complex, list, tuple, range)):
        try:
            obj = memoryview(obj)
        except TypeError:
            raise ValueError(f"asarray: {type(obj).__name__} can't be an array") from None
    host = np.asarray(obj)
    if host.dtype == object and not isinstance(obj, np.ndarray) and all(isinstance(one, int) for one in host.flat):
        raise OverflowError("asarray: no integer dtype holds all elements")
    if not _dtypes.is_known(host.dtype) and host.dtype.isnative:
        error = TypeError if isinstance(obj, np.ndarray) else ValueError
        raise error(f"asarray: elements of {host.dtype} can't be those of an array")
    return host if host.dtype.isnative else host.astype(host.dtype.newbyteorder("="))


def _default(host: np.ndarray[Any, Any], named: SyclQueue | None) -> Any:
    """Return the dtype that elements of a dtype of NumPy have on a device, which may lack it."""
    device = SyclDevice() if named is None else named.sycl_device
    if device.has_aspect_fp64 or host.dtype.itemsize < 8 or host.dtype.kind not in "fc":
        return _dtypes.ours(host.dtype)
    return {"f": xp.float32, "c": xp.complex64}[host.dtype.kind]


def from_numpy(
    np_ary: np.ndarray[Any, Any],
    /,
    *,
    device: Any = None,
    usm_type: str = "device",
    sycl_queue: SyclQueue | None = None,
) -> usm_ndarray:
    """Return an array with a copy of the elements of one of NumPy."""
    return asarray(np_ary, device=device, usm_type=usm_type, sycl_queue=sycl_queue)


def to_numpy(usm_ary: usm_ndarray, /) -> np.ndarray[Any, Any]:
    """Wait for the elements, and return a copy of them as an array of NumPy."""
    return xp.asnumpy(array_of(usm_ary))


def asnumpy(usm_ary: usm_ndarray) -> np.ndarray[Any, Any]:
    """Wait for the elements, and return a copy of them as an array of NumPy."""
    return to_numpy(usm_ary)


def copy(usm_ary: usm_ndarray, /, *, order: str = "K") -> usm_ndarray:
    """Return a copy of the elements, in new memory."""
    if not isinstance(order, str) or order.upper() not in ("C", "F", "A", "K"):
        raise ValueError(f"copy: order is 'C', 'F', 'A' or 'K', not {order!r}")
    return wrapped(xp.copy(array_of(usm_ary), order=order.upper()))  # type: ignore[arg-type]


def astype(
    usm_ary: usm_ndarray,
    newdtype: Any,
    /,
    *,
    order: str = "K",
    casting: str = "unsafe",
    copy: bool = True,
    device: Any = None,
) -> usm_ndarray:
    """Return the elements in another dtype.

    Raises
    ------
    TypeError
        If `casting` doesn't allow it.
    """
    array = array_of(usm_ary)
    if not isinstance(order, str) or order.upper() not in ("C", "F", "A", "K"):
        raise ValueError(f"astype: order is 'C', 'F', 'A' or 'K', not {order!r}")
    place = None if device is None else Device.create_device(device).sycl_queue._queue
    wanted = _dtypes.ours(newdtype)
    if casting == "unsafe":
        array = without_imaginary(array, wanted)
    result = xp.astype(
        array,
        wanted,
        copy=copy,
        order=order.upper(),  # type: ignore[arg-type]
        casting=casting,
        device=None if place == array.queue else place,
    )
    return usm_ary if result is usm_ary._array else wrapped(result)


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> usm_ndarray:
    """Return an array over the memory of an object that has DLPack's protocol.

    Parameters
    ----------
    x : object
        An array of any library.
    device : Device, SyclDevice, SyclQueue, str or (int, int), optional
        Where the array goes; where the object is, if nothing is said.
    copy : bool, optional
        Whether memory is copied always, never, or, by default, where it must be.

    Raises
    ------
    TypeError
        For an object without the protocol.
    BufferError
        For memory that can't be shared.
    """
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack: {type(x).__name__} has no __dlpack__ method")
    if isinstance(device, tuple):
        device = dldevice_to_sycl_device(device)
    place = None if device is None else Device.create_device(device).sycl_queue._queue
    source = x._array if isinstance(x, usm_ndarray) else x
    return wrapped(xp.from_dlpack(source, device=place, copy=copy))


def dldevice_to_sycl_device(dl_dev: tuple[int, int]) -> SyclDevice:
    """Return the device that DLPack means by a sort and a number.

    Raises
    ------
    TypeError
        For what is no tuple.
    ValueError
        For another number of parts than two, and for a device that isn't there.
    """
    if not isinstance(dl_dev, tuple):
        raise TypeError(f"a device of DLPack is a tuple, not {type(dl_dev).__name__}")
    if len(dl_dev) != 2:
        raise ValueError(f"a device of DLPack is a sort and a number, not {dl_dev}")
    return SyclDevice._of(xp.dldevice_to_device((int(dl_dev[0]), int(dl_dev[1]))))


def sycl_device_to_dldevice(dev: SyclDevice) -> tuple[DLDeviceType, int]:
    """Return what DLPack calls a device.

    Raises
    ------
    TypeError
        For what is no device.
    """
    if not isinstance(dev, SyclDevice):
        raise TypeError(f"expected a SyclDevice, not {type(dev).__name__}")
    kind, number = xp.device_to_dldevice(dev._device)
    return DLDeviceType(kind), number
