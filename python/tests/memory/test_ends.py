"""Processes that end, or are forked, while they have pools."""

#: Processes that leave pools behind; each starts an interpreter.
EXITS = 10

LEAVE = """
import sys
import millpond
import millpond.tensor as xp
from millpond.memory import DeviceMemory, HostMemory, Pool, Tag, add_reclaimer, set_current_pool

queue = millpond.default_device().default_queue
pool = Pool(release_threshold=0, max_poolable=1 << 20, zero="always")
hosts = Pool(kind="host")
set_current_pool(pool)
kept = [xp.ones(n) for n in (10, 1000, 1 << 18)]
parts = Pool.over(HostMemory(1 << 16))
tag = Tag("left")
scope = tag.__enter__()
reclaimer = add_reclaimer(lambda pressure: None)
memory, event = queue.alloc(100, hosts)
gate = queue.gate()
pending, _ = queue.alloc(5000, pool)
pending.fill(1)
queue.free(pending)
sys.modules["kept"] = type(sys)("kept")
sys.modules["kept"].everything = (pool, hosts, parts, kept, memory, gate, tag)
"""


def test_f063_a_pool_that_a_module_keeps_is_left_in_peace(run):
    for _ in range(EXITS):
        result = run(LEAVE)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


FORK = """
import os
import millpond
from millpond.memory import DeviceMemory, Pool, set_current_pool, use_pool

line = millpond.default_device().create_queue()
pool = Pool(maximum_size=8 << 20)
memory, _ = line.alloc(1 << 20, pool)
kept = DeviceMemory(100)
before = pool.statistics()
child = os.fork()
if child == 0:
    calls = {
        "pool": lambda: Pool(),
        "alloc": lambda: line.alloc(100, pool),
        "free": lambda: line.free(memory),
        "trim": lambda: pool.trim(),
        "current": lambda: set_current_pool(pool),
        "memory": lambda: DeviceMemory(100),
    }
    for name, call in calls.items():
        try:
            call()
        except millpond.ForkedError as error:
            assert "fork" in str(error)
        else:
            print(name, "was allowed", flush=True)
    del kept, memory, pool
    print("told", flush=True)
    raise SystemExit
assert os.waitpid(child, 0)[1] == 0
assert pool.statistics() == before
with use_pool(pool):
    DeviceMemory(100).fill(1)
line.free(memory)
millpond.wait()
assert pool.statistics().live == 0
"""


def test_a_forked_child_is_told_that_pools_are_not_inherited(run):
    result = run(FORK, PYTHONWARNINGS="ignore::DeprecationWarning")
    assert (result.returncode, result.stdout, result.stderr) == (0, "told\n", "")
