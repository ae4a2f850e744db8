"""What arrays and dtypes say about themselves."""

import copy
import inspect
import pickle
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import millpond
import millpond.tensor as xp

from .reference import EVERY_DTYPE


def test_an_array_describes_itself():
    x = xp.zeros((2, 3), dtype="float32")
    assert (x.shape, x.strides, x.ndim, x.size) == ((2, 3), (3, 1), 2, 6)
    assert (x.itemsize, x.nbytes, x.usm_type) == (4, 24, "device")
    assert x.dtype is xp.float32
    assert x.device == millpond.default_device()
    assert x.queue == x.device.default_queue
    assert x.data.nbytes >= 24
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2025.12") is xp
    assert weakref.ref(x)() is x


def test_views_describe_themselves():
    x = xp.reshape(xp.arange(6), (2, 3))
    assert x.T.tolist() == x.mT.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert (x.T.strides, x.T.flags.c_contiguous, x.T.flags.f_contiguous) == ((1, 3), False, True)
    with pytest.raises(ValueError, match="3 dimensions"):
        _ = xp.zeros((2, 2, 2)).T
    with pytest.raises(ValueError, match="1 dimensions"):
        _ = xp.zeros(2).mT
    assert xp.zeros((2, 3, 4)).mT.shape == (2, 4, 3)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x,
        lambda x: x.T,
        lambda x: x[0],
        lambda x: x[::2],
        lambda x: x[:, :1],
        lambda x: xp.broadcast_to(x, (2, 4, 3)),
    ],
)
def test_flags_are_numpys(view):
    x = view(xp.zeros((4, 3), usm_type="host"))
    flags, theirs = x.flags, np.asarray(x).flags
    for letter in ("C", "F", "W", "FNC", "FORC"):
        assert flags[letter] == theirs[letter]
    assert flags["FC"] == flags.fc == (theirs.c_contiguous and theirs.f_contiguous)
    assert (flags.c_contiguous, flags.f_contiguous) == (theirs.c_contiguous, theirs.f_contiguous)
    assert (flags.forc, flags.fnc, flags.contiguous) == (theirs.forc, theirs.fnc, theirs.forc)
    assert flags.flags == flags.c_contiguous + 2 * flags.f_contiguous + 4 * flags.writable


def test_flags_equal_those_that_say_the_same():
    flags = xp.zeros((2, 3)).flags
    assert flags == xp.ones((4, 5)).flags == 5
    assert flags != xp.zeros((2, 3)).T.flags
    assert flags != "C"
    with pytest.raises(KeyError, match="'Q'"):
        flags["Q"]
    with pytest.raises(KeyError, match="'Q'"):
        flags["Q"] = True
    assert repr(flags) == "Flags(c_contiguous=True, f_contiguous=False, writable=True)"


def test_the_shape_can_be_set_and_never_copies():
    x = xp.arange(6)
    view, same = x[1:], x
    x.shape = (2, -1)
    assert (x.shape, same.shape, view.shape) == ((2, 3), (2, 3), (5,))
    x[1, 0] = 30
    assert view.tolist() == [1, 2, 30, 4, 5]
    assert xp.sum(x, axis=0).tolist() == [30, 5, 7]
    x.shape = 6
    assert x.tolist() == [0, 1, 2, 30, 4, 5]
    for shape, message in (((4, 2), r"\(6,\) into shape \(4, 2\)"), ((-1, -1), "-1"), ((4, -1), "-1")):
        with pytest.raises(ValueError, match=message):
            x.shape = shape
    with pytest.raises(TypeError, match="sequence of integers"):
        x.shape = "6"
    columns = xp.reshape(x, (2, 3)).T
    with pytest.raises(ValueError, match="needs a copy"):
        columns.shape = 6
    columns.shape = (3, 1, 2)
    assert columns.tolist() == [[[0, 30]], [[1, 4]], [[2, 5]]]
    assert x.shape == (6,)


def test_a_shape_may_be_set_as_often_as_one_likes():
    x = xp.zeros((0, 3))
    for size in range(20_000):
        x.shape = (0, size % 300)
    assert x.shape == (0, 199)
    del x


def test_a_shape_that_is_set_is_that_of_copies_and_exports():
    x = xp.arange(6, usm_type="host")
    theirs = np.asarray(x)
    x.shape = (3, 2)
    assert theirs.shape == (6,)
    for other in (np.asarray(x), np.from_dlpack(x), copy.copy(x), pickle.loads(pickle.dumps(x))):
        assert other.shape == (3, 2)
        assert other.tolist() == [[0, 1], [2, 3], [4, 5]]


