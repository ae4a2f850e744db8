"""Arrays on CPUs and GPUs, asynchronous, with memory from stream-ordered pools.

A `Device` has a default `Queue`; commands on a queue run in order, and an `Event` is a place in its
history that one can wait for. `millpond.memory` has memory objects and pools, `millpond.tensor` the
functions of the Array API standard.

Calls return before the work is done. What observes a result waits for exactly that; work that fails
raises at the next wait.
"""

import atexit as _atexit
import importlib as _importlib
import sys as _sys

from millpond import _millpond, _service, exceptions
from millpond._explain import Execution, Explanation, explain
from millpond._millpond import (
    Cache,
    Device,
    Event,
    Gate,
    Queue,
    Times,
    __version__,
    default_device,
    device,
    devices,
    live,
    take_races,
    wait,
)
from millpond._native import get_include
from millpond._timer import Timer
from millpond._versions import show_versions
from millpond.exceptions import (
    BudgetError,
    CommandError,
    CommandIndexError,
    CommandValueError,
    DeviceError,
    Error,
    ForkedError,
    LinAlgError,
    MemoryInUseError,
    OutOfMemoryError,
    PoolClosedError,
    QueueClosedError,
    SharingError,
    ShutDownError,
    UnknownDeviceError,
)

__all__ = [
    "BudgetError",
    "Cache",
    "CommandError",
    "CommandIndexError",
    "CommandValueError",
    "Device",
    "DeviceError",
    "Error",
    "Event",
    "Execution",
    "Explanation",
    "ForkedError",
    "Gate",
    "LinAlgError",
    "MemoryInUseError",
    "OutOfMemoryError",
    "PoolClosedError",
    "Queue",
    "QueueClosedError",
    "SharingError",
    "ShutDownError",
    "Timer",
    "Times",
    "UnknownDeviceError",
    "__version__",
    "default_device",
    "device",
    "devices",
    "exceptions",
    "explain",
    "get_include",
    "live",
    "show_versions",
    "take_races",
    "wait",
]

_millpond.check_interpreter()
_atexit.register(_service.shut_down)
_millpond.look_in_packages([folder for folder in _sys.path if folder])


def __getattr__(name: str) -> object:
    """Import submodules when they are first asked for."""
    if name in ("dpctl", "memory", "tensor"):
        return _importlib.import_module(f"millpond.{name}")
    raise AttributeError(f"module 'millpond' has no attribute {name!r}")
