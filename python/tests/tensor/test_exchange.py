"""Arrays and NumPy's share memory where they can, and say so where they can't."""

import copy
import pickle

import numpy as np
import pytest

import millpond.tensor as xp

from .reference import EVERY_DTYPE, LAYOUTS, in_layout, numbers


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_elements_reach_numpy_and_come_back(dtype, layout):
    theirs, ours = in_layout(numbers(dtype, (4, 5)), layout)
    for result in (xp.asnumpy(ours), xp.to_numpy(ours), np.asarray(ours)):
        assert type(result) is np.ndarray
        assert result.dtype == dtype
        np.testing.assert_array_equal(result, theirs)
    np.testing.assert_array_equal(xp.asnumpy(xp.from_numpy(theirs)), theirs)


@pytest.mark.parametrize(
    "part",
    [(), (slice(None, None, -1),), (slice(1, None), slice(None, None, 2)), (0,), (..., 1), (slice(0, 0),)],
    ids=str,
)
@pytest.mark.host
def test_arrays_of_numpy_are_shared_in_every_layout(part):
    theirs = np.arange(12.0).reshape(3, 4)
    ours = xp.asarray(theirs[part], copy=False)
    np.testing.assert_array_equal(xp.asnumpy(ours), theirs[part])
    if ours.size:
        ours[...] = -1
        assert (theirs[part] == -1).all()
        theirs[part] = 5
        assert (xp.asnumpy(ours) == 5).all()


@pytest.mark.host
def test_arrays_of_numpy_become_device_memory_unless_asked_for_theirs():
    theirs = np.arange(3)
    copies = [xp.asarray(theirs), xp.from_numpy(theirs), xp.asarray(memoryview(theirs))]
    shared = [xp.asarray(theirs, usm_type="host"), xp.asarray(theirs, copy=False), xp.from_dlpack(theirs)]
    theirs[0] = 7
    assert [x.usm_type for x in copies] == ["device"] * 3
    assert [x.tolist() for x in copies] == [[0, 1, 2]] * 3
    assert [x.tolist() for x in shared] == [[7, 1, 2]] * 3


@pytest.mark.parametrize(
    "theirs",
    [
        np.array(3, dtype=np.float32),
        np.zeros((0, 3)),
        np.arange(6).reshape(2, 3).T,
        np.arange(6.0)[::-2],
        np.arange(3, dtype=">i4"),
        np.frombuffer(bytes(range(9)), dtype=np.uint16, offset=1),
        np.broadcast_to(np.complex64(2j), (2, 2)),
        np.ones(3, dtype=bool).view(type("Derived", (np.ndarray,), {})),
        np.arange(20_000.0),
    ],
    ids=["number", "empty", "transposed", "backwards", "swapped", "askew", "broadcast", "derived", "large"],
)
def test_copies_of_arrays_of_numpy_are_as_these_were(theirs):
    expected = theirs.copy()
    ours = xp.from_numpy(theirs)
    if theirs.flags.writeable and theirs.size:
        theirs[...] = 0
    assert ours.dtype == expected.dtype.newbyteorder("=")
    np.testing.assert_array_equal(xp.asnumpy(ours), expected, strict=False)
    assert ours.shape == expected.shape


def test_copies_of_arrays_of_numpy_come_behind_what_uses_their_memory():
    x = xp.ones(8)
    gate = x.queue.gate()
    late = xp.sum(x + 1)  # The sum's memory is free at once, and in use until the gate opens.
    theirs = np.arange(8.0)
    copies = [xp.asarray(theirs) for _ in range(4)]
    theirs[...] = -1
    doubled = [2 * copy for copy in copies]
    gate.open()
    assert float(late) == 16
    assert [copy.tolist() for copy in doubled] == [[2.0 * i for i in range(8)]] * 4


def test_a_copy_is_made_where_asked_or_needed():
    theirs = np.arange(3)
    ours = xp.asarray(theirs, copy=True)
    theirs[0] = 9
    assert ours.tolist() == [0, 1, 2]
    assert xp.asarray(theirs, dtype="float32").tolist() == [9, 1, 2]
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(theirs, dtype="float32", copy=False)


@pytest.mark.host
def test_read_only_stays_read_only():
    theirs = np.arange(3)
    theirs.flags.writeable = False
    ours = xp.asarray(theirs, copy=False)
    assert xp.asarray(theirs).flags.writable
    assert not ours.flags.writable
    with pytest.raises(ValueError, match="read-only"):
        ours[0] = 1
    assert not np.asarray(xp.broadcast_to(xp.zeros(1, usm_type="host"), (3,))).flags.writeable
    assert (ours + 1).flags.writable


