"""Functions that make arrays, against NumPy's of the same name."""

import array
import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import millpond
import millpond.tensor as xp

from .reference import EVERY_DTYPE


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("shape", [(), 3, (3,), (2, 0), (2, 3, 4), [2, 2], (1, 1, 1, 1, 1, 2)])
def test_shapes_and_dtypes_are_as_asked_for(shape, dtype):
    for name in ("zeros", "ones", "empty"):
        result, wanted = getattr(xp, name)(shape, dtype=dtype), getattr(np, name)(shape, dtype=dtype)
        assert (result.shape, result.dtype) == (wanted.shape, dtype)
        if name != "empty":
            np.testing.assert_array_equal(xp.asnumpy(result), wanted)
    np.testing.assert_array_equal(xp.asnumpy(xp.full(shape, 1, dtype=dtype)), np.full(shape, 1, dtype=dtype))


def test_default_dtypes_follow_the_value():
    assert xp.zeros(1).dtype == "float64"
    assert xp.full(1, 2).dtype == "int64"
    assert xp.full(1, True).dtype == "bool"
    assert xp.full(1, 2.0).dtype == "float64"
    assert xp.full(1, 2j).dtype == "complex128"
    assert xp.full(1, np.float32(2)).dtype == "float32"
    assert xp.full(2, xp.asarray(3, dtype="int8")).tolist() == [3, 3]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
def test_orders_are_kept_to(name, order):
    flags = getattr(xp, name)((3, 4), order=order).flags
    assert (flags.c_contiguous, flags.f_contiguous) == (order == "C", order == "F")


@pytest.mark.parametrize("usm_type", ["device", "shared", "host"])
def test_kinds_of_memory_are_kept_to(usm_type):
    x = xp.zeros(3, usm_type=usm_type)
    assert x.usm_type == usm_type
    assert (x + 1).usm_type == usm_type
    assert xp.zeros_like(x).usm_type == usm_type
    assert xp.asarray([1], usm_type=usm_type).usm_type == usm_type


def test_devices_are_named_in_three_ways():
    device = millpond.default_device()
    queue = millpond.Queue(device)
    assert xp.zeros(1, device=device).device == device
    assert xp.zeros(1, device=device.name).device == device
    assert xp.zeros(1, device=queue).queue == queue
    assert xp.zeros(1, queue=queue).queue == queue
    assert xp.zeros(1).queue == device.default_queue
    with pytest.raises(TypeError, match="device.*3"):
        xp.zeros(1, device=3)
    with pytest.raises(ValueError, match="usm_type.*'fast'"):
        xp.zeros(1, usm_type="fast")


@pytest.mark.parametrize(
    "arguments",
    [(5,), (0,), (2, 7), (2, 7, 2), (7, 2, -2), (5, 2), (0, 1, 0.3), (1.5,), (-3, 3), (10, -1, -3)],
)
def test_ranges(arguments):
    np.testing.assert_array_equal(xp.asnumpy(xp.arange(*arguments)), np.arange(*arguments))
    assert xp.arange(*arguments).dtype == np.arange(*arguments).dtype.name


@given(start=st.integers(-100, 100), stop=st.integers(-100, 100), step=st.integers(-9, 9).filter(bool))
def test_ranges_of_integers_are_pythons(start, stop, step):
    assert xp.arange(start, stop, step).tolist() == list(range(start, stop, step))


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [0, 1, 2, 5, 50])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_evenly_spaced_numbers(num, endpoint, dtype):
    result = xp.linspace(-1, 3, num, dtype=dtype, endpoint=endpoint)
    np.testing.assert_allclose(xp.asnumpy(result), np.linspace(-1, 3, num, dtype=dtype, endpoint=endpoint), rtol=1e-6)
    assert result.dtype == dtype


def test_the_ends_of_evenly_spaced_numbers_are_met():
    for num in range(2, 300):
        for start, stop in ((0.1, 0.7), (-1e300, 1 / 3), (3.3, -1.1)):
            result = xp.linspace(start, stop, num)
            assert (result[0].item(), result[-1].item()) == (start, stop)


@pytest.mark.parametrize("k", [-9, -1, 0, 2, 9])
@pytest.mark.parametrize("shape", [(3,), (3, 5), (5, 3), (0, 2)])
def test_diagonals(shape, k):
    np.testing.assert_array_equal(xp.asnumpy(xp.eye(*shape, k=k)), np.eye(*shape, k=k))
    values = np.arange(2 * shape[0] * shape[-1]).reshape(2, shape[0], shape[-1])
    x = xp.asarray(values, copy=True)
    np.testing.assert_array_equal(xp.asnumpy(xp.tril(x, k=k)), np.tril(values, k=k))
    np.testing.assert_array_equal(xp.asnumpy(xp.triu(x, k=k)), np.triu(values, k=k))


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("count", [0, 1, 2, 3])
def test_grids(count, indexing):
    axes = [np.arange(size, dtype=np.float32) for size in (2, 3, 4)[:count]]
    grids = xp.meshgrid(*(xp.asarray(axis) for axis in axes), indexing=indexing)
    assert isinstance(grids, tuple)
    for ours, theirs in zip(grids, np.meshgrid(*axes, indexing=indexing), strict=True):
        np.testing.assert_array_equal(xp.asnumpy(ours), theirs)


