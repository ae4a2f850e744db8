"""Subscripts give the views that NumPy gives, and assignments change what NumPy changes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import millpond.tensor as xp

KEYS = [
    0,
    -1,
    slice(None),
    slice(1, 3),
    slice(None, None, -1),
    slice(-1, -9, -2),
    slice(3, 1),
    slice(5, 1, -1),
    slice(None, 2**70),
    slice(-(2**70), None, 2),
    ...,
    None,
    (),
    (0, 1),
    (0, 1, 2),
    (..., 0),
    (0, ..., -1),
    (slice(None), 0),
    (slice(1, None), slice(None, None, 2), slice(None, None, -3)),
    (None, 0, None, slice(2), ...),
    (..., None),
    (1, slice(None), None, slice(1, 2)),
    np.int64(1),
    (np.int8(-1), slice(None, np.int16(2))),
]


def _pair(shape=(4, 3, 5)):
    theirs = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    return theirs, xp.asarray(theirs, copy=True)


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_subscript_is_numpys(key):
    theirs, ours = _pair()
    result, wanted = ours[key], theirs[key]
    assert result.shape == wanted.shape
    np.testing.assert_array_equal(xp.asnumpy(result), wanted)
    assert result.data.ptr == ours.data.ptr


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_an_assignment_is_numpys(key):
    theirs, ours = _pair()
    theirs[key] = 7
    ours[key] = 7
    np.testing.assert_array_equal(xp.asnumpy(ours), theirs)
    theirs[key] = theirs[key] * 2 + 1
    ours[key] = ours[key] * 2 + 1
    np.testing.assert_array_equal(xp.asnumpy(ours), theirs)


_slices = st.builds(
    slice,
    st.none() | st.integers(-7, 7),
    st.none() | st.integers(-7, 7),
    st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3]),
)


@given(first=_slices, second=_slices | st.integers(-3, 2) | st.none() | st.just(...))
def test_any_slices_are_numpys(first, second):
    theirs, ours = _pair((4, 3))
    np.testing.assert_array_equal(xp.asnumpy(ours[first, second]), theirs[first, second])
    once, twice = ours[first], theirs[first]
    np.testing.assert_array_equal(
        xp.asnumpy(once[second]) if len(twice) > 3 else 0, twice[second] if len(twice) > 3 else 0
    )


@pytest.mark.parametrize(
    ("shape", "value"),
    [((4, 3), (3,)), ((4, 3), (4, 1)), ((4, 3), (1, 1, 4, 3)), ((0, 3), (3,)), ((4, 3), ()), ((2, 0), (1, 0))],
)
def test_a_value_is_broadcast(shape, value):
    theirs = np.zeros(shape)
    ours = xp.zeros(shape)
    source = np.arange(np.prod(value), dtype=np.float64).reshape(value)
    theirs[...] = source
    ours[...] = xp.asarray(source, copy=True)
    np.testing.assert_array_equal(xp.asnumpy(ours), theirs)


def test_a_value_is_converted_to_the_dtype():
    x = xp.zeros(3, dtype="int16")
    x[0] = 2.9
    x[1] = True
    x[2] = xp.asarray(-7, dtype="int64")
    assert x.tolist() == [2, 1, -7]


def test_lists_and_arrays_of_numpy_are_values_too():
    x = xp.zeros((2, 3))
    x[0] = [1, 2, 3]
    x[1] = np.asarray([4.0, 5.0, 6.0])
    x[:, 0] = np.float32(9)
    assert x.tolist() == [[9, 2, 3], [9, 5, 6]]


def test_an_assignment_may_overlap_its_value():
    theirs, ours = _pair((10,))
    theirs[1:] = theirs[:-1].copy()
    ours[1:] = ours[:-1]
    np.testing.assert_array_equal(xp.asnumpy(ours), theirs)
    ours[:] = ours[::-1]
    np.testing.assert_array_equal(xp.asnumpy(ours), theirs[::-1])


@pytest.mark.parametrize(
    ("key", "message"),
    [
        (4, "index 4 is out of bounds for axis 0 with size 4"),
        ((0, -4), "index -4 is out of bounds for axis 1 with size 3"),
        ((0, 0, 0, 0), "invalid index for an array of 3 dimensions: 4 axes"),
        ((..., ...), "ellipsis"),
        (1.5, "1.5 .*float.* is no index"),
        ("a", "is no index"),
        ((0, "a", [1]), "is no index"),
        ([0.5], "an array of float64 is no index"),
        (np.ones(2), "an array of float64 is no index"),
        (np.asarray(["a"]), "a NumPy array of <U1 is no index"),
        ([0, 4], "index 4 is out of bounds for axis 0 with size 4"),
        ((..., np.asarray([0, -6])), "index -6 is out of bounds for axis 2 with size 5"),
        (np.asarray([2**64 - 1], dtype=np.uint64), f"index {2**64 - 1} is out of bounds for axis 0 with size 4"),
        ([True, False], r"a mask of shape \(2,\) stands for axes of shape \(4,\)"),
        (([0, 1], [0, 1, 2]), "do not broadcast|don't broadcast"),
        (([0], [0], [0], [0]), "4 axes are indexed"),
    ],
)
def test_a_wrong_subscript_is_refused_with_its_value(key, message):
    _, ours = _pair()
    with pytest.raises(IndexError, match=message):
        ours[key]
    with pytest.raises(IndexError, match=message):
        ours[key] = 0


def test_an_array_of_no_dimension_is_an_index():
    theirs, ours = _pair()
    np.testing.assert_array_equal(xp.asnumpy(ours[xp.asarray(2)]), theirs[2])


def test_a_step_of_zero_is_refused():
    with pytest.raises(ValueError, match="zero"):
        xp.zeros(3)[::0]


def test_read_only_arrays_are_not_written():
    x = xp.broadcast_to(xp.zeros(1), (3,))
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        x += 1
    assert x.tolist() == [0, 0, 0]


def test_integers_that_do_not_fit_are_refused():
    x = xp.zeros(2, dtype="uint8")
    for value in (256, -1, 2**100):
        with pytest.raises(OverflowError, match=str(value)):
            x[0] = value
    assert x.tolist() == [0, 0]


def test_elements_cannot_be_deleted():
    with pytest.raises(TypeError, match="deleted"):
        del xp.zeros(2)[0]


def test_iteration_gives_views_along_the_first_axis():
    theirs, ours = _pair()
    parts = list(ours)
    assert len(parts) == len(ours) == 4
    for part, wanted in zip(parts, theirs, strict=True):
        np.testing.assert_array_equal(xp.asnumpy(part), wanted)
    parts[0][...] = 0
    assert xp.asnumpy(ours)[0].sum() == 0
    for how in (len, iter):
        with pytest.raises(TypeError, match="no dimension"):
            how(xp.asarray(1))


def test_membership_is_one_comparison():
    x = xp.asarray([1, 2, 3])
    assert 2 in x
    assert 4 not in x
    assert xp.asarray(3.0) in x
    assert "a" not in x
