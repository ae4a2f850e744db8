import numpy as np
import pytest

import millpond.tensor as xp


@pytest.fixture(params=["device", "shared", "host"])
def kind(request):
    return request.param


def test_asnumpy_gives_the_elements(kind):
    x = xp.asarray([[1, 2], [3, 4]], usm_type=kind)
    seen = xp.asnumpy(x)
    assert type(seen) is np.ndarray
    assert seen.dtype == np.int64
    assert np.array_equal(seen, [[1, 2], [3, 4]])
    assert np.array_equal(xp.asnumpy(x.T[::-1]), [[2, 4], [1, 3]])


def test_asarray_of_numpy_takes_arrays(kind):
    x = xp.asarray([1.5, 2.5], usm_type=kind)
    assert np.array_equal(np.asarray(x), [1.5, 2.5])
    assert np.asarray(x, dtype="float32").dtype == np.float32
    assert np.array_equal(np.array(x, copy=True), [1.5, 2.5])


def test_a_copy_is_a_copy(kind):
    x = xp.zeros(3, usm_type=kind)
    copy = np.array(x, copy=True)
    copy[0] = 1
    assert float(x[0]) == 0


def test_an_array_of_a_conversion_cannot_share_memory(kind):
    with pytest.raises(ValueError, match="copy"):
        np.asarray(xp.zeros(3, usm_type=kind), dtype="int8", copy=False)


def test_arrays_that_share_memory_share_it():
    x = xp.zeros(3, usm_type="shared")
    np.asarray(x, copy=False)[1] = 4
    assert float(x[1]) == 4


def test_empty_arrays_and_scalars_are_exchanged(kind):
    assert xp.asnumpy(xp.zeros((0, 3), usm_type=kind)).shape == (0, 3)
    assert xp.asnumpy(xp.asarray(3.0, usm_type=kind)).shape == ()
    assert xp.asnumpy(xp.asarray(3.0, usm_type=kind)) == 3
