"""The different elements of arrays, and membership, with NumPy as the judge."""

import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import millpond.tensor as xp

from .reference import EVERY_DTYPE, LAYOUTS, in_layout, numbers


def _check(theirs, ours):
    values, indices, inverse, counts = np.unique(
        theirs, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    everything = xp.unique_all(ours)
    assert everything.values.dtype == ours.dtype
    assert everything.inverse_indices.shape == ours.shape
    np.testing.assert_array_equal(xp.asnumpy(everything.values), values)
    np.testing.assert_array_equal(xp.asnumpy(everything.indices), indices)
    np.testing.assert_array_equal(xp.asnumpy(everything.inverse_indices), inverse.reshape(theirs.shape))
    np.testing.assert_array_equal(xp.asnumpy(everything.counts), counts)
    for part in everything[1:]:
        assert part.dtype == "int64"
    np.testing.assert_array_equal(xp.asnumpy(xp.unique_values(ours)), values)
    for found in (xp.unique_counts(ours), xp.unique_inverse(ours)):
        np.testing.assert_array_equal(xp.asnumpy(found.values), values)
        np.testing.assert_array_equal(xp.asnumpy(found[1]), xp.asnumpy(getattr(everything, found._fields[1])))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_every_layout_has_its_different_elements(dtype, layout):
    _check(*in_layout(numbers(dtype, (12, 20)), layout))


@pytest.mark.parametrize("distinct", [1, 2, 1000, 10**9])
@pytest.mark.parametrize("length", [1, 32_768, 32_769, 200_000])
def test_many_elements_have_theirs(length, distinct):
    values = np.random.default_rng(length).integers(0, distinct, length)
    _check(values, xp.asarray(values, copy=True))
    _check(values.astype("float32"), xp.asarray(values.astype("float32"), copy=True))


@pytest.mark.parametrize("shape", [(0,), (0, 3), (), (1,), (2, 1, 2)])
def test_every_shape_has_them(shape):
    values = np.ones(shape)
    _check(values, xp.asarray(values, copy=True))


def test_zeros_are_one_and_nans_are_many():
    nan = float("nan")
    x = xp.asarray([nan, -0.0, 0.0, nan, 1.0])
    values, indices, inverse, counts = xp.unique_all(x)
    assert np.signbit(xp.asnumpy(values)[0])
    assert indices.tolist() == [1, 4, 0, 3]
    assert inverse.tolist() == [2, 0, 0, 3, 1]
    assert counts.tolist() == [2, 1, 1, 1]
    assert xp.unique_values(xp.asarray([nan] * 70_000)).shape == (70_000,)


def test_results_are_named_as_the_standard_says():
    x = xp.asarray([2, 1, 2])
    assert xp.unique_all(x)._fields == ("values", "indices", "inverse_indices", "counts")
    assert xp.unique_counts(x)._fields == ("values", "counts")
    assert xp.unique_inverse(x)._fields == ("values", "inverse_indices")
    assert str(inspect.signature(xp.unique_all)) == "(x)"
    assert str(inspect.signature(xp.isin)) == "(x1, x2, /, *, invert=False)"


@given(st.lists(st.floats(width=16) | st.sampled_from([0.0, -0.0, 1.0]), max_size=60))
def test_any_floats_have_their_different_elements(values):
    values = np.array(values, dtype="float16")
    _check(values, xp.asarray(values, copy=True))


@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("members", [0, 1, 2, 17, 500])
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_members_are_found(dtype, members, invert):
    theirs, ours = in_layout(numbers(dtype, (20, 30)), "reversed")
    among = numbers(dtype, members, seed=3)
    found = xp.isin(ours, xp.asarray(among, copy=True), invert=invert)
    assert found.dtype == "bool"
    np.testing.assert_array_equal(xp.asnumpy(found), np.isin(theirs, among, invert=invert))


def test_a_nan_is_no_member():
    nan = float("nan")
    assert xp.isin(xp.asarray([nan, 1.0]), xp.asarray([nan, 1.0])).tolist() == [False, True]
    assert xp.isin(xp.asarray([0.0, -0.0]), -0.0).tolist() == [True, True]


def test_numbers_are_members():
    x = xp.asarray([1, 2, 3], dtype="uint8")
    assert xp.isin(x, 2).tolist() == [False, True, False]
    assert bool(xp.isin(2, x)) is True
    assert xp.isin(2, x).shape == ()
    assert xp.isin(x, -1).tolist() == [False] * 3
    assert bool(xp.isin(300, x, invert=True)) is True
    assert xp.isin(x, 1.5).tolist() == [False] * 3
    with pytest.raises(TypeError, match="isin: at least one operand must be an array"):
        xp.isin(1, 2)


@pytest.mark.parametrize("signed", ["int8", "int64"])
def test_unsigned_members_of_signed_integers_are_exact(signed):
    least, most = xp.iinfo(signed).min, xp.iinfo(signed).max
    signs = xp.asarray([0, 1, -1, least, most], dtype=signed)
    bare = xp.asarray([0, 1, 2**63, 2**63 - 1, 2**64 - 1, 2**64 - 128, most], dtype="uint64")
    for one, other in [(signs, bare), (bare, signs)]:
        members = set(other.tolist())
        expected = [value in members for value in one.tolist()]
        assert xp.isin(one, other).tolist() == expected
        assert xp.isin(one, other, invert=True).tolist() == [not found for found in expected]
