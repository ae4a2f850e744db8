"""Kinds of devices, backends, events and caches."""

from enum import Enum

__all__ = ["backend_type", "device_type", "event_status_type", "global_mem_cache_type"]


class device_type(Enum):
    """Class of a device, to select by."""

    all = 1
    accelerator = 2
    automatic = 3
    cpu = 4
    custom = 5
    gpu = 6


class backend_type(Enum):
    """What drives a device. `native_cpu` is the host's own processor, which is driven by no other runtime."""

    all = 1
    cuda = 2
    hip = 3
    level_zero = 4
    opencl = 5
    native_cpu = 6


class event_status_type(Enum):
    """What has become of the work of an event."""

    unknown_status = 1
    submitted = 2
    running = 3
    complete = 4


class global_mem_cache_type(Enum):
    """How a device's cache of global memory is used."""

    indeterminate = 1
    none = 2
    read_only = 3
    read_write = 4
