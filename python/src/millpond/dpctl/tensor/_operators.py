"""The operators of arrays, which are element-wise functions and `matmul`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from millpond.dpctl.tensor import _elementwise as elementwise
from millpond.dpctl.tensor._array import usm_ndarray
from millpond.dpctl.tensor._linear_algebra import matmul

#: Operators of one operand.
_UNARY = {
    "abs": elementwise.abs,
    "invert": elementwise.bitwise_invert,
    "neg": elementwise.negative,
    "pos": elementwise.positive,
}

#: Those that compare: Python exchanges the operands by itself.
_COMPARING = {
    "eq": elementwise.equal,
    "ge": elementwise.greater_equal,
    "gt": elementwise.greater,
    "le": elementwise.less_equal,
    "lt": elementwise.less,
    "ne": elementwise.not_equal,
}

#: Those with forms for exchanged operands and in place.
_BINARY = {
    "add": elementwise.add,
    "and": elementwise.bitwise_and,
    "floordiv": elementwise.floor_divide,
    "lshift": elementwise.bitwise_left_shift,
    "mod": elementwise.remainder,
    "mul": elementwise.multiply,
    "or": elementwise.bitwise_or,
    "pow": elementwise.pow,
    "rshift": elementwise.bitwise_right_shift,
    "sub": elementwise.subtract,
    "truediv": elementwise.divide,
    "xor": elementwise.bitwise_xor,
}


def install() -> None:
    """Give arrays their operators."""
    for name, unary in _UNARY.items():
        _set(name, _of_one(unary))
    for name, binary in (_COMPARING | _BINARY).items():
        _set(name, _of_two(binary))
    for name, binary in _BINARY.items():
        _set(f"r{name}", _exchanged(binary))
        _set(f"i{name}", _of_two(binary._inplace_op))
    _set("matmul", _of_two(matmul))
    _set("rmatmul", _exchanged(matmul))
    _set("imatmul", _multiplied_in_place)


def _of_one(function: Callable[[Any], usm_ndarray]) -> Any:
    def method(self: usm_ndarray, /) -> usm_ndarray:
        return function(self)

    return method


def _of_two(function: Callable[[Any, Any], usm_ndarray]) -> Any:
    def method(self: usm_ndarray, other: Any, /) -> usm_ndarray:
        return function(self, other)

    return method


def _exchanged(function: Callable[[Any, Any], usm_ndarray]) -> Any:
    def method(self: usm_ndarray, other: Any, /) -> usm_ndarray:
        return function(other, self)

    return method


def _multiplied_in_place(self: usm_ndarray, other: Any, /) -> usm_ndarray:
    return matmul(self, other, out=self)


def _set(name: str, method: Any) -> None:
    method.__name__, method.__qualname__ = f"__{name}__", f"usm_ndarray.__{name}__"
    setattr(usm_ndarray, method.__name__, method)
