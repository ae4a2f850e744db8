"""Products of vectors and matrices, with NumPy as the judge."""

import itertools

import numpy as np
import pytest

import millpond.tensor as xp

from .reference import normals, widest

NUMERIC = [
    "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128",
]  # fmt: skip
SHAPES = [
    ((3,), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 1, 2, 3), (6, 3, 1)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (3,)),
    ((1, 1), (1, 1)),
    ((0, 3), (3, 4)),
    ((2, 0), (0, 4)),
    ((0,), (0,)),
    ((2, 3), (3, 0)),
    ((0, 2, 3), (3, 4)),
    ((50, 2, 3), (50, 3, 4)),
    ((70, 130), (130, 65)),
    ((300, 200), (200, 260)),
    ((1, 700), (700, 3)),
    ((3, 700), (700, 1)),
]
EXACT = {"float16": 2e-3, "float32": 1e-5, "float64": 1e-13, "complex64": 1e-5, "complex128": 1e-13}


def check(result, first, second, product):
    """The result is NumPy's, exactly or within the rounding of its sums."""
    wanted = product(widest(first), widest(second))
    result = xp.asnumpy(result)
    assert result.shape == wanted.shape
    assert result.dtype == np.result_type(first, second)
    if result.dtype.kind in "iu":
        np.testing.assert_array_equal(result, wanted.astype(result.dtype))
        return
    bound = product(np.abs(widest(first)), np.abs(widest(second)))
    assert np.all(np.abs(result - wanted) <= EXACT[result.dtype.name] * bound + np.finfo(result.dtype).tiny)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", NUMERIC)
def test_matrices_multiply(dtype, shapes):
    first, second = (normals(dtype, shape, seed) for seed, shape in enumerate(shapes))
    check(xp.asarray(first) @ xp.asarray(second), first, second, np.matmul)


@pytest.mark.parametrize("dtype", ["float32", "int32", "complex128"])
def test_any_strides_will_do(dtype):
    first, second = normals(dtype, (12, 14, 16)), normals(dtype, (12, 16, 14), 1)
    cuts = [
        lambda a: a[::-1],
        lambda a: a[:, ::2, ::2],
        lambda a: a[:, ::-1, :],
        lambda a: a[..., ::-1],
        lambda a: np.swapaxes(np.swapaxes(a, 1, 2).copy(), 1, 2) if isinstance(a, np.ndarray) else a.mT.mT,
    ]
    for left, right in itertools.product(cuts, cuts):
        a, b = left(first), right(second)
        ours = left(xp.asarray(first)), right(xp.asarray(second))
        inner = min(a.shape[2], b.shape[1])
        a, b = a[:, :, :inner], b[:, :inner, :]
        check(ours[0][:, :, :inner] @ ours[1][:, :inner, :], a, b, np.matmul)
    turned = xp.asarray(first).mT
    check(turned @ xp.asarray(first), first.swapaxes(1, 2), first, np.matmul)


