"""Exceptions of millpond.

Arguments that make no sense raise Python's own: `ValueError`, `TypeError`, `IndexError`, `BufferError`. A wait that
takes longer than its timeout raises `TimeoutError`.
"""

from __future__ import annotations

# As `typing` has it, whose import takes longer than that of the rest of the package.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Error(RuntimeError):
    """Base of millpond's exceptions."""

    def __init__(self, message: str, **attributes: Any) -> None:
        super().__init__(message)
        for name, value in attributes.items():
            setattr(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args[0], self.__dict__)


class BudgetError(Error, MemoryError):
    """The budget of a tag doesn't allow an allocation."""

    #: Name of the tag.
    tag: str
    #: Bytes that the allocation would be granted.
    requested: int
    #: Bytes of the tag's live allocations.
    used: int
    #: The most that they may be.
    budget: int


class CommandError(Error):
    """Work that was submitted earlier failed; raised by the wait that met it."""

    #: What was submitted, with shapes and dtypes.
    operation: str
    #: What it reported; for a task the traceback of its exception.
    reason: str
    #: The line that submitted it, where `MILLPOND_TRACE_LINES` is set.
    origin: str | None


class CommandIndexError(CommandError, IndexError):
    """Work that was submitted earlier found an index outside of its axis."""


class CommandValueError(CommandError, ValueError):
    """Work that was submitted earlier found values that can't be what they are used as."""


class DeviceError(Error):
    """A driver refused a call, or the device is lost."""


class ForkedError(Error):
    """The call was made in a forked child of the process that uses the devices."""


class LinAlgError(CommandError, ValueError):
    """Work met numbers for which its result is undefined, such as a singular matrix.

    As any failure of work, it is raised by the call, if the work was small enough to be done there, or by the next wait
    for the result.
    """


class MemoryInUseError(Error):
    """Memory can't be freed, as others have handles to it."""

    #: How many others.
    handles: int


class OutOfMemoryError(Error, MemoryError):
    """No memory, even after waiting for what was about to be freed. Sizes are in bytes."""

    #: Name of the device.
    device: str
    #: Name of the pool.
    pool: str
    #: Kind of memory.
    kind: str
    #: Asked for.
    requested: int
    #: What the pool would have granted for it.
    granted: int
    #: Of live allocations.
    used: int
    #: Number of live allocations.
    live: int
    #: Freed, but the last use hasn't completed.
    pending: int
    #: The same by the number of the queue that it waits for.
    pending_by_queue: list[tuple[int, int]]
    #: Free in the pool, in pieces too small.
    cached: int
    #: The largest of these pieces.
    largest_free: int
    #: Had from the driver.
    reserved: int
    #: The most that the pool may reserve.
    maximum_size: int | None
    #: What other pools of the device have reserved, by name.
    other_pools: list[tuple[str, int]]
    #: The smallest set of commands, each a queue's number and its own, after which the request would fit.
    fits_after: list[tuple[int, int]] | None
    #: What the driver or the pool said.
    reason: str


class PoolClosedError(Error):
    """The pool was closed to new allocations."""


class QueueClosedError(Error):
    """The queue was closed to new work."""


class SharingError(Error, ValueError):
    """Memory can't be given to other processes, or a handle to memory of another process is of no use."""


class ShutDownError(Error):
    """millpond was shut down, as it is at exit."""


class UnknownDeviceError(Error, ValueError):
    """There is no device of this name."""


def _restore(kind: type[Error], message: str, attributes: dict[str, Any]) -> Error:
    return kind(message, **attributes)
