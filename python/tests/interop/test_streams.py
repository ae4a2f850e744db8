"""Streams of other libraries: what needs no card, and what does."""

import numpy as np
import pytest

import millpond
import millpond.tensor as xp
from millpond.memory import Pool, StreamAllocator

CARDS = [device for device in millpond.devices() if device.backend == "cuda"]
on_card = pytest.mark.skipif(not CARDS, reason="there is no device with CUDA")


class Shown:
    """An object that shows an array by its address."""

    def __init__(self, **changes):
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": (3,),
            "typestr": "<f4",
            "data": (1 << 20, False),
            "strides": None,
            "stream": None,
            **changes,
        }


class Stream:
    def __init__(self, handle):
        self.handle = handle

    def __cuda_stream__(self):
        return (0, self.handle)


def test_the_cpu_has_no_streams():
    cpu = millpond.device("cpu")
    queue = millpond.Queue(cpu)
    for call in (
        lambda: cpu.stream,
        lambda: queue.follow_stream(1),
        lambda: queue.hold_stream(1),
        lambda: StreamAllocator(Pool(cpu)).malloc(100, 1),
        lambda: StreamAllocator(Pool(cpu)).install(),
    ):
        with pytest.raises(millpond.DeviceError, match=r"stream.*not supported by cpu"):
            call()


@pytest.mark.parametrize("stream", ["one", None, 1.5, object()])
def test_what_is_no_stream_is_refused(stream):
    with pytest.raises(TypeError, match="expected a stream"):
        millpond.Queue("cpu").follow_stream(stream)


def test_a_negative_number_is_no_stream():
    with pytest.raises(ValueError, match="-1 is no stream"):
        millpond.Queue("cpu").follow_stream(-1)
    with pytest.raises(ValueError, match="-7 is no stream"):
        millpond.Queue("cpu").follow_stream(Stream(-7))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"shape": None}, ValueError, "says nothing of shape"),
        ({"data": None}, ValueError, "says nothing of data"),
        ({"typestr": "<M8"}, TypeError, '"<M8" are of no dtype'),
        ({"typestr": ">f4"}, TypeError, '">f4" are of no dtype'),
        ({"strides": (4, 4)}, ValueError, "2 strides for 1 axes"),
        ({"mask": np.zeros(3)}, BufferError, "mask"),
        ({}, BufferError, "memory of no device here"),
    ],
)
def test_what_is_wrong_with_an_address_is_told(changes, error, message):
    with pytest.raises(error, match=message):
        xp.asarray(Shown(**changes))


def test_an_address_is_shown_by_a_dictionary():
    shown = Shown()
    shown.__cuda_array_interface__ = [1]
    with pytest.raises(TypeError, match="not a dictionary"):
        xp.asarray(shown)


@on_card
def test_arrays_of_cards_are_shown_and_read_by_their_address():
    x = xp.asarray([[1.0, 2.0], [3.0, 4.0]], device=CARDS[0])

    class Other:
        __cuda_array_interface__ = x.T.__cuda_array_interface__
        kept = x

    y = xp.asarray(Other(), copy=False)
    assert y.device == CARDS[0]
    assert y.tolist() == [[1.0, 3.0], [2.0, 4.0]]
    y += 1
    assert x.tolist() == [[2.0, 3.0], [4.0, 5.0]]


@on_card
def test_a_queue_and_a_stream_follow_each_other():
    device = CARDS[0]
    queue = millpond.Queue(device)
    x = xp.ones(1_000_000, queue=queue)
    for _ in range(50):
        queue.hold_stream(Stream(device.stream))
        queue.follow_stream(device.stream)
        x += 1
    assert int(xp.max(x)) == 51


@on_card
def test_a_pool_serves_streams():
    device = CARDS[0]
    pool = Pool(device, maximum_size=64 << 20)
    allocator = StreamAllocator(pool)
    first = allocator.malloc(1000, 1)
    allocator.free(first, 1)
    assert allocator.malloc(1000, 1) == first
    assert allocator.live == pool.statistics().live == 1
    with pytest.raises(ValueError, match="no allocation of a stream"):
        allocator.free(first + 1, 1)
    allocator.free(first, device.stream)
    assert allocator.live == 0
