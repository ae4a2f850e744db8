"""NumPy's products, decompositions and transforms, by those of `millpond.tensor`.

Each takes what NumPy's takes. `NotImplemented` says that NumPy has to compute it.
"""

from collections.abc import Callable
from typing import Any

from millpond import tensor as xp
from millpond.tensor import Array


def _dot(a: Any, b: Any, out: Any = None) -> Any:
    if out is not None:
        return NotImplemented
    if not (isinstance(a, Array) and isinstance(b, Array)) or 0 in (a.ndim, b.ndim):
        return xp.multiply(a, b)
    return xp.tensordot(a, b, ((a.ndim - 1,), (max(b.ndim - 2, 0),)))


def _tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    if not (isinstance(a, Array) and isinstance(b, Array)):
        return NotImplemented
    if isinstance(axes, (list, tuple)):
        axes = tuple((one,) if isinstance(one, int) else tuple(one) for one in axes)
    return xp.tensordot(a, b, axes)


def _norm(x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    if axis is None and ord is not None and x.ndim == 2:
        axis = (0, 1)
    if isinstance(axis, (list, tuple)) and len(axis) == 2:
        if keepdims:
            return NotImplemented
        return xp.linalg.matrix_norm(xp.moveaxis(x, tuple(axis), (-2, -1)), ord="fro" if ord is None else ord)
    if axis is None and ord is not None and x.ndim != 1:
        return NotImplemented
    return xp.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=2 if ord is None else ord)


def _alone(function: Any) -> Callable[..., Any]:
    """A function that is computed by the standard's if nothing is said of how."""

    def alone(*arrays: Any, **keywords: Any) -> Any:
        ours = all(isinstance(array, Array) for array in arrays)
        return function(*arrays) if ours and not keywords else NotImplemented

    return alone


def _transform(function: Any) -> Callable[..., Any]:
    def transform(a: Array, n: int | None = None, axis: int = -1, norm: str | None = None, out: Any = None) -> Any:
        return NotImplemented if out is not None else function(a, n=n, axis=axis, norm=norm or "backward")

    return transform


_ALONE = ["cholesky", "det", "eigh", "eigvalsh", "inv", "matrix_rank", "pinv", "qr", "slogdet", "svd"]
_TRANSFORMS = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]

ANSWERS: dict[str, Callable[..., Any]] = {
    "dot": _dot,
    "tensordot": _tensordot,
    "linalg.matrix_power": lambda a, n: xp.linalg.matrix_power(a, n),
    "linalg.norm": _norm,
    "linalg.solve": _alone(xp.linalg.solve),
    **{f"linalg.{name}": _alone(getattr(xp.linalg, name)) for name in _ALONE},
    **{f"fft.{name}": _transform(getattr(xp.fft, name)) for name in _TRANSFORMS},
}
