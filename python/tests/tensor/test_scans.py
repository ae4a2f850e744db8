"""Accumulating along every axis of every layout, against NumPy with more digits."""

import inspect

import numpy as np
import pytest

import millpond.tensor as xp

from .reference import EVERY_DTYPE, LAYOUTS, WIDER, distance, in_layout, numbers

THEIRS = {"cumulative_sum": np.cumsum, "cumulative_prod": np.cumprod, "cumulative_logsumexp": np.logaddexp.accumulate}
WIDENED = {"b": "int64", "i": "int64", "u": "uint64"}


def _values(dtype, shape, name):
    values = numbers(dtype, shape)
    if values.dtype.kind in "fc":
        values[~np.isfinite(values)] = 2
        if name == "cumulative_prod":
            values = np.where(np.arange(values.size).reshape(shape) % 2, 1.25, 0.75).astype(dtype)
    return values


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_sums_and_products(name, dtype, axis, layout):
    theirs, ours = in_layout(_values(dtype, (40, 33), name), layout)
    output = WIDENED.get(np.dtype(dtype).kind, dtype)
    result = getattr(xp, name)(ours, axis=axis)
    assert result.dtype == output
    wide = theirs.astype(output).astype(WIDER.get(output, output))
    size = np.abs(wide).sum(axis).max() if name == "cumulative_sum" and np.dtype(dtype).kind in "fc" else 0
    allowed = {"f": 8, "c": 8}.get(np.dtype(output).kind, 0) * (6 if name == "cumulative_prod" else 1)
    with np.errstate(all="ignore"):
        assert distance(xp.asnumpy(result), THEIRS[name](wide, axis=axis), floor=min(size, 6e4)) <= allowed


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["int16", "float16", "float32", "float64"])
def test_logarithms_of_sums(dtype, axis, layout):
    theirs, ours = in_layout(_values(dtype, (40, 33), "") if dtype[0] == "f" else numbers(dtype, (40, 33)) % 9, layout)
    result = xp.cumulative_logsumexp(ours, axis=axis)
    assert result.dtype == ("float64" if dtype == "int16" else dtype)
    wanted = np.logaddexp.accumulate(theirs.astype(np.longdouble), axis=axis)
    assert distance(xp.asnumpy(result), wanted, floor=1) <= 8


def test_infinities_have_logarithms_of_sums():
    inf, nan = np.inf, np.nan
    for values in ([-inf, -inf, 1.0, inf, 2.0, -inf], [1.0, nan, inf], [-inf, 3.0], [inf, -inf], [1e308, 1e308]):
        wanted = np.logaddexp.accumulate(np.array(values))
        np.testing.assert_allclose(xp.asnumpy(xp.cumulative_logsumexp(xp.asarray(values))), wanted, rtol=1e-15)


@pytest.mark.parametrize(
    "shape", [(300_000,), (3, 100_001), (100_001, 3), (1500, 40), (40, 1500), (4000, 20, 2), (600, 2000)]
)
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint32", "float64", "complex64"])
def test_large_arrays_are_accumulated_in_parts(dtype, shape):
    values = np.random.default_rng(1).integers(-9, 9, shape).astype(dtype)
    x = xp.asarray(values, copy=True)
    for axis in range(len(shape)):
        output = WIDENED.get(values.dtype.kind, dtype)
        wanted = np.cumsum(values, axis=axis, dtype=output)
        np.testing.assert_array_equal(xp.asnumpy(xp.cumulative_sum(x, axis=axis)), wanted)
        back = xp.flip(xp.cumulative_sum(xp.flip(x, axis=axis), axis=axis), axis=axis)
        wanted = np.flip(np.cumsum(np.flip(values, axis), axis=axis, dtype=output), axis)
        np.testing.assert_array_equal(xp.asnumpy(back), wanted)


