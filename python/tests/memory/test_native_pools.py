"""Pools of a driver's own: refused where there are none, and as any other where there are."""

import pytest

import millpond
import millpond.tensor as xp
from millpond.memory import Pool, driver_pool, use_pool

CARDS = [device for device in millpond.devices() if device.driver_pools]
on_card = pytest.mark.skipif(not CARDS, reason="no device has pools of its driver's")


def test_a_device_without_them_says_so():
    cpu = millpond.device("cpu")
    assert cpu.driver_pools == ()
    for call in (lambda: Pool(cpu, native=True), lambda: driver_pool(cpu)):
        with pytest.raises(millpond.DeviceError, match=r"driver's own.*not supported by cpu"):
            call()
    with pytest.raises(ValueError, match="has no `max_poolable`"):
        Pool(cpu, native=True, max_poolable=1)
    pool = Pool(cpu)
    assert not pool.native
    assert pool.native_handle is None


@on_card
def test_arrays_live_in_them():
    device = CARDS[0]
    pool = Pool(device, native=True, maximum_size=256 << 20)
    assert pool.native
    assert pool.native_handle
    with use_pool(pool):
        x = xp.ones(1_000_000, device=device)
        y = xp.sqrt(x * 4) + x
    assert int(xp.sum(y)) == 3_000_000
    assert pool.statistics().live == 2
    with use_pool(pool), pytest.raises(millpond.OutOfMemoryError, match="maximum size"):
        xp.ones(1 << 30, device=device)
    del x, y
    device.wait()
    pool.trim()
    assert pool.statistics().reserved == 0


@on_card
def test_the_drivers_own_is_one():
    pool = driver_pool(CARDS[0])
    assert pool == driver_pool(CARDS[0])
    assert pool.is_default
    assert pool.native
    with use_pool(pool):
        x = xp.ones(1000, device=CARDS[0])
    assert int(xp.sum(x)) == 1000
