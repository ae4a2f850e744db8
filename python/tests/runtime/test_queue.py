import copy
import pickle
import time

import pytest

import millpond
from millpond.memory import DeviceMemory


def test_queues_know_where_they_belong(queue, device):
    assert queue.device == device
    assert queue.id > 0
    assert not queue.is_profiling


def test_queues_are_in_order_unless_told_otherwise(device):
    assert device.create_queue().is_in_order
    assert millpond.Queue().is_in_order
    assert not millpond.Queue(device, in_order=False).is_in_order
    assert not millpond.Queue("cpu", in_order=False).is_in_order


def test_queues_compare_by_identity(queue, device):
    assert queue.record().queue == queue
    assert hash(queue.record().queue) == hash(queue)
    assert queue != device.create_queue()


def test_a_device_is_a_device_or_a_name():
    with pytest.raises(TypeError, match="expected a device, its name or a queue, got"):
        millpond.Queue(3)


def test_a_wait_waits_for_everything_submitted(queue):
    gate = queue.gate()
    assert not queue.is_idle
    with pytest.raises(TimeoutError, match="timed out"):
        queue.wait(timeout=0.02)
    gate.open()
    queue.wait()
    assert queue.is_idle


def test_a_timeout_of_zero_polls(queue):
    queue.wait(timeout=0)
    gate = queue.gate()
    with pytest.raises(TimeoutError):
        queue.wait(timeout=0)
    gate.open()
    queue.wait()


@pytest.mark.parametrize("timeout", [-1.0, float("nan")])
def test_a_timeout_is_a_number_from_zero(queue, timeout):
    with pytest.raises(ValueError, match="timeout must be at least 0"):
        queue.wait(timeout=timeout)


def test_a_timeout_may_be_endless(queue):
    queue.wait(timeout=float("inf"))


def test_o7_a_failure_surfaces_at_a_wait_once(queue):
    queue.gate().open("the plug was pulled")
    with pytest.raises(millpond.CommandError, match="gate failed: the plug was pulled") as caught:
        queue.wait()
    assert caught.value.operation == "gate"
    assert caught.value.reason == "the plug was pulled"
    assert caught.value.origin is None
    queue.wait()


def test_o7_independent_failures_surface_one_by_one(line):
    line.gate().open("first")
    line.gate().open("second")
    messages = []
    for _ in range(2):
        with pytest.raises(millpond.CommandError) as caught:
            line.wait()
        messages.append(caught.value.reason)
    assert sorted(messages) == ["first", "second"]
    line.wait()


def test_failures_travel_in_pickles(line):
    line.gate().open("lost")
    with pytest.raises(millpond.CommandError) as caught:
        line.wait()
    same = pickle.loads(pickle.dumps(caught.value))
    assert type(same) is millpond.CommandError
    assert same.reason == "lost"
    assert str(same) == str(caught.value)


@pytest.mark.parametrize("in_order", [True, False])
def test_a_closed_queue_refuses_work_and_finishes_the_rest(device, in_order):
    queue = device.create_queue(in_order=in_order)
    memory = DeviceMemory(8, queue=queue)
    gate = queue.gate()
    queue.close()
    queue.close()
    with pytest.raises(millpond.QueueClosedError):
        queue.gate()
    with pytest.raises(millpond.QueueClosedError):
        DeviceMemory(8, queue=queue)
    with pytest.raises(TimeoutError):
        queue.wait(timeout=0.02)
    gate.open()
    queue.wait()
    assert queue.is_idle
    assert memory.nbytes == 8


def test_a_barrier_follows_events_of_other_queues(device):
    first, second = device.create_queue(), device.create_queue()
    gate = first.gate()
    event = second.barrier([first.record()])
    assert event.status == "pending"
    gate.open()
    event.wait()
    assert event.status == "complete"


def test_wait_for_orders_what_comes_later(device):
    first, second = device.create_queue(), device.create_queue()
    gate = first.gate()
    second.wait_for(first.record())
    event = second.barrier()
    assert event.status == "pending"
    gate.open()
    event.wait()


def test_a_hint_stays_within_the_memory(line):
    memory = DeviceMemory(100, queue=line)
    line.prefetch(memory)
    line.prefetch(memory, 10, 20)
    with pytest.raises(IndexError, match="prefetch: 20 bytes from 90 reach outside of 100 bytes"):
        line.prefetch(memory, 90, 20)
    line.wait()


def test_a_default_queue_travels_as_the_default_queue(device):
    assert pickle.loads(pickle.dumps(device.default_queue)) == device.default_queue


def test_other_queues_do_not_travel(line):
    with pytest.raises(TypeError, match="only the default queue of a device travels"):
        pickle.dumps(line)


def test_waiting_for_the_device_is_for_dropped_queues_too(device):
    done = []

    def finish():
        time.sleep(0.02)
        done.append(True)

    for in_order in (True, False):
        queue = millpond.Queue(device, in_order=in_order)
        gate = queue.gate()
        queue.barrier()
        queue.task(finish)
        del queue
        with pytest.raises(TimeoutError):
            device.wait(timeout=0.01)
        gate.open()
        device.wait()
        assert done.pop()


def test_waiting_for_the_device_tells_failures_of_dropped_queues_once(device):
    def fail():
        raise ValueError("doomed")

    millpond.Queue(device).task(fail)
    with pytest.raises(millpond.exceptions.CommandError, match="doomed"):
        device.wait()
    device.wait()


def test_copies_of_what_has_a_queue_use_the_same(line):
    assert copy.copy(line) == copy.deepcopy({"queue": [line]})["queue"][0] == line
