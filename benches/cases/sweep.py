"""Sizes from one element up: where threads, and submission, stop to matter."""

from .case import Run, case

for _op, _f in {
    "add": lambda xp, x, y: x + y,
    "exp": lambda xp, x, y: xp.exp(x),
    "sum": lambda xp, x, y: xp.sum(x),
}.items():

    def _mk(_op, _f):
        @case("sweep", _op, [1000, 10_000, 100_000, 1_000_000], ("f4",))
        def f(b):
            x, y, xp, s = b.rand(b.size), b.rand(b.size, seed=1), b.xp, b.A.sync1
            k = max(1, 100_000 // b.size)

            def fn():
                for _ in range(k):
                    r = _f(xp, x, y)
                    s(r)
                return r

            return Run(fn, inner=k, bytes=b.size * 4 * {"add": 3, "exp": 2, "sum": 1}[_op])

    _mk(_op, _f)
