"""`SyclQueue`: a queue by dpctl's names."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import millpond
from millpond.dpctl import _transfer
from millpond.dpctl._capsules import WithoutCapsule, described
from millpond.dpctl._context import SyclContext
from millpond.dpctl._device import SyclDevice
from millpond.dpctl._event import SyclEvent, events_of, pending
from millpond.dpctl._exceptions import SyclDeviceCreationError, SyclQueueCreationError
from millpond.dpctl.enum_types import backend_type
from millpond.dpctl.program import SyclKernel
from millpond.memory import Memory

#: What `property` may name, and the bits that dpctl has for it.
_PROPERTIES = {"default": 0, "enable_profiling": 1, "in_order": 2}
_PROFILING, _IN_ORDER = _PROPERTIES["enable_profiling"], _PROPERTIES["in_order"]


class SyclQueue(WithoutCapsule):
    """A line of commands on one device.

    Commands that use the same memory take effect in the order of their submission, on any queue. Others may overlap,
    unless `property` is ``"in_order"``.

    Parameters
    ----------
    *args
        Nothing, for the default device; a filter string; a `SyclDevice`; a `SyclContext` and a device of it; or a
        `SyclQueue`, for another object of the same queue.
    property : str or sequence of str, optional
        ``"in_order"``, ``"enable_profiling"``, ``"default"`` or several of them.

    Raises
    ------
    SyclQueueCreationError
        If there is no such device, or it isn't in the context.
    TypeError
        For other arguments.
    ValueError
        For another property.

    Examples
    --------
    >>> import millpond.dpctl as dpctl
    >>> dpctl.SyclQueue("cpu", property="in_order").is_in_order
    True
    """

    __slots__ = ("_context", "_queue")
    __name__ = "SyclQueue"

    _queue: millpond.Queue
    _context: SyclContext | None

    def __init__(self, *args: Any, property: str | int | Sequence[str | int] | None = None) -> None:
        flags = _flags(property)
        self._context = None
        if len(args) == 1 and isinstance(args[0], SyclQueue):
            self._queue, self._context = args[0]._queue, args[0]._context
            return
        if len(args) == 2 and isinstance(args[0], SyclContext) and isinstance(args[1], SyclDevice):
            self._context, device = args
            if device not in self._context.get_devices():
                raise SyclQueueCreationError(f"{device} isn't in {self._context}")
        elif len(args) <= 1 and isinstance(args[0] if args else None, (str, SyclDevice, type(None))):
            try:
                device = SyclDevice(*args)
            except SyclDeviceCreationError as error:
                raise SyclQueueCreationError(str(error)) from error
        else:
            given = ", ".join(described(argument) for argument in args)
            raise TypeError(
                "a SyclQueue is made of a filter string, a SyclDevice, a SyclContext and a SyclDevice, or a SyclQueue, "
                f"not of ({given})"
            )
        self._queue = device._device.create_queue(bool(flags & _IN_ORDER), bool(flags & _PROFILING))

    @classmethod
    def _of(cls, queue: millpond.Queue, context: SyclContext | None = None) -> SyclQueue:
        """Return a queue of the runtime by dpctl's names."""
        self = cls.__new__(cls)
        self._queue, self._context = queue, context
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SyclQueue):
            return NotImplemented
        return self._queue == other._queue

    def __hash__(self) -> int:
        return hash(self._queue)

    def __repr__(self) -> str:
        properties = [name for name in ("in_order", "enable_profiling") if _PROPERTIES[name] & self._flags]
        shown = "" if not properties else f", property={properties[0] if len(properties) == 1 else properties}"
        return f"<millpond.dpctl.SyclQueue at {id(self):#x}{shown}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return SyclQueue._of, (self._queue, self._context)

    @property
    def _flags(self) -> int:
        return self.is_in_order * _IN_ORDER | self.has_enable_profiling * _PROFILING

    def addressof_ref(self) -> int:
        """Return a number that identifies this object; no SYCL object stands behind it."""
        return id(self)

    # What it is.

    @property
    def sycl_device(self) -> SyclDevice:
        """Its device."""
        return SyclDevice._of(self._queue.device)

    @property
    def sycl_context(self) -> SyclContext:
        """The context that it was made in; its platform's, if none was named."""
        if self._context is not None:
            return self._context
        device = self.sycl_device
        return SyclContext(device) if device.parent_device else device.sycl_platform.default_context

    @property
    def backend(self) -> backend_type:
        """The backend of its device."""
        return self.sycl_device.backend

    @property
    def name(self) -> str:
        """The name of its device."""
        return self.sycl_device.name

    @property
    def driver_version(self) -> str:
        """The version of its device's driver."""
        return self.sycl_device.driver_version

    @property
    def is_in_order(self) -> bool:
        """Whether commands take effect in the order of their submission, whatever memory they use."""
        return self._queue.is_in_order

    @property
    def has_enable_profiling(self) -> bool:
        """Whether its events know their times."""
        return self._queue.is_profiling

    def get_sycl_device(self) -> SyclDevice:
        """Return its device."""
        return self.sycl_device

    def get_sycl_context(self) -> SyclContext:
        """Return the context that it was made in."""
        return self.sycl_context

    def print_device_info(self) -> None:
        """Print what its device is."""
        self.sycl_device.print_device_info()

    # Work.

    def wait(self) -> None:
        """Wait for everything submitted so far; raise the first failure that no wait has told yet."""
        self._queue.wait()

    def submit_barrier(self, dependent_events: Sequence[SyclEvent] | None = None) -> SyclEvent:
        """Make everything submitted from now on happen after everything before, and after the events."""
        events = events_of(dependent_events)
        return SyclEvent._of(self._queue.barrier(pending(events)), events)

    def memcpy(self, dest: Any, src: Any, count: int) -> None:
        """Copy `count` bytes between memory objects, buffers of the host, or one and the other, and wait for it.

        Raises
        ------
        TypeError
            For what is neither.
        ValueError
            For more bytes than either has.
        """
        self.memcpy_async(dest, src, count).wait()

    def memcpy_async(self, dest: Any, src: Any, count: int, dEvents: Sequence[SyclEvent] | None = None) -> SyclEvent:
        """Submit the same after some events, and return an event for it.

        A buffer that is written must be left alone until then. One that is read is read by the call, unless both are
        buffers.
        """
        events = events_of(dEvents)
        target, source = _transfer.endpoint(dest, writable=True), _transfer.endpoint(src)
        for name, end in (("dest", target), ("src", source)):
            if not 0 <= count <= _transfer.size(end):
                raise ValueError(f"{count} bytes are more than {name} has: {_transfer.size(end)}")
        return SyclEvent._of(_transfer.submit(self._queue, target, source, count, pending(events)), events)

    def prefetch(self, mem: Memory, count: int = 0) -> None:
        """Hint that the first `count` bytes, or all, will be used on the device.

        Raises
        ------
        TypeError
            For what is no memory object.
        """
        self._queue.prefetch(_memory(mem), 0, count if 0 < count <= mem.nbytes else None)

    def mem_advise(self, mem: Memory, count: int, advice: int) -> None:
        """Check the arguments: a hint for a driver of SYCL means nothing to others.

        Raises
        ------
        TypeError
            For what is no memory object.
        """
        _memory(mem)

    def submit(
        self,
        kernel: SyclKernel,
        args: Sequence[Any],
        gS: Sequence[int],
        lS: Sequence[int] | None = None,
        dEvents: Sequence[SyclEvent] | None = None,
    ) -> SyclEvent:
        """Refuse a kernel: there are none, as no program can be made (`millpond.dpctl.program`).

        Raises
        ------
        TypeError
            For whatever `kernel` is.
        """
        raise TypeError(
            f"a kernel is a SyclKernel, not {type(kernel).__name__}, and there are none: devices of millpond take no "
            "programs of SYCL; use millpond.dpctl.tensor, or millpond.Queue.task for a function of Python"
        )

    def submit_async(
        self,
        kernel: SyclKernel,
        args: Sequence[Any],
        gS: Sequence[int],
        lS: Sequence[int] | None = None,
        dEvents: Sequence[SyclEvent] | None = None,
    ) -> SyclEvent:
        """Refuse a kernel, as `submit` does."""
        return self.submit(kernel, args, gS, lS, dEvents)

    def _submit_keep_args_alive(self, args: Any, dEvents: Sequence[SyclEvent] | None = None) -> SyclEvent:
        """Keep objects until some events are complete, and return an event for that."""
        events = events_of(dEvents)
        barrier = self._queue.barrier(pending(events))
        barrier.on_complete(functools.partial(_let_go, args))
        return SyclEvent._of(barrier, events)


