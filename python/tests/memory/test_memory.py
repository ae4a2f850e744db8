import array
import gc
import mmap
import sys
import threading
import weakref

import numpy as np
import pytest

import millpond
import millpond.tensor as xp
from millpond.memory import DeviceMemory, HostMemory, Memory, SharedMemory

KINDS = [DeviceMemory, SharedMemory, HostMemory]
NAMES = {DeviceMemory: "device", SharedMemory: "shared", HostMemory: "host"}
HOST_KINDS = [SharedMemory, HostMemory]


@pytest.fixture(params=KINDS, ids=NAMES.get)
def kind(request):
    return request.param


@pytest.fixture(params=HOST_KINDS, ids=NAMES.get)
def host_kind(request):
    return request.param


def test_memory_knows_what_it_is(kind, line, device):
    memory = kind(100, queue=line)
    assert isinstance(memory, Memory)
    assert memory.nbytes == len(memory) == 100
    assert memory.kind == memory.usm_type == NAMES[kind]
    assert memory.queue == line
    assert memory.device == device
    assert memory.ptr % device.alignment == 0
    assert not memory.read_only
    assert not memory.is_foreign
    assert NAMES[kind].capitalize() in repr(memory)


def test_memory_is_of_the_default_queue_unless_told_otherwise(kind, device):
    assert kind(8).queue == device.default_queue
    assert kind(8, device=str(device)).queue == device.default_queue
    assert kind(8, device=device).device == device


def test_a_queue_of_another_device_is_refused(kind, device):
    try:
        part = device.partition(1)[0]
    except (millpond.DeviceError, ValueError) as error:
        pytest.skip(str(error))
    with pytest.raises(ValueError, match="different devices"):
        kind(8, device=device, queue=part.default_queue)


def test_memory_may_be_empty(kind):
    memory = kind(0)
    assert memory.nbytes == 0
    assert memory.tobytes() == b""
    memory.copy_from(b"")
    memory.fill(1)


def test_more_memory_than_there_is_is_explained(kind, device):
    with pytest.raises(millpond.OutOfMemoryError, match=f"out of {NAMES[kind]} memory on {device}") as caught:
        kind(1 << 60)
    assert isinstance(caught.value, MemoryError)
    assert caught.value.requested == 1 << 60
    assert caught.value.kind == NAMES[kind]
    assert caught.value.used >= 0


def test_a_negative_size_is_refused(kind):
    with pytest.raises(ValueError, match=r"expected 0 or more, got -1 \(of type int\)"):
        kind(-1)


def test_numbers_of_bytes_are_numbers(kind):
    memory = kind(8)
    for call in (
        lambda number: kind(number),
        lambda number: memory.read(number),
        lambda number: memory.view(0, number),
        lambda number: memory.copy_from(b"a", offset=number),
        lambda number: millpond.memory.pool().trim(number),
        lambda number: memory.queue.prefetch(memory, number),
    ):
        with pytest.raises(ValueError, match=r"expected 0 or more, got -3"):
            call(-3)
        with pytest.raises(OverflowError, match=r"1180591620717411303424 \(of type int\) does not fit"):
            call(2**70)
        with pytest.raises(TypeError, match=r"expected an integer, got 1.5 \(of type float\)"):
            call(1.5)
        with pytest.raises(TypeError, match=r"expected an integer, got 'a'"):
            call("a")


def test_bytes_go_in_and_come_out(kind):
    memory = kind(10)
    memory.copy_from(b"0123456789")
    assert memory.tobytes() == b"0123456789"
    memory.write(bytearray(b"abc"), offset=2)
    assert memory.read(1, 5) == b"1abc5"
    memory.copy_from(array.array("h", [-1]), offset=8)
    assert memory.read(8) == b"\xff\xff"
    target = bytearray(4)
    memory.read_into(target, 6)
    assert target == b"67\xff\xff"
    memory[:4].copy_to(target)
    assert target == b"01ab"


