import copy
import gc
import pickle
import threading

import numpy as np
import pytest

import millpond.dpctl.tensor as dpt
from millpond import dpctl
from millpond.dpctl.memory import MemoryUSMDevice, MemoryUSMShared
from millpond.dpctl.utils import ExecutionPlacementError

KINDS = ["device", "shared", "host"]


@pytest.fixture
def x():
    return dpt.reshape(dpt.arange(12), (3, 4))


class Shown:
    """Something that shows an array's memory."""

    def __init__(self, array):
        self.__sycl_usm_array_interface__ = array.__sycl_usm_array_interface__


def test_an_array_knows_what_it_is():
    queue = dpctl.SyclQueue()
    x = dpt.usm_ndarray((2, 3), dtype="f4", buffer="shared", buffer_ctor_kwargs={"queue": queue})
    assert (x.shape, x.strides, x.ndim, x.size, x.itemsize, x.nbytes) == ((2, 3), (3, 1), 2, 6, 4, 24)
    assert x.dtype == np.float32
    assert isinstance(x.dtype, np.dtype)
    assert x.usm_type == "shared"
    assert x.sycl_queue == x.device.sycl_queue == queue
    assert x.sycl_device == queue.sycl_device
    assert x.sycl_context == queue.sycl_context
    assert isinstance(x.usm_data, MemoryUSMShared)
    assert x.usm_data is x.usm_data
    assert len(x) == 2
    assert x.__array_namespace__() is dpt
    assert x.__array_namespace__("2024.12") is dpt
    with pytest.raises(ValueError, match="2024.12"):
        x.__array_namespace__("2021.12")


@pytest.mark.parametrize("shape", [(), 5, (0,), (2, 0), (4, 5), np.int32(7), np.asarray([2, 3])])
def test_shapes_are_what_numpy_takes_for_one(shape):
    expected = np.empty(shape)
    x = dpt.usm_ndarray(shape)
    assert (x.shape, x.size) == (expected.shape, expected.size)
    assert x.dtype == np.float64


def test_an_array_is_over_memory_by_strides_and_offset():
    memory = MemoryUSMShared(96)
    np.frombuffer(memory)[:] = np.arange(12)
    x = dpt.usm_ndarray((3, 2), dtype="f8", strides=(4, -2), offset=3, buffer=memory)
    assert dpt.asnumpy(x).tolist() == [[3, 1], [7, 5], [11, 9]]
    assert x._pointer == memory._pointer + 24
    assert x._element_offset == 3
    assert x._byte_bounds == (memory._pointer + 8, memory._pointer + 96)
    x[...] = 0
    assert np.frombuffer(memory).tolist() == [0, 0, 2, 0, 4, 0, 6, 0, 8, 0, 10, 0]
    part = dpt.usm_ndarray(2, dtype="f8", buffer=type(memory)(memory.view(16, 32)), offset=1)
    assert dpt.asnumpy(part).tolist() == [0, 4]
    turned = dpt.usm_ndarray((2, 3), dtype="f8", order="F", buffer=memory)
    assert turned.strides == (1, 2)
    assert dpt.usm_ndarray(12, dtype="f8", buffer=x).usm_data._pointer == memory._pointer


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"shape": {}}, TypeError),
        ({"shape": 5, "dtype": "O"}, TypeError),
        ({"shape": 5, "dtype": ">f8"}, ValueError),
        ({"shape": 5, "order": "Z"}, ValueError),
        ({"shape": 5, "buffer": "disk"}, ValueError),
        ({"shape": 5, "buffer": {}}, ValueError),
        ({"shape": 5, "strides": (1, 2)}, ValueError),
        ({"shape": 5, "strides": "1"}, ValueError),
        ({"shape": 13, "buffer": MemoryUSMDevice(96)}, ValueError),
        ({"shape": 12, "buffer": MemoryUSMDevice(96), "offset": 1}, ValueError),
        ({"shape": 12, "buffer": MemoryUSMDevice(96), "offset": -1}, ValueError),
        ({"shape": 3, "buffer": MemoryUSMDevice(96), "strides": (-1,)}, ValueError),
        ({"shape": 3, "buffer": MemoryUSMDevice(MemoryUSMDevice(96).view(4))}, ValueError),
        ({"shape": 11, "buffer": MemoryUSMDevice(MemoryUSMDevice(96).view(8, 80))}, ValueError),
        ({"shape": 2, "buffer": MemoryUSMDevice(MemoryUSMDevice(96).view(8, 80)), "strides": (-1,)}, ValueError),
    ],
)
def test_arrays_that_cannot_be_are_refused(arguments, error):
    with pytest.raises(error):
        dpt.usm_ndarray(**arguments)


