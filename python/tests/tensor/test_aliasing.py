"""Copies are apart, views are not, and what overlaps is computed as if it didn't."""

import itertools
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import millpond.tensor as xp

#: More than is read before anything is written.
SIZE = 20_000
slices = st.slices(SIZE).filter(lambda one: len(range(*one.indices(SIZE))) > 0)


def shared(x, y):
    """Say whether writing one array changes the other."""
    before = y.tolist()
    x[...] = 77
    return y.tolist() != before


@given(slices, slices, st.sampled_from(["add", "subtract", "maximum", "hypot"]))
@settings(max_examples=100, deadline=None)
def test_an_output_may_overlap_its_operands_in_any_way(first, second, name):
    theirs, ours = np.arange(1.0, SIZE + 1), xp.arange(1.0, SIZE + 1)
    count = min(len(range(*one.indices(SIZE))) for one in (first, second))
    wanted = theirs.copy()
    wanted[first][:count] = getattr(np, name)(theirs[first][:count], theirs[second][:count])
    getattr(xp, name)(ours[first][:count], ours[second][:count], out=ours[first][:count])
    np.testing.assert_allclose(xp.asnumpy(ours), wanted, rtol=1e-15)


@given(slices, slices, st.sampled_from([operator.iadd, operator.isub, operator.imul]))
@settings(max_examples=100, deadline=None)
def test_an_operator_in_place_reads_before_it_writes(first, second, how):
    theirs, ours = np.arange(SIZE), xp.arange(SIZE)
    count = min(len(range(*one.indices(SIZE))) for one in (first, second))
    how(theirs[first][:count], theirs[second][:count].copy())
    how(ours[first][:count], ours[second][:count])
    np.testing.assert_array_equal(xp.asnumpy(ours), theirs)


@given(slices, slices)
@settings(max_examples=100, deadline=None)
def test_an_assignment_reads_before_it_writes(first, second):
    theirs, ours = np.arange(SIZE), xp.arange(SIZE)
    count = min(len(range(*one.indices(SIZE))) for one in (first, second))
    theirs[first][:count] = theirs[second][:count].copy()
    ours[first][:count] = ours[second][:count]
    np.testing.assert_array_equal(xp.asnumpy(ours), theirs)


def test_a_matrix_may_be_replaced_by_its_transpose_and_its_own_sums():
    theirs, ours = np.arange(9).reshape(3, 3), xp.reshape(xp.arange(9), (3, 3))
    ours[...] = ours.T
    assert ours.tolist() == theirs.T.tolist()
    ours += ours.T
    assert ours.tolist() == (theirs.T + theirs).tolist()
    xp.sum(ours, axis=0, out=ours[1])
    theirs = theirs + theirs.T
    theirs[1] = theirs.sum(axis=0)
    assert ours.tolist() == theirs.tolist()


@pytest.mark.parametrize("row", [0, 1, 399])
@pytest.mark.parametrize("axis", [0, 1])
def test_a_reduction_may_write_into_what_it_reads(axis, row):
    theirs, ours = np.ones((400, 400), dtype="int64"), xp.ones((400, 400), dtype="int64")
    theirs[row] = theirs.sum(axis=axis)
    xp.sum(ours, axis=axis, out=ours[row])
    assert ours.tolist() == theirs.tolist()


def test_an_operand_that_repeats_an_output_is_read_whole():
    ours = xp.reshape(xp.arange(6), (2, 3))
    ours += ours[:1]
    assert ours.tolist() == [[0, 2, 4], [3, 5, 7]]
    ours -= ours[:, 1:2]
    assert ours.tolist() == [[-2, 0, 2], [-2, 0, 2]]


VIEWS = [
    lambda x: x[1:],
    lambda x: x[::-1],
    lambda x: x.T,
    lambda x: x.mT,
    lambda x: xp.reshape(x, (6,)),
    lambda x: xp.reshape(x, (6,), copy=False),
    lambda x: xp.permute_dims(x, (1, 0)),
    lambda x: xp.expand_dims(x, axis=0),
    lambda x: xp.squeeze(xp.expand_dims(x, axis=1), axis=1),
    lambda x: xp.flip(x),
    lambda x: xp.moveaxis(x, 0, 1),
    lambda x: xp.broadcast_to(x, (2, 2, 3)),
    lambda x: xp.unstack(x)[0],
    lambda x: xp.asarray(x),
    lambda x: xp.asarray(x, copy=False),
    lambda x: xp.astype(x, x.dtype, copy=False),
    lambda x: x.to_device(x.device),
    lambda x: xp.from_dlpack(x),
    lambda x: xp.from_dlpack(x, copy=False),
    lambda x: x.real,
]
COPIES = [
    lambda x: xp.reshape(x, (6,), copy=True),
    lambda x: xp.reshape(x.T, (6,)),
    lambda x: xp.asarray(x, copy=True),
    lambda x: xp.asarray(x, dtype="float32"),
    lambda x: xp.astype(x, x.dtype),
    lambda x: xp.astype(x, x.dtype, copy=True),
    lambda x: xp.astype(x, "float32", copy=False),
    lambda x: xp.from_dlpack(x, copy=True),
    lambda x: xp.copy(x),
    lambda x: xp.positive(x),
    lambda x: +x,
    lambda x: xp.concat([x]),
    lambda x: xp.stack([x]),
    lambda x: xp.tile(x, 1),
    lambda x: xp.repeat(x, 1),
    lambda x: xp.roll(x, 0),
    lambda x: xp.tril(x, k=9),
    lambda x: xp.clip(x),
    lambda x: xp.conj(x),
    lambda x: xp.where(x == x, x, x),
    lambda x: xp.diff(x, n=0),
    lambda x: xp.max(x, axis=()),
    lambda x: xp.full_like(x, x),
    lambda x: xp.meshgrid(x[0], x[0])[0],
]


