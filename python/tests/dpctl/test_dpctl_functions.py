"""Every function of `millpond.dpctl.tensor`, with the arguments of dpctl, beside NumPy."""

import warnings

import numpy as np
import pytest

import millpond.dpctl as dpctl
import millpond.dpctl.tensor as dpt
from millpond.dpctl.utils import ExecutionPlacementError

A = np.asarray([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
N = np.asarray([[3, -1, 2], [6, 5, 4]])
C = np.asarray([1 + 2j, -3j, 4.0])
B = np.asarray([[True, False, True], [False, False, True]])
PLACES = np.asarray([2, 0])

#: Arguments at which a function of one array is computed, where it isn't ``A / 8``.
UNARY = {
    "acosh": A + 1,
    "angle": C,
    "bitwise_invert": N,
    "conj": C,
    "imag": C,
    "logical_not": B,
    "proj": C,
    "real": C,
}
#: Names that NumPy has for the same, or the same in NumPy's words.
IN_NUMPY = {
    "proj": lambda x: x,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "acos": np.arccos,
    "acosh": np.arccosh,
    "asin": np.arcsin,
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "atanh": np.arctanh,
    "bitwise_invert": np.invert,
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
    "pow": np.power,
}
INTEGERS = {"bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"}

UNARY_NAMES = [name for name in dpt.__all__ if isinstance(getattr(dpt, name), type(dpt.sin))]
BINARY_NAMES = [name for name in dpt.__all__ if isinstance(getattr(dpt, name), type(dpt.add))]


def d(host):
    """An array with the elements of one of NumPy."""
    return dpt.asarray(host)


def same(result, expected):
    """Compare a result, or several, with NumPy's."""
    if isinstance(expected, (tuple, list)):
        assert len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            same(one, other)
    elif isinstance(result, dpt.usm_ndarray):
        expected = np.asarray(expected)
        assert result.shape == expected.shape
        assert np.allclose(dpt.asnumpy(result), expected, equal_nan=True)
    else:
        assert result == expected


def written(function, target, *arguments):
    """What an array is after a function wrote to it."""
    target = d(target)
    assert function(target, *arguments) is None
    return target


def scattered(target, places, values, axis=None):
    """What NumPy makes of the same."""
    target = target.copy()
    if axis is None:
        target[places] = values
    else:
        np.put_along_axis(target, places, values, axis)
    return target


#: What each other function computes, and what NumPy makes of it.
CALLS = {
    "__array_namespace_info__": lambda: (
        dpt.__array_namespace_info__().default_dtypes()["integral"],
        np.dtype("int64"),
    ),
    "all": lambda: (dpt.all(d(B), axis=1), B.all(1)),
    "allclose": lambda: (dpt.allclose(d(A), d(A + 1e-9)), True),
    "any": lambda: (dpt.any(d(B), axis=0, keepdims=True), B.any(0, keepdims=True)),
    "arange": lambda: (dpt.arange(1, 10, 3, dtype="i2"), np.arange(1, 10, 3)),
    "argmax": lambda: (dpt.argmax(d(A), axis=1), A.argmax(1)),
    "argmin": lambda: (dpt.argmin(d(A)), A.argmin()),
    "argsort": lambda: (dpt.argsort(d(A), axis=0, descending=True), np.argsort(-A, 0)),
    "asarray": lambda: (dpt.asarray([[1, 2], [3, 4.5]]), [[1, 2], [3, 4.5]]),
    "asnumpy": lambda: (d(dpt.asnumpy(d(A))), A),
    "astype": lambda: (dpt.astype(d(A), "i4"), A.astype("i4")),
    "broadcast_arrays": lambda: (dpt.broadcast_arrays(d(A), d(A[0])), np.broadcast_arrays(A, A[0])),
    "broadcast_to": lambda: (dpt.broadcast_to(d(A[0]), (4, 3)), np.broadcast_to(A[0], (4, 3))),
    "can_cast": lambda: (dpt.can_cast("i4", "f8"), True),
    "clip": lambda: (dpt.clip(d(A), 2, 5), A.clip(2, 5)),
    "concat": lambda: (dpt.concat([d(A), d(A)], axis=1), np.concatenate([A, A], 1)),
    "copy": lambda: (dpt.copy(d(A), order="F"), A),
    "count_nonzero": lambda: (dpt.count_nonzero(d(B), axis=1), np.count_nonzero(B, 1)),
    "cumulative_logsumexp": lambda: (dpt.cumulative_logsumexp(d(A), axis=1), np.log(np.cumsum(np.exp(A), 1))),
    "cumulative_prod": lambda: (dpt.cumulative_prod(d(A), axis=0), A.cumprod(0)),
    "cumulative_sum": lambda: (dpt.cumulative_sum(d(A[0]), include_initial=True), [0, 3, 4, 6]),
    "diff": lambda: (dpt.diff(d(A), n=2, append=d(A)), np.diff(A, n=2, append=A)),
    "dldevice_to_sycl_device": lambda: (dpt.dldevice_to_sycl_device((1, 0)), d(A).sycl_device),
    "empty": lambda: (dpt.empty((2, 0)), np.empty((2, 0))),
    "empty_like": lambda: (dpt.empty_like(d(A)).dtype, A.dtype),
    "expand_dims": lambda: (dpt.expand_dims(d(A), axis=1), A[:, None]),
    "extract": lambda: (dpt.extract(d(B), d(A)), A[B]),
    "eye": lambda: (dpt.eye(2, 3, k=1), np.eye(2, 3, k=1)),
    "finfo": lambda: (dpt.finfo("f4").bits, 32),
    "flip": lambda: (dpt.flip(d(A), axis=1), A[:, ::-1]),
    "from_dlpack": lambda: (dpt.from_dlpack(A), A),
    "from_numpy": lambda: (dpt.from_numpy(A, usm_type="shared"), A),
    "full": lambda: (dpt.full(3, 7, dtype="f4"), np.full(3, 7)),
    "full_like": lambda: (dpt.full_like(d(A), A[0]), np.full_like(A, A[0])),
    "get_print_options": lambda: (dpt.get_print_options()["precision"], 8),
    "iinfo": lambda: (dpt.iinfo(d(N)).max, 2**63 - 1),
    "isdtype": lambda: (dpt.isdtype(d(A).dtype, "real floating"), True),
    "isin": lambda: (dpt.isin(d(N), d(PLACES)), np.isin(N, PLACES)),
    "linspace": lambda: (dpt.linspace(0, 1, 5, endpoint=False), np.linspace(0, 1, 5, endpoint=False)),
    "logsumexp": lambda: (dpt.logsumexp(d(A), axis=1), np.log(np.exp(A).sum(1))),
    "matmul": lambda: (dpt.matmul(d(A), d(A.T)), A @ A.T),
    "matrix_transpose": lambda: (dpt.matrix_transpose(d(A)), A.T),
    "max": lambda: (dpt.max(d(A), axis=0), A.max(0)),
    "mean": lambda: (dpt.mean(d(A), 1, True), A.mean(1, keepdims=True)),
    "meshgrid": lambda: (dpt.meshgrid(d(A[0]), d(A[1]), indexing="ij"), np.meshgrid(A[0], A[1], indexing="ij")),
    "min": lambda: (dpt.min(d(A), axis=(0, 1)), A.min()),
    "moveaxis": lambda: (dpt.moveaxis(d(A), 0, 1), A.T),
    "nonzero": lambda: (dpt.nonzero(d(B)), np.nonzero(B)),
    "ones": lambda: (dpt.ones(3, dtype="i1"), np.ones(3)),
    "ones_like": lambda: (dpt.ones_like(d(A)), np.ones_like(A)),
    "permute_dims": lambda: (dpt.permute_dims(d(A), (1, 0)), A.T),
    "place": lambda: (written(dpt.place, A, d(B), d(A[0])), [[3, 1, 1], [6, 5, 2]]),
    "print_options": lambda: (printed(1.23456, precision=2), "1.23"),
    "prod": lambda: (dpt.prod(d(A), axis=1), A.prod(1)),
    "put": lambda: (written(dpt.put, A[0], d(PLACES), d(A[1, :2])), scattered(A[0], PLACES, A[1, :2])),
    "put_along_axis": lambda: (
        written(lambda x: dpt.put_along_axis(x, d(N[:, :1] % 3), d(A[:, :1]), axis=1), A),
        scattered(A, N[:, :1] % 3, A[:, :1], 1),
    ),
    "reduce_hypot": lambda: (dpt.reduce_hypot(d(A), axis=1), np.sqrt((A**2).sum(1))),
    "repeat": lambda: (dpt.repeat(d(A[0]), d(PLACES[[0, 0, 0]])), np.repeat(A[0], 2)),
    "reshape": lambda: (dpt.reshape(d(A), (3, 2), order="F"), A.reshape((3, 2), order="F")),
    "result_type": lambda: (dpt.result_type(d(N), "f4"), np.dtype("f8")),
    "roll": lambda: (dpt.roll(d(A), 1, axis=1), np.roll(A, 1, 1)),
    "searchsorted": lambda: (dpt.searchsorted(d(np.arange(5)), d(PLACES), side="right"), [3, 1]),
    "set_print_options": lambda: (dpt.set_print_options(precision=8), None),
    "sort": lambda: (dpt.sort(d(A), axis=0, descending=True), -np.sort(-A, 0)),
    "squeeze": lambda: (dpt.squeeze(d(A[None]), 0), A),
    "stack": lambda: (dpt.stack((d(A), d(A)), axis=1), np.stack((A, A), 1)),
    "std": lambda: (dpt.std(d(A), 1, 1.0, True), A.std(1, ddof=1, keepdims=True)),
    "sum": lambda: (dpt.sum(d(N), axis=0, dtype="f4"), N.sum(0)),
    "swapaxes": lambda: (dpt.swapaxes(d(A), 0, 1), A.T),
    "sycl_device_to_dldevice": lambda: (dpt.sycl_device_to_dldevice(d(A).sycl_device), (dpt.DLDeviceType.kDLCPU, 0)),
    "take": lambda: (dpt.take(d(A), d(PLACES), axis=1), A[:, PLACES]),
    "take_along_axis": lambda: (dpt.take_along_axis(d(A), d(N % 3), axis=1), np.take_along_axis(A, N % 3, 1)),
    "tensordot": lambda: (dpt.tensordot(d(A), d(A), ([1], [1])), np.tensordot(A, A, ([1], [1]))),
    "tile": lambda: (dpt.tile(d(A), (2, 1)), np.tile(A, (2, 1))),
    "to_numpy": lambda: (d(dpt.to_numpy(d(A))), A),
    "top_k": lambda: (dpt.top_k(d(A), 2, axis=1, mode="smallest"), ([[1, 2], [4, 5]], [[1, 2], [2, 1]])),
    "tril": lambda: (dpt.tril(d(A), k=-1), np.tril(A, -1)),
    "triu": lambda: (dpt.triu(d(A), k=1), np.triu(A, 1)),
    "unique_all": lambda: (dpt.unique_all(d(PLACES)), ([0, 2], [1, 0], [1, 0], [1, 1])),
    "unique_counts": lambda: (dpt.unique_counts(d(B)), ([False, True], [3, 3])),
    "unique_inverse": lambda: (dpt.unique_inverse(d(PLACES)).inverse_indices, [1, 0]),
    "unique_values": lambda: (dpt.unique_values(d(N % 2)), [0, 1]),
    "unstack": lambda: (dpt.unstack(d(A), axis=1), [A[:, 0], A[:, 1], A[:, 2]]),
    "usm_ndarray_repr": lambda: (dpt.usm_ndarray_repr(d(PLACES)), "usm_ndarray([2, 0])"),
    "usm_ndarray_str": lambda: (dpt.usm_ndarray_str(d(A / 3), precision=1), "[[1.  0.3 0.7]\n [2.  1.7 1.3]]"),
    "var": lambda: (dpt.var(d(A), axis=0), A.var(0)),
    "vecdot": lambda: (dpt.vecdot(d(A), d(A), axis=0), (A * A).sum(0)),
    "where": lambda: (dpt.where(d(B), d(A), 0), np.where(B, A, 0)),
    "zeros": lambda: (dpt.zeros((2, 1), order="F"), np.zeros((2, 1))),
    "zeros_like": lambda: (dpt.zeros_like(d(A), dtype="?"), np.zeros_like(A)),
}


def printed(number, **options):
    with dpt.print_options(**options):
        return str(dpt.asarray(number))


@pytest.mark.parametrize("name", CALLS)
def test_functions_compute_what_numpy_does(name):
    same(*CALLS[name]())


@pytest.mark.parametrize("name", UNARY_NAMES)
def test_functions_of_one_array_compute_what_numpy_does(name):
    x = UNARY.get(name, A / 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = IN_NUMPY.get(name, getattr(np, name, None))(x)
    function = getattr(dpt, name)
    same(function(d(x)), expected)
    out = dpt.empty(x.shape, dtype=expected.dtype)
    assert function(d(x), out=out, order="C") is out
    same(out, expected)
    assert (function.nin, function.nout) == (1, 1)
    assert repr(function) == f"<UnaryElementwiseFunc {name!r}>"
    assert f"{x.dtype.char}->{expected.dtype.char}" in function.types


@pytest.mark.parametrize("name", BINARY_NAMES)
def test_functions_of_two_arrays_compute_what_numpy_does(name):
    x, y = (N, abs(N[1])) if name in INTEGERS else (A, A[1])
    expected = IN_NUMPY.get(name, getattr(np, name, None))(x, y)
    function = getattr(dpt, name)
    same(function(d(x), d(y)), expected)
    # A buffer of the host and a number of Python go to where the array is.
    same(function(d(x), y), expected)
    same(function(2, d(y)), IN_NUMPY.get(name, getattr(np, name, None))(2, y))
    out = dpt.empty(x.shape, dtype=expected.dtype)
    assert function(d(x), d(y), out=out) is out
    same(out, expected)
    assert (function.nin, function.nout) == (2, 1)
    assert f"{x.dtype.char}{y.dtype.char}->{expected.dtype.char}" in function.types
    with pytest.raises(ExecutionPlacementError, match="one operand at least"):
        function(1, [2])
    with pytest.raises(ValueError, match="an operand is"):
        function(d(x), None)


def test_every_function_is_among_these():
    functions = {name for name in dpt.__all__ if callable(getattr(dpt, name))}
    classes = {"DLDeviceType", "Device", "dtype", "usm_ndarray"}
    assert functions == {*CALLS, *UNARY_NAMES, *BINARY_NAMES} | classes


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("sin", (None,)),
        ("sum", ([1],)),
        ("reshape", (A, 6)),
        ("concat", (5,)),
        ("concat", ([A],)),
        ("concat", ([],)),
        ("take", (A, PLACES)),
        ("matmul", (A, A)),
        ("where", (B, 1, 2)),
        ("sort", (A,)),
        ("unique_values", (A,)),
        ("empty_like", (A,)),
        ("asnumpy", (A,)),
        ("usm_ndarray_str", (A,)),
        ("from_dlpack", ([1],)),
        ("isdtype", ("f4", "numeric")),
        ("linspace", (0, 1, 2.5)),
        ("sycl_device_to_dldevice", ("cpu",)),
        ("dldevice_to_sycl_device", ("cpu",)),
        ("set_print_options", ("80",)),
    ],
)
def test_what_is_no_array_is_refused_as_in_dpctl(name, arguments):
    with pytest.raises(TypeError):
        getattr(dpt, name)(*arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "axis"),
    [("sum", (A,), 2), ("flip", (A,), -3), ("concat", ([A, A],), 2), ("sort", (A,), 5), ("expand_dims", (A,), 4)],
)
def test_axes_that_there_are_not_are_numpys_error(name, arguments, axis):
    arguments = [[d(one) for one in argument] if isinstance(argument, list) else d(argument) for argument in arguments]
    with pytest.raises(np.exceptions.AxisError, match="out of bounds"):
        getattr(dpt, name)(*arguments, axis=axis)


