"""Sorting along every axis of every layout, with NumPy as the judge."""

import inspect
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import millpond.tensor as xp

from .reference import EVERY_DTYPE, LAYOUTS, in_layout, numbers

REAL = [dtype for dtype in EVERY_DTYPE if not dtype.startswith("complex")]
#: Lengths on either side of where rows are sorted another way, the last with many threads.
LENGTHS = [0, 1, 2, 7, 8, 9, 16, 17, 100, 128, 129, 255, 256, 257, 512, 513, 3000, 9000, 140_000]


def _bits(array):
    """Make elements comparable to the bit: NaNs equal themselves, zeros of either sign differ."""
    array = np.ascontiguousarray(array)
    return array.view(f"u{array.real.itemsize}") if array.dtype.kind in "fc" else array


def _wanted(values, axis=-1, descending=False):
    """Positions of a stable sort; a NaN is the largest."""
    if not descending:
        return np.argsort(values, axis=axis, kind="stable")
    backwards = np.flip(values, axis=axis)
    positions = np.flip(np.argsort(backwards, axis=axis, kind="stable"), axis=axis)
    return values.shape[axis] - 1 - positions


def _check(theirs, ours, axis=-1):
    for descending in (False, True):
        positions = _wanted(theirs, axis, descending)
        found = xp.argsort(ours, axis=axis, descending=descending)
        assert found.dtype == "int64"
        np.testing.assert_array_equal(xp.asnumpy(found), positions)
        result = xp.sort(ours, axis=axis, descending=descending)
        assert result.dtype == ours.dtype
        wanted = np.take_along_axis(theirs, positions, axis)
        np.testing.assert_array_equal(_bits(xp.asnumpy(result)), _bits(wanted))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_every_layout_is_sorted_along_every_axis(dtype, axis, layout):
    theirs, ours = in_layout(numbers(dtype, (30, 20)), layout)
    _check(theirs, ours, axis)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_rows_of_every_length_are_sorted(dtype, length):
    values = numbers(dtype, length, seed=length)
    _check(values, xp.asarray(values, copy=True))


@pytest.mark.parametrize("shape", [(2, 140_000), (3, 131_073)])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_long_rows_keep_apart(dtype, shape):
    values = numbers(dtype, shape)
    _check(values, xp.asarray(values, copy=True))
    _check(values.T, xp.asarray(values, copy=True).T, axis=0)


@pytest.mark.parametrize("pattern", ["equal", "rising", "falling", "few", "one other", "saw", "halves", "high"])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "uint64", "float32", "float64"])
@pytest.mark.parametrize("length", [1000, 200_000])
def test_patterns_are_no_worse_than_chance(length, dtype, pattern):
    number = np.arange(length)
    values = {
        "equal": np.zeros(length),
        "rising": number,
        "falling": -number,
        "few": number * 7919 % 5,
        "one other": np.where(number == length // 3, 5, 9),
        "saw": number % 117,
        "halves": np.where(number % 2, number, 0),
        "high": (number * 7919 % 50) * 2.0**20,
    }[pattern]
    with np.errstate(invalid="ignore"):
        values = values.astype("int64").astype(dtype)
    _check(values, xp.asarray(values, copy=True))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("length", [40, 700, 200_000])
def test_equal_elements_keep_their_order_to_the_bit(dtype, length):
    zeros = np.zeros(length, dtype)
    zeros[1::2] = -0.0
    nans = np.full(length, np.nan, dtype)
    nans[::3] = -nans[::3]
    mixed = np.where(np.arange(length) % 5 == 0, nans, np.where(np.arange(length) % 3 == 0, zeros, 1)).astype(dtype)
    for values in (zeros, nans, mixed):
        _check(values, xp.asarray(values, copy=True))


def test_complex_numbers_with_a_nan_are_last():
    parts = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
    values = np.array([complex(*pair) for pair in itertools.product(parts, parts)])
    values = np.random.default_rng(0).permutation(values)
    _check(values, xp.asarray(values, copy=True))
    _check(values.astype("complex64"), xp.asarray(values.astype("complex64"), copy=True))


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3), (1, 1), (2, 1, 3), (2, 3, 1, 2, 2)])
def test_every_shape_is_sorted(shape):
    values = numbers("int64", shape)
    for axis in range(-len(shape), len(shape)):
        _check(values, xp.asarray(values, copy=True), axis)


def test_a_number_is_sorted():
    x = xp.asarray(5.0)
    assert float(xp.sort(x)) == 5
    assert int(xp.argsort(x, axis=0)) == 0
    with pytest.raises(IndexError, match="axis 1 is out of bounds"):
        xp.sort(x, axis=1)


def test_the_input_stays_what_it_is():
    x = xp.asarray([3, 1, 2])
    view = x[::-1]
    assert xp.sort(view).tolist() == [1, 2, 3]
    assert x.tolist() == [3, 1, 2]


