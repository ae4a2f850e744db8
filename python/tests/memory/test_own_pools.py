"""Pools of a program's own: made, changed, closed, asked."""

import gc

import pytest

import millpond
from millpond.memory import DeviceMemory, HostMemory, Pool, SharedMemory, default_pool

KIND_OF = {"device": DeviceMemory, "shared": SharedMemory, "host": HostMemory}
MIB = 1 << 20


@pytest.fixture(params=KIND_OF)
def kind(request):
    return request.param


def test_a_pool_says_how_it_was_made(device, kind):
    pool = Pool(
        device,
        kind,
        name="own",
        maximum_size=64 * MIB,
        release_threshold=MIB,
        idle_release=0.5,
        max_poolable=2 * MIB,
        min_driver_alloc=4 * MIB,
        read_only=True,
        zero="fresh",
        follow_events=False,
        opportunistic=False,
        internal_dependencies=False,
    )
    assert (pool.device, pool.kind, pool.name) == (device, kind, "own")
    assert (pool.maximum_size, pool.release_threshold, pool.idle_release) == (64 * MIB, MIB, 0.5)
    assert (pool.max_poolable, pool.min_driver_alloc) == (2 * MIB, 4 * MIB)
    assert (pool.read_only, pool.zero) == (True, "fresh")
    assert (pool.follow_events, pool.opportunistic, pool.internal_dependencies) == (False, False, False)
    assert (pool.is_default, pool.is_closed, pool.is_over_buffer) == (False, False, False)
    assert repr(pool) == f"<Pool 'own' of {kind} memory on {device.name}>"


def test_a_pool_has_no_limits_unless_told():
    pool = Pool()
    assert (pool.device, pool.kind) == (millpond.default_device(), "device")
    assert (pool.maximum_size, pool.release_threshold, pool.idle_release, pool.max_poolable) == (None,) * 4
    assert (pool.follow_events, pool.opportunistic, pool.internal_dependencies) == (True, True, True)
    assert (pool.zero, pool.read_only) == ("never", False)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("maximum_size", 3 * MIB),
        ("release_threshold", 0),
        ("idle_release", 1.5),
        ("follow_events", False),
        ("opportunistic", False),
        ("internal_dependencies", False),
    ],
)
def test_limits_and_rules_can_be_changed(attribute, value):
    pool = Pool()
    before = getattr(pool, attribute)
    setattr(pool, attribute, value)
    assert getattr(pool, attribute) == value
    setattr(pool, attribute, before)
    assert getattr(pool, attribute) == before


def test_handles_to_a_pool_are_equal():
    assert default_pool() == default_pool()
    assert hash(default_pool()) == hash(default_pool())
    first, second = Pool(), Pool()
    assert first != second
    assert first != default_pool()
    assert len({first, second, first}) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "tape"}, r"kind: expected 'device', 'shared' or 'host', got 'tape'"),
        ({"zero": "often"}, r"zero: expected 'never', 'fresh' or 'always', got 'often'"),
        ({"maximum_size": -1}, r"expected 0 or more, got -1"),
        ({"maximum_size": 255}, r"maximum size of 255 bytes"),
        ({"idle_release": -0.5}, r"idle_release: expected 0 or more seconds, got -0.5"),
        ({"idle_release": float("nan")}, r"idle_release: expected 0 or more seconds, got NaN"),
    ],
)
def test_what_a_pool_cannot_be_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Pool(**arguments)


def test_bad_limits_are_refused_and_change_nothing():
    pool = Pool(maximum_size=MIB, idle_release=1.0)
    with pytest.raises(ValueError, match="expected 0 or more, got -3"):
        pool.maximum_size = -3
    with pytest.raises(ValueError, match="expected 0 or more seconds, got -1"):
        pool.idle_release = -1.0
    assert (pool.maximum_size, pool.idle_release) == (MIB, 1.0)


def test_allocations_are_of_the_pool_and_its_kind(kind, line):
    pool = Pool(kind=kind)
    memory = pool.allocate(1000, queue=line)
    assert type(memory) is KIND_OF[kind]
    assert memory.queue == line
    assert (pool.statistics().live, pool.statistics().requested) == (1, 1000)
    del memory
    assert pool.statistics().live == 0


def test_all_live_allocations_are_counted(live):
    before = live()
    memory = Pool().allocate(100)
    assert live() == before + 1
    del memory
    assert live() == before


@pytest.mark.parametrize("alignment", [1, 512, 4096, 1 << 16])
def test_alignment_is_kept(alignment):
    pool = Pool(kind="host")
    kept = [pool.allocate(nbytes, alignment=alignment) for nbytes in (1, 300, 5000, 1)]
    assert [memory.ptr % max(alignment, 256) for memory in kept] == [0] * 4


@pytest.mark.parametrize("alignment", [0, 3, 1 << 40])
def test_other_alignments_are_refused(alignment):
    with pytest.raises(ValueError, match=f"an alignment of {alignment} bytes is not a power of two"):
        Pool().allocate(10, alignment=alignment)


