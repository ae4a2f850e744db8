"""Memory of several processes."""

import gc
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile

import pytest

import millpond
import millpond.tensor as xp
from millpond.memory import (
    DeviceMemory,
    HostMemory,
    ImportedPool,
    Memory,
    MemoryHandle,
    Pool,
    SharedMemory,
    default_pool,
    set_current_pool,
    use_pool,
)

pytestmark = [
    pytest.mark.host,
    pytest.mark.skipif(sys.platform != "linux", reason="shares memory by Linux's files in memory"),
]

#: Seconds after which a process that should have answered hangs.
HANG = 60


@pytest.fixture(params=["spawn", "forkserver"])
def context(request):
    return multiprocessing.get_context(request.param)


@pytest.fixture
def spawn():
    return multiprocessing.get_context("spawn")


@pytest.fixture(params=["shared", "host"])
def pool(request):
    return Pool(kind=request.param, shareable=True)


@pytest.fixture
def memory(pool):
    memory = pool.allocate(1000)
    memory.fill(1)
    return memory


def receive(connection):
    assert connection.poll(HANG), "the other process has not answered"
    return connection.recv()


def counts():
    """How many descriptors, and how many mappings of shared memory, the process has."""
    gc.collect()
    millpond.wait()
    with open("/proc/self/maps") as maps:
        mappings = sum("/memfd:millpond" in line for line in maps)
    return len(os.listdir("/proc/self/fd")), mappings


def started(context, target, *arguments):
    """A process that `target` runs in, with one end of a connection; the other end."""
    here, there = context.Pipe()
    process = context.Process(target=target, args=(there, *arguments))
    process.start()
    there.close()
    return process, here


def double(connection, handle):
    """Multiply the bytes by two, and say what they were."""
    memory = handle.open()
    found = set(memory.tobytes())
    memory.fill(2 * found.pop())
    connection.send(("done", len(found), memory.kind, memory.is_foreign, len(memory)))


def test_memory_goes_to_a_process_that_is_started_with_it(context, memory):
    with memory.export() as export:
        process, connection = started(context, double, export)
        assert receive(connection) == ("done", 0, memory.kind, True, 1000)
        process.join(HANG)
    assert process.exitcode == 0
    assert set(memory.tobytes()) == {2}


def double_all(connection, handles):
    for handle in handles:
        double(connection, handle)


def test_exports_of_one_pool_go_to_a_new_process_together(context):
    pool = Pool(kind="shared", shareable=True)
    blocks = [pool.allocate(1000) for _ in range(3)]
    for number, block in enumerate(blocks):
        block.fill(number + 1)
    process, connection = started(context, double_all, [block.export() for block in blocks])
    for _ in blocks:
        receive(connection)
    process.join(HANG)
    assert [block.tobytes()[0] for block in blocks] == [2, 4, 6]


def serve(connection):
    """Answer what arrives, until nothing does: memory by what it holds, and the rest by its name."""
    kept = []
    while (message := connection.recv()) is not None:
        if message == "counts":
            connection.send(counts())
        elif message == "forget":
            kept.clear()
            connection.send("forgotten")
        elif isinstance(message, list):
            kept += [handle.open() for handle in message]
            connection.send([memory.tobytes()[0] for memory in kept])
        else:
            memory = message.open()
            kept.append(memory)
            memory.fill(9)
            connection.send(type(memory).__name__)


def test_memory_goes_to_a_process_that_runs(context, memory):
    process, connection = started(context, serve)
    export = memory.export()
    connection.send(export)
    assert receive(connection) == type(memory).__name__
    assert set(memory.tobytes()) == {9}
    connection.send(None)
    process.join(HANG)
    assert process.exitcode == 0


def test_blocks_of_a_segment_take_one_descriptor_and_one_mapping(spawn):
    pool = Pool(kind="shared", shareable=True)
    before = counts()
    process, connection = started(spawn, serve)
    blocks = [pool.allocate(256) for _ in range(500)]
    for number, block in enumerate(blocks):
        block.fill(number % 251)
    exports = [block.export() for block in blocks]
    connection.send("counts")
    had = receive(connection)
    connection.send(exports)
    assert receive(connection) == [number % 251 for number in range(500)]
    connection.send("counts")
    descriptors, mappings = receive(connection)
    # One of the arena. That of the handles went when the list did.
    assert (descriptors - had[0], mappings) == (1, 1)
    # In messages of their own as well: the process knows what it has.
    for export in exports[:3]:
        connection.send([export])
        assert len(receive(connection)) > 500
    connection.send("counts")
    assert receive(connection) == (descriptors, 1)
    connection.send("forget")
    receive(connection)
    connection.send("counts")
    assert receive(connection) == had
    connection.send(None)
    process.join(HANG)
    connection.close()
    del export, exports, block, blocks, pool, process
    descriptors, mappings = counts()
    # The server that hands descriptors out is multiprocessing's, and stays.
    assert descriptors - before[0] <= 2
    assert mappings == 0


