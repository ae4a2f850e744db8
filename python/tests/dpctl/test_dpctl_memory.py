import gc
import pickle
import sys
import threading

import numpy as np
import pytest

import millpond
from millpond import dpctl
from millpond.dpctl.memory import (
    MemoryUSMDevice,
    MemoryUSMHost,
    MemoryUSMShared,
    USMAllocationError,
    as_usm_memory,
)

KINDS = {"device": MemoryUSMDevice, "shared": MemoryUSMShared, "host": MemoryUSMHost}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


@pytest.fixture
def cls(kind):
    return KINDS[kind]


class Shown:
    """Something that passes on how memory is shown, changed."""

    def __init__(self, memory, /, **changes):
        self.shown = {**memory.__sycl_usm_array_interface__, **changes}

    @property
    def __sycl_usm_array_interface__(self):
        return self.shown


def test_memory_knows_what_it_is(cls, kind):
    queue = dpctl.SyclQueue()
    memory = cls(1024, alignment=64, queue=queue)
    assert memory.nbytes == memory.size == len(memory) == 1024
    assert memory.sycl_queue == memory._queue == queue
    assert memory.sycl_device == queue.sycl_device
    assert memory.sycl_context == memory._context == queue.sycl_context
    assert memory.get_usm_type() == kind
    assert memory.get_usm_type(queue.sycl_context) == memory.get_usm_type(queue) == kind
    assert memory.get_usm_type_enum() == {"device": 1, "shared": 2, "host": 3}[kind]
    assert repr(memory) == f"<SYCL(TM) USM-{kind} allocation of 1024 bytes at {memory._pointer:#x}>"
    assert sys.getsizeof(memory) > 1024
    assert isinstance(memory, millpond.memory.Memory)
    with pytest.raises(TypeError, match="SyclQueue or a SyclContext"):
        memory.get_usm_type([])


def test_memory_is_of_the_default_queue_unless_told_otherwise(cls):
    assert cls(np.int64(16)).sycl_queue == dpctl.get_device_cached_queue(dpctl.SyclDevice())


@pytest.mark.parametrize("alignment", [0, 1, 64, 4096, 1 << 16])
def test_addresses_are_aligned(cls, alignment):
    memory = cls(100, alignment=alignment)
    assert memory._pointer % max(alignment, 1) == 0
    assert memory.nbytes == 100


def test_what_is_no_memory_is_refused(cls):
    for nbytes in (0, -1):
        with pytest.raises(ValueError, match="1 byte or more"):
            cls(nbytes)
    with pytest.raises(ValueError, match="power of two"):
        cls(8, alignment=3)
    for other in ("8", 8.0, None, True):
        with pytest.raises(TypeError, match="made of a number of bytes"):
            cls(other)
    with pytest.raises(TypeError, match="queue is a SyclQueue"):
        cls(8, queue="cpu")


def test_no_memory_says_why(cls):
    with pytest.raises(USMAllocationError, match="out of|memory") as raised:
        cls(1 << 60)
    assert raised.value.__cause__ is not None


def test_bytes_travel_between_host_and_memory(cls):
    memory = cls(8)
    memory.memset(ord("."))
    assert bytes(memory) == memory.tobytes() == b"." * 8
    memory.copy_from_host(b"pond")
    target = bytearray(8)
    assert memory.copy_to_host(target) is target
    assert target == b"pond...."
    copied = memory.copy_to_host()
    assert isinstance(copied, np.ndarray)
    assert copied.dtype == np.uint8
    assert bytes(copied) == b"pond...."
    memory.memset()
    assert bytes(memory) == bytes(8)
    with pytest.raises(ValueError, match="9 bytes"):
        memory.copy_from_host(bytes(9))
    with pytest.raises(ValueError, match="7 bytes"):
        memory.copy_to_host(bytearray(7))


@pytest.mark.parametrize("other", KINDS.values())
def test_bytes_travel_between_memory_of_any_kinds_and_devices(cls, other):
    source = other(8)
    source.copy_from_host(b"millpond")
    target = cls(10)
    target.memset(ord("."))
    target.copy_from_device(source)
    assert bytes(target) == b"millpond.."
    part = dpctl.SyclDevice().create_sub_devices(partition=1)[0]
    far = cls(8, queue=dpctl.SyclQueue(part))
    far.copy_from_device(source)
    assert bytes(far) == b"millpond"
    with pytest.raises(ValueError, match="more than"):
        cls(7).copy_from_device(source)
    with pytest.raises(TypeError, match="has no __sycl_usm_array_interface__"):
        target.copy_from_device(b"millpond")


def test_memory_of_memory_is_another_view_of_it(cls, kind, live):
    before = live()
    memory = cls(8)
    again = cls(memory)
    assert again._pointer == memory._pointer
    assert again.reference_obj is None
    assert type(as_usm_memory(memory)) is cls
    del memory
    gc.collect()
    again.copy_from_host(b"millpond")
    assert bytes(again) == b"millpond"
    assert live() == before + 1
    del again
    assert live() == before
    for other in KINDS.values():
        if other is not cls:
            with pytest.raises(ValueError, match=f"memory of kind '{kind}'"):
                other(cls(8))


