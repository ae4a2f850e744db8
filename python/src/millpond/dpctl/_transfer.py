"""Copies of bytes between memory objects and buffers of the host, in queue order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import millpond
from millpond.memory import HostMemory, Memory


def endpoint(obj: Any, writable: bool = False) -> Memory | memoryview:
    """Return what bytes are copied from or to: a memory object, or the bytes of a buffer.

    Raises
    ------
    TypeError
        For what is neither, for a buffer with gaps, and for one that mustn't be written and shall be.
    """
    if isinstance(obj, Memory):
        return obj
    try:
        view = memoryview(obj)
    except TypeError:
        raise TypeError(f"expected a memory object or a buffer, not {type(obj).__name__}") from None
    if writable and view.readonly:
        raise TypeError(f"{type(obj).__name__} can't be written")
    if not view.c_contiguous:
        raise TypeError(f"the buffer of {type(obj).__name__} has gaps")
    return view.cast("B")


def size(end: Memory | memoryview) -> int:
    """Return the number of bytes."""
    return end.nbytes


def submit(
    queue: millpond.Queue,
    target: Memory | memoryview,
    source: Memory | memoryview,
    count: int,
    after: Sequence[millpond.Event] = (),
) -> millpond.Event:
    """Submit a copy of the first `count` bytes after some events, and return an event of the queue for it."""
    for event in after:
        queue.wait_for(event)
    if isinstance(target, Memory):
        own = target.queue
        if own != queue:
            own.wait_for(queue.record())
        target.copy_from(source.view(0, count) if isinstance(source, Memory) else source[:count])
        if own != queue:
            queue.wait_for(own.record())
        return queue.record()
    if isinstance(source, Memory):
        # The bytes go through host memory, which is in order with all that uses it: a copy to the buffer itself would
        # wait for later writers of the source, too.
        staged = HostMemory(max(count, 1), queue=queue)
        staged.view(0, count).copy_from(source.view(0, count))
        return queue.task(lambda view: _assign(target, view, count), [staged], views=True, name="memcpy")
    return queue.task(lambda: _assign(target, source, count), name="memcpy")


def _assign(target: memoryview, source: memoryview, count: int) -> None:
    target[:count] = source[:count]
