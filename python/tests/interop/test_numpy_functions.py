"""NumPy's functions and methods, asked of arrays of `millpond.tensor`: NumPy's results, in arrays of millpond."""

import operator

import numpy as np
import pytest

import millpond.tensor as xp
from millpond._numpy import functions, layout, methods, numbers, products

A = np.asarray([[3.0, -1.5, 2.25, 0.5], [1.0, 4.0, -2.0, 8.0], [0.25, 6.0, 7.0, -5.0]])
N = np.asarray([[3, 1, 2, 2], [1, 4, 0, 3], [0, 2, 1, 1]])
WITH_NAN = np.where(np.eye(3, 4) == 1, np.nan, A)
S = np.asarray([[4.0, 1.0, 0.5], [1.0, 5.0, 2.0], [0.5, 2.0, 6.0]])


def _ours(value):
    if isinstance(value, np.ndarray):
        return xp.asarray(value, copy=True)
    return type(value)(map(_ours, value)) if type(value) in (list, tuple) else value


def _same(ours, theirs):
    """Check that a result is NumPy's, and of millpond where NumPy has an array."""
    if isinstance(theirs, tuple):
        assert len(ours) == len(theirs)
        for one, wanted in zip(ours, theirs, strict=True):
            _same(one, wanted)
    elif isinstance(theirs, (np.ndarray, np.floating, np.integer, np.complexfloating)):
        assert isinstance(ours, xp.Array)
        assert (ours.dtype, ours.shape) == (theirs.dtype.name, theirs.shape)
        np.testing.assert_allclose(xp.asnumpy(ours), theirs, rtol=1e-12, atol=1e-12)
    else:
        assert ours == theirs


UFUNCS = [
    *("absolute", "arccos", "arcsinh", "arctan", "ceil", "conjugate", "cos", "exp", "floor", "isfinite", "isnan"),
    *("log1p", "negative", "rint", "sign", "sin", "sqrt", "square", "tanh", "trunc"),
]
PAIRS = [
    "add",
    "arctan2",
    "copysign",
    "divide",
    "equal",
    "floor_divide",
    "hypot",
    "less",
    "maximum",
    "power",
    "subtract",
]


@pytest.mark.parametrize("name", UFUNCS)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_function_of_elements_is_that_of_the_standard(name):
    function = getattr(np, name)
    _same(function(_ours(A)), function(A))


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_function_of_pairs_is_that_of_the_standard(name):
    function = getattr(np, name)
    _same(function(_ours(A), _ours(A[0])), function(A, A[0]))
    _same(function(_ours(A), 2), function(A, 2))
    _same(function(np.float64(2), _ours(A)), function(np.float64(2), A))


@pytest.mark.parametrize("name", ["bitwise_and", "invert", "left_shift", "right_shift"])
def test_a_function_of_bits_is_that_of_the_standard(name):
    function = getattr(np, name)
    _same(function(*[_ours(N)] * function.nin), function(*[N] * function.nin))


def test_functions_are_repeated_along_axes():
    for function in (np.add, np.multiply, np.maximum, np.minimum):
        _same(function.reduce(_ours(A)), function.reduce(A))
        _same(function.reduce(_ours(A), axis=None), function.reduce(A, axis=None))
    _same(np.add.accumulate(_ours(A), axis=1), np.add.accumulate(A, axis=1))
    _same(np.subtract.outer(_ours(A), _ours(A[0])), np.subtract.outer(A, A[0]))
    with pytest.raises(TypeError, match="add.at: millpond.tensor has no such function"):
        np.add.at(_ours(A), 0, 1)


def test_a_result_goes_where_it_is_wanted_and_is_computed_as_it_is_wanted():
    x, out = _ours(A), xp.empty_like(_ours(A))
    assert np.add(x, 1, out=out) is out
    _same(out, A + 1)
    _same(np.add(x, x, dtype="float32"), np.add(A, A, dtype="float32"))
    with pytest.raises(TypeError, match="sin: millpond computes it without where"):
        np.sin(x, where=x > 0)


@pytest.mark.parametrize("how", [operator.add, operator.lt, operator.eq, np.add, np.less])
def test_arrays_of_both_libraries_do_not_mix_in_functions_of_elements(how):
    for pair in ((A.copy(), _ours(A)), (_ours(A), A.copy())):
        with pytest.raises(TypeError, match="is a NumPy array"):
            how(*pair)


def test_a_number_of_numpy_is_no_array():
    x = _ours(A[0])
    _same(np.float64(1) < x, np.float64(1) < A[0])
    _same(np.asarray(2.0) * x, 2.0 * A[0])
    assert np.isfinite(x[0])
    assert bool(min(np.float64(9), x[0]) == 3)


def test_another_library_is_asked_too():
    class Other:
        def __array_ufunc__(self, ufunc, method, *operands, **keywords):
            return "other", ufunc

        def __array_function__(self, function, types, arguments, keywords):
            return "other", function

    assert np.add(_ours(A), Other()) == ("other", np.add)
    assert np.concatenate([_ours(A), Other()]) == ("other", np.concatenate)


