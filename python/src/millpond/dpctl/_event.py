"""`SyclEvent`: an event by dpctl's names."""

from __future__ import annotations

from collections.abc import Iterable

import millpond
from millpond.dpctl import _filters
from millpond.dpctl._capsules import WithoutCapsule, described
from millpond.dpctl.enum_types import backend_type, event_status_type

_STATUSES = {
    "pending": event_status_type.submitted,
    "complete": event_status_type.complete,
    "failed": event_status_type.complete,
}


class SyclEvent(WithoutCapsule):
    """A place in a queue's history that one can wait for.

    Parameters
    ----------
    arg : SyclEvent, optional
        An event, for another one of the same place; without it, an event that is complete.

    Raises
    ------
    TypeError
        For other arguments.
    """

    __slots__ = ("_event", "_waits_for")

    _event: millpond.Event | None
    _waits_for: tuple[SyclEvent, ...]

    def __init__(self, arg: SyclEvent | None = None, /) -> None:
        if arg is not None and not isinstance(arg, SyclEvent):
            raise TypeError(f"a SyclEvent is made of a SyclEvent or of nothing, not of {described(arg)}")
        self._event = None if arg is None else arg._event
        self._waits_for = () if arg is None else arg._waits_for

    @classmethod
    def _of(cls, event: millpond.Event, waits_for: Iterable[SyclEvent] = ()) -> SyclEvent:
        """Return an event of the runtime by dpctl's names."""
        self = cls()
        self._event, self._waits_for = event, tuple(waits_for)
        return self

    def wait(self) -> None:
        """Wait for the work; raise its failure."""
        if self._event is not None:
            self._event.wait()

    @staticmethod
    def wait_for(event: SyclEvent | Iterable[SyclEvent]) -> None:
        """Wait for an event, or for several.

        Raises
        ------
        TypeError
            For what is neither.
        """
        for one in [event] if isinstance(event, SyclEvent) else events_of(event):
            one.wait()

    def get_wait_list(self) -> list[SyclEvent]:
        """Return the events that were named when its command was submitted, and that are still to come."""
        return [event for event in self._waits_for if not event._is_done]

    def addressof_ref(self) -> int:
        """Return a number that identifies this object; no SYCL object stands behind it."""
        return id(self)

    @property
    def _is_done(self) -> bool:
        return self._event is None or self._event.is_done

    @property
    def execution_status(self) -> event_status_type:
        """What has become of the work: submitted, or complete, which a failure is too. Doesn't wait."""
        return event_status_type.complete if self._event is None else _STATUSES[self._event.status]

    @property
    def backend(self) -> backend_type:
        """The backend of its device; the default device's, if it is of no queue."""
        device = millpond.default_device() if self._event is None else self._event.device
        return _filters.backend_of(device)

    @property
    def profiling_info_submit(self) -> int:
        """Nanoseconds of the clock when it was submitted; 0 for an event of no queue, else the queue must profile."""
        return 0 if self._event is None else _nanoseconds(self._event.times.submitted)

    @property
    def profiling_info_start(self) -> int:
        """Nanoseconds of the clock when it began; likewise."""
        return 0 if self._event is None else _nanoseconds(self._event.times.started)

    @property
    def profiling_info_end(self) -> int:
        """Nanoseconds of the clock when it had finished; likewise."""
        return 0 if self._event is None else _nanoseconds(self._event.times.finished)


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def events_of(events: Iterable[SyclEvent] | None) -> list[SyclEvent]:
    """Return the events of a sequence; none of `None`.

    Raises
    ------
    TypeError
        For what isn't a sequence of them.
    """
    if events is None:
        return []
    if not isinstance(events, Iterable):
        raise TypeError(f"expected a sequence of SyclEvent, not {type(events).__name__}")
    found = list(events)
    for event in found:
        if not isinstance(event, SyclEvent):
            raise TypeError(f"expected SyclEvent, not {type(event).__name__}")
    return found


def pending(events: Iterable[SyclEvent]) -> list[millpond.Event]:
    """Return what is to be waited for of some events."""
    return [event._event for event in events if event._event is not None]
