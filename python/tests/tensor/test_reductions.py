"""Reductions along every axis of every layout, against NumPy with more digits."""

import inspect
import pickle

import numpy as np
import pytest

import millpond.tensor as xp

from .reference import EVERY_DTYPE, LAYOUTS, WIDER, distance, in_layout, numbers

AXES = [None, 0, 1, -1, (0, 1), ()]


def _wanted(name, values, axis, **options):
    values = values.astype(WIDER.get(values.dtype.name, values.dtype))
    with np.errstate(all="ignore"):
        if name == "logsumexp":
            return np.log(np.sum(np.exp(values.astype(np.longdouble)), axis=axis, **options))
        if name == "reduce_hypot":
            return np.sqrt(np.sum(np.square(values.astype(np.longdouble)), axis=axis, **options))
        return getattr(np, name)(values, axis=axis, **options)


def _values(dtype, shape=(6, 9)):
    values = numbers(dtype, shape)
    if values.dtype.kind in "fc":
        values[~np.isfinite(values)] = 2
    return values


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_sums_and_products(name, dtype, axis, layout):
    theirs, ours = in_layout(_values(dtype), layout)
    if name == "prod":
        theirs, ours = theirs[:3, :3], ours[:3, :3]
    kind = np.dtype(dtype).kind
    wide = {"b": "int64", "i": "int64", "u": "uint64"}.get(kind, dtype)
    result = getattr(xp, name)(ours, axis=axis)
    assert result.dtype == wide
    with np.errstate(all="ignore"):
        wanted = _wanted(name, theirs.astype(wide), axis)
    size = np.abs(theirs.astype(np.complex128)).sum() if name == "sum" and kind in "fc" else 0
    assert distance(xp.asnumpy(result), wanted, floor=min(size, 6e4)) <= (8 if kind in "fc" else 0)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("dtype", [dtype for dtype in EVERY_DTYPE if not dtype.startswith("complex")])
@pytest.mark.parametrize("name", ["min", "max", "any", "all", "count_nonzero"])
def test_extremes_and_truth(name, dtype, axis, layout):
    theirs, ours = in_layout(_values(dtype), layout)
    result = getattr(xp, name)(ours, axis=axis)
    wanted = getattr(np, name)(theirs, axis=axis)
    np.testing.assert_array_equal(xp.asnumpy(result), wanted)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", [None, 0, 1, -2])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["argmin", "argmax"])
def test_positions_are_the_first(name, dtype, axis, layout):
    theirs, ours = in_layout(_values(dtype), layout)
    result = getattr(xp, name)(ours, axis=axis)
    assert result.dtype == "int64"
    np.testing.assert_array_equal(xp.asnumpy(result), getattr(np, name)(theirs, axis=axis))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("axis", AXES[:-1], ids=str)
@pytest.mark.parametrize("dtype", ["int32", "float16", "float32", "float64"])
@pytest.mark.parametrize("name", ["mean", "var", "std", "logsumexp", "reduce_hypot"])
def test_moments(name, dtype, axis, layout):
    values = _values(dtype) if dtype != "int32" else np.arange(54, dtype=dtype).reshape(6, 9)
    theirs, ours = in_layout(values, layout)
    result = getattr(xp, name)(ours, axis=axis)
    assert result.dtype == ("float64" if dtype == "int32" else dtype)
    wanted = _wanted(name, theirs.astype(result.dtype.name), axis)
    assert distance(xp.asnumpy(result), wanted, floor=1) <= 8


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "argmax"])
def test_reduced_axes_may_stay(name):
    x = xp.reshape(xp.arange(24.0), (2, 3, 4))
    assert getattr(xp, name)(x, axis=1, keepdims=True).shape == (2, 1, 4)
    assert getattr(xp, name)(x, keepdims=True).shape == (1, 1, 1)
    assert getattr(xp, name)(x, axis=-1).shape == (2, 3)


def test_a_correction_is_subtracted():
    x = xp.asarray([1.0, 2.0, 4.0])
    assert float(xp.var(x, correction=1)) == pytest.approx(np.var([1, 2, 4], ddof=1))
    assert float(xp.std(x, correction=1.5)) == pytest.approx(np.std([1, 2, 4], ddof=1.5))


def test_a_dtype_is_computed_in():
    x = xp.asarray([200, 100], dtype="uint8")
    assert xp.sum(x).dtype == "uint64"
    assert xp.sum(x, dtype="float32").dtype == "float32"
    assert int(xp.sum(x, dtype="uint8")) == 300 % 256


def test_truth_values_are_made_before_they_are_added_or_multiplied():
    assert bool(xp.sum(xp.asarray([-1, 1]), dtype="bool")) is True
    assert bool(xp.prod(xp.asarray([16, 16], dtype="uint8"), dtype="bool")) is True
    assert bool(xp.prod(xp.asarray([2, 0]), dtype="bool")) is False


def test_an_output_takes_the_result():
    x = xp.reshape(xp.arange(6.0), (2, 3))
    out = xp.empty(3)
    assert xp.sum(x, axis=0, out=out) is out
    assert out.tolist() == [3, 5, 7]
    with pytest.raises(ValueError, match=r"sum.*\(3,\).*\(2,\)"):
        xp.sum(x, axis=1, out=out)


def test_nothing_is_reduced_to_the_identity():
    empty = xp.zeros((0, 3))
    assert xp.sum(empty, axis=0).tolist() == [0, 0, 0]
    assert xp.prod(empty, axis=0).tolist() == [1, 1, 1]
    assert bool(xp.all(empty)) is True
    assert bool(xp.any(empty)) is False
    assert xp.sum(empty, axis=1).shape == (0,)
    for name in ("max", "min", "argmax", "argmin"):
        with pytest.raises(ValueError, match=f"{name} of no elements"):
            getattr(xp, name)(empty)


