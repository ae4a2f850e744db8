"""Functions of `millpond.tensor` that arrays have as methods too, as NumPy's arrays have them: ``x.sum(axis=0)``.

A method takes what NumPy's of the same name takes, and computes what the function does. None works in place.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

from millpond import tensor as xp
from millpond._numpy import layout, numbers, products
from millpond.tensor import Array

_FUNCTIONS: dict[str, Callable[..., Any]] = {**layout.ANSWERS, **numbers.ANSWERS, **products.ANSWERS}

#: Methods that are the function of their name.
_SAME = (
    "all any argmax argmin argsort clip copy cumprod cumsum diagonal dot max mean min nonzero prod ravel repeat round "
    "searchsorted squeeze std sum swapaxes take trace var"
)


def _astype(
    x: Array, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
) -> Array:
    return xp.astype(x, dtype, order=order, casting=casting, copy=copy)


def _conj(x: Array) -> Array:
    return xp.conj(x)


def _flatten(x: Array, order: Any = "C") -> Array:
    return xp.reshape(x, (-1,), order=order, copy=True)


def _reshape(x: Array, *shape: Any, order: Any = "C", copy: bool | None = None) -> Array:
    return xp.reshape(x, _sizes(shape), order=order, copy=copy)


def _transpose(x: Array, *axes: Any) -> Array:
    axes = tuple(range(x.ndim))[::-1] if axes in ((), (None,)) else _sizes(axes)
    return xp.permute_dims(x, axes)


def _reversed(x: Array) -> Iterator[Array]:
    """Walk along the first axis backwards."""
    len(x)  # an array without axes is refused
    return iter(xp.flip(x, axis=0))


def _sizes(given: tuple[Any, ...]) -> Any:
    """Integers that are given one by one, or as one argument."""
    return given[0] if len(given) == 1 else given


_OTHERS: dict[str, Callable[..., Any]] = {
    "astype": _astype,
    "conj": _conj,
    "flatten": _flatten,
    "reshape": _reshape,
    "transpose": _transpose,
}


def _method(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def method(self: Array, *arguments: Any, **keywords: Any) -> Any:
        result = function(self, *arguments, **keywords)
        if result is NotImplemented:
            given = ", ".join([*map(repr, arguments), *(f"{key}={value!r}" for key, value in keywords.items())])
            raise TypeError(f"{name}: millpond computes it without some of ({given})")
        return result

    method.__name__, method.__qualname__, method.__module__ = name, f"Array.{name}", "millpond.tensor"
    method.__doc__ = f"Compute what NumPy's method of this name does, by a function of `millpond.tensor`: `{name}`."
    return method


def install() -> None:
    """Give the class its methods, which are functions of modules that need the class."""
    for name in _SAME.split():
        setattr(Array, name, _method(name, _FUNCTIONS[name]))
    for name, function in _OTHERS.items():
        setattr(Array, name, _method(name, function))
    setattr(Array, "__reversed__", _reversed)  # noqa: B010 - the stub says that it is there
