"""Picking and setting by masks and indices."""

import numpy as np

from .case import REAL, SIZES, Run, case, each


def _idx(b, n, hi, seed=3):
    return b.rand(n, 0, hi, dt="i8", seed=seed)


@case("index", "mask extract x[m] 50%", SIZES, REAL[:3])
def _(b):
    x, m = b.rand(b.size), b.rand(b.size, dt="b1")
    return each(b, lambda: x[m], b.size, bytes=b.size * (b.isz * 1.5 + 1))


@case("index", "mask set x[m]=0 50%", SIZES, ("f4",))
def _(b):
    x, m, s = b.put(b.np_rand(b.size).copy()), b.rand(b.size, dt="b1"), b.xp.set_
    return each(b, lambda: s(x, m, 0.0), b.size, bytes=b.size * (b.isz * 0.5 + 1))


@case("index", "mask set x[m]=y 50%", SIZES, ("f4",))
def _(b):
    a, m = b.np_rand(b.size), b.np_rand(b.size, dt="b1")
    x, y, m, s = b.put(a.copy()), b.put(a[m]), b.put(m), b.xp.set_
    return each(b, lambda: s(x, m, y), b.size, bytes=b.size * (b.isz + 1))


@case("index", "mask extract x[m] 1%", [10_000_000], ("f4",))
def _(b):
    x, m = b.rand(b.size), b.put(np.random.default_rng(6).random(b.size) < 0.01)
    return Run(lambda: x[m], bytes=b.size, items=b.size)


@case("index", "small x[idx], x[m]", [100], ("f4",))
def _(b):
    x, i, m = b.rand(b.size), _idx(b, b.size, b.size), b.rand(b.size, dt="b1")

    def fn():
        for _ in range(500):
            x[i]
            r = x[m]
        return r

    return Run(fn, inner=1000)


@case("index", "take random", SIZES, REAL[:2])
def _(b):
    x, i, xp = b.rand(b.size), _idx(b, b.size, b.size), b.xp
    return each(b, lambda: xp.take(x, i, axis=0), b.size, bytes=b.size * (2 * b.isz + 8))


@case("index", "gather x[idx] random", SIZES, ("f4", "f8"))
def _(b):
    x, i = b.rand(b.size), _idx(b, b.size, b.size)
    return each(b, lambda: x[i], b.size, bytes=b.size * (2 * b.isz + 8))


@case("index", "gather x[idx] sequential", [10_000_000], ("f4",))
def _(b):
    x, i = b.rand(b.size), b.put(np.arange(b.size))
    return Run(lambda: x[i], bytes=b.size * (2 * b.isz + 8), items=b.size)


@case("index", "scatter x[idx]=y random", SIZES, ("f4",))
def _(b):
    x, i, y, s = (
        b.put(b.np_rand(b.size).copy()),
        b.put(np.random.default_rng(5).permutation(b.size)),
        b.rand(b.size, seed=1),
        b.xp.set_,
    )
    return each(b, lambda: s(x, i, y), b.size, bytes=b.size * (2 * b.isz + 8))


@case("index", "take rows (1e5 of 1e5x64)", [(100_000, 64)], ("f4",))
def _(b):
    r, c = b.size
    x, i, xp = b.rand((r, c)), _idx(b, r, r), b.xp
    return Run(lambda: xp.take(x, i, axis=0), bytes=2 * r * c * b.isz, items=r * c)


@case("index", "take_along_axis axis=1", [(1000, 10_000)], ("f4",))
def _(b):
    r, c = b.size
    x, i, xp = b.rand((r, c)), b.rand((r, c), 0, c, dt="i8", seed=3), b.xp
    return Run(lambda: xp.take_along_axis(x, i, axis=1), bytes=r * c * (2 * b.isz + 8), items=r * c)


@case("index", "nonzero 50%", SIZES, ("b1",))
def _(b):
    m, xp = b.rand(b.size, dt="b1"), b.xp
    return each(b, lambda: xp.nonzero(m), b.size, bytes=b.size * 5)
