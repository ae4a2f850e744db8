"""NumPy's element-wise functions of arrays of `millpond.tensor`: ``np.sin(x)`` is ``xp.sin(x)``.

The result is an array of millpond. Arrays of both libraries don't mix, as with operators; a function that millpond
hasn't got is refused, as is every keyword that its functions don't have.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from millpond import tensor as xp

#: Functions whose name is another one in the standard.
_NAMES = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "conjugate": "conj",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "rint": "round",
}

#: What repeating a function along an axis comes to.
_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "add": xp.sum,
    "hypot": xp.reduce_hypot,
    "logaddexp": xp.logsumexp,
    "logical_and": xp.all,
    "logical_or": xp.any,
    "maximum": xp.max,
    "minimum": xp.min,
    "multiply": xp.prod,
}
_SCANS: dict[str, Callable[..., Any]] = {
    "add": xp.cumulative_sum,
    "logaddexp": xp.cumulative_logsumexp,
    "multiply": xp.cumulative_prod,
}
_REPEATED: dict[str, dict[str, Callable[..., Any]]] = {"reduce": _REDUCTIONS, "accumulate": _SCANS}

#: Keywords of NumPy that say nothing if they have these values.
_SILENT = {
    "where": True,
    "casting": "same_kind",
    "subok": True,
    "dtype": None,
    "keepdims": False,
    "initial": np._NoValue,
}


def answer(ufunc: np.ufunc, method: str, operands: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Compute a function of NumPy, by the protocol of `__array_ufunc__`.

    Raises
    ------
    TypeError
        For a function or a keyword that there isn't, and for arrays of NumPy.
    """
    outputs = keywords.pop("out", ())
    if any(_answers_itself(operand) for operand in (*operands, *outputs)):
        return NotImplemented
    given = {name: value for name, value in keywords.items() if value is not _SILENT.get(name, ufunc)}
    if outputs:
        (given["out"],) = outputs
    function = _function(ufunc, method)
    # A scalar of NumPy that stands on the left arrives as an array without axes.
    operands = tuple(one[()] if isinstance(one, np.ndarray) and one.ndim == 0 else one for one in operands)
    if method in ("__call__", "outer"):
        if "dtype" in given:
            operands = tuple(_converted(one, given["dtype"]) for one in operands)
            del given["dtype"]
        if method == "outer":
            operands = _crossed(*operands)
    else:
        given.setdefault("axis", 0)
    unknown = given.keys() - inspect.signature(function).parameters.keys() if given else None
    if unknown:
        raise TypeError(f"{ufunc.__name__}: millpond computes it without {', '.join(sorted(unknown))}")
    return function(*operands, **given)


def _converted(operand: Any, dtype: Any) -> Any:
    """An operand of a computation in a dtype."""
    return xp.astype(operand, dtype, copy=False) if isinstance(operand, xp.Array) else operand


def _answers_itself(operand: Any) -> bool:
    """Whether an operand belongs to a third library, which has to be asked too."""
    own = isinstance(operand, (xp.Array, np.ndarray, np.generic))
    return not own and hasattr(type(operand), "__array_ufunc__")


def _function(ufunc: np.ufunc, method: str) -> Callable[..., Any]:
    name = ufunc.__name__
    function: Any
    if method in ("__call__", "outer"):
        function = getattr(xp, _NAMES.get(name, name), None)
    else:
        function = _REPEATED.get(method, {}).get(name)
    if function is None:
        what = name if method == "__call__" else f"{name}.{method}"
        raise TypeError(
            f"{what}: millpond.tensor has no such function; NumPy computes it of millpond.tensor.asnumpy(x)"
        )
    return function  # type: ignore[no-any-return]


def _crossed(first: Any, second: Any) -> tuple[Any, Any]:
    """Each element of the first beside each of the second."""
    key = (..., *(None,) * (second.ndim if isinstance(second, xp.Array) else 0))
    return (first[key] if isinstance(first, xp.Array) else first), second
