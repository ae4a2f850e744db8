"""What has no elements, no length or no room."""

import math

import numpy as np
import pytest

import millpond.tensor as xp


def test_views_without_elements_are_read_and_written():
    x = xp.zeros((0, 4))
    assert x[:, -3].tolist() == []
    y = xp.zeros((4, 0), dtype="int32")[::-2, 2:2:3]
    y[1, -2:1:100] = -3
    assert y.shape == (2, 0)
    z = xp.asarray(np.empty((4, 0)))
    z[...] = 3
    assert z.shape == (4, 0)


def test_more_than_the_host_has_is_a_memory_error():
    with pytest.raises(MemoryError, match="no host memory"):
        xp.broadcast_to(xp.ones(1), (2**55,)).tolist()


MANY = 1_000_000
TOO_MANY = [
    ("array creation", lambda x: xp.zeros((1,) * MANY)),
    ("array creation", lambda x: xp.empty((1,) * 65, order="F")),
    ("array creation", lambda x: xp.full((1,) * 65, 3)),
    ("reshape", lambda x: xp.reshape(x, (1,) * MANY)),
    ("reshape", lambda x: xp.reshape(x, (-1, *(1,) * MANY))),
    ("indexing", lambda x: x[(None,) * MANY]),
    ("indexing", lambda x: x[(..., *(None,) * 64)]),
    ("expand_dims", lambda x: xp.expand_dims(x, axis=tuple(range(MANY)))),
    ("broadcast_to", lambda x: xp.broadcast_to(x, (1,) * MANY)),
    ("tile", lambda x: xp.tile(x, (1,) * MANY)),
    ("stack", lambda x: xp.stack([xp.reshape(x, (1,) * 64)])),
    ("meshgrid", lambda x: xp.meshgrid(*[x] * 65)),
    ("", lambda x: xp.broadcast_shapes((1,) * MANY, (2,))),
]


@pytest.mark.parametrize(("operation", "call"), TOO_MANY)
def test_more_dimensions_than_there_may_be_are_refused(operation, call):
    with pytest.raises(ValueError, match=f"^{operation}.*64 dimensions at most, not"):
        call(xp.ones(1))


def test_as_many_dimensions_as_there_may_be_are_computed_with():
    most = xp.__array_namespace_info__().capabilities()["max dimensions"]
    assert most == 64
    shape = (2, *(1,) * (most - 2), 3)
    x = xp.reshape(xp.arange(6), shape)
    assert xp.sum(x + x).tolist() == 30
    assert xp.sum(x, axis=-1).shape == shape[:-1]
    assert xp.tile(x, 2).shape == (*shape[:-1], 6)
    assert xp.tile(x, (2,) * 2 + (1,) * (most - 2)).shape == (4, 2, *shape[2:])
    assert xp.repeat(x, 2, axis=0).tolist() == np.repeat(np.asarray(x), 2, axis=0).tolist()
    assert xp.reshape(xp.permute_dims(x, tuple(reversed(range(most)))), (3, 2)).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert str(x) == str(np.asarray(x))
    assert np.asarray(x).shape == xp.from_dlpack(x).shape == shape


def test_more_arrays_than_the_host_can_hold_are_a_memory_error():
    with pytest.raises(MemoryError, match="unstack: no host memory for"):
        xp.unstack(xp.broadcast_to(xp.ones(1), (10**12,)))


def test_arrays_whose_bytes_cannot_be_counted_are_refused():
    assert xp.broadcast_to(xp.ones(1), (2**59,)).nbytes == 2**62
    with pytest.raises(ValueError, match="broadcast_to: .*larger than the address space"):
        xp.broadcast_to(xp.ones(1), (2**62,))


def test_elements_roll_by_any_distance():
    x = xp.arange(5)
    far = (2**63 - 1, 2**63 - 1, 3)
    assert xp.roll(x, far, axis=(0, 0, 0)).tolist() == np.roll(np.arange(5), sum(far) % 5).tolist()


def test_ranges_without_a_length_are_refused():
    for arguments in [(math.nan,), (0, 1, math.nan), (0.0, math.nan)]:
        with pytest.raises(ValueError, match="no length"):
            xp.arange(*arguments)
