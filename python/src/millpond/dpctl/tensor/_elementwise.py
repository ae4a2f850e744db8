"""Element-wise functions: objects that are called, as in dpctl, around those of `millpond.tensor`."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import millpond
from millpond import tensor as xp
from millpond.dpctl import _usm_interface
from millpond.dpctl.tensor import _dtypes
from millpond.dpctl.tensor._array import array_of, of_interface, usm_ndarray, wrapped
from millpond.dpctl.utils import ExecutionPlacementError
from millpond.tensor import Array

#: Functions for which dpctl has no loop of truth values, which are integers to them.
_WITHOUT_BOOL = {"conj", "round", "square"}

#: Functions that dpctl computes with complex numbers only.
_OF_COMPLEX = {"angle", "proj"}


#: Loops that dpctl names beyond those of `millpond.tensor`, which computes the same by other ones.
_MORE_LOOPS = {
    "conj": ["?->b"],
    "square": ["?->b"],
    "divide": ["fF->F", "dD->D", "Ff->F", "Dd->D"],
    **{name: ["lL->?", "Ll->?"] for name in ["equal", "greater", "greater_equal", "less", "less_equal", "not_equal"]},
}


class _ElementwiseFunc:
    """What functions of one and of two arrays have in common."""

    def __init__(self, name: str) -> None:
        self.name_ = name
        self._function = getattr(xp, name)
        self.__doc__ = self._function.__doc__
        # Those two compute numbers of the default dtype of integers; others of the smallest that holds them.
        others = {"divide", "reciprocal"} | _OF_COMPLEX
        self._floats = name not in others and all(loop[0] in "efdFDE" for loop in self._function.types)
        # Whether `millpond.tensor` computes it in the dtypes that dpctl does.
        self._as_it_is = not self._floats and name not in _WITHOUT_BOOL | _OF_COMPLEX

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name_!r}>"

    def __reduce__(self) -> str:
        return self.name_

    @property
    def __name__(self) -> str:
        return self.__class__.__qualname__

    @property
    def nin(self) -> int:
        """Number of operands."""
        return int(self._function.nin)

    @property
    def nout(self) -> int:
        """Number of results."""
        return int(self._function.nout)

    @property
    def types(self) -> list[str]:
        """The dtypes that it computes with, by NumPy's characters: ``'ff->f'``."""
        loops = [loop for loop in self._function.types if "E" not in loop]
        if self.name_ in _WITHOUT_BOOL:
            loops = [loop for loop in loops if "?" not in loop]
        if self.name_ in _OF_COMPLEX:
            loops = [loop for loop in loops if loop[0] in "FD"]
        loops += _MORE_LOOPS.get(self.name_, [])
        return sorted(loops, key=lambda loop: [_dtypes.ORDER.index(char) for char in loop if char in _dtypes.ORDER])

    def _evaluated(self, operands: list[Any], out: Any, order: str) -> usm_ndarray:
        """Compute the result, with the errors of dpctl for what it computes not."""
        order = order if order in ("C", "F", "A") else "K"
        if not self._as_it_is:
            operands = self._arranged(operands)
        if out is not None:
            self._check_out(operands, out)
        try:
            result = self._function(*operands, out=None if out is None else out._array, order=order)
        except TypeError as error:
            # The operands were looked at: it is their dtypes.
            raise ValueError(str(error)) from error
        return wrapped(result) if out is None else out

    def _check_out(self, operands: list[Any], out: Any) -> None:
        array = array_of(out)
        if not array.flags.writable:
            raise ValueError(f"{self.name_}: the output is read-only")
        shape = xp.broadcast_shapes(*(value.shape for value in operands if isinstance(value, Array)))
        if array.shape != shape:
            raise ValueError(f"{self.name_}: the output has shape {array.shape}, the result has shape {shape}")
        try:
            dtype = self._result_dtype(operands, array.device)
        except TypeError as error:
            raise ValueError(str(error)) from error
        if array.dtype != dtype:
            raise ValueError(f"{self.name_}: the output is of {array.dtype}, the result of {dtype}")
        common_queue([value for value in operands if isinstance(value, Array)] + [array])

    def _result_dtype(self, operands: list[Any], device: millpond.Device) -> Any:
        # A number decides by its value; what dtypes come to is the same each time.
        if all(isinstance(value, Array) for value in operands):
            return _dtype_of_result(self._function, device, *(value.dtype for value in operands))
        empty = [xp.empty(0, dtype=x.dtype, device=device) if isinstance(x, Array) else x for x in operands]
        return self._function(*empty).dtype

    def _arranged(self, operands: list[Any]) -> list[Any]:
        """Return operands in dtypes that dpctl has a loop for."""
        arrays = [value for value in operands if isinstance(value, Array)]
        if (
            self._floats
            and all(xp.isdtype(array.dtype, ("bool", "integral")) for array in arrays)
            and not any(isinstance(value, (float, complex)) for value in operands)
        ):
            dtype = _smallest_float(arrays)
            return [xp.astype(value, dtype) if isinstance(value, Array) else value for value in operands]
        if self.name_ in _WITHOUT_BOOL and arrays[0].dtype == xp.bool:
            return [xp.astype(arrays[0], xp.int8)]
        if self.name_ in _OF_COMPLEX and not xp.isdtype(arrays[0].dtype, "complex floating"):
            return [xp.astype(arrays[0], xp.result_type(arrays[0].dtype, xp.complex64))]
        return operands


