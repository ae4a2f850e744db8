"""Fourier transforms, with NumPy as the judge."""

import numpy as np
import pytest

import millpond.tensor as xp

from .reference import normals, widest

LENGTHS = [1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 16, 17, 30, 31, 49, 64, 100, 121, 128, 243, 256, 499, 1000, 1009, 1024, 4099]


def close(result, wanted, dtype, points, constant=4):
    """The result is within the page's bound of what NumPy computes with more digits."""
    result = xp.asnumpy(result)
    assert result.shape == wanted.shape
    if np.dtype(dtype).itemsize // (2 if np.dtype(dtype).kind == "c" else 1) == 4:
        assert result.dtype in (np.float32, np.complex64)
    error = np.linalg.norm((result - wanted).ravel())
    bound = constant * np.finfo(dtype).eps / 2 * np.log2(max(points, 2)) * np.linalg.norm(wanted.ravel())
    assert error <= bound + np.finfo(dtype).tiny, (error, bound)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_spectra_of_any_length(dtype, norm):
    for length in LENGTHS:
        x = normals(dtype, (3, length))
        for ours, theirs in [(xp.fft.fft, np.fft.fft), (xp.fft.ifft, np.fft.ifft)]:
            close(ours(xp.asarray(x), norm=norm), theirs(widest(x), norm=norm), dtype, length)


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_real_signals_of_any_length(dtype, norm):
    for length in LENGTHS:
        x = normals(dtype, (3, length))
        close(xp.fft.rfft(xp.asarray(x), norm=norm), np.fft.rfft(widest(x), norm=norm), dtype, length)
        close(xp.fft.ihfft(xp.asarray(x), norm=norm), np.fft.ihfft(widest(x), norm=norm), dtype, length)
        half = normals({"float32": "complex64", "float64": "complex128"}[dtype], (3, length // 2 + 1))
        for ours, theirs in [(xp.fft.irfft, np.fft.irfft), (xp.fft.hfft, np.fft.hfft)]:
            close(ours(xp.asarray(half), n=length, norm=norm), theirs(widest(half), n=length, norm=norm), dtype, length)
            if length > 3:
                close(ours(xp.asarray(half)), theirs(widest(half)), dtype, length)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
@pytest.mark.parametrize("n", [None, 1, 2, 5, 6, 9, 20])
def test_axes_are_padded_and_cut(name, axis, n):
    dtype = "float64" if name in ("rfft", "ihfft") else "complex128"
    x = normals(dtype, (6, 7, 9))
    ours, theirs = getattr(xp.fft, name), getattr(np.fft, name)
    close(ours(xp.asarray(x), n=n, axis=axis), theirs(x, n=n, axis=axis), dtype, 20)
    cut = xp.asarray(x)[::2, ::-1, 1:]
    close(ours(cut, n=n, axis=axis), theirs(x[::2, ::-1, 1:], n=n, axis=axis), dtype, 20)


@pytest.mark.parametrize("name", ["fftn", "ifftn", "rfftn", "irfftn"])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    ("s", "axes"),
    [(None, None), (None, (0,)), (None, (2, 0)), ((4, 5), (1, 2)), ((9, 3, 6), (0, 1, 2)), ((3, -1), (0, 2))],
)
def test_several_axes(name, s, axes, norm, dtype):
    complex_dtype = {"float32": "complex64", "float64": "complex128"}[dtype]
    x = normals(dtype if name == "rfftn" else complex_dtype, (5, 6, 7))
    result = getattr(xp.fft, name)(xp.asarray(x), s=s, axes=axes, norm=norm)
    wanted = getattr(np.fft, name)(widest(x), s=s, axes=axes, norm=norm)
    close(result, wanted, dtype, 5 * 6 * 7)


def test_large_transforms_along_every_axis():
    x = normals("complex64", (512, 300))
    close(xp.fft.fftn(xp.asarray(x)), np.fft.fftn(widest(x)), "complex64", 512 * 300)
    x = normals("float32", (1024, 256))
    close(xp.fft.rfft(xp.asarray(x), axis=0), np.fft.rfft(widest(x), axis=0), "float32", 1024)
    x = normals("complex128", 1 << 18)
    close(xp.fft.fft(xp.asarray(x)), np.fft.fft(widest(x)), "complex128", 1 << 18)
    back = xp.fft.ifft(xp.fft.fft(xp.asarray(x)))
    close(back, x, "complex128", 1 << 18, 8)


def test_a_large_prime_takes_no_square():
    length = 1_000_003
    x = normals("complex128", length)
    close(xp.fft.fft(xp.asarray(x)), np.fft.fft(x), "complex128", length, 16)


def test_dtypes_follow_the_precision():
    kinds = {
        "float16": ("float32", "complex64"),
        "float32": ("float32", "complex64"),
        "float64": ("float64", "complex128"),
        "complex64": ("float32", "complex64"),
        "complex128": ("float64", "complex128"),
        "int8": ("float64", "complex128"),
        "uint64": ("float64", "complex128"),
        "bool": ("float64", "complex128"),
    }
    for dtype, (real, spectrum) in kinds.items():
        x = xp.ones(4, dtype=dtype)
        assert xp.fft.fft(x).dtype.name == xp.fft.ifftn(x).dtype.name == spectrum
        assert xp.fft.irfft(x).dtype.name == xp.fft.hfft(x).dtype.name == real
        if not dtype.startswith("complex"):
            assert xp.fft.rfft(x).dtype.name == xp.fft.ihfft(x).dtype.name == spectrum
    with pytest.raises(TypeError, match="rfft: an array of complex64 is not real"):
        xp.fft.rfft(xp.ones(4, dtype="complex64"))


def test_what_is_imaginary_at_the_ends_of_a_real_spectrum_is_left_out():
    half = np.asarray([1 + 5j, 2 + 1j, 3 + 7j])
    for n in (4, 5):
        close(xp.fft.irfft(xp.asarray(half), n=n), np.fft.irfft(half, n=n), "complex128", 5)


def test_empty_stacks_are_empty_and_empty_signals_are_refused():
    assert xp.fft.fft(xp.zeros((0, 4))).shape == (0, 4)
    assert xp.fft.rfft(xp.zeros((4, 0)), axis=0).shape == (3, 0)
    for call in (
        lambda: xp.fft.fft(xp.zeros(0)),
        lambda: xp.fft.fft(xp.zeros(4), n=0),
        lambda: xp.fft.rfft(xp.zeros(4), n=-3),
        lambda: xp.fft.irfft(xp.zeros(1)),
        lambda: xp.fft.fftn(xp.zeros((2, 2)), s=(0, 1), axes=(0, 1)),
        lambda: xp.fft.fftfreq(0),
    ):
        with pytest.raises(ValueError, match="number of points"):
            call()
    # Points of a signal that there are none of are zeros, as NumPy has it.
    np.testing.assert_array_equal(xp.asnumpy(xp.fft.fft(xp.zeros((2, 0)), n=3)), np.zeros((2, 3)))


def test_arguments_that_make_no_sense_are_refused():
    x = xp.ones((2, 3))
    with pytest.raises(ValueError, match="norm: expected 'backward'"):
        xp.fft.fft(x, norm="other")
    with pytest.raises(IndexError):
        xp.fft.fft(x, axis=2)
    with pytest.raises(ValueError, match="fftn: 1 lengths for 2 axes"):
        xp.fft.fftn(x, s=(1,), axes=(0, 1))
    with pytest.raises(ValueError, match="axis"):
        xp.fft.fftn(x, axes=(0, -2))
    with pytest.raises(ValueError, match="rfftn: at least one axis"):
        xp.fft.rfftn(x, axes=())
    with pytest.raises(TypeError):
        xp.fft.fft(np.ones(3))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9])
