"""Fourier transforms of arrays, of any length: the extension ``fft`` of the Python Array API standard.

Lengths that are large primes take time in proportion to ``n log n`` as others do. ``float32`` becomes ``complex64``.
With *u* the unit roundoff, the error of ``n`` points is within ``c * u * log2(n)`` of the norm of the result, *c* about
1 for lengths with small factors.
"""

from millpond._millpond.tensor.fft import *  # noqa: F403
from millpond._millpond.tensor.fft import __all__


def __dir__():
    return __all__
