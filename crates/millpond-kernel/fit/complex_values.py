"""Computes values of the complex functions for the tests.

Prints `src/math/complex/expected.txt`: a function, an argument and the correctly rounded result on each line. Needs mpmath:

    python3 fit/complex_values.py > src/math/complex/expected.txt
"""

from mpmath import mp, mpc, mpf
from math import isfinite
import random

mp.prec = 2400

FUNCTIONS = {
    "exp": mp.exp, "exp_m1": lambda z: mp.exp(z) - 1, "ln": mp.log, "ln_1p": lambda z: mp.log(1 + z),
    "log2": lambda z: mp.log(z) / mp.log(2), "log10": lambda z: mp.log(z) / mp.log(10),
    "sqrt": mp.sqrt, "square": lambda z: z * z, "reciprocal": lambda z: 1 / z, "sign": lambda z: z / abs(z),
    "sin": mp.sin, "cos": mp.cos, "tan": mp.tan, "asin": mp.asin, "acos": mp.acos, "atan": mp.atan,
    "sinh": mp.sinh, "cosh": mp.cosh, "tanh": mp.tanh, "asinh": mp.asinh, "acosh": mp.acosh, "atanh": mp.atanh,
}

RANDOM = random.Random(5)
POINTS = [
    (0.5, 0.25), (-0.75, 1.5), (1.0, 1.0e-10), (1.0e-9, -1.0e-9), (3.0, -4.0), (-2.5, -0.1), (0.8, 0.6), (0.1, 20.0),
    (12.0, 1.0), (-15.0, 2.0), (1.0e-200, 1.0e-210), (1.0e9, 3.0), (-1.0e-5, 1.0e5), (1.0e200, -1.0e190),
    (1.0e300, 1.0e305), (710.0, 1.5), (-711.0, 0.5), (0.999999, 1.0e-3), (1.0000001, -1.0e-8), (-1.5, 1.0e-300),
    (3.0e-308, 4.0e-310), (1.7e308, 1.7e308), (0.3, -700.0), (1.0, 1.0e-170), (-0.5, 0.8), (25.0, 0.3), (19.0, -2.2),
]
POINTS += [(RANDOM.uniform(-4, 4), RANDOM.uniform(-4, 4)) for _ in range(15)]
POINTS += [(RANDOM.gauss(0, 1) * 10.0 ** RANDOM.randint(-6, 2), RANDOM.gauss(0, 1) * 10.0 ** RANDOM.randint(-6, 2)) for _ in range(15)]


def main():
    """Prints the table, leaving out what has no finite result."""
    for name, function in FUNCTIONS.items():
        for re, im in POINTS:
            if name in ("exp", "exp_m1", "sinh", "cosh") and abs(re) > 800 or abs(re) > 1e8 and name == "tanh":
                continue
            if name in ("sin", "cos") and abs(im) > 800 or abs(im) > 1e8 and name == "tan":
                continue
            result = mpc(function(mpc(mpf(re), mpf(im))))
            parts = float(result.real), float(result.imag)
            if all(map(isfinite, parts)):
                print(name, repr(re), repr(im), *map(repr, parts))


main()
