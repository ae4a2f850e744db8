"""Arrays go to other devices and queues when asked, and never otherwise."""

import numpy as np
import pytest

import millpond
import millpond.tensor as xp


@pytest.fixture
def part(device):
    """A device with memory and queues of its own."""
    try:
        return device.partition(1)[0]
    except (millpond.DeviceError, ValueError) as error:
        pytest.skip(str(error))


@pytest.fixture
def x():
    return xp.arange(6.0)


def test_an_array_that_is_there_already_is_itself(x, device, line):
    assert x.to_device(device) is x
    assert x.to_device(device.name) is x
    assert x.to_device(device, stream=device.default_queue) is x
    there = x.to_device(line)
    assert there.to_device(line) is there


def test_an_array_goes_to_a_queue_by_its_own_or_as_a_stream(x, device, line):
    for there in (x.to_device(line), x.to_device(device, stream=line)):
        assert there is not x
        assert there.queue == line
        np.testing.assert_array_equal(xp.asnumpy(there), np.arange(6.0))


def test_an_array_goes_to_another_device_with_its_elements(x, device, part):
    there = x[::-2].to_device(part)
    assert (there.device, there.queue) == (part, part.default_queue)
    np.testing.assert_array_equal(xp.asnumpy(there), [5.0, 3.0, 1.0])
    assert (there + there).device == part
    back = there.to_device(device)
    assert back.device == device
    np.testing.assert_array_equal(xp.asnumpy(back), [5.0, 3.0, 1.0])


def test_an_import_that_needs_a_copy_is_a_buffer_error_where_copies_are_forbidden(x, part):
    with pytest.raises(BufferError, match="from_dlpack: copy=False"):
        xp.from_dlpack(x, device=part, copy=False)
    with pytest.raises(ValueError, match="asarray: copy=False"):
        xp.asarray(x, device=part, copy=False)
    assert xp.from_dlpack(x, device=part).device == part


def test_arrays_of_two_devices_are_not_combined_unasked(x, device, part):
    with pytest.raises(ValueError, match=r"add: operands are on cpu and cpu.*to_device"):
        x + x.to_device(part)
    with pytest.raises(ValueError, match=r"the stream is on cpu.*, not on cpu"):
        x.to_device(device, stream=part.default_queue)


def test_a_stream_is_a_queue(x, device):
    for other in (device, device.name):
        with pytest.raises(TypeError, match="stream must be a queue"):
            x.to_device(device, stream=other)


def test_a_conversion_goes_to_a_device_or_queue_too(x, device, line, part):
    there = xp.astype(x, "int32", device=part)
    assert (there.dtype, there.device) == (xp.int32, part)
    np.testing.assert_array_equal(xp.asnumpy(there), range(6))
    assert xp.astype(x, "float64", copy=False, device=device) is x
    there = xp.astype(x, "float64", copy=False, device=line)
    assert there is not x
    assert there.queue == line
