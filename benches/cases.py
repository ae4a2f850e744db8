"""What is measured: each case builds its data and hands back a function to time."""

import math

import numpy as np
from adapters import Skip, _iadd

NP = {"f4": np.float32, "f8": np.float64, "i4": np.int32, "i8": np.int64, "b1": np.bool_, "u1": np.uint8}
XP = {"f4": "float32", "f8": "float64", "i4": "int32", "i8": "int64", "b1": "bool", "u1": "uint8"}


class Case:
    def __init__(self, group, name, size, dtype, build):
        self.group, self.name, self.size, self.dtype, self.build = group, name, size, dtype, build

    def label(self):
        s = self.size
        return (
            "x".join(map(str, s))
            if isinstance(s, tuple)
            else (f"{s:.0e}".replace("e+0", "e") if s >= 10000 and s == float(f"{s:.0e}") else str(s))
        )


CASES = []


def case(group, name, sizes, dtypes=("f4", "f8")):
    def deco(f):
        for s in sizes:
            for d in dtypes:
                CASES.append(Case(group, name, s, d, f))
        return f

    return deco


class Run:
    """What a case hands back. fn: () -> result (the eager form). pure+args: a function of arrays for the jit form.
    ne: (expression, variables) for numexpr. bytes/flops/items: work of ONE operation. inner: operations in one fn()."""

    def __init__(
        self,
        fn,
        bytes=0,
        flops=0,
        items=0,
        inner=1,
        pure=None,
        args=None,
        ne=None,
        native=None,
        selfsync=False,
        check=True,
    ):
        self.__dict__.update(locals())


_cache = {}


class B:
    """Given to a case: xp (namespace), A (adapter), size, dt (dtype letter code), data makers."""

    def __init__(self, A, size, dt):
        self.A, self.xp, self.size, self.dt = A, A.xp, size, dt
        self.isz = np.dtype(NP[dt]).itemsize

    def dtype(self, d=None):
        return getattr(self.xp, XP[d or self.dt])

    def np_rand(self, shape, lo=0.5, hi=2.0, dt=None, seed=0):
        dt = dt or self.dt
        key = (shape, lo, hi, dt, seed)
        if key not in _cache:
            if sum(v.nbytes for v in _cache.values()) > 600e6:
                _cache.clear()
            r = np.random.default_rng(seed)
            if dt[0] == "f":
                v = r.random(shape, dtype=NP[dt])
                v *= NP[dt](hi - lo)
                v += NP[dt](lo)
            elif dt == "b1":
                v = r.random(shape, dtype=np.float32) < 0.5
            else:
                v = r.integers(int(lo), int(hi), shape, dtype=NP[dt])
            _cache[key] = v
        return _cache[key]

    def rand(self, *a, **k):
        return self.put(self.np_rand(*a, **k))

    def put(self, a):
        if self.A.only_expr:
            return a
        return self.A.from_numpy(a)


MB10, MB100 = 10_000_000, 100_000_000


