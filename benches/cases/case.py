"""A case: it builds its data and hands back a function to time. And what most cases are made with."""

import numpy as np

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
SIZES = [100, 10_000, 1_000_000, 10_000_000]
REAL = ("f4", "f8", "i4", "i8")


def each(b, call, size, **work):
    """The run of a call on `size` elements, each waited for; of few elements as many calls as the clock can tell."""
    sync, inner = b.A.sync, max(1, min(1000, 100_000 // size))

    def fn():
        for _ in range(inner):
            result = call()
            sync(result)
        return result

    return Run(fn, inner=inner, items=size, **work)
