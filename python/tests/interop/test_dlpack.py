import gc
import sys
import threading
import weakref

import numpy as np
import pytest

import millpond
import millpond.tensor as xp

pytestmark = pytest.mark.host

KINDS = ["device", "shared", "host"]
CPU = (1, 0)


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


class Producer:
    """Something with the protocol, as an array of NumPy has it, that records how it is called."""

    def __init__(self, source, device=CPU, legacy=False):
        self.source = source
        self.device = device
        self.legacy = legacy
        self.calls = []

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **arguments):
        self.calls.append(arguments)
        if self.legacy:
            if arguments:
                raise TypeError("unexpected keyword argument")
            return self.source.__dlpack__()
        return self.source.__dlpack__(**arguments)


def name(capsule):
    return repr(capsule).split('"')[1]


def test_memory_of_devices_on_the_host_is_memory_of_the_cpu(kind):
    assert xp.zeros(3, usm_type=kind).__dlpack_device__() == CPU


def test_numpy_imports_without_a_copy(kind):
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]], usm_type=kind)
    seen = np.from_dlpack(x)
    assert np.array_equal(seen, [[1, 2], [3, 4]])
    x[0, 0] = 9
    assert seen[0, 0] == 9
    x += 1
    assert seen[1, 1] == 5


@pytest.mark.parametrize(
    "view", [lambda x: x[::2, 1:], lambda x: x[::-1, ::-1], lambda x: x.T, lambda x: x[1, 2], lambda x: x[:0]]
)
def test_views_of_any_layout_are_exchanged(kind, view):
    plain = np.arange(12.0).reshape(3, 4)
    x = view(xp.asarray(plain, usm_type=kind, copy=True))
    assert np.array_equal(np.from_dlpack(x), view(plain))
    back = xp.from_dlpack(np.asarray(view(plain)))
    assert np.array_equal(xp.asnumpy(back), view(plain))
    again = xp.from_dlpack(x)
    assert np.array_equal(xp.asnumpy(again), view(plain))


def test_the_version_is_the_consumers(kind):
    x = xp.zeros(3, usm_type=kind)
    assert name(x.__dlpack__()) == "dltensor"
    assert name(x.__dlpack__(max_version=None)) == "dltensor"
    assert name(x.__dlpack__(max_version=(0, 8))) == "dltensor"
    assert name(x.__dlpack__(max_version=(1, 0))) == "dltensor_versioned"
    assert name(x.__dlpack__(max_version=(2, 0))) == "dltensor_versioned"


def test_read_only_arrays_need_a_consumer_that_knows():
    source = np.arange(3.0)
    source.flags.writeable = False
    x = xp.asarray(source, copy=False)
    with pytest.raises(BufferError, match="read-only"):
        x.__dlpack__()
    assert not np.from_dlpack(x).flags.writeable
    assert name(x.__dlpack__(copy=True)) == "dltensor"


def test_read_only_arrays_are_imported_read_only():
    source = np.arange(3.0)
    source.flags.writeable = False
    x = xp.from_dlpack(source)
    with pytest.raises((ValueError, TypeError), match="read-only"):
        x[0] = 1


def test_a_copy_is_made_where_it_is_asked_for(kind):
    x = xp.zeros(3, usm_type=kind)
    copy = np.from_dlpack(x, copy=True)
    copy[0] = 1
    assert float(x[0]) == 0
    shared = np.from_dlpack(x, copy=False)
    x[0] = 2
    assert shared[0] == 2


def test_other_devices_are_refused(kind):
    x = xp.zeros(3, usm_type=kind)
    assert name(x.__dlpack__(dl_device=CPU)) == "dltensor"
    with pytest.raises(BufferError, match="only to the CPU"):
        x.__dlpack__(dl_device=(2, 0))


def test_memory_of_cards_reaches_the_cpu_by_a_copy_only():
    cards = [device for device in millpond.devices() if device.backend == "cuda"]
    if not cards:
        pytest.skip("there is no device with CUDA")
    x = xp.arange(3, device=cards[0])
    with pytest.raises(BufferError, match="by a copy only, which copy=False forbids"):
        x.__dlpack__(dl_device=CPU, copy=False)
    assert name(x.__dlpack__(dl_device=CPU)) == "dltensor"


def test_streams_are_refused(kind):
    x = xp.zeros(3, usm_type=kind)
    with pytest.raises(ValueError, match="has no stream"):
        x.__dlpack__(stream=1)


def test_an_export_waits_for_what_computes_the_elements(kind, line):
    x = xp.zeros(100, usm_type=kind, queue=line)
    gate = line.gate()
    y = x + 1
    threading.Timer(0.02, gate.open).start()
    assert np.from_dlpack(y).sum() == 100


