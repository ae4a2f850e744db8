"""What is printed of devices, queues and events says which they are and how they stand."""

import pytest

import millpond


def test_devices_and_their_caches_show_how_to_name_them(device):
    assert repr(device) == f"Device('{device.name}')"
    assert eval(repr(device), {"Device": millpond.device}) == device
    for cache in device.caches:
        shown = f"Cache(level={cache.level}, nbytes={cache.nbytes}, shared_by={cache.shared_by})"
        assert repr(cache) == shown


def test_queues_show_their_order(device):
    assert repr(device.create_queue()).endswith(f"of {device}, in order>")
    assert repr(device.create_queue(in_order=False)).endswith(f"of {device}, out of order>")


def test_gates_and_events_show_how_they_stand(line):
    gate = line.gate()
    event = line.barrier()
    assert repr(gate) == "<Gate, closed>"
    assert repr(event).endswith(", pending>")
    gate.open()
    event.wait()
    assert repr(gate) == "<Gate, open>"
    assert repr(event).endswith(", complete>")
    failed = line.task(lambda: 1 / 0)
    with pytest.raises(millpond.CommandError):
        failed.wait()
    assert repr(failed).endswith(", failed>")


def test_times_show_what_they_are_of(device):
    queue = device.create_queue(profiling=True)
    event = queue.barrier()
    event.wait()
    times = event.times
    assert times.duration == times.finished - times.started >= 0
    assert repr(times).startswith("Times(submitted=")
    shown = eval(repr(times), {"Times": dict})
    assert shown == {"submitted": times.submitted, "started": times.started, "finished": times.finished}
