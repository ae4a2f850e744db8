"""What a device has and how much it takes at once, by dpctl's names: sizes, limits, elements of a vector."""

from __future__ import annotations

import warnings

import millpond
from millpond.dpctl.enum_types import global_mem_cache_type

#: Bytes of a vector by the name of the instructions; what has no vectors computes with words.
_VECTOR_BYTES = {"avx512": 64, "avx2": 32, "baseline": 16}

#: What limits work-groups where there are any. A CPU's kernels are loops, which are cut as is best.
_WORK_GROUP = 1024


class Limits:
    """Sizes and limits of the device that a `SyclDevice` is around."""

    __slots__ = ()

    _device: millpond.Device

    @property
    def max_compute_units(self) -> int:
        """Cores or multiprocessors."""
        return self._device.cores

    @property
    def max_clock_frequency(self) -> int:
        """Megahertz of the clock; 0, as it isn't known."""
        return 0

    @property
    def global_mem_size(self) -> int:
        """Bytes of memory."""
        return self._device.memory

    @property
    def max_mem_alloc_size(self) -> int:
        """Bytes of the largest allocation."""
        return self._device.max_allocation

    @property
    def local_mem_size(self) -> int:
        """Bytes of the nearest cache or memory of each compute unit."""
        return min((cache.nbytes for cache in self._device.caches), default=32 << 10)

    @property
    def global_mem_cache_size(self) -> int:
        """Bytes of the farthest cache."""
        return max((cache.nbytes for cache in self._device.caches), default=0)

    @property
    def global_mem_cache_line_size(self) -> int:
        """Bytes of a line of that cache."""
        return 64

    @property
    def global_mem_cache_type(self) -> global_mem_cache_type:
        """How that cache is used."""
        return global_mem_cache_type.read_write if self._device.caches else global_mem_cache_type.indeterminate

    @property
    def profiling_timer_resolution(self) -> int:
        """Nanoseconds between ticks of the clock that times of events are of."""
        return 1

    @property
    def max_work_item_dims(self) -> int:
        """Axes of a range of work-items."""
        return 3

    @property
    def max_work_item_sizes1d(self) -> tuple[int]:
        """Most work-items of a group of one axis."""
        return (_WORK_GROUP,)

    @property
    def max_work_item_sizes2d(self) -> tuple[int, int]:
        """Most work-items along each axis of a group of two."""
        return (_WORK_GROUP, _WORK_GROUP)

    @property
    def max_work_item_sizes3d(self) -> tuple[int, int, int]:
        """Most work-items along each axis of a group of three."""
        return (_WORK_GROUP, _WORK_GROUP, _WORK_GROUP)

    @property
    def max_work_item_sizes(self) -> tuple[int, int, int]:
        """Most work-items along each axis of a group; deprecated, as `max_work_item_sizes3d` is the same."""
        warnings.warn("use max_work_item_sizes3d", DeprecationWarning, stacklevel=2)
        return self.max_work_item_sizes3d

    @property
    def max_work_group_size(self) -> int:
        """Most work-items of a group."""
        return _WORK_GROUP

    @property
    def max_num_sub_groups(self) -> int:
        """Most sub-groups of a group."""
        return _WORK_GROUP // self.sub_group_sizes[0]

    @property
    def sub_group_sizes(self) -> list[int]:
        """Sizes that sub-groups may have: the lanes of a vector."""
        return [self.native_vector_width_float]

    @property
    def sub_group_independent_forward_progress(self) -> bool:
        """Whether sub-groups of a group progress on their own."""
        return False

    @property
    def max_read_image_args(self) -> int:
        """Images that a kernel may read: there are no images."""
        return 0

    @property
    def max_write_image_args(self) -> int:
        """Images that a kernel may write."""
        return 0

    @property
    def image_2d_max_width(self) -> int:
        """Widest image of two axes."""
        return 0

    @property
    def image_2d_max_height(self) -> int:
        """Highest image of two axes."""
        return 0

    @property
    def image_3d_max_width(self) -> int:
        """Widest image of three axes."""
        return 0

    @property
    def image_3d_max_height(self) -> int:
        """Highest image of three axes."""
        return 0

    @property
    def image_3d_max_depth(self) -> int:
        """Deepest image of three axes."""
        return 0

    # Elements of a vector.

    def _lanes(self, nbytes: int) -> int:
        return max(1, _VECTOR_BYTES.get(self._device.simd, 16) // nbytes)

    @property
    def native_vector_width_char(self) -> int:
        """Integers of 8 bits in a vector."""
        return self._lanes(1)

    @property
    def native_vector_width_short(self) -> int:
        """Integers of 16 bits in a vector."""
        return self._lanes(2)

    @property
    def native_vector_width_int(self) -> int:
        """Integers of 32 bits in a vector."""
        return self._lanes(4)

    @property
    def native_vector_width_long(self) -> int:
        """Integers of 64 bits in a vector."""
        return self._lanes(8)

    @property
    def native_vector_width_float(self) -> int:
        """Numbers of ``float32`` in a vector."""
        return self._lanes(4)

    @property
    def native_vector_width_double(self) -> int:
        """Numbers of ``float64`` in a vector; 0 without them."""
        return self._lanes(8) if self._device.has_float64 else 0

    @property
    def native_vector_width_half(self) -> int:
        """Numbers of ``float16`` in a vector; 0 without them."""
        return self._lanes(2) if self._device.has_float16 else 0

    @property
    def preferred_vector_width_char(self) -> int:
        """Integers of 8 bits that are best taken at once."""
        return self.native_vector_width_char

    @property
    def preferred_vector_width_short(self) -> int:
        """Integers of 16 bits that are best taken at once."""
        return self.native_vector_width_short

    @property
    def preferred_vector_width_int(self) -> int:
        """Integers of 32 bits that are best taken at once."""
        return self.native_vector_width_int

    @property
    def preferred_vector_width_long(self) -> int:
        """Integers of 64 bits that are best taken at once."""
        return self.native_vector_width_long

    @property
    def preferred_vector_width_float(self) -> int:
        """Numbers of ``float32`` that are best taken at once."""
        return self.native_vector_width_float

    @property
    def preferred_vector_width_double(self) -> int:
        """Numbers of ``float64`` that are best taken at once."""
        return self.native_vector_width_double

    @property
    def preferred_vector_width_half(self) -> int:
        """Numbers of ``float16`` that are best taken at once."""
        return self.native_vector_width_half
