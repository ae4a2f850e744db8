"""The names of dpctl 0.21 over millpond, for programs that were written for it.

``import millpond.dpctl as dpctl`` and ``import millpond.dpctl.tensor as dpt`` take the place of dpctl's imports.
Names, arguments, defaults, results and classes of errors are dpctl's; what can't be, such as programs in SPIR-V, raises
an error that says so. The page "Migrating from dpctl" of the documentation goes through the names one by one.

Unlike `millpond` itself this package needs NumPy, as dpctl does.
"""

from millpond._millpond import __version__
from millpond.dpctl import enum_types, memory, program, tensor, utils
from millpond.dpctl._arguments import LocalAccessor, RawKernelArg, WorkGroupMemory
from millpond.dpctl._context import SyclContext
from millpond.dpctl._device import SyclDevice
from millpond.dpctl._event import SyclEvent
from millpond.dpctl._exceptions import (
    SyclContextCreationError,
    SyclDeviceCreationError,
    SyclKernelInvalidRangeError,
    SyclKernelSubmitError,
    SyclQueueCreationError,
    SyclSubDeviceCreationError,
)
from millpond.dpctl._platform import (
    SyclPlatform,
    get_composite_devices,
    get_devices,
    get_num_devices,
    get_platforms,
    has_accelerator_devices,
    has_cpu_devices,
    has_gpu_devices,
    lsplatform,
    select_accelerator_device,
    select_cpu_device,
    select_default_device,
    select_device_with_aspects,
    select_gpu_device,
)
from millpond.dpctl._queue import SyclQueue, get_device_cached_queue
from millpond.dpctl._timer import SyclTimer
from millpond.dpctl.enum_types import backend_type, device_type, event_status_type, global_mem_cache_type

__all__ = [
    "LocalAccessor",
    "RawKernelArg",
    "SyclContext",
    "SyclContextCreationError",
    "SyclDevice",
    "SyclDeviceCreationError",
    "SyclEvent",
    "SyclKernelInvalidRangeError",
    "SyclKernelSubmitError",
    "SyclPlatform",
    "SyclQueue",
    "SyclQueueCreationError",
    "SyclSubDeviceCreationError",
    "SyclTimer",
    "WorkGroupMemory",
    "__version__",
    "backend_type",
    "device_type",
    "enum_types",
    "event_status_type",
    "get_composite_devices",
    "get_device_cached_queue",
    "get_devices",
    "get_num_devices",
    "get_platforms",
    "global_mem_cache_type",
    "has_accelerator_devices",
    "has_cpu_devices",
    "has_gpu_devices",
    "lsplatform",
    "memory",
    "program",
    "select_accelerator_device",
    "select_cpu_device",
    "select_default_device",
    "select_device_with_aspects",
    "select_gpu_device",
    "tensor",
    "utils",
]