def _let_go(kept: Any, event: millpond.Event) -> None:
    """Do nothing: objects are kept by the callback that they are arguments of."""


def _memory(mem: Any) -> Memory:
    if not isinstance(mem, Memory):
        raise TypeError(f"expected a memory object, not {type(mem).__name__}")
    return mem


def _flags(property: Any) -> int:
    """Return dpctl's bits for what `property` names."""
    names = property if isinstance(property, (list, tuple)) else [0 if property is None else property]
    flags = 0
    for name in names:
        if isinstance(name, str) and name in _PROPERTIES:
            flags |= _PROPERTIES[name]
        elif isinstance(name, int) and 0 <= name <= sum(_PROPERTIES.values()):
            flags |= name
        else:
            raise ValueError(f"property {name!r} is none of {', '.join(map(repr, _PROPERTIES))}")
    return flags


#: Queues by context and device. An entry is made once, whichever thread asks first.
_cache: dict[tuple[SyclContext | None, SyclDevice], SyclQueue] = {}


def get_device_cached_queue(key: SyclDevice | SyclQueue | str | tuple[SyclContext, SyclDevice]) -> SyclQueue:
    """Return the queue that is the same for all who ask for a device.

    That is the device's default queue, which is in order.

    Parameters
    ----------
    key : SyclDevice, str or (SyclContext, SyclDevice)
        The device, or a filter string that names it; with a context of the program's own, that has a queue of its own.

    Raises
    ------
    TypeError
        For other arguments.
    """
    if isinstance(key, str):
        key = SyclDevice(key)
    if isinstance(key, SyclDevice):
        return SyclQueue._of(key._device.default_queue)
    if isinstance(key, tuple) and len(key) == 2:
        context, device = key
        if isinstance(context, SyclContext) and isinstance(device, SyclDevice):
            default = SyclQueue._of(device._device.default_queue)
            if default.sycl_context == context:
                return default
            return _cache.get(key) or _cache.setdefault(key, SyclQueue(context, device, property="in_order"))
    raise TypeError(
        f"a key is a SyclDevice, a filter string, or a SyclContext and a SyclDevice, not {type(key).__name__}"
    )