def test_views_share_memory_and_namespace(x):
    x._set_namespace(np)
    for view in (x[1:], x.T, x.mT, x[None], x.real):
        assert view.usm_data._pointer == x.usm_data._pointer
        assert view.__array_namespace__() is np
    x[1:, ::2] = 0
    assert dpt.asnumpy(x).tolist() == [[0, 1, 2, 3], [0, 5, 0, 7], [0, 9, 0, 11]]
    assert [int(row[1]) for row in x] == [1, 5, 9]
    assert 9 in x
    assert 8 not in x
    x.shape = (4, 3)
    assert x.strides == (3, 1)
    with pytest.raises(AttributeError, match="without a copy"):
        x.T.shape = (12,)
    x.flags["W"] = False
    assert not x[0].flags.writable
    with pytest.raises(ValueError, match="read-only"):
        x[0] = 1
    with pytest.raises(ValueError, match="deleted"):
        del x[0]


def test_parts_of_complex_numbers_are_views():
    z = dpt.asarray([1 + 2j, 3 + 4j])
    z.real = 0
    z.imag[...] = dpt.asarray([5, 6])
    assert dpt.asnumpy(z).tolist() == [5j, 6j]


def test_assignments_cast_as_numpy_does(x):
    x[0] = 2.7
    x[1] = 3 + 4j
    x[2, :2] = dpt.asarray([5.9 + 1j, 6.2])
    x[2, 2:] = np.asarray([7, 8], dtype="i2")
    assert dpt.asnumpy(x).tolist() == [[2, 2, 2, 2], [3, 3, 3, 3], [5, 6, 7, 8]]
    flags = dpt.zeros(2, dtype="?")
    flags[...] = dpt.asarray([1j, 0])
    assert dpt.asnumpy(flags).tolist() == [True, False]


def test_arrays_are_indices_of_the_same_queue(x):
    assert dpt.asnumpy(x[dpt.asarray([2, 0]), 1:]).tolist() == [[9, 10, 11], [1, 2, 3]]
    assert dpt.asnumpy(x[x > 9]).tolist() == [10, 11]
    assert int(x[dpt.asarray(1), dpt.asarray(2)]) == 6
    assert dpt.asnumpy(x[np.asarray([True, False, True])]).shape == (2, 4)
    with pytest.raises(ExecutionPlacementError, match="the index is of"):
        x[dpt.asarray([0], sycl_queue=dpctl.SyclQueue())]
    with pytest.raises(IndexError):
        x[[0, 3]]