@pytest.mark.parametrize(("number", "how"), list(enumerate(VIEWS)))
def test_a_view_shares_its_elements(number, how):
    x = xp.reshape(xp.arange(6.0), (2, 3))
    assert shared(x, how(x)), number


@pytest.mark.parametrize(("number", "how"), list(enumerate(COPIES)))
def test_a_copy_shares_nothing(number, how):
    x = xp.reshape(xp.arange(6.0), (2, 3))
    y = how(x)
    assert not shared(x, y), number
    assert not shared(y, x), number


@pytest.mark.parametrize(
    "call",
    [
        lambda x: xp.reshape(x.T, (6,), copy=False),
        lambda x: xp.asarray(x, dtype="float32", copy=False),
        lambda x: xp.asarray(x, order="F", copy=False),
        lambda x: xp.asarray([1.0], copy=False),
        lambda x: xp.asarray(1.0, copy=False),
        lambda x: xp.asarray(x, usm_type="host", copy=False),
    ],
)
def test_a_copy_that_is_forbidden_but_needed_is_an_error(call):
    with pytest.raises(ValueError, match="cop"):
        call(xp.reshape(xp.arange(6.0), (2, 3)))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_the_parts_of_complex_numbers_can_be_set(dtype):
    z = xp.zeros((2, 2), dtype=dtype)
    z.real = 3
    z.imag = xp.asarray([1.0, 2.0])
    assert z.tolist() == [[3 + 1j, 3 + 2j]] * 2
    z[0, :].imag = [5, 6]
    assert z.tolist() == [[3 + 5j, 3 + 6j], [3 + 1j, 3 + 2j]]
    x = xp.zeros(2)
    x.real = xp.asarray([1, 2])
    assert x.tolist() == [1.0, 2.0]
    with pytest.raises(TypeError, match="float64 holds no imaginary parts"):
        x.imag = 1
    with pytest.raises(ValueError, match="broadcast|shape"):
        z.real = xp.zeros(3)
    with pytest.raises(AttributeError):
        del z.real


LARGE = {
    "rows": lambda x: x,
    "reversed": lambda x: x[::-1, :, ::-1],
    "turned": lambda x: x.transpose(2, 0, 1) if isinstance(x, np.ndarray) else xp.permute_dims(x, (2, 0, 1)),
    "thinned": lambda x: x[:, ::2, 1::3],
    "shifted": lambda x: x[3:, 1:, 2:],
}


@pytest.mark.parametrize(
    ("layout", "dtype"), list(itertools.product(LARGE, ["int8", "int32", "float32", "complex128"]))
)
def test_arrays_of_more_axes_and_blocks_than_one_are_numpys(layout, dtype):
    base = (np.arange(40 * 33 * 27) % 251 - 100).astype(dtype).reshape(40, 33, 27)
    theirs, ours = LARGE[layout](base), LARGE[layout](xp.asarray(base, copy=True))
    np.testing.assert_array_equal(xp.asnumpy(ours), theirs)
    np.testing.assert_array_equal(xp.asnumpy(ours + ours * ours), theirs + theirs * theirs)
    for axis in (None, 0, 1, 2, (0, 2), (0, 1, 2), ()):
        np.testing.assert_array_equal(xp.asnumpy(xp.any(ours, axis=axis)), theirs.any(axis=axis))
        if dtype.startswith("complex"):
            np.testing.assert_allclose(xp.asnumpy(xp.sum(ours, axis=axis)), theirs.sum(axis=axis), rtol=1e-12)
            continue
        np.testing.assert_allclose(xp.asnumpy(xp.sum(ours, axis=axis)), theirs.sum(axis=axis), rtol=1e-4)
        np.testing.assert_array_equal(xp.asnumpy(xp.max(ours, axis=axis)), theirs.max(axis=axis))
        np.testing.assert_allclose(
            xp.asnumpy(xp.mean(ours, axis=axis)), theirs.mean(axis=axis, dtype="float64"), rtol=1e-3, atol=1e-3
        )
        if axis is None or isinstance(axis, int):
            np.testing.assert_array_equal(xp.asnumpy(xp.argmin(ours, axis=axis)), theirs.argmin(axis=axis))
    flat = xp.reshape(ours, (-1,))
    np.testing.assert_array_equal(xp.asnumpy(flat), theirs.reshape(-1))
    np.testing.assert_array_equal(xp.asnumpy(xp.tril(ours, k=2)), np.tril(theirs, k=2))
    np.testing.assert_array_equal(xp.asnumpy(xp.triu(ours, k=-3)), np.triu(theirs, k=-3))