# What programs and the tests of dpctl rely on where it isn't as `millpond.tensor`.


def test_an_array_without_axes_is_squeezed_along_its_first():
    x = dpt.asarray(1)
    for axis in (None, 0, -1, (0,), ()):
        assert dpt.squeeze(x, axis) is x
    with pytest.raises(np.exceptions.AxisError):
        dpt.squeeze(x, 1)
    with pytest.raises(ValueError, match="name an axis twice"):
        dpt.squeeze(x, (0, -1))


def test_elements_are_rolled_by_more_than_a_machine_counts():
    x = dpt.arange(4)
    for shift in (np.uint64(2**63 + 2), 2**70 + 2, -(2**70) - 2, 2):
        assert dpt.asnumpy(dpt.roll(x, shift)).tolist() == [2, 3, 0, 1]
    table = dpt.reshape(dpt.arange(6), (2, 3))
    found = dpt.asnumpy(dpt.roll(table, (2**65 + 1, -1), axis=(0, 1)))
    assert found.tolist() == np.roll(np.arange(6).reshape(2, 3), (1, -1), (0, 1)).tolist()
    assert dpt.roll(x[1:1], 11).size == 0
    with pytest.raises(ValueError, match="shift"):
        dpt.roll(table, ((1, 2), (3, 4)), axis=(0, 1))


