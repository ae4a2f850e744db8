"""Decompositions, solutions and norms: what defines them holds, and NumPy agrees where they are unique."""

import contextlib
import doctest
import pickle

import numpy as np
import pytest

import millpond
import millpond.tensor as xp
from millpond.tensor import linalg

from .reference import normals

FLOATS = ["float32", "float64", "complex64", "complex128"]
SQUARE = [(0, 0), (1, 1), (2, 2), (5, 5), (3, 4, 4), (2, 0, 3, 3), (33, 33), (70, 70)]
ANY = [*SQUARE, (1, 4), (4, 1), (0, 3), (3, 0), (5, 3), (3, 5), (2, 3, 7, 4), (90, 40), (40, 90)]


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def wide(x):
    return x.astype(np.complex128 if np.dtype(x.dtype).kind == "c" else np.float64)


def eps(dtype):
    return np.finfo(dtype).eps


def assert_near(result, wanted, scale, dtype, size, constant=8):
    """The error is within what the page says: ``c * n * u * scale``."""
    error = np.abs(wide(result) - wanted)
    assert np.all(error <= constant * max(size, 1) * eps(dtype) * scale), (error.max(), scale)


def assert_unitary(columns, dtype):
    product = adjoint(wide(columns)) @ wide(columns)
    assert_near(product, np.eye(columns.shape[-1]), 1.0, dtype, max(columns.shape[-2:]))


def norms(x):
    """Frobenius norms, to be broadcast against the matrices."""
    return np.sqrt((np.abs(wide(x)) ** 2).sum(axis=(-1, -2), keepdims=True))


def observed(call, x):
    """Call, and wait for what it gives."""
    result = call(x)
    return xp.asnumpy(result[0] if isinstance(result, tuple) else result)


def positive(dtype, shape):
    x = normals(dtype, shape)
    return (x @ adjoint(x) + shape[-1] * np.eye(shape[-1])).astype(dtype)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SQUARE, ids=str)
def test_triangles_of_definite_matrices(dtype, shape):
    x = positive(dtype, shape)
    for upper in (False, True):
        # What lies in the other triangle doesn't count.
        spoilt = np.where(np.tri(shape[-1], k=-1, dtype=bool).T ^ upper & ~np.eye(shape[-1], dtype=bool), np.nan, x)
        factor = xp.asnumpy(linalg.cholesky(xp.asarray(spoilt.astype(dtype)), upper=upper))
        assert factor.dtype == dtype
        np.testing.assert_array_equal(factor, np.triu(factor) if upper else np.tril(factor))
        product = adjoint(wide(factor)) @ wide(factor) if upper else wide(factor) @ adjoint(wide(factor))
        assert_near(product, wide(x), norms(x), dtype, shape[-1])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SQUARE, ids=str)