def own(connection):
    """Export memory, and then wait to be killed."""
    pool = Pool(kind="host", shareable=True)
    memory = pool.allocate(100)
    memory.fill(7)
    export = memory.export()
    connection.send(export)
    connection.recv()


def test_imported_memory_outlives_its_owner(spawn):
    process, connection = started(spawn, own)
    handle = receive(connection)
    assert isinstance(handle, MemoryHandle)
    memory = handle.open()
    os.kill(process.pid, signal.SIGKILL)
    process.join(HANG)
    assert memory.tobytes() == bytes([7]) * 100
    memory.fill(8)
    assert handle.open().tobytes() == bytes([8]) * 100
    handle.close()
    assert memory.tobytes() == bytes([8]) * 100


def fail(connection, handle):
    memory = handle.open()
    memory.fill(3)
    connection.send("filled")
    os.kill(os.getpid(), signal.SIGKILL)


def test_an_importer_that_dies_takes_nothing_with_it(spawn, memory):
    with memory.export() as export:
        process, connection = started(spawn, fail, export)
        assert receive(connection) == "filled"
        process.join(HANG)
        assert set(memory.tobytes()) == {3}
        process, connection = started(spawn, double, export)
        receive(connection)
        process.join(HANG)
    assert set(memory.tobytes()) == {6}


def open_pool(connection, handle):
    pool = handle.open()
    handle.close()
    connection.send(pool.kind)
    while (data := connection.recv()) is not None:
        memory = pool.open(data)
        memory.fill(memory.tobytes()[0] + 1)
        connection.send("done")


def test_a_pool_goes_once_and_its_memory_as_plain_bytes(context, pool):
    process, connection = started(context, open_pool, pool.handle())
    assert receive(connection) == pool.kind
    # The second one doesn't fit the pool's first segment.
    for nbytes in (1000, 40 << 20):
        memory = pool.allocate(nbytes)
        memory.fill(4)
        with memory.export() as export:
            connection.send(export.data)
            assert receive(connection) == "done"
        assert set(memory.tobytes()) == {5}
    connection.send(None)
    process.join(HANG)
    assert process.exitcode == 0


def test_an_imported_pool_is_no_pool_to_allocate_from(pool, memory):
    other = ImportedPool(pool.handle().data, pool.handle())
    assert (other.kind, other.device) == (pool.kind, millpond.default_device())
    with pytest.raises(TypeError):
        use_pool(other)
    with pytest.raises(TypeError):
        set_current_pool(other)
    assert not hasattr(other, "allocate")
    seen = other.open(memory.export().data)
    with pytest.raises(millpond.SharingError, match="memory that no pool owns can't be shared"):
        seen.export()
    other.close()
    other.close()
    assert other.is_closed
    with pytest.raises(ValueError, match="the imported pool was closed"):
        other.open(memory.export().data)
    seen.fill(2)
    assert set(memory.tobytes()) == {2}


def test_an_export_keeps_the_memory_until_it_is_closed(pool):
    memory = pool.allocate(1000)
    address = memory.ptr
    export = memory.export()
    assert (export.nbytes, export.kind, export.fd, export.is_closed) == (1000, pool.kind, export.fileno(), False)
    assert repr(export) == f"<Export of 1000 bytes of {pool.kind} memory, fd {export.fd}>"
    with pytest.raises(millpond.MemoryInUseError, match="1 other handles share the allocation"):
        memory.queue.free(memory)
    del memory
    assert pool.allocate(1000).ptr != address
    export.close()
    export.close()
    assert export.is_closed
    assert repr(export) == "<Export, closed>"
    assert pool.allocate(1000).ptr == address
    for use in (lambda: export.data, lambda: export.fd, lambda: pickle.dumps(export), export.__enter__):
        with pytest.raises(ValueError, match="the export was closed"):
            use()


def test_imported_memory_can_be_freed_once(memory):
    export = memory.export()
    seen = Memory.from_handle(export.data, export)
    queue = seen.queue
    queue.free(seen).wait()
    with pytest.raises(ValueError, match="was freed"):
        queue.free(seen)
    assert counts()[1] == 1  # the owner's


def test_a_view_exports_what_it_shows(memory):
    with memory[100:200].export() as export:
        seen = Memory.from_handle(export.data, export.fd)
    seen.fill(5)
    assert memory.tobytes() == bytes([1] * 100 + [5] * 100 + [1] * 800)


def test_arrays_are_computed_in_shared_memory(pool):
    with use_pool(pool):
        x = xp.arange(10.0, usm_type=pool.kind)
    export = x.data.export()
    seen = Memory.from_handle(export.data, export)
    y = xp.asarray(memoryview(seen).cast("d"), copy=False)
    y += 1
    assert x.tolist() == [number + 1.0 for number in range(10)]


def test_memory_is_of_the_class_of_its_kind(memory, pool):
    export = memory.export()
    right, wrong = (SharedMemory, HostMemory) if pool.kind == "shared" else (HostMemory, SharedMemory)
    assert type(right.from_handle(export.data, export)) is right
    message = f"a handle to {pool.kind} memory makes a {right.__name__}, not a {wrong.__name__}"
    with pytest.raises(TypeError, match=message):
        wrong.from_handle(export.data, export)


