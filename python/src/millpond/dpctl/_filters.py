"""Filter strings: ``backend:type:number``, each part optional, several of them by commas in order of preference."""

from __future__ import annotations

from typing import NamedTuple

import millpond
from millpond.dpctl._exceptions import SyclDeviceCreationError
from millpond.dpctl.enum_types import backend_type, device_type

#: The backends by the drivers' short names.
_BACKENDS = {"cpu": backend_type.native_cpu}

#: What parts of a filter may be, in their order.
_BACKEND_NAMES = [member.name for member in backend_type if member is not backend_type.all]
_TYPE_NAMES = ["accelerator", "cpu", "gpu"]


class Filter(NamedTuple):
    """One alternative of a filter string."""

    backend: backend_type | None
    kind: device_type | None
    number: int


def backend_of(device: millpond.Device) -> backend_type:
    """Say what drives a device."""
    return _BACKENDS.get(device.backend) or backend_type[device.backend]


def type_of(device: millpond.Device) -> device_type:
    """Say of which class a device is."""
    name = device.device_class
    return device_type[name] if name in _TYPE_NAMES else device_type.custom


def parse(text: str) -> list[Filter]:
    """Return the alternatives that a filter string names.

    Raises
    ------
    SyclDeviceCreationError
        For what is no filter.
    """
    return [_alternative(part.strip(), text) for part in text.split(",")]


def _alternative(part: str, text: str) -> Filter:
    words = part.split(":")
    backend = kind = None
    number = 0
    if words[0] in _BACKEND_NAMES:
        backend = backend_type[words.pop(0)]
    if words and words[0] in _TYPE_NAMES:
        kind = device_type[words.pop(0)]
    if words and words[0].isdecimal():
        number = int(words.pop(0))
    if words:
        raise SyclDeviceCreationError(
            f"{text!r} is no filter: {words[0]!r} is none of a backend ({', '.join(_BACKEND_NAMES)}), "
            f"a type ({', '.join(_TYPE_NAMES)}) and a number, in this order"
        )
    return Filter(backend, kind, number)


def select(text: str) -> millpond.Device:
    """Return the device that a filter string names.

    Raises
    ------
    SyclDeviceCreationError
        For what is no filter, and where there is no such device.
    """
    devices = millpond.devices()
    for wanted in parse(text):
        found = [device for device in devices if _is_wanted(device, wanted)]
        if wanted.number < len(found):
            return found[wanted.number]
    there = ", ".join(filter_string(device) for device in devices)
    raise SyclDeviceCreationError(f"no device is {text!r}; there are: {there}")


def _is_wanted(device: millpond.Device, wanted: Filter) -> bool:
    return (wanted.kind is None or type_of(device) is wanted.kind) and (
        wanted.backend is None or serves(device, wanted.backend)
    )


def serves(device: millpond.Device, backend: backend_type) -> bool:
    """Say whether a device is meant by the name of a backend.

    Programs that want a CPU name it as OpenCL's, where dpctl has it.
    """
    own = backend_of(device)
    return own is backend or (own is backend_type.native_cpu and backend is backend_type.opencl)


def filter_string(device: millpond.Device, *, backend: bool = True, kind: bool = True) -> str:
    """Return the filter string of a device that isn't part of another.

    Raises
    ------
    TypeError
        For a part of a device, which no filter names.
    """
    devices = millpond.devices()
    if device not in devices:
        raise TypeError(f"{device} is part of another device, which no filter string names")
    own_backend, own_kind = backend_of(device), type_of(device)
    alike = [
        other
        for other in devices
        if (not backend or backend_of(other) is own_backend) and (not kind or type_of(other) is own_kind)
    ]
    words = [own_backend.name] * backend + [own_kind.name] * kind + [str(alike.index(device))]
    return ":".join(words)
