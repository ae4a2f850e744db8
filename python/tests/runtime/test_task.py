import gc
import threading
import weakref

import pytest

import millpond
import millpond.tensor as xp
from millpond.memory import DeviceMemory, HostMemory, SharedMemory


def test_a_task_runs_when_the_queue_reaches_it(line):
    steps = []
    gate = line.gate()
    event = line.task(lambda: steps.append("task"))
    steps.append("submitted")
    assert event.status == "pending"
    gate.open()
    event.wait()
    assert steps == ["submitted", "task"]


def test_tasks_of_a_queue_run_in_order(line):
    steps = []
    for number in range(100):
        line.task(lambda number=number: steps.append(number))
    line.wait()
    assert steps == list(range(100))


def test_a_task_runs_on_the_thread_for_tasks(line):
    names = []
    line.task(lambda: names.append(threading.current_thread().name)).wait()
    assert names == ["millpond-tasks"]


def test_o7_an_exception_surfaces_at_a_wait_once_with_its_traceback(line):
    def explode():
        raise KeyError("fuse")

    line.task(explode)
    with pytest.raises(millpond.CommandError) as caught:
        line.wait()
    assert "explode" in caught.value.operation
    assert "KeyError: 'fuse'" in caught.value.reason
    assert "Traceback" in caught.value.reason
    line.wait()


def test_what_depends_on_a_failed_task_fails_and_the_rest_goes_on(line):
    steps = []
    memory = SharedMemory(8, queue=line)
    line.task(lambda: 1 / 0, uses=memory)
    dependent = line.task(lambda: steps.append("dependent"), uses=memory)
    free = line.task(lambda: steps.append("free"))
    free.wait()
    with pytest.raises(millpond.CommandError, match="ZeroDivisionError"):
        dependent.wait()
    assert steps == ["free"]
    line.wait()


def test_a_task_that_is_skipped_lets_its_callable_go(line, eventually):
    class Callable:
        def __call__(self):
            raise AssertionError("it depends on a task that failed")

    memory = SharedMemory(8, queue=line)
    line.task(lambda: 1 / 0, uses=memory)
    skipped = Callable()
    gone = weakref.ref(skipped)
    event = line.task(skipped, uses=memory)
    del skipped
    with pytest.raises(millpond.CommandError):
        event.wait()
    eventually(lambda: gc.collect() >= 0 and gone() is None)


def test_a_task_that_ran_lets_its_callable_go(line, eventually):
    class Callable:
        def __call__(self):
            pass

    function = Callable()
    gone = weakref.ref(function)
    line.task(function).wait()
    del function
    eventually(lambda: gone() is None)


@pytest.mark.parametrize("kind", [DeviceMemory, SharedMemory, HostMemory])
def test_o2_uses_order_a_task_with_work_on_any_queue(device, kind):
    first, second = device.create_queue(), device.create_queue()
    memory = kind(4, queue=first)
    memory.fill(1)
    gate = millpond.Gate()
    first.gate(gate)
    first.task(lambda: None, uses=[memory])
    other = kind(4, queue=second)
    other.copy_from(memory)
    assert not second.is_idle
    gate.open()
    assert other.tobytes() == b"\1\1\1\1"


@pytest.mark.parametrize("kind", [SharedMemory, HostMemory])
def test_views_show_the_memory_at_the_tasks_turn(line, kind):
    memory = kind(4, queue=line)
    gate = line.gate()
    memory.fill(7)
    seen = []

    def look(view):
        seen.append(bytes(view))
        view[0] = 9

    line.task(look, memory, views=True)
    memory_after = kind(4, queue=line)
    memory_after.copy_from(memory)
    gate.open()
    assert memory_after.tobytes() == b"\x09\x07\x07\x07"
    assert seen == [b"\7\7\7\7"]