def test_handles_that_are_none_are_told_by_what_is_wrong(memory, pool):
    export = memory.export()
    data = export.data
    for wrong, message in [
        (b"", "0 bytes that don't begin as a handle does"),
        (os.urandom(len(data)), "124 bytes that don't begin as a handle does"),
        (data[:-1], "a handle of 123 bytes, where 124 are expected"),
        (data + b"0", "a handle of 125 bytes, where 124 are expected"),
        (data[:8] + b"\x63" + data[9:], "a handle of format 99, where 1 is expected"),
        (pool.handle().data, "a handle to a pool, where one to memory is expected"),
        (data[:11] + b"\x07" + data[12:], "a handle to memory of kind 7, where device, shared or host is expected"),
        (data[:11] + b"\x00" + data[12:], None),
        (data[:12] + b"cuda" + data[16:], "a handle from backend 'cuda', where 'cpu' is expected"),
        (data[:-8] + b"\xff" * 8, "a handle to bytes"),
    ]:
        expected = millpond.SharingError if message else millpond.DeviceError
        with pytest.raises(expected, match=message or "sharing device memory with other processes is not supported"):
            Memory.from_handle(wrong, export)
    with pytest.raises(millpond.SharingError, match="a handle to memory, where one to a pool is expected"):
        ImportedPool(data, export)


def test_descriptors_of_something_else_are_told_by_what_is_wrong(memory):
    export = memory.export()
    other = Pool(kind="shared", shareable=True).allocate(1).export()
    with tempfile.TemporaryFile() as file, pytest.raises(millpond.SharingError, match="it isn't a file in memory"):
        Memory.from_handle(export.data, file)
    fd = os.memfd_create("test", os.MFD_ALLOW_SEALING)
    with pytest.raises(millpond.SharingError, match=r"the file isn't sealed against becoming shorter"):
        Memory.from_handle(export.data, fd)
    os.close(fd)
    with pytest.raises(millpond.SharingError, match="Bad file descriptor"):
        Memory.from_handle(export.data, fd)
    with pytest.raises(millpond.SharingError, match="is of other memory than the handle"):
        Memory.from_handle(export.data, other)
    with pytest.raises(ValueError, match="-1 is not a file descriptor"):
        Memory.from_handle(export.data, -1)
    with pytest.raises(TypeError, match=r"expected a number or an object with fileno\(\)"):
        Memory.from_handle(export.data, "0")


def test_memory_that_cannot_be_shared_says_how_it_could_be(device):
    assert device.shareable == ("shared", "host")
    remedy = "can't be shared with other processes: make a pool with `shareable`"
    for share in (HostMemory(8).export, default_pool(kind="shared").handle):
        with pytest.raises(millpond.SharingError, match=remedy):
            share()
    for memory in (DeviceMemory(8), HostMemory.wrap(bytearray(8))):
        with pytest.raises(millpond.SharingError, match=remedy):
            memory.export()
    with pytest.raises(millpond.DeviceError, match="sharing device memory with other processes is not supported"):
        Pool(shareable=True)
    assert not Pool().shareable
    pool = Pool(kind="host", shareable=True)
    assert pool.shareable
    memory = pool.allocate(1000)
    with pytest.raises(TypeError, match="read-only"):
        HostMemory.wrap(bytes(8)).export()
    assert Pool.over(memory).shareable is False


def test_handles_are_closed_once_or_twice(pool):
    handle = pool.handle()
    assert repr(handle) == f"<PoolHandle, fd {handle.fd}>"
    again = type(handle)(handle.data, handle.fd)
    with again:
        assert again.fd == handle.fd, "they share the descriptor"
    again.close()
    assert again.is_closed
    assert repr(again) == "<PoolHandle, closed>"
    for use in (again.open, again.fileno, lambda: pickle.dumps(again), again.__enter__):
        with pytest.raises(ValueError, match="the handle was closed"):
            use()
    assert handle.open().kind == pool.kind
    os.fstat(handle.fd)


def test_nothing_is_left_when_everything_is_let_go():
    before = counts()
    for _ in range(20):
        pool = Pool(kind="shared", shareable=True)
        memory = pool.allocate(1000)
        export = memory.export()
        seen = Memory.from_handle(export.data, export)
        imported = pool.handle().open()
        also = imported.open(export.data)
        assert counts()[1] == 2  # the owner's, and one for both
        del pool, memory, export, seen, imported, also
    assert counts() == before


def test_forked_children_are_told(run):
    result = run(
        """
        import os, millpond
        from millpond.memory import Memory, Pool
        pool = Pool(kind="host", shareable=True)
        memory = pool.allocate(8)
        export = memory.export()
        child = os.fork()
        if child == 0:
            for call in (memory.export, pool.handle, lambda: Memory.from_handle(export.data, export)):
                try:
                    call()
                except millpond.ForkedError:
                    print("told", flush=True)
            export.close()
            os._exit(0)
        os.waitpid(child, 0)
        """
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "told\n" * 3, "")
