"""Submission overhead: a thousand operations with one wait at the end (async), or with a wait after each (sync)."""

from adapters import Skip, _iadd

from .case import Run, case


def _overhead(name, op, inner=1000):
    @case("overhead", name + "_async", [1, 100], ("f4",))
    def f(b):
        x, y = b.rand(b.size), b.rand(b.size, seed=1)
        if b.xp.__dict__.get("iadd_", 1) is None and name == "iadd":
            raise Skip("immutable")
        xp = b.xp

        def fn():
            for _ in range(inner):
                r = op(xp, x, y)
            return r

        return Run(fn, inner=inner)

    @case("overhead", name + "_sync", [1, 100], ("f4",))
    def g(b):
        x, y = b.rand(b.size), b.rand(b.size, seed=1)
        if b.xp.__dict__.get("iadd_", 1) is None and name == "iadd":
            raise Skip("immutable")
        xp, s = b.xp, b.A.sync1
        k = inner // 5

        def fn():
            for _ in range(k):
                r = op(xp, x, y)
                s(r)
            return r

        return Run(fn, inner=k)


_overhead("add", lambda xp, x, y: x + y)
_overhead("xp.add", lambda xp, x, y: xp.add(x, y))
_overhead("sum", lambda xp, x, y: xp.sum(x))
_overhead("add_scalar", lambda xp, x, y: x + 1.5)
_overhead("iadd", lambda xp, x, y: _iadd(x, 0.0))


@case("overhead", "add_dependent_async", [1, 100], ("f4",))
def _(b):
    x, y = b.rand(b.size), b.rand(b.size, seed=1, hi=0.51)

    def fn():
        r = x
        for _ in range(1000):
            r = r + y
        return r

    return Run(fn, inner=1000)


@case("overhead", "slice_view", [100], ("f4",))
def _(b):
    x = b.rand(b.size)

    def fn():
        for _ in range(1000):
            r = x[1:50]
        return r

    return Run(fn, inner=1000)


@case("overhead", "reshape_view", [100], ("f4",))
def _(b):
    x, xp = b.rand(b.size), b.xp

    def fn():
        for _ in range(1000):
            r = xp.reshape(x, (10, -1))
        return r

    return Run(fn, inner=1000)


@case("overhead", "float(sum)", [100], ("f4",))
def _(b):
    x, xp = b.rand(b.size), b.xp

    def fn():
        for _ in range(100):
            float(xp.sum(x))
        return x

    return Run(fn, inner=100)


@case("overhead", "from_numpy", [100], ("f4",))
def _(b):
    a, f = b.np_rand(b.size), b.A.from_numpy

    def fn():
        for _ in range(100):
            r = f(a)
        return r

    return Run(fn, inner=100)


@case("overhead", "to_numpy", [100], ("f4",))
def _(b):
    x, f = b.rand(b.size), b.A.to_numpy

    def fn():
        for _ in range(100):
            f(x)
        return x

    return Run(fn, inner=100)


@case("overhead", "matmul_4x4_async", [(4, 4)], ("f4",))
def _(b):
    x, xp = b.rand(b.size), b.xp

    def fn():
        for _ in range(200):
            r = xp.matmul(x, x)
        return r

    return Run(fn, inner=200)
