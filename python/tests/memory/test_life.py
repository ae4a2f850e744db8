"""Memory that is allocated and freed in queue order."""

import pytest

import millpond
import millpond.tensor as xp
from millpond.memory import DeviceMemory, HostMemory, Pool, SharedMemory, default_pool, use_pool

MIB = 1 << 20


def test_memory_and_an_event_are_answered(queue):
    memory, event = queue.alloc(1000)
    assert type(memory) is DeviceMemory
    assert memory.nbytes == 1000
    assert event.queue == queue
    event.wait()


def test_the_pool_is_the_named_or_the_current_one(line):
    own, hosts = Pool(), Pool(kind="host")
    memory, _ = line.alloc(100, own)
    assert own.statistics().live == 1
    with use_pool(own), use_pool(hosts):
        other, _ = line.alloc(100)
        host, _ = line.alloc(100, kind="host")
        outside, _ = line.alloc(100, default_pool())
    assert own.statistics().live == 2
    assert hosts.statistics().live == 1
    assert type(host) is HostMemory
    assert type(line.alloc(100, kind="shared")[0]) is SharedMemory
    assert memory.nbytes == other.nbytes == outside.nbytes


def test_the_event_comes_behind_others(line, device):
    other = device.create_queue()
    gate = other.gate()
    memory, event = line.alloc(1000, after=[other.record()])
    memory.fill(1)
    assert event.status == "pending"
    gate.open()
    event.wait()
    assert memory.tobytes() == bytes([1]) * 1000


def test_a_free_comes_behind_what_was_submitted(line):
    memory, _ = line.alloc(1000, kind="host")
    gate = line.gate()
    event = line.free(memory)
    assert event.status == "pending"
    gate.open()
    event.wait()


def test_on_an_out_of_order_queue_a_free_comes_behind_uses_and_events_alone(device, line):
    queue = device.create_queue(in_order=False)
    named, unused = (queue.alloc(1000, kind="host")[0] for _ in range(2))
    gates = [queue.gate(), line.gate()]
    event = queue.free(named, after=[line.record()])
    queue.free(unused).wait()
    assert event.status == "pending"
    for gate in gates:
        gate.open()
    event.wait()


def test_a_free_comes_behind_events(line, device):
    pool = Pool(maximum_size=MIB)
    other = device.create_queue()
    memory, _ = line.alloc(MIB, pool)
    gate = other.gate()
    event = line.free(memory, after=(other.record(),))
    assert event.status == "pending"
    assert pool.statistics().pending >= MIB
    gate.open()
    event.wait()
    assert pool.fit(MIB).when == "now"


USES = {
    "nbytes": lambda memory: memory.nbytes,
    "kind": lambda memory: memory.kind,
    "usm_type": lambda memory: memory.usm_type,
    "device": lambda memory: memory.device,
    "queue": lambda memory: memory.queue,
    "ptr": lambda memory: memory.ptr,
    "read_only": lambda memory: memory.read_only,
    "is_foreign": lambda memory: memory.is_foreign,
    "len": len,
    "slice": lambda memory: memory[1:2],
    "view": lambda memory: memory.view(),
    "fill": lambda memory: memory.fill(1),
    "read": lambda memory: memory.read(),
    "read_into": lambda memory: memory.read_into(bytearray(16)),
    "tobytes": lambda memory: memory.tobytes(),
    "write": lambda memory: memory.write(bytes(16)),
    "copy_from buffer": lambda memory: memory.copy_from(bytes(16)),
    "copy_from": lambda memory: memory.copy_from(HostMemory(16)),
    "copy from": lambda memory: HostMemory(16).copy_from(memory),
    "copy_to": lambda memory: memory.copy_to(HostMemory(16)),
    "copy to": lambda memory: HostMemory(16).copy_to(memory),
    "buffer": memoryview,
    "prefetch": lambda memory: millpond.default_device().default_queue.prefetch(memory),
    "task": lambda memory: millpond.default_device().default_queue.task(print, memory),
    "pool": Pool.over,
    "free": lambda memory: millpond.default_device().default_queue.free(memory),
}


@pytest.mark.parametrize("use", USES)
def test_freed_memory_is_not_used(use, line):
    memory, _ = line.alloc(16, kind="host")
    line.free(memory)
    with pytest.raises(ValueError, match="the memory was freed"):
        USES[use](memory)
    assert repr(memory) == "<Memory of 16 bytes, freed>"