@pytest.mark.parametrize("shape", [(300, 400, 500), (513, 129, 700), (1, 5000, 900), (900, 5000, 1)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int16"])
def test_large_products_are_the_sum_of_their_blocks(dtype, shape):
    rows, inner, columns = shape
    first, second = normals(dtype, (rows, inner)), normals(dtype, (inner, columns), 1)
    ours = xp.asarray(first), xp.asarray(second)
    result = xp.asnumpy(ours[0] @ ours[1])
    np.testing.assert_array_equal(result, xp.asnumpy(ours[0] @ ours[1]))
    if result.dtype.kind in "iu":
        np.testing.assert_array_equal(result, first @ second)
    else:
        bound = np.abs(first).astype(np.float64) @ np.abs(second).astype(np.float64)
        exact = np.complex128 if result.dtype.kind == "c" else np.float64
        error = np.abs(result - first.astype(exact) @ second.astype(exact))
        assert np.all(error <= 4 * np.sqrt(inner) * np.finfo(result.dtype).eps * bound)


def test_integers_beyond_what_floats_hold_are_exact():
    x = np.asarray([[2**53 + 1, -(2**62)], [3, 2**61 + 1]])
    y = np.asarray([[1, 2], [3, 1]])
    np.testing.assert_array_equal(xp.asnumpy(xp.asarray(x) @ xp.asarray(y)), x @ y)
    vector = np.asarray([2**53 + 1, 1])
    assert int(xp.vecdot(xp.asarray(vector), xp.asarray([1, 0]))) == 2**53 + 1


def test_dtypes_promote():
    result = xp.ones((2, 2), dtype="int8") @ xp.ones((2, 2), dtype="uint8")
    assert result.dtype == xp.int16
    assert (xp.ones((2, 2), dtype="float32") @ xp.ones(2, dtype="complex128")).dtype == xp.complex128
    bools = np.asarray([[True, False], [True, True]])
    np.testing.assert_array_equal(xp.asnumpy(xp.asarray(bools) @ xp.asarray(bools)), bools @ bools)


@pytest.mark.parametrize(
    ("shapes", "words"),
    [
        (((3, 4), (3, 4)), r"shapes \(3, 4\) and \(3, 4\) do not fit: 4 columns against 3 rows"),
        (((3,), (4,)), r"3 columns against 4 rows"),
        (((), (4,)), "without axes"),
        (((2, 3, 4), (3, 4, 5)), "matmul"),
    ],
)
def test_shapes_that_do_not_fit_are_named(shapes, words):
    first, second = (xp.ones(shape) for shape in shapes)
    with pytest.raises(ValueError, match=words):
        xp.matmul(first, second)


def test_numbers_and_strangers_are_no_matrices():
    x = xp.ones((2, 2))
    for other in (2, 2.0, None, "x"):
        with pytest.raises(TypeError):
            x @ other
        with pytest.raises(TypeError):
            other @ x
        with pytest.raises(TypeError):
            x @= other


def test_results_go_where_they_are_wanted_even_over_the_operands():
    values = normals("float64", (6, 6))
    x = xp.asarray(values, copy=True)
    y = x
    y @= x
    assert y is x
    np.testing.assert_allclose(xp.asnumpy(x), values @ values, rtol=1e-12)
    x = xp.asarray(values, copy=True)
    out = x[::-1, ::-1]
    assert xp.matmul(x, x, out=out) is out
    np.testing.assert_allclose(xp.asnumpy(out), values @ values, rtol=1e-12)
    small = xp.zeros((6, 6), dtype="float32")
    xp.matmul(xp.asarray(values), xp.asarray(values), out=small)
    np.testing.assert_allclose(xp.asnumpy(small), values @ values, rtol=1e-6)
    x = xp.asarray(values)
    with pytest.raises(ValueError, match="matmul: the output has shape"):
        xp.matmul(x, x, out=xp.zeros((5, 6)))
    with pytest.raises(TypeError, match="cannot cast"):
        xp.matmul(x, x, out=xp.zeros((6, 6), dtype="int64"))


@pytest.mark.parametrize("dtype", NUMERIC)
@pytest.mark.parametrize("axis", [-1, -2, -3])
def test_products_along_an_axis_are_added(dtype, axis):
    first, second = normals(dtype, (4, 5, 6)), normals(dtype, (4, 5, 6), 1)
    result = xp.vecdot(xp.asarray(first), xp.asarray(second), axis=axis)
    check(result, first, second, lambda a, b: (np.conj(a) * b).sum(axis=axis, dtype=np.result_type(a, b)))
    ours = xp.vecdot(xp.asarray(first)[::-1, ::2], xp.asarray(second)[:1, ::-2], axis=-1)
    check(
        ours, first[::-1, ::2], second[:1, ::-2], lambda a, b: (np.conj(a) * b).sum(axis=-1, dtype=np.result_type(a, b))
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "float16"])
@pytest.mark.parametrize("length", [1, 100, 10_000, 1_000_003])
def test_the_error_of_scalar_products_is_bounded(dtype, length):
    first, second = normals(dtype, length), normals(dtype, length, 1)
    result = complex(xp.astype(xp.vecdot(xp.asarray(first), xp.asarray(second)), xp.complex128))
    exact = np.vdot(first.astype(np.complex128), second.astype(np.complex128))
    sums = np.finfo(np.float32 if dtype == "float16" else dtype).eps * min(length, 2048)
    bound = np.abs(first.astype(np.complex128)) @ np.abs(second.astype(np.complex128))
    assert abs(result - exact) <= sums * bound + np.finfo(dtype).eps * abs(exact)


@pytest.mark.parametrize("dtype", NUMERIC)
@pytest.mark.parametrize(
    ("shapes", "axes"),
    [
        (((2, 3, 4), (3, 4, 5)), 2),
        (((2, 3, 4), (4, 5)), 1),
        (((2, 3), (4,)), 0),
        (((2, 3, 4), (4, 3, 5)), ((1, 2), (1, 0))),
        (((2, 3, 4), (4, 3, 5)), ((-2,), (-2,))),
        (((0, 3), (3, 2)), 1),
        (((2, 0), (0, 2)), 1),
        (((2, 3), (2, 3)), ((0, 1), (0, 1))),
        (((), ()), 0),
    ],
    ids=str,
)
def test_tensors_are_contracted(dtype, shapes, axes):
    first, second = (normals(dtype, shape, seed) for seed, shape in enumerate(shapes))
    result = xp.tensordot(xp.asarray(first), xp.asarray(second), axes=axes)
    check(result, first, second, lambda a, b: np.tensordot(a, b, axes))


# Products of complex numbers are rounded more than once.
@pytest.mark.parametrize("dtype", [dtype for dtype in NUMERIC if not dtype.startswith("complex")])
def test_outer_products_of_any_size_are_exact(dtype):
    for size in range(1, 301, 13):
        first, second = normals(dtype, size), normals(dtype, size + 1, 1)
        ours = xp.tensordot(xp.asarray(first), xp.asarray(second), axes=0)
        np.testing.assert_array_equal(xp.asnumpy(ours), np.multiply.outer(first, second))


def test_stacks_with_gaps_are_multiplied_by_one_matrix():
    first, second = normals("float64", (5, 4, 6)), normals("float64", (3, 4), 1)
    for cut in ((slice(None), slice(2), slice(3)), (slice(None, None, 2), slice(None), slice(3, None)), ([4, 1],)):
        part = first[cut][..., :3]
        ours = xp.asarray(first)[tuple(xp.asarray(key) if isinstance(key, list) else key for key in cut)][..., :3]
        check(ours @ xp.asarray(second), part, second, np.matmul)


def test_axes_that_do_not_fit_are_named():
    x = xp.ones((2, 3))
    with pytest.raises(ValueError, match="axis 1 of size 3 against axis 0 of size 2"):
        xp.tensordot(x, x, axes=1)
    with pytest.raises(ValueError, match="3 axes of arrays of 2 and 2 dimensions"):
        xp.tensordot(x, x, axes=3)
    with pytest.raises(ValueError, match="2 axes of one array against 1"):
        xp.tensordot(x, x, axes=((0, 1), (0,)))
    with pytest.raises(TypeError, match="two sequences"):
        xp.tensordot(x, x, axes="ab")
    with pytest.raises(IndexError):
        xp.tensordot(x, x, axes=((5,), (0,)))


def test_nans_and_infinities_go_their_way():
    x = np.asarray([[1.0, np.nan], [np.inf, 0.0]])
    np.testing.assert_array_equal(xp.asnumpy(xp.asarray(x) @ xp.ones((2, 2))), [[np.nan] * 2, [np.inf] * 2])
    np.testing.assert_array_equal(xp.asnumpy(xp.asarray(x) @ xp.zeros(2)), [np.nan, np.nan])


def test_memory_off_its_alignment_is_multiplied():
    raw = np.zeros(8 * 9 + 1, dtype=np.uint8)[1:].view(np.float64).reshape(3, 3)
    raw[...] = normals("float64", (3, 3))
    x = xp.asarray(raw)
    np.testing.assert_allclose(xp.asnumpy(x @ x), raw @ raw, rtol=1e-12)
    np.testing.assert_allclose(xp.asnumpy(x[0] @ x[1]), raw[0] @ raw[1], rtol=1e-12)


def test_a_product_is_computed_in_the_dtype_that_is_asked_for():
    x = xp.asarray([[100, 100], [1, 1]], dtype="int8")
    assert xp.matmul(x, x, dtype="int32").tolist() == [[10100, 10100], [101, 101]]
    assert xp.matmul(x, x).dtype == "int8"
    result = xp.matmul(x, xp.asarray(1.5) * xp.ones(2, dtype="float32"), dtype=xp.complex128)
    assert (result.dtype, result.tolist()) == ("complex128", [300 + 0j, 3 + 0j])
    out = xp.zeros((2, 2), dtype="int64")
    assert xp.matmul(x, x, out, "int32") is out
    assert out.tolist() == [[10100, 10100], [101, 101]]
    with pytest.raises(TypeError, match="float64 to int8"):
        xp.matmul(xp.ones((2, 2)), x, dtype="int8")


@pytest.mark.parametrize("order", ["C", "F", "A", "K"])
def test_a_product_lies_as_it_is_asked_for(order):
    x, y = normals("float64", (3, 4)), normals("float64", (4, 5), 1)
    result = xp.matmul(xp.asarray(x), xp.asarray(y), order=order)
    np.testing.assert_allclose(xp.asnumpy(result), x @ y, rtol=1e-12)
    assert result.flags.f_contiguous == (order == "F")
    with pytest.raises(ValueError, match="order: expected"):
        xp.matmul(xp.asarray(x), xp.asarray(y), order="x")


def test_products_take_their_arguments_by_place_and_by_name():
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert xp.tensordot(x, x, 1).tolist() == xp.matmul(x2=x, x1=x).tolist() == (x @ x).tolist()
    assert xp.vecdot(x, x, 0).tolist() == xp.vecdot(x1=x, x2=x, axis=0).tolist() == [10.0, 20.0]
