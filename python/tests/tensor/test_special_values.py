"""Zeros, infinities, NaNs and subnormal numbers, as the standard's text has them and, where it is silent, NumPy."""

import itertools

import numpy as np
import pytest

import millpond.tensor as xp

FUNCTIONS = [value for value in vars(xp).values() if isinstance(value, xp.ElementwiseFunction)]
OF_FLOATS = [one for one in FUNCTIONS if "bitwise" not in one.__name__ and one is not xp.proj]
OTHERWISE = {"rsqrt": lambda x: 1 / np.sqrt(x)}
INF, NAN = float("inf"), float("nan")

#: So many times, that whole vectors are computed and a rest.
TIMES = 11


def numpys(name):
    return OTHERWISE.get(name) or getattr(np, name)


def agree(ours, theirs):
    """Say where both are NaN, or equal with the sign of zeros, or nearly the same number."""
    near = np.isfinite(ours) & np.isfinite(theirs) & (ours != 0) & (theirs != 0)
    near &= np.isclose(ours, theirs, rtol=8 * np.finfo(theirs.dtype).eps, atol=0)
    equal = (ours == theirs) & (np.signbit(ours) == np.signbit(theirs))
    return near | equal | (np.isnan(ours) & np.isnan(theirs))


def edges(dtype):
    info = np.finfo(dtype)
    numbers = [0.0, 1.0, 2.0, 0.5, 2.5, INF, info.smallest_subnormal, info.tiny / 2, info.tiny, info.max, info.eps]
    return np.array([*numbers, *(-number for number in numbers), NAN], dtype=dtype)