def test_a_limit_holds():
    pool = Pool(name="small", maximum_size=MIB)
    kept = pool.allocate(700_000)
    with pytest.raises(millpond.OutOfMemoryError) as caught:
        pool.allocate(700_000)
    error = caught.value
    assert (error.pool, error.maximum_size, error.live) == ("small", MIB, 1)
    assert error.requested == 700_000
    pool.maximum_size = None
    assert pool.allocate(700_000).nbytes == kept.nbytes


def test_zero_always_gives_zeros():
    pool = Pool(kind="host", zero="always")
    for _ in range(3):
        memory = pool.allocate(1000)
        assert memory.tobytes() == bytes(1000)
        memory.fill(7)
        del memory


def test_a_closed_pool_refuses_and_keeps_what_lives():
    pool = Pool(kind="host", name="done")
    memory = pool.allocate(16)
    memory.fill(3)
    pool.close()
    pool.close()
    assert pool.is_closed
    assert "closed" in repr(pool)
    with pytest.raises(millpond.PoolClosedError, match="done was closed"):
        pool.allocate(16)
    assert memory.tobytes() == bytes([3]) * 16


def test_memory_outlives_the_pool():
    memory = Pool(kind="host").allocate(16)
    gc.collect()
    memory.fill(4)
    assert memory.tobytes() == bytes([4]) * 16


def test_a_default_pool_is_not_closed(kind):
    pool = default_pool(kind=kind)
    assert pool.is_default
    with pytest.raises(ValueError, match="can't be closed"):
        pool.close()


def test_fit_tells_when_a_request_finds_memory(line):
    pool = Pool(maximum_size=MIB)
    assert pool.fit(1000).when == "growth"
    assert pool.fit(2 * MIB).when == "never"
    memory = pool.allocate(MIB, queue=line)
    assert pool.fit(MIB).when == "never"
    gate = line.gate()
    memory.fill(1)
    del memory
    fit = pool.fit(MIB)
    assert fit.when == "after"
    assert [queue for queue, _ in fit.points] == [line.id]
    assert fit == pool.fit(MIB)
    assert repr(fit).startswith(f"Fit(when='after', points=[({line.id}, ")
    gate.open()
    line.wait()
    assert pool.fit(MIB).when == "now"
    assert pool.fit(MIB).points == ()


def test_the_largest_free_piece_is_told():
    pool = Pool(maximum_size=MIB)
    assert pool.largest_free == 0
    pool.allocate(MIB)
    assert pool.largest_free == MIB


def test_highs_can_be_reset():
    pool = Pool()
    pool.allocate(MIB)
    assert pool.statistics().used_high >= MIB
    pool.reset_highs()
    assert pool.statistics().used_high == 0


def test_a_pool_over_memory_stays_in_it():
    memory = HostMemory(MIB)
    part = memory[4096 : 4096 + 65536]
    pool = Pool.over(part, name="arena")
    assert pool.is_over_buffer
    assert (pool.kind, pool.name) == ("host", "arena")
    assert pool.statistics().reserved == 65536
    kept = [pool.allocate(1024) for _ in range(64)]
    assert all(part.ptr <= each.ptr < part.ptr + 65536 for each in kept)
    with pytest.raises(millpond.OutOfMemoryError, match="arena"):
        pool.allocate(1024)
    kept.pop()
    pool.allocate(1024).fill(5)


def test_a_pool_keeps_the_memory_it_is_over(live):
    before = live()
    pool = Pool.over(HostMemory(4096))
    pool.allocate(100)
    assert live() == before + 1
    del pool
    assert live() == before


def test_a_pool_over_memory_comes_behind_what_was_submitted(line):
    memory = HostMemory(4096, queue=line)
    gate = line.gate()
    memory.fill(1)
    other = memory.device.create_queue()
    mine = Pool.over(memory).allocate(4096, queue=other)
    mine.fill(2)
    gate.open()
    assert mine.tobytes() == bytes([2]) * 4096
    assert memory.tobytes() == bytes([2]) * 4096


@pytest.mark.host
def test_memory_that_can_not_be_a_pool_is_refused():
    with pytest.raises(ValueError, match="no aligned granule of 256 bytes"):
        Pool.over(HostMemory(100))
    with pytest.raises(TypeError, match=r"Pool\.over: the memory is read-only"):
        Pool.over(HostMemory.wrap(b"0" * 1024))
    with pytest.raises(TypeError, match="memory"):
        Pool.over(b"0" * 1024)


@pytest.mark.parametrize("wait", ["queue", "device", "memory"])
def test_a_wait_counts_where_completion_does_not(device, wait):
    one, two = device.create_queue(), device.create_queue()
    pool = Pool(device, "host", maximum_size=MIB, opportunistic=False, internal_dependencies=False)
    memory = pool.allocate(MIB, queue=one)
    one.task(lambda: None, [memory]).wait()
    used = one.task(lambda: None, [memory])
    while used.status == "pending" or not one.is_idle:
        pass
    if wait == "memory":
        memory.tobytes()
    del memory
    while pool.statistics().live:  # The task may hold it for a moment.
        pass
    if wait != "memory":
        with pytest.raises(MemoryError):
            two.alloc(MIB, pool=pool, wait=False)
        (one if wait == "queue" else device).wait()
    two.alloc(MIB, pool=pool, wait=False)
