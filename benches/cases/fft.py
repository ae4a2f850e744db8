"""Fourier transforms."""

from .case import Run, case, each


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