def test_a_copy_takes_the_bytes_of_a_buffer_at_once(kind, line):
    memory = kind(1 << 20, queue=line)
    gate = line.gate()
    source = bytearray(b"a" * (1 << 20))
    memory.copy_from(source)
    source[:] = b"b" * (1 << 20)
    gate.open()
    assert memory.tobytes() == b"a" * (1 << 20)


@pytest.mark.parametrize("other", KINDS, ids=NAMES.get)
def test_memory_is_copied_in_queue_order(kind, other, line):
    source, target = kind(6, queue=line), other(6, queue=line)
    gate = line.gate()
    source.fill(1)
    target.fill(2)
    target.copy_from(source[:3])
    source.fill(3)
    source[4:].copy_to(target, offset=4)
    gate.open()
    assert target.tobytes() == b"\1\1\1\2\3\3"


def test_copies_stay_within_the_memory(kind):
    memory = kind(4)
    with pytest.raises(IndexError, match="copy_from: 5 bytes from 0 reach outside of 4 bytes"):
        memory.copy_from(b"12345")
    with pytest.raises(IndexError, match="write: 1 bytes from 4 reach outside"):
        memory.write(b"1", offset=4)
    with pytest.raises(IndexError, match="read: 3 bytes from 2 reach outside"):
        memory.read(2, 3)
    with pytest.raises(IndexError, match="copy_to"):
        memory.copy_to(kind(3))


def test_a_source_that_is_too_long_is_not_copied_before_it_is_refused(kind, tmp_path):
    with (tmp_path / "sparse").open("w+b") as file:
        file.truncate(1 << 40)
        with (
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as source,
            pytest.raises(IndexError, match="copy_from: 1099511627776 bytes from 0 reach outside of 4"),
        ):
            kind(4).copy_from(source)


def test_a_copy_onto_itself_must_not_overlap(kind):
    memory = kind(8)
    with pytest.raises(ValueError, match="overlap"):
        memory[:4].copy_to(memory, offset=2)
    memory.fill(5)
    memory[:4].fill(6)
    memory[:4].copy_to(memory, offset=4)
    assert memory.tobytes() == b"\6" * 8


def test_fills_repeat_a_pattern(kind):
    memory = kind(8)
    memory.fill()
    assert memory.tobytes() == bytes(8)
    memory.fill(255)
    assert memory.tobytes() == b"\xff" * 8
    memory.fill(b"abcd")
    assert memory.tobytes() == b"abcdabcd"
    memory[2:4].fill(b"xy")
    assert memory.tobytes() == b"abxyabcd"


@pytest.mark.parametrize("pattern", [b"abc", b"", b"a" * 32])
def test_patterns_have_a_length_that_devices_know(kind, pattern):
    with pytest.raises(ValueError, match="a pattern has 1, 2, 4, 8 or 16 bytes"):
        kind(96).fill(pattern)


@pytest.mark.parametrize("byte", [-1, 256])
def test_a_byte_is_a_byte(kind, byte):
    with pytest.raises(ValueError, match=f"a byte is 0 to 255, not {byte}"):
        kind(4).fill(byte)


@pytest.mark.host
def test_a_buffer_of_the_memory_itself_is_refused(host_kind):
    owner = bytearray(8)
    memory = host_kind.wrap(owner)
    for copy in (lambda: memory.read_into(memoryview(memory)), lambda: memory[:4].write(memoryview(owner)[2:6])):
        with pytest.raises(ValueError, match="the buffer lies within the memory"):
            copy()
    memory.copy_from(owner)


def test_a_pattern_fits_the_memory(kind):
    with pytest.raises(ValueError, match="not a multiple"):
        kind(6).fill(b"abcd")


def test_only_bytes_are_copied(kind):
    memory = kind(4)
    with pytest.raises(TypeError):
        memory.copy_from("text")
    with pytest.raises(BufferError, match="read-only"):
        memory.read_into(b"1234")
    with pytest.raises(BufferError, match="in one piece"):
        memory.read_into(memoryview(bytearray(8))[::2])


