"""Results are those of a program that runs line by line, whatever waits meanwhile."""

import gc
import pickle
import sys
import threading
import weakref

import numpy as np
import pytest

import millpond
import millpond.tensor as xp

#: Seconds after which a thread that should have ended hangs.
HANG = 60.0


@pytest.fixture
def queue():
    return millpond.Queue(millpond.default_device())


def test_operations_return_before_the_work_is_done(queue):
    x = xp.zeros(1000, queue=queue)
    gate = queue.gate()
    x += 1
    y = x * 2 + 1
    z = xp.sum(y[::2])
    x[:500] = 7
    assert not queue.is_idle
    assert (y.shape, y.dtype, z.shape) == ((1000,), "float64", ())
    gate.open()
    assert float(z) == 1500
    assert y.tolist() == [3.0] * 1000
    assert x.tolist() == [7.0] * 500 + [1.0] * 500


def test_reading_waits_for_what_is_read_only(queue):
    x = xp.arange(10, queue=queue)
    queue.wait()
    gate = queue.gate()
    later = x + 1
    assert x.tolist() == list(range(10))
    read = []
    thread = threading.Thread(target=lambda: read.append(later.tolist()))
    thread.start()
    gate.open()
    thread.join()
    assert read == [list(range(1, 11))]


READINGS = {
    "bytes": lambda x: xp.asnumpy(x).tolist(),
    "elements": lambda x: x.tolist(),
    "text": lambda x: [int(word) for word in str(x).strip("[]").split()],
    "representation": lambda x: eval(repr(x), {"Array": list}),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)).tolist(),
    "numbers": lambda x: [int(one) for one in x],
}


@pytest.mark.parametrize("how", READINGS)
def test_views_with_gaps_are_read_while_their_queue_is_held(queue, how):
    x = xp.reshape(xp.arange(20, queue=queue), (4, 5))
    queue.wait()
    gate = queue.gate()
    views = {"column": x[:, 1], "backwards": x[2, ::-2], "repeated": xp.broadcast_to(x[0, 3], (3,))}
    read = {}
    thread = threading.Thread(target=lambda: read.update({name: READINGS[how](view) for name, view in views.items()}))
    thread.start()
    thread.join(HANG)
    held = not queue.is_idle
    gate.open()
    assert held
    assert read == {"column": [1, 6, 11, 16], "backwards": [14, 12, 10], "repeated": [3, 3, 3]}


def assigned(host, queue):
    x = xp.zeros(host.shape, dtype="float64", queue=queue)
    x[...] = host
    return x


#: Ways from memory of the host to an array on a queue.
TAKINGS = {
    "asarray": lambda host, queue: xp.asarray(host, queue=queue),
    "from_numpy": lambda host, queue: xp.from_numpy(host, queue=queue),
    "from_dlpack": lambda host, queue: xp.from_dlpack(host, device=queue, copy=True),
    "another dtype": lambda host, queue: xp.asarray(host, dtype="float32", queue=queue),
    "columns": lambda host, queue: xp.asarray(host, order="F", queue=queue),
    "gaps": lambda host, queue: xp.asarray(host[:, ::-2], queue=queue),
    "assignment": assigned,
}


@pytest.mark.parametrize("is_reused", [False, True])
@pytest.mark.parametrize("way", TAKINGS)
def test_elements_of_the_host_are_taken_while_the_queue_is_held(queue, way, is_reused):
    host = np.arange(90_000.0).reshape(300, 300)
    expected = np.asarray(xp.asnumpy(TAKINGS[way](host, queue)))
    result = []

    def take():
        if is_reused:
            # The work behind the gate uses these bytes when they are used again.
            for dtype in ("float64", "float64", "float32"):
                xp.add(xp.ones(host.shape, dtype=dtype, queue=queue), 1)
        result.append(TAKINGS[way](host, queue))
        host[...] = -1

    gate = queue.gate()
    thread = threading.Thread(target=take)
    thread.start()
    thread.join(HANG)
    held = not thread.is_alive() and not queue.is_idle
    gate.open()
    thread.join()
    assert held
    assert np.array_equal(xp.asnumpy(result[0]), expected)
    assert result[0].queue == queue


def test_two_queues_of_a_device_are_ordered_by_their_arrays(queue):
    other = millpond.Queue(queue.device)
    x = xp.zeros(100, queue=queue)
    gate = queue.gate()
    x += 1
    y = xp.ones(100, queue=other) + x
    x += 10
    gate.open()
    assert y.tolist() == [2.0] * 100
    assert x.tolist() == [11.0] * 100


def test_a_dropped_array_is_not_reused_before_its_last_use(queue):
    gate = queue.gate()
    total = xp.zeros(64, queue=queue)
    for index in range(100):
        total += xp.full(64, index, queue=queue, dtype="float64")
    gate.open()
    assert total.tolist() == [float(sum(range(100)))] * 64


def test_threads_share_arrays(queue):
    x = xp.zeros(1000, dtype="int64", queue=queue)
    barrier = threading.Barrier(4)

    def work():
        barrier.wait()
        for _ in range(200):
            y = xp.ones(1000, dtype="int64", queue=queue)
            assert int(xp.sum(y + y)) == 2000

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(xp.sum(x)) == 0


def test_nothing_is_left_behind():
    x, y = xp.ones(10, dtype="float32"), xp.ones(10, dtype="float32")

    def work():
        z = (x + y) * 2 - np.float32(1)
        z[2:5] = 3
        z += 1
        view = z[::2]
        xp.sum(view, out=xp.empty((), dtype="float32"))
        xp.where(z > 1, z, 0).tolist()
        xp.asarray([1.0, 2.0])
        for bad in (lambda: x + xp.ones(3), lambda: x[100], lambda: xp.zeros(2, dtype="odd"), lambda: x + np.ones(10)):
            with pytest.raises((TypeError, ValueError, IndexError)):
                bad()

    # Python's own caches fill first.
    for _ in range(300):
        work()
    gc.collect()
    counts = [sys.getrefcount(value) for value in (x, y, None, xp.float32, xp.Array)]
    before, blocks = millpond.live(), sys.getallocatedblocks()
    for _ in range(300):
        work()
    gc.collect()
    assert millpond.live() == before
    assert sys.getallocatedblocks() - blocks < 300
    for value, count in zip((x, y, None, xp.float32, xp.Array), counts, strict=True):
        assert sys.getrefcount(value) - count < 100


@pytest.mark.host
def test_foreign_memory_is_let_go_after_the_last_use(queue):
    theirs = np.ones(10)
    alive = weakref.ref(theirs)
    ours = xp.asarray(theirs, queue=queue, copy=False)
    result = ours + 1
    del theirs
    gc.collect()
    assert alive() is not None
    del ours
    assert result.tolist() == [2.0] * 10
    xp.ones(1)
    gc.collect()
    assert alive() is None
