import copy
import ctypes
import gc
import pickle
import threading
import weakref

import numpy as np
import pytest

import millpond
from millpond import dpctl
from millpond.dpctl.memory import MemoryUSMDevice, MemoryUSMShared
from millpond.dpctl.utils import SequentialOrderManager


@pytest.fixture(params=["default", "in_order"])
def queue(request):
    return dpctl.SyclQueue(property=request.param)


def memory_of(data, queue, cls=MemoryUSMDevice):
    memory = cls(len(data), queue=queue)
    memory.copy_from_host(data)
    return memory


@pytest.mark.parametrize(
    ("named", "in_order", "profiling"),
    [
        (None, False, False),
        ("default", False, False),
        ("in_order", True, False),
        (["in_order", "enable_profiling"], True, True),
        (("enable_profiling", 0), False, True),
        (3, True, True),
    ],
)
def test_properties_are_those_that_are_named(named, in_order, profiling):
    queue = dpctl.SyclQueue(property=named)
    assert (queue.is_in_order, queue.has_enable_profiling) == (in_order, profiling)
    assert ("in_order" in repr(queue)) == in_order


@pytest.mark.parametrize("named", ["fast", 4.5, ["in_order", ()], 99])
def test_other_properties_are_refused(named):
    with pytest.raises(ValueError, match="is none of"):
        dpctl.SyclQueue(property=named)


def test_queues_are_equal_if_they_are_the_same(queue):
    same = dpctl.SyclQueue(queue)
    assert same == queue
    assert hash(same) == hash(queue)
    assert dpctl.SyclQueue() != dpctl.SyclQueue()
    assert queue != []


def test_arguments_that_make_no_queue_are_refused(queue):
    context = queue.sycl_context
    for arguments in [(None, None), (context,), (context, None), (1, 2, 3), (queue.sycl_device, context)]:
        with pytest.raises(TypeError, match="a SyclQueue is made of"):
            dpctl.SyclQueue(*arguments)
    with pytest.raises(TypeError):
        dpctl.SyclQueue(device="cpu")


def test_the_cached_queue_is_the_same_for_all():
    device = dpctl.SyclDevice()
    cached = dpctl.get_device_cached_queue(device)
    assert cached == dpctl.get_device_cached_queue(device.filter_string)
    assert cached == dpctl.get_device_cached_queue((cached.sycl_context, device))
    assert cached._queue == millpond.default_device().default_queue
    found = []
    thread = threading.Thread(target=lambda: found.append(dpctl.get_device_cached_queue(device)))
    thread.start()
    thread.join()
    assert found == [cached]
    part = device.create_sub_devices(partition=1)[0]
    own = (dpctl.SyclContext([part]), part)
    assert dpctl.get_device_cached_queue(own) == dpctl.get_device_cached_queue(own)
    with pytest.raises(TypeError, match="a key is"):
        dpctl.get_device_cached_queue(5)
    assert pickle.loads(pickle.dumps(cached)) == cached


def test_bytes_are_copied_between_all_that_has_them(queue):
    shared = MemoryUSMShared(8, queue=queue)
    device = MemoryUSMDevice(8, queue=queue)
    host = bytearray(8)
    queue.memcpy(shared, b"millpond", 8)
    queue.memcpy(device, shared, 8)
    queue.memcpy(host, device, 8)
    assert host == b"millpond"
    queue.memcpy(host, b"dry", 3)
    assert host == b"drylpond"
    table = np.zeros((2, 4), dtype="u1")
    queue.memcpy(table, device, 5)
    assert bytes(table) == b"millp\0\0\0"


def test_copies_that_cannot_be_are_refused(queue):
    memory = MemoryUSMDevice(8, queue=queue)
    for end in (None, [1, 2], np.zeros((4, 4))[:, ::2]):
        with pytest.raises(TypeError, match="memory object or a buffer|gaps"):
            queue.memcpy(memory, end, 3)
    with pytest.raises(TypeError, match="can't be written"):
        queue.memcpy(b"12345678", memory, 3)
    for arguments in [(memory, bytes(20), 9), (bytearray(20), memory, 9), (memory, b"1", 2), (memory, b"1", -1)]:
        with pytest.raises(ValueError, match="are more than"):
            queue.memcpy(*arguments)
    for method in (queue.prefetch, queue.mem_advise):
        with pytest.raises(TypeError, match="expected a memory object"):
            method([], *([1, 2] if method == queue.mem_advise else [1]))
    queue.prefetch(memory)
    queue.mem_advise(memory, 8, 0)


