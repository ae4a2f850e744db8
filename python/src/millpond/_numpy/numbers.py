"""NumPy's functions that reduce, choose, order and compare elements, by those of `millpond.tensor`.

Each takes what NumPy's takes. `NotImplemented` says that NumPy has to compute it.
"""

from collections.abc import Callable
from typing import Any

from millpond import tensor as xp
from millpond.tensor import Array


def _reduction(function: Any, takes_dtype: bool = False) -> Callable[..., Any]:
    def reduce(a: Any, axis: Any = None, *more: Any, **keywords: Any) -> Any:
        if more or keywords.keys() - {"dtype", "out", "keepdims"} or not isinstance(a, Array):
            return NotImplemented
        dtype = keywords.pop("dtype", None)
        if dtype is not None and not takes_dtype:
            return NotImplemented
        if takes_dtype and dtype is not None:
            keywords["dtype"] = dtype
        return function(a, axis=axis, **keywords)

    return reduce


def _moment(function: Any) -> Callable[..., Any]:
    """A mean or a spread, which NumPy computes of integers too."""

    def moment(a: Any, axis: Any = None, *more: Any, ddof: float = 0, **keywords: Any) -> Any:
        dtype, out = keywords.pop("dtype", None), keywords.pop("out", None)
        keepdims = keywords.pop("keepdims", False)
        if more or keywords or out is not None or not isinstance(a, Array):
            return NotImplemented
        if dtype is None and xp.isdtype(a.dtype, ("bool", "integral")):
            dtype = xp.__array_namespace_info__().default_dtypes(device=a.device)["real floating"]
        if dtype is not None:
            a = xp.astype(a, dtype, copy=False)
        correction = {} if function is xp.mean else {"correction": ddof}
        return function(a, axis=axis, keepdims=keepdims, **correction)

    return moment


def _without_nan(name: str, neutral: float) -> Callable[..., Any]:
    """A reduction of what is a number, by one that counts whatever is none as a number that changes nothing."""

    def reduce(a: Any, axis: Any = None, *more: Any, **keywords: Any) -> Any:
        if not isinstance(a, Array) or xp.isdtype(a.dtype, "complex floating"):
            return NotImplemented
        if xp.isdtype(a.dtype, ("bool", "integral")):
            return ANSWERS[name](a, axis, *more, **keywords)
        missing = xp.isnan(a)
        result = ANSWERS[name](xp.where(missing, neutral, a), axis, *more, **keywords)
        if name in ("sum", "prod") or result is NotImplemented or keywords.get("out") is not None:
            return result
        # Where nothing is a number, nothing is the largest.
        return xp.where(xp.all(missing, axis=axis, keepdims=keywords.get("keepdims", False)), xp.nan, result)

    return reduce


def _nanmoment(power: int, root: bool = False) -> Callable[..., Any]:
    """A mean or a spread of what is a number."""

    def moment(a: Any, axis: Any = None, dtype: Any = None, *more: Any, ddof: float = 0, **keywords: Any) -> Any:
        keepdims = keywords.pop("keepdims", False)
        if more or keywords or not isinstance(a, Array) or xp.isdtype(a.dtype, "complex floating"):
            return NotImplemented
        if xp.isdtype(a.dtype, ("bool", "integral")):
            dtype = dtype or xp.__array_namespace_info__().default_dtypes(device=a.device)["real floating"]
        if dtype is not None:
            a = xp.astype(a, dtype, copy=False)
        there = ~xp.isnan(a)
        count = xp.astype(xp.count_nonzero(there, axis=axis, keepdims=True), a.dtype)
        result = xp.sum(xp.where(there, a, 0), axis=axis, keepdims=True) / count
        if power == 2:
            result = xp.sum(xp.where(there, (a - result) ** 2, 0), axis=axis, keepdims=True)
            result = result / xp.where(count > ddof, count - ddof, xp.nan)
        if root:
            result = xp.sqrt(result)
        axes = tuple(range(a.ndim)) if axis is None else axis
        return result if keepdims else xp.squeeze(result, axis=axes)

    return moment


