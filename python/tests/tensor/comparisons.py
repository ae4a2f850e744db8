"""What each function of the namespace is compared with, and on which arguments.

The second oracle is ``array-api-strict``, the standard to the letter; NumPy is asked for what goes beyond the standard.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import array_api_strict as strict
import numpy as np
from hypothesis import strategies as st

import millpond.tensor as xp

from . import reference
from .operands import FILLED, MOST_AXES, DTypeName, Operand, broadcastable, laid_out, operands, shapes, values
from .reference import defined, elementwise

#: The dtypes of the default device. Devices without `float64` are compared as well: test_float64.
STANDARD_DTYPES = [dtype for dtype in reference.EVERY_DTYPE if dtype in xp.__array_namespace_info__().dtypes()]
EVERY_DTYPE = ["float16", *STANDARD_DTYPES]
FLOATS = [dtype for dtype in STANDARD_DTYPES if np.dtype(dtype).kind == "f"]
COMPLEX = [dtype for dtype in STANDARD_DTYPES if np.dtype(dtype).kind == "c"]
INEXACT = FLOATS + COMPLEX
INTEGERS = [dtype for dtype in STANDARD_DTYPES if np.dtype(dtype).kind in "iu"]
REAL = FLOATS + INTEGERS
NUMERIC = REAL + COMPLEX


#: The device of the oracle whose arrays are NumPy's.
HOST = strict.Device("CPU_DEVICE")


@dataclass(frozen=True)
class Comparison:
    """How a function is compared."""

    #: Draws positional and keyword arguments.
    draw: Callable[[Any], tuple[tuple, dict]]
    #: How far results may be apart, in units of the last place of `scale`; 0 means the same bits.
    places: float = 0
    #: What NumPy computes for the same arguments, if it is asked at all.
    numpy: Callable[..., Any] | None = None
    #: Whether `array-api-strict` has the function.
    strict: bool = True
    #: The size that errors are measured by, but for that of each element of the result.
    scale: Callable[[tuple], float] = lambda args: 0.0
    #: Whether zeros are told apart by their signs.
    signs: bool = True
    #: What of a result the arguments determine: other vectors may span the same space.
    determined: Callable[..., Any] = lambda result, *args: result


def as_numpy(part):
    """Return what a side made as an array of NumPy."""
    if isinstance(part, xp.Array):
        return xp.asnumpy(part)
    # Arrays of the oracle's other devices aren't NumPy's.
    return np.asarray(part.to_device(HOST) if isinstance(part, type(strict.ones(1))) else part)


def size_of(args):
    """Return a bound of every sum of products of one number from each operand."""
    bound = 1.0
    for part in args:
        if isinstance(part, Operand) and part.theirs.dtype.kind in "iufc":
            with np.errstate(all="ignore"):
                found = np.abs(part.theirs.astype(np.complex128))
            bound *= 1 + found[np.isfinite(found)].sum()
    return bound


def an_axis(draw, x, none=False):
    axes = st.integers(-x.theirs.ndim, x.theirs.ndim - 1)
    return draw(st.none() | axes if none else axes)


def some_axes(draw, x):
    ndim = x.theirs.ndim
    chosen = draw(st.lists(st.sampled_from(range(ndim)), unique=True, max_size=ndim)) if ndim else []
    return tuple(axis - ndim if draw(st.booleans()) else axis for axis in chosen)


def one(dtypes, least=0, most=MOST_AXES, special=True, sizes=None):
    """Take one array and nothing else."""

    def draw(draw):
        shape = draw(shapes(least, most, sizes) if sizes is not None else shapes(least, most))
        return (draw(operands(dtypes, shape, special)),), {}

    return draw


# --- element by element

#: Functions of which complex infinities and zeros have results, or signs of them, that the standard leaves open, or
#: gives otherwise than NumPy (docs/reference/conformance.md). test_special_values has what the standard does say.
OPEN = {"cos", "cosh", "divide", "exp", "expm1", "pow", "reciprocal", "sign", "sin", "sinh", "tan", "tanh"}


def of_elements(name, function):
    dtypes = [np.dtype(signature[0]).name for signature in function.types if "E" not in signature]
    dtypes = [dtype for dtype in dtypes if dtype in EVERY_DTYPE]
    # Products and quotients of complex numbers are rounded more than once.
    is_rounded = function.ulp > 0 or name in ("divide", "multiply", "reciprocal", "square")
    is_exact = not is_rounded or not any(signature[-1] in "efdFD" for signature in function.types)

    is_open = name in OPEN

    def draw(draw):
        dtype = draw(st.sampled_from(dtypes))
        special = not (is_open and dtype in COMPLEX)
        shapes = draw(broadcastable(function.nin, most=4))
        found = [values(dtype, shape, draw(st.integers(0, 2**16)), special) for shape in shapes]
        return tuple(draw(laid_out(part)) for part in defined(name, found)), {}

    return Comparison(
        draw,
        # The error of the oracle, which has no more digits, is added.
        places=0 if is_exact else function.ulp + 8,
        numpy=lambda *args: elementwise(name, list(args)),
        strict=name in strict.__all__,
        # Below one, the logarithm of a sum is as exact as one.
        scale=lambda args: float(name == "logaddexp"),
        # Which of two zeros is the larger one is open.
        signs=name not in ("maximum", "minimum"),
    )


def clip(draw):
    dtype = draw(st.sampled_from(["float16", *REAL]))
    x, low, high = (
        draw(laid_out(values(dtype, shape, draw(st.integers(0, 999)), special=dtype[0] != "f")))
        for shape in draw(broadcastable(3, most=3))
    )
    shape = np.broadcast_shapes(*(part.theirs.shape for part in (x, low, high)))
    x = draw(laid_out(np.broadcast_to(x.theirs, shape).copy()))
    bound = np.minimum(low.theirs, high.theirs), np.maximum(low.theirs, high.theirs)
    low, high = (draw(laid_out(part, different=part.ndim)) for part in bound)
    return (x, *draw(st.sampled_from([(low, high), (low,), (None, high), (low, None)]))), {}


def where(draw):
    dtype = draw(st.sampled_from(EVERY_DTYPE))
    condition, *rest = draw(broadcastable(3, most=4))
    return (draw(operands(["bool"], condition)), *(draw(operands([dtype], shape)) for shape in rest)), {}


def isclose(draw):
    dtype = draw(st.sampled_from([*INEXACT, "int16"]))
    x, y = (draw(operands([dtype], shape)) for shape in draw(broadcastable(2, most=3)))
    options = {"rtol": draw(st.sampled_from([1e-5, 0.5])), "atol": draw(st.sampled_from([1e-8, 1.0]))}
    return (x, y), {**options, "equal_nan": draw(st.booleans())}


# --- reductions and scans


def reduction(
    name, dtypes, tuples=True, filled=False, numpy=None, strict=True, places=16, power=1, signs=True, **options
):
    """Compare a reduction over some axes; other options are strategies of keyword arguments."""

    def draw(draw):
        # Products stay within the range, whatever order they are taken in.
        most = 3 if name == "prod" else MOST_AXES
        shape = draw(shapes(most=most, sizes=FILLED) if filled else shapes(most=most))
        # NumPy divides a complex sum as if by a complex number, so that infinities become NaNs.
        x = draw(operands(dtypes, shape, special=name not in ("prod", "mean")))
        axis = an_axis(draw, x) if shape and draw(st.booleans()) else None
        if tuples and draw(st.booleans()):
            axis = some_axes(draw, x)
        given = {"axis": axis, "keepdims": draw(st.booleans())}
        return (x,), {**given, **{key: draw(kind) for key, kind in options.items()}}

    return Comparison(draw, places, numpy, strict, lambda args: size_of(args) ** power if places else 0, signs)


def accumulated(dtypes, special):
    def draw(draw):
        x = draw(operands(dtypes, draw(shapes(1, 4)), special))
        return (x,), {"axis": an_axis(draw, x), "include_initial": draw(st.booleans())}

    return draw


def accumulated_logsumexp(x, axis, include_initial):
    found = np.logaddexp.accumulate(x.astype(np.longdouble), axis=axis)
    shape = [1 if number == axis % x.ndim else size for number, size in enumerate(x.shape)]
    return np.concatenate([np.full(shape, -np.inf), found], axis) if include_initial else found


def logsumexp(x, axis, keepdims):
    return np.logaddexp.reduce(x.astype(np.longdouble), axis=axis, keepdims=keepdims, initial=-np.inf)


def reduce_hypot(x, axis, keepdims):
    return np.sqrt(np.sum(np.square(x.astype(np.longdouble)), axis=axis, keepdims=keepdims))


# --- shapes


def concat(draw):
    axis, count = draw(st.integers(0, 2)), draw(st.integers(1, 3))
    base = draw(shapes(3, 4))
    dtype = draw(st.sampled_from(EVERY_DTYPE))
    parts = []
    for _ in range(count):
        shape = tuple(draw(st.integers(0, 3)) if number == axis else size for number, size in enumerate(base))
        parts.append(draw(operands([dtype], shape)))
    return (parts,), {"axis": draw(st.sampled_from([axis, axis - len(base)]))}


def stack(draw):
    shape, dtype = draw(shapes(most=4)), draw(st.sampled_from(EVERY_DTYPE))
    parts = [draw(operands([dtype], shape)) for _ in range(draw(st.integers(1, 3)))]
    return (parts,), {"axis": draw(st.integers(-len(shape) - 1, len(shape)))}


def reshape(draw):
    x = draw(operands(EVERY_DTYPE))
    shape = list(draw(st.permutations(x.theirs.shape)))
    while len(shape) > 1 and draw(st.booleans()):
        first, second, *rest = shape
        shape = [first * second, *rest]
    if x.theirs.size and shape and draw(st.booleans()):
        shape[draw(st.integers(0, len(shape) - 1))] = -1
    return (x, tuple(shape)), {}


def permuted(draw):
    x = draw(operands(EVERY_DTYPE))
    axes = draw(st.permutations(range(x.theirs.ndim)))
    return (x, tuple(axis - len(axes) if draw(st.booleans()) else axis for axis in axes)), {}


def moved(draw):
    x = draw(operands(EVERY_DTYPE, draw(shapes(1))))
    source = some_axes(draw, x)
    to = draw(st.permutations(range(x.theirs.ndim)))[: len(source)]
    return (x, source, tuple(to)), {}


def swapped(draw):
    x = draw(operands(EVERY_DTYPE, draw(shapes(1))))
    return (x, an_axis(draw, x), an_axis(draw, x)), {}


def expanded(draw):
    x = draw(operands(EVERY_DTYPE, draw(shapes(most=3))))
    count = draw(st.integers(1, 2))
    ndim = x.theirs.ndim + count
    axes = draw(st.lists(st.integers(0, ndim - 1), min_size=count, max_size=count, unique=True))
    return (x,), {"axis": axes[0] if count == 1 else tuple(axes)}


def squeezed(draw):
    x = draw(operands(EVERY_DTYPE))
    ones = [axis for axis, size in enumerate(x.theirs.shape) if size == 1]
    return (x, tuple(draw(st.lists(st.sampled_from(ones), unique=True)) if ones else ())), {}


def flipped(draw):
    x = draw(operands(EVERY_DTYPE))
    return (x,), {"axis": draw(st.sampled_from([None, some_axes(draw, x)]))}


def rolled(draw):
    x = draw(operands(EVERY_DTYPE, draw(shapes(1))))
    far = st.integers(-9, 9)
    axis = draw(st.sampled_from([None, an_axis(draw, x), some_axes(draw, x) or None]))
    shift = tuple(draw(far) for _ in axis) if isinstance(axis, tuple) else draw(far)
    return (x, shift), {"axis": axis}


def repeated(draw):
    x = draw(operands(EVERY_DTYPE, draw(shapes(1, 4))))
    axis = an_axis(draw, x, none=True)
    size = x.theirs.size if axis is None else x.theirs.shape[axis]
    counts = np.random.default_rng(draw(st.integers(0, 999))).integers(0, 4, size)
    return (x, draw(st.sampled_from([2, draw(laid_out(counts))]))), {"axis": axis}


def tiled(draw):
    return (draw(operands(EVERY_DTYPE, draw(shapes(most=3)))), tuple(draw(st.lists(st.integers(0, 3), max_size=4)))), {}


def to_shape(draw):
    shape, whole = draw(broadcastable(2))
    whole = np.broadcast_shapes(shape, whole)
    return (draw(operands(EVERY_DTYPE, shape)), whole), {}


def several(draw):
    return tuple(draw(operands(EVERY_DTYPE, shape)) for shape in draw(broadcastable(3))), {}


def unstacked(draw):
    x = draw(operands(EVERY_DTYPE, draw(shapes(1))))
    return (x,), {"axis": an_axis(draw, x)}


# --- making arrays


def made(draw):
    return (draw(shapes()),), {"dtype": DTypeName(draw(st.sampled_from(STANDARD_DTYPES)))}


def filled(draw):
    dtype = draw(st.sampled_from(STANDARD_DTYPES))
    value = draw(
        st.sampled_from({"b": [True, False], "u": [0, 7], "i": [-3, 7]}.get(np.dtype(dtype).kind, [0.5, -1.0]))
    )
    return (draw(shapes()), value), {"dtype": DTypeName(dtype)}


def alike(draw):
    dtype = draw(st.sampled_from([None, DTypeName(draw(st.sampled_from(STANDARD_DTYPES)))]))
    return (draw(operands(STANDARD_DTYPES)),), {"dtype": dtype}


def filled_alike(draw):
    x = draw(operands(["int16", "float32", "complex64"]))
    return (x, draw(st.sampled_from([0, 3, -2]))), {}


def a_range(draw):
    whole = draw(st.booleans())
    number = st.integers(-50, 50) if whole else st.integers(-200, 200).map(lambda quarter: quarter / 4)
    step = draw(number.filter(bool))
    return (draw(number), draw(number), step), {"dtype": draw(st.sampled_from([None, DTypeName(FLOATS[-1])]))}


def spaced(draw):
    ends = [draw(st.floats(-1e3, 1e3)) for _ in range(2)]
    dtype = DTypeName(draw(st.sampled_from(INEXACT)))
    return (*ends, draw(st.integers(0, 30))), {"endpoint": draw(st.booleans()), "dtype": dtype}


def identity(draw):
    size = st.integers(0, 5)
    dtype = DTypeName(draw(st.sampled_from(STANDARD_DTYPES)))
    return (draw(size), draw(st.none() | size)), {"k": draw(st.integers(-6, 6)), "dtype": dtype}


def triangle(draw):
    return (draw(operands(EVERY_DTYPE, draw(shapes(2)))),), {"k": draw(st.integers(-6, 6))}


def grid(draw):
    dtype = draw(st.sampled_from(NUMERIC))
    axes = tuple(draw(operands([dtype], (draw(st.integers(0, 4)),))) for _ in range(draw(st.integers(1, 3))))
    return axes, {"indexing": draw(st.sampled_from(["xy", "ij"]))}


# --- order, search and sets


def ordered(draw):
    x = draw(operands(REAL, draw(shapes(1))))
    return (x,), {"axis": an_axis(draw, x), "descending": draw(st.booleans())}


def first(draw):
    x = draw(operands(["float16", *REAL], draw(shapes(1, 3, st.sampled_from([1, 2, 9, 17])))))
    axis = an_axis(draw, x, none=True)
    size = x.theirs.size if axis is None else x.theirs.shape[axis]
    mode = draw(st.sampled_from(["largest", "smallest"]))
    return (x, draw(st.integers(0, size))), {"axis": axis, "mode": mode}


def numpys_first(x, k, axis, mode):
    if axis is None:
        x, axis = x.ravel(), 0
    places = np.argsort(np.flip(x, axis) if mode == "largest" else x, axis=axis, stable=True)
    if mode == "largest":
        places = x.shape[axis] - 1 - np.flip(places, axis)
    places = np.take(places, range(k), axis=axis)
    return np.take_along_axis(x, places, axis), places


def searched(draw):
    dtype = draw(st.sampled_from(REAL))
    array = values(dtype, draw(st.integers(0, 40)), draw(st.integers(0, 999)))
    sorter = np.argsort(array)
    wanted = draw(operands([dtype], draw(shapes(most=3))))
    options = {"side": draw(st.sampled_from(["left", "right"]))}
    if draw(st.booleans()):
        options["sorter"] = draw(laid_out(sorter))
    else:
        array = array[sorter]
    return (draw(laid_out(array)), wanted), options


def members(draw):
    dtype = draw(st.sampled_from(INTEGERS))
    return tuple(draw(operands([dtype], draw(shapes(most=3)))) for _ in range(2)), {"invert": draw(st.booleans())}


def _indices(draw, size, shape):
    random = np.random.default_rng(draw(st.integers(0, 999)))
    return draw(laid_out(random.integers(-size, size, shape) if size else np.zeros(shape, int)))


def taken(draw):
    x = draw(operands(EVERY_DTYPE, draw(shapes(1, sizes=FILLED))))
    axis = an_axis(draw, x)
    return (x, _indices(draw, x.theirs.shape[axis], draw(st.integers(0, 5)))), {"axis": axis}


def taken_along(draw):
    x = draw(operands(EVERY_DTYPE, draw(shapes(1, sizes=FILLED))))
    axis = an_axis(draw, x)
    shape = list(x.theirs.shape)
    shape[axis] = draw(st.integers(0, 4))
    return (x, _indices(draw, x.theirs.shape[axis], shape)), {"axis": axis}


def extracted(draw):
    shape = draw(shapes(1, 4))
    return (draw(operands(["bool"], shape)), draw(operands(EVERY_DTYPE, shape))), {}


def put(draw):
    size = draw(st.integers(1, 9))
    x = draw(operands(EVERY_DTYPE, (size,)))
    indices = _indices(draw, size, draw(st.integers(0, 9)))
    return (x, indices, draw(operands([x.theirs.dtype.name], indices.theirs.shape))), {}


def put_along(draw):
    (x, indices), options = taken_along(draw)
    return (x, indices, draw(operands([x.theirs.dtype.name], indices.theirs.shape))), options


def placed(draw):
    mask, x = extracted(draw)[0]
    return (x, mask, draw(operands([x.theirs.dtype.name], (draw(st.integers(1, 5)),)))), {}


def written(write):
    """Copy the first argument, which a function changes, and return it."""

    def call(x, *args, **options):
        write(copy := x.copy(), *args, **options)
        return copy

    return call


# --- dtypes


def cast(draw):
    # What a number out of the range of an integer becomes is open, and so is the imaginary part of a real number.
    x = draw(operands(["bool", "int8", "uint8", *FLOATS], special=False))
    target = draw(
        st.sampled_from([dtype for dtype in STANDARD_DTYPES if dtype[0] != "u" or x.theirs.dtype.kind in "bu"])
    )
    return (x, DTypeName(target)), {}


def pair_of_dtypes(draw):
    # The standard has no promotion of one kind to another, so that it is open what casts are safe.
    kind = draw(st.sampled_from([["bool"], INTEGERS, INEXACT]))
    return tuple(DTypeName(draw(st.sampled_from(kind))) for _ in range(2)), {}


def joinable_dtypes(draw):
    kind = draw(st.sampled_from([["bool"], [d for d in INTEGERS if d != "uint64"], ["uint8", "uint64"], INEXACT]))
    return tuple(DTypeName(draw(st.sampled_from(kind))) for _ in range(draw(st.integers(1, 3)))), {}


def is_kind(draw):
    kinds = ["bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"]
    kind = st.sampled_from(kinds)
    return (DTypeName(draw(st.sampled_from(STANDARD_DTYPES))), draw(kind | st.lists(kind, max_size=3).map(tuple))), {}


def name_of(dtype):
    """Return the name of a dtype of any side."""
    return str(getattr(dtype, "_np_dtype", dtype))


def limits(dtypes, fields):
    def told(info, *_):
        return tuple(getattr(info, field) for field in fields)

    return Comparison(lambda draw: ((DTypeName(draw(st.sampled_from(dtypes))),), {}), determined=told)


def differences(draw):
    x = draw(operands([*FLOATS, *INTEGERS], draw(shapes(1, 4)), special=False))
    axis, n = an_axis(draw, x), draw(st.integers(0, 3))
    options = {"axis": axis, "n": n}
    for name in ("prepend", "append"):
        # NumPy forgets both if nothing is to be subtracted; test_difference.
        if n > 0 and draw(st.integers(0, 3)) == 0:
            shape = list(x.theirs.shape)
            shape[axis] = draw(st.integers(0, 2))
            options[name] = draw(operands([x.theirs.dtype.name], tuple(shape)))
    return (x,), options


# --- linear algebra


def matrices(draw, dtypes, least=0, square=True, stacks=2):
    """Draw matrices far from singular ones."""
    rows = draw(st.integers(least, 5))
    columns = rows if square else draw(st.integers(least, 5))
    shape = (*draw(shapes(most=stacks)), rows, columns)
    found = values(draw(st.sampled_from(dtypes)), shape, draw(st.integers(0, 2**16)), special=False)
    if square:
        found = (found + 9 * np.eye(rows)).astype(found.dtype)
    return found


def matrix(dtypes=INEXACT, least=0, square=True, options=None):
    def draw(draw):
        x = draw(laid_out(matrices(draw, dtypes, least, square), different=2))
        return (x,), {key: draw(kind) for key, kind in (options or {}).items()}

    return draw


def self_adjoint(definite, options=None):
    def draw(draw):
        x = matrices(draw, INEXACT, least=1)
        x = (x + np.conj(np.swapaxes(x, -1, -2))).astype(x.dtype)
        if definite:
            x = (x @ np.conj(np.swapaxes(x, -1, -2)) + np.eye(x.shape[-1])).astype(x.dtype)
        return (draw(laid_out(x, different=2)),), {key: draw(kind) for key, kind in (options or {}).items()}

    return draw


def product(draw):
    dtype = draw(st.sampled_from(NUMERIC))
    rows, inner, columns = (draw(st.integers(0, 5)) for _ in range(3))
    stacks = draw(broadcastable(2, most=2))
    left, right = (*stacks[0], rows, inner), (*stacks[1], inner, columns)
    if draw(st.integers(0, 3)) == 0:
        left = (inner,)
    if draw(st.integers(0, 3)) == 0:
        right = (inner,)
    return tuple(draw(operands([dtype], shape, special=False)) for shape in (left, right)), {}


def contraction(draw):
    dtype = draw(st.sampled_from(NUMERIC))
    inner, outer = draw(shapes(most=2)), [draw(shapes(most=2)) for _ in range(2)]
    count, left = len(inner), len(outer[0])
    axes = count if draw(st.booleans()) else (tuple(range(left, left + count)), tuple(range(count)))
    pair = [(*outer[0], *inner), (*inner, *outer[1])]
    return tuple(draw(operands([dtype], shape, special=False)) for shape in pair), {"axes": axes}


def dotted(draw):
    dtype = draw(st.sampled_from(NUMERIC))
    size, ndim = draw(st.integers(0, 5)), draw(st.integers(1, 4))
    axis = draw(st.integers(-ndim, -1))
    pair = [list(shape) for shape in draw(broadcastable(2, most=ndim - 1))]
    for shape in pair:
        shape[:0] = [1] * (ndim - 1 - len(shape))
        shape.insert(len(shape) + 1 + axis, size)
    return tuple(draw(operands([dtype], tuple(shape), special=False)) for shape in pair), {"axis": axis}


def crossed(draw):
    dtype = draw(st.sampled_from(NUMERIC))
    shape = list(draw(shapes(most=3)))
    axis = draw(st.integers(-len(shape) - 1, -1))
    shape.insert(len(shape) + 1 + axis, 3)
    return tuple(draw(operands([dtype], tuple(shape), special=False)) for _ in range(2)), {"axis": axis}


def outer(draw):
    dtype = draw(st.sampled_from(NUMERIC))
    return tuple(draw(operands([dtype], (draw(st.integers(0, 5)),), special=False)) for _ in range(2)), {}


def solved(draw):
    a = draw(laid_out(matrices(draw, INEXACT, stacks=1), different=2))
    size, dtype = a.theirs.shape[-1], a.theirs.dtype.name
    shape = draw(st.sampled_from([(size,), (size, 2), (*a.theirs.shape[:-2], size, 3)]))
    return (a, draw(operands([dtype], shape, special=False))), {}


def power(draw):
    x = draw(laid_out(matrices(draw, INEXACT, least=1, stacks=1), different=2))
    return (x, draw(st.integers(-2, 5))), {}


def diagonal(dtypes, special):
    def draw(draw):
        x = draw(operands(dtypes, draw(shapes(2)), special))
        return (x,), {"offset": draw(st.integers(-5, 5))}

    return draw


def vector_norm(draw):
    x = draw(operands(INEXACT, draw(shapes(1, 4, FILLED)), special=False))
    axis = draw(st.sampled_from([None, an_axis(draw, x), some_axes(draw, x) or None]))
    order = draw(st.sampled_from([2, 1, 0, 3, 0.5, -1, np.inf, -np.inf]))
    return (x,), {"axis": axis, "keepdims": draw(st.booleans()), "ord": order}


def made_again(result, *_):
    """Replace factors by their product: they may differ by signs and phases."""
    parts = [as_numpy(part) for part in result]
    if len(parts) == 3:
        left, singular, right = parts
        count = singular.shape[-1]
        return singular, left[..., :, :count] * singular[..., None, :] @ right[..., :count, :], left.shape, right.shape
    return parts[0] @ parts[1], np.abs(parts[1]), parts[0].shape


def spectrum(result, *_):
    """Replace vectors of eigenvalues in no particular order by sums of powers, and vectors by their shape."""
    values, *vectors = result if isinstance(result, tuple) else (result,)
    values = as_numpy(values)
    sums = [np.asarray((values**power).sum(-1)) for power in (1, 2)]
    return (*sums, values.shape, *(part.shape for part in vectors))


def projections(result, *_):
    """Replace eigenvectors by the matrix that they and the eigenvalues make."""
    values, vectors = map(as_numpy, result)
    return values, vectors * values[..., None, :] @ np.conj(np.swapaxes(vectors, -1, -2))


# --- Fourier transforms


def transform(dtypes, least=1):
    def draw(draw):
        x = draw(operands(dtypes, draw(shapes(1, 3, st.integers(least, 6))), special=False))
        options = {"n": draw(st.none() | st.integers(1, 9)), "axis": an_axis(draw, x)}
        return (x,), {**options, "norm": draw(st.sampled_from(["backward", "ortho", "forward"]))}

    return draw


def transforms(dtypes, least=1):
    def draw(draw):
        x = draw(operands(dtypes, draw(shapes(1, 3, st.integers(least, 6))), special=False))
        axes = some_axes(draw, x) or (-1,)
        options = {"axes": axes, "s": draw(st.none() | st.tuples(*[st.integers(1, 7)] * len(axes)))}
        return (x,), {**options, "norm": draw(st.sampled_from(["backward", "ortho", "forward"]))}

    return draw


def frequencies(draw):
    dtype = DTypeName(draw(st.sampled_from(FLOATS)))
    return (draw(st.integers(1, 20)),), {"d": draw(st.sampled_from([1.0, 0.25, 3.0])), "dtype": dtype}


def shifted(draw):
    x = draw(operands([*FLOATS, *COMPLEX], draw(shapes(1, 4))))
    return (x,), {"axes": draw(st.sampled_from([None, some_axes(draw, x) or None]))}
