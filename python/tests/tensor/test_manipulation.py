"""Functions that rearrange elements, against NumPy's of the same name."""

import numpy as np
import pytest

import millpond.tensor as xp


def _pair(shape=(2, 3, 4)):
    theirs = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return theirs, xp.asarray(theirs, copy=True)


VIEWS = {
    "permute": (lambda ns, x: ns.permute_dims(x, (2, 0, 1))),
    "matrix_transpose": (lambda ns, x: ns.matrix_transpose(x)),
    "moveaxis": (lambda ns, x: ns.moveaxis(x, 0, -1)),
    "moveaxis of two": (lambda ns, x: ns.moveaxis(x, (0, 1), (2, 0))),
    "swapaxes": (lambda ns, x: ns.swapaxes(x, 0, 2)),
    "expand_dims": (lambda ns, x: ns.expand_dims(x, axis=1)),
    "expand_dims of two": (lambda ns, x: ns.expand_dims(x, axis=(0, -1))),
    "squeeze": (lambda ns, x: ns.squeeze(x[:1], axis=0)),
    "flip": (lambda ns, x: ns.flip(x)),
    "flip of one": (lambda ns, x: ns.flip(x, axis=1)),
    "broadcast_to": (lambda ns, x: ns.broadcast_to(x, (5, 2, 3, 4))),
    "reshape": (lambda ns, x: ns.reshape(x, (4, -1))),
}
COPIES = {
    "reshape of a view": (lambda ns, x: ns.reshape(ns.swapaxes(x, 0, 1), (-1,))),
    "roll": (lambda ns, x: ns.roll(x, 5)),
    "roll of one": (lambda ns, x: ns.roll(x, -1, axis=2)),
    "roll of two": (lambda ns, x: ns.roll(x, (1, 2), axis=(0, 2))),
    "roll by one of two": (lambda ns, x: ns.roll(x, 1, axis=(0, 2))),
    "concat": (lambda ns, x: ns.concat([x, x[:1]])),
    "concat of another axis": (lambda ns, x: ns.concat((x, x), axis=-1)),
    "concat of all": (lambda ns, x: ns.concat((x, x[0]), axis=None)),
    "stack": (lambda ns, x: ns.stack([x, x + 1])),
    "stack at the end": (lambda ns, x: ns.stack([x, x + 1], axis=-1)),
    "tile": (lambda ns, x: ns.tile(x, (2, 1, 3))),
    "tile of more": (lambda ns, x: ns.tile(x, (2, 1, 1, 2))),
    "tile of one": (lambda ns, x: ns.tile(x, 2)),
    "repeat": (lambda ns, x: ns.repeat(x, 3)),
    "repeat along": (lambda ns, x: ns.repeat(x, 2, axis=1)),
}


@pytest.mark.parametrize("how", VIEWS)
def test_views_are_numpys(how):
    theirs, ours = _pair()
    result = VIEWS[how](xp, ours)
    np.testing.assert_array_equal(xp.asnumpy(result), VIEWS[how](np, theirs))
    assert result.data.ptr == ours.data.ptr


@pytest.mark.parametrize("how", COPIES)
def test_copies_are_numpys(how):
    theirs, ours = _pair()
    result = COPIES[how](xp, ours)
    np.testing.assert_array_equal(xp.asnumpy(result), COPIES[how](np, theirs))
    assert result.data.ptr != ours.data.ptr


def test_shapes_and_arrays_are_broadcast():
    assert xp.broadcast_shapes((8, 1, 6, 1), (7, 1, 5), 5) == (8, 7, 6, 5)
    first, second = xp.broadcast_arrays(xp.ones((3, 1)), xp.ones(4))
    assert first.shape == second.shape == (3, 4)
    assert not first.flags.writable
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        xp.broadcast_shapes((2,), (3,))


