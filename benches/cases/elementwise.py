"""Element-wise functions; sizes are bytes of one input."""

import numpy as np
from adapters import Skip, _iadd

from .case import MB10, MB100, NP, Run, case

EW = {  # name: (number of inputs, bytes-out per element (None = itemsize), function, numexpr)
    "add": (2, None, lambda xp, x, y: x + y, "x+y"),
    "multiply": (2, None, lambda xp, x, y: x * y, "x*y"),
    "divide": (2, None, lambda xp, x, y: x / y, "x/y"),
    "sqrt": (1, None, lambda xp, x, y: xp.sqrt(x), "sqrt(x)"),
    "exp": (1, None, lambda xp, x, y: xp.exp(x), "exp(x)"),
    "sin": (1, None, lambda xp, x, y: xp.sin(x), "sin(x)"),
    "log1p": (1, None, lambda xp, x, y: xp.log1p(x), "log1p(x)"),
    "tanh": (1, None, lambda xp, x, y: xp.tanh(x), "tanh(x)"),
    "pow": (2, None, lambda xp, x, y: xp.pow(x, y), "x**y"),
    "less": (2, 1, lambda xp, x, y: x < y, "x<y"),
    "clip": (1, None, lambda xp, x, y: xp.clip(x, 0.7, 1.5), None),
}
for _n, (_inputs, _out, _f, _ne) in EW.items():

    def _mk(_n, _inputs, _out, _f, _ne):
        @case("elementwise", _n, [MB10, MB100])
        def f(b):
            n = b.size // b.isz
            x = b.rand(n)
            y = b.rand(n, seed=1) if _inputs == 2 else None
            xp = b.xp
            return Run(
                lambda: _f(xp, x, y),
                bytes=n * (b.isz * _inputs + (_out or b.isz)),
                items=n,
                ne=(_ne, {"x": x, "y": y}) if _ne else None,
            )

    _mk(_n, _inputs, _out, _f, _ne)


@case("elementwise", "where", [MB10, MB100])
def _(b):
    n = b.size // b.isz
    x, y, m, xp = b.rand(n), b.rand(n, seed=1), b.rand(n, dt="b1"), b.xp
    return Run(
        lambda: xp.where(m, x, y),
        bytes=n * (3 * b.isz + 1),
        items=n,
        ne=("where(m,x,y)", dict(m=m, x=x, y=y)),
    )


@case("elementwise", "iadd (x+=y)", [MB10, MB100])
def _(b):
    n = b.size // b.isz
    if b.xp.__dict__.get("iadd_") is None:
        raise Skip("immutable")
    x, y = b.put(b.np_rand(n).copy()), b.put(np.zeros(n, NP[b.dt]))
    return Run(lambda: _iadd(x, y), bytes=n * 3 * b.isz, items=n)


@case("elementwise", "astype f4->f8", [MB10, MB100], ("f4",))
def _(b):
    n = b.size // 4
    x, xp = b.rand(n), b.xp
    d = xp.float64
    return Run(lambda: xp.astype(x, d), bytes=n * 12, items=n)


@case("elementwise", "floor_divide", [MB10, MB100], ("i4",))
def _(b):
    n = b.size // 4
    x, y = b.rand(n, -1000, 1000), b.rand(n, 1, 50, seed=1)
    return Run(lambda: x // y, bytes=n * 12, items=n)


@case("elementwise", "add_int", [MB10, MB100], ("i4",))
def _(b):
    n = b.size // 4
    x, y = b.rand(n, -1000, 1000), b.rand(n, 1, 50, seed=1)
    return Run(lambda: x + y, bytes=n * 12, items=n, ne=("x+y", dict(x=x, y=y)))


@case("elementwise", "strided x[::2]+y[::2]", [MB10, MB100], ("f4",))
def _(b):
    n = b.size // b.isz
    x, y = b.rand(n), b.rand(n, seed=1)
    xs, ys = x[::2], y[::2]
    return Run(lambda: xs + ys, bytes=n // 2 * b.isz * 3, items=n // 2)


@case("elementwise", "matrix+row", [(5000, 5000)], ("f4",))
def _(b):
    r, c = b.size
    x, y = b.rand((r, c)), b.rand((1, c), seed=1)
    return Run(lambda: x + y, bytes=r * c * b.isz * 2, items=r * c)


@case("elementwise", "matrix+col", [(5000, 5000)], ("f4",))
def _(b):
    r, c = b.size
    x, y = b.rand((r, c)), b.rand((r, 1), seed=1)
    return Run(lambda: x + y, bytes=r * c * b.isz * 2, items=r * c)


@case("elementwise", "outer row+col", [(5000, 5000)], ("f4",))
def _(b):
    r, c = b.size
    x, y = b.rand((1, c)), b.rand((r, 1), seed=1)
    return Run(lambda: x + y, bytes=r * c * b.isz, items=r * c)


@case("elementwise", "transpose copy", [(5000, 5000)])
def _(b):
    r, c = b.size
    x, xp = b.rand((r, c)), b.xp
    return Run(lambda: xp.reshape(xp.permute_dims(x, (1, 0)), (-1,)), bytes=r * c * b.isz * 2, items=r * c)


@case("elementwise", "x + x.T", [(5000, 5000)], ("f4",))
def _(b):
    r, c = b.size
    x, xp = b.rand((r, c)), b.xp
    t = xp.permute_dims(x, (1, 0))
    return Run(lambda: x + t, bytes=r * c * b.isz * 3, items=r * c)