def test_classes_of_errors_are_dpctls():
    x, elsewhere = dpt.ones(2, sycl_queue=dpctl.SyclQueue()), dpt.ones(2, sycl_queue=dpctl.SyclQueue())
    for error, call in (
        (ValueError, lambda: dpt.concat([x, elsewhere])),
        (ValueError, lambda: dpt.stack([x, elsewhere])),
        (ValueError, lambda: dpt.reshape(x, (2,), copy=...)),
        (ValueError, lambda: dpt.extract(dpt.ones((2, 3), dtype="?"), dpt.ones((3, 2)))),
        (ValueError, lambda: dpt.allclose(x, x, rtol=-1.0)),
        (OverflowError, lambda: dpt.asarray(-(2**63) - 1, dtype="i4")),
        (OverflowError, lambda: dpt.asarray([1, 2**64])),
        (TypeError, lambda: dpt.isin(x, x, invert={})),
        (TypeError, lambda: dpt.isdtype(dpt.int32, float)),
        (TypeError, lambda: dpt.isdtype(dpt.int32, (dpt.int8, int))),
        (TypeError, lambda: dpt.var(x, axis={})),
        (TypeError, lambda: dpt.tile(x, {})),
    ):
        with pytest.raises(error):
            call()


def test_numbers_alone_have_a_dtype():
    for first, second, wanted in ((True, 1, "int64"), (1, 1.0, "float64"), (1.0, 1j, "complex128")):
        assert dpt.result_type(first, second) == dpt.result_type(np.asarray(first)[()], second) == wanted


