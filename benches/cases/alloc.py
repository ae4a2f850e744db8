"""Allocation: arrays that are made and dropped, and memory by itself."""

from adapters import Skip

from .case import Run, case


def repetitions(size):
    return {1 << 10: 1000, 1 << 20: 500, 1 << 26: 20}.get(size, 100)


@case("alloc", "empty+del", [1 << 10, 1 << 20, 1 << 26], ("u1",))
def _(b):
    xp, n, dt, k = b.xp, b.size, b.dtype(), repetitions(b.size)
    e = xp.empty

    def fn():
        for _ in range(k):
            r = e(n, dtype=dt)
            del r
        return e(1, dtype=dt)

    return Run(fn, inner=k, check=False)


def _filled(name):
    @case("alloc", f"{name}+sync+del", [1 << 10, 1 << 20, 1 << 26], ("u1",))
    def _(b):
        n, dt, s, k = b.size, b.dtype(), b.A.sync1, max(1, repetitions(b.size) // 20)
        make = getattr(b.xp, name)

        def fn():
            for _ in range(k):
                r = make(n, dtype=dt)
                s(r)
                del r
            return make(1, dtype=dt)

        return Run(fn, inner=k, bytes=n)


for _name in ("zeros", "ones"):
    _filled(_name)


@case("alloc", "pingpong x=x+1", [1 << 20, 1 << 26], ("f4",))
def _(b):
    x0 = b.rand(b.size // 4)
    k = 100 if b.size < 1 << 24 else 20  # 100 at 1 MiB; 20 at 64 MiB keeps the run short

    def fn():
        x = x0
        for _ in range(k):
            x = x + 1
        return x

    return Run(fn, inner=k, bytes=2 * b.size)


def _raw(size):
    @case("alloc", "raw", [size], ("u1",))
    def f(b):
        raise Skip("expanded in main")


for _s in (1 << 10, 1 << 20, 1 << 26):
    _raw(_s)