def _scan(function: Any) -> Callable[..., Any]:
    def scan(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        if axis is None:
            a, axis = xp.reshape(a, (-1,)), 0
        return function(a, axis=axis, dtype=dtype, out=out)

    return scan


def _where(condition: Any, /, *chosen: Any) -> Any:
    return xp.where(condition, *chosen) if chosen else xp.nonzero(condition)


def _clip(a: Array, a_min: Any = None, a_max: Any = None, out: Any = None, **keywords: Any) -> Any:
    low, high = keywords.pop("min", a_min), keywords.pop("max", a_max)
    return NotImplemented if keywords else xp.clip(a, low, high, out=out)


def _round(a: Array, decimals: int = 0, out: Any = None) -> Any:
    if decimals == 0:
        return xp.round(a, out=out)
    scale = 10.0 ** abs(decimals)
    if out is not None or not xp.isdtype(a.dtype, "real floating"):
        return NotImplemented
    return xp.round(a * scale) / scale if decimals > 0 else xp.round(a / scale) * scale


def _order(function: Any) -> Callable[..., Any]:
    def order(a: Array, axis: int | None = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
        if order is not None:
            return NotImplemented
        return function(xp.reshape(a, (-1,)), axis=0) if axis is None else function(a, axis=axis)

    return order


def _take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: Any = "raise") -> Any:
    if out is not None or not (isinstance(a, Array) and isinstance(indices, Array)):
        return NotImplemented
    if axis is None:
        a, axis = xp.reshape(a, (-1,)), 0
    return xp.take(a, indices, axis=axis, mode=mode)


def _searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    return xp.searchsorted(a, v, side=side, sorter=sorter) if isinstance(a, Array) else NotImplemented


def _unique(ar: Array, *flags: bool, **keywords: Any) -> Any:
    return NotImplemented if flags or keywords else xp.unique_values(ar)


def _diff(a: Array, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    return xp.diff(a, axis=axis, n=n, prepend=prepend, append=append)


def _isclose(a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Array:
    return xp.isclose(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    if equal_nan or not (isinstance(a1, Array) and isinstance(a2, Array)):
        return NotImplemented
    return a1.shape == a2.shape and bool(xp.all(a1 == a2))


def _is_complex(x: Array) -> bool:
    return bool(xp.isdtype(x.dtype, "complex floating"))


ANSWERS: dict[str, Callable[..., Any]] = {
    "all": _reduction(xp.all),
    "allclose": lambda *arguments, **keywords: bool(xp.all(_isclose(*arguments, **keywords))),
    "any": _reduction(xp.any),
    "argmax": _reduction(xp.argmax),
    "argmin": _reduction(xp.argmin),
    "argsort": _order(xp.argsort),
    "array_equal": _array_equal,
    "clip": _clip,
    "count_nonzero": _reduction(xp.count_nonzero),
    "cumprod": _scan(xp.cumulative_prod),
    "cumsum": _scan(xp.cumulative_sum),
    "diff": _diff,
    "imag": lambda val: val.imag,
    "isclose": _isclose,
    "iscomplexobj": _is_complex,
    "isrealobj": lambda x: not _is_complex(x),
    "max": _reduction(xp.max),
    "mean": _moment(xp.mean),
    "min": _reduction(xp.min),
    "nanmax": _without_nan("max", -xp.inf),
    "nanmean": _nanmoment(1),
    "nanmin": _without_nan("min", xp.inf),
    "nanprod": _without_nan("prod", 1),
    "nanstd": _nanmoment(2, root=True),
    "nansum": _without_nan("sum", 0),
    "nanvar": _nanmoment(2),
    "nonzero": xp.nonzero,
    "prod": _reduction(xp.prod, takes_dtype=True),
    "real": lambda val: val.real,
    "round": _round,
    "searchsorted": _searchsorted,
    "sort": _order(xp.sort),
    "std": _moment(xp.std),
    "sum": _reduction(xp.sum, takes_dtype=True),
    "take": _take,
    "unique": _unique,
    "var": _moment(xp.var),
    "where": _where,
}
