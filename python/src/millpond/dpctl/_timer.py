"""`SyclTimer`: time of blocks of work by dpctl's names."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Iterator
from types import TracebackType

import millpond
from millpond.dpctl._queue import SyclQueue

#: The ways of measuring that dpctl has. Here they are the same: order by memory makes either see all work.
_DEVICE_TIMERS = (None, "queue_barrier", "order_manager")


class HostDeviceDuration:
    """Time of the host and of the device, which can be unpacked."""

    __slots__ = ("_device_dt", "_host_dt")

    def __init__(self, host_dt: float, device_dt: float) -> None:
        self._host_dt, self._device_dt = host_dt, device_dt

    def __iter__(self) -> Iterator[float]:
        yield self._host_dt
        yield self._device_dt

    def __repr__(self) -> str:
        return f"(host_dt={self._host_dt}, device_dt={self._device_dt})"

    @property
    def host_dt(self) -> float:
        """By the host's timer."""
        return self._host_dt

    @property
    def device_dt(self) -> float:
        """By the device."""
        return self._device_dt


class SyclTimer:
    """Measures the work that is submitted to queues within `with` blocks, by `millpond.Timer`.

    Parameters
    ----------
    host_timer : callable, optional
        What gives the host's time in seconds.
    device_timer : {"queue_barrier", "order_manager"}, optional
        Either measures all work of the queue.
    time_scale : float, optional
        How many units of the result a second has.

    Raises
    ------
    ValueError
        For another `device_timer`.

    Examples
    --------
    >>> import millpond.dpctl as dpctl
    >>> import millpond.dpctl.tensor as dpt
    >>> q = dpctl.SyclQueue(property="enable_profiling")
    >>> timer = dpctl.SyclTimer(time_scale=1e3)
    >>> with timer(q):
    ...     x = dpt.linspace(0, 1, num=1000, sycl_queue=q)
    >>> host_dt, device_dt = timer.dt
    """

    def __init__(
        self,
        host_timer: Callable[[], float] = timeit.default_timer,
        device_timer: str | None = None,
        time_scale: float = 1,
    ) -> None:
        if device_timer not in _DEVICE_TIMERS:
            raise ValueError(f"device_timer is 'queue_barrier' or 'order_manager', not {device_timer!r}")
        self.timer = host_timer
        self.time_scale = time_scale
        self.queue: SyclQueue | None = None
        self._timers: dict[SyclQueue, millpond.Timer] = {}
        self._entered: list[tuple[millpond.Timer, float]] = []
        self._host = 0.0

    def __call__(self, queue: SyclQueue | None = None) -> SyclTimer:
        """Choose the queue of the blocks to come.

        Raises
        ------
        TypeError
            For what is no queue.
        ValueError
            For a queue without profiling.
        """
        if not isinstance(queue, SyclQueue):
            raise TypeError(f"the queue is a SyclQueue, not {type(queue).__name__}")
        if not queue.has_enable_profiling:
            raise ValueError("the queue was made without the property 'enable_profiling'")
        self.queue = queue
        return self

    def __enter__(self) -> SyclTimer:
        if self.queue is None:
            raise TypeError("the timer has no queue: use it as `with timer(queue):`")
        timer = self._timers.get(self.queue) or self._timers.setdefault(self.queue, millpond.Timer(self.queue._queue))
        timer.__enter__()
        self._entered.append((timer, self.timer()))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        timer, begin = self._entered.pop()
        timer.__exit__(kind, exception, traceback)
        elapsed = self.timer() - begin
        if not any(other is timer for other, _ in self._entered):
            self._host += elapsed

    @property
    def dt(self) -> HostDeviceDuration:
        """Time of all blocks so far; waits for their work."""
        device = sum(timer.device for timer in self._timers.values() if timer.blocks)
        return HostDeviceDuration(self._host * self.time_scale, device * self.time_scale)
