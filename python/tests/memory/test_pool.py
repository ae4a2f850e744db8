import random
import threading

import pytest

import millpond
from millpond.memory import DeviceMemory, HostMemory, SharedMemory, Statistics, current_pool, pool, stats

CLASSES = {"device": DeviceMemory, "shared": SharedMemory, "host": HostMemory}


@pytest.fixture(params=CLASSES)
def kind(request):
    return request.param


def test_pools_know_what_they_are(kind, device):
    found = pool(device, kind)
    assert found.device == device
    assert found.kind == kind
    assert found == current_pool(kind=kind)
    assert hash(found) == hash(pool(str(device), kind))
    assert found != pool(device, "host" if kind != "host" else "device")


def test_an_unknown_kind_is_refused(device):
    with pytest.raises(ValueError, match="'device', 'shared' or 'host'"):
        pool(device, "tape")


def identity(statistics: Statistics) -> bool:
    return statistics.reserved == statistics.used + statistics.pending + statistics.cached


def test_statistics_count_allocations(kind):
    found = pool(kind=kind)
    before = found.statistics()
    memory = CLASSES[kind](1000)
    during = found.statistics()
    assert during.live == before.live + 1
    assert during.requested == before.requested + 1000
    assert during.used >= before.used + 1000
    assert during.used_high >= during.used
    assert during.reserved_high >= during.reserved
    del memory
    after = found.statistics()
    assert (after.live, after.requested, after.used) == (before.live, before.requested, before.used)


def test_reserved_is_used_and_pending_and_cached(kind, line):
    choice = random.Random(1)
    found = pool(kind=kind)
    kept = []
    gate = None
    for step in range(300):
        if choice.random() < 0.6 or not kept:
            memory = CLASSES[kind](choice.choice([1, 100, 5000, 70_000, 3 << 20]), queue=line)
            memory.fill(step % 256)
            kept.append(memory)
        else:
            kept.pop(choice.randrange(len(kept)))
        if step % 50 == 10:
            gate = line.gate()
        if step % 50 == 40 and gate is not None:
            gate.open()
        assert identity(found.statistics())
    line.wait()
    kept.clear()
    assert identity(found.statistics())


def test_memory_freed_under_pending_work_is_pending(kind, line):
    found = pool(kind=kind)
    memory = CLASSES[kind](1 << 20, queue=line)
    gate = line.gate()
    memory.fill(1)
    before = found.statistics()
    del memory
    during = found.statistics()
    assert during.pending >= before.pending + (1 << 20)
    gate.open()
    line.wait()
    assert found.statistics().pending == before.pending


def test_trimming_gives_free_memory_back(kind):
    found = pool(kind=kind)
    CLASSES[kind](100 << 20)
    millpond.wait()
    found.trim()
    small = found.statistics().reserved
    memory = CLASSES[kind](100 << 20)
    assert found.statistics().reserved >= small + (100 << 20)
    del memory
    found.trim(keep=1 << 40)
    assert found.statistics().reserved >= small + (100 << 20)
    found.trim()
    assert found.statistics().reserved == small
    assert identity(found.statistics())


def test_statistics_are_told_for_all_kinds(device):
    answer = stats(device)
    assert set(answer) == set(CLASSES)
    assert all(isinstance(entry, Statistics) for entry in answer.values())
    assert answer.keys() == stats().keys()


def test_statistics_compare_and_print():
    first, second = pool().statistics(), pool().statistics()
    assert first == second
    assert repr(first).startswith("Statistics(used=")
    assert first.as_dict()["reserved"] == first.reserved
    assert list(first.as_dict()) == [
        "used",
        "requested",
        "pending",
        "cached",
        "reserved",
        "used_high",
        "reserved_high",
        "live",
    ]


def test_eight_threads_share_a_queue(line):
    failures = []

    def work(seed):
        choice = random.Random(seed)
        try:
            for step in range(100):
                memory = DeviceMemory(choice.choice([8, 300, 4096]), queue=line)
                value = (seed * 31 + step) % 256
                memory.fill(value)
                copy = HostMemory(memory.nbytes, queue=line)
                copy.copy_from(memory)
                assert copy.tobytes() == bytes([value]) * memory.nbytes
        except BaseException as error:
            failures.append(error)

    before = millpond.live()
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    line.wait()
    assert millpond.live() == before
    assert all(identity(entry) for entry in stats().values())
