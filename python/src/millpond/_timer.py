"""Time of work on a queue."""

from __future__ import annotations

import time
from collections import deque
from types import TracebackType

from millpond._millpond import Event, Queue, _Stamp, default_device


class Timer:
    """Measures the work that is submitted to a queue within `with` blocks.

    The queue isn't stopped, neither by the block nor after it: `device` waits for the end of the work when it is read.
    Blocks add up until `reset`. A block within a block of the same timer is part of that, and isn't counted twice; a
    timer of its own measures it alone. The blocks of a timer belong to one thread at a time.

    Each end of a block is a place in the queue's history. Element-wise work is never collected across it, so what is
    measured is the block's own, in one pass over memory or in several; small work that the call itself carries out
    lies between the two ends as well.

    Of a queue that profiles, times are the device's own. Of any other the host's clock tells when the device reached
    the two ends, so that time in which the queue had nothing to do counts, as it does there.

    Parameters
    ----------
    queue : Queue, optional
        The queue; the default device's default queue, if nothing is said.

    Examples
    --------
    >>> import millpond
    >>> import millpond.tensor as xp
    >>> timer = millpond.Timer()
    >>> for _ in range(3):
    ...     x = xp.ones(1000)
    ...     with timer:
    ...         y = xp.exp(x)
    >>> timer.blocks, timer.host > 0, timer.device > 0
    (3, True, True)
    """

    def __init__(self, queue: Queue | None = None) -> None:
        self.queue = default_device().default_queue if queue is None else queue
        self.reset()

    def reset(self) -> None:
        """Forget all blocks."""
        self._depth = 0
        self._blocks = 0
        self._host = 0.0
        self._device = 0.0
        # Blocks whose work may go on.
        self._open: deque[tuple[_Mark, _Mark]] = deque()
        self._begin: _Mark | None = None

    def __enter__(self) -> Timer:
        if self._depth == 0:
            self._begin = _Mark(self.queue)
        self._depth += 1
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._depth = max(self._depth - 1, 0)
        # Without a begin there was a `reset` within the block.
        if self._depth or self._begin is None:
            return
        begin, end = self._begin, _Mark(self.queue)
        self._begin = None
        self._blocks += 1
        self._host += end.moment - begin.moment
        self._open.append((begin, end))
        # So that a timer in a long loop doesn't grow. Failures are left to those who wait.
        while self._open and self._open[0][1].event.status == "complete":
            self._close()

    def _close(self) -> None:
        begin, end = self._open[0]
        self._device += end.seconds_since(begin)
        self._open.popleft()

    @property
    def blocks(self) -> int:
        """How many blocks were measured."""
        return self._blocks

    @property
    def host(self) -> float:
        """Seconds that the calling thread spent in the blocks.

        Raises
        ------
        RuntimeError
            Before the end of the first block.
        """
        self._check()
        return self._host

    @property
    def device(self) -> float:
        """Seconds from the begin of each block to the end of its work, by the device; waits for the last of them.

        Raises
        ------
        RuntimeError
            Before the end of the first block.
        CommandError
            If work of a block failed.
        """
        self._check()
        while self._open:
            self._open[0][1].event.wait()
            self._close()
        return self._device

    def _check(self) -> None:
        if not self._blocks:
            raise RuntimeError("the timer has not finished: use it as `with Timer() as timer:`")

    def __repr__(self) -> str:
        if not self._blocks:
            return "<Timer, not finished>"
        return f"<Timer, host {self._host:.6f} s>"


class _Mark:
    """A place in a queue's history, when it was recorded and when it was reached."""

    __slots__ = ("_stamp", "event", "moment")

    def __init__(self, queue: Queue) -> None:
        self.event: Event = queue.barrier() if queue.is_profiling else queue.record()
        self._stamp: _Stamp | None = None if queue.is_profiling else self.event._stamp()
        self.moment = time.perf_counter()

    def seconds_since(self, begin: _Mark) -> float:
        """Seconds between another place and this one, both of which were reached."""
        if self._stamp is None or begin._stamp is None:
            return self.event.times.finished - begin.event.times.finished
        return self._stamp.seconds_since(begin._stamp)