@pytest.mark.parametrize("name", ["zeros_like", "ones_like", "empty_like"])
def test_models_give_shape_dtype_and_order(name):
    model = xp.permute_dims(xp.zeros((2, 3, 4), dtype="int16", usm_type="host"), (2, 0, 1))
    result = getattr(xp, name)(model)
    assert (result.shape, result.dtype, result.usm_type) == ((4, 2, 3), "int16", "host")
    assert result.strides == model.strides
    assert getattr(xp, name)(model, order="C").flags.c_contiguous
    assert getattr(xp, name)(model, dtype="float32", usm_type="device").dtype == "float32"


def test_a_model_may_be_filled_with_any_value():
    model = xp.zeros((2, 2), dtype="float32")
    assert xp.full_like(model, 3).tolist() == [[3, 3], [3, 3]]
    assert xp.full_like(model, 3).dtype == "float32"
    with pytest.raises(OverflowError, match="300"):
        xp.full_like(model, 300, dtype="uint8")


@pytest.mark.parametrize(
    "nested",
    [
        1,
        2.5,
        True,
        3j,
        [],
        [[]],
        [1, 2],
        [[1, 2], [3, 4]],
        ((1.5, 2), (3, True)),
        [True, False],
        [1, 2j],
        [[[1]], [[2]]],
        range(4),
        [range(3), (4, 5, 6)],
        [np.float32(1), 2],
        [2**63],
    ],
    ids=str,
)
def test_nested_sequences_are_numpys(nested):
    result, wanted = xp.asarray(nested), np.asarray(nested)
    assert result.shape == wanted.shape
    np.testing.assert_array_equal(xp.asnumpy(result), wanted)
    if result.size:
        assert result.dtype in {wanted.dtype.name, "float32"}


def test_sequences_of_arrays_are_stacked():
    rows = [xp.asarray([1, 2]), np.asarray([3.5, 4.5]), [5, 6]]
    assert xp.asarray(rows).tolist() == [[1, 2], [3.5, 4.5], [5, 6]]
    assert xp.asarray([xp.asarray(1), 2]).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("nested", "error", "message"),
    [
        ([[1, 2], [3]], ValueError, "lengths 2 and 1"),
        ([1, [2]], ValueError, "side by side"),
        ([[1], 2], ValueError, "side by side"),
        (["a"], TypeError, "'a'"),
        ("abc", TypeError, "'abc'"),
        ({1: 2}, TypeError, "dict"),
        (None, TypeError, "None"),
        ([2**64], OverflowError, "int64 and uint64"),
        ([-1, 2**63], OverflowError, "int64 and uint64"),
        (2**150, OverflowError, str(2**150)),
    ],
)
def test_what_is_no_array_is_refused(nested, error, message):
    with pytest.raises(error, match=message):
        xp.asarray(nested)


def test_a_sequence_that_contains_itself_is_refused():
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="nested deeper"):
        xp.asarray(endless)


@pytest.mark.parametrize(
    ("value", "dtype", "error"),
    [
        (256, "uint8", OverflowError),
        (-(2**63) - 1, "uint8", OverflowError),
        ([1, -1], "uint64", OverflowError),
        ([1j], "float64", TypeError),
        ([float("nan")], "int32", ValueError),
    ],
)
def test_values_that_a_dtype_cannot_hold_are_refused(value, dtype, error):
    with pytest.raises(error):
        xp.asarray(value, dtype=dtype)


def test_an_array_is_itself_unless_a_copy_is_needed():
    x = xp.asarray([1, 2, 3])
    assert xp.asarray(x) is x
    assert xp.asarray(x, dtype="int64", device=x.device, copy=False) is x
    copy = xp.asarray(x, copy=True)
    copy[0] = 9
    assert x.tolist() == [1, 2, 3]
    assert xp.asarray(x, dtype="float32").dtype == "float32"
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(x, dtype="float32", copy=False)
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray([1, 2], copy=False)


@pytest.mark.host
def test_buffers_are_shared_if_asked_for():
    buffer = array.array("i", [1, 2, 3])
    x = xp.asarray(buffer, copy=False)
    x[0] = 7
    assert buffer[0] == 7
    assert xp.asarray(b"ab").tolist() == [97, 98]
    assert not xp.asarray(b"ab", copy=False).flags.writable


def test_signatures_are_the_standards():
    options = "dtype=None, device=None"
    assert str(inspect.signature(xp.zeros)) == f"(shape, *, {options}, order='C', usm_type=None, queue=None)"
    assert str(inspect.signature(xp.arange)).startswith(f"(start, /, stop=None, step=1, *, {options}")
    assert str(inspect.signature(xp.eye)).startswith("(n_rows, n_cols=None, /, *, k=0, dtype=None")
    assert str(inspect.signature(xp.linspace)).startswith("(start, stop, /, num, *, dtype=None")
    assert str(inspect.signature(xp.meshgrid)) == "(*arrays, indexing='xy')"


@pytest.mark.parametrize("shape", [(-1,), (2, -3)])
def test_negative_sizes_are_refused(shape):
    with pytest.raises(ValueError, match="negative"):
        xp.zeros(shape)


def test_too_large_an_array_is_refused_with_its_size():
    with pytest.raises((MemoryError, ValueError), match="2305843009213693952|address space"):
        xp.zeros(2**61, dtype="int64")


@pytest.mark.parametrize("first", [1, 1.5, xp.asarray(1.0), xp.ones(2)], ids=repr)
@pytest.mark.parametrize("times", [1, 2])
def test_a_sequence_that_contains_itself_is_no_array(first, times):
    endless = [first]
    endless += [endless] * times
    for call in (xp.asarray, lambda value: xp.zeros(2).__setitem__(..., value)):
        with pytest.raises(ValueError, match=r"nested deeper than|stand side by side"):
            call(endless)