def _smallest_float(arrays: list[Array]) -> Any:
    """Return the smallest floating-point dtype that holds all elements of integer arrays."""
    largest = max(array.itemsize for array in arrays)
    if largest == 1:
        return xp.float16
    return xp.float64 if largest > 2 and arrays[0].device.has_float64 else xp.float32


@functools.lru_cache(maxsize=4096)
def _dtype_of_result(function: Any, device: millpond.Device, *dtypes: Any) -> Any:
    return function(*(xp.empty(0, dtype=dtype, device=device) for dtype in dtypes)).dtype


class UnaryElementwiseFunc(_ElementwiseFunc):
    """A function of each element of an array."""

    def __call__(self, x: usm_ndarray, /, *, out: usm_ndarray | None = None, order: str = "K") -> usm_ndarray:
        """Compute it.

        Raises
        ------
        TypeError
            For what is no array.
        ValueError
            For a dtype that it isn't computed for, and an `out` of another shape or dtype than the result.
        """
        return self._evaluated([array_of(x)], out, order)


class BinaryElementwiseFunc(_ElementwiseFunc):
    """A function of each pair of elements of two arrays."""

    def __call__(self, o1: Any, o2: Any, /, *, out: usm_ndarray | None = None, order: str = "K") -> usm_ndarray:
        """Compute it of arrays of one queue, or of one and a number or a buffer of the host.

        Raises
        ------
        ExecutionPlacementError
            If no operand is an array, or they are of two queues.
        ValueError
            For shapes that can't be broadcast, dtypes that it isn't computed for, and an `out` of another shape or
            dtype than the result.
        """
        if type(o1) is usm_ndarray and type(o2) is usm_ndarray:
            # The frequent case, which needs no more than this.
            operands = [o1._array, o2._array]
            common_queue(operands)
        else:
            operands = operands_of(o1, o2)
        return self._evaluated(operands, out, order)

    def _inplace_op(self, o1: usm_ndarray, o2: Any) -> usm_ndarray:
        """Compute it into its first operand, of which the result must have the shape and a dtype of the same kind."""
        target = array_of(o1)
        if self.name_ not in _IN_PLACE:
            raise ValueError(f"{self.name_} isn't computed in place")
        if not target.flags.writable:
            raise ValueError(f"{self.name_}: the array is read-only")
        value = operands_of(o1, o2)[1]
        if isinstance(value, Array) and value.dtype != target.dtype:
            if not xp.can_cast(value.dtype, target.dtype, casting="same_kind"):
                raise ValueError(
                    f"{self.name_}: elements of {value.dtype} can't become those of {target.dtype} in place"
                )
            value = xp.astype(value, target.dtype)
        try:
            _IN_PLACE[self.name_](target, value)
        except TypeError as error:
            raise ValueError(str(error)) from error
        return o1


#: Functions that are computed in place, by the operators that do so.
_IN_PLACE: dict[str, Callable[[Any, Any], Any]] = {
    "add": operator.iadd,
    "bitwise_and": operator.iand,
    "bitwise_left_shift": operator.ilshift,
    "bitwise_or": operator.ior,
    "bitwise_right_shift": operator.irshift,
    "bitwise_xor": operator.ixor,
    "divide": operator.itruediv,
    "floor_divide": operator.ifloordiv,
    "multiply": operator.imul,
    "pow": operator.ipow,
    "remainder": operator.imod,
    "subtract": operator.isub,
}


def common_queue(arrays: Sequence[Array]) -> None:
    """Check that arrays are of one queue.

    Raises
    ------
    ExecutionPlacementError
        If they aren't.
    """
    if len(arrays) < 2:
        return
    queue = arrays[0].queue
    for array in arrays[1:]:
        if array.queue != queue:
            raise ExecutionPlacementError(
                f"operands are of several queues: {queue} and {array.queue}; move one of them with to_device first"
            )


def operands_of(*values: Any) -> list[Any]:
    """Return operands for a function of `millpond.tensor`: arrays of one queue, and numbers.

    Raises
    ------
    ExecutionPlacementError
        If none is an array, or they are of several queues.
    ValueError
        For what is no operand.
    """
    if not any(isinstance(value, usm_ndarray) or hasattr(value, _usm_interface.NAME) for value in values):
        kinds = " and ".join(type(value).__name__ for value in values)
        raise ExecutionPlacementError(f"one operand at least must be an array, to say where to compute; got {kinds}")
    operands = [_operand(value) for value in values]
    arrays = [value for value in operands if isinstance(value, Array)]
    common_queue(arrays)
    queue = arrays[0].queue
    return [xp.asarray(value, queue=queue) if isinstance(value, np.ndarray) else value for value in operands]


