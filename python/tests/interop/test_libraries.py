"""Arrays of other libraries, by DLPack in both directions. NumPy is always there; others are tested where installed."""

import ctypes
import gc
import threading
import weakref

import numpy as np
import pytest

import millpond
import millpond.tensor as xp

pytestmark = pytest.mark.host

CPU = (1, 0)
KINDS = ["device", "shared", "host"]
DTYPES = ["bool", "int8", "int32", "int64", "uint8", "float16", "float32", "float64", "complex64", "complex128"]


class NumPy:
    """NumPy, in the words of these tests."""

    writes = True
    strides = True

    def __init__(self):
        self.xp = np

    def make(self, host):
        """An array of the library with these elements."""
        return host.copy()

    def take(self, producer, **arguments):
        return np.from_dlpack(producer, **arguments)

    def host(self, array):
        return np.asarray(array)

    def address(self, array):
        return array.ctypes.data

    def write(self, array, value):
        array[...] = value


class Torch(NumPy):
    """PyTorch."""

    def __init__(self):
        self.xp = pytest.importorskip("torch")

    def make(self, host):
        return self.xp.tensor(host)

    def take(self, producer, **arguments):
        return self.xp.from_dlpack(producer, **arguments)

    def host(self, array):
        return array.numpy()

    def address(self, array):
        return array.data_ptr()


class Jax(NumPy):
    """JAX, whose arrays are never written and have no gaps."""

    writes = False
    strides = False

    def __init__(self):
        self.xp = pytest.importorskip("jax")
        self.xp.config.update("jax_enable_x64", True)

    def make(self, host):
        return self.xp.numpy.array(host)

    def take(self, producer, **arguments):
        return self.xp.numpy.from_dlpack(producer, **arguments)

    def address(self, array):
        return array.unsafe_buffer_pointer()


@pytest.fixture(params=[NumPy, Torch, Jax], ids=["numpy", "torch", "jax"])
def library(request):
    return request.param()


class Recorded:
    """An array that records how a consumer asks for its memory, and what it is given."""

    def __init__(self, array):
        self.array = array
        self.asked = []
        self.given = []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **arguments):
        self.asked.append(arguments)
        capsule = self.array.__dlpack__(**arguments)
        self.given.append(repr(capsule).split('"')[1])
        self.read_only = self.given[-1] == "dltensor_versioned" and bool(flags_of(capsule) & 1)
        return capsule


