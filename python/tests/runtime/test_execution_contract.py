"""Faults that asynchronous execution brought to others, and the page that says why they can't happen here."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import millpond
import millpond.tensor as xp

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "execution-contract.md"

#: How many faults the history tells of.
FAULTS = 37


def rows():
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if row := re.match(r"^\| (\d+) \| (.+) \| (.+) \| (.+) \|$", line):
            yield int(row[1]), row[4]


def names_of_tests():
    for pattern, definition in [
        ("crates/**/*.rs", r"^\s*(?:pub(?:\(\w+\))? )?fn (\w+)[<(]"),
        ("python/tests/**/*.py", r"^\s*def (test_\w+)\("),
    ]:
        for path in ROOT.glob(pattern):
            yield from re.findall(definition, path.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_page_has_every_fault_once():
    assert sorted(number for number, _ in rows()) == list(range(1, FAULTS + 1))


def test_the_page_names_tests_that_there_are():
    there = set(names_of_tests())
    for number, cell in rows():
        named = re.findall(r"`(\w+)`", cell)
        assert named or cell.startswith("none: "), f"fault {number} has no test and no reason"
        assert set(named) <= there, f"fault {number}"


@pytest.mark.parametrize("axis", [0, 1, None])
def test_f03_arrays_of_several_dtypes_are_joined_in_their_places(line, axis):
    hosts = [np.arange(6, dtype="int8"), np.arange(10, 16, dtype="float32"), np.arange(20, 26, dtype="int64")]
    hosts = [host.reshape(2, 3) for host in hosts]
    arrays = [xp.asarray(host, queue=line) for host in hosts]
    gate = line.gate()
    joined = xp.concat([array + 0 for array in arrays], axis=axis)
    assert not line.is_idle
    gate.open()
    assert np.array_equal(xp.asnumpy(joined), np.concatenate(hosts, axis=axis))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: xp.roll(x, 1),
        lambda x: xp.reshape(x, (1, 1), copy=True),
        lambda x: xp.copy(x),
        lambda x: xp.astype(x, "float32"),
        lambda x: xp.sum(x),
        lambda x: xp.cumulative_sum(x),
        lambda x: xp.sort(x),
        lambda x: xp.concat([x, x])[1:],
        lambda x: xp.take(x, xp.zeros(1, dtype="int64", queue=x.queue)),
        lambda x: xp.tril(xp.reshape(x, (1, 1))),
        lambda x: xp.repeat(x, 2)[1:],
        lambda x: xp.where(x > 0, x, x),
    ],
)
@pytest.mark.parametrize("in_order", [True, False])
def test_f16_arrays_of_one_element_are_in_order_too(device, function, in_order):
    """The producer of the element waits behind a gate that opens after the call."""
    queue = device.create_queue(in_order=in_order)
    x = xp.zeros(1, queue=queue)
    gate = queue.gate()
    queue.barrier()
    x += 7
    result = function(x)
    assert not queue.is_idle
    x[...] = 9
    gate.open()
    assert float(xp.reshape(result, ())) == 7


def test_f31_asking_for_queues_and_devices_leaves_nothing():
    x = xp.ones(3)

    def ask():
        for _ in range(1000):
            for _ in (x.queue, x.device, x.queue.device.default_queue, x.data.queue):
                pass

    ask()
    before = sys.getallocatedblocks()
    ask()
    # One lost object in each of the 1000 turns would be 1000.
    assert sys.getallocatedblocks() - before < 500


def test_f33_a_buffer_is_let_go_when_an_error_occurs():
    """A buffer that is still seen can't change its size."""
    memory = millpond.memory.DeviceMemory(4)
    data = bytearray(8)
    with pytest.raises(IndexError):
        memory.write(data)
    with pytest.raises(IndexError):
        memory.copy_from(data)
    with pytest.raises(IndexError):
        memory.read_into(data)
    with pytest.raises((ValueError, TypeError, BufferError)):
        xp.asarray(memoryview(data).cast("c"), copy=False)
    data.append(0)
    assert len(data) == 9