def test_determinants_and_inverses(dtype, shape):
    x = normals(dtype, shape) + 2 * np.eye(shape[-1], dtype=dtype)
    ours = xp.asarray(x)
    condition = np.linalg.cond(wide(x))[..., None, None] if shape[-1] else 1.0
    inverse = xp.asnumpy(linalg.inv(ours))
    assert inverse.dtype == dtype
    assert_near(wide(inverse) @ wide(x), np.eye(shape[-1]), condition * 4, dtype, shape[-1])
    sign, logarithm = (xp.asnumpy(part) for part in linalg.slogdet(ours))
    wanted = np.linalg.slogdet(wide(x))
    np.testing.assert_allclose(wide(sign), wanted.sign, atol=1e-4 if dtype in ("float32", "complex64") else 1e-11)
    np.testing.assert_allclose(logarithm, wanted.logabsdet, rtol=1e-4, atol=1e-5)
    assert logarithm.dtype == np.zeros(0, dtype).real.dtype
    if shape[-1] < 40:
        np.testing.assert_allclose(wide(xp.asnumpy(linalg.det(ours))), np.linalg.det(wide(x)), rtol=2e-4)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3, 3), (3,)),
        ((3, 3), (3, 1)),
        ((3, 3), (3, 4)),
        ((5, 3, 3), (3,)),
        ((5, 3, 3), (3, 2)),
        ((5, 3, 3), (5, 3, 2)),
        ((3, 3), (5, 3, 2)),
        ((4, 1, 3, 3), (5, 3, 2)),
        ((0, 0), (0,)),
        ((0, 0), (0, 2)),
        ((2, 2), (2, 0)),
        ((1, 1), (1,)),
        ((80, 80), (80, 3)),
    ],
    ids=str,
)
def test_equations_are_solved(dtype, left, right):
    a, b = normals(dtype, left) + 2 * np.eye(left[-1], dtype=dtype), normals(dtype, right, 1)
    x = xp.asnumpy(linalg.solve(xp.asarray(a), xp.asarray(b)))
    assert x.dtype == dtype
    full, sides = (x, b) if b.ndim > 1 else (x[..., None], b[:, None])
    assert x.shape == (np.broadcast_shapes(left[:-1], right) if b.ndim == 1 else full.shape)
    residual = wide(a) @ wide(full) - wide(sides)
    bound = 16 * max(left[-1], 1) * eps(dtype) * (norms(a) * np.abs(full).max(axis=-2, keepdims=True, initial=0))
    assert np.all(np.abs(residual) <= bound + eps(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", ANY, ids=str)
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_orthogonal_and_triangular_factors(dtype, shape, mode):
    x = normals(dtype, shape)
    result = linalg.qr(xp.asarray(x), mode=mode)
    q, r = xp.asnumpy(result.Q), xp.asnumpy(result.R)
    wanted = np.linalg.qr(x, mode=mode)
    assert (q.shape, r.shape, q.dtype, r.dtype) == (wanted[0].shape, wanted[1].shape, x.dtype, x.dtype)
    np.testing.assert_array_equal(r, np.triu(r))
    assert_unitary(q, dtype)
    assert_near(wide(q) @ wide(r), wide(x), norms(x), dtype, max(shape[-2:]))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", ANY, ids=str)
@pytest.mark.parametrize("full", [True, False])
def test_singular_values_and_vectors(dtype, shape, full):
    x = normals(dtype, shape)
    u, s, vh = (xp.asnumpy(part) for part in linalg.svd(xp.asarray(x), full_matrices=full))
    rows, columns = shape[-2:]
    least = min(rows, columns)
    assert u.shape == (*shape[:-2], rows, rows if full else least)
    assert vh.shape == (*shape[:-2], columns if full else least, columns)
    assert (u.dtype, s.dtype, vh.dtype) == (x.dtype, x.real.dtype, x.dtype)
    assert_unitary(u, dtype)
    assert_unitary(adjoint(vh), dtype)
    assert np.all(s >= 0)
    assert np.all(np.diff(s, axis=-1) <= 0)
    product = (wide(u)[..., :least] * s[..., None, :]) @ wide(vh)[..., :least, :]
    assert_near(product, wide(x), norms(x), dtype, max(rows, columns))
    values = xp.asnumpy(linalg.svdvals(xp.asarray(x)))
    if x.size:
        assert_near(values, np.linalg.svd(wide(x), compute_uv=False), norms(x)[..., 0], dtype, max(rows, columns))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SQUARE, ids=str)
def test_self_adjoint_eigenvalues(dtype, shape):
    x = normals(dtype, shape)
    x = (x + adjoint(x)).astype(dtype)
    spoilt = np.where(np.tri(shape[-1], dtype=bool), x, 99).astype(dtype)
    values, vectors = (xp.asnumpy(part) for part in linalg.eigh(xp.asarray(spoilt)))
    assert (values.dtype, vectors.dtype) == (x.real.dtype, x.dtype)
    assert np.all(np.diff(values, axis=-1) >= 0)
    assert_unitary(vectors, dtype)
    assert_near(wide(vectors) * values[..., None, :] @ adjoint(wide(vectors)), wide(x), norms(x), dtype, shape[-1])
    assert_near(xp.asnumpy(linalg.eigvalsh(xp.asarray(spoilt))), values, norms(x)[..., 0], dtype, shape[-1])


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SQUARE, ids=str)
def test_eigenvalues_of_any_matrix(dtype, shape):
    x = normals(dtype, shape)
    values, vectors = (xp.asnumpy(part) for part in linalg.eig(xp.asarray(x)))
    assert values.dtype == vectors.dtype == np.result_type(dtype, np.complex64)
    lengths = np.sqrt((np.abs(vectors) ** 2).sum(axis=-2))
    np.testing.assert_allclose(lengths, np.ones(lengths.shape), rtol=1e-5)
    assert_near(wide(x) @ wide(vectors), wide(vectors) * values[..., None, :], norms(x), dtype, shape[-1])
    others = xp.asnumpy(linalg.eigvals(xp.asarray(x)))
    assert others.dtype == values.dtype
    distance = np.abs(others[..., :, None] - values[..., None, :])
    assert np.all(distance.min(axis=-1, initial=1) < 1e-3)
    assert np.all(distance.min(axis=-2, initial=1) < 1e-3)


