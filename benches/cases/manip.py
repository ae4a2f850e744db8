"""Joining, repeating, rolling and reordering."""

import math

from .case import SIZES, Run, case, each


@case("manip", "concat 10 x n", SIZES[:3], ("f4",))
def _(b):
    xs, xp = [b.rand(b.size, seed=i) for i in range(10)], b.xp
    return each(b, lambda: xp.concat(xs), b.size, bytes=20 * b.size * b.isz)


@case("manip", "stack 10 x n axis=0", SIZES[:3], ("f4",))
def _(b):
    xs, xp = [b.rand(b.size, seed=i) for i in range(10)], b.xp
    return each(b, lambda: xp.stack(xs, axis=0), b.size, bytes=20 * b.size * b.isz)


@case("manip", "stack 10 x n axis=1", [1_000_000], ("f4",))
def _(b):
    xs, xp = [b.rand(b.size, seed=i) for i in range(10)], b.xp
    return Run(lambda: xp.stack(xs, axis=1), bytes=20 * b.size * b.isz)


@case("manip", "repeat 4", SIZES, ("f4",))
def _(b):
    x, xp = b.rand(b.size), b.xp
    return each(b, lambda: xp.repeat(x, 4), b.size, bytes=5 * b.size * b.isz)


@case("manip", "tile 4", SIZES, ("f4",))
def _(b):
    x, xp = b.rand(b.size), b.xp
    return each(b, lambda: xp.tile(x, (4,)), b.size, bytes=5 * b.size * b.isz)


@case("manip", "roll", SIZES, ("f4", "f8"))
def _(b):
    x, xp = b.rand(b.size), b.xp
    return each(b, lambda: xp.roll(x, 12345), b.size, bytes=2 * b.size * b.isz)


@case("manip", "roll axis=1", [(4096, 4096)], ("f4",))
def _(b):
    x, xp = b.rand(b.size), b.xp
    return Run(lambda: xp.roll(x, 17, axis=1), bytes=2 * math.prod(b.size) * b.isz)


@case("manip", "flip (copied)", [10_000_000], ("f4",))
def _(b):
    x, xp = b.rand(b.size), b.xp
    return Run(lambda: xp.flip(x) + 0.0, bytes=2 * b.size * b.isz)


@case("manip", "tril", [(4096, 4096)], ("f4",))
def _(b):
    x, xp = b.rand(b.size), b.xp
    return Run(lambda: xp.tril(x), bytes=2 * math.prod(b.size) * b.isz)


@case("manip", "copy (asarray copy=True)", [10_000_000], ("f4",))
def _(b):
    x, xp = b.rand(b.size), b.xp
    return Run(lambda: xp.asarray(x, copy=True), bytes=2 * b.size * b.isz)


@case("manip", "arange", [10_000_000], ("f4",))
def _(b):
    xp, n, d = b.xp, b.size, b.dtype()
    return Run(lambda: xp.arange(n, dtype=d), bytes=b.size * b.isz)


@case("manip", "full", [10_000_000], ("f4",))
def _(b):
    xp, n, d = b.xp, b.size, b.dtype()
    return Run(lambda: xp.full(n, 1.5, dtype=d), bytes=b.size * b.isz)
