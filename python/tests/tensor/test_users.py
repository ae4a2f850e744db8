"""What users of array libraries reported, each as the program that showed it."""

import operator

import numpy as np
import pytest

import millpond
import millpond.tensor as xp

from .reference import EVERY_DTYPE, numbers


def test_unsigned_and_signed_integers_are_compared_by_their_values():
    large, negative = xp.asarray([0, 2**64 - 1], dtype="uint64"), xp.asarray([-1, -1], dtype="int64")
    assert xp.less(large, negative).tolist() == [False, False]
    assert (negative < large).tolist() == [True, True]
    assert (large == negative).tolist() == [False, False]
    assert (xp.asarray([2**63], dtype="uint64") == 2**63).tolist() == [True]
    assert (xp.asarray([1, -1], dtype="int8") == 2**63).tolist() == [False, False]
    assert (xp.asarray([1, -1], dtype="int8") < 2**63).tolist() == [True, True]


def test_bounds_beyond_a_dtype_bound_nothing():
    x = xp.asarray([0, 7, 255], dtype="uint8")
    assert xp.clip(x, -5, 1000).tolist() == [0, 7, 255]
    assert xp.clip(x, -5, 9).dtype == xp.uint8
    assert xp.clip(x, 300).tolist() == [255, 255, 255]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_integers_are_divided_towards_minus_infinity(dtype):
    first, second = np.meshgrid(
        np.array([-7, -6, -1, 0, 1, 7, np.iinfo(dtype).max], dtype), np.array([-3, -2, 2, 3], dtype)
    )
    ours = xp.asarray(first), xp.asarray(second)
    assert (ours[0] // ours[1]).tolist() == (first // second).tolist()
    assert (ours[0] % ours[1]).tolist() == (first % second).tolist()


@pytest.mark.parametrize("order", ["C", "F", "sliced", "reversed"])
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_reductions_of_three_axes_are_right_in_every_layout(dtype, order):
    theirs = numbers(dtype, (6, 5, 4))
    theirs = np.where(np.isfinite(theirs), theirs, 2).astype(dtype)
    ours = xp.asarray(theirs, copy=True, order="F" if order == "F" else "C")
    if order == "sliced":
        theirs, ours = theirs[1:, ::2, 1:], ours[1:, ::2, 1:]
    elif order == "reversed":
        theirs, ours = theirs[::-1, :, ::-1], ours[::-1, :, ::-1]
    wide = {"float16": np.float64, "float32": np.float64, "complex64": np.complex128}.get(dtype)
    for axis in (None, 0, 1, 2, (0, 1), (1, 2), (0, 2), (0, 1, 2)):
        found, wanted = xp.asnumpy(xp.sum(ours, axis=axis)), theirs.sum(axis=axis, dtype=wide)
        if wide:
            np.testing.assert_allclose(found, wanted, rtol=2e-2 if dtype == "float16" else 1e-5, atol=0.05)
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(xp.asnumpy(xp.all(ours, axis=axis)), theirs.all(axis=axis))
        np.testing.assert_array_equal(
            xp.asnumpy(xp.count_nonzero(ours, axis=axis)), np.count_nonzero(theirs, axis=axis)
        )
        if not dtype.startswith("complex"):
            np.testing.assert_array_equal(xp.asnumpy(xp.max(ours, axis=axis)), theirs.max(axis=axis))
            np.testing.assert_array_equal(xp.asnumpy(xp.min(ours, axis=axis)), theirs.min(axis=axis))


@pytest.mark.parametrize("dtype", ["int8", "int32", "float16", "float32"])
def test_a_sum_in_another_dtype_is_the_same_however_often(dtype):
    x = xp.ones((3, 50), dtype=dtype)
    for _ in range(300):
        assert xp.sum(x, dtype="float64").item() == 150.0
        assert xp.sum(x, axis=0, dtype="int64").tolist() == [3] * 50


def test_an_array_of_another_device_has_arrived_when_it_is_used():
    try:
        part = millpond.default_device().partition(1)[0]
    except (millpond.DeviceError, ValueError) as error:
        pytest.skip(str(error))
    x = xp.arange(1000)
    for number in range(300):
        there = xp.asarray(x + number, device=part)
        assert there.device == part
        assert xp.all(there * 2 == xp.asarray(2 * (x + number), device=part))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x[::-1, ::-2],
        lambda x: x[1:, 2:],
        lambda x: x.T,
        lambda x: x[:, 0],
        lambda x: x[1, 1],
        lambda x: x[:0],
        lambda x: x[:, :0],
        lambda x: xp.broadcast_to(x[0], (3, 4)),
        lambda x: xp.reshape(x, (2, 1, 6, 1)),
    ],
)
@pytest.mark.host
def test_every_layout_survives_an_exchange_with_oneself_and_others(view):
    x = view(xp.reshape(xp.arange(12), (3, 4)))
    for came in (
        xp.from_dlpack(x),
        xp.asarray(np.from_dlpack(x)),
        xp.from_dlpack(np.asarray(x)),
        xp.asarray(np.asarray(x)),
    ):
        assert isinstance(came, xp.Array)
        assert (came.shape, came.dtype, came.tolist()) == (x.shape, x.dtype, x.tolist())


