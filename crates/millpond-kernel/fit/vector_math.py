"""Fits the polynomials and constants of the vectorised functions.

Prints `src/math/lane/coefficients.rs`; needs mpmath:

    python3 fit/vector_math.py > src/math/lane/coefficients.rs && rustfmt src/math/lane/coefficients.rs

Every polynomial interpolates its function at Chebyshev nodes, which is within a small factor of the best possible, at
the lowest degree whose error stays below the budget of the format: `f64`, `f32`, or `f32` evaluated in `f64`.
Coefficients are listed highest power first, the order in which Horner's rule reads them.
"""

from mpmath import asin, atan, atanh, cos, exp, log, lu_solve, matrix, mp, mpf, nstr, pi, polyval, sin, sinh, sqrt
import struct

mp.prec = 260
TINY = mpf(10) ** -24


def fit(function, low, high, budget):
    """Coefficients, highest first, of the lowest degree whose absolute error is below `budget`."""
    for degree in range(1, 20):
        count = degree + 1
        nodes = [(low + high) / 2 + (high - low) / 2 * cos(pi * (2 * k + 1) / (2 * count)) for k in range(count)]
        system, values = matrix(count, count), matrix(count, 1)
        for row, node in enumerate(nodes):
            values[row] = function(node)
            for column in range(count):
                system[row, column] = node**column
        coefficients = list(reversed(list(lu_solve(system, values))))
        samples = [low + (high - low) * mpf(t) / 200 + TINY for t in range(200)]
        error = max(abs(function(t) - polyval(coefficients, t)) for t in samples)
        if error < budget:
            return coefficients, error
    raise ValueError("no degree below 20 meets the budget")


def near(limit, function):
    """`function` with its removable singularity at zero filled in."""
    return lambda t: limit if abs(t) < TINY / 1000 else function(t)


def of_root(function):
    """`function` of the square root of its argument."""
    return lambda z: function(sqrt(z))


HALF_LN2 = log(2) / 2 * mpf("1.002")
LOG_SPAN = ((sqrt(mpf(2)) - 1) / (sqrt(mpf(2)) + 1)) ** 2 * mpf("1.001")
QUARTER = (pi / 4 * mpf("1.001")) ** 2
EIGHTH = (sqrt(mpf(2)) - 1) ** 2 * mpf("1.001")

# name, documentation, function, interval, weight of the polynomial in the result; the budget is that of the result over it
FITS = [
    ("EXP", "`(e^r - 1 - r) / r²` for `|r| <= ln 2 / 2`.",
     near(mpf(1) / 2, lambda r: (exp(r) - 1 - r) / r**2), -HALF_LN2, HALF_LN2, mpf("0.12")),
    ("LOG", "`(2 atanh(s) / s - 2) / z` for `z = s²`, `s = f / (2 + f)`, `1 + f` within √½ and √2.",
     near(mpf(2) / 3, of_root(lambda s: (2 * atanh(s) / s - 2) / s**2)), mpf(0), LOG_SPAN, LOG_SPAN / 2),
    ("SIN", "`(sin(r) / r - 1) / z` for `z = r²`, `|r| <= π/4`.",
     near(-mpf(1) / 6, of_root(lambda r: (sin(r) / r - 1) / r**2)), mpf(0), QUARTER, QUARTER),
    ("COS", "`(cos(r) - 1 + z/2) / z²` for `z = r²`, `|r| <= π/4`.",
     near(mpf(1) / 24, of_root(lambda r: (cos(r) - 1 + r**2 / 2) / r**4)), mpf(0), QUARTER, QUARTER**2),
    ("SINH", "`(sinh(x) / x - 1) / z` for `z = x²`, `|x| <= 1`.",
     near(mpf(1) / 6, of_root(lambda x: (sinh(x) / x - 1) / x**2)), mpf(0), mpf("1.001"), mpf(1)),
    ("ATAN", "`(atan(t) / t - 1) / z` for `z = t²`, `|t| <= tan(π/8)`.",
     near(-mpf(1) / 3, of_root(lambda t: (atan(t) / t - 1) / t**2)), mpf(0), EIGHTH, EIGHTH),
    ("ASIN", "`(asin(x) / x - 1) / z` for `z = x²`, `|x| <= 1/2`.",
     near(mpf(1) / 6, of_root(lambda x: (asin(x) / x - 1) / x**2)), mpf(0), mpf("0.2502"), mpf("0.25")),
]

# suffix, type, bits of error that a polynomial may cause in the result
FORMATS = [("F64", "f64", 57), ("F32", "f32", 28), ("WIDE", "f64", 33)]

# Tables that no function asks for.
UNUSED = {"SIN_WIDE", "COS_WIDE", "ATAN_F32", "ASIN_F32", "SINH_WIDE"}


