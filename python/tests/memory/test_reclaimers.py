"""Functions that give memory up when it becomes short."""

import gc
import sys
import threading

import pytest

import millpond
import millpond.tensor as xp
from millpond.memory import Pool, Pressure, Tag, add_reclaimer, use_pool

MIB = 1 << 20


@pytest.fixture
def pool():
    return Pool(name="short", maximum_size=MIB)


@pytest.fixture
def unraisable(monkeypatch):
    seen = []
    monkeypatch.setattr(sys, "unraisablehook", lambda about: seen.append(about.exc_type))
    return seen


def test_a_reclaimer_gives_memory_up(pool):
    cache = [pool.allocate(MIB)]
    told = []

    def reclaim(pressure):
        told.append(pressure)
        cache.clear()

    with add_reclaimer(reclaim):
        memory = pool.allocate(MIB)
    assert memory.nbytes == MIB
    assert [pressure.level for pressure in told] == ["growth"]
    assert (told[0].pool, told[0].kind, told[0].wanted, told[0].tag) == ("short", "device", MIB, None)
    assert repr(told[0]) == "<Pressure growth: 1048576 bytes wanted of short>"
    assert isinstance(told[0], Pressure)


def test_arrays_that_a_reclaimer_drops_make_room(pool):
    with use_pool(pool):
        cache = {number: xp.full(MIB // 32, number) for number in range(4)}

        def reclaim(pressure):
            del cache[min(cache)]

        with add_reclaimer(reclaim):
            kept = [xp.full(MIB // 32, 10) + 1 for _ in range(2)]
        assert [int(array[5]) for array in kept] == [11, 11]
    assert len(cache) < 4


def test_memory_that_is_given_up_under_pending_work_is_waited_for(pool, line):
    cache = [pool.allocate(MIB, queue=line)]
    gate = line.gate()
    cache[0].fill(1)
    pool.internal_dependencies = False
    other = line.device.create_queue()

    def reclaim(pressure):
        cache.clear()
        threading.Timer(0.01, gate.open).start()

    with add_reclaimer(reclaim):
        assert pool.allocate(MIB, queue=other).nbytes == MIB


def test_all_are_called_before_a_request_fails(pool):
    kept = pool.allocate(MIB)
    told = []
    first = add_reclaimer(lambda pressure: told.append((1, pressure.level)))
    second = add_reclaimer(lambda pressure: told.append((2, pressure.level)))
    with first, second, pytest.raises(millpond.OutOfMemoryError):
        pool.allocate(MIB)
    assert told == [(1, "growth"), (2, "growth"), (1, "critical"), (2, "critical")]
    assert kept.nbytes == MIB


def test_a_closed_reclaimer_is_not_called(pool):
    kept = pool.allocate(MIB)
    told = []
    reclaimer = add_reclaimer(told.append)
    reclaimer.close()
    reclaimer.close()
    with pytest.raises(millpond.OutOfMemoryError):
        pool.allocate(MIB)
    assert told == []
    assert kept.nbytes == MIB


def test_a_reclaimer_that_nobody_keeps_stays(run):
    program = """
        import gc
        from millpond.memory import Pool, add_reclaimer

        pool = Pool(maximum_size=1 << 20)
        cache = [pool.allocate(1 << 20)]
        add_reclaimer(lambda pressure: cache.clear())
        gc.collect()
        pool.allocate(1 << 20)
        print(len(cache))
    """
    ended = run(program)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "0\n", "")


def test_an_exception_is_reported_and_frees_nothing(pool, unraisable):
    cache = [pool.allocate(MIB)]

    def fail(pressure):
        raise KeyError(pressure.wanted)

    with add_reclaimer(fail), add_reclaimer(lambda pressure: cache.clear()):
        pool.allocate(MIB)
    assert unraisable == [KeyError]


def test_an_exception_leaves_the_allocation_its_own(pool, unraisable):
    kept = pool.allocate(MIB)

    def fail(pressure):
        raise SystemExit

    with add_reclaimer(fail), pytest.raises(millpond.OutOfMemoryError):
        pool.allocate(MIB)
    assert unraisable == [SystemExit, SystemExit]
    assert kept.nbytes == MIB


def test_a_reclaimer_may_allocate_and_wait(pool):
    cache = [pool.allocate(MIB)]
    depth = []

    def reclaim(pressure):
        depth.append(len(depth))
        with pytest.raises(millpond.OutOfMemoryError):
            pool.allocate(MIB)
        assert int(xp.sum(xp.ones(1000))) == 1000
        millpond.wait()
        cache.clear()

    with add_reclaimer(reclaim):
        pool.allocate(MIB)
    assert depth == [0]


def test_a_soft_budget_is_told():
    tag = Tag("tenant")
    tag.soft_budget = MIB
    cache = []
    told = []

    def reclaim(pressure):
        told.append((pressure.level, pressure.tag))
        cache.clear()

    with add_reclaimer(reclaim), tag:
        cache.append(xp.empty(100_000))
        assert told == []
        array = xp.empty(100_000)
    assert told == [("soft", "tenant")]
    assert tag.used < MIB
    assert array.size == 100_000


@pytest.mark.host
def test_a_reclaimer_is_of_one_device(device):
    (part,) = device.partition([1])
    pool = Pool(part, maximum_size=MIB)
    held = pool.allocate(MIB)
    told = []
    with add_reclaimer(told.append), pytest.raises(millpond.OutOfMemoryError):
        pool.allocate(MIB)
    assert told == []
    with add_reclaimer(told.append, part), pytest.raises(millpond.OutOfMemoryError):
        pool.allocate(MIB)
    assert told != []
    del held


def test_threads_allocate_under_pressure():
    pool = Pool(maximum_size=4 * MIB)
    lock = threading.Lock()
    cache = []
    failures = []

    def reclaim(pressure):
        with lock:
            dropped = cache[:]
            cache.clear()
        del dropped

    def work(seed):
        try:
            with use_pool(pool):
                for step in range(50):
                    array = xp.full(20_000, seed * 100 + step)
                    assert int(array[-1]) == seed * 100 + step
                    with lock:
                        cache.append(array)
                    del array
        except BaseException as error:
            failures.append(error)

    with add_reclaimer(reclaim):
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert failures == []
    cache.clear()
    gc.collect()
    pool.device.wait()
    assert pool.statistics().live == 0
    assert pool.statistics().reserved_high <= 4 * MIB


def test_what_cannot_be_called_is_refused():
    with pytest.raises(TypeError, match="something that can be called, not 3"):
        add_reclaimer(3)
