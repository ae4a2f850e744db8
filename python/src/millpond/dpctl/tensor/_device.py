"""`Device`: where arrays are, which in dpctl is a queue."""

from __future__ import annotations

import functools
from typing import Any

from millpond.dpctl._context import SyclContext
from millpond.dpctl._device import SyclDevice
from millpond.dpctl._queue import SyclQueue, get_device_cached_queue
from millpond.dpctl.utils import get_execution_queue


class Device:
    """A queue in the place of a device: ``Device.create_device(what)`` makes one.

    Devices are equal if their queues are, and print as the filter string.
    """

    __slots__ = ("_queue",)

    _queue: SyclQueue

    def __new__(cls, *args: Any, **kwargs: Any) -> Device:
        """Refuse to be called."""
        raise TypeError("a Device is made by Device.create_device")

    @classmethod
    def create_device(cls, device: Any = None) -> Device:
        """Make one of a device, a queue, a filter string, or nothing for the default device.

        Raises
        ------
        ValueError
            For a part of a device, which has no queue that others could mean.
        """
        self = object.__new__(cls)
        if isinstance(device, Device):
            self._queue = device._queue
        elif isinstance(device, SyclQueue):
            self._queue = device
        else:
            found = SyclDevice(device)
            if found.parent_device is not None:
                raise ValueError(f"{found} is part of another device; name a SyclQueue of it")
            self._queue = get_device_cached_queue(found)
        return self

    @property
    def sycl_queue(self) -> SyclQueue:
        """The queue."""
        return self._queue

    @property
    def sycl_device(self) -> SyclDevice:
        """The device of the queue."""
        return self._queue.sycl_device

    @property
    def sycl_context(self) -> SyclContext:
        """The context of the queue."""
        return self._queue.sycl_context

    def print_device_info(self) -> None:
        """Print what the device is."""
        self.sycl_device.print_device_info()

    def wait(self) -> None:
        """Wait for everything submitted to the queue so far."""
        self._queue.wait()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Device):
            return self._queue == other._queue
        if isinstance(other, SyclQueue):
            return self._queue == other
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._queue)

    def __repr__(self) -> str:
        device = self.sycl_device
        return repr(self._queue) if device.parent_device else f"Device({device.filter_string})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Device.create_device, (self._queue,)


@functools.cache
def _default_queue() -> SyclQueue:
    """Return the default device's queue; devices don't come and go."""
    return get_device_cached_queue(SyclDevice())


def placed(sycl_queue: SyclQueue | None, device: Any) -> SyclQueue:
    """Return the queue that two keywords name: the default device's, if neither does.

    Raises
    ------
    TypeError
        If they name two, or `sycl_queue` is none.
    """
    if sycl_queue is None:
        return _default_queue() if device is None else Device.create_device(device)._queue
    if not isinstance(sycl_queue, SyclQueue):
        raise TypeError(f"sycl_queue is a SyclQueue, not {type(sycl_queue).__name__}")
    if device is not None and get_execution_queue((sycl_queue, Device.create_device(device)._queue)) is None:
        raise TypeError("sycl_queue and device name two queues; give one of them")
    return sycl_queue