def test_misaligned_memory_is_sorted():
    raw = np.frombuffer(b"\0" + np.array([3.0, 1.0, 2.0]).tobytes(), dtype="u1")[1:].view("f8")
    assert xp.sort(xp.asarray(raw)).tolist() == [1, 2, 3]


@given(st.lists(st.floats(width=32), max_size=40), st.booleans())
def test_any_floats_are_sorted_as_numpy_sorts_them(values, descending):
    values = np.array(values, dtype="float32")
    wanted = _wanted(values, descending=descending)
    assert xp.argsort(xp.asarray(values, copy=True), descending=descending).tolist() == wanted.tolist()


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex128"])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("mode", ["largest", "smallest"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_first_of_the_order_are_found(layout, mode, axis, dtype):
    theirs, ours = in_layout(numbers(dtype, (7, 9)), layout)
    flat = theirs.ravel() if axis is None else theirs
    along = 0 if axis is None else axis
    for k in (0, 1, 3, flat.shape[along]):
        values, indices = xp.top_k(ours, k, axis=axis, mode=mode)
        wanted = np.take(_wanted(flat, along, mode == "largest"), range(k), axis=along)
        np.testing.assert_array_equal(xp.asnumpy(indices), wanted)
        np.testing.assert_array_equal(_bits(xp.asnumpy(values)), _bits(np.take_along_axis(flat, wanted, along)))


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64", "uint8"])
@pytest.mark.parametrize("k", [1, 10, 1000])
def test_the_first_of_many_are_found(k, dtype):
    values = numbers(dtype, 300_000)
    for mode in ("largest", "smallest"):
        found = xp.top_k(xp.asarray(values, copy=True), k, mode=mode)
        wanted = _wanted(values, descending=mode == "largest")[:k]
        np.testing.assert_array_equal(xp.asnumpy(found.indices), wanted)
        np.testing.assert_array_equal(_bits(xp.asnumpy(found.values)), _bits(values[wanted]))


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float64"])
def test_the_first_are_found_wherever_they_are(dtype):
    # Both ends of every piece, whatever its length is.
    edges = [place for place in range(300_000) if place % 1000 in (0, 999)]
    values = np.zeros(300_000, dtype)
    values[edges] = 1
    found = xp.top_k(xp.asarray(values), len(edges))
    assert found.indices.tolist() == edges
    found = xp.top_k(xp.asarray(1 - values), len(edges), mode="smallest")
    assert found.indices.tolist() == edges


def test_results_of_several_arrays_are_named():
    found = xp.top_k(xp.asarray([1, 3, 2]), 2)
    assert found._fields == ("values", "indices")
    assert found.values.tolist() == [3, 2]
    number = xp.top_k(xp.asarray(4), 1, axis=0)
    assert (number.values.tolist(), number.indices.tolist()) == ([4], [0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: xp.sort(x, axis=2), IndexError, "axis 2 is out of bounds"),
        (lambda x: xp.sort(x, 0), TypeError, r"sort\(\) takes 1 positional argument"),
        (lambda x: xp.argsort(x, axis="a"), TypeError, "expected an integer, got 'a'"),
        (lambda x: xp.sort([1, 2]), TypeError, "expected an array"),
        (lambda x: xp.sort(x, kind="quicksort"), ValueError, "'stable', 'mergesort' or 'radixsort', got 'quicksort'"),
        (lambda x: xp.argsort(x, kind=3), ValueError, "'stable', 'mergesort' or 'radixsort', got 3"),
        (lambda x: xp.top_k(x, 3, axis=0), ValueError, "top_k: 3 elements are wanted of an axis with size 2"),
        (lambda x: xp.top_k(x, -1), ValueError, "expected 0 or more, got -1"),
        (lambda x: xp.top_k(x, 1, mode="first"), ValueError, "mode must be 'largest' or 'smallest', not 'first'"),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(xp.ones((2, 2)))


def test_signatures_are_the_standards():
    assert str(inspect.signature(xp.sort)) == "(x, /, *, axis=-1, descending=False, stable=True, kind=None)"
    assert str(inspect.signature(xp.argsort)) == "(x, axis=-1, descending=False, stable=True, kind=None)"
    assert str(inspect.signature(xp.searchsorted)) == "(x1, x2, /, *, side='left', sorter=None)"


@pytest.mark.parametrize("kind", [None, "stable", "mergesort", "radixsort"])
def test_a_kind_may_be_named(kind):
    x = xp.asarray([[2.0, xp.nan, 1.0, 2.0], [0.0, -0.0, 5.0, 1.0]])
    assert xp.argsort(x, kind=kind).tolist() == [[2, 0, 3, 1], [0, 1, 3, 2]]
    assert xp.sort(x, axis=0, kind=kind)[:, 0].tolist() == [0.0, 2.0]


def test_positions_are_asked_for_by_place_too():
    x = xp.asarray([[3, 1], [2, 2]])
    assert xp.argsort(x, 0, True).tolist() == xp.argsort(x, axis=0, descending=True).tolist() == [[0, 1], [1, 0]]
