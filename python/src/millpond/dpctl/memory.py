"""Memory objects by dpctl's names: bytes of unified shared memory.

They are memory objects of `millpond.memory` too, and accepted wherever those are. Copies wait for their end, as they do
in dpctl; memory that is dropped goes back to its pool in queue order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

import millpond
from millpond.dpctl import _usm_interface
from millpond.dpctl._context import SyclContext
from millpond.dpctl._device import SyclDevice
from millpond.dpctl._queue import SyclQueue, get_device_cached_queue
from millpond.memory import DeviceMemory, HostMemory, Memory, SharedMemory, current_pool

__all__ = ["MemoryUSMDevice", "MemoryUSMHost", "MemoryUSMShared", "USMAllocationError", "as_usm_memory"]

#: Kinds of memory by dpctl's numbers.
_NUMBERS = {"unknown": 0, "device": 1, "shared": 2, "host": 3}


class USMAllocationError(Exception):
    """There is no memory; the cause, an `OutOfMemoryError`, says what holds it."""


if TYPE_CHECKING:
    _Base = DeviceMemory
else:
    # The class of the kind is the one base with a layout, so that it is the one that makes objects.
    _Base = object


class _Memory(_Base):
    """What memory objects of all kinds have."""

    __slots__ = ()

    def __new__(cls, other: Any, /, *, alignment: int = 0, queue: SyclQueue | None = None, copy: bool = False) -> Any:
        if queue is not None and not isinstance(queue, SyclQueue):
            raise TypeError(f"queue is a SyclQueue, not {type(queue).__name__}")
        kind = _kind_of(cls)
        source = _source(other)
        if source is None:
            return super().__new__(cls, _allocated(kind, other, alignment, queue))
        if source.kind == kind and not copy and (queue is None or queue._queue.device == source.queue.device):
            return super().__new__(cls, source)
        if not copy:
            raise ValueError(f"memory of kind {source.kind!r} is no {kind} memory of this queue; copy=True copies it")
        target = SyclQueue._of(source.queue) if queue is None else queue
        self = super().__new__(cls, _allocated(kind, source.nbytes, alignment, target))
        self.copy_from_device(source)
        return self

    def __repr__(self) -> str:
        return f"<SYCL(TM) USM-{self.kind} allocation of {self.nbytes} bytes at {self.ptr:#x}>"

    def __bytes__(self) -> bytes:
        return self.tobytes()

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self.nbytes

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.kind, type(self), self.tobytes())

    # Where it is.

    @property
    def size(self) -> int:
        """Number of bytes."""
        return self.nbytes

    @property
    def sycl_queue(self) -> SyclQueue:
        """The queue that it was allocated for."""
        return SyclQueue._of(self.queue)

    @property
    def sycl_device(self) -> SyclDevice:
        """The device that it belongs to."""
        return SyclDevice._of(self.device)

    @property
    def sycl_context(self) -> SyclContext:
        """The context of its queue."""
        return self.sycl_queue.sycl_context

    @property
    def reference_obj(self) -> None:
        """The object that owns the bytes in its place: nothing, as the memory keeps their owner itself."""
        return

    @property
    def _pointer(self) -> int:
        return self.ptr

    @property
    def _queue(self) -> SyclQueue:
        return self.sycl_queue

    @property
    def _context(self) -> SyclContext:
        return self.sycl_context

    @property
    def __sycl_usm_array_interface__(self) -> dict[str, Any]:
        """The bytes, as dpctl shows them to others."""
        return _usm_interface.describe(self, np.dtype("u1"), (self.nbytes,), read_only=True)

    def get_usm_type(self, syclobj: SyclQueue | SyclContext | SyclDevice | None = None) -> str:
        """Return the kind of memory, as the devices of a queue or context see it: ``"unknown"`` for other platforms.

        Raises
        ------
        TypeError
            For what is neither.
        """
        devices = _devices(syclobj)
        if devices is None or any(device.backend is self.sycl_device.backend for device in devices):
            return self.kind
        return "unknown"

    def get_usm_type_enum(self, syclobj: SyclQueue | SyclContext | SyclDevice | None = None) -> int:
        """Return the same as a number: 0 unknown, 1 device, 2 shared, 3 host."""
        return _NUMBERS[self.get_usm_type(syclobj)]

    # Bytes.

    def copy_to_host(self, obj: Any = None) -> Any:
        """Wait for the bytes, and copy them to a buffer of as many; without one, to an array of NumPy.

        Raises
        ------
        ValueError
            For a buffer of another size.
        """
        target: Any = np.empty(self.nbytes, dtype="u1") if obj is None else obj
        view = memoryview(target).cast("B")
        if view.nbytes != self.nbytes:
            raise ValueError(f"copy_to_host: the buffer has {view.nbytes} bytes, the memory {self.nbytes}")
        self.read_into(view)
        return target

    def copy_from_host(self, obj: Any) -> None:
        """Copy a buffer to the begin of the bytes, and wait for it.

        Raises
        ------
        ValueError
            For a buffer that is larger.
        """
        view = memoryview(obj)
        if view.nbytes > self.nbytes:
            raise ValueError(f"copy_from_host: the buffer has {view.nbytes} bytes, the memory {self.nbytes}")
        self.write(view.cast("B") if view.c_contiguous else view.tobytes())

    def copy_from_device(self, sycl_usm_ary: Any) -> None:
        """Copy other memory to the begin of the bytes, and wait for it.

        Raises
        ------
        TypeError
            For what shows no memory.
        ValueError
            For memory that is larger.
        """
        source = _source(sycl_usm_ary)
        if source is None:
            raise TypeError(f"copy_from_device: {type(sycl_usm_ary).__name__} has no {_usm_interface.NAME}")
        if source.nbytes > self.nbytes:
            raise ValueError(f"copy_from_device: {source.nbytes} bytes are more than {self.nbytes}")
        if source.device == self.device:
            self.copy_from(source)
            self._finish()
        else:
            self.write(source.tobytes())

    def memset(self, val: int = 0) -> None:
        """Fill all bytes with one, and wait for it."""
        self.fill(val)
        self._finish()

    def _finish(self) -> None:
        """Wait for what is written to the bytes, and for nothing else."""
        self.read(0, 0)


class MemoryUSMDevice(_Memory, DeviceMemory):
    """Memory that lives on the device; the host reaches it by copies only.

    Parameters
    ----------
    other : int or object
        A number of bytes, for new memory; or an object that shows memory of this kind, for another view of it.
    alignment : int, optional
        What the address is a multiple of; 0 for the device's own.
    queue : SyclQueue, optional
        Whose order it is in; the device's default queue, if nothing is said.
    copy : bool, optional
        Whether memory of an object is copied. It must be for memory of another kind.

    Raises
    ------
    USMAllocationError
        If there is no memory.
    ValueError
        For a number of bytes below 1, an alignment that is no power of two, and memory of another kind.
    TypeError
        For other arguments.

    Examples
    --------
    >>> from millpond.dpctl.memory import MemoryUSMDevice
    >>> memory = MemoryUSMDevice(4)
    >>> memory.copy_from_host(b"mill")
    >>> bytes(memory)
    b'mill'
    """

    __slots__ = ()


class MemoryUSMShared(_Memory, SharedMemory):
    """Memory that device and host both touch; it has the buffer protocol. Made as `MemoryUSMDevice` is."""

    __slots__ = ()


class MemoryUSMHost(_Memory, HostMemory):
    """Memory of the host, which the device reaches; it has the buffer protocol. Made as `MemoryUSMDevice` is."""

    __slots__ = ()


_CLASSES: dict[str, type[Any]] = {"device": MemoryUSMDevice, "shared": MemoryUSMShared, "host": MemoryUSMHost}
_PLAIN: dict[str, type[Any]] = {"device": DeviceMemory, "shared": SharedMemory, "host": HostMemory}


def as_usm_memory(obj: Any) -> Any:
    """Return the memory that an object shows, as a memory object of its kind and without a copy.

    Raises
    ------
    AttributeError
        For an object that shows none.
    """
    source = _source(obj)
    if source is None:
        raise AttributeError(f"{type(obj).__name__} has no {_usm_interface.NAME}")
    return _CLASSES[source.kind](source)


def _kind_of(cls: type[Any]) -> str:
    for kind, plain in _PLAIN.items():
        if issubclass(cls, plain):
            return kind
    raise TypeError("memory has a kind: use MemoryUSMDevice, MemoryUSMShared or MemoryUSMHost")


def _source(obj: Any) -> Memory | None:
    """Return the bytes that an object shows: those from its first to its last element; `None` if it shows none."""
    if isinstance(obj, Memory):
        return obj
    if not hasattr(obj, _usm_interface.NAME):
        return None
    shown = _usm_interface.read(obj)
    return shown.memory.view(*shown.extent)


def _allocated(kind: Any, nbytes: Any, alignment: int, queue: SyclQueue | None) -> Memory:
    if not hasattr(nbytes, "__index__") or isinstance(nbytes, bool):
        raise TypeError(f"memory is made of a number of bytes or of memory, not of {type(nbytes).__name__}")
    nbytes = nbytes.__index__()
    if nbytes <= 0:
        raise ValueError(f"memory has 1 byte or more, not {nbytes}")
    if alignment < 0 or alignment & (alignment - 1):
        raise ValueError(f"an alignment is a power of two, not {alignment}")
    own = (queue or get_device_cached_queue(SyclDevice()))._queue
    try:
        if alignment <= own.device.alignment:
            memory: Memory = _PLAIN[kind](nbytes, queue=own)
            return memory
        return current_pool(own.device, kind).allocate(nbytes, queue=own, alignment=alignment)
    except (millpond.OutOfMemoryError, OverflowError) as error:
        raise USMAllocationError(str(error)) from error


def _devices(syclobj: Any) -> list[SyclDevice] | None:
    match syclobj:
        case None:
            return None
        case SyclQueue():
            return [syclobj.sycl_device]
        case SyclDevice():
            return [syclobj]
        case SyclContext():
            return syclobj.get_devices()
    raise TypeError(f"expected a SyclQueue or a SyclContext, not {type(syclobj).__name__}")


def _rebuild(kind: str, cls: type[Any], data: bytes) -> Any:
    if kind not in _CLASSES:
        raise ValueError(f"there is no memory of kind {kind!r}")
    memory = cls(len(data))
    memory.copy_from_host(data)
    return memory