def test_long_sums_of_logarithms_are_exact_enough():
    for count in (10, 1000, 100_000, 1_000_000):
        x = xp.zeros(count)
        result = xp.asnumpy(xp.cumulative_logsumexp(x))
        np.testing.assert_allclose(result, np.log(np.arange(1, count + 1)), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("shape", [(200_000,), (70_000, 3), (5000, 50)])
def test_sums_of_floats_stay_close(shape):
    values = np.random.default_rng(2).random(shape, dtype=np.float32)
    result = xp.asnumpy(xp.cumulative_sum(xp.asarray(values, copy=True), axis=0))
    np.testing.assert_allclose(result, np.cumsum(values.astype("f8"), axis=0), rtol=2e-5)


@pytest.mark.parametrize("dtype", ["bool", "int32", "float16", "float64", "complex128"])
@pytest.mark.parametrize("shape", [(5,), (3, 4), (0,), (2, 0), (0, 2), (2, 3, 1, 2, 2)])
@pytest.mark.parametrize("name", sorted(THEIRS))
def test_the_initial_element_is_that_of_nothing(name, shape, dtype):
    if name == "cumulative_logsumexp" and dtype == "complex128":
        return
    x = xp.asarray(np.ones(shape, dtype=dtype))
    start = {"cumulative_sum": 0, "cumulative_prod": 1, "cumulative_logsumexp": -np.inf}[name]
    for axis in range(len(shape)):
        result = xp.asnumpy(getattr(xp, name)(x, axis=axis, include_initial=True))
        rest = xp.asnumpy(getattr(xp, name)(x, axis=axis))
        assert result.shape[axis] == shape[axis] + 1
        assert (np.take(result, [0], axis=axis) == start).all()
        np.testing.assert_array_equal(np.take(result, range(1, shape[axis] + 1), axis=axis), rest)


def test_a_number_is_accumulated():
    x = xp.asarray(3.0)
    assert xp.cumulative_sum(x).shape == ()
    assert float(xp.cumulative_sum(x)) == 3
    assert xp.cumulative_sum(x, include_initial=True).tolist() == [0, 3]


def test_a_dtype_is_computed_in():
    x = xp.asarray([200, 100], dtype="uint8")
    assert xp.cumulative_sum(x).dtype == "uint64"
    assert xp.cumulative_sum(x, dtype="uint8").tolist() == [200, 44]
    assert xp.cumulative_sum(x, dtype="float32").dtype == "float32"
    assert xp.cumulative_prod(x, dtype="int16").tolist() == [200, 20000]
    with pytest.raises(TypeError, match="cumulative_sum is not defined for complex64 and float32"):
        xp.cumulative_sum(xp.ones(2, dtype="complex64"), dtype="float32")


def test_truth_values_are_made_before_they_are_added_or_multiplied():
    assert xp.cumulative_sum(xp.asarray([-1, 1]), dtype="bool").tolist() == [True, True]
    assert xp.cumulative_sum(xp.asarray([0.0, 0.5, 0.0]), dtype="bool").tolist() == [False, True, True]
    assert xp.cumulative_prod(xp.asarray([16, 16, 0], dtype="uint8"), dtype="bool").tolist() == [True, True, False]


def test_special_values_are_those_of_successive_additions():
    inf, nan = float("inf"), float("nan")
    for values in ([1.0, inf, -inf, 2.0], [nan, 1.0], [-0.0, -0.0, 0.0], [inf] * 40 + [-inf] * 40):
        for dtype in ("float32", "float64"):
            theirs = np.array(values, dtype)
            with np.errstate(invalid="ignore"):
                wanted = np.cumsum(theirs)
            ours = xp.asnumpy(xp.cumulative_sum(xp.asarray(theirs, copy=True)))
            np.testing.assert_array_equal(ours, wanted)
            # What sign a NaN has is the processor's affair.
            signed = ~np.isnan(wanted[:3])
            np.testing.assert_array_equal(np.signbit(ours[:3])[signed], np.signbit(wanted[:3])[signed])


def test_an_output_takes_the_result():
    x = xp.reshape(xp.arange(6.0), (2, 3))
    out = xp.empty((2, 3))
    assert xp.cumulative_sum(x, axis=1, out=out) is out
    assert out.tolist() == [[0, 1, 3], [3, 7, 12]]
    narrow = xp.empty((2, 3), dtype="float32")
    xp.cumulative_sum(x, axis=0, out=narrow)
    assert narrow.tolist() == [[0, 1, 2], [3, 5, 7]]
    xp.cumulative_sum(x, axis=1, out=x)
    assert x.tolist() == [[0, 1, 3], [3, 7, 12]]
    y = xp.arange(6)
    xp.cumulative_sum(y[:5], out=y[1:])
    assert y.tolist() == [0, 0, 1, 3, 6, 10]
    longer = xp.empty(7, dtype="int64")
    xp.cumulative_sum(xp.arange(6), include_initial=True, out=longer[::-1])
    assert longer.tolist() == [15, 10, 6, 3, 1, 0, 0]
    with pytest.raises(ValueError, match=r"cumulative_sum.*\(2, 3\).*\(3, 3\)"):
        xp.cumulative_sum(xp.ones((2, 3)), axis=0, include_initial=True, out=out)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: xp.cumulative_sum(x), ValueError, "cumulative_sum: an array of 2 axes needs an axis"),
        (lambda x: xp.cumulative_prod(x, axis=2), IndexError, "axis 2 is out of bounds"),
        (lambda x: xp.cumulative_sum(x, axis=(0, 1)), TypeError, r"expected an integer, got \(0, 1\)"),
        (lambda x: xp.cumulative_logsumexp(xp.ones(2, dtype="complex64")), TypeError, "cumulative_logsumexp is not"),
        (lambda x: xp.cumulative_sum(x, axis=0, out=xp.empty((2, 2), dtype="int8")), TypeError, "cannot cast"),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(xp.ones((2, 2)))


def test_signatures_are_the_standards():
    for name in THEIRS:
        signature = "(x, /, *, axis=None, dtype=None, include_initial=False, out=None)"
        assert str(inspect.signature(getattr(xp, name))) == signature