def test_arrays_are_taken_apart():
    theirs, ours = _pair()
    parts = xp.unstack(ours, axis=1)
    assert isinstance(parts, tuple)
    for part, wanted in zip(parts, np.unstack(theirs, axis=1), strict=True):
        np.testing.assert_array_equal(xp.asnumpy(part), wanted)


def test_a_copy_is_forced_or_forbidden():
    _, ours = _pair()
    assert xp.reshape(ours, -1, copy=True).data.ptr != ours.data.ptr
    with pytest.raises(ValueError, match="copy"):
        xp.reshape(xp.swapaxes(ours, 0, 1), (-1,), copy=False)


def test_a_reshape_may_count_by_columns():
    theirs, ours = _pair()
    np.testing.assert_array_equal(xp.asnumpy(xp.reshape(ours, (6, 4), order="F")), theirs.reshape((6, 4), order="F"))


def test_joined_arrays_are_promoted():
    assert xp.concat([xp.ones(1, dtype="int8"), xp.ones(1, dtype="float32")]).dtype == "float32"
    assert xp.stack([xp.ones(1, dtype="int8"), xp.ones(1, dtype="uint8")]).dtype == "int16"


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_copies_are_apart_and_in_order(order):
    theirs, ours = _pair((3, 4))
    for x, wanted in ((ours, theirs), (ours.T, theirs.T)):
        copy = xp.copy(x, order=order)
        flags = np.array(wanted, order=order).flags
        assert (copy.flags.c_contiguous, copy.flags.f_contiguous) == (flags.c_contiguous, flags.f_contiguous)
        copy[0, 0] = -1
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("target", ["bool", "int8", "uint16", "int64", "float16", "float32", "complex64"])
@pytest.mark.parametrize("source", ["bool", "int16", "uint64", "float16", "float64"])
def test_conversions_are_numpys(source, target):
    values = np.asarray([[0, 1, 2], [3, 100, 7]]).astype(source)
    for theirs, ours in ((values, xp.asarray(values, copy=True)), (values.T, xp.asarray(values, copy=True).T)):
        result = xp.astype(ours, target)
        assert result.dtype == target
        np.testing.assert_array_equal(xp.asnumpy(result), theirs.astype(target))


def test_a_conversion_to_the_same_dtype_copies_unless_told_otherwise():
    x = xp.ones(3)
    assert xp.astype(x, "float64", copy=False) is x
    assert xp.astype(x, "float64").data.ptr != x.data.ptr


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "uint64"])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("shape", [(5,), (4, 6), (2, 0, 3), (1, 1)])
def test_each_element_is_repeated_as_often_as_an_array_says(shape, axis, dtype):
    generator = np.random.default_rng(7)
    theirs = generator.integers(0, 100, shape)[..., ::-1]
    ours = xp.asarray(theirs)
    size = theirs.size if axis is None else shape[axis]
    for counts in (generator.integers(0, 4, size), np.full(size, 3), np.asarray([2]), np.zeros(size, int)):
        wanted = np.repeat(theirs, counts, axis=axis)
        counts = counts.astype(dtype)
        for given in (xp.asarray(counts), counts, counts.tolist() or counts):
            result = xp.repeat(ours, given, axis=axis)
            np.testing.assert_array_equal(xp.asnumpy(result), wanted)


def test_repeats_that_make_no_sense_are_refused():
    x = xp.ones((2, 3))
    for given, error, message in (
        (-1, ValueError, "negative: -1"),
        (xp.asarray([1, -2, 3]), ValueError, "negative: -2"),
        (xp.asarray([1, 2]), ValueError, r"shape \(2,\) for an axis of 3"),
        (xp.ones((1, 3), dtype="int8"), ValueError, r"shape \(1, 3\)"),
        (xp.asarray([1.0, 2.0, 3.0]), TypeError, "float64"),
        (xp.asarray([1, 2, 2**63], dtype="uint64"), MemoryError, "large"),
        ("3", TypeError, "str"),
    ):
        with pytest.raises(error, match=message):
            xp.repeat(x, given, axis=1)
