import threading

import pytest

import millpond


def test_a_gate_opens_once(line):
    gate = millpond.Gate()
    assert not gate.is_open
    assert line.gate(gate) is gate
    assert gate.open()
    assert not gate.open("too late")
    assert gate.is_open
    line.wait()


def test_a_gate_holds_several_queues(device):
    gate = millpond.Gate()
    queues = [device.create_queue() for _ in range(3)]
    for queue in queues:
        queue.gate(gate)
    assert not any(queue.is_idle for queue in queues)
    gate.open()
    for queue in queues:
        queue.wait()


def test_an_open_gate_holds_nothing(line):
    gate = millpond.Gate()
    gate.open()
    line.gate(gate)
    line.wait(timeout=30)


def test_a_gate_is_opened_by_another_thread(line):
    gate = line.gate()
    thread = threading.Timer(0.02, gate.open)
    thread.start()
    line.wait()
    thread.join()


def test_a_gate_fails_with_an_exception(line):
    line.gate().open(ValueError("bad weather"))
    with pytest.raises(millpond.CommandError, match="bad weather"):
        line.wait()


def test_a_gate_that_nobody_can_open_fails(line):
    line.gate()
    with pytest.raises(millpond.CommandError, match="dropped"):
        line.wait()
