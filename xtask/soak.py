"""Use everything for a while and see that nothing is left behind; `cargo xtask soak` does.

Threads compute with arrays, make and drop queues and pools, allocate and free in queue order, meet limits, exchange
memory with NumPy, and have tasks fail. Every now and then all of them stop; then live allocations, pending memory,
open files, threads and resident memory must be what they were after the first such stop.
"""

import argparse
import gc
import os
import random
import sys
import threading
import time
from pathlib import Path

import numpy as np

import millpond
import millpond.tensor as xp
from millpond import memory
from millpond.exceptions import BudgetError, CommandError, OutOfMemoryError

THREADS = 3
MIB = 1 << 20
# What the allocator of the C library and the interpreter may keep beyond the first stop.
SLACK = 48 * MIB


def arrays(dice: random.Random) -> None:
    """Chains of operations on several queues, whose results are checked."""
    n = dice.choice([1, 7, 100, 4_000, 60_000])
    queues = [millpond.Queue(in_order=dice.random() < 0.7) for _ in range(2)]
    x = xp.arange(n, dtype="float64", queue=queues[0])
    expected = np.arange(n, dtype="float64")
    for turn in range(dice.randrange(1, 12)):
        y = x * 0.5 + turn
        queues[turn % 2].task(lambda: None, [y])
        x = y[::-1]
        expected = (expected * 0.5 + turn)[::-1]
    assert np.array_equal(xp.to_numpy(x), expected)


def pools(dice: random.Random) -> None:
    """Pools of all sorts, current for a while, closed or dropped with memory in use."""
    kind = dice.choice(["device", "shared", "host"])
    pool = memory.Pool(
        kind=kind,
        maximum_size=dice.choice([None, 4 * MIB]),
        release_threshold=dice.choice([None, 0, MIB]),
        idle_release=dice.choice([None, 0.01]),
        max_poolable=dice.choice([None, MIB]),
        min_driver_alloc=dice.choice([1, 2 * MIB]),
        zero=dice.choice(["never", "fresh", "always"]),
        opportunistic=dice.random() < 0.7,
        internal_dependencies=dice.random() < 0.7,
    )
    queue = millpond.Queue(in_order=dice.random() < 0.7)
    held = []
    with memory.use_pool(pool):
        for _ in range(dice.randrange(1, 30)):
            try:
                block, begun = queue.alloc(dice.randrange(1, MIB), pool, wait=dice.random() < 0.5)
            except OutOfMemoryError:
                held = held[len(held) // 2 :]
                continue
            held.append(block)
            if dice.random() < 0.3:
                queue.free(held.pop(dice.randrange(len(held))), [begun])
        if kind == "device":
            try:
                held.append(xp.ones(1000) + 1)
            except OutOfMemoryError:
                held.clear()
    if dice.random() < 0.3:
        pool.close()
    if held and isinstance(held[0], memory.Memory) and held[0].nbytes > 512:
        inner = memory.Pool.over(held[0])
        queue.free(queue.alloc(64, inner)[0])


def limits(dice: random.Random) -> None:
    """Tags beyond their budgets, and reclaimers that are asked."""
    tag = memory.Tag("tenant")
    tag.budget = 2 * MIB
    cache = [memory.DeviceMemory(1000)]
    with memory.add_reclaimer(lambda _: cache.clear()), tag:
        held = []
        try:
            while True:
                held.append(memory.SharedMemory(dice.randrange(1, MIB)))
        except BudgetError:
            pass
    del held
    assert tag.used == 0


def exchange(dice: random.Random) -> None:
    """Memory of others, and ours in others' hands."""
    source = np.arange(dice.randrange(1, 5000), dtype="float32")
    x = xp.from_dlpack(source)
    y = np.from_dlpack(x + 1)
    assert y[0] == 1
    wrapped = memory.HostMemory.wrap(bytearray(64))
    wrapped.fill(3)
    assert wrapped.tobytes() == bytes([3] * 64)


def failures(dice: random.Random) -> None:
    """Tasks that fail, on queues that are kept, waited for, or dropped."""

    def fail() -> None:
        raise ValueError("meant to")

    queue = millpond.Queue()
    event = queue.task(fail)
    if dice.random() < 0.5:
        try:
            event.wait()
        except CommandError:
            return
        raise AssertionError("nothing was raised")


JOBS = [arrays, pools, limits, exchange, failures]


def work(seed: int, end: float, errors: list[BaseException], counts: list[int]) -> None:
    """One thread's share."""
    dice = random.Random(seed)
    try:
        while time.monotonic() < end:
            dice.choice(JOBS)(dice)
            counts[0] += 1
    except BaseException as error:
        errors.append(error)


def settle() -> None:
    """Let everything finish and go."""
    gc.collect()
    while True:
        try:
            millpond.wait()
        except CommandError:
            continue
        break
    gc.collect()
    for kind in ("device", "shared", "host"):
        memory.default_pool(kind=kind).trim()


def resident() -> int:
    """Bytes of this process in memory."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def census() -> dict[str, int]:
    """What must not grow."""
    held = memory.stats()
    return {
        "live allocations": memory.live(),
        "pending bytes": sum(kind.pending for kind in held.values()),
        "reserved bytes": sum(kind.reserved for kind in held.values()),
        "open files": len(os.listdir("/proc/self/fd")),
        "threads": len(os.listdir("/proc/self/task")),
    }


def main() -> int:
    """Work in rounds, with a census after each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    last = time.monotonic() + options.minutes * 60
    length = min(20.0, options.minutes * 60 / 4)
    first: dict[str, int] = {}
    begin = 0
    counts = [0]
    for turn in range(1_000_000):
        errors: list[BaseException] = []
        end = time.monotonic() + length
        seeds = range(options.seed + turn * THREADS, options.seed + (turn + 1) * THREADS)
        threads = [threading.Thread(target=work, args=(seed, end, errors, counts)) for seed in seeds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        settle()
        now, bytes_ = census(), resident()
        print(f"{counts[0]} jobs, {bytes_ / MIB:.0f} MiB resident, {now}", flush=True)
        if not first:
            first, begin = now, bytes_
        grown = {name: (first[name], value) for name, value in now.items() if value > first[name]}
        if bytes_ > begin + SLACK:
            grown["resident bytes"] = (begin, bytes_)
        if grown:
            print(f"grown since the first stop: {grown}")
            return 1
        if time.monotonic() >= last:
            break
    print(f"{counts[0]} jobs left nothing behind")
    return 0


if __name__ == "__main__":
    sys.exit(main())
