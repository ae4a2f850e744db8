import asyncio
import sys
import threading

import pytest

import millpond


def test_the_status_tells_what_became_of_the_work(line):
    gate = line.gate()
    event = line.record()
    assert event.status == "pending"
    assert not event.is_done
    gate.open()
    event.wait()
    assert event.status == "complete"
    assert event.is_done


def test_an_event_fails_every_time_and_the_queue_says_no_more(line):
    event = line.task(lambda: 1 / 0)
    for _ in range(2):
        with pytest.raises(millpond.CommandError, match="ZeroDivisionError"):
            event.wait()
    assert event.status == "failed"
    line.wait()


def test_a_wait_ends_at_its_timeout(line):
    gate = line.gate()
    event = line.record()
    with pytest.raises(TimeoutError, match="timed out"):
        event.wait(timeout=0.02)
    gate.open()
    event.wait(timeout=30)


def test_o6_an_event_stands_for_what_was_before_it(line):
    before = line.record()
    gate = line.gate()
    before.wait()
    assert before.status == "complete"
    gate.open()


def test_events_know_their_place(line, device):
    event = line.barrier()
    assert event.queue == line
    assert event.device == device
    assert line.barrier().sequence > event.sequence


def test_times_are_kept_by_queues_that_profile(device):
    queue = device.create_queue(profiling=True)
    event = queue.task(lambda: None)
    event.wait()
    times = event.times
    assert 0 <= times.submitted <= times.started <= times.finished
    assert times.duration == times.finished - times.started


def test_times_of_other_queues_are_refused(line):
    event = line.barrier()
    event.wait()
    with pytest.raises(ValueError, match="without profiling"):
        _ = event.times


def test_times_of_pending_work_are_refused(device):
    queue = device.create_queue(profiling=True)
    gate = queue.gate()
    with pytest.raises(ValueError, match="has not finished"):
        _ = queue.barrier().times
    gate.open()


def test_callbacks_are_called_with_the_event(line):
    gate = line.gate()
    event = line.record()
    called = threading.Event()
    seen = []

    def callback(given):
        seen.append((given.status, given.sequence, threading.current_thread().name))
        called.set()

    event.on_complete(callback)
    assert not called.is_set()
    gate.open()
    assert called.wait(30)
    assert seen == [("complete", event.sequence, "millpond-tasks")]


def test_callbacks_of_what_is_done_are_called_as_well(line):
    event = line.record()
    event.wait()
    called = threading.Event()
    event.on_complete(lambda _event: called.set())
    assert called.wait(30)


def test_callbacks_tell_of_failures(line):
    gate = line.gate()
    event = line.barrier()
    called = threading.Event()
    line.record().on_complete(lambda _event: called.set())
    gate.open("broken")
    assert called.wait(30)
    assert event.is_done
    with pytest.raises(millpond.CommandError):
        line.wait()


def test_what_a_callback_raises_is_reported(line, monkeypatch):
    reported = []
    called = threading.Event()

    def hook(unraisable):
        reported.append(unraisable.exc_type)
        called.set()

    monkeypatch.setattr(sys, "unraisablehook", hook)
    line.record().on_complete(lambda _event: 1 / 0)
    assert called.wait(30)
    assert reported == [ZeroDivisionError]


def test_a_callback_can_be_called(line):
    with pytest.raises(TypeError, match="can be called"):
        line.record().on_complete(3)


def test_await_waits_in_asyncio_without_blocking_it(line):
    gate = line.gate()
    event = line.record()
    steps = []

    async def opener():
        await asyncio.sleep(0)
        steps.append("open")
        gate.open()

    async def main():
        task = asyncio.create_task(opener())
        await event
        steps.append("reached")
        await task

    asyncio.run(asyncio.wait_for(main(), 30))
    assert steps == ["open", "reached"]


def test_await_raises_the_failure(line):
    event = line.task(lambda: 1 / 0)

    async def main():
        await event

    with pytest.raises(millpond.CommandError, match="ZeroDivisionError"):
        asyncio.run(main())


def test_a_cancelled_await_disturbs_nobody(line):
    gate = line.gate()
    event = line.record()

    async def main():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(asyncio.ensure_future(wait_for(event)), 0.05)

    async def wait_for(event):
        await event

    asyncio.run(main())
    gate.open()
    event.wait()


def test_events_are_true_whatever_their_status(line):
    gate = line.gate()
    assert line.record()
    gate.open()
