"""Arrays as indices pick what NumPy picks, and set what NumPy sets."""

import math
import operator
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import millpond
import millpond.tensor as xp

from .reference import EVERY_DTYPE, LAYOUTS, in_layout, numbers

INDEX_DTYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def _same(ours, theirs):
    result = xp.asnumpy(ours)
    assert result.dtype == theirs.dtype
    assert result.shape == theirs.shape
    # Bit for bit: nothing is computed.
    assert result.tobytes() == theirs.tobytes()


def _set(array, key, value, by=operator.setitem):
    """Set elements, and look at the result: at one of the two an error surfaces."""
    by(array, key, value)
    array.tolist()


def _ours(part):
    """Turn the arrays of a key of NumPy's into ours; what else it has stays."""
    if isinstance(part, tuple):
        return tuple(map(_ours, part))
    return xp.asarray(part, copy=True) if isinstance(part, np.ndarray) else part


@st.composite
def _keys(draw):
    """Draw an array and a key for it, which NumPy may or may not take."""
    shape = tuple(draw(st.lists(st.integers(0, 4), min_size=1, max_size=5)))
    common = tuple(draw(st.lists(st.integers(0, 3), max_size=2)))
    axis, key = 0, []
    while axis < len(shape) and draw(st.integers(0, 9)) > 0:
        kinds = ["integers", "integers", "slice", "number", "mask", "none", "ellipsis"]
        kind = draw(
            st.sampled_from([kind for kind in kinds if kind != "ellipsis" or not any(part is ... for part in key)])
        )
        size = shape[axis]
        reach = st.integers(-size, size - 1) if size else st.integers(-1, 0)
        if kind == "integers":
            own = tuple(1 if draw(st.integers(0, 3)) == 0 else size for size in common)
            own = own[draw(st.integers(0, len(own))) :] if draw(st.booleans()) else own
            # NumPy looks at an integer of no dimension even where nothing is picked.
            own = own if own or size else (1,)
            count = math.prod(own)
            dtype = draw(st.sampled_from(INDEX_DTYPES))
            values = draw(st.lists(reach, min_size=count, max_size=count))
            if dtype.startswith("u"):
                values = [value % size if size else 0 for value in values]
            key.append(np.asarray(values, dtype=dtype).reshape(own))
        elif kind == "mask":
            ndim = draw(st.integers(0, min(2, len(shape) - axis)))
            under = shape[axis : axis + ndim]
            count = math.prod(under)
            bits = draw(st.lists(st.booleans(), min_size=count, max_size=count))
            key.append(np.asarray(bits, dtype=bool).reshape(under))
            axis += ndim - 1
        elif kind == "slice":
            bound = st.none() | st.integers(-5, 5)
            key.append(slice(draw(bound), draw(bound), draw(st.sampled_from([None, 1, 2, -1, -2]))))
        elif kind == "number":
            key.append(draw(reach))
        else:
            key.append(None if kind == "none" else ...)
            axis -= 1
        axis += 1
    return shape, tuple(key)


def _pair(shape, dtype):
    theirs = numbers(dtype, shape, seed=len(shape))
    return theirs, xp.asarray(theirs, copy=True)


# The first use of a kernel may compile it.
@settings(deadline=None)
@given(drawn=_keys(), dtype=st.sampled_from(["int8", "float16", "float32", "float64", "complex128"]))
def test_any_key_picks_what_numpy_picks(drawn, dtype):
    shape, key = drawn
    theirs, ours = _pair(shape, dtype)
    try:
        wanted = theirs[key]
    except IndexError:
        with pytest.raises(IndexError):
            ours[_ours(key)].tolist()
        return
    _same(ours[_ours(key)], wanted)
    _same(ours[key], wanted)


@settings(deadline=None)
@given(
    drawn=_keys(), dtype=st.sampled_from(["int8", "float16", "float32", "float64", "complex128"]), wide=st.booleans()
)
def test_any_key_sets_what_numpy_sets(drawn, dtype, wide):
    shape, key = drawn
    theirs, ours = _pair(shape, dtype)
    try:
        target = theirs[key].shape
    except IndexError:
        with pytest.raises(IndexError):
            _set(ours, _ours(key), 1)
        return
    value = numbers(dtype, target if wide else target[1:], seed=5)
    theirs[key] = value
    ours[_ours(key)] = xp.asarray(value, copy=True)
    _same(ours, theirs)
    theirs[key] = 3
    ours[key] = 3
    _same(ours, theirs)
    theirs[key] += 2
    ours[_ours(key)] += 2
    _same(ours, theirs)


