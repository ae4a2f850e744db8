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