@pytest.mark.parametrize("dtype", [None, "float32", "float64"])
def test_frequencies(n, dtype):
    for ours, theirs in [(xp.fft.fftfreq, np.fft.fftfreq), (xp.fft.rfftfreq, np.fft.rfftfreq)]:
        result = ours(n, d=0.1, dtype=dtype)
        assert result.dtype.name == (dtype or "float64")
        np.testing.assert_allclose(xp.asnumpy(result), theirs(n, d=0.1), rtol=2e-7 if dtype == "float32" else 4e-16)
    with pytest.raises(TypeError, match="real floating"):
        xp.fft.fftfreq(n, dtype="complex64")


@pytest.mark.parametrize("axes", [None, 0, 1, (0, 1), (-1,)])
def test_the_frequency_zero_moves(axes):
    x = np.arange(35).reshape(5, 7)
    ours = xp.fft.fftshift(xp.asarray(x), axes=axes)
    np.testing.assert_array_equal(xp.asnumpy(ours), np.fft.fftshift(x, axes))
    np.testing.assert_array_equal(xp.asnumpy(xp.fft.ifftshift(ours, axes=axes)), x)


def test_nans_stay_in_their_line():
    x = np.ones((3, 8))
    x[1, 2] = np.nan
    result = xp.asnumpy(xp.fft.fft(xp.asarray(x)))
    assert np.isnan(result[1]).all()
    assert np.isfinite(result[[0, 2]]).all()
