"""What a device can, by dpctl's names: its aspects."""

from __future__ import annotations

import millpond
from millpond.dpctl import _filters
from millpond.dpctl.enum_types import device_type


class Aspects:
    """Aspects of the device that a `SyclDevice` is around."""

    __slots__ = ()

    _device: millpond.Device

    def _is(self, kind: device_type) -> bool:
        return _filters.type_of(self._device) is kind

    @property
    def has_aspect_cpu(self) -> bool:
        """Whether it is a CPU."""
        return self._is(device_type.cpu)

    @property
    def has_aspect_gpu(self) -> bool:
        """Whether it is a GPU."""
        return self._is(device_type.gpu)

    @property
    def has_aspect_accelerator(self) -> bool:
        """Whether it is an accelerator of another sort."""
        return self._is(device_type.accelerator)

    @property
    def has_aspect_custom(self) -> bool:
        """Whether it runs fixed functions only."""
        return self._is(device_type.custom)

    @property
    def has_aspect_emulated(self) -> bool:
        """Whether another device plays it."""
        return False

    @property
    def has_aspect_host_debuggable(self) -> bool:
        """Whether a debugger of the host sees its kernels."""
        return self._device.host_executed

    @property
    def has_aspect_fp16(self) -> bool:
        """Whether it computes with ``float16``."""
        return self._device.has_float16

    @property
    def has_aspect_fp64(self) -> bool:
        """Whether it computes with ``float64``."""
        return self._device.has_float64

    @property
    def has_aspect_atomic64(self) -> bool:
        """Whether kernels of a program have atomic operations of 64 bits: a program has no kernels of its own."""
        return False

    @property
    def has_aspect_image(self) -> bool:
        """Whether it has images."""
        return False

    @property
    def has_aspect_online_compiler(self) -> bool:
        """Whether it compiles kernels of a program."""
        return False

    @property
    def has_aspect_online_linker(self) -> bool:
        """Whether it links kernels of a program."""
        return False

    @property
    def has_aspect_queue_profiling(self) -> bool:
        """Whether its queues can keep times."""
        return True

    @property
    def has_aspect_usm_device_allocations(self) -> bool:
        """Whether it has device memory."""
        return True

    @property
    def has_aspect_usm_host_allocations(self) -> bool:
        """Whether it reaches host memory."""
        return True

    @property
    def has_aspect_usm_shared_allocations(self) -> bool:
        """Whether it has shared memory."""
        return True

    @property
    def has_aspect_usm_system_allocations(self) -> bool:
        """Whether it reaches memory that wasn't allocated for it."""
        return self._device.host_executed

    @property
    def has_aspect_usm_atomic_host_allocations(self) -> bool:
        """Whether kernels of a program have atomic operations on host memory."""
        return False

    @property
    def has_aspect_usm_atomic_shared_allocations(self) -> bool:
        """Whether kernels of a program have atomic operations on shared memory."""
        return False

    @property
    def has_aspect_is_component(self) -> bool:
        """Whether it is a tile of a composite device."""
        return False

    @property
    def has_aspect_is_composite(self) -> bool:
        """Whether it consists of tiles."""
        return False
