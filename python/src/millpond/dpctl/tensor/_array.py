"""`usm_ndarray`: an array by dpctl's names, around one of millpond."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

import millpond
from millpond import tensor as xp
from millpond._millpond import tensor as _native
from millpond.dpctl import _usm_interface
from millpond.dpctl._queue import SyclQueue
from millpond.dpctl.tensor import _casts, _construction, _dtypes
from millpond.dpctl.tensor._declared import Operators
from millpond.dpctl.tensor._described import Described
from millpond.dpctl.tensor._device import Device
from millpond.dpctl.utils import ExecutionPlacementError
from millpond.memory import Memory
from millpond.tensor import Array


class usm_ndarray(Described, Operators):
    """An array in unified shared memory.

    Parameters
    ----------
    shape : int or tuple of int
        Sizes of the axes.
    dtype : dtype, optional
        The default is the device's floating-point dtype.
    strides : tuple of int, optional
        Steps of the axes, in elements; as `order` says, if nothing is said.
    buffer : {"device", "shared", "host"} or memory object or usm_ndarray, optional
        The kind of new memory, or the memory.
    offset : int, optional
        The element of index zero, counted from the begin of memory that is there already.
    order : {"C", "F"}, optional
        How the axes lie in memory, if there are no strides.
    buffer_ctor_kwargs : dict, optional
        Keywords for the class of new memory.
    array_namespace : module, optional
        What `__array_namespace__` answers.

    Raises
    ------
    ValueError
        For another order or kind of memory, and for memory that is too small.
    TypeError
        For a shape or a dtype that is none.

    Examples
    --------
    >>> import millpond.dpctl.tensor as dpt
    >>> x = dpt.usm_ndarray((2, 3), dtype="i4", buffer="shared")
    >>> x[...] = 7
    >>> x
    usm_ndarray([[7, 7, 7],
                 [7, 7, 7]], dtype=int32)
    """

    __slots__ = ("__weakref__", "_namespace")

    #: Scalars of NumPy on the left leave an operation to this class.
    __array_ufunc__ = None
    __array_priority__ = 100.0
    __hash__ = None  # type: ignore[assignment]

    _namespace: ModuleType | None

    def __init__(
        self,
        shape: Any,
        dtype: Any = None,
        strides: Any = None,
        buffer: Any = "device",
        offset: int = 0,
        order: str = "C",
        buffer_ctor_kwargs: dict[str, Any] | None = None,
        array_namespace: ModuleType | None = None,
    ) -> None:
        writable = True
        if isinstance(buffer, usm_ndarray):
            writable = buffer._array.flags.writable
            buffer = buffer._array.data
        keywords = dict(buffer_ctor_kwargs or {})
        self._array = _construction.array(shape, dtype, strides, buffer, offset, order, keywords)
        if not writable:
            self._array.flags.writable = False
        self._memory, self._namespace = None, array_namespace

    # Views.

    @property
    def T(self) -> usm_ndarray:
        """View of a matrix with its axes exchanged."""
        return self._view(self._array.T)

    @property
    def mT(self) -> usm_ndarray:
        """View with the last two axes exchanged."""
        return self._view(self._array.mT)

    @property
    def real(self) -> usm_ndarray:
        """Real parts, a view."""
        return self._view(self._array.real)

    @real.setter
    def real(self, value: Any) -> None:
        self._array.real = operand(value, self)

    @property
    def imag(self) -> usm_ndarray:
        """Imaginary parts; a view, where the elements are complex, else zeros."""
        return self._view(self._array.imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        self._array.imag = operand(value, self)

    def _view(self, array: Array) -> usm_ndarray:
        view = wrapped(array)
        view._namespace = self._namespace
        return view

    def __getitem__(self, key: Any) -> usm_ndarray:
        return self._view(self._array[_key(key, self._array)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[_key(key, self._array)] = _casts.for_assignment(operand(value, self), self._array)

    def __delitem__(self, key: Any) -> None:
        raise ValueError("elements of an array can't be deleted")

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[usm_ndarray]:
        return (self._view(part) for part in self._array)

    def __contains__(self, value: object) -> bool:
        return operand(value, self) in self._array

    # Exchange.

    def to_device(self, target_device: Any, /, *, stream: SyclQueue | None = None) -> usm_ndarray:
        """Return the elements on another device or queue: the array itself, where it is there, else a copy.

        Raises
        ------
        TypeError
            If `stream` is no queue.
        """
        _follow(stream, self)
        queue = Device.create_device(target_device).sycl_queue._queue
        return self if queue == self._array.queue else self._view(self._array.to_device(queue))

    def _set_namespace(self, mod: ModuleType | None) -> None:
        self._namespace = mod

    def __array_namespace__(self, api_version: str | None = None) -> ModuleType:
        """Return the namespace of functions.

        Raises
        ------
        ValueError
            For another version of the standard than the one there is.
        TypeError
            For what is no version.
        """
        from millpond.dpctl import tensor

        if api_version is not None:
            if not isinstance(api_version, str):
                raise TypeError(f"a version is a string, not {type(api_version).__name__}")
            if api_version != tensor.__array_api_version__:
                raise ValueError(f"the version is {tensor.__array_api_version__}, not {api_version!r}")
        return tensor if self._namespace is None else self._namespace

    def __dlpack__(
        self,
        *,
        stream: SyclQueue | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a capsule of DLPack, as `millpond.tensor` does."""
        _follow(stream, self)
        if max_version is not None and not isinstance(max_version, tuple):
            raise TypeError(f"max_version is a tuple of two integers, not {type(max_version).__name__}")
        if dl_device is not None and not isinstance(dl_device, tuple):
            raise TypeError(f"dl_device is a tuple of two integers, not {type(dl_device).__name__}")
        return self._array.__dlpack__(max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[Any, int]:
        """Return the device as DLPack has it."""
        from millpond.dpctl.tensor._conversion import DLDeviceType

        kind, number = self._array.__dlpack_device__()
        return DLDeviceType(kind), number

    def __array__(self, dtype: Any = None, /, *, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Refuse a transfer that nobody asked for.

        Raises
        ------
        TypeError
            Always.
        """
        raise TypeError("an array isn't converted to NumPy's unasked: use millpond.dpctl.tensor.asnumpy")

    def __reduce_ex__(self, protocol: Any) -> Any:
        return wrapped, (self._array,)

    def __copy__(self) -> usm_ndarray:
        return self._view(xp.copy(self._array))

    def __deepcopy__(self, memo: dict[int, Any]) -> usm_ndarray:
        return self._view(xp.copy(self._array))

    # Numbers.

    def _number(self, what: str) -> Any:
        if self.size != 1:
            raise ValueError(f"only an array of one element can be converted to {what}, not one of shape {self.shape}")
        return self._array if self.ndim == 0 else xp.reshape(self._array, ())

    def __bool__(self) -> bool:
        return bool(self._number("bool; use any or all for the truth of several"))

    def __int__(self) -> int:
        return int(self._number("int"))

    def __float__(self) -> float:
        return float(self._number("float"))

    def __complex__(self) -> complex:
        return complex(self._number("complex"))

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise IndexError(f"an index is an integer, not a number of {self.dtype}")
        return int(self)

    def __repr__(self) -> str:
        return xp.array_repr(self._array, prefix="usm_ndarray")

    def __str__(self) -> str:
        return xp.array_str(self._array)


def wrapped(array: Array) -> usm_ndarray:
    """Return an array of millpond by dpctl's names."""
    self = usm_ndarray.__new__(usm_ndarray)
    self._array, self._memory, self._namespace = array, None, None
    return self


def computed(function: Callable[..., Array], *arguments: Any, **keywords: Any) -> usm_ndarray:
    """Return the result of a function of `millpond.tensor`.

    Raises
    ------
    AxisError
        Of NumPy, as in dpctl, for an axis that there isn't: it is an `IndexError` and a `ValueError`.
    """
    try:
        return wrapped(function(*arguments, **keywords))
    except IndexError as error:
        raise as_axis_error(error) from None


def as_axis_error(error: IndexError) -> IndexError:
    """Return the error about an axis that NumPy and dpctl have; failures of work stay what they are."""
    return error if isinstance(error, millpond.Error) else np.exceptions.AxisError(str(error))


def array_of(obj: Any) -> Array:
    """Return what an argument is around.

    Raises
    ------
    TypeError
        For what is no `usm_ndarray`.
    """
    if not isinstance(obj, usm_ndarray):
        raise TypeError(f"expected a usm_ndarray, got {type(obj).__name__}")
    return obj._array


def operand(value: Any, beside: usm_ndarray) -> Any:
    """Return a value that goes to where an array is: an array there, or what `millpond.tensor` takes as it is."""
    if isinstance(value, usm_ndarray):
        array = value._array
    elif hasattr(value, _usm_interface.NAME):
        array = of_interface(value)
    elif isinstance(value, (np.ndarray, memoryview, bytes, bytearray, list, tuple)):
        array = xp.asarray(value, queue=beside._array.queue)
    else:
        return value
    return array if array.device == beside._array.device else array.to_device(beside._array.queue)


def of_interface(obj: Any) -> Array:
    """Return the elements that an object shows, without a copy.

    Raises
    ------
    ValueError
        For memory that isn't millpond's.
    """
    shown = _usm_interface.read(obj)
    array: Array = _native._over(shown.memory, _dtypes.ours(shown.dtype), shown.shape, shown.strides, shown.offset)
    if shown.read_only and not isinstance(obj, Memory):
        array.flags.writable = False
    return array


def _follow(stream: Any, array: usm_ndarray) -> None:
    """Make a queue wait for all that the array's queue was given to do."""
    if stream is None:
        return
    if not isinstance(stream, SyclQueue):
        raise TypeError(f"stream is a SyclQueue, not {type(stream).__name__}")
    if stream._queue != array._array.queue:
        stream._queue.wait_for(array._array.queue.record())


def _key(key: Any, array: Array) -> Any:
    """Return an index with the arrays that `usm_ndarray` are around, which are of the array's queue."""
    if isinstance(key, usm_ndarray):
        _check_queue(key, array)
        return key._array
    if isinstance(key, tuple):
        return tuple(_key(part, array) if isinstance(part, usm_ndarray) else part for part in key)
    return key


def _check_queue(index: usm_ndarray, array: Array) -> None:
    if index._array.ndim and index._array.queue != array.queue:
        raise ExecutionPlacementError(
            f"the index is of {index._array.queue}, the array of {array.queue}; move one of them with to_device first"
        )