def test_eigenvalues_of_a_rotation_are_a_pair():
    values = xp.asnumpy(linalg.eigvals(xp.asarray([[0.0, -1.0], [1.0, 0.0]])))
    np.testing.assert_allclose(sorted(values.imag), [-1, 1], atol=1e-15)
    np.testing.assert_allclose(values.real, 0, atol=1e-15)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", ANY, ids=str)
def test_pseudo_inverses_and_ranks(dtype, shape):
    x = normals(dtype, shape)
    if min(shape[-2:]) > 2:
        x[..., -1, :] = x[..., 0, :]
    result = xp.asnumpy(linalg.pinv(xp.asarray(x)))
    assert (result.shape, result.dtype) == (adjoint(x).shape, x.dtype)
    size, scale = max(shape[-2:]), norms(x)
    assert_near(wide(x) @ wide(result) @ wide(x), wide(x), 40 * scale * norms(result) * scale, dtype, size)
    rank = linalg.matrix_rank(xp.asarray(x))
    assert rank.dtype == xp.int64
    np.testing.assert_array_equal(xp.asnumpy(rank), np.linalg.matrix_rank(wide(x), rtol=size * eps(dtype)))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (2, 4, 1)])
def test_zeros_have_no_rank_and_zeros_for_an_inverse(dtype, shape):
    x = xp.zeros(shape, dtype=dtype)
    assert not xp.any(linalg.matrix_rank(x))
    assert not xp.any(linalg.pinv(x))


@pytest.mark.parametrize("shape", [(2, 100), (100, 2)])
def test_the_longer_side_counts_for_the_tolerance(shape):
    x = np.zeros(shape)
    # Below 100 times the rounding, and far above twice.
    x[0, 0], x[1, 1] = 1, 50 * eps("float64")
    assert int(linalg.matrix_rank(xp.asarray(x))) == 1
    assert float(linalg.pinv(xp.asarray(x))[1, 1]) == 0


def test_tolerances_are_numbers_or_one_for_each_matrix():
    x = xp.asarray(np.stack([np.diag([1.0, 0.1, 0.001])] * 2))
    np.testing.assert_array_equal(xp.asnumpy(linalg.matrix_rank(x, rtol=0.05)), [2, 2])
    np.testing.assert_array_equal(xp.asnumpy(linalg.matrix_rank(x, rtol=xp.asarray([0.05, 0.5]))), [2, 1])
    inverse = xp.asnumpy(linalg.pinv(x, rtol=xp.asarray([0.05, 0.5])))
    np.testing.assert_allclose(inverse, [np.diag([1, 10, 0]), np.diag([1, 0, 0])], atol=1e-14)
    with pytest.raises(TypeError, match="rtol: expected a number or an array"):
        linalg.pinv(x, rtol="much")


