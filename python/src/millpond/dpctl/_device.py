"""`SyclDevice`: a device by dpctl's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import millpond
from millpond.dpctl import _filters
from millpond.dpctl._aspects import Aspects
from millpond.dpctl._capsules import described
from millpond.dpctl._exceptions import SyclDeviceCreationError, SyclSubDeviceCreationError
from millpond.dpctl._limits import Limits
from millpond.dpctl.enum_types import backend_type, device_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from millpond.dpctl._platform import SyclPlatform

#: How `create_sub_devices` may be told to split by what parts share.
_AFFINITIES = ("not_applicable", "numa", "L4_cache", "L3_cache", "L2_cache", "L1_cache", "next_partitionable")

#: How eagerly `select_default_device` takes devices of a type.
_SCORES = {device_type.gpu: 500, device_type.cpu: 300}


class SyclDevice(Limits, Aspects):
    """A processor with its memory.

    Parameters
    ----------
    arg : str, SyclDevice, optional
        A filter string such as ``"cpu"`` or ``"cuda:gpu:0"``, or a device; the default device, if nothing is said.

    Raises
    ------
    SyclDeviceCreationError
        If there is no such device.
    TypeError
        For other arguments.

    Examples
    --------
    >>> import millpond.dpctl as dpctl
    >>> dpctl.SyclDevice("cpu").is_cpu
    True
    """

    __slots__ = ("_device", "_parent")
    __name__ = "SyclDevice"

    _device: millpond.Device
    _parent: SyclDevice | None

    def __init__(self, arg: str | SyclDevice | None = None, /) -> None:
        self._parent = None
        if isinstance(arg, str):
            self._device = _filters.select(arg)
        elif isinstance(arg, SyclDevice):
            self._device, self._parent = arg._device, arg._parent
        elif arg is None:
            self._device = _most_eager(millpond.devices())
        else:
            raise TypeError(f"a SyclDevice is made of a filter string or a SyclDevice, not of {described(arg)}")

    @classmethod
    def _of(cls, device: millpond.Device) -> SyclDevice:
        """Return a device of the runtime by dpctl's names."""
        self = cls.__new__(cls)
        self._device, self._parent = device, None
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SyclDevice):
            return NotImplemented
        return self._device == other._device

    def __hash__(self) -> int:
        return hash(self._device)

    def __repr__(self) -> str:
        return f"<millpond.dpctl.SyclDevice [{self.backend}, {self.device_type}, {self.name}] at {id(self):#x}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return SyclDevice._of, (self._device,)

    def addressof_ref(self) -> int:
        """Return a number that identifies this object; no SYCL object stands behind it."""
        return id(self)

    # What it is.

    @property
    def name(self) -> str:
        """The maker's name for it."""
        return self._device.model

    @property
    def vendor(self) -> str:
        """The maker."""
        return self._device.vendor

    @property
    def driver_version(self) -> str:
        """The driver's version."""
        return self._device.driver_version

    @property
    def backend(self) -> backend_type:
        """What drives it."""
        return _filters.backend_of(self._device)

    @property
    def device_type(self) -> device_type:
        """The class of processor."""
        return _filters.type_of(self._device)

    @property
    def is_cpu(self) -> bool:
        """Whether it is a CPU."""
        return self.device_type is device_type.cpu

    @property
    def is_gpu(self) -> bool:
        """Whether it is a GPU."""
        return self.device_type is device_type.gpu

    @property
    def is_accelerator(self) -> bool:
        """Whether it is an accelerator of another sort: there is none."""
        return self.device_type is device_type.accelerator

    @property
    def default_selector_score(self) -> int:
        """How eagerly it is taken as the default device."""
        return _SCORES.get(self.device_type, 50)

    @property
    def sycl_platform(self) -> SyclPlatform:
        """The platform that it belongs to."""
        from millpond.dpctl._platform import SyclPlatform

        return SyclPlatform._of(self.backend)

    # How it is named.

    @property
    def filter_string(self) -> str:
        """The filter string that names it; `TypeError` for a part of a device."""
        return _filters.filter_string(self._device)

    def get_filter_string(self, include_backend: bool = True, include_device_type: bool = True) -> str:
        """Return a filter string that names it.

        Raises
        ------
        TypeError
            For a part of a device.
        """
        return _filters.filter_string(self._device, backend=include_backend, kind=include_device_type)

    def get_device_id(self) -> int:
        """Return its place among all devices; `ValueError` for a part of one."""
        try:
            return millpond.devices().index(self._device)
        except ValueError:
            raise ValueError(f"{self._device} is part of another device and has no place among all") from None

    def print_device_info(self) -> None:
        """Print name, driver's version, vendor and, unless it is part of another, filter string."""
        facts = [("Name", self.name), ("Driver version", self.driver_version), ("Vendor", self.vendor)]
        if self.parent_device is None:
            facts.append(("Filter string", self.filter_string))
        print("\n".join(f"    {name:<15} {fact}" for name, fact in facts), end="\n\n")

    # Parts and wholes.

    @property
    def parent_device(self) -> SyclDevice | None:
        """The device that it is part of, if there is one."""
        if self._parent is not None:
            return self._parent
        root = _root(self._device)
        return None if root == self._device else SyclDevice._of(root)

    def get_unpartitioned_parent_device(self) -> SyclDevice:
        """Return the device that it is part of and that is no part of another; itself, if it is no part."""
        return SyclDevice._of(_root(self._device))

    @property
    def partition_max_sub_devices(self) -> int:
        """Into how many parts it can be split."""
        return self._device.cores if self._device.host_executed else 0

    def create_sub_devices(self, *, partition: int | str | Sequence[int]) -> list[SyclDevice]:
        """Split the device into parts with compute units of their own.

        Parameters
        ----------
        partition : int or sequence of int or str
            A number of compute units, for as many parts of that size as there are, or one number for each part. The
            affinities of dpctl, such as ``"numa"``, are understood and refused: nothing is known of what parts share.

        Raises
        ------
        SyclSubDeviceCreationError
            If it can't be split so.
        ValueError
            For an affinity that dpctl doesn't know.
        TypeError
            For other arguments.
        """
        if isinstance(partition, str):
            if partition not in _AFFINITIES:
                raise ValueError(f"the affinity {partition!r} is none of {', '.join(_AFFINITIES)}")
            raise SyclSubDeviceCreationError(f"{self._device} can't be split by {partition!r}: name numbers of units")
        # Halves of a number of units are floats, which dpctl takes.
        counts = partition if isinstance(partition, int) else [int(count) for count in partition]
        if isinstance(counts, int) and counts <= 0:
            raise SyclSubDeviceCreationError(f"parts of {counts} compute units are no parts")
        try:
            parts = [SyclDevice._of(part) for part in self._device.partition(counts)]
        except (ValueError, millpond.Error) as error:
            raise SyclSubDeviceCreationError(str(error)) from error
        for part in parts:
            part._parent = self
        return parts

    @property
    def composite_device(self) -> SyclDevice | None:
        """The device that it is a tile of: there are no such devices."""
        return None

    def component_devices(self) -> list[SyclDevice]:
        """Return the tiles of a composite device: it has none."""
        return []

    def can_access_peer(self, peer: SyclDevice, value: str = "access_supported") -> bool:
        """Say whether kernels of this device can use memory of another.

        Raises
        ------
        TypeError
            If `peer` is no device, or `value` no string.
        ValueError
            If `value` is neither ``"access_supported"`` nor ``"atomics_supported"``.
        """
        self._check_peer(peer)
        if not isinstance(value, str):
            raise TypeError(f"value is a string, not {type(value).__name__}")
        if value not in ("access_supported", "atomics_supported"):
            raise ValueError(f"value is 'access_supported' or 'atomics_supported', not {value!r}")
        return False

    def enable_peer_access(self, peer: SyclDevice) -> None:
        """Let kernels of this device use memory of another, which none can; `ValueError` for the device itself."""
        self._check_other(peer)

    def disable_peer_access(self, peer: SyclDevice) -> None:
        """Take back what `enable_peer_access` allowed."""
        self._check_other(peer)

    def _check_peer(self, peer: SyclDevice) -> None:
        if not isinstance(peer, SyclDevice):
            raise TypeError(f"a peer is a SyclDevice, not {type(peer).__name__}")

    def _check_other(self, peer: SyclDevice) -> None:
        self._check_peer(peer)
        if peer == self:
            raise ValueError(f"peer access from {self._device} to itself is always there and can't be changed")


def _root(device: millpond.Device) -> millpond.Device:
    """Return the device that one is part of: parts are called by it and their place in it."""
    if device in millpond.devices():
        return device
    return millpond.device(device.name.partition(".")[0])


def _most_eager(devices: list[millpond.Device]) -> millpond.Device:
    if not devices:
        raise SyclDeviceCreationError("there is no device")
    return max(devices, key=lambda device: SyclDevice._of(device).default_selector_score)
