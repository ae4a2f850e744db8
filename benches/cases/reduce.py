"""Reductions and cumulative sums."""

import math

import numpy as np

from .case import Run, case, each


def _red(op, sizes, axes, dtypes):
    for ax in axes:

        def _mk(ax):
            @case("reduce", f"{op} axis={ax}", sizes, dtypes)
            def f(b):
                x = b.rand(b.size) if b.dt[0] == "f" else b.rand(b.size, 0, 100)
                fn = getattr(b.xp, op)
                n = math.prod(b.size)
                return Run(lambda: fn(x, axis=ax), bytes=n * b.isz, items=n)

        _mk(ax)


_SQ, _TALL, _WIDE = (4096, 4096), (4_000_000, 4), (4, 4_000_000)
_red("sum", [_SQ], (None, 0, 1), ("f4", "f8", "i4"))
for _op in ("mean", "max", "argmax", "std"):
    _red(_op, [_SQ], (None, 0, 1), ("f4",))
_red("max", [_SQ], (None, 1), ("f8",))
_red("std", [_SQ], (1,), ("f8",))
for _op in ("sum", "max", "argmax"):
    _red(_op, [_TALL, _WIDE], (0, 1), ("f4",))


def _red_line(op, dtypes):
    @case("reduce", f"{op} of a line", [100, 10_000, 1_000_000], dtypes)
    def f(b):
        x, fn = b.rand(b.size, 0, 100), getattr(b.xp, op)
        return each(b, lambda: fn(x), b.size, bytes=b.size * b.isz)


_red_line("sum", ("f4", "f8", "i4", "i8"))
_red_line("max", ("f4", "i8"))
for _op in ("mean", "std", "argmax"):
    _red_line(_op, ("f4",))


@case("reduce", "cumulative_sum", [100, 10_000, 100_000, 1_000_000, 10_000_000], ("f4", "f8", "i4", "i8"))
def _(b):
    x, xp = (b.rand(b.size, -1, 1) if b.dt[0] == "f" else b.rand(b.size, -9, 9)), b.xp
    d = b.dtype()
    return each(b, lambda: xp.cumulative_sum(x, dtype=d), b.size, bytes=2 * b.size * b.isz)


@case("reduce", "cumulative_prod", [100, 1_000_000], ("f8",))
def _(b):
    x, xp = b.rand(b.size, 0.99, 1.01), b.xp
    return each(b, lambda: xp.cumulative_prod(x), b.size, bytes=2 * b.size * b.isz)


for _ax in (0, 1):

    def _mk(ax):
        @case("reduce", f"cumulative_sum axis={ax}", [_SQ], ("f4",))
        def f(b):
            x, xp = b.rand(b.size), b.xp
            return Run(
                lambda: xp.cumulative_sum(x, axis=ax),
                bytes=2 * math.prod(b.size) * b.isz,
                items=math.prod(b.size),
            )

    _mk(_ax)

for _op, _fill in (("any", False), ("all", True)):

    def _mk(op, fill):
        @case("reduce", f"{op} (no early out)", [10_000_000], ("b1",))
        def f(b):
            x, fn = b.put(np.full(b.size, fill)), getattr(b.xp, op)
            return Run(lambda: fn(x), bytes=b.size, items=b.size)

    _mk(_op, _fill)


@case("reduce", "count_nonzero", [10_000_000], ("b1",))
def _(b):
    x, xp = b.rand(b.size, dt="b1"), b.xp
    return Run(lambda: xp.count_nonzero(x), bytes=b.size, items=b.size)
