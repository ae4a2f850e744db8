"""Searching in sorted arrays, with NumPy as the judge."""

import numpy as np
import pytest

import millpond.tensor as xp

from .reference import EVERY_DTYPE, LAYOUTS, in_layout, numbers


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("length", [0, 1, 2, 3, 15, 16, 17, 100, 3000])
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_elements_are_put_where_numpy_puts_them(dtype, length, side):
    array = np.sort(numbers(dtype, length, seed=1))
    wanted = numbers(dtype, 1000, seed=2)
    found = xp.searchsorted(xp.asarray(array, copy=True), xp.asarray(wanted, copy=True), side=side)
    assert found.dtype == "int64"
    np.testing.assert_array_equal(xp.asnumpy(found), np.searchsorted(array, wanted, side=side))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["int16", "float64"])
def test_every_layout_is_looked_for(dtype, layout):
    array = np.sort(numbers(dtype, 200, seed=1))
    theirs, ours = in_layout(numbers(dtype, (12, 17)), layout)
    sparse = xp.asarray(np.repeat(array, 2), copy=True)[::2]
    behind = xp.asarray(np.concatenate([array[-3:], array]), copy=True)[3:]
    for sorted_ in (sparse, behind):
        found = xp.searchsorted(sorted_, ours)
        assert found.shape == theirs.shape
        np.testing.assert_array_equal(xp.asnumpy(found), np.searchsorted(array, theirs))


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_sorter_sorts(dtype, side):
    array, wanted = numbers(dtype, 300, seed=1), numbers(dtype, (20, 5), seed=2)
    sorter = np.argsort(array)
    ours = xp.asarray(array, copy=True)
    behind = xp.asarray(np.concatenate([sorter[:3], sorter]))[3:]
    for positions in (xp.argsort(ours), xp.asarray(sorter.astype("uint16")), xp.asarray(sorter - 300), behind):
        found = xp.searchsorted(ours, xp.asarray(wanted, copy=True), side=side, sorter=positions)
        np.testing.assert_array_equal(xp.asnumpy(found), np.searchsorted(array, wanted, side=side, sorter=sorter))


def test_numbers_are_looked_for():
    x = xp.asarray([1, 2, 2, 5])
    assert xp.searchsorted(x, 2).shape == ()
    assert int(xp.searchsorted(x, 2)) == 1
    assert int(xp.searchsorted(x, 2, side="right")) == 3
    assert int(xp.searchsorted(x, 2.5)) == 3
    assert int(xp.searchsorted(x, np.float64(9))) == 4


def test_integers_beyond_the_range_of_the_dtype_are_before_or_behind_all():
    x = xp.asarray([1, 2], dtype="uint8")
    for side in ("left", "right"):
        assert int(xp.searchsorted(x, 300, side=side)) == 2
        assert int(xp.searchsorted(x, -1, side=side)) == 0


def test_dtypes_are_promoted():
    x = xp.asarray([1, 2, 3], dtype="int8")
    assert xp.searchsorted(x, xp.asarray([200], dtype="uint8")).tolist() == [3]
    assert xp.searchsorted(x, xp.asarray([2.5], dtype="float32")).tolist() == [2]


def test_a_position_that_is_out_of_bounds_fails():
    x = xp.asarray([1, 2, 3])
    with pytest.raises(Exception, match="position 7 of the sorter is out of bounds for 3 elements"):
        xp.searchsorted(x, 2, sorter=xp.asarray([0, 7, 2])).tolist()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: xp.searchsorted(xp.ones((2, 2)), x), ValueError, "an array of one axis is searched, not of 2"),
        (lambda x: xp.searchsorted(x, x, side="top"), ValueError, "side must be 'left' or 'right', not 'top'"),
        (lambda x: xp.searchsorted(x, x, sorter=xp.ones(2)), TypeError, "sorter must hold integers, not float64"),
        (lambda x: xp.searchsorted(x, x, sorter=xp.asarray([1])), ValueError, "sorter of shape"),
        (lambda x: xp.searchsorted(3, x), TypeError, "expected an array"),
        (lambda x: xp.searchsorted(x, "a"), TypeError, "expected an array or a number"),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(xp.asarray([1.0, 2.0]))