def departs(name, first, second):
    """Say whether the standard asks for something else than NumPy does."""
    return name == "floor_divide" and np.isinf(first) != np.isinf(second)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", [one for one in OF_FLOATS if one.nin == 1], ids=repr)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_function_of_one_real_number_is_numpys_at_the_edges(function, dtype):
    values = np.tile(edges(dtype), TIMES)
    ours, wanted = xp.asnumpy(function(xp.asarray(values))), numpys(function.__name__)(values)
    bad = ~agree(ours, wanted) if wanted.dtype.kind == "f" else ours != wanted
    assert list(zip(values[bad], ours[bad], wanted[bad], strict=True)) == []


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", [one for one in OF_FLOATS if one.nin == 2], ids=repr)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_function_of_two_real_numbers_is_numpys_at_the_edges(function, dtype):
    name = function.__name__
    pairs = [pair for pair in itertools.product(edges(dtype), repeat=2) if not departs(name, *pair)]
    first, second = np.array(pairs, dtype=dtype).T.copy()
    ours, wanted = xp.asnumpy(function(xp.asarray(first), xp.asarray(second))), numpys(name)(first, second)
    bad = ~agree(ours, wanted) if wanted.dtype.kind == "f" else ours != wanted
    assert list(zip(first[bad], second[bad], ours[bad], wanted[bad], strict=True)) == []


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_quotients_with_an_infinity_are_rounded_down_as_the_standard_says(dtype):
    small = np.finfo(dtype).smallest_subnormal
    cases = [
        (INF, 2.0, INF),
        (INF, -small, -INF),
        (-INF, 0.5, -INF),
        (-INF, -2.0, INF),
        (2.0, INF, 0.0),
        (2.0, -INF, -0.0),
        (-small, INF, -0.0),
        (-2.5, -INF, 0.0),
    ]
    first, second, wanted = np.array(cases * TIMES, dtype=dtype).T.copy()
    ours = xp.asnumpy(xp.asarray(first) // xp.asarray(second))
    assert ours.dtype == dtype
    assert ours.tobytes() == wanted.tobytes()


def test_the_sign_of_a_nan_can_be_set_and_read():
    signs = xp.asarray([1.0, -1.0, 0.0, -0.0] * TIMES)
    nans = xp.copysign(xp.asarray(NAN), signs)
    assert xp.all(xp.isnan(nans))
    assert xp.signbit(nans).tolist() == [False, True, False, True] * TIMES
    assert xp.copysign(xp.ones(1), -xp.asarray(NAN)).tolist() in ([1.0], [-1.0])


def test_a_nan_bound_makes_nans():
    x = xp.asarray([-1.0, 0.5, 2.0, NAN])
    for bounds in ((NAN, 1.0), (0.0, NAN), (NAN, NAN), (NAN, None), (None, NAN)):
        assert xp.all(xp.isnan(xp.clip(x, *bounds)))
        assert xp.all(xp.isnan(xp.clip(x, *[b if b is None else xp.asarray(b) for b in bounds])))
    assert xp.isnan(xp.clip(x, xp.asarray([NAN, 0.0, 0.0, 0.0]), 1.0)).tolist() == [True, False, False, True]
    assert xp.clip(x, 0.0, 1.0).tolist()[:3] == [0.0, 0.5, 1.0]


def test_halves_are_rounded_to_even():
    x = [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 0.49999999999999994] * TIMES
    assert xp.round(xp.asarray(x)).tolist() == np.round(x).tolist()
    assert xp.signbit(xp.round(xp.asarray(x))).tolist() == np.signbit(np.round(x)).tolist()
    z = xp.round(xp.asarray([2.5 - 0.5j, complex(-0.0, 3.5)] * TIMES))
    assert z.tolist() == [2 - 0j, 4j] * TIMES
    assert xp.signbit(z.imag).tolist() == [True, False] * TIMES


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_subnormal_numbers_are_numbers(dtype):
    small = np.finfo(dtype).smallest_subnormal
    x = xp.asarray(np.array([small, -small, 3 * small] * TIMES, dtype=dtype))
    for how in (
        lambda x, _: x + x,
        lambda x, _: x - 3 * x,
        lambda x, _: x * 4,
        lambda x, _: x / 3,
        lambda x, xp: xp.sqrt(xp.abs(x)),
        lambda x, xp: xp.expm1(x),
        lambda x, xp: xp.sin(x),
    ):
        np.testing.assert_array_equal(xp.asnumpy(how(x, xp)), how(xp.asnumpy(x), np))
    assert xp.all(x != 0)
    assert xp.sum(xp.abs(x)) > 0
    assert xp.nextafter(xp.asarray(0.0, dtype=dtype), xp.asarray(1.0, dtype=dtype)) == small


# Real and imaginary part of an argument, then of the result; a sign that the standard leaves open is "?".
def parts(text):
    for line in text.split(";"):
        argument, result = line.split("->")
        yield tuple(argument.split()), tuple(result.split())


#: What the standard says of complex numbers.
COMPLEX = {
    "exp": """0 0 -> 1 0; -0 0 -> 1 0; 3 inf -> nan nan; 3 nan -> nan nan; inf 0 -> inf 0; -inf 1 -> 0 0;
        -inf 2 -> -0 0; -inf 4 -> -0 -0; inf 1 -> inf inf; inf 2 -> -inf inf; inf 4 -> -inf -inf; inf 5 -> inf -inf;
        -inf inf -> ?0 ?0; inf inf -> ?inf nan; -inf nan -> ?0 ?0; inf nan -> ?inf nan; nan 0 -> nan 0;
        nan 1 -> nan nan; nan nan -> nan nan""",
    "expm1": """0 0 -> 0 0; -0 0 -> 0 0; 3 inf -> nan nan; 3 nan -> nan nan; inf 0 -> inf 0; -inf 1 -> -1 0;
        -inf 2 -> -1 0; -inf 4 -> -1 -0; inf 1 -> inf inf; inf 2 -> -inf inf; inf 4 -> -inf -inf; inf 5 -> inf -inf;
        -inf inf -> -1 ?0; inf inf -> ?inf nan; -inf nan -> -1 ?0; inf nan -> ?inf nan; nan 0 -> nan 0;
        nan 1 -> nan nan; nan nan -> nan nan""",
    "sinh": """0 0 -> 0 0; 0 inf -> ?0 nan; 0 nan -> ?0 nan; 3 inf -> nan nan; 3 nan -> nan nan; inf 0 -> inf 0;
        inf 1 -> inf inf; inf 2 -> -inf inf; inf 4 -> -inf -inf; inf inf -> ?inf nan; inf nan -> ?inf nan;
        nan 0 -> nan 0; nan 1 -> nan nan; nan nan -> nan nan""",
    "cosh": """0 0 -> 1 0; 0 inf -> nan ?0; 0 nan -> nan ?0; 3 inf -> nan nan; 3 nan -> nan nan; inf 0 -> inf 0;
        inf 1 -> inf inf; inf 2 -> -inf inf; inf 4 -> -inf -inf; inf inf -> inf nan; inf nan -> inf nan;
        nan 0 -> nan ?0; nan 1 -> nan nan; nan nan -> nan nan""",
    "tanh": """0 0 -> 0 0; 3 inf -> nan nan; 0 inf -> 0 nan; 3 nan -> nan nan; 0 nan -> 0 nan; inf 1 -> 1 0;
        inf 2 -> 1 0; inf 4 -> 1 0; inf inf -> 1 ?0; inf nan -> 1 ?0; nan 0 -> nan 0; nan 1 -> nan nan;
        nan nan -> nan nan""",
    "sqrt": """0 0 -> 0 0; -0 0 -> 0 0; 3 inf -> inf inf; nan inf -> inf inf; -inf inf -> inf inf; 3 nan -> nan nan;
        -inf 1 -> 0 inf; inf 1 -> inf 0; -inf nan -> nan ?inf; inf nan -> inf nan; nan 1 -> nan nan;
        nan nan -> nan nan""",
    "acosh": """0 0 -> 0 1.5707963267948966; 3 inf -> inf 1.5707963267948966; 3 nan -> nan nan;
        0 nan -> nan ?1.5707963267948966; -inf 1 -> inf 3.141592653589793; inf 1 -> inf 0; inf nan -> inf nan;
        nan 1 -> nan nan; nan inf -> inf nan""",
    "sign": """0 0 -> 0 0; -0 0 -> 0 0; nan 1 -> nan nan; 1 nan -> nan nan; inf nan -> nan nan; nan inf -> nan nan;
        nan nan -> nan nan; 0 -3 -> 0 -1; -2 0 -> -1 0; 3 4 -> 0.6 0.8""",
    "square": "-0 0 -> 0 -0; -0 -0 -> 0 0; -2 -2 -> 0 8; 0 3 -> -9 0; 0 -3 -> -9 -0",
    "reciprocal": "0 -2 -> 0 0.5; 2 0 -> 0.5 0; -2 0 -> -0.5 -0; -0 1 -> 0 -1; 1 1 -> 0.5 -0.5",
}
CASES = [(name, *case) for name, text in COMPLEX.items() for case in parts(text)]


#: Functions ``f`` of which the standard says that ``f(conj(z)) == conj(f(z))``.
SYMMETRIC = set(COMPLEX) - {"sign", "square", "reciprocal"}


def accepted(found, wanted, dtype):
    number = float(wanted.lstrip("?"))
    if np.isnan(number):
        return np.isnan(found)
    if wanted.startswith("?"):
        found, number = abs(found), abs(number)
    return np.isclose(found, number, rtol=8 * np.finfo(dtype).eps, atol=0) and np.signbit(found) == np.signbit(number)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize(("name", "argument", "wanted"), CASES)
def test_complex_functions_are_what_the_standard_says(name, argument, wanted, dtype):
    function = getattr(xp, name)
    z = np.empty(TIMES, dtype=dtype)
    z.real, z.imag = map(float, argument)
    for conjugate in (False, True) if name in SYMMETRIC else (False,):
        result = xp.asnumpy(function(xp.asarray(z.conj() if conjugate else z)))
        result = result.conj() if conjugate else result
        # The first element is computed with others, the last one alone.
        for found in (result[0], result[-1]):
            assert accepted(found.real, wanted[0], dtype), (result, wanted)
            assert accepted(found.imag, wanted[1], dtype), (result, wanted)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["abs", "isnan", "isinf", "isfinite"])
def test_what_complex_numbers_are_is_told_part_by_part(name, dtype):
    values = [0.0, -0.0, 2.0, -2.0, INF, -INF, NAN]
    z = np.array([complex(*pair) for pair in itertools.product(values, repeat=2)], dtype=dtype)
    z.real, z.imag = np.array(list(itertools.product(values, repeat=2))).T
    np.testing.assert_array_equal(xp.asnumpy(getattr(xp, name)(xp.asarray(z))), getattr(np, name)(z))


def test_parts_of_complex_sums_are_added_apart():
    z = xp.asarray([complex(-0.0, 0.0)] * TIMES) + xp.asarray([complex(-0.0, -0.0)] * TIMES)
    assert xp.signbit(z.real).tolist() == [True] * TIMES
    assert xp.signbit(z.imag).tolist() == [False] * TIMES
    z = xp.asarray([complex(INF, 1.0)]) + xp.asarray([complex(1.0, NAN)])
    assert (z.real[0], str(float(z.imag[0]))) == (INF, "nan")
