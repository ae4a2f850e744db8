"""Every function of the namespace against NumPy and ``array-api-strict``: arrays of every dtype, shape and layout."""

import inspect
import threading
import warnings

import array_api_strict as strict
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import millpond
import millpond.tensor as xp

from . import comparisons as draw
from .comparisons import COMPLEX, EVERY_DTYPE, FLOATS, INEXACT, INTEGERS, NUMERIC, REAL, Comparison, reduction, size_of
from .operands import DTypeName, Operand, given_to


def _device():
    """Return the oracle's device that has the dtypes, and the default of them, that ours has."""
    default = xp.__array_namespace_info__().default_dtypes()["real floating"]
    if "float64" not in FLOATS:
        return strict.Device("no_float64")
    return strict.Device("CPU_DEVICE" if default == "float64" else "device2")


DEVICE = _device()
strict.set_array_api_strict_flags(api_version=xp.__array_api_version__)

ELEMENTWISE = {
    name: draw.of_elements(name, function)
    for name in xp.__all__
    if isinstance(function := getattr(xp, name), xp.ElementwiseFunction)
}
TABLE = {
    **ELEMENTWISE,
    "clip": Comparison(draw.clip, numpy=lambda x, low=None, high=None: np.clip(x, low, high), signs=False),
    "where": Comparison(draw.where, numpy=np.where),
    "isclose": Comparison(draw.isclose, numpy=np.isclose, strict=False),
    "allclose": Comparison(draw.isclose, numpy=np.allclose, strict=False),
    # Reductions and scans.
    "all": reduction("all", EVERY_DTYPE, numpy=np.all, places=0),
    "any": reduction("any", EVERY_DTYPE, numpy=np.any, places=0),
    "argmax": reduction("argmax", ["float16", *REAL], tuples=False, filled=True, numpy=np.argmax, places=0),
    "argmin": reduction("argmin", ["float16", *REAL], tuples=False, filled=True, numpy=np.argmin, places=0),
    "count_nonzero": reduction("count_nonzero", EVERY_DTYPE, numpy=np.count_nonzero, places=0),
    "max": reduction("max", ["float16", *REAL], filled=True, numpy=np.max, places=0, signs=False),
    "min": reduction("min", ["float16", *REAL], filled=True, numpy=np.min, places=0, signs=False),
    "sum": reduction("sum", NUMERIC),
    "prod": reduction("prod", NUMERIC),
    "mean": reduction("mean", INEXACT, filled=True),
    "var": reduction("var", FLOATS, filled=True, power=2, correction=st.sampled_from([0, 1, 0.5])),
    "std": reduction("std", FLOATS, filled=True, power=2, correction=st.sampled_from([0, 1, 0.5])),
    "logsumexp": reduction("logsumexp", FLOATS, filled=True, numpy=draw.logsumexp, strict=False),
    "reduce_hypot": reduction("reduce_hypot", FLOATS, filled=True, numpy=draw.reduce_hypot, strict=False),
    "cumulative_sum": Comparison(draw.accumulated(NUMERIC, special=True), 16, scale=size_of),
    "cumulative_prod": Comparison(draw.accumulated(NUMERIC, special=False), 16),
    "cumulative_logsumexp": Comparison(
        draw.accumulated(FLOATS, special=True), 16, draw.accumulated_logsumexp, strict=False, scale=size_of
    ),
    "diff": Comparison(draw.differences, numpy=np.diff),
    # Shapes.
    "broadcast_arrays": Comparison(draw.several, numpy=np.broadcast_arrays),
    "broadcast_shapes": Comparison(lambda draw_: (tuple(draw_(draw.broadcastable(3))), {})),
    "broadcast_to": Comparison(draw.to_shape, numpy=np.broadcast_to),
    "concat": Comparison(draw.concat, numpy=np.concat),
    "expand_dims": Comparison(draw.expanded, numpy=np.expand_dims),
    "flip": Comparison(draw.flipped, numpy=np.flip),
    "matrix_transpose": Comparison(draw.one(EVERY_DTYPE, least=2), numpy=np.matrix_transpose),
    "moveaxis": Comparison(draw.moved, numpy=np.moveaxis),
    "permute_dims": Comparison(draw.permuted, numpy=np.permute_dims),
    "repeat": Comparison(draw.repeated, numpy=np.repeat),
    "reshape": Comparison(draw.reshape, numpy=np.reshape),
    "roll": Comparison(draw.rolled, numpy=np.roll),
    "squeeze": Comparison(draw.squeezed, numpy=np.squeeze),
    "stack": Comparison(draw.stack, numpy=np.stack),
    "swapaxes": Comparison(draw.swapped, numpy=np.swapaxes, strict=False),
    "tile": Comparison(draw.tiled, numpy=np.tile),
    "unstack": Comparison(draw.unstacked, numpy=np.unstack),
    # Making arrays.
    "arange": Comparison(draw.a_range),
    "linspace": Comparison(draw.spaced, 4, scale=lambda args: max(map(abs, args[:2]))),
    "empty": Comparison(draw.made, determined=lambda result, *_: (result.shape, draw.name_of(result.dtype))),
    "zeros": Comparison(draw.made),
    "ones": Comparison(draw.made),
    "full": Comparison(draw.filled),
    "eye": Comparison(draw.identity),
    "empty_like": Comparison(draw.alike, determined=lambda result, *_: (result.shape, draw.name_of(result.dtype))),
    "zeros_like": Comparison(draw.alike),
    "ones_like": Comparison(draw.alike),
    "full_like": Comparison(draw.filled_alike),
    "tril": Comparison(draw.triangle, numpy=np.tril),
    "triu": Comparison(draw.triangle, numpy=np.triu),
    "meshgrid": Comparison(draw.grid, numpy=lambda *axes, indexing: tuple(np.meshgrid(*axes, indexing=indexing))),
    "asarray": Comparison(draw.one(EVERY_DTYPE), numpy=np.asarray),
    "copy": Comparison(draw.one(EVERY_DTYPE), numpy=np.copy, strict=False),
    "to_numpy": Comparison(draw.one(EVERY_DTYPE), numpy=np.asarray, strict=False),
    "asnumpy": Comparison(draw.one(EVERY_DTYPE), numpy=np.asarray, strict=False),
    "from_dlpack": Comparison(draw.one(EVERY_DTYPE), numpy=np.asarray),
    # Order, search and sets.
    # Zeros of both signs are equal, so their order is open unless it is stable; test_sorting has that.
    "sort": Comparison(draw.ordered, signs=False),
    "argsort": Comparison(draw.ordered),
    "top_k": Comparison(draw.first, numpy=draw.numpys_first, strict=False),
    "searchsorted": Comparison(draw.searched),
    "nonzero": Comparison(draw.one(EVERY_DTYPE, least=1), numpy=np.nonzero),
    "unique_all": Comparison(draw.one(["bool", *INTEGERS])),
    "unique_counts": Comparison(draw.one(["bool", *INTEGERS])),
    "unique_inverse": Comparison(draw.one(["bool", *INTEGERS])),
    "unique_values": Comparison(draw.one(["bool", *INTEGERS])),
    # array-api-strict 2.6 takes no notice of `invert`.
    "isin": Comparison(draw.members, numpy=np.isin, strict=False),
    "take": Comparison(draw.taken, numpy=np.take),
    "take_along_axis": Comparison(draw.taken_along, numpy=np.take_along_axis),
    "extract": Comparison(draw.extracted, numpy=np.extract, strict=False),
    "put": Comparison(draw.put, numpy=draw.written(np.put), strict=False),
    "put_along_axis": Comparison(draw.put_along, numpy=draw.written(np.put_along_axis), strict=False),
    "place": Comparison(draw.placed, numpy=draw.written(np.place), strict=False),
    # Dtypes.
    "astype": Comparison(draw.cast),
    "can_cast": Comparison(draw.pair_of_dtypes),
    "isdtype": Comparison(draw.is_kind),
    "result_type": Comparison(draw.joinable_dtypes, determined=lambda result, *_: draw.name_of(result)),
    "finfo": draw.limits(INEXACT, ["bits", "eps", "max", "min", "smallest_normal"]),
    "iinfo": draw.limits(INTEGERS, ["bits", "max", "min"]),
    # Linear algebra.
    "matmul": Comparison(draw.product, 16, np.matmul, scale=size_of),
    "tensordot": Comparison(draw.contraction, 16, np.tensordot, scale=size_of),
    "vecdot": Comparison(draw.dotted, 16, np.vecdot, scale=size_of),
    "linalg.cholesky": Comparison(draw.self_adjoint(True, {"upper": st.booleans()}), 1e4, scale=size_of),
    "linalg.cross": Comparison(draw.crossed, 16, scale=size_of),
    "linalg.det": Comparison(draw.matrix(), 1e4, scale=lambda args: 20.0**5),
    "linalg.diagonal": Comparison(draw.diagonal(EVERY_DTYPE, special=True), numpy=np.linalg.diagonal),
    "linalg.eig": Comparison(draw.matrix(least=1), 1e4, scale=size_of, determined=draw.spectrum),
    "linalg.eigh": Comparison(draw.self_adjoint(False), 1e4, scale=size_of, determined=draw.projections),
    "linalg.eigvals": Comparison(draw.matrix(least=1), 1e4, scale=size_of, determined=draw.spectrum),
    "linalg.eigvalsh": Comparison(draw.self_adjoint(False), 1e4, scale=size_of),
    "linalg.inv": Comparison(draw.matrix(), 1e4, scale=lambda args: 1.0),
    "linalg.matrix_norm": Comparison(
        draw.matrix(least=1, square=False, options={
            "keepdims": st.booleans(),
            "ord": st.sampled_from(["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf]),
        }), 1e4, scale=size_of,
    ),
    "linalg.matrix_power": Comparison(draw.power, 1e4, scale=lambda args: 20.0**5),
    "linalg.matrix_rank": Comparison(draw.matrix(least=1, square=False)),
    "linalg.outer": Comparison(draw.outer, 4, np.outer),
    "linalg.pinv": Comparison(draw.matrix(least=1), 1e4, scale=lambda args: 1.0),
    "linalg.qr": Comparison(
        draw.matrix(square=False, options={"mode": st.sampled_from(["reduced", "complete"])}),
        1e4, scale=size_of, determined=draw.made_again,
    ),
    "linalg.slogdet": Comparison(draw.matrix(), 1e4, scale=lambda args: 10.0),
    "linalg.solve": Comparison(draw.solved, 1e4, scale=size_of),
    "linalg.svd": Comparison(
        draw.matrix(square=False, options={"full_matrices": st.booleans()}),
        1e4, scale=size_of, determined=draw.made_again,
    ),
    "linalg.svdvals": Comparison(draw.matrix(square=False), 1e4, scale=size_of),
    "linalg.trace": Comparison(draw.diagonal(NUMERIC, special=False), 16, scale=size_of),
    "linalg.vector_norm": Comparison(draw.vector_norm, 1e3, scale=size_of),
    # Fourier transforms.
    "fft.fft": Comparison(draw.transform(COMPLEX), 64, scale=size_of),
    "fft.ifft": Comparison(draw.transform(COMPLEX), 64, scale=size_of),
    "fft.fftn": Comparison(draw.transforms(COMPLEX), 64, scale=size_of),
    "fft.ifftn": Comparison(draw.transforms(COMPLEX), 64, scale=size_of),
    "fft.rfft": Comparison(draw.transform(FLOATS), 64, scale=size_of),
    "fft.irfft": Comparison(draw.transform(COMPLEX, 2), 64, scale=size_of),
    "fft.rfftn": Comparison(draw.transforms(FLOATS), 64, scale=size_of),
    "fft.irfftn": Comparison(draw.transforms(COMPLEX, 2), 64, scale=size_of),
    "fft.hfft": Comparison(draw.transform(COMPLEX, 2), 64, scale=size_of),
    "fft.ihfft": Comparison(draw.transform(FLOATS), 64, scale=size_of),
    "fft.fftfreq": Comparison(draw.frequencies, 4),
    "fft.rfftfreq": Comparison(draw.frequencies, 4),
    "fft.fftshift": Comparison(draw.shifted),
    "fft.ifftshift": Comparison(draw.shifted),
}  # fmt: skip

# The extension has them as well.
TABLE |= {f"linalg.{name}": TABLE[name] for name in ("matmul", "matrix_transpose", "tensordot", "vecdot")}

#: Functions that no oracle has, and what holds them instead.
ALONE = {
    "Array": "a class; its methods are the functions, as test_elementwise and test_attributes show",
    "ElementwiseFunction": "the class of functions that are compared",
    "dtype": "a class; test_attributes and test_promotion",
    "__array_namespace_info__": "what a device has; test_float64",
    "from_numpy": "takes what the oracles are made of: every operand of this file; test_exchange",
    "array_str": "test_printing",
    "array_repr": "test_printing",
    "device_to_dldevice": "test_dlpack",
    "dldevice_to_device": "test_dlpack",
    "get_print_options": "test_printing",
    "set_print_options": "test_printing",
    "print_options": "test_printing",
    "linalg.LinAlgError": "an error",
    **{
        f"linalg.{name}Result": "a named tuple, whose fields are compared"
        for name in ("Eig", "Eigh", "QR", "SVD", "Slogdet")
    },
}


def _names():
    for prefix, module in (("", xp), ("linalg.", xp.linalg), ("fft.", xp.fft)):
        for name in module.__all__:
            if callable(getattr(module, name)):
                yield prefix + name


def test_every_function_is_compared_or_says_why_not():
    assert set(_names()) == {*TABLE, *ALONE}
    assert not set(TABLE) & set(ALONE)


def _named(namespace, name):
    for part in name.split("."):
        namespace = getattr(namespace, part)
    return namespace


def _ours(part):
    return getattr(xp, part) if isinstance(part, DTypeName) else part.ours


def _numpys(part):
    return np.dtype(part) if isinstance(part, DTypeName) else part.theirs


def _stricts(part):
    return getattr(strict, part) if isinstance(part, DTypeName) else strict.asarray(part.theirs, device=DEVICE)


def _operands(argument):
    if isinstance(argument, Operand):
        yield argument
    elif isinstance(argument, (tuple, list)):
        for part in argument:
            yield from _operands(part)


def _leaves(result):
    if isinstance(result, (tuple, list)):
        for part in result:
            yield from _leaves(part)
    else:
        yield result


def _parts(array):
    return np.stack([array.real, array.imag]) if array.dtype.kind == "c" else array


def _assert_near(ours, theirs, comparison, scale):
    """Assert that arrays have the same values, where an oracle may have computed with more digits."""
    assert ours.shape == theirs.shape
    rounded = theirs.astype(ours.dtype)
    with np.errstate(all="ignore"):
        same = (_parts(ours) == _parts(rounded)) | (np.isnan(_parts(ours)) & np.isnan(_parts(rounded)))
        if comparison.places == 0 or ours.dtype.kind not in "fc":
            if comparison.signs and ours.dtype.kind in "fc":
                same &= (np.signbit(_parts(ours)) == np.signbit(_parts(rounded))) | np.isnan(_parts(ours))
            assert same.all(), (ours, theirs)
            return
        if ours.dtype.kind == "c":
            # Of a number with an infinite part, the other part is compared alone.
            whole = np.isfinite(ours) & np.isfinite(rounded)
            for part in (np.real, np.imag):
                _assert_near(part(ours[~whole]), part(theirs[~whole]), comparison, scale)
            off = whole & ~same.all(axis=0)
        else:
            off = ~same
        ours, theirs = ours[off], theirs[off]
        assert np.isfinite(ours).all(), (ours, theirs)
        size = np.maximum(np.abs(theirs), scale)
        errors = np.abs(ours - theirs) - comparison.places * np.finfo(ours.dtype).eps * size
        assert (errors <= np.finfo(ours.dtype).tiny).all(), (ours, theirs)


def _assert_same(result, wanted, comparison, args, is_strict):
    if is_strict:
        assert getattr(result, "_fields", None) == getattr(wanted, "_fields", None)
    ours, theirs = list(_leaves(result)), list(_leaves(wanted))
    assert len(ours) == len(theirs)
    for one, other in zip(ours, theirs, strict=True):
        if not isinstance(one, (xp.Array, np.ndarray)):
            assert one == other
            continue
        one, other = draw.as_numpy(one), draw.as_numpy(other)
        if is_strict:
            assert one.dtype == other.dtype
        _assert_near(one, other, comparison, comparison.scale(args))


#: Seconds after which a call that should have returned waits.
HANG = 60.0


@pytest.mark.parametrize("name", TABLE)
@settings(max_examples=max(1, settings.default.max_examples // 20), deadline=None)
@given(data=st.data())
def test_o5_a_function_waits_for_nothing_but_its_operands(name, data):
    """Operands are there, and their queue is held: also what the host looks at comes at once."""
    args, options = TABLE[name].draw(data.draw)
    changes = name in ("put", "put_along_axis", "place")
    given = [xp.copy(part) if changes and not number else part for number, part in enumerate(given_to(_ours, args))]
    options = given_to(_ours, options)
    millpond.wait()
    gate = millpond.default_device().default_queue.gate()
    late = threading.Timer(HANG, gate.open)
    late.start()
    try:
        _named(xp, name)(*given, **options)
        assert late.is_alive(), "it waited for the gate"
    finally:
        late.cancel()
        gate.open()


@pytest.mark.parametrize("name", TABLE)
@settings(max_examples=settings.default.max_examples * 2 // 5, deadline=None)
@given(data=st.data())
def test_a_function_is_what_the_oracles_say(name, data):
    comparison = TABLE[name]
    args, options = comparison.draw(data.draw)
    changes = name in ("put", "put_along_axis", "place")
    given = [xp.copy(part) if changes and not number else part for number, part in enumerate(given_to(_ours, args))]
    result = _named(xp, name)(*given, **given_to(_ours, options))
    result = comparison.determined(given[0] if changes else result, *args)
    is_standard = all(operand.theirs.dtype != "float16" for operand in _operands(args))
    oracles = []
    if comparison.strict and is_standard:
        oracles.append((_named(strict, name), _stricts))
    if comparison.numpy is not None:
        oracles.append((comparison.numpy, _numpys))
    assert oracles, "there is no oracle"
    for oracle, side in oracles:
        wherever = side is _stricts and not any(_operands(args)) and "device" in inspect.signature(oracle).parameters
        where = {"device": DEVICE} if wherever else {}
        try:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                wanted = oracle(*given_to(side, args), **given_to(side, options), **where)
        except TypeError:
            # Functions take more dtypes than they have to, and NumPy says what for.
            assert side is _stricts
            assert comparison.numpy is not None
            continue
        _assert_same(result, comparison.determined(wanted, *args), comparison, args, side is _stricts)