def test_memory_of_another_kind_is_copied_if_told_so(cls):
    source = MemoryUSMShared(8)
    source.copy_from_host(b"millpond")
    copied = cls(source, copy=True)
    assert bytes(copied) == b"millpond"
    assert copied._pointer != source._pointer


def test_only_memory_that_the_host_reaches_has_buffers(cls, kind):
    memory = cls(8)
    if kind == "device":
        with pytest.raises(BufferError, match="device memory has no buffer"):
            memoryview(memory)
        return
    view = memoryview(memory)
    view[:4] = b"mill"
    assert bytes(memory)[:4] == b"mill"
    del memory
    gc.collect()
    assert view[:4] == b"mill"


def test_memory_is_pickled_with_its_bytes(cls):
    memory = cls(8)
    memory.copy_from_host(b"millpond")
    again = pickle.loads(pickle.dumps(memory))
    assert type(again) is cls
    assert bytes(again) == b"millpond"
    assert again._pointer != memory._pointer


def test_classes_can_be_derived(cls):
    class Own(cls):
        def first(self):
            return bytes(self)[0]

    memory = Own(4)
    memory.memset(7)
    assert memory.first() == 7
    assert cls(memory)._pointer == memory._pointer


def test_parts_of_memory_that_others_show_are_views(cls):
    memory = cls(32)
    memory.memset(77)
    part = as_usm_memory(Shown(memory, shape=(10,), strides=(2,), offset=8))
    assert part.nbytes == 19
    assert part._pointer == memory._pointer + 8
    part.copy_from_host(bytes(range(19)))
    assert bytes(memory) == b"M" * 8 + bytes(range(19)) + b"M" * 5
    backwards = as_usm_memory(Shown(memory, shape=(2, 2), strides=(10, -2), offset=9))
    assert (backwards._pointer, backwards.nbytes) == (memory._pointer + 7, 13)
    numbers = as_usm_memory(Shown(memory, shape=(3,), strides=(1,), offset=1, typestr="<f8"))
    assert (numbers._pointer, numbers.nbytes) == (memory._pointer + 8, 24)


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 0},
        {"data": ()},
        {"data": ("address", False)},
        {"shape": None},
        {"shape": (-1,)},
        {"shape": (33,)},
        {"shape": (2, 2), "strides": (1,)},
        {"strides": ...},
        {"strides": (2,)},
        {"offset": 1},
        {"offset": -1},
        {"typestr": "invalid"},
        {"typestr": "O"},
        {"typestr": ">f8"},
        {"syclobj": None},
        {"memory": None},
    ],
)
def test_what_shows_no_memory_is_refused(changes):
    with pytest.raises(ValueError, match="__sycl_usm_array_interface__"):
        as_usm_memory(Shown(MemoryUSMShared(32), **changes))


def test_arrays_are_not_made_of_memory_at_odd_addresses():
    buffer = np.zeros(64, dtype="u1")
    odd = MemoryUSMHost(millpond.memory.HostMemory.wrap(buffer[1:]))
    assert dpctl.tensor.usm_ndarray(63, dtype="u1", buffer=odd).shape == (63,)
    with pytest.raises(ValueError, match="would not be aligned"):
        dpctl.tensor.usm_ndarray(7, dtype="f8", buffer=odd)


def test_an_object_that_shows_nothing_is_no_memory():
    with pytest.raises(AttributeError, match="bytes has no __sycl_usm_array_interface__"):
        as_usm_memory(b"millpond")
    hidden = type("Hidden", (), {"__sycl_usm_array_interface__": 5})()
    with pytest.raises(ValueError, match="not a dictionary"):
        as_usm_memory(hidden)


def test_a_copy_waits_for_its_memory_and_for_nothing_else(cls):
    queue = dpctl.SyclQueue()
    memory = cls(8, queue=queue)
    gate = queue._queue.gate()
    memory.memset(ord("m"))
    memory.copy_from_device(cls(memory.view(4, 4)))
    assert bytes(memory) == b"mmmmmmmm"
    assert not queue._queue.is_idle
    gate.open()


def test_a_copy_has_been_made_when_the_call_returns():
    """The source is behind a gate, so that a call that returned early would be there before it opens."""
    queue = dpctl.SyclQueue(property="in_order")
    source, target = MemoryUSMShared(4, queue=queue), MemoryUSMShared(4, queue=queue)
    gate = queue._queue.gate()
    source.fill(5)
    opened = []

    def open_gate():
        opened.append(True)
        gate.open()

    threading.Timer(0.02, open_gate).start()
    target.copy_from_device(source)
    assert opened
    assert target.tobytes() == b"\5" * 4


def test_dropping_memory_while_work_is_pending_is_safe(cls, live):
    before = live()
    queue = dpctl.SyclQueue()
    gate = queue._queue.gate()
    source, target = cls(1 << 16, queue=queue), cls(1 << 16, queue=queue)
    source.fill(5)
    target.copy_from(source)
    del source
    others = [cls(1 << 16, queue=queue) for _ in range(5)]
    for other in others:
        other.fill(9)
    gate.open()
    assert target.tobytes() == b"\5" * (1 << 16)
    del target, others, other
    assert live() == before