@pytest.mark.parametrize("to_host", [False, True])
def test_an_asynchronous_copy_does_not_wait_and_comes_after_its_events(queue, to_host):
    other = dpctl.SyclQueue()
    gate = other._queue.gate()
    before = other.submit_barrier()
    source = memory_of(b"millpond", queue)
    target = bytearray(8) if to_host else MemoryUSMDevice(8, queue=queue)
    copied = queue.memcpy_async(target, source, 8, [before])
    assert copied.execution_status is dpctl.event_status_type.submitted
    assert copied.get_wait_list() == [before]
    gate.open()
    copied.wait()
    assert copied.execution_status is dpctl.event_status_type.complete
    assert copied.get_wait_list() == []
    assert bytes(target) == b"millpond"


def test_a_copy_to_the_host_sees_what_came_before_it_only(queue):
    gate = queue._queue.gate()
    source = MemoryUSMDevice(4, queue=queue)
    source.fill(1)
    target = bytearray(4)
    copied = queue.memcpy_async(target, source, 4)
    source.fill(2)
    gate.open()
    copied.wait()
    assert target == b"\1\1\1\1"
    assert source.tobytes() == b"\2\2\2\2"


def test_a_copy_comes_behind_its_queue_though_the_memory_is_of_another():
    queue, other = dpctl.SyclQueue(property="in_order"), dpctl.SyclQueue()
    target = MemoryUSMDevice(4, queue=other)
    gate = queue._queue.gate()
    copied = queue.memcpy_async(target, b"mill", 4)
    assert not other._queue.is_idle
    gate.open()
    copied.wait()
    assert target.tobytes() == b"mill"


def test_the_event_of_a_copy_comes_behind_the_queue_of_the_memory(queue):
    other = dpctl.SyclQueue()
    target = MemoryUSMDevice(4, queue=other)
    gate = other._queue.gate()
    other.submit_barrier()
    copied = queue.memcpy_async(target, b"mill", 4)
    assert copied.execution_status is dpctl.event_status_type.submitted
    gate.open()
    copied.wait()
    assert target.tobytes() == b"mill"


def test_barriers_follow_events():
    first, second = dpctl.SyclQueue(), dpctl.SyclQueue()
    gate = first._queue.gate()
    barrier = second.submit_barrier([first.submit_barrier(), dpctl.SyclEvent()])
    assert barrier.execution_status is dpctl.event_status_type.submitted
    gate.open()
    barrier.wait()
    dpctl.SyclEvent.wait_for([barrier, dpctl.SyclEvent()])
    for events in (range(3), 5, [None]):
        with pytest.raises(TypeError, match="SyclEvent"):
            second.submit_barrier(events)
        with pytest.raises(TypeError, match="SyclEvent"):
            dpctl.SyclEvent.wait_for(events)


def test_an_event_of_nothing_is_complete():
    event = dpctl.SyclEvent()
    event.wait()
    assert event.execution_status is dpctl.event_status_type.complete
    assert event.backend is dpctl.SyclDevice().backend
    assert (event.profiling_info_submit, event.profiling_info_start, event.profiling_info_end) == (0, 0, 0)
    assert isinstance(dpctl.SyclEvent(event).addressof_ref(), int)


def test_events_of_a_queue_that_profiles_know_their_times():
    queue = dpctl.SyclQueue(property="enable_profiling")
    event = queue.submit_barrier()
    event.wait()
    times = [event.profiling_info_submit, event.profiling_info_start, event.profiling_info_end]
    assert times == sorted(times)
    assert all(isinstance(moment, int) for moment in times)
    with pytest.raises(ValueError, match="without profiling"):
        _ = dpctl.SyclQueue().submit_barrier().profiling_info_start


def test_a_failure_is_told_by_the_event(queue):
    event = dpctl.SyclEvent._of(queue._queue.task(lambda: 1 / 0))
    with pytest.raises(millpond.CommandError, match="division by zero"):
        event.wait()
    assert event.execution_status is dpctl.event_status_type.complete


def test_objects_are_kept_until_the_events(queue, eventually):
    class Kept:
        pass

    kept = Kept()
    gone = weakref.ref(kept)
    gate = queue._queue.gate()
    event = queue._submit_keep_args_alive([kept], [queue.submit_barrier()])
    del kept
    gc.collect()
    assert gone() is not None
    gate.open()
    event.wait()
    eventually(lambda: gone() is None)


