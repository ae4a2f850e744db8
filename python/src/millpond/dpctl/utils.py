"""Where operations run, and the order of a program's own work."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator, Sequence

from millpond.dpctl._device import SyclDevice
from millpond.dpctl._order import SequentialOrderManager
from millpond.dpctl._queue import SyclQueue

__all__ = [
    "ExecutionPlacementError",
    "SequentialOrderManager",
    "get_coerced_usm_type",
    "get_execution_queue",
    "intel_device_info",
    "onetrace_enabled",
    "validate_usm_type",
]

#: The kinds of memory, in the order in which operands decide about a result's.
_KINDS = ("device", "shared", "host")


class ExecutionPlacementError(Exception):
    """The operands of an operation belong to several queues."""


def get_execution_queue(qs: Sequence[SyclQueue | None], /) -> SyclQueue | None:
    """Return the queue that operands have in common.

    Parameters
    ----------
    qs : sequence of SyclQueue or None
        The queues of the operands.

    Returns
    -------
    SyclQueue or None
        The queue; ``None`` if there is none, or several.

    Raises
    ------
    TypeError
        For what is neither a list nor a tuple.

    Examples
    --------
    >>> from millpond.dpctl import SyclQueue
    >>> from millpond.dpctl.utils import get_execution_queue
    >>> q = SyclQueue()
    >>> get_execution_queue([q, q]) is q, get_execution_queue([q, SyclQueue()])
    (True, None)
    """
    if not isinstance(qs, (list, tuple)):
        raise TypeError(f"expected a list or a tuple of queues, not {type(qs).__name__}")
    if not qs or any(not isinstance(queue, SyclQueue) or queue != qs[0] for queue in qs):
        return None
    queue: SyclQueue = qs[0]
    return queue


def get_coerced_usm_type(usm_types: Sequence[str], /) -> str | None:
    """Return the kind of memory that a result of operands of these kinds has.

    Raises
    ------
    TypeError
        For what is neither a list nor a tuple.
    """
    if not isinstance(usm_types, (list, tuple)):
        raise TypeError(f"expected a list or a tuple of kinds of memory, not {type(usm_types).__name__}")
    if not usm_types or any(kind not in _KINDS for kind in usm_types):
        return None
    kind: str = min(usm_types, key=_KINDS.index)
    return kind


def validate_usm_type(usm_type: str | None, /, *, allow_none: bool = True) -> None:
    """Check that a kind of memory is one.

    Raises
    ------
    TypeError
        For what is no string, nor ``None`` where that is allowed.
    ValueError
        For another string.
    """
    if usm_type is None and allow_none:
        return
    if not isinstance(usm_type, str):
        raise TypeError(f"a kind of memory is a string{' or None' * allow_none}, not {type(usm_type).__name__}")
    if usm_type not in _KINDS:
        raise ValueError(f"{usm_type!r} is none of the kinds of memory {', '.join(map(repr, _KINDS))}")


def intel_device_info(dev: SyclDevice, /) -> dict[str, int]:
    """Return what Intel's drivers tell of their GPUs: nothing, as no such driver is used.

    Raises
    ------
    TypeError
        For what is no device.
    """
    if not isinstance(dev, SyclDevice):
        raise TypeError(f"expected a SyclDevice, not {type(dev).__name__}")
    return {}


@contextlib.contextmanager
def onetrace_enabled() -> Iterator[None]:
    """Set the variable by which Intel's tracing tools are told to collect, which millpond's work doesn't reach."""
    name = "PTI_ENABLE_COLLECTION"
    warnings.warn("work of millpond isn't seen by tools that trace SYCL", RuntimeWarning, stacklevel=3)
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before
