"""Chains of element-wise operations, as programs have them, also for compilers."""

from .case import NP, Run, case


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
