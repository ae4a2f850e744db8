"""Arrays for extensions, and of them, by the C interface of DLPack 1.3."""

import ctypes
import importlib.util
import os
import shutil
import subprocess
import sysconfig
import threading
from pathlib import Path

import numpy as np
import pytest

import millpond
import millpond.tensor as xp

#: Has the protocol's header, and takes arrays by it.
tvm_ffi = pytest.importorskip("tvm_ffi")

CPU, CUDA, ROCM = 1, 2, 10
FLOAT, COMPLEX = 2, 5
KINDS = ["device", "shared", "host"]
READ_ONLY = 1

#: Consumers here look at elements where they are; those of cards have tests of their own.
pytestmark = pytest.mark.host

CARDS = [device for device in millpond.devices() if device.backend == "cuda"]


@pytest.fixture(scope="module")
def exchange(tmp_path_factory):
    """The consumer in C."""
    if shutil.which("cc") is None:
        pytest.skip("there is no cc")
    source = Path(__file__).with_name("exchange.c")
    made = tmp_path_factory.mktemp("exchange") / ("exchange" + sysconfig.get_config_var("EXT_SUFFIX"))
    headers = [tvm_ffi.libinfo.find_dlpack_include_path(), sysconfig.get_path("include")]
    options = [option for header in headers for option in ("-isystem", header)]
    strict = ["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
    subprocess.run(["cc", *strict, "-shared", "-fPIC", *options, source, "-o", made], check=True)
    specification = importlib.util.spec_from_file_location("exchange", made)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_table_belongs_to_the_class(exchange):
    assert exchange.version(xp.Array) == (1, 3)
    assert xp.ones(1).__dlpack_c_exchange_api__ is xp.Array.__dlpack_c_exchange_api__


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("view", [lambda x: x, lambda x: x[::2, 1:], lambda x: x.T, lambda x: x[1, 2], lambda x: x[:0]])
def test_what_is_lent_is_where_the_elements_are(exchange, kind, view):
    x = view(xp.reshape(xp.arange(12, dtype="float32", usm_type=kind), (3, 4)))
    address, device, dtype, shape, strides = exchange.lent(x)
    assert (device, dtype, shape) == ((CPU, 0), (FLOAT, 32, 1), x.shape)
    assert strides == x.strides
    assert address == np.from_dlpack(x).ctypes.data


def test_what_is_lent_waits_for_what_is_pending(exchange, line):
    x = xp.zeros(100, queue=line)
    gate = line.gate()
    x += 1
    threading.Timer(0.02, gate.open).start()
    exchange.add(x, 2.0)
    assert x.tolist() == [3.0] * 100


def test_what_is_lent_may_be_written_and_stays_asynchronous(exchange, line):
    x = xp.ones(10, queue=line)
    exchange.add(x[::3], 1.0)
    gate = line.gate()
    x *= 2
    assert not line.is_idle, "memory that is shared with the host would have been worked on at once"
    gate.open()
    assert x.tolist() == [4.0, 2.0, 2.0] * 3 + [4.0]


def test_what_is_lent_follows_an_object_that_becomes_another_view(exchange):
    x = xp.arange(6.0)
    assert exchange.lent(x)[3:] == ((6,), (1,))
    x.shape = (2, 3)
    assert exchange.lent(x)[3:] == ((2, 3), (3, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_exported_is_owned(exchange, kind, live):
    before = live()
    x = xp.arange(5.0, usm_type=kind)
    kept, flags, (address, *_) = exchange.keep(x)
    assert flags == 0
    assert address == np.from_dlpack(x).ctypes.data
    del x
    assert live() == before + 1
    del kept
    assert live() == before


def test_an_export_waits_and_shares_for_good(exchange, line):
    x = xp.zeros(100, queue=line)
    gate = line.gate()
    x += 1
    threading.Timer(0.02, gate.open).start()
    y = exchange.through(x, xp.Array)
    assert np.from_dlpack(y).sum() == 100
    x += 1
    assert line.is_idle
    assert y.tolist() == [2.0] * 100


def test_read_only_arrays_are_exported_as_such_and_not_lent(exchange):
    x = xp.arange(3.0)
    x.flags.writable = False
    assert exchange.keep(x)[1] == READ_ONLY
    with pytest.raises(BufferError, match="read-only"):
        exchange.lent(x)
    y = exchange.through(x, xp.Array)
    assert not y.flags.writable


def test_other_objects_are_type_errors(exchange):
    class Pretender:
        __dlpack_c_exchange_api__ = xp.Array.__dlpack_c_exchange_api__

    for function in (exchange.lent, exchange.keep):
        with pytest.raises(TypeError, match="expected an array, got an object of type .*Pretender"):
            function(Pretender())


def test_structures_of_others_are_taken_and_their_owner_is_told(exchange, live):
    before, told = live(), exchange.deletions()
    x = exchange.foreign(xp.Array, FLOAT, 64, 1, 8, False)
    assert x.tolist() == [2.0, 3.0]
    assert (x.usm_type, x.flags.writable, exchange.deletions()) == ("host", True, told)
    del x
    assert live() == before
    assert exchange.deletions() == told + 1
    assert not exchange.foreign(xp.Array, FLOAT, 64, 1, 0, True).flags.writable


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((FLOAT, 64, 2, 0), r"version 2.\d of DLPack is unknown"),
        ((FLOAT, 128, 1, 0), "are of no dtype"),
        ((FLOAT, 64, 1, 4), "not aligned"),
    ],
)
def test_what_cannot_be_taken_stays_the_givers(exchange, arguments, message, live):
    before, told = live(), exchange.deletions()
    with pytest.raises(BufferError, match=message):
        exchange.foreign(xp.Array, *arguments, False)
    assert live() == before
    assert exchange.deletions() == told + 1, "once, by the giver"


def test_arrays_are_made_without_the_lock(exchange, live):
    before = live()
    x = exchange.allocate(xp.Array, (2, 3), FLOAT, 64, CPU, 0)
    assert (x.shape, x.dtype, x.tolist()) == ((2, 3), xp.float64, [[0.0] * 3] * 2)
    assert exchange.allocate(xp.Array, (), COMPLEX, 64, CPU, 0).dtype == xp.complex64
    assert exchange.allocate(xp.Array, (0, 4), FLOAT, 32, CPU, 0).shape == (0, 4)
    del x
    assert live() == before


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (((3,), FLOAT, 64, ROCM, 0), BufferError, r"no memory of device \(10, 0\)"),
        (((3,), FLOAT, 80, CPU, 0), BufferError, "there is no dtype"),
        (((-1,), FLOAT, 64, CPU, 0), BufferError, r"shape \[-1\] is negative"),
        (((1 << 50,), FLOAT, 64, CPU, 0), MemoryError, "out of memory|memory"),
    ],
)
def test_what_cannot_be_made_is_told(exchange, arguments, error, message):
    with pytest.raises(error, match=message):
        exchange.allocate(xp.Array, *arguments)