def _operand(value: Any) -> Any:
    """Return an array, a number, or an array of NumPy that is to go to where the others are."""
    if isinstance(value, usm_ndarray):
        return value._array
    if isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic):
        return value
    if hasattr(value, _usm_interface.NAME):
        return of_interface(value)
    try:
        host = np.asarray(value if isinstance(value, (np.ndarray, np.generic)) else memoryview(value))
    except TypeError:
        raise ValueError(f"an operand is an array, a number or a buffer, not {type(value).__name__}") from None
    if not _dtypes.is_known(host.dtype):
        raise ValueError(f"there are no arrays of {host.dtype}")
    return host


abs = UnaryElementwiseFunc("abs")
acos = UnaryElementwiseFunc("acos")
acosh = UnaryElementwiseFunc("acosh")
angle = UnaryElementwiseFunc("angle")
asin = UnaryElementwiseFunc("asin")
asinh = UnaryElementwiseFunc("asinh")
atan = UnaryElementwiseFunc("atan")
atanh = UnaryElementwiseFunc("atanh")
bitwise_invert = UnaryElementwiseFunc("bitwise_invert")
cbrt = UnaryElementwiseFunc("cbrt")
ceil = UnaryElementwiseFunc("ceil")
conj = UnaryElementwiseFunc("conj")
cos = UnaryElementwiseFunc("cos")
cosh = UnaryElementwiseFunc("cosh")
exp = UnaryElementwiseFunc("exp")
exp2 = UnaryElementwiseFunc("exp2")
expm1 = UnaryElementwiseFunc("expm1")
floor = UnaryElementwiseFunc("floor")
imag = UnaryElementwiseFunc("imag")
isfinite = UnaryElementwiseFunc("isfinite")
isinf = UnaryElementwiseFunc("isinf")
isnan = UnaryElementwiseFunc("isnan")
log = UnaryElementwiseFunc("log")
log10 = UnaryElementwiseFunc("log10")
log1p = UnaryElementwiseFunc("log1p")
log2 = UnaryElementwiseFunc("log2")
logical_not = UnaryElementwiseFunc("logical_not")
negative = UnaryElementwiseFunc("negative")
positive = UnaryElementwiseFunc("positive")
proj = UnaryElementwiseFunc("proj")
real = UnaryElementwiseFunc("real")
reciprocal = UnaryElementwiseFunc("reciprocal")
round = UnaryElementwiseFunc("round")
rsqrt = UnaryElementwiseFunc("rsqrt")
sign = UnaryElementwiseFunc("sign")
signbit = UnaryElementwiseFunc("signbit")
sin = UnaryElementwiseFunc("sin")
sinh = UnaryElementwiseFunc("sinh")
sqrt = UnaryElementwiseFunc("sqrt")
square = UnaryElementwiseFunc("square")
tan = UnaryElementwiseFunc("tan")
tanh = UnaryElementwiseFunc("tanh")
trunc = UnaryElementwiseFunc("trunc")
add = BinaryElementwiseFunc("add")
atan2 = BinaryElementwiseFunc("atan2")
bitwise_and = BinaryElementwiseFunc("bitwise_and")
bitwise_left_shift = BinaryElementwiseFunc("bitwise_left_shift")
bitwise_or = BinaryElementwiseFunc("bitwise_or")
bitwise_right_shift = BinaryElementwiseFunc("bitwise_right_shift")
bitwise_xor = BinaryElementwiseFunc("bitwise_xor")
copysign = BinaryElementwiseFunc("copysign")
divide = BinaryElementwiseFunc("divide")
equal = BinaryElementwiseFunc("equal")
floor_divide = BinaryElementwiseFunc("floor_divide")
greater = BinaryElementwiseFunc("greater")
greater_equal = BinaryElementwiseFunc("greater_equal")
hypot = BinaryElementwiseFunc("hypot")
less = BinaryElementwiseFunc("less")
less_equal = BinaryElementwiseFunc("less_equal")
logaddexp = BinaryElementwiseFunc("logaddexp")
logical_and = BinaryElementwiseFunc("logical_and")
logical_or = BinaryElementwiseFunc("logical_or")
logical_xor = BinaryElementwiseFunc("logical_xor")
maximum = BinaryElementwiseFunc("maximum")
minimum = BinaryElementwiseFunc("minimum")
multiply = BinaryElementwiseFunc("multiply")
nextafter = BinaryElementwiseFunc("nextafter")
not_equal = BinaryElementwiseFunc("not_equal")
pow = BinaryElementwiseFunc("pow")
remainder = BinaryElementwiseFunc("remainder")
subtract = BinaryElementwiseFunc("subtract")
