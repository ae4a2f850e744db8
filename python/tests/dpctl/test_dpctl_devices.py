import pickle

import pytest

import millpond
from millpond import dpctl


@pytest.fixture
def device():
    return dpctl.SyclDevice("cpu")


@pytest.mark.parametrize(
    "text",
    ["cpu", "cpu:0", "0", "native_cpu", "native_cpu:cpu:0", "opencl:cpu", "opencl:cpu:0", "gpu,cpu", "cuda:gpu:7, cpu"],
)
def test_filter_strings_name_a_device(device, text):
    assert dpctl.SyclDevice(text) == device
    assert dpctl.SyclQueue(text).sycl_device == device
    assert dpctl.SyclContext(text).get_devices() == [device]
    assert dpctl.SyclPlatform(text) == device.sycl_platform


@pytest.mark.parametrize(
    "text", ["", "abc", "-1", "cpu:-1", "cpu:99", "0:cpu", "cpu:native_cpu", "level_zero", "cuda:cpu:0"]
)
def test_other_filter_strings_are_refused(text):
    with pytest.raises(dpctl.SyclDeviceCreationError):
        dpctl.SyclDevice(text)
    with pytest.raises(dpctl.SyclQueueCreationError):
        dpctl.SyclQueue(text)
    with pytest.raises(dpctl.SyclContextCreationError):
        dpctl.SyclContext(text)
    with pytest.raises(ValueError, match="filter|no device"):
        dpctl.SyclPlatform(text)


@pytest.mark.parametrize(
    "cls", [dpctl.SyclDevice, dpctl.SyclPlatform, dpctl.SyclContext, dpctl.SyclQueue, dpctl.SyclEvent]
)
def test_other_arguments_are_no_device(cls):
    with pytest.raises(TypeError, match="made of"):
        cls(1)


def test_every_form_of_filter_string_names_its_device_again():
    for device in dpctl.get_devices():
        for backend in (True, False):
            for kind in (True, False):
                assert dpctl.SyclDevice(device.get_filter_string(backend, kind)) == device
        assert dpctl.SyclDevice(device.filter_string) == device
        assert dpctl.get_devices()[device.get_device_id()] == device


def test_names_are_the_same_when_devices_are(device):
    other = dpctl.SyclDevice(device)
    assert other == device
    assert hash(other) == hash(device)
    assert device != "cpu"
    assert pickle.loads(pickle.dumps(device)) == device
    platform, context = device.sycl_platform, dpctl.SyclContext(device)
    assert pickle.loads(pickle.dumps((platform, context))) == (platform, context)
    assert context in {dpctl.SyclContext([device])}


def test_devices_are_told_by_backend_and_type(device):
    assert device.backend is dpctl.backend_type.native_cpu
    assert device.device_type is dpctl.device_type.cpu
    assert device in dpctl.get_devices(device_type="cpu")
    assert device in dpctl.get_devices(backend="native_cpu", device_type=dpctl.device_type.cpu)
    assert dpctl.get_devices(backend=dpctl.backend_type.hip) == []
    assert dpctl.get_num_devices() == len(millpond.devices())
    with pytest.raises(ValueError, match="backend 'metal' is none of"):
        dpctl.get_devices(backend="metal")
    with pytest.raises(TypeError, match="device_type"):
        dpctl.get_devices(device_type=4)


def test_selectors_find_devices(device):
    assert dpctl.select_cpu_device() == device
    assert dpctl.has_cpu_devices()
    assert not dpctl.has_accelerator_devices()
    with pytest.raises(dpctl.SyclDeviceCreationError):
        dpctl.select_accelerator_device()
    assert dpctl.select_device_with_aspects(["cpu", "fp64"]) == device
    with pytest.raises(dpctl.SyclDeviceCreationError, match=r"\['cpu'\] and not \['cpu'\]"):
        dpctl.select_device_with_aspects("cpu", excluded_aspects="cpu")
    with pytest.raises(AttributeError, match="no aspect 'abc'"):
        dpctl.select_device_with_aspects("abc")
    with pytest.raises(TypeError, match="aspects are"):
        dpctl.select_device_with_aspects(["cpu", 1])


def test_what_a_device_says_is_what_the_runtime_says(device):
    ours = device._device
    assert (device.name, device.vendor, device.driver_version) == (ours.model, ours.vendor, ours.driver_version)
    assert device.max_compute_units == ours.cores
    assert device.global_mem_size == ours.memory
    assert device.has_aspect_fp64 == ours.has_float64
    assert device.native_vector_width_double * 2 == device.native_vector_width_float
    assert len(device.max_work_item_sizes3d) == device.max_work_item_dims


def test_parts_of_a_device_are_devices_of_their_own(device):
    parts = device.create_sub_devices(partition=1)
    assert len(parts) == device.max_compute_units
    part = parts[0]
    assert part.parent_device == part.get_unpartitioned_parent_device() == device
    assert device.parent_device is None
    with pytest.raises(TypeError, match="part of another"):
        _ = part.filter_string
    with pytest.raises(ValueError, match="part of another"):
        part.get_device_id()
    inner = part.create_sub_devices(partition=1)[0]
    assert inner.parent_device == part
    assert inner.get_unpartitioned_parent_device() == device
    # A queue tells of the part, and of what that is a part of.
    queue = dpctl.SyclQueue(part)
    assert queue.sycl_device == part
    assert queue.sycl_device.parent_device == device


@pytest.mark.parametrize("partition", ["numa", "next_partitionable", 0, [9999]])
def test_devices_that_cannot_be_split_so_say_it(device, partition):
    with pytest.raises(dpctl.SyclSubDeviceCreationError):
        device.create_sub_devices(partition=partition)


def test_platforms_have_the_devices_of_a_driver(device, capsys):
    platform = device.sycl_platform
    assert platform in dpctl.get_platforms()
    assert device in platform.get_devices()
    assert platform.get_devices(device_type="accelerator") == []
    assert platform.default_context.get_devices() == platform.get_devices()
    for verbosity in range(3):
        dpctl.lsplatform(verbosity)
        assert platform.name in capsys.readouterr().out
    with pytest.warns(UserWarning, match="verbosity"):
        platform.print_platform_info(7)


def test_a_context_has_devices_of_one_platform(device):
    context = dpctl.SyclContext([device, device])
    assert context.device_count == 1
    assert dpctl.SyclQueue(context, device).sycl_context == context
    part = device.create_sub_devices(partition=1)[0]
    with pytest.raises(dpctl.SyclQueueCreationError, match="isn't in"):
        dpctl.SyclQueue(context, part)
    with pytest.raises(dpctl.SyclContextCreationError):
        dpctl.SyclContext([])


def test_the_module_lists_platforms_as_a_program(run):
    result = run(
        "import runpy, sys; sys.argv = ['dpctl', '-f']; runpy.run_module('millpond.dpctl', run_name='__main__')"
    )
    assert result.returncode == 0
    assert "Filter string" in result.stdout