CALLS = {
    "all": [(A > 0,), {"axis": 1}],
    "allclose": [(A, A + 1e-9)],
    "any": [(A > 7,), {"axis": 0, "keepdims": True}],
    "argmax": [(A,), {"axis": 1}],
    "argmin": [(A,)],
    "argsort": [(A,), {"axis": None}],
    "array_equal": [(A, A)],
    "broadcast_arrays": [(A, A[0])],
    "broadcast_to": [(A[0], (3, 4))],
    "clip": [(A, 0, 2)],
    "concatenate": [([A, A],), {"axis": 1}],
    "copy": [(A,)],
    "count_nonzero": [(N,), {"axis": 0}],
    "cumprod": [(A,), {"axis": 1}],
    "cumsum": [(A,)],
    "diagonal": [(A, 1)],
    "diff": [(A,), {"axis": 0}],
    "dot": [(A, A.T)],
    "empty_like": [(A[:0],)],
    "expand_dims": [(A, 1)],
    "flip": [(A, 0)],
    "full_like": [(A, 7, "float32")],
    "imag": [(A + 2j,)],
    "isclose": [(A, A + 1e-9)],
    "iscomplexobj": [(A,)],
    "isrealobj": [(A,)],
    "max": [(A, 0)],
    "mean": [(N,), {"axis": 0}],
    "min": [(A,)],
    "moveaxis": [(A, 0, 1)],
    "nanmax": [(WITH_NAN,), {"axis": 0}],
    "nanmean": [(WITH_NAN,), {"axis": 1}],
    "nanmin": [(WITH_NAN,), {"axis": 1, "keepdims": True}],
    "nanprod": [(WITH_NAN,)],
    "nanstd": [(WITH_NAN,), {"axis": 0, "ddof": 1}],
    "nansum": [(WITH_NAN,), {"axis": 0}],
    "nanvar": [(WITH_NAN,)],
    "ndim": [(A,)],
    "nonzero": [(N,)],
    "ones_like": [(A,), {"dtype": "int16"}],
    "prod": [(N,), {"dtype": "float32"}],
    "ravel": [(A, "F")],
    "real": [(A + 2j,)],
    "repeat": [(A, 2), {"axis": 1}],
    "reshape": [(A, (2, -1)), {"order": "F"}],
    "result_type": [(A, "float32")],
    "roll": [(A, 1)],
    "round": [(A, 1)],
    "searchsorted": [(np.sort(A[0]), A[1])],
    "shape": [(A,)],
    "size": [(A, 1)],
    "sort": [(A,), {"axis": 0}],
    "squeeze": [(A[None],)],
    "stack": [([A, A],), {"axis": 1}],
    "std": [(A,), {"axis": 0, "ddof": 1}],
    "sum": [(N.astype("int8"),), {"axis": 0}],
    "swapaxes": [(A, 0, 1)],
    "take": [(A, N[0]), {"mode": "clip"}],
    "tensordot": [(A, A.T, 1)],
    "tile": [(A, 2)],
    "trace": [(A,)],
    "transpose": [(A,)],
    "tril": [(A, 1)],
    "triu": [(A,)],
    "unique": [(N,)],
    "var": [(N,), {"keepdims": True}],
    "where": [(A > 0, A, 0)],
    "zeros_like": [(A,), {"shape": (2, 5)}],
    "linalg.matrix_power": [(S, 3)],
    "linalg.norm": [(A,), {"axis": 0}],
    "linalg.solve": [(S, S[0])],
    **{f"linalg.{name}": [(S,)] for name in products._ALONE if name not in ("eigh", "qr", "svd")},
    **{f"fft.{name}": [(A + 0j if name in ("irfft", "hfft") else A,)] for name in products._TRANSFORMS},
}
#: Whose parts may be of either sign.
UP_TO_SIGNS = {"linalg.eigh", "linalg.qr", "linalg.svd"}


def test_every_function_that_is_answered_is_tried():
    answered = {*layout.ANSWERS, *numbers.ANSWERS, *products.ANSWERS, "result_type"}
    assert answered == CALLS.keys() | UP_TO_SIGNS
    assert len(functions._ANSWERS) == len(answered)


@pytest.mark.parametrize("name", CALLS)
def test_a_function_is_computed_by_millpond(name):
    function = operator.attrgetter(name)(np)
    arguments, keywords = (*CALLS[name], {})[:2]
    _same(function(*map(_ours, arguments), **keywords), function(*arguments, **keywords))


@pytest.mark.parametrize("name", sorted(UP_TO_SIGNS))
def test_a_decomposition_is_computed_by_millpond(name):
    function = operator.attrgetter(name)(np)
    for one, wanted in zip(function(_ours(S)), function(S), strict=True):
        assert isinstance(one, xp.Array)
        np.testing.assert_allclose(np.abs(xp.asnumpy(one)), np.abs(wanted), rtol=1e-10)