def test_foreign_byte_order_and_odd_addresses_are_copied():
    swapped = np.arange(3, dtype=">i4" if np.little_endian else "<i4")
    assert xp.asarray(swapped).tolist() == [0, 1, 2]
    odd = np.frombuffer(bytes(1) + np.arange(3.0).tobytes(), dtype=np.uint8)[1:].view(np.float64)
    assert xp.asarray(odd).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match=r"copy=False, but elements of .i4 that are in foreign byte order"):
        xp.asarray(swapped, copy=False)
    with pytest.raises(ValueError, match="copy=False, but elements of float64 that are not aligned"):
        xp.asarray(odd, copy=False)


def test_dtypes_of_numpy_alone_are_refused():
    with pytest.raises(TypeError, match="datetime64"):
        xp.asarray(np.asarray(["2026-01-01"], dtype="datetime64[D]"))
    with pytest.raises(TypeError, match="object"):
        xp.asarray(np.asarray([object()]))


@pytest.mark.parametrize("usm_type", ["shared", "host"])
def test_memory_that_the_host_reaches_has_a_buffer(usm_type):
    x = xp.asarray([[1, 2, 3], [4, 5, 6]], dtype="int16", usm_type=usm_type)
    view = memoryview(x)
    assert (view.shape, view.format, view.tolist()) == ((2, 3), "h", [[1, 2, 3], [4, 5, 6]])
    assert memoryview(x[:, ::2]).tolist() == [[1, 3], [4, 6]]
    shared = np.asarray(x)
    shared[0, 0] = 9
    assert x.tolist()[0][0] == 9
    x[1, 1] = -5
    assert shared[1, 1] == -5


def test_device_memory_has_no_buffer():
    with pytest.raises(BufferError, match="device memory"):
        memoryview(xp.ones(3))


def test_numpy_may_ask_for_a_dtype_or_a_copy():
    x = xp.asarray([1, 2], usm_type="host")
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    assert np.shares_memory(np.asarray(x, copy=False), np.asarray(x))
    assert not np.shares_memory(np.array(x, copy=True), np.asarray(x))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", EVERY_DTYPE)
@pytest.mark.host
def test_dlpack_keeps_dtype_and_layout(dtype, layout):
    theirs, ours = in_layout(numbers(dtype, (4, 5)), layout)
    np.testing.assert_array_equal(np.from_dlpack(ours), theirs)
    back = xp.from_dlpack(ours)
    assert isinstance(back, xp.Array)
    assert back.dtype == dtype
    np.testing.assert_array_equal(xp.asnumpy(back), theirs)
    np.testing.assert_array_equal(xp.asnumpy(xp.from_dlpack(np.array(theirs))), theirs)


@pytest.mark.host
def test_dlpack_shares_memory():
    theirs = np.arange(3.0)
    ours = xp.from_dlpack(theirs)
    ours[0] = 9
    assert theirs[0] == 9
    assert xp.from_dlpack(theirs, copy=True).data.ptr != ours.data.ptr
    x = xp.ones(2)
    assert x.__dlpack_device__() == (1, 0)
    assert xp.from_dlpack(x, device=x.device).device == x.device


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("usm_type", ["device", "shared"])
def test_pickling_keeps_everything(protocol, usm_type):
    for x in (
        xp.reshape(xp.arange(6, dtype="int16", usm_type=usm_type), (2, 3)),
        xp.ones((2, 3), dtype="complex64", usm_type=usm_type).T,
        xp.zeros((0, 2), usm_type=usm_type),
        xp.asarray(1.5, usm_type=usm_type),
        xp.broadcast_to(xp.ones(1, usm_type=usm_type), (2, 2)),
    ):
        back = pickle.loads(pickle.dumps(x, protocol))
        assert (back.dtype, back.shape, back.usm_type, back.device) == (x.dtype, x.shape, usm_type, x.device)
        assert back.flags.writable == x.flags.writable
        np.testing.assert_array_equal(xp.asnumpy(back), xp.asnumpy(x))


def test_pickled_elements_may_travel_apart():
    x = xp.arange(1000, dtype="float64")
    buffers = []
    text = pickle.dumps(x, 5, buffer_callback=buffers.append)
    assert len(text) < 1000
    assert [buffer.raw().nbytes for buffer in buffers] == [8000]
    np.testing.assert_array_equal(xp.asnumpy(pickle.loads(text, buffers=buffers)), xp.asnumpy(x))


def test_functions_and_dtypes_are_pickled_by_name():
    for value in (xp.sin, xp.float32, xp.sum):
        assert pickle.loads(pickle.dumps(value)) is value
    assert copy.deepcopy(xp.int8) is xp.int8


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, xp.copy])
def test_copies_are_apart(how):
    x = xp.asarray([1, 2, 3])
    y = how(x)
    y[0] = 9
    assert x.tolist() == [1, 2, 3]
    assert y.dtype == x.dtype
