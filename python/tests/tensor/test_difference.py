"""Differences, closeness and dot products, against NumPy's of the same name."""

import numpy as np
import pytest

import millpond.tensor as xp


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("n", [0, 1, 2, 9])
@pytest.mark.parametrize("dtype", ["bool", "int16", "float32"])
def test_neighbours_are_subtracted(dtype, n, axis):
    values = (np.arange(12).reshape(3, 4) ** 2 % 7).astype(dtype)
    result = xp.diff(xp.asarray(values, copy=True), axis=axis, n=n)
    np.testing.assert_array_equal(xp.asnumpy(result), np.diff(values, n=n, axis=axis))


def test_however_often_differences_are_taken_none_are_left_at_last():
    assert xp.diff(xp.ones((2, 3), dtype="int8"), n=2**62).shape == (2, 0)
    assert xp.diff(xp.ones(3, dtype="bool"), n=2**63).dtype == xp.bool
    assert xp.diff(xp.asarray([1, 4, 9]), n=2).tolist() == [2]


def test_something_may_stand_in_front_and_behind():
    x, y = xp.asarray([1, 4, 9]), xp.asarray([0])
    assert xp.diff(x, prepend=y, append=y).tolist() == [1, 3, 5, -9]
    # As many elements as the standard says, where NumPy leaves out what stands around them.
    assert xp.diff(x, prepend=y, append=y, n=0).tolist() == [0, 1, 4, 9, 0]


@pytest.mark.parametrize("number", [0, 2.5, True, np.float32(3), xp.asarray(7, dtype="int8")])
@pytest.mark.parametrize("axis", [0, -1])
def test_a_number_may_stand_in_front_and_behind(number, axis):
    theirs = np.arange(6.0).reshape(2, 3) ** 2
    beside = xp.asnumpy(number) if isinstance(number, xp.Array) else number
    wanted = np.diff(theirs, axis=axis, prepend=beside, append=beside)
    ours = xp.diff(xp.asarray(theirs), axis=axis, prepend=number, append=number)
    assert ours.dtype == "float64"
    np.testing.assert_array_equal(xp.asnumpy(ours), wanted)


def test_what_is_no_number_stands_nowhere():
    x = xp.asarray([1, 4], dtype="int8")
    assert xp.diff(x, append=5).dtype == "int8"
    with pytest.raises(OverflowError, match="300 is out of bounds for int8"):
        xp.diff(x, prepend=300)
    with pytest.raises(IndexError, match="axis 3"):
        xp.diff(x, prepend=0, axis=3)
    with pytest.raises(TypeError, match="expected an array, got '0'"):
        xp.diff(x, append="0")
    with pytest.raises(TypeError, match="NumPy array"):
        xp.diff(x, append=np.zeros(1))


@pytest.mark.parametrize("equal_nan", [True, False])
def test_closeness_is_numpys(equal_nan):
    first = np.asarray([1.0, 1.0, np.inf, np.nan, 0.0, -np.inf])
    second = np.asarray([1.0 + 1e-9, 1.1, np.inf, np.nan, 1e-9, np.inf])
    ours = xp.isclose(xp.asarray(first), xp.asarray(second), equal_nan=equal_nan)
    np.testing.assert_array_equal(xp.asnumpy(ours), np.isclose(first, second, equal_nan=equal_nan))
    assert bool(xp.allclose(xp.asarray(first[:1]), xp.asarray(second[:1]))) is True
    assert bool(xp.allclose(xp.asarray(first), xp.asarray(second))) is False


@pytest.mark.parametrize("dtype", ["int8", "float64", "complex128"])
def test_dot_products_conjugate_the_first(dtype):
    random = np.random.default_rng(0)
    first, second = (random.integers(-3, 4, (2, 3)).astype(dtype) for _ in range(2))
    if dtype == "complex128":
        first += 1j * second
    result = xp.vecdot(xp.asarray(first), xp.asarray(second[:1]))
    np.testing.assert_array_equal(xp.asnumpy(result), np.vecdot(first, second[:1]))
    with pytest.raises(ValueError, match="vecdot: axis -1 has size 3"):
        xp.vecdot(xp.asarray(first), xp.asarray(second[:, :2]))
