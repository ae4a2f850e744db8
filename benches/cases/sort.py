"""Sorting, searching and sets."""

import math

import numpy as np

from .case import REAL, SIZES, Run, case, each


def _any(b, size, seed=0):
    """Numbers from all of the dtype's range, or floats of about one."""
    if b.dt[0] == "f":
        return b.np_rand(size, seed=seed)
    half = 2 ** (8 * b.isz - 1)
    return b.np_rand(size, -half, half - 1, seed=seed)


@case("sort", "sort", sorted([*SIZES, 100_000]), REAL)
def _(b):
    x, xp = b.put(_any(b, b.size)), b.xp
    return each(b, lambda: xp.sort(x), b.size)


@case("sort", "sort axis=1", [(10_000, 1000)], ("f4",))
def _(b):
    x, xp = b.rand(b.size), b.xp
    return Run(lambda: xp.sort(x, axis=1), items=math.prod(b.size))


@case("sort", "argsort", sorted([*SIZES, 100_000]), REAL)
def _(b):
    x, xp = b.put(_any(b, b.size)), b.xp
    return each(b, lambda: xp.argsort(x), b.size, check=False)


@case("sort", "unique_values (1e5 distinct)", SIZES, ("i4", "i8"))
def _(b):
    x, xp = b.rand(b.size, 0, 100_000), b.xp
    return each(b, lambda: xp.unique_values(x), b.size, check="sorted")


@case("sort", "unique_values (all distinct)", [10_000, 1_000_000], ("f4", "f8"))
def _(b):
    x, xp = b.rand(b.size), b.xp
    return each(b, lambda: xp.unique_values(x), b.size, check="sorted")


@case("sort", "unique_counts (1e5 distinct)", SIZES[:3], ("i4",))
def _(b):
    x, xp = b.rand(b.size, 0, 100_000), b.xp
    return each(b, lambda: xp.unique_counts(x).counts, b.size)


@case("sort", "unique_inverse (1e5 distinct)", SIZES[:3], ("i4",))
def _(b):
    x, xp = b.rand(b.size, 0, 100_000), b.xp
    return each(b, lambda: xp.unique_inverse(x).inverse_indices, b.size)


@case("sort", "isin (1e4 members)", SIZES[:3], ("i4", "f4"))
def _(b):
    x, members, xp = b.rand(b.size, 0, 100_000), b.rand(10_000, 0, 100_000, seed=1), b.xp
    return each(b, lambda: xp.isin(x, members), b.size)


@case("sort", "isin (1e4 members of any size)", [1_000_000], ("i8",))
def _(b):
    x, members, xp = b.put(_any(b, b.size)), b.put(_any(b, 10_000, seed=1)), b.xp
    return each(b, lambda: xp.isin(x, members), b.size)


@case("sort", "searchsorted in 1e6", SIZES, ("f4", "f8", "i8"))
def _(b):
    t, q, xp = b.put(np.sort(_any(b, min(b.size, 1_000_000)))), b.put(_any(b, b.size, seed=1)), b.xp
    return each(b, lambda: xp.searchsorted(t, q), b.size)


@case("sort", "top_k k=100", SIZES[1:], ("f4",))
def _(b):
    x, xp = b.rand(b.size), b.xp
    k = min(100, b.size // 2)
    return each(b, lambda: xp.top_k(x, k), b.size, check=False)