def test_a_nan_wins():
    x = xp.asarray([1.0, float("nan"), 3.0])
    for name in ("max", "min", "sum", "mean"):
        assert np.isnan(float(getattr(xp, name)(x)))
    assert int(xp.argmax(x)) == int(xp.argmin(x)) == 1


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("unknown", [complex(1, np.nan), complex(np.nan, 1), complex(np.nan, np.nan)])
@pytest.mark.parametrize("size", [2, 3, 100, 5000])
def test_a_nan_in_either_part_wins_over_what_comes_before_and_after_it(dtype, unknown, size):
    for place in {0, size // 2, size - 1}:
        values = np.arange(size).astype(dtype)
        values[place] = unknown
        x = xp.asarray(values)
        for name in ("max", "min"):
            np.testing.assert_equal(complex(getattr(xp, name)(x)), complex(values[place]))
        for name in ("argmax", "argmin"):
            assert int(getattr(xp, name)(x)) == place


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
@pytest.mark.parametrize("shape", [(1000,), (100_003,), (70, 33), (33, 300), (3, 40_000), (40_000, 3)])
@pytest.mark.parametrize("share", [0.01, 1.0])
def test_of_several_nans_the_first_one_wins(shape, dtype, share):
    random = np.random.default_rng(4)
    values = random.normal(size=shape).astype(dtype)
    values[random.random(shape) < share] = np.nan
    x = xp.asarray(values, copy=True)
    axes = tuple(range(len(shape)))
    for theirs, ours in ((values, x), (values.T, xp.permute_dims(x, axes[::-1]))):
        for axis in (None, *axes):
            for name in ("argmax", "argmin"):
                wanted = getattr(np, name)(theirs, axis=axis)
                np.testing.assert_array_equal(xp.asnumpy(getattr(xp, name)(ours, axis=axis)), wanted)


@pytest.mark.parametrize("shape", [(3, 100_000), (100_000, 3), (70, 70, 70)])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_large_arrays_are_reduced_in_parts(shape, axis):
    values = np.random.default_rng(1).integers(-1000, 1000, shape).astype(np.float64)
    x = xp.asarray(values, copy=True)
    np.testing.assert_array_equal(xp.asnumpy(xp.sum(x, axis=axis)), values.sum(axis=axis))
    np.testing.assert_array_equal(xp.asnumpy(xp.max(x, axis=axis)), values.max(axis=axis))
    np.testing.assert_array_equal(xp.asnumpy(xp.argmin(x, axis=axis)), values.argmin(axis=axis))


@pytest.mark.parametrize(
    ("axis", "error", "message"),
    [
        (2, IndexError, "axis 2 is out of bounds"),
        ((0, 0), ValueError, "axis 0 is named more than once"),
        ("a", TypeError, "'a'"),
    ],
)
def test_wrong_axes_are_refused(axis, error, message):
    with pytest.raises(error, match=message):
        xp.sum(xp.ones((2, 2)), axis=axis)


def test_signatures_are_the_standards():
    assert str(inspect.signature(xp.sum)) == "(x, /, *, axis=None, dtype=None, keepdims=False, out=None)"
    assert str(inspect.signature(xp.max)) == "(x, /, *, axis=None, keepdims=False, out=None)"
    assert str(inspect.signature(xp.var)) == "(x, axis=None, correction=0.0, keepdims=False, *, out=None)"
    assert str(inspect.signature(xp.mean)) == "(x, axis=None, keepdims=False, *, out=None)"


def test_functions_are_documented_by_their_rows():
    assert xp.sum.__doc__.startswith("Sum of the elements along the axes.\n\nParameters\n----------\nx : Array\n")
    assert "\ndtype : dtype" in xp.sum.__doc__
    assert "\ndtype : dtype" not in xp.max.__doc__
    assert "\ncorrection : int or float" in xp.std.__doc__
    assert "\naxis : int, optional" in xp.argmin.__doc__
    assert pickle.loads(pickle.dumps(xp.std)) is xp.std


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: xp.max(x, dtype="int8"), TypeError, "unexpected keyword argument 'dtype'"),
        (lambda x: xp.mean(x, correction=1), TypeError, "unexpected keyword argument 'correction'"),
        (lambda x: xp.sum(), TypeError, r"sum\(\) missing 1 required positional argument: 'x'"),
        (lambda x: xp.sum(x, 0), TypeError, r"sum\(\) takes 1 positional argument"),
        (lambda x: xp.argmax(x, axis=(0, 1)), TypeError, r"expected an integer, got \(0, 1\)"),
        (lambda x: xp.sum(x, out=np.ones(())), TypeError, "out: expected an array of millpond, got"),
    ],
)
def test_wrong_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(xp.ones((2, 2)))


def test_averages_take_their_arguments_by_place_too():
    x = xp.asarray([[1.0, 2.0], [3.0, 6.0]])
    assert xp.mean(x, 0).tolist() == xp.mean(x=x, axis=0).tolist() == [2.0, 4.0]
    assert xp.mean(x, (0, 1), True).tolist() == [[3.0]]
    assert xp.var(x, 0, 1).tolist() == xp.var(x, axis=0, correction=1).tolist() == [2.0, 8.0]
    assert xp.std(x, 1, 0, True).tolist() == [[0.5], [1.5]]
    with pytest.raises(TypeError, match="takes from 1 to 3 positional arguments"):
        xp.mean(x, 0, True, xp.zeros(2))
