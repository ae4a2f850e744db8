import pytest

import millpond
from millpond.memory import DeviceMemory


@pytest.mark.parametrize("profiling", [False, True])
def test_a_timer_tells_of_host_and_device(device, profiling):
    queue = device.create_queue(profiling=profiling)
    memory = DeviceMemory(1 << 20, queue=queue)
    with millpond.Timer(queue) as timer:
        memory.fill(1)
    assert timer.host > 0
    assert timer.device >= 0


@pytest.mark.parametrize("profiling", [False, True])
def test_a_timer_does_not_stop_the_queue(device, profiling):
    queue = device.create_queue(profiling=profiling)
    gate = queue.gate()
    with millpond.Timer(queue) as timer:
        queue.task(lambda: None)
    assert not queue.is_idle
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