def each(b, call, size, **work):
    """The run of a call on `size` elements, each waited for; of few elements as many calls as the clock can tell."""
    sync, inner = b.A.sync, max(1, min(1000, 100_000 // size))

    def fn():
        for _ in range(inner):
            result = call()
            sync(result)
        return result

    return Run(fn, inner=inner, items=size, **work)


# --- submission overhead: 1000 operations, one wait at the end (async) / a wait after each (sync)
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


# --- element count sweep: where does threading / submission stop to matter
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


# --- allocation
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


@case("alloc", "zeros+sync+del", [1 << 10, 1 << 20, 1 << 26], ("u1",))
def _(b):
    xp, n, dt, s, k = b.xp, b.size, b.dtype(), b.A.sync1, max(1, repetitions(b.size) // 20)
    z = xp.zeros

    def fn():
        for _ in range(k):
            r = z(n, dtype=dt)
            s(r)
            del r
        return z(1, dtype=dt)

    return Run(fn, inner=k, bytes=n)


@case("alloc", "ones+sync+del", [1 << 10, 1 << 20, 1 << 26], ("u1",))
def _(b):
    xp, n, dt, s, k = b.xp, b.size, b.dtype(), b.A.sync1, max(1, repetitions(b.size) // 20)
    z = xp.ones

    def fn():
        for _ in range(k):
            r = z(n, dtype=dt)
            s(r)
            del r
        return z(1, dtype=dt)

    return Run(fn, inner=k, bytes=n)


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


# --- elementwise, sizes are BYTES of one input array
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


# --- chains
def black_scholes(xp, S, K, T, r=0.05, v=0.3):
    sq = v * xp.sqrt(T)
    d1 = (xp.log(S / K) + (r + 0.5 * v * v) * T) / sq
    d2 = d1 - sq
    n1 = 1.0 / (1.0 + xp.exp(-1.5976 * d1 - 0.070566 * d1 * d1 * d1))
    n2 = 1.0 / (1.0 + xp.exp(-1.5976 * d2 - 0.070566 * d2 * d2 * d2))
    return S * n1 - K * xp.exp(-r * T) * n2


_BS_D1 = "((log(S/K) + c1*T)/(v*sqrt(T)))"
_BS_D2 = f"({_BS_D1} - v*sqrt(T))"
_CDF = lambda d: f"(one/(one+exp(a*{d} - b*{d}*{d}*{d})))"
BS_NE = f"S*{_CDF(_BS_D1)} - K*exp(r*T)*{_CDF(_BS_D2)}"


@case("chain", "black-scholes 30 ops", [10_000_000])
def _(b):
    n = b.size
    S, K, T = b.rand(n, 50, 150), b.rand(n, 50, 150, seed=1), b.rand(n, 0.2, 2.0, seed=2)
    t = NP[b.dt]
    xp = b.xp
    v = dict(S=S, K=K, T=T, c1=t(0.05 + 0.045), v=t(0.3), one=t(1), a=t(-1.5976), b=t(0.070566), r=t(-0.05))
    return Run(
        lambda: black_scholes(xp, S, K, T),
        bytes=4 * n * b.isz,
        items=n,
        pure=lambda s, k, u: black_scholes(xp, s, k, u),
        args=(S, K, T),
        ne=(BS_NE, v),
    )


def poly(x):
    return ((((0.1 * x + 0.2) * x + 0.3) * x + 0.4) * x + 0.5) * x + 0.6


@case("chain", "polynomial 10 ops", [10_000_000])
def _(b):
    x = b.rand(b.size)
    t = NP[b.dt]
    v = dict(x=x, **{f"a{i}": t(i / 10) for i in range(1, 7)})
    return Run(
        lambda: poly(x),
        bytes=2 * b.size * b.isz,
        items=b.size,
        pure=poly,
        args=(x,),
        ne=("((((a1*x+a2)*x+a3)*x+a4)*x+a5)*x+a6", v),
    )


@case("chain", "polynomial 10 ops", [100_000], ("f4",))
def _(b):
    x = b.rand(b.size)
    t = NP[b.dt]
    v = dict(x=x, **{f"a{i}": t(i / 10) for i in range(1, 7)})
    return Run(
        lambda: poly(x),
        bytes=2 * b.size * b.isz,
        items=b.size,
        pure=poly,
        args=(x,),
        ne=("((((a1*x+a2)*x+a3)*x+a4)*x+a5)*x+a6", v),
    )


def rms(xp, x, w):
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * w


@case("chain", "rmsnorm rows", [(4096, 4096)])
def _(b):
    r, c = b.size
    x, w, xp = b.rand((r, c)), b.rand((c,), seed=1), b.xp
    nat = xp.__dict__.get("native_rmsnorm")
    return Run(
        lambda: rms(xp, x, w),
        bytes=2 * r * c * b.isz,
        items=r * c,
        pure=lambda x, w: rms(xp, x, w),
        args=(x, w),
        native=(lambda: nat(x, w)) if nat else None,
    )


def softmax(xp, x):
    e = xp.exp(x - xp.max(x, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


@case("chain", "softmax rows", [(4096, 4096)])
def _(b):
    x, xp = b.rand(b.size), b.xp
    nat = xp.__dict__.get("native_softmax")
    return Run(
        lambda: softmax(xp, x),
        bytes=2 * b.size[0] * b.size[1] * b.isz,
        items=b.size[0] * b.size[1],
        pure=lambda x: softmax(xp, x),
        args=(x,),
        native=(lambda: nat(x)) if nat else None,
    )


# --- reductions
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


# --- sorting and searching
SIZES = [100, 10_000, 1_000_000, 10_000_000]
REAL = ("f4", "f8", "i4", "i8")


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


# --- indexing
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


# --- linear algebra
@case("linalg", "matmul", [10, 100, 512, 1024, 2048])
def _(b):
    n = b.size
    x, y, xp = b.rand((n, n)), b.rand((n, n), seed=1), b.xp
    return each(b, lambda: xp.matmul(x, y), n**2, flops=2 * n**3)


@case("linalg", "matmul of integers", [512], ("i4", "i8"))
def _(b):
    n = b.size
    x, y, xp = b.rand((n, n), 0, 9), b.rand((n, n), 0, 9, seed=1), b.xp
    return Run(lambda: xp.matmul(x, y), flops=2 * n**3)


@case("linalg", "matmul A@B.T", [1024], ("f4",))
def _(b):
    n = b.size
    x, y, xp = b.rand((n, n)), b.rand((n, n), seed=1), b.xp
    return Run(lambda: xp.matmul(x, xp.matrix_transpose(y)), flops=2 * n**3)


@case("linalg", "matvec", [128, 1024, 4096])
def _(b):
    n = b.size
    x, y, xp = b.rand((n, n)), b.rand((n,), seed=1), b.xp
    return each(b, lambda: xp.matmul(x, y), b.size, flops=2 * n * n, bytes=n * n * b.isz)


@case("linalg", "batched matmul 8x8", [1000])
def _(b):
    x, y, xp = b.rand((b.size, 8, 8)), b.rand((b.size, 8, 8), seed=1), b.xp
    return Run(lambda: xp.matmul(x, y), flops=2 * 8**3 * b.size, bytes=3 * b.size * 64 * b.isz)


@case("linalg", "batched matmul 64x64", [100])
def _(b):
    x, y, xp = b.rand((b.size, 64, 64)), b.rand((b.size, 64, 64), seed=1), b.xp
    return Run(lambda: xp.matmul(x, y), flops=2 * 64**3 * b.size)


@case("linalg", "batched matmul 16x16", [10_000])
def _(b):
    x, y, xp = b.rand((b.size, 16, 16)), b.rand((b.size, 16, 16), seed=1), b.xp
    return Run(lambda: xp.matmul(x, y), flops=2 * 16**3 * b.size, bytes=3 * b.size * 256 * b.isz)


@case("linalg", "batched matmul 128x128", [100], ("f4",))
def _(b):
    x, y, xp = b.rand((b.size, 128, 128)), b.rand((b.size, 128, 128), seed=1), b.xp
    return Run(lambda: xp.matmul(x, y), flops=2 * 128**3 * b.size)


@case("linalg", "vecdot", [100, 10_000, 10_000_000])
def _(b):
    x, y, xp = b.rand((b.size,)), b.rand((b.size,), seed=1), b.xp
    return each(b, lambda: xp.vecdot(x, y), b.size, flops=2 * b.size, bytes=2 * b.size * b.isz)


@case("linalg", "vecdot rows", [(10_000, 1000)], ("f4",))
def _(b):
    r, c = b.size
    x, y, xp = b.rand((r, c)), b.rand((r, c), seed=1), b.xp
    return Run(lambda: xp.vecdot(x, y), flops=2 * r * c, bytes=2 * r * c * b.isz)


@case("linalg", "tensordot (64,32,32)x(32,32,128) 2 axes", [64], ("f4",))
def _(b):
    x, y, xp = b.rand((64, 32, 32)), b.rand((32, 32, 128), seed=1), b.xp
    return Run(lambda: xp.tensordot(x, y, axes=2), flops=2 * 64 * 1024 * 128)


@case("linalg", "matvec, columns", [4096], ("f8",))
def _(b):
    n = b.size
    x, y, xp = b.rand((n, n)), b.rand((n,), seed=1), b.xp
    return Run(lambda: xp.matmul(xp.matrix_transpose(x), y), flops=2 * n * n, bytes=n * n * b.isz)


# --- decompositions
def _symmetric(b):
    x = b.rand((b.size, b.size))
    return b.xp.matmul(x, b.xp.matrix_transpose(x)) + b.xp.eye(b.size, dtype=x.dtype) * b.size


DECOMPOSITIONS = {
    "det": lambda linalg, x: linalg.det(x),
    "cholesky": lambda linalg, x: linalg.cholesky(x),
    "inv": lambda linalg, x: linalg.inv(x),
    "solve": lambda linalg, x: linalg.solve(x, x[0]),
    "qr": lambda linalg, x: linalg.qr(x)[1],
    "eigh": lambda linalg, x: linalg.eigh(x)[0],
    "svd": lambda linalg, x: linalg.svd(x)[1],
    "svdvals": lambda linalg, x: linalg.svdvals(x),
    "eigvalsh": lambda linalg, x: linalg.eigvalsh(x),
    "pinv": lambda linalg, x: linalg.pinv(x),
}
for _name, _call in DECOMPOSITIONS.items():

    @case("decompose", _name, [8, 128, 512], ("f8",))
    def _(b, call=_call):
        x, linalg = _symmetric(b), b.xp.linalg
        return each(b, lambda: call(linalg, x), b.size**3)


@case("decompose", "inv of a stack of 4x4", [10_000], ("f8",))
def _(b):
    x = b.rand((b.size, 4, 4)) + b.xp.eye(4) * 4
    return Run(lambda: b.xp.linalg.inv(x))


# --- Fourier transforms
@case("fft", "fft", [100, 1000, 1024, 1009, 262_144, 1_000_000])
def _(b):
    x, fft = b.rand((b.size,)), b.xp.fft
    y = fft.fft(x)
    return each(b, lambda: fft.fft(y), b.size)


@case("fft", "rfft", [100, 1024, 262_144])
def _(b):
    x, fft = b.rand((b.size,)), b.xp.fft
    return each(b, lambda: fft.rfft(x), b.size)


@case("fft", "irfft", [100, 262_144])
def _(b):
    fft = b.xp.fft
    x = fft.rfft(b.rand((b.size,)))
    return each(b, lambda: fft.irfft(x), b.size)


@case("fft", "fft of rows", [(1000, 1024)])
def _(b):
    fft = b.xp.fft
    x = fft.fft(b.rand(b.size))
    return Run(lambda: fft.fft(x), items=b.size[0] * b.size[1])


@case("fft", "fft of two axes", [(1024, 1024)])
def _(b):
    fft = b.xp.fft
    x = fft.fft(b.rand(b.size))
    return Run(lambda: fft.fftn(x), items=b.size[0] * b.size[1])


# --- manipulation
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