@pytest.mark.parametrize("version", [None, (1, 0)])
def test_a_capsule_that_nobody_consumes_frees_its_array(kind, version, live):
    before = live()
    capsule = xp.zeros(3, usm_type=kind).__dlpack__(max_version=version)
    assert live() == before + 1
    del capsule
    assert live() == before


def test_a_consumer_keeps_the_array(kind, live):
    before = live()
    seen = np.from_dlpack(xp.ones(1000, usm_type=kind))
    assert live() == before + 1
    assert seen.sum() == 1000
    del seen
    assert live() == before


def test_arrays_of_others_are_imported_without_a_copy():
    source = np.arange(6.0).reshape(2, 3)
    x = xp.from_dlpack(source)
    source[1, 2] = 50
    assert float(x[1, 2]) == 50
    x[0, 0] = 7
    assert source[0, 0] == 7


def test_m3_the_producer_is_told_after_the_last_use():
    source = np.ones(1000)
    gone = weakref.ref(source)
    x = xp.from_dlpack(source)
    del source
    y = xp.sum(x)
    assert gone() is not None
    del x
    assert float(y) == 1000
    millpond.wait()
    gc.collect()
    assert gone() is None


def test_a_copy_is_made_on_import_where_it_is_asked_for():
    source = np.zeros(3)
    x = xp.from_dlpack(source, copy=True)
    source[0] = 1
    assert float(x[0]) == 0


def test_arguments_are_handed_to_the_producer():
    producer = Producer(np.zeros(3))
    xp.from_dlpack(producer, copy=False)
    assert producer.calls == [{"max_version": (1, 3), "copy": False}]


def test_producers_from_before_version_one_are_understood():
    producer = Producer(np.arange(3.0), legacy=True)
    x = xp.from_dlpack(producer)
    assert producer.calls[-1] == {}
    assert np.array_equal(xp.asnumpy(x), [0, 1, 2])


def test_memory_that_the_cpu_does_not_reach_is_asked_for_on_the_cpu():
    producer = Producer(np.zeros(3), device=(2, 0))
    xp.from_dlpack(producer)
    assert producer.calls == [{"max_version": (1, 3), "dl_device": CPU}]
    with pytest.raises(BufferError, match="copy=False forbids"):
        xp.from_dlpack(Producer(np.zeros(3), device=(2, 0)), copy=False)


def test_a_capsule_is_consumed_once():
    capsule = np.zeros(3).__dlpack__()

    class Once:
        def __dlpack_device__(self):
            return CPU

        def __dlpack__(self, **arguments):
            return capsule

    xp.from_dlpack(Once())
    assert name(capsule) == "used_dltensor"
    with pytest.raises(BufferError, match="no fresh DLPack capsule"):
        xp.from_dlpack(Once())


@pytest.mark.parametrize("answer", ["cpu", None, (1,), (1, "0")])
def test_a_device_that_is_none_is_told(answer):
    class Odd:
        def __dlpack_device__(self):
            return answer

        def __dlpack__(self, **arguments):
            raise AssertionError

    with pytest.raises(BufferError, match="__dlpack_device__ answers"):
        xp.from_dlpack(Odd())


def test_objects_without_the_protocol_are_told():
    with pytest.raises(AttributeError, match="list has no __dlpack__ method"):
        xp.from_dlpack([1, 2])


def test_dtypes_that_there_are_not_are_told():
    torch_like = Producer(np.zeros(3, dtype="float128"))
    with pytest.raises(BufferError):
        xp.from_dlpack(torch_like)


def test_nothing_leaks(kind, live):
    def loop():
        for _ in range(100):
            x = xp.ones((3, 4), usm_type=kind)
            np.from_dlpack(x)
            x.__dlpack__()
            x.__dlpack__(max_version=(1, 0), copy=True)
            xp.from_dlpack(np.ones(5))
            xp.from_dlpack(x)

    loop()
    millpond.wait()
    before, blocks = live(), sys.getallocatedblocks()
    for _ in range(5):
        loop()
    assert live() == before
    # One lost object in each of the 500 turns would be 500; the interpreter itself keeps some.
    assert sys.getallocatedblocks() - blocks < 250


def test_devices_are_those_of_dlpack():
    device = millpond.default_device()
    assert xp.device_to_dldevice(device) == xp.ones(1).__dlpack_device__() == (1, 0)
    assert xp.dldevice_to_device(np.ones(1).__dlpack_device__()) == millpond.devices()[0]
    with pytest.raises(ValueError, match=r"there is no device \(2, 0\); the CPU is \(1, 0\)"):
        xp.dldevice_to_device((2, 0))
    with pytest.raises(TypeError):
        xp.dldevice_to_device("cpu")
    with pytest.raises(TypeError):
        xp.device_to_dldevice((1, 0))