def literal(value, kind):
    """The shortest decimal that reads back as `value` rounded to `kind`."""
    if kind == "f32":
        rounded = struct.unpack("f", struct.pack("f", float(value)))[0]
        for digits in range(1, 12):
            text = f"{rounded:.{digits}g}"
            if struct.unpack("f", struct.pack("f", float(text)))[0] == rounded:
                return text if "." in text or "e" in text else text + ".0"
    return repr(float(value))


def table(name, documentation, coefficients, error, kind):
    """One table as Rust."""
    values = ", ".join(literal(c, kind) for c in coefficients)
    print(f"/// {documentation}\n///\n/// Largest error {nstr(error, 2)}.\npub(super) const {name}: &[{kind}] = &[{values}];\n")


def constant(name, documentation, value, kind="f64"):
    """One number as Rust."""
    print(f"/// {documentation}\npub(super) const {name}: {kind} = {literal(value, kind)};\n")


def rounded(value, bits):
    """`value` to the nearest with `bits` significant bits."""
    mantissa, exponent = mp.frexp(value)
    return mpf(int(mp.floor(mp.ldexp(mantissa, bits) + mpf("0.5")))) * mpf(2) ** (exponent - bits)


def parts(prefix, what, value, sizes, kind="f64"):
    """Leading, next, ... part of `value`, with the given numbers of bits, as constants."""
    for index, bits in enumerate(sizes):
        part = rounded(value, bits)
        constant(f"{prefix}_{'HML'[index] if len(sizes) == 3 else 'HL'[index]}", f"Part {index + 1} of {what}.", part, kind)
        value -= part


def main():
    """Prints the whole file."""
    print("//! Polynomials and constants of the lane functions, made by `fit/vector_math.py`; don't edit.")
    print("//!")
    print("//! Highest power first. The suffix names the format: `F64`, `F32` for sums in `f32`, `WIDE` for `f32` results")
    print("//! summed in `f64`.\n")
    for name, documentation, function, low, high, weight in FITS:
        for suffix, kind, bits in FORMATS:
            if f"{name}_{suffix}" in UNUSED:
                continue
            coefficients, error = fit(function, low, high, mpf(2) ** -bits / weight)
            table(f"{name}_{suffix}", documentation, coefficients, error, kind)
    function, low, high = next((f, low, high) for name, _, f, low, high, _ in FITS if name == "LOG")
    coefficients, error = fit(function, low, high, mpf(2) ** -40 * 2 / LOG_SPAN)
    table("LOG_POWER", "As `LOG_WIDE`, for logarithms that are multiplied by up to 2⁸.", coefficients, error, "f64")
    tail = near(mpf(2) / 5, of_root(lambda s: (2 * atanh(s) / s - 2 - 2 * s**2 / 3) / s**4))
    coefficients, error = fit(tail, mpf(0), LOG_SPAN, mpf(2) ** -57)
    table("LOG_TAIL", "`(2 atanh(s) / s - 2 - 2z/3) / z²` for `z = s²`, for the two-part logarithm.", coefficients, error, "f64")
    coefficients, error = fit(lambda m: m ** (-mpf(1) / 3), sqrt(mpf(1) / 2), sqrt(mpf(2)), mpf(2) ** -17)
    table("INVERSE_CBRT", "`m^(-1/3)` for `m` from √½ to √2, a first approximation.", coefficients, error, "f64")

    parts("LN_2", "ln 2; multiples up to 2²¹ of the first are exact", log(2), [32, 53])
    parts("LN_2_FULL", "ln 2", log(2), [53, 53])
    parts("LN_2_F32", "ln 2; multiples up to 2¹⁴ of the first are exact", log(2), [10, 24], "f32")
    parts("LN_2_FULL_F32", "ln 2", log(2), [24, 24], "f32")
    parts("LOG2_E", "1 / ln 2", 1 / log(2), [53, 53])
    parts("LOG2_E_F32", "1 / ln 2", 1 / log(2), [24, 24], "f32")
    parts("LOG10_E", "1 / ln 10", 1 / log(10), [53, 53])
    parts("LOG10_E_F32", "1 / ln 10", 1 / log(10), [24, 24], "f32")
    parts("LOG10_2", "log10(2); multiples up to 2²¹ of the first are exact", log(2) / log(10), [32, 53])
    parts("LOG10_2_F32", "log10(2); multiples up to 2¹⁴ of the first are exact", log(2) / log(10), [10, 24], "f32")
    parts("FRAC_PI_2", "π/2", pi / 2, [53, 53, 53])
    parts("FRAC_PI_2_F32", "π/2", pi / 2, [24, 24, 24], "f32")
    parts("THIRD_2", "2/3", mpf(2) / 3, [53, 53])
    constant("CBRT_HALF", "2^(-1/3).", mpf(2) ** (-mpf(1) / 3))
    constant("CBRT_QUARTER", "2^(-2/3).", mpf(2) ** (-mpf(2) / 3))


main()
