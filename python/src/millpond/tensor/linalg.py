"""Linear algebra over stacks of vectors and matrices: the extension ``linalg`` of the Python Array API standard.

The last one or two axes are vectors or matrices, the others count them and broadcast. Integers and truth values are
taken apart as the default float, half floats as ``float32``; ``float32`` and ``complex64`` stay what they are, though
decompositions compute with twice their digits. Decompositions are backward stable: put together again, factors are
within ``c * n * u * norm(x)`` of the matrix, with *u* the unit roundoff.

Numbers for which a result is undefined, such as a singular matrix, raise `LinAlgError`: at the call, if the work was
small enough to be done there, or at the next wait for the result.
"""

from millpond._millpond.tensor.linalg import *  # noqa: F403 - names are the standard's
from millpond._millpond.tensor.linalg import __all__ as _functions
from millpond._results import EighResult, EigResult, QRResult, SlogdetResult, SVDResult
from millpond.exceptions import LinAlgError

__all__ = ["EigResult", "EighResult", "LinAlgError", "QRResult", "SVDResult", "SlogdetResult", *_functions]


def __dir__():
    return __all__