def test_shared_memory_is_not_freed(line):
    memory, _ = line.alloc(16, kind="host")
    memory.fill(5)
    views = [memory[:4], memory[4:]]
    with pytest.raises(millpond.MemoryInUseError, match="free: 2 other handles share the allocation") as caught:
        line.free(memory)
    assert caught.value.handles == 2
    assert views.pop().tobytes() == bytes([5]) * 12
    with memoryview(memory) as seen:
        with pytest.raises(millpond.MemoryInUseError, match="2 other handles"):
            line.free(memory)
        assert bytes(seen) == bytes([5]) * 16
    views.clear()
    line.free(memory).wait()


def test_memory_of_a_pending_task_is_not_freed(line, eventually):
    memory, _ = line.alloc(16, kind="host")
    gate = line.gate()
    task = line.task(int, memory)
    with pytest.raises(millpond.MemoryInUseError, match="1 other handles"):
        line.free(memory)
    gate.open()
    task.wait()
    eventually(lambda: freed(line, memory))


def freed(queue, memory):
    try:
        queue.free(memory).wait()
    except millpond.Error:
        return False
    return True


def test_the_last_view_may_be_freed(line):
    pool = Pool()
    memory, _ = line.alloc(16, pool)
    view = memory[4:8]
    del memory
    line.free(view)
    assert pool.statistics().live == 0


def test_a_free_that_fails_keeps_the_memory(line, device):
    memory, _ = line.alloc(16, kind="host")
    memory.fill(6)
    closed = device.create_queue()
    closed.close()
    with pytest.raises(millpond.QueueClosedError):
        closed.free(memory)
    assert memory.tobytes() == bytes([6]) * 16


def test_waiting_for_memory_has_an_end(line, device):
    pool = Pool(maximum_size=MIB, internal_dependencies=False)
    memory, _ = line.alloc(MIB, pool)
    gate = line.gate()
    line.free(memory)
    other = device.create_queue()
    with pytest.raises(TimeoutError):
        other.alloc(MIB, pool, timeout=0.01)
    with pytest.raises(millpond.OutOfMemoryError) as caught:
        other.alloc(MIB, pool, wait=False)
    assert [queue for queue, _ in caught.value.fits_after] == [line.id]
    again, event = other.alloc(MIB, pool, internal_dependencies=True, wait=False)
    assert event.status == "pending"
    gate.open()
    event.wait()
    assert again.nbytes == MIB


def test_reuse_rules_are_those_of_the_call(line, device):
    pool = Pool(maximum_size=MIB)
    memory, _ = line.alloc(MIB, pool)
    gate = line.gate()
    freed = line.free(memory)
    other = device.create_queue()
    with pytest.raises(millpond.OutOfMemoryError):
        other.alloc(MIB, pool, internal_dependencies=False, wait=False)
    other.wait_for(freed)
    with pytest.raises(millpond.OutOfMemoryError):
        other.alloc(MIB, pool, follow_events=False, internal_dependencies=False, wait=False)
    memory, _ = other.alloc(MIB, pool, internal_dependencies=False, wait=False)
    gate.open()
    memory.fill(1)
    assert memory.tobytes() == bytes([1]) * MIB


def test_memory_in_order_is_an_array_once_it_is_wrapped(line):
    memory, _ = line.alloc(32, kind="host", alignment=4096)
    assert memory.ptr % 4096 == 0
    memory.fill(0)
    array = xp.asarray(memoryview(memory), copy=True)
    assert xp.all(array == 0)


@pytest.mark.host
def test_bad_arguments_are_refused(line, device):
    (part,) = device.partition([1])
    for message, call in {
        "expected 0 or more, got -1": lambda: line.alloc(-1),
        "an alignment of 3 bytes": lambda: line.alloc(1, alignment=3),
        "kind: expected 'device', 'shared' or 'host', got 'tape'": lambda: line.alloc(1, kind="tape"),
        "kind='host', but the pool of device memory": lambda: line.alloc(1, Pool(), kind="host"),
        "operand 0 is on cpu.0, the queue is on cpu": lambda: line.alloc(1, Pool(part)),
        r"timeout must be at least 0 seconds, not -1": lambda: line.alloc(1, timeout=-1),
        r"timeout=2 has no meaning with wait=False": lambda: line.alloc(1, timeout=2, wait=False),
    }.items():
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="Pool"):
        line.alloc(1, "device")
    with pytest.raises(TypeError, match="Event"):
        line.alloc(1, after=[line])
    with pytest.raises(TypeError, match="Memory"):
        line.free(b"")
    line.close()
    with pytest.raises(millpond.QueueClosedError):
        line.alloc(1)
