"""Arrays as dictionaries that other classes show."""

import numpy as np
import pytest

import millpond
import millpond.tensor as xp

NAME = "__millpond_array_interface__"


class Shown:
    """An object of another package that shows some memory."""

    def __init__(self, dictionary):
        self.__millpond_array_interface__ = dictionary


@pytest.mark.parametrize("kind", ["device", "shared", "host"])
@pytest.mark.parametrize(
    "view", [lambda x: x, lambda x: x[::2, ::-1], lambda x: x.T, lambda x: x[1, 2], lambda x: x[:0]]
)
def test_arrays_show_their_memory_and_are_made_of_it(kind, view):
    x = view(xp.reshape(xp.arange(12, usm_type=kind), (3, 4)))
    shown = getattr(x, NAME)
    assert (shown["version"], shown["dtype"], shown["shape"], shown["strides"]) == (1, "int64", x.shape, x.strides)
    assert (shown["queue"], shown["read_only"]) == (x.queue, False)
    assert shown["memory"].ptr == x.data.ptr
    y = xp.asarray(Shown(shown))
    assert (y.usm_type, y.queue, y.shape, y.strides) == (kind, x.queue, x.shape, x.strides)
    assert y.tolist() == x.tolist()
    y += 1
    assert x.tolist() == y.tolist()


def test_neither_side_waits(line):
    x = xp.zeros(100, queue=line)
    gate = line.gate()
    x += 1
    y = xp.asarray(Shown(getattr(x, NAME)))
    y += 1
    assert not line.is_idle
    gate.open()
    assert x.tolist() == [2.0] * 100


def test_a_description_keeps_the_memory(live):
    before = live()
    shown = Shown(getattr(xp.full(1000, 3.0), NAME))
    assert live() == before + 1
    assert float(xp.sum(xp.asarray(shown))) == 3000.0
    del shown
    assert live() == before


def test_only_layout_dtype_and_memory_are_needed():
    memory = millpond.memory.DeviceMemory(24)
    memory.fill(0)
    shown = {"version": 1, "dtype": "float32", "shape": (2, 3), "memory": memory}
    x = xp.asarray(Shown(shown))
    assert x.strides == (3, 1)
    assert x.tolist() == [[0.0] * 3] * 2
    x[1, 2] = 7
    assert xp.asarray(Shown({**shown, "shape": 2, "strides": -2, "offset": 5})).tolist() == [7.0, 0.0]
    read_only = xp.asarray(Shown({**shown, "read_only": True}))
    assert not read_only.flags.writable


def test_asarray_does_with_it_what_was_asked():
    x = xp.arange(3.0)
    shown = Shown(getattr(x, NAME))
    copy = xp.asarray(shown, copy=True)
    copy += 1
    assert x.tolist() == [0.0, 1.0, 2.0]
    assert xp.asarray(shown, dtype="int32").dtype == xp.int32
    assert xp.asarray([shown, shown]).shape == (2, 3)
    with pytest.raises(ValueError, match="copy=False"):
        xp.asarray(shown, dtype="int32", copy=False)


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"version": 2}, ValueError, "has version 2, not 1"),
        ({"memory": None}, ValueError, "says nothing of memory"),
        ({"memory": np.zeros(3)}, TypeError, "memory is .*not a memory object"),
        ({"shape": (4,)}, ValueError, "outside"),
        ({"strides": (1, 1)}, ValueError, "2 strides for 1 axes"),
        ({"offset": 1}, ValueError, "outside"),
        ({"dtype": "text"}, (TypeError, ValueError), "text"),
    ],
)
def test_what_is_wrong_is_told(changes, error, message):
    shown = {**getattr(xp.zeros(3), NAME), **changes}
    with pytest.raises(error, match=message):
        xp.asarray(Shown(shown))


def test_a_dictionary_is_one():
    with pytest.raises(TypeError, match="not a dictionary"):
        xp.asarray(Shown([1]))


@pytest.mark.host
def test_memory_without_cuda_shows_none_of_it():
    assert not hasattr(xp.ones(3), "__cuda_array_interface__")


def test_arrays_of_cuda_show_their_address():
    cards = [device for device in millpond.devices() if device.backend == "cuda"]
    if not cards:
        pytest.skip("there is no device with CUDA")
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]], device=cards[0])
    assert x.T.__cuda_array_interface__ == {
        "version": 3,
        "shape": (2, 2),
        "typestr": "<f8",
        "data": (x.data.ptr, False),
        "strides": (8, 16),
        "stream": 1,
    }
    assert x.__cuda_array_interface__["strides"] is None
