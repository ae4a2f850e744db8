"""What an array says about itself: dtype, shape, place and memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from millpond._millpond import tensor as _native
from millpond.dpctl import _usm_interface
from millpond.dpctl import memory as dpmem
from millpond.dpctl._context import SyclContext
from millpond.dpctl._device import SyclDevice
from millpond.dpctl._queue import SyclQueue
from millpond.dpctl.tensor import _construction
from millpond.dpctl.tensor._device import Device
from millpond.tensor import Array


class Described:
    """The attributes of an array of millpond by dpctl's names."""

    __slots__ = ("_array", "_memory")

    _array: Array
    _memory: Any

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the elements."""
        return self._array.dtype.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._array.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._array.nbytes

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._array.ndim

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._array.size

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes. Setting them sees the same elements in another shape."""
        return self._array.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        try:
            self._array.shape = _construction.sizes(shape)
        except ValueError as error:
            raise AttributeError(f"the shape can't be set to {shape} without a copy: {error}") from error

    @property
    def strides(self) -> tuple[int, ...]:
        """Steps of the axes, in elements."""
        return self._array.strides

    @property
    def flags(self) -> Any:
        """How the elements lie in memory, and whether they may be written, which can be set."""
        return self._array.flags

    @property
    def usm_type(self) -> str:
        """Kind of memory."""
        return self._array.usm_type

    @property
    def usm_data(self) -> Any:
        """All of the memory that the elements are in."""
        if self._memory is None:
            self._memory = dpmem.as_usm_memory(self._array.data)
        return self._memory

    @property
    def sycl_queue(self) -> SyclQueue:
        """The queue that operations are submitted to."""
        return SyclQueue._of(self._array.queue)

    @property
    def sycl_device(self) -> SyclDevice:
        """The device that the elements are on."""
        return SyclDevice._of(self._array.device)

    @property
    def sycl_context(self) -> SyclContext:
        """The context of the queue."""
        return self.sycl_queue.sycl_context

    @property
    def device(self) -> Device:
        """The queue, in the place of a device."""
        return Device.create_device(self.sycl_queue)

    @property
    def _element_offset(self) -> int:
        offset: int = _native._offset(self._array)
        return offset

    @property
    def _pointer(self) -> int:
        return self._array.data.ptr + self._element_offset * self.itemsize

    @property
    def _byte_bounds(self) -> tuple[int, int]:
        shown = self.__sycl_usm_array_interface__
        begin, size = self._described().extent
        return shown["data"][0] + begin, shown["data"][0] + begin + size

    @property
    def __sycl_usm_array_interface__(self) -> dict[str, Any]:
        """How the elements lie in memory, after all work on them has finished."""
        self._array.queue.record().wait()
        strides = None if self.flags.c_contiguous else self.strides
        read_only = not self.flags.writable
        return _usm_interface.describe(
            self.usm_data, self.dtype, self.shape, strides=strides, offset=self._element_offset, read_only=read_only
        )

    def _described(self) -> _usm_interface.Described:
        return _usm_interface.Described(
            self._array.data, False, self.dtype, self.shape, self.strides, self._element_offset
        )