def test_what_millpond_has_not_got_is_computed_of_copies():
    x = _ours(A)
    for result, wanted in (
        (np.median(x), np.median(A)),
        (np.sum(x, where=A > 0), np.sum(A, where=A > 0)),
        (np.vstack([x, x]), np.vstack([A, A])),
        (np.concatenate([x, A]), np.concatenate([A, A])),
        (np.sort(_ours(N), kind="stable", axis=None).tolist(), np.sort(N, axis=None)),
    ):
        assert not isinstance(result, xp.Array)
        np.testing.assert_array_equal(result, wanted)
    assert np.allclose(x, A)


def test_what_would_write_to_a_copy_is_refused():
    x = _ours(A)
    for write in (
        lambda: np.copyto(x, A),
        lambda: np.put(x, [0], [9.0]),
        lambda: np.place(x, A > 0, [9.0]),
        lambda: np.putmask(x, A > 0, 9.0),
        lambda: np.fill_diagonal(x, 9.0),
        lambda: np.median(A, axis=0, out=x[0]),
        lambda: np.nan_to_num(x, copy=False),
    ):
        with pytest.raises(TypeError, match="NumPy can't write to an array of millpond"):
            write()
    np.testing.assert_array_equal(xp.asnumpy(x), A)


METHODS = {
    **{name: [(), {}] for name in ("all", "any", "argmax", "argmin", "argsort", "conj", "copy", "cumprod", "cumsum")},
    **{name: [(0,), {}] for name in ("max", "mean", "min", "prod", "std", "sum", "var", "diagonal", "trace")},
    **{name: [(), {}] for name in ("flatten", "nonzero", "ravel", "round", "squeeze", "transpose")},
    "astype": [("float32",), {"copy": False}],
    "clip": [(0, 2), {}],
    "dot": [(A[0],), {}],
    "repeat": [(2,), {"axis": 1}],
    "reshape": [(2, -1), {}],
    "searchsorted": [(A[0],), {}],
    "swapaxes": [(0, 1), {}],
    "take": [(N[0],), {}],
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_numpys(name):
    (arguments, keywords), theirs = METHODS[name], A[1] if name == "searchsorted" else A
    theirs = np.sort(theirs) if name == "searchsorted" else theirs
    result = getattr(_ours(theirs), name)(*map(_ours, arguments), **keywords)
    _same(result, getattr(theirs, name)(*arguments, **keywords))


def test_every_method_is_tried():
    assert {*methods._SAME.split(), *methods._OTHERS} == METHODS.keys()


def test_shapes_are_given_to_methods_in_one_or_in_several():
    x = _ours(A)
    assert x.reshape(2, 6).shape == x.reshape((2, 6)).shape == (2, 6)
    assert x.transpose(1, 0).shape == x.transpose((1, 0)).shape == x.transpose(None).shape == (4, 3)
    assert x.flatten().data.ptr != x.data.ptr
    with pytest.raises(TypeError, match=r"sum: millpond computes it without some of \(where=True\)"):
        x.sum(where=True)


def test_a_dtype_has_numpys_type():
    assert xp.float32.type is np.float32
    assert np.issubdtype(xp.ones(1).dtype, np.floating)


def test_an_array_without_axes_is_a_number_where_one_is_asked_for():
    n = xp.asarray(3)
    assert xp.arange(n).tolist() == xp.arange(0, n).tolist() == [0, 1, 2]
    assert xp.arange(xp.asarray(0.5), 3, xp.asarray(1.0)).tolist() == [0.5, 1.5, 2.5]
    assert xp.linspace(xp.asarray(0.0), xp.asarray(1.0), 3).tolist() == [0.0, 0.5, 1.0]
    with pytest.raises(TypeError, match="expected a number"):
        xp.arange(xp.ones(1))


def test_an_array_is_walked_backwards():
    x = _ours(N)
    assert [row.tolist() for row in reversed(x)] == N[::-1].tolist()
    with pytest.raises(TypeError):
        reversed(xp.asarray(1))


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_arrays_without_axes_stand_among_numbers(dtype):
    theirs = np.asarray([2, 3], dtype=dtype)
    c, s = xp.asarray(theirs)
    for given, wanted in (
        ([[c, 1], [0, s]], [[2, 1], [0, 3]]),
        ([[1, c], [s, 0]], [[1, 2], [3, 0]]),
        ((0, c), [0, 2]),
        ([c, s], [2, 3]),
    ):
        found = xp.asarray(given)
        assert (found.dtype, found.tolist()) == (dtype, wanted)
    assert xp.asarray([1, c, np.float64(2)]).dtype == xp.float64
    with pytest.raises(TypeError, match="expected a number"):
        xp.asarray([1, xp.ones(1)])