@pytest.mark.parametrize("function", ["create_program_from_source", "create_program_from_spirv"])
def test_programs_are_refused_with_what_to_do(queue, function):
    create = getattr(dpctl.program, function)
    program = "kernel void f() {}" if function.endswith("source") else b"\x03\x02#\x07"
    with pytest.raises(
        dpctl.program.SyclProgramCompilationError, match=r"takes no programs in .*millpond\.dpctl\.tensor"
    ):
        create(queue, program)
    with pytest.raises(TypeError, match="a program in"):
        create(queue, 5)
    with pytest.raises(TypeError, match="expected a SyclQueue"):
        create(None, program)
    with pytest.raises(TypeError, match="there are none"):
        queue.submit("f", [], [1])
    for cls in (dpctl.program.SyclKernel, dpctl.program.SyclProgram):
        with pytest.raises(TypeError, match="comes from"):
            cls()
    assert not dpctl.WorkGroupMemory.is_available()
    assert not dpctl.RawKernelArg.is_available()


def test_local_accessors_are_checked():
    assert dpctl.LocalAccessor("f4", (2, 3)).shape == (2, 3)
    for dtype, shape in [("f2", (1,)), ("f4", ()), ("f4", (1, 2, 3, 4)), ("f4", (-1,))]:
        with pytest.raises(ValueError, match="shape|dtype"):
            dpctl.LocalAccessor(dtype, shape)
    with pytest.raises(TypeError, match="shape"):
        dpctl.LocalAccessor("f4", 3)


class TestOrderManager:
    def test_the_manager_of_a_queue_is_the_same_in_all_threads(self, queue):
        gate = queue._queue.gate()
        manager = SequentialOrderManager[queue]
        manager.add_event_pair(queue.submit_barrier(), [])
        found = []
        thread = threading.Thread(target=lambda: found.append(SequentialOrderManager[dpctl.SyclQueue(queue)]))
        thread.start()
        thread.join()
        assert found[0] is manager
        gate.open()
        with pytest.raises(TypeError, match="by SyclQueue"):
            SequentialOrderManager[None]

    def test_registered_events_are_there_until_they_are_complete(self, queue):
        other = dpctl.SyclQueue()
        manager = SequentialOrderManager[queue]
        gate = other._queue.gate()
        computed, let_go = other.submit_barrier(), other.submit_barrier()
        manager.add_event_pair([let_go], computed)
        manager.add_event_pair(dpctl.SyclEvent(), [dpctl.SyclEvent()])
        assert manager.submitted_events == [computed]
        assert manager.host_task_events == [let_go]
        copied = copy.copy(manager)
        assert (copied.num_submitted_events, copied.num_host_task_events) == (1, 1)
        gate.open()
        manager.wait()
        assert (manager.num_submitted_events, manager.num_host_task_events) == (0, 0)
        with pytest.raises(TypeError, match="SyclEvent"):
            manager.add_event_pair(None, [])

    def test_operations_of_arrays_are_among_the_events(self, queue):
        """Work of a program's own that depends on them follows what the arrays were given to do."""
        gate = queue._queue.gate()
        x = dpctl.tensor.ones(1000, sycl_queue=queue)
        x += 1
        events = SequentialOrderManager[queue].submitted_events
        assert len(events) == 1
        own = dpctl.SyclQueue().submit_barrier(events)
        assert own.execution_status is dpctl.event_status_type.submitted
        gate.open()
        own.wait()
        assert SequentialOrderManager[queue].submitted_events == []
        assert float(dpctl.tensor.max(x)) == 2

    def test_queues_are_not_kept_for_it(self):
        for _ in range(50):
            SequentialOrderManager[dpctl.SyclQueue()].add_event_pair(dpctl.SyclEvent(), dpctl.SyclEvent())
        _ = SequentialOrderManager[dpctl.SyclQueue()]
        gc.collect()
        assert len(SequentialOrderManager._by_queue) <= 1

    def test_a_manager_that_somebody_has_stays_the_one_of_its_queue(self, queue):
        manager = SequentialOrderManager[queue]
        _ = SequentialOrderManager[dpctl.SyclQueue()]
        other = dpctl.SyclQueue()
        gate = other._queue.gate()
        manager.add_event_pair([], other.submit_barrier())
        del manager
        gc.collect()
        assert SequentialOrderManager[queue].num_submitted_events == 1
        gate.open()

    def test_clear_waits(self, queue):
        other = dpctl.SyclQueue()
        done = []
        event = dpctl.SyclEvent._of(other._queue.task(lambda: done.append(True)))
        SequentialOrderManager[queue].add_event_pair([], event)
        SequentialOrderManager.clear()
        assert done == [True]