@pytest.mark.parametrize("power", [-3, -1, 0, 1, 2, 3, 7, 10])
def test_powers(power):
    x = np.asarray([[[1, 2], [3, 5]], [[0, 1], [1, 0]]])
    if power < 0:
        x = x.astype(np.float64)
    result = linalg.matrix_power(xp.asarray(x), power)
    np.testing.assert_allclose(xp.asnumpy(result), np.linalg.matrix_power(x, power), rtol=1e-12, atol=1e-12)
    assert result.dtype.name == x.dtype.name
    ours = xp.asarray(x)
    linalg.matrix_power(ours, 1)[0, 0, 0] = 99
    assert int(ours[0, 0, 0]) == x[0, 0, 0]


@pytest.mark.parametrize("dtype", ["int32", "float16", *FLOATS])
def test_crosses_outers_diagonals_and_traces(dtype):
    random = np.random.default_rng(0)
    a, b = random.integers(-5, 6, (4, 3)).astype(dtype), random.integers(-5, 6, (2, 1, 3)).astype(dtype)
    if a.dtype.kind == "c":
        a += 1j
    np.testing.assert_array_equal(xp.asnumpy(linalg.cross(xp.asarray(a), xp.asarray(b))), np.cross(a, b))
    turned = linalg.cross(xp.asarray(a.T), xp.asarray(b[0].T), axis=-2)
    np.testing.assert_array_equal(xp.asnumpy(turned), np.cross(a.T, b[0].T, axis=-2, axisc=0).reshape(3, 4))
    np.testing.assert_array_equal(
        xp.asnumpy(linalg.outer(xp.asarray(a[0]), xp.asarray(b[0, 0]))), np.outer(a[0], b[0, 0])
    )
    for offset in (-5, -1, 0, 2, 9):
        x = random.integers(-9, 9, (2, 4, 5)).astype(dtype)
        ours = linalg.diagonal(xp.asarray(x), offset=offset)
        np.testing.assert_array_equal(xp.asnumpy(ours), np.linalg.diagonal(x, offset=offset))
        trace = xp.asnumpy(linalg.trace(xp.asarray(x), offset=offset))
        np.testing.assert_array_equal(trace, np.linalg.trace(x, offset=offset))
    assert linalg.trace(xp.ones((2, 2), dtype="int8")).dtype == xp.int64
    assert linalg.trace(xp.ones((2, 2)), dtype="complex64").dtype == xp.complex64
    with pytest.raises(ValueError, match="cross: axis -1 has size 2"):
        linalg.cross(xp.ones(2), xp.ones(2))
    with pytest.raises(ValueError, match="outer: an array of 2 dimensions is no vector"):
        linalg.outer(xp.ones((1, 2)), xp.ones(2))


@pytest.mark.parametrize("dtype", ["int8", *FLOATS])
@pytest.mark.parametrize("order", [2, 1, 0, 3, 0.5, -1, -2, np.inf, -np.inf])
def test_norms_of_vectors(dtype, order):
    x = (normals(dtype, (4, 5, 6)) * 3).astype(dtype)
    if dtype == "int8":
        x = np.where(x == 0, 1, x).astype(np.int8)
    for axis in (None, 0, -1, (0, 2), (1, 0, 2)):
        for keepdims in (False, True):
            ours = xp.asnumpy(linalg.vector_norm(xp.asarray(x), axis=axis, keepdims=keepdims, ord=order))
            theirs = np.linalg.vector_norm(wide(x), axis=axis, keepdims=keepdims, ord=order)
            np.testing.assert_allclose(ours, theirs, rtol=1e-4 if x.real.dtype == np.float32 else 1e-12)
            assert ours.shape == theirs.shape
    assert xp.asnumpy(linalg.vector_norm(xp.asarray(x))).dtype == (np.float64 if dtype == "int8" else x.real.dtype)


