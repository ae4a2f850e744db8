"""`SyclContext`: devices that belong together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from millpond.dpctl._capsules import WithoutCapsule, described
from millpond.dpctl._device import SyclDevice
from millpond.dpctl._exceptions import SyclContextCreationError, SyclDeviceCreationError


class SyclContext(WithoutCapsule):
    """Some devices of one platform.

    Memory isn't bound to a context, as it is with SYCL: what a device reaches, it reaches whatever context a queue was
    made in. Contexts of the same devices are equal.

    Parameters
    ----------
    arg : str, SyclDevice, sequence of SyclDevice, SyclContext, optional
        The devices, or a filter string that names one; the default device, if nothing is said.

    Raises
    ------
    SyclContextCreationError
        If there is no such device, and for devices of several platforms.
    TypeError
        For other arguments.
    """

    __slots__ = ("_devices",)
    __name__ = "SyclContext"

    _devices: tuple[SyclDevice, ...]

    def __init__(self, arg: str | SyclDevice | Sequence[SyclDevice] | SyclContext | None = None, /) -> None:
        if isinstance(arg, SyclContext):
            self._devices = arg._devices
        elif isinstance(arg, SyclDevice):
            self._devices = (arg,)
        elif arg is None or isinstance(arg, str):
            try:
                self._devices = (SyclDevice(arg),)
            except SyclDeviceCreationError as error:
                raise SyclContextCreationError(str(error)) from error
        elif isinstance(arg, (list, tuple)) and all(isinstance(device, SyclDevice) for device in arg):
            self._devices = tuple(dict.fromkeys(arg))
            if len({device.sycl_platform for device in self._devices}) != 1:
                raise SyclContextCreationError(f"a context has devices of one platform, not {list(self._devices)}")
        else:
            raise TypeError(
                f"a SyclContext is made of a filter string, a SyclDevice or several, not of {described(arg)}"
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SyclContext):
            return NotImplemented
        return frozenset(self._devices) == frozenset(other._devices)

    def __hash__(self) -> int:
        return hash(frozenset(self._devices))

    def __repr__(self) -> str:
        if len(self._devices) == 1:
            return f"<millpond.dpctl.SyclContext at {id(self):#x}>"
        return f"<millpond.dpctl.SyclContext for {len(self._devices)} devices at {id(self):#x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return SyclContext, (self._devices,)

    def addressof_ref(self) -> int:
        """Return a number that identifies this object; no SYCL object stands behind it."""
        return id(self)

    def get_devices(self) -> list[SyclDevice]:
        """Return its devices."""
        return list(self._devices)

    @property
    def device_count(self) -> int:
        """How many devices it has."""
        return len(self._devices)
