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