def test_functions_of_numpy_take_an_array_whole_or_not_at_all():
    x = xp.asarray(np.arange(100_000) % 7)
    assert np.unique(x).tolist() == list(range(7))
    assert np.median(x) == 3
    with pytest.raises(TypeError, match="millpond.tensor has no such function"):
        np.gcd(x, x)


@pytest.mark.parametrize("how", [operator.add, operator.mul, operator.sub, operator.truediv, operator.lt, operator.pow])
@pytest.mark.parametrize("scalar", [np.float32(2), np.float64(2), np.int8(2), np.uint64(2), np.bool_(True)], ids=repr)
def test_scalars_of_numpy_meet_arrays_on_either_side(how, scalar):
    x, theirs = xp.asarray([1.5, 2.5], dtype="float32"), np.asarray([1.5, 2.5], dtype="float32")
    for result, wanted in (
        (how(scalar, x), how(np.asarray([scalar] * 2), theirs)),
        (how(x, scalar), how(theirs, np.asarray([scalar] * 2))),
    ):
        assert isinstance(result, xp.Array)
        assert result.dtype == wanted.dtype.name
        np.testing.assert_allclose(xp.asnumpy(result), wanted, rtol=1e-6)


def test_an_integer_for_which_no_dtype_has_room_is_an_overflow():
    for value in (-(2**63) - 1, 256, -1):
        with pytest.raises(OverflowError, match=str(value)):
            xp.asarray(value, dtype="uint8")
        with pytest.raises(OverflowError, match=str(value)):
            xp.asarray([1, value], dtype="uint8")
        with pytest.raises(OverflowError, match=str(value)):
            xp.full(3, value, dtype="uint8")


SHAPES = [(), (1,), (3,), (2, 3), (2, 1), (1, 3), (0, 3), (2, 0), (1, 1, 3), (1, 2, 3), (2, 2, 3), (4,)]


@pytest.mark.parametrize("value", SHAPES, ids=str)
@pytest.mark.parametrize("target", SHAPES, ids=str)
def test_an_assignment_broadcasts_as_numpys_or_is_refused(target, value):
    theirs, ours = np.zeros(target), xp.zeros(target)
    filling = np.arange(1.0, 1 + np.prod(value, dtype=int)).reshape(value)
    try:
        theirs[...] = filling
    except ValueError:
        with pytest.raises(ValueError, match=r"\("):
            ours[...] = xp.asarray(filling)
    else:
        ours[...] = xp.asarray(filling)
    np.testing.assert_array_equal(xp.asnumpy(ours), theirs)


def test_more_elements_than_32_bits_count_are_added_and_compared():
    count = 2**32 + 5
    x = xp.broadcast_to(xp.ones(1, dtype="int8"), (count,))
    assert xp.sum(x).item() == count
    assert x[2**32 + 1 :].shape == (4,)
    assert xp.reshape(x, (-1, 1)).shape == (count, 1)


def test_default_queues_of_a_device_go_together():
    device = millpond.default_device()
    first, second = device.create_queue(), device.create_queue()
    x, y = xp.ones(3, queue=first), xp.ones(3, queue=second)
    assert (x + y).tolist() == [2, 2, 2]
    assert (xp.ones(3, device=device) + x).tolist() == [2, 2, 2]


def test_every_exported_name_can_be_imported():
    names = {}
    exec("from millpond.tensor import *", names)
    assert set(xp.__all__) <= set(names)
