"""Which pool and which tag a thread's allocations are of."""

import threading

import pytest

import millpond
import millpond.tensor as xp
from millpond.memory import DeviceMemory, HostMemory, Pool, Tag, current_pool, default_pool, set_current_pool, use_pool


@pytest.fixture
def pool():
    return Pool(name="mine")


def in_thread(function):
    """Call it in a thread of its own; its answer or exception is the call's."""
    answer = []

    def work():
        try:
            answer.append((function(), None))
        except BaseException as error:
            answer.append((None, error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    ((value, error),) = answer
    if error is not None:
        raise error
    return value


def test_arrays_come_from_the_pool_in_use(pool):
    with use_pool(pool) as used:
        assert used == pool == current_pool()
        array = xp.empty((100, 100))
    assert current_pool() == default_pool()
    assert pool.statistics().requested == array.nbytes
    xp.ones(10)
    assert pool.statistics().live == 1


def test_temporaries_come_from_the_pool_in_use(pool):
    others = default_pool().statistics().live
    with use_pool(pool):
        x = xp.linspace(0, 1, 10_000)
        y = xp.sum(xp.sqrt(x * 2 + 1) / xp.ones(10_000)) + xp.mean(x[::3] ** 2)
        y = float(y) + float(xp.sum(xp.astype(xp.reshape(x, (100, 100)).T > 0.5, xp.int64)))
        assert default_pool().statistics().live == others
    assert pool.statistics().used_high > 3 * x.nbytes


def test_memory_objects_come_from_the_pool_in_use(pool):
    with use_pool(pool):
        memory = DeviceMemory(100)
        host = HostMemory(100)
    assert pool.statistics().live == 1
    assert host.nbytes == memory.nbytes


def test_pools_of_several_kinds_are_in_use_together(pool):
    other = Pool(kind="host")
    with use_pool(pool), use_pool(other):
        assert (current_pool(), current_pool(kind="host")) == (pool, other)
        assert current_pool(kind="shared") == default_pool(kind="shared")


def test_the_innermost_pool_is_used(pool):
    inner = Pool()
    with use_pool(pool):
        with use_pool(inner):
            assert current_pool() == inner
            with use_pool(default_pool()):
                assert current_pool() == default_pool()
            assert current_pool() == inner
        assert current_pool() == pool
    assert current_pool() == default_pool()


def test_a_scope_can_be_entered_again(pool):
    scope = use_pool(pool)
    with scope:
        with scope:
            assert current_pool() == pool
        assert current_pool() == pool
    with scope:
        assert current_pool() == pool
    assert current_pool() == default_pool()


def test_an_exception_ends_the_scope(pool):
    with pytest.raises(ZeroDivisionError), use_pool(pool), use_pool(Pool()):
        _ = 1 / 0
    assert current_pool() == default_pool()


def generate(scope):
    with scope:
        yield
        yield


def test_generators_end_scopes_in_any_order():
    pools = [Pool(name=str(number)) for number in range(4)]
    generators = [generate(use_pool(pool)) for pool in pools]
    for generator in generators:
        next(generator)
    assert current_pool() == pools[3]
    generators[1].close()
    assert current_pool() == pools[3]
    generators[3].close()
    assert current_pool() == pools[2]
    generators[0].close()
    with use_pool(pools[1]):
        generators[2].close()
        assert current_pool() == pools[1]
        xp.ones(10)
    assert pools[1].statistics().reserved > 0
    assert pools[2].statistics().reserved == 0
    assert current_pool() == default_pool()


def test_a_scope_holds_for_its_thread(pool):
    with use_pool(pool):
        assert in_thread(current_pool) == default_pool()
    barrier = threading.Barrier(4)

    def work():
        own = Pool()
        with use_pool(own):
            barrier.wait()
            kept = [xp.ones(100) for _ in range(10)]
            barrier.wait()
            return own.statistics().live == len(kept)

    answers = []
    threads = [threading.Thread(target=lambda: answers.append(work())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 4


@pytest.mark.parametrize("make", [lambda: use_pool(Pool()), lambda: Tag("a")])
def test_a_scope_ends_on_the_thread_that_began_it(make):
    scope = make()
    generator = generate(scope)
    next(generator)
    with pytest.raises(RuntimeError, match="this thread is not in the scope"):
        in_thread(generator.close)
    scope.__exit__(None, None, None)
    assert current_pool() == default_pool()
    with pytest.raises(RuntimeError, match="this thread is not in the scope"):
        scope.__exit__(None, None, None)


def test_a_scope_that_is_never_left_ends_with_its_thread(pool):
    tag = Tag("left")

    def work():
        use_pool(pool).__enter__()
        tag.__enter__()
        xp.ones(10)
        return current_pool()

    assert in_thread(work) == pool
    assert tag.live == 0
    assert in_thread(current_pool) == default_pool()


def test_a_closed_pool_is_not_used(pool):
    with use_pool(pool):
        pool.close()
        assert current_pool() == default_pool()
        xp.ones(10)
    with pytest.raises(millpond.PoolClosedError, match="mine was closed"), use_pool(pool):
        pass


def test_the_current_pool_can_be_set(pool):
    set_current_pool(pool)
    try:
        assert current_pool() == in_thread(current_pool) == pool == millpond.memory.pool()
        xp.ones(10)
        assert pool.statistics().used_high > 0
        inner = Pool()
        with use_pool(inner):
            assert current_pool() == inner
    finally:
        set_current_pool(default_pool())
    assert current_pool() == default_pool()


def test_closing_the_current_pool_goes_back_to_the_default(pool):
    set_current_pool(pool)
    pool.close()
    assert current_pool() == default_pool()
    xp.ones(10)
    with pytest.raises(millpond.PoolClosedError):
        set_current_pool(pool)


def test_tags_count_what_is_allocated_in_them():
    tag = Tag("tenant")
    child = tag.child("request")
    assert (tag.name, child.name) == ("tenant", "tenant/request")
    with tag:
        first = DeviceMemory(1000)
        with child:
            second = HostMemory(300)
    outside = DeviceMemory(1000)
    assert (tag.live, child.live) == (2, 1)
    assert (tag.used, child.used) == (1024 + 512, 512)
    del first, second
    assert (tag.live, tag.used, tag.used_high) == (0, 0, 1024 + 512)
    assert repr(child) == "<Tag tenant/request: 0 bytes used>"
    assert outside.nbytes == 1000


def test_a_budget_holds_and_can_be_changed():
    tag = Tag("tenant")
    assert (tag.budget, tag.soft_budget) == (None, None)
    tag.budget = 1 << 20
    with tag.child("request"), pytest.raises(millpond.BudgetError, match="'tenant' is 1048576 bytes") as caught:
        xp.empty(1 << 20)
    assert (caught.value.tag, caught.value.budget, caught.value.used) == ("tenant", 1 << 20, 0)
    assert tag.live == 0
    tag.budget = None
    with tag:
        assert xp.empty(1 << 20).size == 1 << 20
    with pytest.raises(ValueError, match="expected 0 or more, got -1"):
        tag.budget = -1
    with pytest.raises(TypeError, match="expected an integer"):
        tag.soft_budget = "much"


def test_threads_share_a_tag():
    tag = Tag("shared")
    barrier = threading.Barrier(4)

    def work():
        with tag:
            memory = DeviceMemory(1000)
            barrier.wait()
        seen.append(tag.live)
        barrier.wait()
        del memory

    seen = []
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [4] * 4
    assert (tag.live, tag.used, tag.used_high) == (0, 0, 4096)


def test_tags_end_in_any_order():
    tags = [Tag(str(number)) for number in range(3)]
    generators = [generate(tag) for tag in tags]
    for generator in generators:
        next(generator)
    generators[1].close()
    generators[0].close()
    memory = DeviceMemory(10)
    generators[2].close()
    untagged = DeviceMemory(10)
    assert [tag.live for tag in tags] == [0, 0, 1]
    assert memory.nbytes == untagged.nbytes
