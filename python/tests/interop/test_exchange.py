"""Arrays for extensions, and of them, by the C interface of DLPack 1.3."""

import importlib.util
import shutil
import subprocess
import sysconfig
import threading
from pathlib import Path

import numpy as np
import pytest

import millpond.tensor as xp

#: Has the protocol's header, and takes arrays by it.
tvm_ffi = pytest.importorskip("tvm_ffi")

CPU, CUDA = 1, 2
FLOAT, COMPLEX = 2, 5
KINDS = ["device", "shared", "host"]
READ_ONLY = 1


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
    y = exchange.through(x)
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
    y = exchange.through(x)
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
        (((3,), FLOAT, 64, CUDA, 0), BufferError, r"no memory of device \(2, 0\)"),
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
    with pytest.raises(BufferError, match="has no stream"):
        exchange.stream(xp.Array, CUDA, 0)


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
