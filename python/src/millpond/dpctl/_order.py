"""`SequentialOrderManager`: events of a program's own work, by queue.

Operations of arrays are ordered by the memory that they use and register nothing here. A program that hands events
to and fro keeps its order; one that submits work of its own and registers it finds the events where it expects them.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable

from millpond.dpctl._event import SyclEvent, events_of
from millpond.dpctl._queue import SyclQueue

_Events = SyclEvent | Iterable[SyclEvent]


class _Manager:
    """The events of one queue that aren't complete."""

    __slots__ = ("__weakref__", "_host", "_lock", "_managers", "_queue", "_submitted")

    def __init__(self, queue: SyclQueue, managers: _Managers | None = None) -> None:
        self._queue = queue
        self._managers = managers
        self._lock = threading.Lock()
        self._host: list[SyclEvent] = []
        self._submitted: list[SyclEvent] = []

    @property
    def _is_idle(self) -> bool:
        return not (self.host_task_events or _pending(self._submitted))

    def __copy__(self) -> _Manager:
        other = _Manager(self._queue)
        other._host, other._submitted = self.host_task_events, self.submitted_events
        return other

    def add_event_pair(self, host_task_ev: _Events, comp_ev: _Events) -> None:
        """Register events of work, and those that tell that what it used was let go.

        Raises
        ------
        TypeError
            For what is neither an event nor a sequence of them.
        """
        host, submitted = _as_list(host_task_ev), _as_list(comp_ev)
        with self._lock:
            self._host = _pending(self._host + host)
            self._submitted = _pending(self._submitted + submitted)
        if self._managers is not None:
            self._managers._keep(self)

    @property
    def submitted_events(self) -> list[SyclEvent]:
        """What work to come depends on: registered events that aren't complete, and what its queue was given to do."""
        with self._lock:
            self._submitted = _pending(self._submitted)
            found = list(self._submitted)
        queue = self._queue._queue
        if not queue.is_idle:
            found.append(SyclEvent._of(queue.record()))
        return found

    @property
    def host_task_events(self) -> list[SyclEvent]:
        """Registered events of letting go that aren't complete."""
        with self._lock:
            self._host = _pending(self._host)
            return list(self._host)

    @property
    def num_submitted_events(self) -> int:
        """How many events work to come depends on."""
        return len(self.submitted_events)

    @property
    def num_host_task_events(self) -> int:
        """How many events of letting go aren't complete."""
        return len(self.host_task_events)

    def wait(self) -> None:
        """Wait for the registered events of both sorts, and for the queue."""
        SyclEvent.wait_for(self.submitted_events)
        SyclEvent.wait_for(self.host_task_events)


class _Managers:
    """The managers of all queues: the same for all threads."""

    __slots__ = ("_busy", "_by_queue", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # A queue has one manager for as long as somebody has that or events wait in it. None keeps a queue otherwise.
        self._by_queue: weakref.WeakValueDictionary[SyclQueue, _Manager] = weakref.WeakValueDictionary()
        self._busy: set[_Manager] = set()

    def __getitem__(self, queue: SyclQueue) -> _Manager:
        if not isinstance(queue, SyclQueue):
            raise TypeError(f"SequentialOrderManager is asked by SyclQueue, not by {type(queue).__name__}")
        with self._lock:
            self._busy = {manager for manager in self._busy if not manager._is_idle}
            found = self._by_queue.get(queue)
            if found is None:
                found = self._by_queue[queue] = _Manager(queue, self)
            return found

    def _keep(self, manager: _Manager) -> None:
        """Keep a manager that events were registered with, until they are complete."""
        with self._lock:
            self._busy.add(manager)

    def clear(self) -> None:
        """Wait for all registered events, and forget them."""
        with self._lock:
            managers, self._busy = self._busy, set()
        for manager in managers:
            manager.wait()


def _as_list(events: _Events) -> list[SyclEvent]:
    if events is None:
        raise TypeError("expected SyclEvent or a sequence of them, not None")
    return [events] if isinstance(events, SyclEvent) else events_of(events)


def _pending(events: list[SyclEvent]) -> list[SyclEvent]:
    return [event for event in events if not event._is_done]


#: The events of work by queue: ``SequentialOrderManager[queue]``.
SequentialOrderManager = _Managers()
