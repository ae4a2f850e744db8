"""What functions of several results return: named tuples of arrays, named as the standard says."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from millpond.tensor import Array


class UniqueAllResult(NamedTuple):
    """The different elements of an array, and all about them."""

    values: "Array"
    indices: "Array"
    inverse_indices: "Array"
    counts: "Array"


class UniqueCountsResult(NamedTuple):
    """The different elements of an array, and how often each occurs."""

    values: "Array"
    counts: "Array"


class UniqueInverseResult(NamedTuple):
    """The different elements of an array, and which of them each element is."""

    values: "Array"
    inverse_indices: "Array"


class TopKResult(NamedTuple):
    """The largest or smallest elements, and their positions."""

    values: "Array"
    indices: "Array"


class EigResult(NamedTuple):
    """The eigenvalues of matrices, and their eigenvectors as columns."""

    eigenvalues: "Array"
    eigenvectors: "Array"


class EighResult(NamedTuple):
    """The same of Hermitian matrices: real eigenvalues in ascending order."""

    eigenvalues: "Array"
    eigenvectors: "Array"


class QRResult(NamedTuple):
    """A factor with orthonormal columns, and one of upper triangles."""

    Q: "Array"
    R: "Array"


class SVDResult(NamedTuple):
    """Singular vectors, singular values in descending order, and the adjoints of the others."""

    U: "Array"
    S: "Array"
    Vh: "Array"


class SlogdetResult(NamedTuple):
    """The sign of determinants, and the logarithms of their moduli."""

    sign: "Array"
    logabsdet: "Array"
