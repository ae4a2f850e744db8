"""Time of work on a queue."""

from __future__ import annotations

import time
from types import TracebackType

from millpond._millpond import Event, Queue, _Stamp, default_device


class Timer:
    """Measures the work that is submitted to a queue within a `with` block.

    >>> with Timer() as timer:
    ...     y = x @ x
    >>> timer.host, timer.device

    The queue isn't stopped: `device` waits for the end of the work when it is read. Of a queue that profiles it is the
    device's own time, else it is told by the host's clock when the device reached the begin and the end.
    """

    def __init__(self, queue: Queue | None = None) -> None:
        self.queue = default_device().default_queue if queue is None else queue
        self._begin: tuple[float, Event, _Stamp] | None = None
        self._end: tuple[float, Event, _Stamp] | None = None

    def __enter__(self) -> Timer:
        self._end = None
        self._begin = self._mark()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._end = self._mark()

    def _mark(self) -> tuple[float, Event, _Stamp]:
        event = self.queue.barrier() if self.queue.is_profiling else self.queue.record()
        return time.perf_counter(), event, event._stamp()

    def _marks(self) -> tuple[tuple[float, Event, _Stamp], tuple[float, Event, _Stamp]]:
        if self._begin is None or self._end is None:
            raise RuntimeError("the timer has not finished: use it as `with Timer() as timer:`")
        return self._begin, self._end

    @property
    def host(self) -> float:
        """Seconds that the calling thread spent in the block."""
        begin, end = self._marks()
        return end[0] - begin[0]

    @property
    def device(self) -> float:
        """Seconds that the device needed for the block's work; waits for its end."""
        begin, end = self._marks()
        end[1].wait()
        if self.queue.is_profiling:
            return end[1].times.finished - begin[1].times.finished
        return end[2].seconds_since(begin[2])

    def __repr__(self) -> str:
        if self._end is None:
            return "<Timer, not finished>"
        return f"<Timer, host {self.host:.6f} s>"
