"""Handles to memory of other processes, as `multiprocessing` sends them.

A handle has a descriptor and the data that goes with it. The data is pickled; the descriptor travels as those of
connections and sockets do, to a process that is being started or by a socket. Handles of one pool share a descriptor,
where they are sent in one message and where they arrive.
"""

from __future__ import annotations

import os
from types import TracebackType
from weakref import WeakValueDictionary, finalize

from millpond._millpond import Export, ImportedPool, Memory

# As `typing` has it, whose import takes longer than that of the rest of the package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol, TypeVar

    from millpond._millpond import Device, Queue

    class _Duplicate(Protocol):
        def detach(self) -> int: ...

    _H = TypeVar("_H", bound="_Handle")


class _Descriptor:
    """A descriptor that several handles share."""

    def __init__(self, fd: int, owner: object = None) -> None:
        self.fd = fd
        self._owner = owner

    @classmethod
    def owning(cls, fd: int) -> _Descriptor:
        """Close it with the last handle, or now, if the process has the same already."""
        known = _received.get(_file(fd))
        if known is not None:
            os.close(fd)
            return known
        os.set_inheritable(fd, False)
        made = cls(fd)
        finalize(made, os.close, fd)
        _received[_file(fd)] = made
        return made

    @classmethod
    def of(cls, export: Export) -> _Descriptor:
        """Have exports of one pool use the same object, which a pickle then has once."""
        key = _file(export.fd)
        known = _sent.get(key)
        if known is None:
            known = _sent[key] = cls(export.fd, owner=export)
        return known

    def __reduce__(self) -> tuple[Callable[[_Duplicate], _Descriptor], tuple[_Duplicate]]:
        from multiprocessing import reduction

        return _receive, (reduction.DupFd(self.fd),)


#: Descriptors by the file that they are of: those of exports, while they are being sent, and those of handles.
_sent: WeakValueDictionary[tuple[int, int], _Descriptor] = WeakValueDictionary()
_received: WeakValueDictionary[tuple[int, int], _Descriptor] = WeakValueDictionary()


def _file(fd: int) -> tuple[int, int]:
    status = os.fstat(fd)
    return status.st_dev, status.st_ino


def _receive(duplicate: _Duplicate) -> _Descriptor:
    return _Descriptor.owning(duplicate.detach())


class _Handle:
    """What is common to handles: data, and a descriptor that is open until they are closed."""

    _descriptor: _Descriptor | None

    #: What goes with the descriptor.
    data: bytes

    def __init__(self, data: bytes, fd: int) -> None:
        self.data = bytes(data)
        self._descriptor = _Descriptor.owning(os.dup(fd))

    @property
    def fd(self) -> int:
        """The descriptor. It is the handle's own, and the same for all handles of a pool."""
        return self._open_descriptor().fd

    def fileno(self) -> int:
        """Answer the same as `fd`."""
        return self.fd

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._descriptor is None

    def close(self) -> None:
        """Give the descriptor up; memory that is open stays so. Closing twice does nothing."""
        self._descriptor = None

    def _open_descriptor(self) -> _Descriptor:
        if self._descriptor is None:
            raise ValueError("the handle was closed")
        return self._descriptor

    def __enter__(self: _H) -> _H:
        self._open_descriptor()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., _Handle], tuple[object, ...]]:
        return _restore, (type(self), self.data, self._open_descriptor())

    def __repr__(self) -> str:
        end = "closed" if self._descriptor is None else f"fd {self._descriptor.fd}"
        return f"<{type(self).__name__}, {end}>"


class MemoryHandle(_Handle):
    """A handle to memory that another process exports: what an `Export` becomes when it is sent."""

    def open(self, *, device: Device | Queue | str | None = None, queue: Queue | None = None) -> Memory:
        """Open the memory, as often as wanted. It stays valid whatever becomes of the other process."""
        return Memory.from_handle(self.data, self.fd, device=device, queue=queue)


class PoolHandle(_Handle):
    """A handle to a pool of another process, as `Pool.handle` answers it."""

    def open(self, *, device: Device | Queue | str | None = None) -> ImportedPool:
        """Open the pool, to open memory of it by the `data` of its exports alone."""
        return ImportedPool(self.data, self.fd, device=device)


def reduce(export: Export) -> tuple[Callable[..., _Handle], tuple[object, ...]]:
    """Answer what makes a handle of an export in the process that receives it."""
    return _restore, (MemoryHandle, export.data, _Descriptor.of(export))


def _restore(kind: type[_H], data: bytes, descriptor: _Descriptor) -> _H:
    handle = kind.__new__(kind)
    handle.data = data
    handle._descriptor = descriptor
    return handle
