"""Operands are promoted as the standard says; numbers adapt to the arrays beside them."""

import itertools
import operator

import numpy as np
import pytest

import millpond.tensor as xp

from .reference import EVERY_DTYPE

SIGNED = ["int8", "int16", "int32", "int64"]
UNSIGNED = ["uint8", "uint16", "uint32", "uint64"]


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations_with_replacement(EVERY_DTYPE, 2)))
def test_two_dtypes_are_joined_as_numpy_joins_them(first, second):
    wanted = np.result_type(first, second).name
    assert xp.result_type(first, second) == wanted
    assert xp.result_type(xp.ones(1, dtype=second), getattr(xp, first)) == wanted
    total = xp.ones(2, dtype=first) + xp.ones(2, dtype=second)
    assert total.dtype == wanted
    np.testing.assert_array_equal(xp.asnumpy(total), np.ones(2, first) + np.ones(2, second))


@pytest.mark.parametrize("dtype", EVERY_DTYPE[1:])
def test_numbers_adapt_to_the_array(dtype):
    x = xp.ones(2, dtype=dtype)
    assert (x + 1).dtype == (1 + x).dtype == dtype
    assert (x * True).dtype == dtype
    if np.dtype(dtype).kind in "fc":
        assert (x + 1.5).dtype == (1.5 - x).dtype == dtype
    else:
        assert (x + 1.5).dtype == "float64"
    complexes = {"complex64": "complex64", "complex128": "complex128", "float32": "complex64", "float16": "complex64"}
    assert (x + 1j).dtype == complexes.get(dtype, "complex128")


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint64", "complex64"])
def test_scalars_of_numpy_have_a_dtype(dtype):
    x, scalar = xp.ones(2, dtype="float32"), np.dtype(dtype).type(2)
    for how in (operator.add, operator.mul, operator.sub):
        for result in (how(x, scalar), how(scalar, x)):
            assert isinstance(result, xp.Array)
            assert result.dtype == np.result_type("float32", dtype).name
    np.testing.assert_array_equal(xp.asnumpy(scalar - x), scalar - np.ones(2, np.float32))
    assert (xp.maximum(scalar, x)).dtype == np.result_type("float32", dtype).name


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_integers_out_of_range_are_refused_or_compared(dtype):
    x, info = xp.asarray([0, 1], dtype=dtype), xp.iinfo(dtype)
    with pytest.raises(OverflowError, match=str(info.max + 1)):
        x + (info.max + 1)
    with pytest.raises(OverflowError, match=str(info.min - 1)):
        x * (info.min - 1)
    assert (x < info.max + 1).tolist() == [True, True]
    assert (x > info.min - 1).tolist() == [True, True]
    assert (x == info.max + 1).tolist() == [False, False]
    assert (x != info.min - 1).tolist() == [True, True]
    assert (info.max + 1 > x).tolist() == [True, True]
    assert x.dtype == dtype


@pytest.mark.parametrize("name", ["sin", "exp", "sqrt", "atan2", "logaddexp", "divide"])
@pytest.mark.parametrize("dtype", ["bool", *SIGNED, *UNSIGNED])
def test_integers_become_the_default_float_where_one_is_needed(name, dtype):
    function = getattr(xp, name)
    x = xp.ones(2, dtype=dtype)
    assert function(*[x] * function.nin).dtype == "float64"


def test_shapes_are_broadcast():
    x, y = xp.ones((8, 1, 6, 1)), xp.ones((7, 1, 5))
    assert (x + y).shape == (8, 7, 6, 5)
    assert (xp.ones((0, 1)) + xp.ones((1, 3))).shape == (0, 3)
    with pytest.raises(ValueError, match=r"add: shapes \(2,\) and \(3,\) cannot be broadcast together"):
        xp.ones(2) + xp.ones(3)
    with pytest.raises(ValueError, match=r"add: .*\(2,\).*\(3, 2\)"):
        operator.iadd(xp.ones(2), xp.ones((3, 2)))


def test_numbers_of_derived_classes_promote_as_numbers():
    class Whole(int):
        pass

    class Real(float):
        pass

    class Complex(complex):
        pass

    x = xp.ones(2, dtype="float32")
    for number, dtype in ((Whole(2), "float32"), (Real(2.5), "float32"), (Complex(1j), "complex64")):
        for result in (x + number, number * x):
            assert result.dtype == dtype
        np.testing.assert_array_equal(xp.asnumpy(x + number), np.ones(2, dtype="float32") + number)


def test_the_dtype_of_numbers_and_scalars_of_numpy_is_that_of_their_sum():
    assert xp.result_type(xp.ones(1, dtype="float32"), 1, 2.5) == "float32"
    assert xp.result_type("int8", 2.5) == xp.result_type("int8", xp.float64)
    assert xp.result_type(np.float32(1), xp.int8) == "float32"
    assert xp.result_type(np.int16(1), "float32", 1j) == "complex64"
    with pytest.raises(TypeError, match=r"datetime64.*has a dtype that millpond does not have"):
        xp.result_type(np.datetime64("2020-01-01"), "float32")


@pytest.mark.parametrize("rule", ["no", "equiv", "safe", "same_kind", "unsafe"])
def test_what_a_conversion_may_lose_is_told_as_by_numpy(rule):
    for first in ("bool", "uint8", "int8", "int64", "float32", "float64", "complex64"):
        for second in ("bool", "uint8", "int8", "int64", "float32", "float64", "complex64"):
            wanted = np.can_cast(first, second, casting=rule)
            assert xp.can_cast(first, second, casting=rule) == wanted, (first, second)
            assert xp.can_cast(xp.ones(1, dtype=first), second, casting=rule) == wanted, (first, second)


def test_a_rule_of_conversion_that_there_is_none_of_is_named():
    with pytest.raises(ValueError, match=r"can_cast: casting must be .*'odd'"):
        xp.can_cast("int8", "int16", casting="odd")


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "equal", "less", "maximum", "pow"])
@pytest.mark.parametrize("value", [0.1, 0.001, 2049, 1 / 3, float("nan")])
def test_numbers_are_rounded_to_half_types_first(name, value):
    x = xp.arange(-50, 50, dtype=xp.float16) / 7
    function = getattr(xp, name)
    rounded = xp.asarray(value, dtype=xp.float16)
    assert np.array_equal(np.asarray(function(x, value)), np.asarray(function(x, rounded)), equal_nan=True)
    assert np.array_equal(np.asarray(function(value, x)), np.asarray(function(rounded, x)), equal_nan=True)


def test_numbers_beside_half_types_are_numpys():
    x = np.arange(-2000, 2000).astype(np.float16)
    for value in (0.001, 0.1, 3.3, 1000.7):
        ours = xp.asarray(x)
        for name in ("__add__", "__sub__", "__mul__", "__truediv__"):
            expected = getattr(x, name)(value)
            assert np.array_equal(np.asarray(getattr(ours, name)(value)), expected, equal_nan=True)
        ours *= value
        assert np.array_equal(np.asarray(ours), x * np.float16(value))