def test_memory_of_the_cpu_has_no_stream(exchange):
    assert exchange.stream(xp.Array, CPU, 0) == 0
    for device in [(CUDA, 99), (ROCM, 0)]:
        with pytest.raises(BufferError, match="has no stream"):
            exchange.stream(xp.Array, *device)


def test_a_library_takes_arrays_by_the_table(live):
    before = live()
    x = xp.arange(6.0)
    seen = tvm_ffi.from_dlpack(x)
    assert (seen.shape, str(seen.dtype)) == ((6,), "float64")
    del x
    assert np.from_dlpack(seen).sum() == 15.0
    assert live() == before + 1
    del seen
    assert live() == before


def test_arrays_of_pytorch_go_by_both_tables(exchange, live):
    torch = pytest.importorskip("torch")
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("this PyTorch has no such table")
    before = live()
    theirs = torch.arange(6.0).reshape(2, 3)
    x = exchange.through(theirs.T, xp.Array)
    x += 1
    assert (x.shape, x.tolist()) == ((3, 2), (theirs.T).tolist())
    ours = exchange.through(x, torch.Tensor)
    assert (type(ours), ours.data_ptr()) == (torch.Tensor, theirs.data_ptr())
    del x, ours
    assert live() == before


class Card:
    """A card as an extension sees it, which gives work to the stream that it is told of."""

    def __init__(self, device):
        self.device = device
        self.number = xp.device_to_dldevice(device)[1]
        self.driver = ctypes.CDLL(os.environ.get("MILLPOND_CUDA", "libcuda.so.1"))
        context = ctypes.c_void_p()
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), self.number)
        self.call("cuCtxPushCurrent_v2", context)

    def call(self, name, *arguments):
        status = getattr(self.driver, name)(*arguments)
        assert status == 0, f"{name}: {status}"

    def fill(self, address, value, nbytes, stream):
        pointers = ctypes.c_uint64(address), ctypes.c_ubyte(value), ctypes.c_size_t(nbytes), ctypes.c_void_p(stream)
        self.call("cuMemsetD8Async", *pointers)