def test_tolerance_is_that_of_the_larger():
    step = 2.0**-17
    x = dpt.ones(10, dtype="f4")
    assert dpt.allclose(x, x - step, atol=0, rtol=step)
    assert not dpt.allclose(x, x - 2 * step, atol=0, rtol=step)
    assert dpt.allclose(dpt.zeros(1), dpt.full(1, 1e-5), atol=1e-5, rtol=0)
    # The larger of both tolerances, not their sum.
    assert not dpt.allclose(x, x + 1.5, atol=1.0, rtol=0.5)
    strange = dpt.asarray([np.inf, -np.inf, np.nan])
    assert dpt.allclose(strange[:2], strange[:2])
    assert not dpt.allclose(strange[:1], strange[1:2])
    assert not dpt.allclose(strange, strange)
    assert dpt.allclose(strange, strange, equal_nan=True)


def test_there_is_no_spread_of_too_few_elements():
    x = dpt.reshape(dpt.arange(9, dtype="f4"), (3, 3))
    for function in (dpt.var, dpt.std):
        assert np.isnan(float(function(x, correction=9)))
        assert np.isnan(dpt.asnumpy(function(x, axis=1, correction=3))).all()
        assert np.isfinite(dpt.asnumpy(function(x, axis=1, correction=2))).all()


def test_ranges_of_unsigned_numbers_run_down():
    assert dpt.asnumpy(dpt.arange(5, 0, -2, dtype="u8")).tolist() == [5, 3, 1]
    assert dpt.asnumpy(dpt.arange(2**63 + 2, 2**63, -1, dtype="u8")).tolist() == [2**63 + 2, 2**63 + 1]
    assert dpt.asnumpy(dpt.arange(3, dtype="u8")).tolist() == [0, 1, 2]


def test_a_product_of_columns_is_of_columns():
    x = dpt.ones((3, 3), order="F")
    for order, columns in (("K", True), ("A", True), ("F", True), ("C", False)):
        assert dpt.matmul(x, x, order=order).flags.f_contiguous is columns


def test_functions_tell_their_class():
    assert (dpt.abs.__name__, dpt.add.__name__) == ("UnaryElementwiseFunc", "BinaryElementwiseFunc")
