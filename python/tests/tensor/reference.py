"""What NumPy says that an operation gives, and how far a result is from it."""

import numpy as np

import millpond.tensor as xp

EVERY_DTYPE = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
REAL_FLOATS = ["float16", "float32", "float64"]
WIDER = {
    "float16": np.float64,
    "float32": np.float64,
    "float64": np.longdouble,
    "complex64": np.complex128,
    "complex128": np.clongdouble,
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -0.5, 1.5, 2.5, 3.0, -3.0]


def numbers(dtype, shape, seed=0):
    """Numbers of a dtype that aren't all alike: small, large and special ones."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    if dtype.kind == "b":
        values = random.integers(0, 2, count).astype(dtype)
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = random.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
        small = random.integers(max(info.min, -9), 10, count).astype(dtype)
        values = np.where(random.random(count) < 0.7, small, values)
    else:
        values = random.normal(0, 3, count)
        if dtype.kind == "c":
            values = values + 1j * random.normal(0, 3, count)
        else:
            special = min(len(SPECIAL), count // 2)
            values[:special] = SPECIAL[:special]
            random.shuffle(values)
        values = values.astype(dtype)
    return values.reshape(shape)


def normals(dtype, shape, seed=0):
    """Numbers of a dtype without special ones: floats of a normal distribution, integers of the whole range."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return random.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    values = random.normal(size=shape)
    if dtype.kind == "c":
        values = values + 1j * random.normal(size=shape)
    return values.astype(dtype)


def widest(array):
    """As exact as NumPy can be asked to compute without its linear algebra."""
    return array.astype({"f": np.longdouble, "c": np.clongdouble}.get(array.dtype.kind, array.dtype))


def distance(result, wanted, floor=0.0):
    """Return the largest error in units of the last place; infinite where one is a NaN or an infinity alone.

    ``wanted`` has more digits than ``result``. Complex numbers are compared as points of the plane: an error counts
    against the length of what is wanted.
    """
    result, wanted = np.asarray(result), np.asarray(wanted)
    assert result.shape == wanted.shape
    if result.dtype.kind not in "fc":
        return 0.0 if np.array_equal(result, wanted.astype(result.dtype)) else np.inf
    with np.errstate(all="ignore"):
        rounded = wanted.astype(result.dtype)
        same = (result == rounded) | (np.isnan(result) & np.isnan(rounded))
        if same.all():
            return 0.0
        result, wanted, rounded = result[~same], wanted[~same], rounded[~same]
        if not (np.isfinite(result) & np.isfinite(rounded)).all():
            return np.inf
        size = np.maximum(np.abs(rounded), np.asarray(floor, dtype=rounded.real.dtype))
        errors = np.abs(result.astype(wanted.dtype) - wanted) / np.spacing(size)
    return float(errors.max())


def in_layout(values, layout):
    """Put values of two axes into an array of ours that lies so in memory; return it with NumPy's."""
    rows, columns = values.shape
    if layout == "contiguous":
        return values, xp.asarray(values, copy=True)
    if layout == "behind":
        return values, xp.asarray(np.concatenate([values[-1:], values]), copy=True)[1:]
    if layout == "sliced":
        base = np.zeros((2 * rows, 3 * columns), dtype=values.dtype)
        base[::2, 1::3] = values
        return values, xp.asarray(base, copy=True)[::2, 1::3]
    if layout == "reversed":
        return values, xp.asarray(values[::-1, ::-1].copy(), copy=True)[::-1, ::-1]
    if layout == "transposed":
        return values, xp.asarray(np.ascontiguousarray(values.T), copy=True).T
    if layout == "column":
        base = np.zeros((rows + 1, columns, 2), dtype=values.dtype)
        base[1:, :, 1] = values
        return values, xp.asarray(base, copy=True)[1:, :, 1]
    assert layout == "broadcast"
    row = values[:1]
    return np.broadcast_to(row, values.shape), xp.broadcast_to(xp.asarray(row, copy=True), values.shape)


LAYOUTS = ["contiguous", "behind", "sliced", "reversed", "transposed", "column", "broadcast"]


def _proj(x):
    if x.dtype.kind == "f":
        return np.where(np.isinf(x), np.abs(x), x)
    result, infinite = x.copy(), np.isinf(x)
    result.real[infinite] = np.inf
    result.imag[infinite] = np.copysign(0.0, x.imag[infinite])
    return result


def _neighbour(x1, x2):
    """Return NumPy's neighbour; of equal halves, two zeros among them, the second one as for other floats."""
    with np.errstate(all="ignore"):
        return np.where(x1 == x2, x2, np.nextafter(x1, x2))


#: Functions that NumPy doesn't have, or computes in another way.
FORMULAS = {
    "proj": _proj,
    "nextafter": _neighbour,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "angle": lambda x: np.where(np.isnan(x), x, np.angle(x)) if x.dtype.kind == "f" else np.angle(x),
}


def defined(name, operands):
    """Keep operands of an element-wise function where it is defined, so that errors are those of arithmetic."""
    kind = operands[0].dtype.kind
    if name in ("floor_divide", "remainder") and kind in "iu":
        operands[1][operands[1] == 0] = 1
    if name == "floor_divide" and kind == "f":
        operands = [np.where(np.isfinite(part), part, 2).astype(part.dtype) for part in operands]
        operands[1][operands[1] == 0] = 1
    if name in ("bitwise_left_shift", "bitwise_right_shift", "pow") and kind in "iu":
        operands[1] = np.abs(operands[1] % np.asarray(5, dtype=operands[1].dtype))
    if name == "pow" and kind == "c":
        operands[1] = np.round(operands[1].real).astype(operands[1].dtype)
    return operands


def elementwise(name, operands):
    """Return what NumPy computes for an element-wise function, with more digits where that matters."""
    function = FORMULAS.get(name) or getattr(np, name)
    if operands[0].dtype.kind in "fc" and name not in {"nextafter", "floor_divide", "remainder"}:
        operands = [part.astype(WIDER[part.dtype.name]) for part in operands]
    with np.errstate(all="ignore"):
        return function(*operands)