@pytest.mark.parametrize(("mode", "expected"), [("wrap", [4, 0, 4, 0]), ("clip", [0, 0, 4, 0])])
@pytest.mark.parametrize("dtype", ["i1", "i8"])
def test_places_beyond_the_axis_are_brought_into_it(mode, expected, dtype):
    x, places = dpt.arange(5), dpt.asarray([-1, -100, 100, 0], dtype=dtype)
    assert dpt.asnumpy(dpt.take(x, places, mode=mode)).tolist() == expected
    assert dpt.asnumpy(dpt.take_along_axis(x, places, mode=mode)).tolist() == expected
    dpt.put(x, places[1:2], -7, mode=mode)
    dpt.put_along_axis(x, places[2:3], dpt.asarray([-9]), mode=mode)
    assert dpt.asnumpy(x).tolist() == [-7, 1, 2, 3, -9]
    # Bounds that the indices' dtype doesn't hold.
    assert dpt.asnumpy(dpt.take(dpt.arange(200), places[:1], mode=mode)).tolist() == [199 if mode == "wrap" else 0]
    unsigned = dpt.asarray([200, 1], dtype="u1")
    assert dpt.asnumpy(dpt.take(dpt.arange(5), unsigned, mode=mode)).tolist() == [4, 1]
    with pytest.raises(ValueError, match="'wrap' or 'clip'"):
        dpt.take(x, places, mode="raise")
    with pytest.raises(IndexError, match="indices are integers"):
        dpt.take(x, dpt.ones(2))


def test_numbers_of_python_come_of_one_element():
    x = dpt.full((1, 1), 3)
    assert (int(x), float(x), complex(x), bool(x)) == (3, 3.0, 3 + 0j, True)
    assert [10, 11, 12, 13][x] == 13
    for convert in (int, float, complex, bool):
        with pytest.raises(ValueError, match="one element"):
            convert(dpt.ones(2))
    with pytest.raises(IndexError, match="an index is an integer"):
        [1][dpt.ones(())]


def test_operators_are_the_functions(x):
    host = np.arange(12).reshape(3, 4)
    two = np.float64(2)
    for operate in [
        lambda a: a + 1,
        lambda a: 1 - a,
        lambda a: two * a,
        lambda a: a / two,
        lambda a: a // 5,
        lambda a: 100 % (a + 1),
        lambda a: a**2,
        lambda a: 2**a,
        lambda a: (a << 1) | 1,
        lambda a: 64 >> a ^ 3 & a,
        lambda a: ~a + -a + +a + abs(a),
        lambda a: a @ a.T,
        lambda a: a > 3,
        lambda a: a <= 3,
        lambda a: (a == 3) != (a < 2),
        lambda a: a <= host,
    ]:
        assert np.array_equal(dpt.asnumpy(operate(x)), operate(host))
    y = x
    for operate in ("__iadd__", "__imul__", "__ixor__", "__ilshift__", "__ifloordiv__", "__ipow__", "__isub__"):
        x, host = getattr(x, operate)(2), getattr(host, operate)(2)
        assert x is y
        assert np.array_equal(dpt.asnumpy(x), host)
    with pytest.raises(ValueError, match="in place"):
        x += dpt.ones(4)
    x.flags.writable = False
    with pytest.raises(ValueError, match="read-only"):
        x += 1
    with pytest.raises(ValueError, match="isn't computed in place"):
        dpt.hypot._inplace_op(x, x)
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)


@pytest.mark.parametrize(
    ("function", "dtypes", "expected"),
    [
        ("sin", ["?"], "f2"),
        ("sin", ["u1"], "f2"),
        ("sqrt", ["i2"], "f4"),
        ("exp", ["i4"], "f8"),
        ("hypot", ["i1", "u1"], "f2"),
        ("logaddexp", ["i1", "i2"], "f4"),
        ("atan2", ["i1", "f4"], "f4"),
        ("divide", ["i1", "i1"], "f8"),
        ("reciprocal", ["i1"], "f8"),
        ("square", ["?"], "i1"),
        ("conj", ["?"], "i1"),
        ("proj", ["f4"], "c8"),
        ("angle", ["f8"], "f8"),
        ("angle", ["i1"], "f4"),
        ("proj", ["i4"], "c16"),
        ("floor", ["i4"], "i4"),
        ("equal", ["i8", "u8"], "?"),
        ("add", ["i4", "u4"], "i8"),
    ],
)
def test_results_have_the_dtypes_of_dpctl(function, dtypes, expected):
    function = getattr(dpt, function)
    operands = [dpt.ones(3, dtype=dtype) for dtype in dtypes]
    assert function(*operands).dtype == expected
    assert function(*operands, out=dpt.empty(3, dtype=expected)).dtype == expected
    other = "f8" if expected != "f8" else "f4"
    with pytest.raises(ValueError, match="the output is of"):
        function(*operands, out=dpt.empty(3, dtype=other))
    with pytest.raises(ValueError, match="the output has shape"):
        function(*operands, out=dpt.empty(4, dtype=expected))
    with pytest.raises(TypeError, match="expected a usm_ndarray"):
        function(*operands, out=np.empty(3, dtype=expected))