def test_m5_views_share_the_bytes(kind):
    memory = kind(10)
    memory.fill(0)
    view = memory[2:6]
    assert type(view) is kind
    assert view.nbytes == 4
    assert view.ptr == memory.ptr + 2
    view.fill(1)
    view.view(1, 2).fill(2)
    del view
    assert memory.tobytes() == b"\0\0\1\2\2\1\0\0\0\0"
    assert memory[-3:].nbytes == 3
    assert memory[20:].nbytes == 0


def test_views_keep_the_memory(kind, live):
    before = live()
    memory = kind(10)
    view = memory[1:]
    del memory
    assert live() == before + 1
    del view
    assert live() == before


def test_memory_of_memory_is_a_view_of_all_of_it(kind, line):
    memory = kind(8, queue=line)
    memory.write(b"millpond")
    again = kind(memory[4:])
    assert type(again) is kind
    assert (again.ptr, again.nbytes, again.queue) == (memory.ptr + 4, 4, line)
    again.write(b"race")
    assert memory.tobytes() == b"millrace"
    with pytest.raises(TypeError, match="leave out device and queue"):
        kind(memory, queue=line)
    for other in NAMES:
        if other is not kind:
            with pytest.raises(ValueError, match=f"{NAMES[kind]} memory is no {NAMES[other]} memory"):
                other(memory)


def test_classes_of_memory_can_be_derived(kind):
    class Own(kind):
        def first(self):
            return self.tobytes()[0]

    own = Own(kind(4))
    own.fill(7)
    assert own.first() == 7
    assert isinstance(own[1:], kind)


def test_views_are_of_neighbouring_bytes(kind):
    with pytest.raises(ValueError, match="step 1 only"):
        kind(10)[::2]
    with pytest.raises(IndexError):
        kind(10).view(5, 6)


def test_m2_memory_is_let_go_while_work_is_pending(kind, line):
    gate = line.gate()
    before = millpond.live()
    target = HostMemory(4, queue=line)
    memory = kind(4, queue=line)
    memory.fill(3)
    target.copy_from(memory)
    del memory
    assert millpond.live() == before + 1
    reused = kind(4, queue=line)
    reused.fill(4)
    gate.open()
    assert target.tobytes() == b"\3\3\3\3"


def test_m4_device_memory_has_no_buffer():
    with pytest.raises(BufferError, match="device memory has no buffer, as the host does not access it"):
        memoryview(DeviceMemory(4))


def test_m5_a_buffer_waits_for_pending_work_and_shares_the_bytes(host_kind, line):
    memory = host_kind(4, queue=line)
    gate = line.gate()
    memory.fill(1)
    threading.Timer(0.02, gate.open).start()
    view = memoryview(memory)
    assert bytes(view) == b"\1\1\1\1"
    assert (view.format, view.itemsize, view.shape, view.strides) == ("B", 1, (4,), (1,))
    assert not view.readonly
    view[1] = 9
    assert memory.tobytes() == b"\1\x09\1\1"
    memory.fill(2)
    assert bytes(view) == b"\2\2\2\2"


def test_a_buffer_keeps_the_memory(host_kind, live):
    before = live()
    view = memoryview(host_kind(4))
    assert live() == before + 1
    view[0] = 1
    view.release()
    del view
    assert live() == before


@pytest.mark.host
def test_wrapped_memory_is_the_objects_own(host_kind):
    owner = bytearray(b"abcd")
    memory = host_kind.wrap(owner)
    assert type(memory) is host_kind
    assert memory.is_foreign
    assert not memory.read_only
    memory.fill(ord("x"))
    assert owner == b"xxxx"
    owner[0] = ord("y")
    assert memory.tobytes() == b"yxxx"


@pytest.mark.host
def test_m3_wrapped_memory_keeps_the_object_until_its_last_use(host_kind, line):
    class Owner(bytearray):
        pass

    owner = Owner(b"abcd")
    gone = weakref.ref(owner)
    memory = host_kind.wrap(owner, queue=line)
    target = host_kind(4, queue=line)
    del owner
    assert gone() is not None
    target.copy_from(memory)
    del memory
    millpond.wait()
    gc.collect()
    assert gone() is None
    assert target.tobytes() == b"abcd"