class Versioned(ctypes.Structure):
    """The begin of what a capsule with a version holds."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
    )


def flags_of(capsule):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return Versioned.from_address(pointer(capsule, b"dltensor_versioned")).flags


def address(x):
    """Where an array begins that is all of its memory."""
    return x.data.ptr


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_go_out_without_a_copy(library, kind, dtype):
    x = xp.astype(xp.reshape(xp.arange(64, usm_type=kind), (8, 8)), dtype)
    seen = library.take(x)
    assert library.address(seen) == address(x)
    assert library.host(seen).dtype == np.dtype(dtype)
    assert np.array_equal(library.host(seen), xp.asnumpy(x))


@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_come_in_without_a_copy(library, dtype):
    source = library.make(np.arange(64).reshape(8, 8).astype(dtype))
    x = xp.from_dlpack(source)
    assert address(x) == library.address(source)
    assert x.dtype == dtype
    assert np.array_equal(xp.asnumpy(x), library.host(source))


def test_there_and_back_is_the_same_memory(library):
    x = xp.arange(100.0)
    back = xp.from_dlpack(library.take(x))
    assert address(back) == address(x)
    assert back.tolist() == x.tolist()


def test_either_side_sees_what_the_other_writes(library):
    x = xp.zeros(1000)
    seen = library.take(x)
    x += 1
    assert library.host(seen).sum() == 1000
    if library.writes:
        library.write(seen, 5)
        assert float(xp.sum(x)) == 5000


def test_an_export_waits_for_what_computes_it(library, line):
    x = xp.zeros(1000, queue=line)
    gate = line.gate()
    y = x + 1
    opener = threading.Timer(0.02, gate.open)
    opener.start()
    assert library.host(library.take(y)).sum() == 1000
    opener.join()


@pytest.mark.parametrize("view", [lambda x: x.T, lambda x: x[1:, ::2], lambda x: x[3], lambda x: x[2, 2]])
def test_views_go_out_and_come_in(library, view):
    plain = np.arange(64.0).reshape(8, 8)
    x = view(xp.asarray(plain))
    if not library.strides and not x.flags.c_contiguous:
        pytest.skip("the library has no arrays with gaps")
    assert np.array_equal(library.host(library.take(x)), view(plain))
    source = view(library.make(plain))
    if isinstance(source, np.float64):
        return  # which has no memory to share
    assert np.array_equal(xp.asnumpy(xp.from_dlpack(source)), view(plain))


def test_empty_arrays_are_exchanged(library):
    assert library.host(library.take(xp.zeros((0, 3)))).shape == (0, 3)
    assert xp.from_dlpack(library.make(np.zeros((0, 3)))).shape == (0, 3)


def test_a_consumer_gets_the_version_that_it_asks_for(library):
    producer = Recorded(xp.ones(64))
    library.take(producer)
    asked, given = producer.asked[-1], producer.given[-1]
    newest = asked.get("max_version") or (0, 0)
    assert given == ("dltensor_versioned" if newest >= (1, 0) else "dltensor")


def test_what_may_not_be_written_comes_in_read_only(library):
    source = library.make(np.ones(64))
    if isinstance(source, np.ndarray):
        source.flags.writeable = False
    producer = Recorded(source)
    x = xp.from_dlpack(producer)
    if not producer.read_only:
        pytest.skip("the library doesn't say what may not be written")
    assert not x.flags.writable
    with pytest.raises(ValueError, match="read-only"):
        x += 1
    assert library.host(source).sum() == 64


def test_what_may_not_be_written_goes_out_as_such_or_not_at_all(library):
    x = xp.ones(64)
    x.flags.writable = False
    producer = Recorded(x)
    refusal = None
    try:
        library.take(producer)
    except BufferError as error:
        refusal = str(error)
    if producer.asked[-1].get("max_version"):
        assert producer.read_only
    else:
        assert "read-only" in refusal


def test_a_copy_is_made_where_it_is_asked_for(library):
    x = xp.ones(64)
    producer = Recorded(x)
    copy = library.take(producer, copy=True)
    if producer.asked[-1].get("copy"):
        assert library.address(copy) != address(x)
    source = library.make(np.ones(64))
    assert address(xp.from_dlpack(source, copy=True)) != library.address(source)


def test_what_goes_out_lives_as_long_as_it_is_seen(library, live):
    before = live()
    x = xp.arange(10_000)
    seen = library.take(x)
    del x
    gc.collect()
    # Memory that was let go would be one of these.
    others = [xp.zeros(10_000, dtype="int64") for _ in range(20)]
    millpond.wait()
    assert live() == before + 1 + len(others)
    assert np.array_equal(library.host(seen), np.arange(10_000))
    del others, seen
    gc.collect()
    assert live() == before


def test_m3_what_comes_in_lives_until_its_last_use(library, line):
    """The source is dropped, and its library allocates, while work on its memory waits behind a gate."""
    source = library.make(np.full(10_000, 3.0))
    x = xp.from_dlpack(source).to_device(line)
    y = xp.from_dlpack(source)
    other = xp.zeros(10_000, queue=line)
    gate = line.gate()
    results = []

    def compute(y):
        # Memory that the host sees is worked on by the time the call returns, so this waits for the gate.
        results.append(other + y)

    thread = threading.Thread(target=compute, args=(y,))
    thread.start()
    del source, y
    gc.collect()
    others = [library.make(np.full(10_000, 7.0)) for _ in range(20)]
    gate.open()
    thread.join()
    assert float(xp.sum(results[0])) == 30_000
    assert float(xp.sum(x)) == 30_000
    assert all(float(library.host(one).sum()) == 70_000 for one in others)


def test_m3_the_owner_is_told_when_nobody_sees_its_memory_any_more(library):
    told = []

    class Owner:
        """Hands on another's memory, and is kept with it."""

        def __init__(self, array):
            self.array = array
            weakref.finalize(self, told.append, True)

        def __dlpack_device__(self):
            return CPU

        def __dlpack__(self, **arguments):
            return self.array.__dlpack__(**arguments)

    source = library.make(np.ones(1000))
    x = xp.from_dlpack(Owner(source))
    y = xp.sum(x)
    assert float(y) == 1000
    del x, y
    millpond.wait()
    gc.collect()
    assert told == [True]
    assert library.host(source).sum() == 1000


def test_arrays_of_dpctls_names_are_exchanged_too(library):
    import millpond.dpctl.tensor as dpt

    x = dpt.arange(64, dtype="float64")
    assert library.address(library.take(x)) == x._pointer
    y = dpt.from_dlpack(library.make(np.ones(64)))
    assert isinstance(y, dpt.usm_ndarray)
    assert float(dpt.sum(y)) == 64