@pytest.mark.parametrize("kept", range(3))
def test_positions_come_first_unless_their_indices_stand_side_by_side(kept):
    theirs = numbers("float32", (2, 3, 4, 5, 6))
    ours = xp.asarray(theirs, copy=True)
    one, other, mask = np.asarray([1, 0, 1]), np.asarray([0, 1, 1]), np.asarray([True, True, False, True])
    whole = (slice(None),) * kept
    for rest in ((one, other), (one, slice(None), other), (one, None, other), (one, 0), (one, slice(1, 2), 1)):
        key = (*whole, *rest)
        _same(ours[_ours(key)], theirs[key])
        theirs[key] = ours[_ours(key)] = 0
        _same(ours, theirs)
    key = (slice(None), one, mask)
    _same(ours[_ours(key)], theirs[key])


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_dtype_and_layout_is_picked_as_it_is(dtype, layout):
    theirs, ours = in_layout(numbers(dtype, (37, 70)), layout)
    random = np.random.default_rng(1)
    rows, columns = random.integers(-37, 37, 90), random.integers(0, 70, (3, 90))
    mask = random.random((37, 70)) < 0.4
    for key in [(rows,), (slice(None), columns), (rows, columns), (mask,), (mask[:, 0],), (slice(None), mask[0])]:
        _same(ours[_ours(key)], theirs[key])
    _same(xp.take(ours, xp.asarray(rows), axis=0), np.take(theirs, rows, axis=0))
    along = random.integers(-70, 70, (37, 11))
    _same(xp.take_along_axis(ours, xp.asarray(along), axis=1), np.take_along_axis(theirs, along, 1))
    for one, other in zip(xp.nonzero(ours), np.nonzero(theirs), strict=True):
        _same(one, other)
    _same(xp.extract(ours, ours), np.extract(theirs, theirs))


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if layout != "broadcast"])
def test_every_dtype_and_layout_is_set_as_it_is(dtype, layout):
    theirs, ours = in_layout(numbers(dtype, (37, 70)), layout)
    theirs = theirs.copy()
    random = np.random.default_rng(2)
    rows, mask = random.permutation(37)[:20], random.random((37, 70)) < 0.4
    columns = random.permutation(70)[:50].reshape(2, 25)
    for seed, key in enumerate([(rows,), (slice(None), columns), (mask,), (mask[:, 0],), (slice(None), mask[0])]):
        value = numbers(dtype, theirs[key].shape, seed)
        theirs[key] = value
        ours[_ours(key)] = xp.asarray(value)
        _same(ours, theirs)
        one = value.ravel()[:1].reshape(())
        theirs[key] = one
        ours[_ours(key)] = xp.asarray(one)
        _same(ours, theirs)


@pytest.mark.parametrize("dtype", INDEX_DTYPES)
def test_every_integer_dtype_is_an_index(dtype):
    theirs = np.arange(100)
    indices = np.asarray([0, 99, 5, 5, 63], dtype=dtype)
    _same(xp.asarray(theirs)[xp.asarray(indices)], theirs[indices])
    _same(xp.take(xp.asarray(theirs), xp.asarray(indices)), theirs[indices])


@pytest.mark.parametrize(
    "key",
    [
        [0, 2],
        [[0, 1], [2, -1]],
        [],
        range(3),
        range(3, 0, -2),
        ([0, 1], [2, 0]),
        [True, False, True, False],
        (1, [0, 2]),
        True,
        False,
        np.True_,
        np.asarray(True),
        (0, True),
        (slice(None), [2, 1]),
        np.asarray(2),
        (np.asarray(1), [0, 1]),
    ],
    ids=str,
)
def test_what_becomes_an_array_is_an_index(key):
    theirs = np.arange(12.0).reshape(4, 3)
    ours = xp.asarray(theirs, copy=True)
    as_array = list(key) if isinstance(key, range) else key
    _same(ours[key], np.asarray(theirs[as_array]))
    theirs[as_array] = -1
    ours[key] = -1
    _same(ours, theirs)


