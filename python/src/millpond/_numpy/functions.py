"""NumPy's functions of arrays of `millpond.tensor`: ``np.sum(x)`` is ``xp.sum(x)``.

A function stands in a table, by which millpond computes it and gives an array of its own. What doesn't, or not with
these keywords, NumPy computes of copies on the host and gives an array of NumPy; so it does where arrays of both
libraries are given. What would write to such a copy is refused.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from millpond import tensor as xp
from millpond._numpy import layout, numbers, products


def _result_type(*arrays_and_dtypes: Any) -> Any:
    # It is asked for a dtype of NumPy's, and elements say nothing about it.
    return np.result_type(*(one.dtype.dtype if isinstance(one, xp.Array) else one for one in arrays_and_dtypes))


#: Functions of NumPy, and what computes them.
_ANSWERS: dict[Callable[..., Any], Callable[..., Any]] = {
    operator.attrgetter(name)(np): function
    for name, function in {**layout.ANSWERS, **numbers.ANSWERS, **products.ANSWERS, "result_type": _result_type}.items()
}

#: What writes to an argument.
_WRITERS = {np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal}


def answer(
    function: Callable[..., Any], types: tuple[type, ...], arguments: tuple[Any, ...], keywords: dict[str, Any]
) -> Any:
    """Compute a function of NumPy, by the protocol of `__array_function__`.

    Raises
    ------
    TypeError
        For a function that would write to an array of millpond.
    """
    if any(not issubclass(kind, (xp.Array, np.ndarray)) for kind in types):
        return NotImplemented
    ours = _ANSWERS.get(function)
    # An operand that is written, or that is NumPy's, is the host's business; so is a keyword that there isn't.
    if ours is not None and all(issubclass(kind, xp.Array) for kind in types):
        given = {name: value for name, value in keywords.items() if value is not np._NoValue}
        result = ours(*arguments, **given)
        if result is not NotImplemented:
            return result
    if function in _WRITERS or _has_array(keywords.get("out")) or keywords.get("copy") is False:
        raise TypeError(
            f"{function.__name__}: NumPy can't write to an array of millpond; use millpond.tensor's functions"
        )
    return function(*_on_host(arguments), **_on_host(keywords))


def _has_array(value: Any) -> bool:
    return isinstance(value, xp.Array) or (isinstance(value, tuple) and any(map(_has_array, value)))


def _on_host(value: Any) -> Any:
    """Copies of arrays, wherever they stand."""
    if isinstance(value, xp.Array):
        return xp.asnumpy(value)
    if type(value) in (list, tuple):
        return type(value)(map(_on_host, value))
    if type(value) is dict:
        return {name: _on_host(part) for name, part in value.items()}
    return value