def test_shapes_may_be_set_while_others_read():
    x = xp.arange(12)
    shapes = [(12,), (3, 4), (2, 6), (2, 2, 3), (1, 12)]
    with ThreadPoolExecutor(4) as pool:

        def work(number):
            for turn in range(300):
                x.shape = shapes[(number + turn) % len(shapes)]
                assert x.shape in shapes
                assert xp.sum(x).item() == 66

        assert list(pool.map(work, range(8))) == [None] * 8


def test_an_array_can_be_protected():
    x = xp.zeros((2, 3))
    flags, earlier = x.flags, x[0]
    flags.writable = False
    assert (flags.writable, x.flags["W"], x.flags.flags, earlier.flags.writable) == (False, False, 1, True)
    for write in (lambda: x.__setitem__(0, 1), lambda: x.__iadd__(1), lambda: xp.add(x, 1, out=x)):
        with pytest.raises(ValueError, match="the array is read-only"):
            write()
    later = x[0]
    with pytest.raises(ValueError, match="cannot be made writable"):
        later.flags.writable = True
    x.shape = 6
    assert not x.flags.writable
    x.flags["W"] = True
    x[...] = 7
    assert (x.shape, earlier.tolist(), later.tolist()) == ((6,), [7, 7, 7], [7, 7, 7])
    assert not later.flags.writable


@pytest.mark.host
def test_what_may_not_be_written_stays_so():
    theirs = np.arange(3)
    theirs.flags.writeable = False
    for x in (xp.asarray(theirs, copy=False), xp.broadcast_to(xp.ones(1), (3,)), xp.asarray(b"abc", copy=False)):
        x.flags.writable = False
        with pytest.raises(ValueError, match="cannot be made writable; a copy can"):
            x.flags.writable = True
        with pytest.raises(ValueError, match="cannot be made writable; a copy can"):
            x.flags["WRITABLE"] = True
    assert theirs.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="'C' follows from the layout"):
        xp.ones(3).flags["C"] = False
    with pytest.raises(TypeError):
        xp.ones(3).flags.writable = "no"


def test_parts_of_complex_numbers_are_views():
    x = xp.asarray([1 + 2j, 3 + 4j], dtype="complex64")
    assert (x.real.tolist(), x.imag.tolist()) == ([1, 3], [2, 4])
    x.real[0] = 9
    x.imag[:] = 0
    assert x.tolist() == [9 + 0j, 3 + 0j]
    assert x.real.dtype == "float32"
    y = xp.asarray([1, 2])
    assert (y.real.tolist(), y.imag.tolist()) == ([1, 2], [0, 0])


@pytest.mark.parametrize("name", EVERY_DTYPE)
def test_a_dtype_equals_its_name_and_numpys(name):
    dtype = getattr(xp, name)
    assert dtype == xp.dtype(name) == name
    assert xp.dtype(name) is dtype
    assert dtype == np.dtype(name)
    assert xp.dtype(np.dtype(name)) is xp.dtype(np.dtype(name).type) is xp.dtype(np.dtype(name).str) is dtype
    assert hash(dtype) == hash(name)
    assert (repr(dtype), dtype.name, dtype.itemsize, dtype.kind) == (name, name, *_numpy(name))
    assert np.zeros(2, dtype=dtype.dtype).dtype == name
    assert dtype != "other"
    assert dtype != None  # noqa: E711 - the comparison is what is tested
    assert sum(dtype == getattr(xp, other) for other in EVERY_DTYPE) == 1


SPELLINGS = [
    *EVERY_DTYPE,
    *(np.dtype(name) for name in EVERY_DTYPE),
    *(np.dtype(name).type for name in EVERY_DTYPE),
    *(np.dtype(name).str for name in EVERY_DTYPE),
    *(bool, int, float, complex, "f", "int", "=i2"),
    # But for None, which NumPy takes for its default, and objects that have a dtype.
    *("other", "", object, str, np.dtype("U3"), np.dtype(">i4"), 3, ()),
]


@pytest.mark.parametrize("name", EVERY_DTYPE)
def test_a_dtype_equals_what_numpys_equals(name):
    ours, theirs = getattr(xp, name), np.dtype(name)
    for other in SPELLINGS:
        assert (ours == other) == (other == ours) == (theirs == other), other
        assert (ours != other) == (other != ours) == (theirs != other), other


def test_a_type_of_many_dtypes_is_none():
    for several in (np.generic, np.number, np.integer, np.signedinteger, np.inexact, np.floating, np.complexfloating):
        assert all(getattr(xp, name) != several for name in EVERY_DTYPE)
        with pytest.raises(TypeError, match="is no dtype"):
            xp.dtype(several)


def test_a_stranger_may_equal_a_dtype():
    class Stranger:
        __hash__ = None

        def __eq__(self, other):
            return other is xp.int8

    assert xp.int8 == Stranger()
    assert xp.int16 != Stranger()