def test_arrays_of_numpy_are_copied_when_they_index(line):
    ours = xp.arange(5, queue=line)
    indices, mask = np.asarray([0, 1]), np.asarray([True, False, False, False, True])
    big_endian = np.asarray([3, 4], dtype=">i4")
    gate = line.gate()
    picked = ours[indices]
    ours[indices] = 7
    indices[:] = 4
    assert not line.is_idle
    gate.open()
    assert picked.tolist() == [0, 1]
    assert ours.tolist() == [7, 7, 2, 3, 4]
    assert ours[mask].tolist() == [7, 4]
    assert ours[big_endian].tolist() == [3, 4]


# --- what lies outside


@pytest.mark.parametrize("index", [5, -6, 2**62, -(2**63)])
@pytest.mark.parametrize("size", [3, 60_000])
def test_an_index_outside_is_an_index_error_that_names_it(index, size):
    x = xp.arange(5)
    indices = np.zeros(size, dtype=np.int64)
    indices[size // 2] = index
    indices = xp.asarray(indices, copy=True)
    message = rf"index {index} is out of bounds for axis 0 with size 5"
    for pick in (lambda: x[indices], lambda: xp.take(x, indices)):
        with pytest.raises(IndexError, match=message) as caught:
            pick().tolist()
        assert isinstance(caught.value, millpond.CommandError)
        assert "int64 (5,)" in str(caught.value)
    assert x.tolist() == [0, 1, 2, 3, 4]


def test_the_axis_that_is_named_is_the_arrays_own():
    x = xp.zeros((2, 3, 4))
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 2 with size 4"):
        x[0, None, :, xp.asarray([9])].tolist()
    with pytest.raises(IndexError, match="index -4 is out of bounds for axis 1 with size 3"):
        x[..., xp.asarray([-4]), xp.asarray([0])].tolist()
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 1 with size 3"):
        xp.take_along_axis(x, xp.full((2, 1, 4), 3), axis=1).tolist()


@pytest.mark.host
@pytest.mark.parametrize("size", [3, 60_000])
def test_nothing_is_set_if_an_index_is_outside(size):
    theirs = np.zeros(5)
    x = xp.asarray(theirs, copy=False)  # The memory is shared, so that bytes can be seen.
    indices = np.arange(size) % 5
    indices[-1] = 5
    indices = xp.asarray(indices, copy=True)
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        x[indices] = 1
    with pytest.raises(IndexError, match="index 5 is out of bounds"):
        xp.put(x, indices, 1)
    assert theirs.tolist() == [0] * 5


def test_an_error_surfaces_where_work_that_waited_is_observed(line):
    x, other = xp.arange(5, queue=line), xp.ones(3, queue=line)
    indices = xp.asarray([0, 7], queue=line)
    gate = line.gate()
    picked = x[indices] + 1
    other += 1
    gate.open()
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 5"):
        picked.tolist()
    assert other.tolist() == [2, 2, 2]
    assert x.tolist() == [0, 1, 2, 3, 4]


def test_modes_bring_indices_into_the_axis():
    theirs = np.arange(5)
    indices = np.asarray([-13, -6, -1, 0, 4, 5, 23])
    for mode in ("clip", "wrap"):
        ours = xp.arange(5)
        _same(xp.take(ours, xp.asarray(indices), mode=mode), np.take(theirs, indices, mode=mode))
        wanted = theirs.copy()
        np.put(wanted, indices, np.arange(7), mode=mode)
        xp.put(ours, indices, xp.arange(7), mode=mode)
        _same(ours, wanted)
        with pytest.raises(IndexError, match="size 0"):
            xp.take(xp.zeros(0), xp.asarray([0]), mode=mode)
    # Large indices are no negative ones; NumPy has none of the dtype.
    large = xp.asarray([2**64 - 1, 2**63 + 1, 5, 4], dtype="uint64")
    assert xp.take(xp.arange(5), large, mode="clip").tolist() == [4, 4, 4, 4]
    assert xp.take(xp.arange(5), large, mode="wrap").tolist() == [(2**64 - 1) % 5, (2**63 + 1) % 5, 0, 4]
    with pytest.raises(ValueError, match="'raise', 'clip' or 'wrap', got 'fold'"):
        xp.take(ours, xp.asarray([0]), mode="fold")


# --- functions


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_take_and_put_work_along_every_axis(axis):
    theirs = numbers("float64", (4, 5, 6))
    ours = xp.asarray(theirs, copy=True)
    indices = np.asarray([[0, -1], [2, 1]])
    _same(xp.take(ours, xp.asarray(indices), axis=axis), np.take(theirs, indices, axis=axis))
    out = xp.empty(np.take(theirs, indices, axis=axis).shape)
    assert xp.take(ours, xp.asarray(indices), axis=axis, out=out) is out
    _same(out, np.take(theirs, indices, axis=axis))
    value = numbers("float64", np.take(theirs, indices, axis=axis).shape, 3)
    key = (slice(None),) * (axis % 3) + (indices,)
    theirs[key] = value
    xp.put(ours, xp.asarray(indices), xp.asarray(value), axis=axis)
    _same(ours, theirs)


def test_long_rows_with_gaps_are_taken_and_put_in_parts():
    theirs = numbers("float64", (4, 40_001))
    rows = np.asarray([2, 0, -1, 2])
    for layout in ("transposed", "reversed", "sliced"):
        _, ours = in_layout(theirs, layout)
        _same(xp.take(ours, xp.asarray(rows), axis=0), theirs[rows])
        wanted, value = theirs.copy(), numbers("float64", (2, 40_001), 3)
        wanted[rows[:2]] = value
        ours[xp.asarray(rows[:2])] = in_layout(value, layout)[1]
        _same(ours, wanted)


def test_take_may_write_over_what_it_reads():
    x = xp.arange(6)
    xp.take(x, xp.asarray([5, 4, 3, 2, 1, 0]), out=x)
    assert x.tolist() == [5, 4, 3, 2, 1, 0]
    xp.take(x, x, out=x)
    assert x.tolist() == [0, 1, 2, 3, 4, 5]
    wide = xp.zeros(2, dtype="complex64")
    assert xp.take(xp.ones(3, dtype="float32"), xp.asarray([0, 1]), out=wide).tolist() == [1, 1]
    with pytest.raises(TypeError, match="cannot cast"):
        xp.take(xp.ones(3), xp.asarray([0, 1]), out=xp.zeros(2, dtype="int8"))
    with pytest.raises(ValueError, match="shape"):
        xp.take(x, xp.asarray([0, 1]), out=xp.zeros(3, dtype="int64"))


def test_take_needs_an_axis_where_there_are_several():
    with pytest.raises(ValueError, match="take: an array of 2 dimensions needs an axis"):
        xp.take(xp.zeros((2, 2)), xp.asarray([0]))
    assert xp.take(xp.asarray(5), xp.asarray([0, -1])).tolist() == [5, 5]
    assert xp.take(xp.arange(3), 2).tolist() == 2
    for wrong in (xp.asarray([0.0]), xp.asarray([True]), "a"):
        with pytest.raises(TypeError, match="ind"):
            xp.take(xp.arange(3), wrong)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_the_functions_along_an_axis_broadcast_the_others(axis):
    theirs = numbers("float32", (5, 7))
    ours = xp.asarray(theirs, copy=True)
    for shape in [
        (5, 7),
        (3, 7) if axis == 0 else (5, 3),
        (4, 1) if axis == 0 else (1, 4),
        (0, 7) if axis == 0 else (5, 0),
    ]:
        indices = np.random.default_rng(0).integers(-5, 5, shape)
        wanted = np.take_along_axis(theirs, indices, axis)
        _same(xp.take_along_axis(ours, xp.asarray(indices), axis=axis), wanted)
        other = np.broadcast_to(theirs[:1] if axis == 0 else theirs[:, :1], theirs.shape)
        copy = xp.asarray(other, copy=True)
        value = np.float32(4)
        other = other.copy()
        np.put_along_axis(other, indices, value, axis)
        xp.put_along_axis(copy, xp.asarray(indices), 4, axis=axis)
        _same(copy, other)
    with pytest.raises(ValueError, match="the array has 2 dimensions, the indices have 1"):
        xp.take_along_axis(ours, xp.asarray([0]), axis=axis)
    with pytest.raises(ValueError, match="put_along_axis: .*broadcast"):
        xp.put_along_axis(ours, xp.zeros((9, 9), dtype="int64"), 0, axis=axis)


def test_values_are_put_along_an_axis_by_name_and_by_place():
    indices = xp.asarray([[1], [0]])
    for put in (
        lambda x: xp.put_along_axis(x, indices, 9, 1),
        lambda x: xp.put_along_axis(x, indices, values=9, axis=1),
    ):
        x = xp.zeros((2, 2))
        put(x)
        assert x.tolist() == [[0, 9], [9, 0]]


def test_extract_and_place_follow_numpy():
    theirs = np.arange(12).reshape(3, 4)
    ours = xp.asarray(theirs, copy=True)
    condition = theirs % 3
    _same(xp.extract(xp.asarray(condition), ours), np.extract(condition, theirs))
    flat = condition.reshape(-1)
    _same(xp.extract(xp.asarray(flat), ours), np.extract(flat, theirs))
    _same(xp.extract(xp.asarray(True), xp.asarray(3)), np.asarray([3]))
    np.place(theirs, condition, [-1, -2, -3])
    xp.place(ours, xp.asarray(condition), [-1, -2, -3])
    _same(ours, theirs)
    xp.place(ours, ours < -5, xp.zeros(0))
    _same(ours, theirs)
    with pytest.raises(ValueError, match="0 values for the 8 elements"):
        _set(ours, xp.asarray(condition), xp.zeros(0), by=xp.place)
    with pytest.raises(ValueError, match=r"the mask has shape \(2,\), the array \(3,\)"):
        xp.place(xp.zeros(3), xp.ones(2), xp.zeros(1))
    with pytest.raises(ValueError, match=r"the condition has shape \(2,\), the array \(3,\)"):
        xp.extract(xp.ones(2), xp.zeros(3))


@pytest.mark.parametrize("count", [1, 7, 999, 50_000])
def test_values_are_placed_again_from_the_first_through_all_blocks(count):
    theirs = np.zeros(100_003, dtype="int32")
    mask = np.arange(100_003) % 3 != 0
    values = np.arange(1, count + 1, dtype="int32")
    ours = xp.asarray(theirs, copy=True)
    np.place(theirs, mask, values)
    xp.place(ours, xp.asarray(mask), xp.asarray(values))
    _same(ours, theirs)


def test_what_is_picked_is_where_its_operands_are(line):
    host, device = xp.arange(4, usm_type="host", queue=line), xp.asarray([1, 2])
    for picked in (host[host], host[host > 1], xp.take(host, host), xp.nonzero(host)[0], xp.extract(host, host)):
        assert (picked.usm_type, picked.queue) == ("host", line)
    assert (host[device].usm_type, host[device].queue) == ("device", line)
    assert device[xp.asarray([0], usm_type="shared")].usm_type == "device"


def test_nonzero_needs_an_axis():
    with pytest.raises(ValueError, match="nonzero"):
        xp.nonzero(xp.asarray(1))
    assert [places.tolist() for places in xp.nonzero(xp.asarray([0.0, -0.0, xp.nan, 2]))] == [[2, 3]]


# --- order


def test_of_several_values_for_an_element_the_last_stays():
    count = 200_000
    indices = np.random.default_rng(0).integers(0, 1000, count)
    wanted = np.full(1000, -1)
    for position, index in enumerate(indices):
        wanted[index] = position
    for _ in range(5):
        x = xp.full(1000, -1)
        x[xp.asarray(indices)] = xp.arange(count)
        _same(x, wanted)
        y = xp.full(1000, -1)
        xp.put(y, xp.asarray(indices), xp.arange(count))
        _same(y, wanted)


def test_an_addition_to_picked_elements_is_done_once():
    x = xp.zeros(3)
    x[xp.asarray([0, 0, 2, 0])] += xp.asarray([1, 2, 3, 4])
    assert x.tolist() == [4, 0, 3]
    x[x > 2] *= 2
    assert x.tolist() == [8, 0, 6]


def test_the_right_side_and_the_indices_are_read_first():
    x = xp.arange(10)
    x[xp.arange(1, 10)] = x[:-1]
    assert x.tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
    x = xp.arange(10)
    x[x] = x[::-1]
    assert x.tolist() == list(range(9, -1, -1))
    x = xp.arange(10)
    x[::-1][x > 6] = x[x > 6]
    theirs = np.arange(10)
    theirs[::-1][theirs > 6] = theirs[theirs > 6]
    _same(x, theirs)
    mask = xp.asarray([True, True, False, True])
    mask[mask] = False
    assert mask.tolist() == [False] * 4
    mask = xp.asarray([True, True, False, True])
    mask[mask] = mask[:3]
    assert mask.tolist() == [True, True, False, False]


def test_read_only_arrays_are_not_written_by_arrays_either():
    x = xp.broadcast_to(xp.zeros(1), (3,))
    for key in (xp.asarray([0]), xp.asarray([True, False, True]), [0]):
        with pytest.raises(ValueError, match="read-only"):
            x[key] = 1
    for put in (
        lambda: xp.put(x, xp.asarray([0]), 1),
        lambda: xp.put_along_axis(x, xp.asarray([0]), 1),
        lambda: xp.place(x, x == 0, xp.ones(1)),
    ):
        with pytest.raises(ValueError, match="read-only"):
            put()
    assert x.tolist() == [0, 0, 0]


def test_values_that_do_not_fit_are_refused():
    x = xp.zeros((4, 3), dtype="uint8")
    with pytest.raises(OverflowError, match="256"):
        x[xp.asarray([0])] = 256
    with pytest.raises(TypeError, match="complex"):
        x[x == 0] = xp.asarray(1j)
    with pytest.raises(ValueError, match="broadcast"):
        x[xp.asarray([0, 1])] = xp.ones((3, 3))
    with pytest.raises(ValueError, match="2 values for the 12 elements that the mask selects") as caught:
        _set(x, x == 0, xp.ones(2))
    assert isinstance(caught.value, millpond.CommandError)


# --- waits


def test_only_shapes_that_depend_on_a_mask_wait(line):
    x, mask = xp.arange(6, queue=line), xp.asarray([True, False] * 3, queue=line)
    indices = xp.asarray([1, 2], queue=line)
    zero = xp.asarray(0, queue=line)
    gate = line.gate()
    picked = x[indices]
    x[mask] = 0
    x[indices] += 10
    x[zero] = 5
    xp.put(x, indices, 7)
    xp.place(x, mask, xp.asarray([8, 9], queue=line))
    assert not line.is_idle
    gate.open()
    assert picked.tolist() == [1, 2]
    assert x.tolist() == [8, 7, 9, 3, 8, 5]


@pytest.mark.parametrize("size", [6, 100_000])
@pytest.mark.parametrize("step", [1, -2])
def test_a_mask_waits_for_its_content_and_nothing_else(line, size, step):
    x, mask = xp.arange(size, queue=line), xp.arange(size, queue=line) % 3 == 0
    other = xp.zeros(10, queue=line)
    x, mask, condition = x[::step], mask[::step], (xp.arange(size, queue=line) % 3)[::step]
    wanted = xp.asnumpy(x)[xp.asnumpy(mask)]
    line.wait()
    gate = line.gate()
    other += 1
    picked, places = x[mask], xp.nonzero(mask)
    others = xp.nonzero(condition)
    extracted = xp.extract(mask, x)
    assert not line.is_idle
    assert picked.shape == places[0].shape == extracted.shape == wanted.shape
    assert others[0].shape == (x.size - wanted.size,)
    gate.open()
    _same(picked, wanted)
    _same(extracted, wanted)
    _same(places[0], np.nonzero(xp.asnumpy(mask))[0])


def test_a_mask_waits_for_what_computes_it(line):
    x = xp.arange(1000, queue=line)
    gate = line.gate()
    mask = x > 990
    picked = []
    thread = threading.Thread(target=lambda: picked.append(x[mask]))
    thread.start()
    gate.open()
    thread.join()
    assert picked[0].shape == (9,)


def test_the_failure_of_a_mask_is_told_by_what_needs_its_shape(line):
    x = xp.arange(10, queue=line)
    gate = line.gate()
    mask = x[xp.asarray([0, 10], queue=line)] > 0
    gate.open()
    with pytest.raises(IndexError, match="index 10 is out of bounds"):
        x[:2][mask]


def test_an_axis_of_a_mask_may_be_empty_whatever_the_arrays_is():
    # The standard's rule; NumPy refuses it.
    x = xp.reshape(xp.arange(24), (2, 3, 4))
    for shape, wanted in (((0,), (0, 3, 4)), ((0, 3), (0, 4)), ((2, 0), (0, 4)), ((0, 0, 0), (0,))):
        mask = xp.zeros(shape, dtype="bool")
        assert x[mask].shape == wanted
        x[mask] = 7
        assert x[mask, ...].shape == wanted
    assert xp.all(x == xp.reshape(xp.arange(24), (2, 3, 4)))
    with pytest.raises(IndexError, match=r"\(0, 4\)"):
        x[xp.zeros((0, 4), dtype="bool")]
