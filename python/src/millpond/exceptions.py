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


class CommandError(Error):
    """Work that was submitted earlier failed; raised by the wait that met it."""

    #: What was submitted, with shapes and dtypes.
    operation: str
    #: What it reported; for a task the traceback of its exception.
    reason: str
    #: The line that submitted it, where `MILLPOND_TRACE_LINES` is set.
    origin: str | None


class DeviceError(Error):
    """A driver refused a call, or the device is lost."""


class ForkedError(Error):
    """The call was made in a forked child of the process that uses the devices."""


class OutOfMemoryError(Error, MemoryError):
    """No memory, even after waiting for what was about to be freed."""

    #: Name of the device.
    device: str
    #: Kind of memory.
    kind: str
    #: Bytes asked for.
    requested: int
    #: Bytes of live allocations.
    used: int
    #: Bytes freed, whose last use hasn't completed.
    pending: int
    #: Bytes free in the pool, in pieces too small.
    cached: int


class QueueClosedError(Error):
    """The queue was closed to new work."""


class ShutDownError(Error):
    """millpond was shut down, as it is at exit."""


class UnknownDeviceError(Error, ValueError):
    """There is no device of this name."""


def _restore(kind: type[Error], message: str, attributes: dict[str, Any]) -> Error:
    return kind(message, **attributes)
