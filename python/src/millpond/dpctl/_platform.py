"""`SyclPlatform`: the devices of one driver, and the functions that list what there is."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import millpond
from millpond.dpctl import _filters
from millpond.dpctl._device import SyclDevice
from millpond.dpctl._exceptions import SyclDeviceCreationError
from millpond.dpctl.enum_types import backend_type, device_type

if TYPE_CHECKING:
    from millpond.dpctl._context import SyclContext


class SyclPlatform:
    """The devices of one driver.

    Parameters
    ----------
    arg : str, SyclPlatform, optional
        A filter string, for the platform of the device that it names; the default device's, if nothing is said.

    Raises
    ------
    ValueError
        If there is no such device.
    TypeError
        For other arguments.

    Examples
    --------
    >>> import millpond.dpctl as dpctl
    >>> dpctl.SyclPlatform("cpu").vendor
    'millpond'
    """

    __slots__ = ("_backend",)
    __name__ = "SyclPlatform"

    _backend: backend_type

    def __init__(self, arg: str | SyclPlatform | None = None, /) -> None:
        if isinstance(arg, SyclPlatform):
            self._backend = arg._backend
            return
        if arg is not None and not isinstance(arg, str):
            raise TypeError(f"a SyclPlatform is made of a filter string or a SyclPlatform, not of {type(arg).__name__}")
        try:
            self._backend = SyclDevice(arg).backend
        except SyclDeviceCreationError as error:
            raise ValueError(str(error)) from error

    @classmethod
    def _of(cls, backend: backend_type) -> SyclPlatform:
        self = cls.__new__(cls)
        self._backend = backend
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SyclPlatform):
            return NotImplemented
        return self._backend is other._backend

    def __hash__(self) -> int:
        return hash(self._backend)

    def __repr__(self) -> str:
        return f"<millpond.dpctl.SyclPlatform [{self.name}, {self.vendor}, {self.version}] at {id(self):#x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return SyclPlatform._of, (self._backend,)

    @property
    def name(self) -> str:
        """What drives its devices."""
        return f"millpond {self._backend.name}"

    @property
    def vendor(self) -> str:
        """Whose runtime it is."""
        return "millpond"

    @property
    def version(self) -> str:
        """The version of that."""
        return millpond.__version__

    @property
    def backend(self) -> backend_type:
        """The backend of its devices."""
        return self._backend

    @property
    def default_context(self) -> SyclContext:
        """The context of all its devices, which queues are in unless told otherwise."""
        from millpond.dpctl._context import SyclContext

        return SyclContext(self.get_devices())

    def get_devices(self, device_type: device_type | str = device_type.all) -> list[SyclDevice]:
        """Return its devices of a type."""
        return _devices(self._backend, _typed(device_type))

    def get_composite_devices(self) -> list[SyclDevice]:
        """Return its devices that consist of tiles: there are none."""
        return []

    def print_platform_info(self, verbosity: int = 0) -> None:
        """Print its name with verbosity 0, what else is known of it with 1, and its devices with 2."""
        print(self._info(verbosity))

    def _info(self, verbosity: int) -> str:
        if not isinstance(verbosity, int) or verbosity not in (0, 1, 2):
            warnings.warn("verbosity is 0, 1 or 2; 0 is taken", UserWarning, stacklevel=3)
            verbosity = 0
        if verbosity == 0:
            return f"{self.name} {self.version}"
        devices = self.get_devices()
        facts = {
            "Name": self.name,
            "Version": self.version,
            "Vendor": self.vendor,
            "Backend": self._backend.name,
            "Num Devices": str(len(devices)),
        }
        lines = [f"    {name:<11} {fact}" for name, fact in facts.items()]
        if verbosity == 2:
            for number, device in enumerate(devices):
                lines.append(f"      # {number}")
                lines.append(f"        {'Name':<19} {device.name}")
                lines.append(f"        {'Version':<19} {device.driver_version}")
                lines.append(f"        {'Filter string':<19} {device.filter_string}")
        return "\n".join(lines)


def get_platforms() -> list[SyclPlatform]:
    """Return the platforms of all devices."""
    backends = dict.fromkeys(_filters.backend_of(device) for device in millpond.devices())
    return [SyclPlatform._of(backend) for backend in backends]


def lsplatform(verbosity: int = 0) -> None:
    """Print all platforms: names with verbosity 0, what else is known of them with 1, and their devices with 2."""
    for number, platform in enumerate(get_platforms()):
        if verbosity in (1, 2):
            print("Platform ", number, "::")
        print(platform._info(verbosity))


def get_devices(
    backend: backend_type | str = backend_type.all, device_type: device_type | str = device_type.all
) -> list[SyclDevice]:
    """Return the devices of a backend and of a type.

    Raises
    ------
    TypeError
        For what is neither a member of the enumeration nor a string.
    ValueError
        For a string that is no name of a member.
    """
    return _devices(_member(backend_type, backend, "backend"), _typed(device_type))


def get_num_devices(
    backend: backend_type | str = backend_type.all, device_type: device_type | str = device_type.all
) -> int:
    """Return how many devices of a backend and of a type there are."""
    return len(get_devices(backend, device_type))


def get_composite_devices() -> list[SyclDevice]:
    """Return the devices that consist of tiles: there are none."""
    return []


def has_cpu_devices() -> bool:
    """Say whether there is a CPU."""
    return get_num_devices(device_type="cpu") > 0


def has_gpu_devices() -> bool:
    """Say whether there is a GPU."""
    return get_num_devices(device_type="gpu") > 0


def has_accelerator_devices() -> bool:
    """Say whether there is an accelerator of another sort."""
    return get_num_devices(device_type="accelerator") > 0


def select_default_device() -> SyclDevice:
    """Return the device that is taken unless told otherwise."""
    return SyclDevice()


def select_cpu_device() -> SyclDevice:
    """Return a CPU; `SyclDeviceCreationError` if there is none."""
    return SyclDevice("cpu")


def select_gpu_device() -> SyclDevice:
    """Return a GPU; `SyclDeviceCreationError` if there is none."""
    return SyclDevice("gpu")


def select_accelerator_device() -> SyclDevice:
    """Return an accelerator of another sort; `SyclDeviceCreationError` if there is none."""
    return SyclDevice("accelerator")


def select_device_with_aspects(
    required_aspects: str | list[str], excluded_aspects: str | list[str] | None = None
) -> SyclDevice:
    """Return the best device that has some aspects and not others.

    Parameters
    ----------
    required_aspects : str or list of str
        Aspects by the names of ``has_aspect_*``, such as ``"fp64"``.
    excluded_aspects : str or list of str, optional
        Those that it mustn't have.

    Raises
    ------
    SyclDeviceCreationError
        If there is none.
    AttributeError
        For an aspect of another name.
    TypeError
        For what is neither a string nor a list of strings.
    """
    required, excluded = _aspects(required_aspects), _aspects(excluded_aspects)
    fitting = [
        device
        for device in get_devices()
        if all(getattr(device, f"has_aspect_{name}") for name in required)
        and not any(getattr(device, f"has_aspect_{name}") for name in excluded)
    ]
    if not fitting:
        raise SyclDeviceCreationError(f"no device has the aspects {required} and not {excluded}")
    return max(fitting, key=lambda device: device.default_selector_score)


def _aspects(names: str | list[str] | None) -> list[str]:
    names = [] if names is None else [names] if isinstance(names, str) else names
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"aspects are a string or a list of strings, not {names!r}")
    for name in names:
        if not hasattr(SyclDevice, f"has_aspect_{name}"):
            raise AttributeError(f"there is no aspect {name!r}")
    return names


def _devices(backend: backend_type, kind: device_type) -> list[SyclDevice]:
    return [
        SyclDevice._of(device)
        for device in millpond.devices()
        if backend in (backend_type.all, _filters.backend_of(device))
        and kind in (device_type.all, _filters.type_of(device))
    ]


def _typed(kind: device_type | str) -> device_type:
    member: device_type = _member(device_type, kind, "device_type")
    return member


def _member(kinds: Any, value: Any, what: str) -> Any:
    """Return the member of an enumeration that a program means."""
    if isinstance(value, kinds):
        return value
    if not isinstance(value, str):
        raise TypeError(f"{what} is a member of {kinds.__name__} or its name, not {type(value).__name__}")
    name = value.strip().lower()
    if name not in kinds.__members__:
        raise ValueError(f"{what} {value!r} is none of {', '.join(kinds.__members__)}")
    return kinds[name]
