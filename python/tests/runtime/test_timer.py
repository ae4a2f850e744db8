import gc

import pytest

import millpond
import millpond.tensor as xp
from millpond.memory import DeviceMemory


@pytest.fixture(params=[False, True], ids=["plain", "profiling"])
def queue(request, device):
    queue = device.create_queue(profiling=request.param)
    yield queue
    queue.close()


def test_a_timer_tells_of_host_and_device(queue):
    memory = DeviceMemory(1 << 20, queue=queue)
    with millpond.Timer(queue) as timer:
        memory.fill(1)
    assert timer.host > 0
    assert timer.device >= 0


def test_a_timer_does_not_stop_the_queue(queue):
    gate = queue.gate()
    with millpond.Timer(queue) as timer:
        queue.task(lambda: None)
    assert not queue.is_idle
    assert timer.host >= 0
    gate.open()
    assert timer.device >= 0


def test_a_timer_is_of_the_default_queue_unless_told_otherwise(device):
    assert millpond.Timer().queue == device.default_queue


def test_a_timer_that_has_not_finished_says_so():
    timer = millpond.Timer()
    with pytest.raises(RuntimeError, match="has not finished"):
        _ = timer.device


def test_a_timer_shows_the_time_of_the_host_once_it_has_finished(line):
    timer = millpond.Timer(line)
    assert repr(timer) == "<Timer, not finished>"
    with timer:
        assert repr(timer) == "<Timer, not finished>"
    assert repr(timer) == f"<Timer, host {timer.host:.6f} s>"


def test_a_block_begins_behind_earlier_work_and_ends_behind_its_own(queue):
    before = queue.gate()
    with millpond.Timer(queue) as timer:
        within = queue.gate()
    (begin, end) = timer._open[0]
    assert not begin.event.is_done
    before.open()
    begin.event.wait()
    assert not end.event.is_done
    within.open()
    end.event.wait()
    assert timer.device > 0


def test_work_that_the_call_carries_out_lies_in_its_block(line):
    """Small operations on an idle queue run inline; their results are there before the block's end is reached."""
    x = xp.ones(16, queue=line)
    line.wait()
    with millpond.Timer(line) as timer:
        for _ in range(100):
            x = x + 1
    assert timer.device > 0
    assert float(x[0]) == 101


def test_fused_work_is_not_collected_across_the_ends_of_a_block(line):
    """Work of two blocks that would be one pass over memory has a place of its own in the queue for each block."""
    gate = line.gate()
    x = xp.zeros(100_000, queue=line)
    with millpond.Timer(line) as first:
        y = xp.sin(x) + 1
    with millpond.Timer(line) as second:
        z = xp.cos(y) + 1
    (_, end), (begin, later) = first._open[0], second._open[0]
    assert end.event.sequence <= begin.event.sequence < later.event.sequence
    assert not line.is_idle
    gate.open()
    assert first.device > 0
    assert second.device > 0
    assert float(z[0]) == pytest.approx(1.5403, abs=1e-4)


def test_blocks_add_up(queue):
    timer = millpond.Timer(queue)
    host = device = 0.0
    for count in (1, 2, 3):
        with timer:
            queue.task(lambda: None)
        assert timer.blocks == count
        assert timer.host > host
        assert timer.device > device
        host, device = timer.host, timer.device
    timer.reset()
    assert timer.blocks == 0
    with pytest.raises(RuntimeError, match="has not finished"):
        _ = timer.device


def test_a_block_within_a_block_counts_once(queue):
    gate = queue.gate()
    timer, own = millpond.Timer(queue), millpond.Timer(queue)
    with timer:
        with timer, own:
            queue.task(lambda: None)
        assert timer.blocks == 0
    assert (timer.blocks, own.blocks) == (1, 1)
    assert len(timer._open) == 1
    gate.open()
    assert timer.host >= own.host
    assert timer.device > 0


def test_an_exception_ends_the_block(queue):
    timer = millpond.Timer(queue)
    with pytest.raises(ZeroDivisionError), timer:
        1 / 0  # noqa: B018
    assert timer.blocks == 1
    assert timer.device >= 0


def test_a_failure_of_the_work_is_told_and_the_time_is_kept(line):
    timer = millpond.Timer(line)
    with timer:
        line.task(lambda: 1 / 0)
    with pytest.raises(millpond.CommandError, match="division by zero"):
        _ = timer.device


def test_a_timer_in_a_long_loop_does_not_grow(line):
    timer = millpond.Timer(line)
    for _ in range(1000):
        with timer:
            xp.ones(3, queue=line)
        line.wait()
    gc.collect()
    assert timer.blocks == 1000
    assert len(timer._open) <= 1
    assert timer.device > 0
