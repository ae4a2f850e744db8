"""Dtypes: those of NumPy that arrays may have, and what they become."""

from __future__ import annotations

from typing import Any

import numpy as np

from millpond import tensor as xp

#: The dtypes of arrays, by NumPy's.
_OURS = {
    np.dtype(name): getattr(xp, name)
    for name in [
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
        "complex128",
    ]
}

#: The same in the order in which dpctl lists loops.
ORDER = "?bBhHiIlLefdFD"


def ours(spec: Any) -> Any:
    """Return the dtype that a program means, for the functions of `millpond.tensor`; `None` stays.

    Raises
    ------
    TypeError
        For what NumPy has no dtype for, and for dtypes of no numbers.
    ValueError
        For dtypes of foreign byte order.
    """
    if spec is None:
        return None
    found = np.dtype(spec)
    if found in _OURS:
        return _OURS[found]
    if not found.isnative and found.newbyteorder("=") in _OURS:
        raise ValueError(f"elements of {found.str} have foreign byte order")
    raise TypeError(f"there are no arrays of {found}; the dtypes are {', '.join(map(str, _OURS))}")


def is_known(found: Any) -> bool:
    """Say whether there are arrays of a dtype of NumPy."""
    return found in _OURS
