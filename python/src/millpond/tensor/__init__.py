"""Arrays through the Python Array API standard, with what programs need beyond it.

Operations return at once and run in the order of their submission; what reads elements on the host waits for exactly
those. The functions are those of the standard, by its names; beyond it, functions that make arrays take ``usm_type=``
and ``queue=``, and those that compute take ``out=``.
"""

from millpond._millpond.tensor import *  # noqa: F403 - names of builtins are the standard's
from millpond._millpond.tensor import __all__ as _native
from millpond._millpond.tensor import _rebuild as _rebuild
from millpond.tensor.inspection import __array_namespace_info__
from millpond.tensor.printing import print_options

e = 2.718281828459045
inf = float("inf")
nan = float("nan")
newaxis = None
pi = 3.141592653589793

__all__ = [
    "__array_namespace_info__",
    "e",
    "inf",
    "nan",
    "newaxis",
    "pi",
    "print_options",
    *(name for name in _native if name != "_rebuild"),
]


def __dir__():
    return sorted(__all__)