def _numpy(name):
    return np.dtype(name).itemsize, np.dtype(name).kind


@pytest.mark.parametrize(
    ("spelling", "name"),
    [(bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128"), ("f4", "float32"), ("=i2", "int16")],
)
def test_a_dtype_may_be_spelled_otherwise(spelling, name):
    assert xp.zeros(1, dtype=spelling).dtype == name


def test_foreign_byte_order_is_no_dtype():
    with pytest.raises(TypeError, match="no dtype"):
        xp.dtype(np.dtype("int32").newbyteorder("S"))


def test_casting_follows_promotion():
    assert xp.can_cast("int8", "int16")
    assert not xp.can_cast("int16", "int8")
    assert xp.can_cast("int16", "int8", casting="same_kind")
    assert not xp.can_cast("float32", "int64", casting="same_kind")
    assert xp.can_cast(xp.ones(1, dtype="float32"), "complex64")
    assert xp.isdtype(xp.float32, "real floating")
    assert xp.isdtype(xp.float32, (xp.int8, "numeric"))
    assert not xp.isdtype(xp.bool, "numeric")
    with pytest.raises(ValueError, match="unknown kind 'odd'"):
        xp.isdtype(xp.int8, "odd")


def test_limits_are_numpys():
    for name in ("float16", "float32", "float64", "complex64"):
        ours, theirs = xp.finfo(name), np.finfo(name)
        assert (ours.bits, ours.eps, ours.max, ours.min) == (theirs.bits, theirs.eps, theirs.max, theirs.min)
        assert ours.smallest_normal == theirs.smallest_normal
        assert ours.dtype == theirs.dtype
    for name in ("int8", "uint16", "int64", "uint64"):
        ours, theirs = xp.iinfo(getattr(xp, name)), np.iinfo(name)
        assert (ours.bits, ours.max, ours.min, ours.dtype) == (theirs.bits, theirs.max, theirs.min, name)
    assert xp.iinfo(xp.ones(1, dtype="int8")).max == 127
    with pytest.raises(TypeError, match="int8 is no float dtype"):
        xp.finfo("int8")
    with pytest.raises(TypeError, match="float32 is no integer dtype"):
        xp.iinfo("float32")


def test_the_namespace_describes_itself():
    info = xp.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert isinstance(info.devices(), tuple)
    assert set(info.capabilities()) == {"boolean indexing", "data-dependent shapes", "max dimensions"}
    for device in info.devices():
        assert xp.ones(1, device=device).device == device
        assert info.default_dtypes(device=device)["integral"] is xp.int64
        assert info.dtypes(device=device)["float32"] is xp.float32
    assert set(info.dtypes(kind="real floating")) == {"float32", "float64"}
    assert set(info.dtypes(kind=("bool", "signed integer"))) == {"bool", "int8", "int16", "int32", "int64"}
    assert xp.__array_api_version__ == "2025.12"


@pytest.mark.parametrize("version", ["2021.12", "2022.12", "2023.12", "2024.12"])
def test_earlier_versions_of_the_namespace_answer_lists(version):
    x = xp.ones(2)
    earlier = x.__array_namespace__(api_version=version)
    assert earlier is xp.ones(3).__array_namespace__(api_version=version)
    assert earlier.__array_api_version__ == version
    for name in ("meshgrid", "broadcast_arrays"):
        ours, newest = getattr(earlier, name), getattr(xp, name)
        assert (type(ours(x, x)), type(newest(x, x))) == (list, tuple)
        assert [one.tolist() for one in ours(x, x)] == [one.tolist() for one in newest(x, x)]
        assert (inspect.signature(ours), ours.__doc__) == (inspect.signature(newest), newest.__doc__)
    info, newest = earlier.__array_namespace_info__(), xp.__array_namespace_info__()
    assert info.devices() == list(newest.devices())
    assert info.default_dtypes() == newest.default_dtypes()
    assert earlier.sin is xp.sin
    assert dir(earlier) == dir(xp)
    assert pickle.loads(pickle.dumps(earlier)) is earlier
    with pytest.raises(AttributeError, match="nothing_like_it"):
        _ = earlier.nothing_like_it


def test_every_exported_name_is_there_once_and_documented():
    assert len(set(xp.__all__)) == len(xp.__all__)
    for name in xp.__all__:
        value = getattr(xp, name)
        if callable(value):
            assert value.__doc__, name
            assert value.__module__ == "millpond.tensor", name
        if inspect.isbuiltin(value) or isinstance(value, xp.ElementwiseFunction):
            assert inspect.signature(value), name


def test_importing_does_not_import_numpy():
    text = "import sys, millpond.tensor as xp; xp.ones(3) + 1; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