@pytest.mark.host
def test_wrapped_memory_is_read_only_if_the_object_is(host_kind):
    memory = host_kind.wrap(b"abcd")
    assert memory.read_only
    assert memory[1:].read_only
    assert memory.tobytes() == b"abcd"
    assert memoryview(memory).readonly
    assert xp.asarray(b"abcd", copy=False).data.read_only
    for write in (memory.fill, lambda: memory.copy_from(b"x"), lambda: memory.write(b"x")):
        with pytest.raises(TypeError, match="the memory is read-only"):
            write()
    with pytest.raises(TypeError, match="read-only"):
        host_kind(4).copy_to(memory)


@pytest.mark.host
def test_a_buffer_cannot_be_resized_while_it_is_wrapped(host_kind):
    owner = bytearray(8)
    memory = host_kind.wrap(owner)
    with pytest.raises(BufferError):
        owner.append(1)
    del memory
    millpond.wait()
    owner.append(1)


@pytest.mark.parametrize("dtype", ["O", [("number", "i4"), ("Object", "O")]], ids=["objects", "records"])
def test_references_to_objects_are_no_bytes(dtype):
    array = np.empty(2, dtype=dtype)
    memory = HostMemory(array.nbytes)
    for call in (HostMemory.wrap, memory.copy_from, memory.copy_to, memory.write, memory.read_into):
        with pytest.raises(BufferError, match="references to objects of Python"):
            call(array)


@pytest.mark.host
def test_records_are_bytes():
    assert HostMemory.wrap(np.zeros(2, dtype=[("Object", "i4")])).nbytes == 8


def test_what_cannot_be_wrapped_is_told(host_kind):
    with pytest.raises(TypeError):
        host_kind.wrap(3)
    with pytest.raises(BufferError, match="not in one piece"):
        host_kind.wrap(memoryview(bytearray(8))[::2])
    with pytest.raises(TypeError, match="device memory"):
        DeviceMemory.wrap(bytearray(4))
    with pytest.raises(TypeError, match="Memory has no kind"):
        Memory.wrap(bytearray(4))


@pytest.mark.host
def test_memory_at_an_address_keeps_its_owner(kind):
    class Owner(bytearray):
        pass

    owner = Owner(b"abcd")
    address = HostMemory.wrap(owner).ptr
    millpond.wait()
    gone = weakref.ref(owner)
    memory = kind.from_pointer(address, 4, owner)
    del owner
    gc.collect()
    assert gone() is not None
    assert memory.ptr == address
    assert memory.kind == NAMES[kind]
    assert memory.tobytes() == b"abcd"
    assert kind.from_pointer(address, 4, None, read_only=True).read_only
    del memory
    millpond.wait()
    gc.collect()
    assert gone() is None


def test_an_address_that_is_no_memory_is_refused(kind):
    with pytest.raises(ValueError, match="are not memory"):
        kind.from_pointer(0, 4, None)
    with pytest.raises(ValueError, match="are not memory"):
        kind.from_pointer(2**64 - 1, 4, None)


@pytest.mark.host
def test_m6_nothing_leaks(kind, live):
    def loop():
        for _ in range(200):
            memory = kind(1000)
            memory.fill(1)
            memory[3:7].tobytes()
            if kind is not DeviceMemory:
                kind.wrap(bytearray(100)).fill(2)
                memoryview(memory)[0] = 1

    loop()
    millpond.wait()
    before = (live(), millpond.memory.pool(kind=NAMES[kind]).statistics().reserved)
    blocks = sys.getallocatedblocks()
    for _ in range(5):
        loop()
    millpond.wait()
    gc.collect()
    after = (live(), millpond.memory.pool(kind=NAMES[kind]).statistics().reserved)
    assert after == before
    # One lost object in each of the 500 turns would be 500; the interpreter itself keeps some.
    assert sys.getallocatedblocks() - blocks < 250
