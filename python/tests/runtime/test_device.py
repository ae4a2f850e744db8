import pickle

import pytest

import millpond
import millpond.tensor as xp


def test_there_is_a_cpu():
    names = [device.name for device in millpond.devices()]
    assert any(name.startswith("cpu") for name in names)
    assert str(millpond.devices()[0]) == names[0]


def test_devices_compare_by_identity_and_hash_alike(device):
    same = millpond.device(device.name)
    assert device == same
    assert hash(device) == hash(same)
    assert len({device, same}) == 1
    assert device != device.name


def test_device_zero_of_a_driver_has_two_names():
    cpu = millpond.device("cpu")
    assert millpond.device("cpu:0") == cpu


def test_unknown_devices_are_named_in_the_error():
    with pytest.raises(millpond.UnknownDeviceError, match="unknown device 'abacus'; there are: cpu") as caught:
        millpond.device("abacus")
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, millpond.Error)


@pytest.mark.host
def test_facts_make_sense(device):
    assert device.backend == "cpu"
    assert device.device_class == "cpu"
    assert device.index == 0
    assert device.cores >= 1
    assert device.threads >= 1
    assert device.memory > 0
    assert device.max_allocation > 0
    assert device.alignment >= 64
    assert device.host_executed
    assert device.has_float64
    assert isinstance(device.model, str)
    assert isinstance(device.vendor, str)
    assert all(cache.level >= 1 and cache.nbytes > 0 for cache in device.caches)


def test_support_of_dtypes_is_told(device):
    assert device.supports("float64") == device.has_float64
    assert device.supports("int8")
    assert device.supports(xp.float32) == device.supports("f4") is True
    with pytest.raises(TypeError, match=r"'float80' \(of type str\) is no dtype"):
        device.supports("float80")


def test_attributes_cannot_be_set(device):
    with pytest.raises(AttributeError):
        device.name = "other"


def test_devices_travel_in_pickles_by_name(device):
    assert pickle.loads(pickle.dumps(device)) == device


def test_parts_have_cores_of_their_own_and_cannot_be_pickled(device):
    try:
        parts = device.partition(1)
    except (millpond.DeviceError, ValueError) as error:
        pytest.skip(str(error))
    assert all(part.cores == 1 for part in parts)
    assert parts[0] != device
    parts[0].default_queue.record().wait()
    with pytest.raises(TypeError, match="cannot pickle device"):
        pickle.dumps(parts[0])


@pytest.mark.host
def test_a_partition_of_more_cores_than_there_are_is_refused(device):
    cores = device.cores + 1
    with pytest.raises(millpond.DeviceError, match=rf"parts of \[{cores}, 1\] cores don't fit the"):
        device.partition([cores, 1])
    with pytest.raises(millpond.DeviceError, match=f"parts of {cores} cores don't fit the"):
        device.partition(cores)


@pytest.mark.parametrize("shape", [lambda number: number, lambda number: [1, number]], ids=["each", "counts"])
def test_a_partition_is_of_numbers_of_cores(device, shape):
    with pytest.raises(ValueError, match="expected 0 or more, got -1"):
        device.partition(shape(-1))
    for wrong in (1.5, "a", None):
        with pytest.raises(TypeError, match=f"expected an integer, got {wrong!r}"):
            device.partition(shape(wrong))


def test_the_default_queue_is_always_the_same(device):
    assert device.default_queue == device.default_queue
    assert device.create_queue() != device.default_queue


def test_waiting_for_a_device_waits_for_all_its_queues(device):
    first, second = device.create_queue(), device.create_queue()
    gates = [first.gate(), second.gate()]
    with pytest.raises(TimeoutError):
        device.wait(timeout=0.05)
    gates[0].open()
    with pytest.raises(TimeoutError):
        device.wait(timeout=0.05)
    gates[1].open()
    device.wait()
    assert first.is_idle
    assert second.is_idle


def test_waiting_for_everything_tells_a_failure_once(line):
    line.gate().open("broken")
    with pytest.raises(millpond.CommandError, match="broken"):
        millpond.wait()
    millpond.wait()


def test_failures_of_several_queues_are_told_one_by_one(device):
    queues = [device.create_queue() for _ in range(3)]
    for number, queue in enumerate(queues):
        queue.gate().open(f"failure {number}")
    reasons = []
    for _ in queues:
        with pytest.raises(millpond.CommandError) as caught:
            device.wait()
        reasons.append(caught.value.reason)
    assert sorted(reasons) == ["failure 0", "failure 1", "failure 2"]
    device.wait()
