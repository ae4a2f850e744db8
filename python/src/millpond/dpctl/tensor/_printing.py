"""Text of arrays."""

from __future__ import annotations

from typing import Any

from millpond import tensor as xp
from millpond.dpctl.tensor._array import array_of, usm_ndarray

get_print_options = xp.get_print_options

#: Options that count something.
_COUNTS = ("linewidth", "line_width", "edgeitems", "edge_items", "threshold", "precision")


def set_print_options(
    linewidth: int | None = None,
    edgeitems: int | None = None,
    threshold: int | None = None,
    precision: int | None = None,
    floatmode: Any = None,
    suppress: bool | None = None,
    nanstr: str | None = None,
    infstr: str | None = None,
    sign: Any = None,
    numpy: bool = False,
) -> None:
    """Say how arrays are printed from now on.

    Raises
    ------
    TypeError
        For an option of another type.
    ValueError
        For another value.
    """
    xp.set_print_options(**_checked({**locals()}))


def print_options(*args: Any, **kwargs: Any) -> Any:
    """Say how arrays are printed in a `with` statement, by the options of `set_print_options`."""
    _checked(kwargs)
    return xp.print_options(*args, **kwargs)


def _checked(options: dict[str, Any]) -> dict[str, Any]:
    for name in _COUNTS:
        value = options.get(name)
        if value is not None and not isinstance(value, int):
            raise TypeError(f"{name} is an integer, not {type(value).__name__}")
    return options


def usm_ndarray_str(
    x: usm_ndarray,
    line_width: int | None = None,
    edge_items: int | None = None,
    threshold: int | None = None,
    precision: int | None = None,
    floatmode: Any = None,
    suppress: bool | None = None,
    sign: Any = None,
    numpy: bool = False,
    separator: str = " ",
    prefix: str = "",
    suffix: str = "",
) -> str:
    """Return the elements as text."""
    _checked({"line_width": line_width, "edge_items": edge_items, "threshold": threshold, "precision": precision})
    return xp.array_str(
        array_of(x),
        line_width=line_width,
        edge_items=edge_items,
        threshold=threshold,
        precision=precision,
        floatmode=floatmode,
        suppress=suppress,
        sign=sign,
        numpy=numpy,
        separator=separator,
        prefix=prefix,
        suffix=suffix,
    )


def usm_ndarray_repr(
    x: usm_ndarray,
    line_width: int | None = None,
    precision: int | None = None,
    suppress: bool | None = None,
    prefix: str = "usm_ndarray",
) -> str:
    """Return the elements as text that could make them."""
    _checked({"line_width": line_width, "precision": precision})
    return xp.array_repr(array_of(x), line_width=line_width, precision=precision, suppress=suppress, prefix=prefix)