def test_dtypes_that_a_function_is_not_computed_of_are_refused():
    for function, dtype in [("bitwise_and", "f4"), ("negative", "?"), ("atan2", "c8"), ("floor", "c8")]:
        function = getattr(dpt, function)
        with pytest.raises(ValueError, match="not defined"):
            function(*[dpt.ones(2, dtype=dtype)] * function.nin)
    for reduce in (dpt.logsumexp, dpt.reduce_hypot, dpt.cumulative_logsumexp, dpt.var, dpt.std):
        with pytest.raises(ValueError, match="isn't computed of complex64"):
            reduce(dpt.ones(2, dtype="c8"))


def test_bounds_of_clip_are_of_the_arrays_dtype():
    x = dpt.asarray([1, 5], dtype="i4")
    assert dpt.clip(x, dpt.asarray(2, dtype="i2"), 3).dtype == "i4"
    with pytest.raises(ValueError, match="bounds of float64 aren't bounds of int32"):
        dpt.clip(x, dpt.ones(()))
    with pytest.raises(ValueError, match="the output is of float64"):
        dpt.clip(x, 0, 1, out=dpt.empty(2))


@pytest.mark.parametrize("function", [dpt.tril, dpt.triu, dpt.copy, dpt.empty_like, dpt.sin])
def test_the_order_of_axes_is_kept(function):
    x = dpt.ones((3, 4), order="F")
    assert function(x).flags.f_contiguous
    assert function(x.T).flags.c_contiguous


def test_sums_and_products_are_of_the_dtype_asked_for():
    x = dpt.asarray([-1, 1])
    assert bool(dpt.sum(x, dtype="?"))
    assert dpt.asnumpy(dpt.cumulative_sum(x, dtype="?")).tolist() == [True, True]
    assert dpt.asnumpy(dpt.cumulative_prod(dpt.asarray([2.5, 0]), dtype="?")).tolist() == [True, False]
    assert dpt.cumulative_sum(dpt.asarray([1 + 1j]), dtype="i4").dtype == "i4"
    assert dpt.logsumexp(dpt.asarray([0, 0]), dtype="i4").dtype == "i4"
    out = dpt.empty(2, dtype="?")
    assert dpt.cumulative_sum(x, dtype="?", out=out) is out


