"""Arrays through the Python Array API standard, with what programs need beyond it.

Operations return at once and run in the order of their submission; what reads elements on the host waits for exactly
those. The functions are those of the standard, by its names; beyond it, functions that make arrays take ``usm_type=``
and ``queue=``, and those that compute take ``out=``.
"""

from millpond._millpond.tensor import *  # noqa: F403 - names of builtins are the standard's
from millpond._millpond.tensor import __all__ as _names
from millpond.tensor import fft, linalg

from millpond._numpy import methods as _methods  # isort: skip - of the names above

#: Functions that are no part of the namespace: for pickles, and for `millpond.dpctl`.
_PRIVATE = {"_offset", "_over", "_rebuild"}

__all__ = ["fft", "linalg", *(name for name in _names if name not in _PRIVATE)]


def __dir__():
    return __all__


_methods.install()
