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


def test_ranges_without_a_length_are_refused():
    for arguments in [(math.nan,), (0, 1, math.nan), (0.0, math.nan)]:
        with pytest.raises(ValueError, match="no length"):
            xp.arange(*arguments)


def test_neighbours_of_half_types_are_refused():
    with pytest.raises(TypeError, match="nextafter"):
        xp.nextafter(xp.zeros(1, dtype="float16"), xp.ones(1, dtype="float16"))