def test_norms_neither_overflow_nor_underflow():
    for scale in (1e300, 1e-300):
        x = xp.asarray([3 * scale, 4 * scale])
        assert float(linalg.vector_norm(x)) == pytest.approx(5 * scale, rel=1e-15)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("order", ["fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf, None])
def test_norms_of_matrices(dtype, order):
    x = normals(dtype, (2, 5, 3))
    for keepdims in (False, True):
        ours = xp.asnumpy(linalg.matrix_norm(xp.asarray(x), ord=order, keepdims=keepdims))
        theirs = np.linalg.matrix_norm(wide(x), ord=order, keepdims=keepdims)
        np.testing.assert_allclose(ours, theirs, rtol=1e-4 if x.real.dtype == np.float32 else 1e-11)
        assert (ours.shape, ours.dtype) == (theirs.shape, x.real.dtype)


@pytest.mark.parametrize("order", [3, "other", (1,)])
def test_norms_that_there_are_not(order):
    with pytest.raises(ValueError, match="ord"):
        linalg.matrix_norm(xp.ones((2, 2)), ord=order)


SINGULAR = [
    np.zeros((2, 2)),
    np.ones((3, 3)),
    np.asarray([[0.0, 0.0], [1.0, 2.0]]),
    np.asarray([[0.0, 1.0], [0.0, 2.0]]),
]


@pytest.mark.parametrize("x", SINGULAR, ids=range(len(SINGULAR)))
@pytest.mark.parametrize("dtype", FLOATS)
def test_singular_matrices(x, dtype):
    ours = xp.asarray(x.astype(dtype))
    assert complex(linalg.det(ours)) == 0
    sign, logarithm = linalg.slogdet(ours)
    assert (complex(sign), float(logarithm)) == (0, -np.inf)
    for call in (lambda: linalg.inv(ours), lambda: linalg.solve(ours, xp.ones(len(x), dtype=dtype))):
        with pytest.raises(linalg.LinAlgError, match=r"\((2, 2|3, 3)\)\).*the matrix is singular") as raised:
            xp.asnumpy(call())
        assert isinstance(raised.value, ValueError)
        assert isinstance(raised.value, millpond.CommandError)
        assert raised.value.reason == "the matrix is singular"


def test_failures_surface_at_the_wait_and_reach_what_depends_on_them(line):
    gate = line.gate()
    x = xp.zeros((2, 2), queue=line)
    other = xp.ones((2, 2), queue=line)
    inverse = linalg.inv(x)
    dependent = inverse + 1
    gate.open()
    with pytest.raises(linalg.LinAlgError, match="inv"):
        xp.asnumpy(dependent)
    np.testing.assert_array_equal(xp.asnumpy(other @ other), [[2, 2], [2, 2]])


def test_one_singular_matrix_of_a_stack_is_found():
    x = np.stack([np.eye(3)] * 500)
    x[321, 1] = 0
    with pytest.raises(linalg.LinAlgError):
        xp.asnumpy(linalg.inv(xp.asarray(x)))
    determinants = xp.asnumpy(linalg.det(xp.asarray(x)))
    assert np.flatnonzero(determinants == 0).tolist() == [321]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_matrices_that_are_not_definite_have_no_triangle(dtype):
    for bad in ([[1.0, 2.0], [2.0, 1.0]], [[0.0]], [[-1.0]], [[1.0, 0.0], [0.0, np.nan]], [[np.nan]]):
        for upper in (False, True):
            with pytest.raises(linalg.LinAlgError, match="not positive definite"):
                xp.asnumpy(linalg.cholesky(xp.asarray(bad, dtype=dtype), upper=upper))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("size", [1, 2, 5, 40])
def test_infinities_and_nans_neither_hang_nor_crash(bad, dtype, size):
    x = normals(dtype, (size, size))
    x[size // 2, size // 3] = bad
    ours = xp.asarray(x)
    for call in (linalg.svd, linalg.svdvals, linalg.eig, linalg.eigvals, linalg.eigh, linalg.eigvalsh):
        with pytest.raises(linalg.LinAlgError, match="infinities or NaNs"):
            observed(call, ours)
    for call in (linalg.det, linalg.qr, linalg.slogdet):
        result = call(ours)
        last = xp.asnumpy(result[-1] if isinstance(result, tuple) else result)
        assert not np.isfinite(last).all()
    with contextlib.suppress(linalg.LinAlgError):
        xp.asnumpy(linalg.inv(ours))


@pytest.mark.parametrize("scale", [1e300, 1e-300, 5e-324])
def test_numbers_near_the_ends_of_the_range(scale):
    x = np.asarray([[3.0, 1.0], [1.0, 2.0]]) * scale
    if scale == 5e-324:
        x = np.asarray([[2.0, 0.0], [0.0, 1.0]]) * scale
    ours = xp.asarray(x)
    unscaled = np.asarray([[3.0, 1.0], [1.0, 2.0]]) if scale != 5e-324 else np.diag([2.0, 1.0])
    values = np.linalg.svd(unscaled, compute_uv=False) * scale
    np.testing.assert_allclose(xp.asnumpy(linalg.svdvals(ours)), values, rtol=1e-13)
    np.testing.assert_allclose(xp.asnumpy(linalg.eigvalsh(ours)), values[::-1], rtol=1e-13)
    np.testing.assert_allclose(xp.asnumpy(linalg.eigh(ours).eigenvalues), values[::-1], rtol=1e-13)
    for found in (linalg.eigvals(ours), linalg.eig(ours).eigenvalues):
        np.testing.assert_allclose(np.sort(xp.asnumpy(found).real), values[::-1], rtol=1e-13)
    u, s, vh = (xp.asnumpy(part) for part in linalg.svd(ours))
    np.testing.assert_allclose(u * s @ vh, x, rtol=1e-12, atol=1e-15 * scale)


def test_pivots_of_any_size():
    tiny = np.diag([1.0, 1e-310, 1.0])
    tiny[2, 1] = 1e-311
    assert float(linalg.det(xp.asarray(tiny))) == pytest.approx(1e-310, rel=1e-10)
    assert float(linalg.slogdet(xp.asarray(tiny)).logabsdet) == pytest.approx(np.log(1e-310))
    exchange = np.asarray([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    assert float(linalg.det(xp.asarray(exchange))) == 1
    np.testing.assert_array_equal(xp.asnumpy(linalg.inv(xp.asarray(exchange))), exchange.T)


def test_known_troublemakers():
    hilbert = 1 / (np.arange(12)[:, None] + np.arange(12) + 1)
    np.testing.assert_allclose(
        xp.asnumpy(linalg.svdvals(xp.asarray(hilbert))), np.linalg.svd(hilbert, compute_uv=False), atol=1e-15
    )
    jordan = np.eye(30) * 2 + np.eye(30, k=1)
    values, vectors = (xp.asnumpy(part) for part in linalg.eig(xp.asarray(jordan)))
    assert_near(jordan @ vectors, vectors * values, np.linalg.norm(jordan), "float64", 30)
    for x in (np.zeros((6, 6)), np.eye(6), np.diag([2.0, 2, 3]), np.eye(40, k=1), np.kron(np.eye(2), jordan[:20, :20])):
        values, vectors = (xp.asnumpy(part) for part in linalg.eig(xp.asarray(x)))
        assert_near(x @ vectors, vectors * values, np.linalg.norm(x), "float64", len(x))
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1, rtol=1e-12)
    for x in (np.zeros((6, 6)), np.eye(6), np.diag([2.0, 2.0, 3.0])):
        vectors = xp.asnumpy(linalg.eig(xp.asarray(x)).eigenvectors)
        assert np.linalg.matrix_rank(vectors) == len(x), "there are as many as can be"
    for x in (np.zeros((6, 6)), np.eye(6), np.ones((6, 6)), np.full((6, 6), 1e-320)):
        u, s, vh = (xp.asnumpy(part) for part in linalg.svd(xp.asarray(x)))
        assert_unitary(u, "float64")
        np.testing.assert_allclose(u * s @ vh, x, atol=1e-14 * (np.abs(x).max() + 1e-308))
        values, vectors = (xp.asnumpy(part) for part in linalg.eigh(xp.asarray(x)))
        assert_unitary(vectors, "float64")


def test_any_strides_will_do():
    x = positive("float64", (8, 8))[::2, ::2]
    whole = positive("float64", (8, 8))
    for cut in (lambda a: a[::2, ::2], lambda a: a[::-1, ::-1][::2, ::2], lambda a: a.T[:4, :4]):
        np.testing.assert_allclose(
            xp.asnumpy(linalg.inv(cut(xp.asarray(whole)))), np.linalg.inv(cut(whole)), rtol=1e-10, atol=1e-12
        )
    assert x.shape == (4, 4)
    repeated = xp.broadcast_to(xp.asarray(whole), (3, 8, 8))
    np.testing.assert_allclose(xp.asnumpy(linalg.det(repeated)), [np.linalg.det(whole)] * 3)


def test_other_dtypes_become_floats():
    x = xp.asarray([[2, 0], [0, 4]])
    assert linalg.inv(x).dtype == xp.float64
    assert linalg.inv(xp.astype(x, "float16")).dtype == xp.float32
    assert linalg.solve(xp.astype(x, "float32"), xp.ones(2, dtype="complex64")).dtype == xp.complex64


def test_results_are_named_tuples():
    x = xp.asarray([[2.0, 0.0], [0.0, 1.0]])
    fields = {
        linalg.eig: ("eigenvalues", "eigenvectors"),
        linalg.eigh: ("eigenvalues", "eigenvectors"),
        linalg.qr: ("Q", "R"),
        linalg.svd: ("U", "S", "Vh"),
        linalg.slogdet: ("sign", "logabsdet"),
    }
    for call, names in fields.items():
        result = call(x)
        assert type(result)._fields == names
        assert all(getattr(result, name) is part for name, part in zip(names, result, strict=True))
        again = pickle.loads(pickle.dumps(result))
        assert type(again) is type(result)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: linalg.inv(xp.ones((2, 3))), r"inv: matrices of shape \(2, 3\) are not square"),
        (lambda: linalg.det(xp.ones(3)), "det: an array of 1 dimensions is no matrix"),
        (lambda: linalg.svd(xp.ones(())), "svd: an array of 0 dimensions"),
        (lambda: linalg.solve(xp.ones((2, 2)), xp.ones(3)), "2 rows against 3"),
        (lambda: linalg.solve(xp.ones((2, 2)), xp.ones(())), "solve"),
        (lambda: linalg.qr(xp.ones((2, 2)), mode="raw"), "qr: expected the mode"),
        (lambda: linalg.matrix_power(xp.ones((2, 3)), 2), "matrix_power: matrices of shape"),
        (lambda: linalg.matrix_norm(xp.ones(3)), "matrix_norm: an array of 1 dimensions"),
    ],
)
def test_what_makes_no_sense_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_the_extensions_are_modules():
    namespace = {}
    exec("import millpond.tensor.linalg, millpond.tensor.fft\nfrom millpond.tensor.linalg import svd", namespace)
    assert namespace["svd"] is xp.linalg.svd
    assert xp.linalg.matmul.__module__ == "millpond.tensor.linalg"
    assert {"fft", "linalg"} <= set(dir(xp))


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module in (xp.linalg, xp.fft) for name in module.__all__ if name[0].islower()],
)
def test_the_examples_of_the_documentation_hold(module, name):
    text = getattr(module, name).__doc__
    example = doctest.DocTestParser().get_doctest(text, {}, f"{module.__name__}.{name}", None, 0)
    result = doctest.DocTestRunner(verbose=False).run(example)
    assert result.failed == 0
    assert result.attempted > 0 or name == "matrix_transpose"