@pytest.fixture(params=CARDS or [None], ids=str)
def card(request):
    if request.param is None:
        pytest.skip("there is no device with CUDA")
    return Card(request.param)


#: So many bytes that a fill is still going on when the call has returned that asks for it.
MANY = 16 << 20


def test_arrays_of_cards_are_lent_and_exported_where_they_are(exchange, card):
    x = xp.reshape(xp.arange(12, dtype="int32", device=card.device), (3, 4))[1:, ::2]
    address, device, *rest = exchange.lent(x)
    assert (address, device) == (x.data.ptr + 4 * 4, (CUDA, card.number))
    assert rest == [(0, 32, 1), x.shape, x.strides]
    kept, flags, (exported, device, *_) = exchange.keep(x)
    assert (exported, device, flags) == (address, (CUDA, card.number), 0)
    del kept
    y = exchange.through(x, xp.Array)
    assert (y.device, y.data.ptr, y.shape) == (card.device, address, x.shape)
    assert y.tolist() == [[4, 6], [8, 10]]
    assert exchange.stream(xp.Array, CUDA, card.number) == card.device.stream


def test_what_a_card_is_given_on_arrays_that_are_lent_is_in_order(exchange, card):
    stream = exchange.stream(xp.Array, CUDA, card.number)
    x = xp.zeros(MANY, dtype="uint8", device=card.device)
    for value in range(1, 20):
        x[...] = 255
        address, *_ = exchange.lent(x)
        card.fill(address, value, MANY, stream)
        y = xp.copy(x)
        assert int(y[0]) == int(y[-1]) == value
    x[...] = 255
    assert x.tolist()[-1] == 255


def test_memory_that_a_card_has_work_on_serves_others_later(exchange, card):
    stream = exchange.stream(xp.Array, CUDA, card.number)
    for value in range(1, 10):
        x = xp.zeros(MANY, dtype="uint8", device=card.device)
        address, *_ = exchange.lent(x)
        for _ in range(10):
            card.fill(address, value, MANY, stream)
        del x
        y = xp.full(MANY, 200, dtype="uint8", device=card.device)
        assert int(y[0]) == int(y[-1]) == 200


def test_arrays_that_extensions_make_on_a_card_follow_their_work(exchange, card, live, eventually):
    before = live()
    stream = exchange.stream(xp.Array, CUDA, card.number)
    x = exchange.allocate(xp.Array, (MANY,), 1, 8, CUDA, 0)
    card.fill(x.data.ptr, 7, MANY, stream)
    assert (x.dtype, x.device) == (xp.uint8, card.device)
    assert int(x[-1]) == 7
    x += 1
    card.fill(x.data.ptr, 9, MANY // 2, stream)
    assert (int(x[0]), int(x[-1])) == (9, 8)
    del x
    # Both handles go behind the stream, one after the other.
    eventually(lambda: live() == before)


def test_failures_reach_whom_arrays_are_lent_to(exchange, card):
    queue = card.device.create_queue()
    x = xp.zeros(4, device=card.device, queue=queue)

    def fail():
        raise OSError("the disk is full")

    failed = queue.task(fail, [x])
    with pytest.raises(millpond.CommandError, match="the disk is full"):
        failed.wait()
    with pytest.raises(millpond.CommandError, match="the disk is full"):
        exchange.lent(x)
