"""The extension does what it says, also where arrays go before the work on them is done."""

import threading

import numpy as np
import pytest
import smoothing

import millpond
import millpond.tensor as xp


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = smoothing.live_handles()
    yield
    assert smoothing.live_handles() == before


def expected(series: list[float], share: float) -> list[float]:
    value, smoothed = series[0], []
    for new in series:
        value += share * (new - value)
        smoothed.append(value)
    return smoothed


def test_series_are_smoothed():
    series = [3.0, 1.0, 4.0, 1.0, 5.0]
    assert smoothing.smooth(xp.asarray(series), 0.25).tolist() == expected(series, 0.25)
    assert smoothing.smooth(xp.zeros(0), 0.5).tolist() == []


def test_arrays_may_go_while_work_is_pending():
    queue = millpond.Queue()
    gate = queue.gate()
    smoothed = smoothing.smooth(xp.full(5000, 2.0, queue=queue), 0.5)
    # These get the bytes of what went, and are ordered behind its last use.
    others = [xp.zeros(5000, queue=queue) for _ in range(4)]
    assert not queue.is_idle
    gate.open()
    assert float(xp.min(smoothed)) == float(xp.max(smoothed)) == 2.0
    assert float(xp.sum(others[0])) == 0.0


def test_work_is_in_order_with_that_of_the_library():
    x = xp.asarray([2.0, 4.0])
    x *= 2
    smoothing.normalise(x)
    x += 1
    assert x.tolist() == [2.0, 3.0]
    smoothing.accumulate(x, x + 0)
    assert x.tolist() == [4.0, 6.0]


def test_a_failure_reaches_what_depends_on_it():
    queue = millpond.Queue()
    x = xp.zeros(3, queue=queue)
    event = smoothing.normalise(x)
    with pytest.raises(millpond.CommandError, match="normalise failed: the series begins with zero"):
        event.wait()
    with pytest.raises(millpond.CommandError, match="begins with zero"):
        x.tolist()
    x[:] = 1
    assert x.tolist() == [1.0] * 3


def test_a_task_has_its_memory_for_itself():
    x = xp.arange(6.0)
    with pytest.raises(ValueError, match="operands 0 and 1 of the task share memory"):
        smoothing.accumulate(x, x)
    with pytest.raises(ValueError, match="share memory"):
        smoothing.accumulate(x[:4], x[2:])
    smoothing.accumulate(x[:3], x[3:])
    assert x.tolist() == [3.0, 5.0, 7.0, 3.0, 4.0, 5.0]


def test_a_wait_lets_other_threads_run():
    queue = millpond.Queue()
    gate = queue.gate()
    opener = threading.Timer(0.01, gate.open)
    opener.start()
    smoothing.wait(queue)
    assert gate.is_open
    opener.join()


def test_wrong_arguments_are_told():
    read_only = xp.ones(3)
    read_only.flags.writable = False
    for call, error, message in [
        (lambda: smoothing.smooth(xp.ones(3, dtype="float32"), 0.5), ValueError, "elements of float32, not of float64"),
        (lambda: smoothing.smooth(xp.ones((3, 2))[:, 0], 0.5), ValueError, "has gaps"),
        (lambda: smoothing.smooth(np.ones(3), 0.5), TypeError, "expected an array, got"),
        (lambda: smoothing.smooth(xp.ones(3), 2.0), ValueError, "between 0 and 1"),
        (lambda: smoothing.normalise(read_only), ValueError, "read-only"),
    ]:
        with pytest.raises(error, match=message):
            call()


def test_errors_of_calls_are_those_of_python():
    queue = millpond.Queue()
    x = xp.ones(3, queue=queue)
    queue.close()
    with pytest.raises(millpond.QueueClosedError):
        smoothing.normalise(x)