class TestTimer:
    @pytest.mark.parametrize("device_timer", [None, "queue_barrier", "order_manager"])
    def test_blocks_add_up_in_the_units_asked_for(self, device_timer):
        queue = dpctl.SyclQueue(property="enable_profiling")
        clock = iter([0.0, 2.0, 10.0, 13.0])
        timer = dpctl.SyclTimer(host_timer=lambda: next(clock), device_timer=device_timer, time_scale=1e3)
        device = 0.0
        for _ in range(2):
            with timer(queue):
                dpctl.tensor.sort(dpctl.tensor.linspace(0, 1, num=10_000, sycl_queue=queue))
            host, more = timer.dt
            assert more > device
            device = more
        assert host == timer.dt.host_dt == 5000.0
        assert repr(timer.dt) == str(timer.dt) == f"(host_dt=5000.0, device_dt={device})"

    def test_a_block_within_a_block_counts_once_on_the_host_too(self):
        queue = dpctl.SyclQueue(property="enable_profiling")
        clock = iter([0.0, 1.0, 4.0, 9.0])
        timer = dpctl.SyclTimer(host_timer=lambda: next(clock))
        with timer(queue), timer(queue):
            pass
        assert timer.dt.host_dt == 9.0

    def test_what_it_cannot_time_is_refused(self):
        timer = dpctl.SyclTimer()
        with pytest.raises(ValueError, match="enable_profiling"):
            timer(dpctl.SyclQueue())
        with pytest.raises(TypeError, match="SyclQueue"):
            timer(None)
        with pytest.raises(TypeError, match="has no queue"), timer:
            pass
        with pytest.raises(ValueError, match="device_timer"):
            dpctl.SyclTimer(device_timer="sundial")


def test_the_queue_that_operands_have_in_common():
    common = dpctl.utils.get_execution_queue
    q, other = dpctl.SyclQueue(), dpctl.SyclQueue()
    assert common([q, q, dpctl.SyclQueue(q)]) is q
    assert common(()) is common([q, None]) is common((q, other)) is None
    with pytest.raises(TypeError, match="list or a tuple"):
        common({})


def test_kinds_of_memory_are_coerced_and_checked():
    kinds = ["device", "shared", "host"]
    for first in kinds:
        for second in kinds:
            expected = min(first, second, key=kinds.index)
            assert dpctl.utils.get_coerced_usm_type([first, second]) == expected
    assert dpctl.utils.get_coerced_usm_type([]) is None
    assert dpctl.utils.get_coerced_usm_type(["device", "disk"]) is None
    dpctl.utils.validate_usm_type(None)
    for kind, allow_none, error in [("disk", True, ValueError), (5, True, TypeError), (None, False, TypeError)]:
        with pytest.raises(error, match="memory"):
            dpctl.utils.validate_usm_type(kind, allow_none=allow_none)


def test_what_is_known_of_intels_devices_and_tools(monkeypatch):
    assert dpctl.utils.intel_device_info(dpctl.SyclDevice()) == {}
    with pytest.raises(TypeError, match="SyclDevice"):
        dpctl.utils.intel_device_info(None)
    monkeypatch.setenv("PTI_ENABLE_COLLECTION", "0")
    with pytest.warns(RuntimeWarning, match="isn't seen"), dpctl.utils.onetrace_enabled():
        pass


@pytest.fixture
def capsule():
    """A capsule, as libraries of SYCL hand one in."""
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return make(1, b"SyclQueueRef", None)


@pytest.mark.parametrize("made", [dpctl.SyclQueue, dpctl.SyclContext, dpctl.SyclEvent, dpctl.SyclDevice])
def test_capsules_of_sycl_are_neither_taken_nor_given(made, capsule):
    with pytest.raises(TypeError, match="PyCapsule, whose object of SYCL is no object of millpond"):
        made(capsule)
    assert not hasattr(made(), "_get_capsule")
    if made is not dpctl.SyclDevice:
        with pytest.raises(AttributeError, match=r"no attribute '_get_capsule': .* the C API of millpond"):
            made()._get_capsule()
        with pytest.raises(AttributeError, match="no attribute 'nothing'$"):
            made().nothing  # noqa: B018