def test_views_are_released_after_the_task(line):
    memory = SharedMemory(4, queue=line)
    kept = []
    line.task(kept.append, [memory], views=True).wait()
    line.task(lambda: None).wait()
    with pytest.raises(ValueError, match="released"):
        kept[0].tobytes()


def test_device_memory_has_no_view(line):
    memory = DeviceMemory(4, queue=line)
    with pytest.raises(BufferError, match="no view of device memory"):
        line.task(lambda view: None, memory, views=True)


def test_a_task_uses_memory_only(line):
    with pytest.raises(TypeError, match="a task uses arrays and memory objects, not int"):
        line.task(lambda: None, uses=[3])


def test_a_task_can_be_called(line):
    with pytest.raises(TypeError, match="can be called"):
        line.task("work")


def test_a_task_that_waits_for_its_queue_is_told_so(line):
    event = line.task(line.wait)
    with pytest.raises(millpond.CommandError, match="cannot wait for queue"):
        event.wait()


def test_a_task_that_reads_what_it_uses_is_told_so(line):
    memory = SharedMemory(4, queue=line)
    event = line.task(memory.tobytes, uses=memory)
    with pytest.raises(millpond.CommandError, match="views=True"):
        event.wait()


def test_a_task_may_submit_to_its_queue(line):
    steps = []

    def first():
        steps.append("first")
        line.task(lambda: steps.append("second"))

    line.task(first).wait()
    line.wait()
    assert steps == ["first", "second"]


def test_names_of_tasks_are_told(line):
    event = line.task(lambda: 1 / 0, name="division")
    with pytest.raises(millpond.CommandError, match="task division failed"):
        event.wait()


def test_a_refused_task_lets_its_callable_go(device):
    queue = device.create_queue()
    queue.close()

    class Callable:
        def __call__(self):
            pass

    function = Callable()
    gone = weakref.ref(function)
    with pytest.raises(millpond.QueueClosedError):
        queue.task(function)
    del function
    gc.collect()
    assert gone() is None


def test_tasks_of_many_threads_all_run(line):
    counts = [0] * 8
    done = []

    def submit(number):
        for _ in range(50):
            line.task(lambda: done.append(number))
            counts[number] += 1

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    line.wait()
    assert sorted(done) == sorted(list(range(8)) * 50)


@pytest.mark.parametrize(
    "work",
    [
        "x += 1",
        "numpy.asarray(memoryview(x))",
        "memory.fill(1); memory.tobytes()",
        "[y + 1 for _ in range(20_000)]",
        "float(y[0])",
        "str(y)",
        "queue.record().wait()",
        "queue.close(); millpond.wait()",
    ],
)
def test_o9_what_waits_for_a_task_lets_it_run(run, work):
    result = run(
        f"""
        import time, numpy, millpond, millpond.tensor as xp
        queue = millpond.default_device().create_queue()
        x = xp.zeros(3, usm_type="shared", queue=queue)
        y = xp.zeros(3, queue=queue)
        memory = millpond.memory.DeviceMemory(8, queue=queue)
        memoryview(x)
        queue.task(lambda: time.sleep(0.05))
        {work}
        print("done")
        """
    )
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr


def test_tasks_are_ordered_with_arrays(line):
    x = xp.zeros(4, usm_type="shared", queue=line)
    gate = line.gate()
    y = x + 1
    seen = []

    def look(view):
        seen.append(view.tolist())
        view[0] = 5.0

    line.task(look, uses=y, views=True)
    z = y * 2
    gate.open()
    assert seen == [] or seen == [[1.0] * 4]
    assert [float(value) for value in z] == [10, 2, 2, 2]
    assert seen == [[1.0] * 4]


def test_arrays_that_depend_on_a_failed_task_raise(line):
    x = xp.zeros(4, queue=line)
    line.task(lambda: 1 / 0, uses=[x])
    y = x + 1
    with pytest.raises(millpond.CommandError, match="ZeroDivisionError"):
        float(y[0])
    line.wait()