def test_arrays_of_two_queues_are_not_combined(x):
    other = dpt.ones((3, 4), sycl_queue=dpctl.SyclQueue())
    mask = dpt.ones((3, 4), dtype="?")
    for combine in [
        lambda: x + other,
        lambda: dpt.add(x, 1, out=dpt.empty((3, 4), dtype="i8", sycl_queue=other.sycl_queue)),
        lambda: x.__iadd__(other),
        lambda: dpt.matmul(x, other.T),
        lambda: dpt.where(mask, x, other),
        lambda: dpt.broadcast_arrays(x, other),
        lambda: dpt.take(dpt.arange(3), dpt.arange(2, sycl_queue=other.sycl_queue)),
        lambda: dpt.searchsorted(dpt.arange(3), other),
        lambda: dpt.extract(mask, other),
        lambda: dpt.place(other, mask, dpt.ones(1)),
        lambda: dpt.sum(x, out=dpt.empty((), dtype="i8", sycl_queue=other.sycl_queue)),
        lambda: dpt.clip(x, other[0, 0]),
        lambda: dpt.asarray([x, other]),
        lambda: dpt.isin(x, other),
        lambda: dpt.allclose(x, other),
        lambda: dpt.diff(x, prepend=other),
    ]:
        with pytest.raises(ExecutionPlacementError, match="several queues"):
            combine()
    assert dpt.asarray([x, other], sycl_queue=x.sycl_queue).shape == (2, 3, 4)
    assert dpt.add(x, other.to_device(x.device)).sycl_queue == x.sycl_queue
    x[...] = other
    assert dpt.all(x == 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_results_are_in_the_memory_that_operands_come_to(kind, other):
    expected = dpctl.utils.get_coerced_usm_type([kind, other])
    x, y = dpt.ones(3, usm_type=kind), dpt.ones(3, usm_type=other)
    assert dpt.add(x, y).usm_type == dpt.concat([x, y]).usm_type == dpt.asarray([x, [0, 1, 2], y]).usm_type == expected


def test_what_shows_memory_is_an_operand_without_a_copy(x):
    shown = Shown(x)
    assert dpt.asarray(shown)._pointer == x._pointer
    assert dpt.all(dpt.add(shown, x) == x * 2)
    x.flags.writable = False
    assert not dpt.asarray(Shown(x)).flags.writable
    memory = MemoryUSMShared(4)
    assert dpt.asarray(memory).dtype == np.uint8
    assert dpt.asarray(memory).flags.writable
    own = type("Own", (), {"__usm_ndarray__": x})()
    assert dpt.asarray(own)._pointer == x._pointer


@pytest.mark.parametrize(
    ("obj", "dtype"),
    [
        (5, "i8"),
        ([1, 2.5], "f8"),
        ([[True], [False]], "?"),
        (np.arange(3, dtype="i2"), "i2"),
        (np.arange(3, dtype=">i4"), "i4"),
        (np.float32(2), "f4"),
        (b"pond", "u1"),
        (range(4), "i8"),
        ([], "f8"),
    ],
)
def test_asarray_takes_what_is_of_the_host(obj, dtype):
    x = dpt.asarray(obj)
    assert (x.dtype, x.usm_type) == (np.dtype(dtype), "device")
    expected = np.frombuffer(obj, dtype="u1") if isinstance(obj, bytes) else np.asarray(obj)
    assert np.array_equal(dpt.asnumpy(x), expected)
    with pytest.raises(ValueError, match="copy=False"):
        dpt.asarray(obj, copy=False)


def test_asarray_gives_arrays_back_where_nothing_else_is_wanted(x):
    assert dpt.asarray(x) is x
    assert dpt.asarray(x, copy=True)._pointer != x._pointer
    assert dpt.asarray(x, dtype="f4").dtype == "f4"
    for keywords, error in [
        ({"copy": "yes"}, TypeError),
        ({"order": "Z"}, ValueError),
        ({"order": 1}, TypeError),
        ({"usm_type": "disk"}, ValueError),
        ({"sycl_queue": "cpu"}, TypeError),
        ({"sycl_queue": dpctl.SyclQueue(), "device": dpctl.SyclQueue()}, TypeError),
    ]:
        with pytest.raises(error):
            dpt.asarray(x, **keywords)
    for obj in (None, {}, ["a"], [[1], [1, 2]], [x, x[0]]):
        with pytest.raises(ValueError, match=r"asarray|inhomogeneous"):
            dpt.asarray(obj)
    with pytest.raises(TypeError, match="elements of object"):
        dpt.asarray(np.asarray([None]))
    with pytest.raises(TypeError, match="elements of object"):
        dpt.asarray(np.asarray([1, 2], dtype=object))


def test_devices_are_queues(x):
    device = x.device
    assert device == dpt.Device.create_device() == dpt.Device.create_device("cpu") == x.sycl_queue
    assert hash(device) == hash(x.sycl_queue)
    assert repr(device) == "Device(native_cpu:cpu:0)"
    assert device != dpt.Device.create_device(dpctl.SyclQueue())
    assert dpt.ones(3, device=device).device == device
    with pytest.raises(TypeError, match="create_device"):
        dpt.Device()
    part = dpctl.SyclDevice().create_sub_devices(partition=1)[0]
    with pytest.raises(ValueError, match="name a SyclQueue of it"):
        dpt.Device.create_device(part)
    moved = x.to_device(dpctl.SyclQueue(part))
    assert moved.sycl_device == part
    assert np.array_equal(dpt.asnumpy(moved), dpt.asnumpy(x))
    assert x.to_device(device) is x


def test_a_stream_follows_what_the_array_was_given_to_do(x):
    own, stream = dpctl.SyclQueue(), dpctl.SyclQueue()
    y = x.to_device(own)
    gate = own._queue.gate()
    own.submit_barrier()
    y.to_device(y.device, stream=stream)
    event = stream.submit_barrier()
    with pytest.raises(TimeoutError):
        event._event.wait(timeout=0.05)
    gate.open()
    event.wait()
    with pytest.raises(TypeError, match="stream is a SyclQueue"):
        y.to_device(y.device, stream=1)


def test_the_namespace_tells_of_itself():
    info = dpt.__array_namespace_info__()
    assert info.default_device() in info.devices()
    assert info.default_dtypes()["real floating"] == np.float64
    assert set(info.dtypes(kind="integral")) == {f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)}
    assert "bfloat16" not in info.dtypes()
    assert info.capabilities()["boolean indexing"]


def test_numpy_does_not_convert_arrays_unasked(x):
    with pytest.raises(TypeError, match="asnumpy"):
        np.asarray(x)


@pytest.mark.parametrize("kind", KINDS)
def test_arrays_of_numpy_are_copies(kind):
    x = dpt.zeros(3, usm_type=kind)
    host = dpt.asnumpy(x)
    host[0] = 1
    assert not dpt.any(x)


def test_arrays_are_copied_and_pickled(x):
    for again in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert isinstance(again, dpt.usm_ndarray)
        assert again._pointer != x._pointer
        assert np.array_equal(dpt.asnumpy(again), dpt.asnumpy(x))
    assert pickle.loads(pickle.dumps(dpt.sin)) is dpt.sin


def test_reading_how_memory_is_shown_waits_and_metadata_does_not():
    queue = dpctl.SyclQueue()
    x = dpt.zeros(1000, sycl_queue=queue)
    gate = queue._queue.gate()
    y = x + 1
    assert (y.shape, y.dtype, y.strides, y._element_offset) == ((1000,), np.float64, (1,), 0)
    assert y._pointer
    threading.Timer(0.02, gate.open).start()
    shown = y.__sycl_usm_array_interface__
    assert y.sycl_queue._queue.is_idle
    assert shown["shape"] == (1000,)


def test_dropping_operands_of_pending_work_is_safe(live):
    before = live()
    queue = dpctl.SyclQueue()
    gate = queue._queue.gate()
    x = dpt.full(10_000, 2.0, sycl_queue=queue)
    y = dpt.sin(x) + x
    del x
    gc.collect()
    others = [dpt.full(10_000, 7.0, sycl_queue=queue) for _ in range(5)]
    gate.open()
    assert np.allclose(dpt.asnumpy(y), np.sin(2) + 2)
    assert all(float(dpt.sum(other)) == 70_000 for other in others)
    del y, others
    assert live() == before


def test_one_queue_of_many_threads_keeps_the_order_of_each():
    queue = dpctl.SyclQueue()
    totals = []

    def work(start):
        x = dpt.full(500, start, sycl_queue=queue)
        for _ in range(50):
            x += 1
            x = x * 2 - x
        totals.append((start, float(dpt.max(x)), float(dpt.min(x))))

    threads = [threading.Thread(target=work, args=(float(start),)) for start in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(totals) == [(start, start + 50, start + 50) for start in range(8)]
