"""Arrays of more than 2**31 elements: whatever counts, places or names their elements has to have more than 32 bits.

One test at a time uses so much memory, however many workers there are; where there isn't as much, they are skipped.
"""

from pathlib import Path

import numpy as np
import pytest

import millpond
import millpond.tensor as xp

fcntl = pytest.importorskip("fcntl", reason="workers take turns by locking a file")

GIB = 2**30
#: The first place that a signed integer of 32 bits doesn't have.
FAR = 2**31
#: Elements: no multiple of what work is cut into.
MANY = FAR + 77
#: A matrix of as many, whose rows and columns are odd.
TALL = (2**16 + 1, 2**15 + 3)


def _available():
    """Return the bytes that a process may still use: of the machine, and of its control group."""
    machine = Path("/proc/meminfo")
    if not machine.exists():
        pytest.skip("this system doesn't say how much memory is available")
    found = dict(line.split(":") for line in machine.read_text().splitlines())
    free = int(found["MemAvailable"].split()[0]) * 1024
    group = Path("/sys/fs/cgroup")
    try:
        most, used = (int((group / name).read_text()) for name in ("memory.max", "memory.current"))
    except (OSError, ValueError):
        return free
    return min(free, most - used)


@pytest.fixture
def room(request, tmp_path_factory):
    """Let a test have the memory that it needs, given in GiB, alone."""
    with (tmp_path_factory.getbasetemp().parent / "large-arrays.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _available() < (request.param + 1) * GIB:
            pytest.skip(f"{request.param} GiB of memory are needed, {_available() / GIB:.1f} GiB are available")
        yield
        millpond.wait()
        millpond.memory.pool().trim()


def takes(gibibytes):
    return pytest.mark.parametrize("room", [gibibytes], indirect=True, ids=[f"{gibibytes} GiB"])


def _zeros(**marks):
    """Make an array of zeros but for some elements behind FAR: `at_3=5` puts a 5 there."""
    x = xp.zeros(MANY, dtype="int8")
    for place, value in marks.items():
        x[FAR + int(place.removeprefix("at_"))] = value
    return x


@takes(6)
def test_elements_are_computed(room):
    x = _zeros(at_3=5)
    x += 1
    y = x * x
    assert y[FAR - 1 : FAR + 5].tolist() == [1, 1, 1, 1, 36, 1]
    assert y[-1].item() == 1
    chosen = xp.where(y > 1, x, 0)
    assert chosen[FAR + 3].item() == 6
    assert xp.sum(chosen).item() == 6


@takes(3)
def test_elements_are_reduced(room):
    x = _zeros(at_3=5, at_9=-7)
    assert xp.sum(x).item() == -2
    assert (xp.max(x).item(), xp.min(x).item()) == (5, -7)
    assert (xp.argmax(x).item(), xp.argmin(x).item()) == (FAR + 3, FAR + 9)
    assert xp.count_nonzero(x).item() == 2
    assert xp.any(x).item() is True
    x += 1
    assert xp.sum(x).item() == MANY - 2
    assert xp.prod(x[: FAR + 3]).item() == 1
    assert xp.all(x).item() is True
    assert str(x) == "[1 1 1 ... 1 1 1]"


@takes(3)
def test_axes_of_matrices_are_reduced(room):
    x = xp.ones(TALL, dtype="int8")
    x[-1, -2] = 3
    for axis in (0, 1):
        sums = xp.asnumpy(xp.sum(x, axis=axis))
        place = (TALL[1] - 2, TALL[0] - 1)[axis]
        assert sums[place] == TALL[axis] + 2
        assert (np.delete(sums, place) == TALL[axis]).all()
        assert xp.argmax(x, axis=axis)[place].item() == (TALL[0] - 1, TALL[1] - 2)[axis]
    assert xp.argmax(x).item() == TALL[0] * TALL[1] - 2
    assert xp.argmax(x.T).item() == (TALL[1] - 1) * TALL[0] - 1


@takes(1)
def test_repeated_elements_are_reduced(room):
    x = xp.broadcast_to(xp.asarray([2], dtype="int8"), (2 * FAR + 3,))
    assert xp.sum(x).item() == 4 * FAR + 6
    assert xp.count_nonzero(x).item() == 2 * FAR + 3


@takes(7)
def test_elements_are_accumulated(room):
    x = _zeros(at_3=5, at_9=-7)
    for axis, array in ((0, x), (1, xp.reshape(x, (1, MANY)))):
        sums = xp.reshape(xp.cumulative_sum(array, axis=axis, dtype="int8"), (MANY,))
        assert sums[FAR - 1 : FAR + 11].tolist() == [0] * 4 + [5] * 6 + [-2] * 2
        assert sums[-1].item() == -2


@takes(9)
def test_more_elements_than_32_bits_count_are_accumulated(room):
    x = xp.broadcast_to(xp.asarray([1], dtype="int8"), (2 * FAR + 3,))
    sums = xp.cumulative_sum(x, dtype="int8")
    assert sums[2 * FAR - 2 :].tolist() == [-1, 0, 1, 2, 3]
    assert sums[FAR - 1 : FAR + 1].tolist() == [0, 1]


@takes(5)
def test_neighbours_are_subtracted(room):
    assert xp.diff(_zeros(at_3=5, at_9=-7))[FAR + 1 : FAR + 10].tolist() == [0, 5, -5, 0, 0, 0, 0, -7, 7]


@takes(5)
def test_places_are_read_and_written(room):
    x = _zeros(at_3=5, at_9=-7)
    assert x[FAR + 3].item() == x[3 - 77].item() == 5
    assert x[:: FAR + 9].tolist() == [0, -7]
    assert x[::-1][76 - 3].item() == 5
    assert x[-70::3].tolist() == [0, 0] + [0] * 22
    indices = xp.asarray([FAR + 3, 0, 9 - 77, MANY - 1])
    assert xp.take(x, indices).tolist() == x[indices].tolist() == [5, 0, -7, 0]
    assert xp.take_along_axis(x, indices, axis=0).tolist() == [5, 0, -7, 0]
    assert xp.take(x, xp.asarray([2 * FAR, MANY + FAR + 9]), mode="wrap").tolist() == [0, -7]
    x[indices] = xp.asarray([1, 2, 3, 4], dtype="int8")
    assert [x[place].item() for place in (FAR + 3, 0, FAR + 9, -1)] == [1, 2, 3, 4]
    xp.put(x, indices, 9)
    assert xp.sum(x).item() == 36
    x[FAR:] = 3
    assert xp.sum(x).item() == 9 + 3 * 77
    with pytest.raises(IndexError, match=f"index {MANY} is out of bounds for axis 0 with size {MANY}"):
        x[xp.asarray([MANY])].tolist()


@takes(5)
def test_masks_select(room):
    x = _zeros(at_3=5, at_9=-7)
    mask = x != 0
    assert x[mask].tolist() == [5, -7]
    assert [places.tolist() for places in xp.nonzero(x)] == [[FAR + 3, FAR + 9]]
    x[mask] = xp.asarray([1, 2], dtype="int8")
    assert x[mask].tolist() == [1, 2]
    xp.place(x, mask, xp.asarray([4], dtype="int8"))
    assert xp.extract(mask, x).tolist() == [4, 4]
    assert xp.count_nonzero(xp.isin(x, 4)).item() == 2


@takes(5)
def test_arrays_are_joined_moved_and_repeated(room):
    half = xp.zeros(FAR // 2 + 40, dtype="int8")
    half[-1] = 6
    whole = xp.concat([half, half])
    assert xp.argmax(whole[FAR // 2 + 40 :]).item() == FAR // 2 + 39
    assert (whole[FAR + 79].item(), xp.sum(whole).item()) == (6, 12)
    del whole
    for again in (xp.tile(half, 2), xp.reshape(xp.stack([half, half]), (-1,))):
        assert (again[FAR + 79].item(), xp.sum(again).item()) == (6, 12)
    del again
    twice = xp.repeat(half, 2)
    assert twice[-3:].tolist() == [0, 6, 6]
    assert xp.sum(twice).item() == 12


@takes(5)
def test_elements_roll(room):
    x = xp.roll(_zeros(at_3=5), 70)
    assert (x[FAR + 73].item(), xp.sum(x).item()) == (5, 5)


@takes(3)
def test_elements_are_found(room):
    ascending = xp.zeros(MANY, dtype="int8")
    ascending[0] = -7
    ascending[FAR + 70 :] = 5
    wanted = xp.asarray([-7, 0, 1, 5, 6], dtype="int8")
    assert xp.searchsorted(ascending, wanted).tolist() == [0, 1, FAR + 70, FAR + 70, MANY]
    assert xp.searchsorted(ascending, wanted, side="right").tolist() == [1, FAR + 70, FAR + 70, MANY, MANY]


@takes(8)
def test_elements_are_ordered(room):
    x = _zeros(at_3=5, at_9=-7)
    ordered = xp.sort(x)
    assert [ordered[place].item() for place in (0, 1, FAR, -2, -1)] == [-7, 0, 0, 0, 5]
    del ordered
    values, counts = xp.unique_counts(x)
    assert (values.tolist(), counts.tolist()) == ([-7, 0, 5], [1, MANY - 2, 1])


@takes(3)
def test_the_first_of_the_order_are_found(room):
    values, indices = xp.top_k(_zeros(at_3=5, at_9=-7, at_11=5), 3)
    assert (values.tolist(), indices.tolist()) == ([5, 5, 0], [FAR + 3, FAR + 11, 0])


@takes(7)
def test_numpy_and_other_libraries_have_the_same_elements(room):
    theirs = np.zeros(MANY, dtype="int8")
    theirs[FAR + 3] = 5
    ours = xp.asarray(theirs, copy=False)
    assert (ours.shape, ours[FAR + 3].item()) == ((MANY,), 5)
    copy = xp.asnumpy(xp.asarray(theirs, copy=True))
    assert (copy.shape, copy[FAR + 3], copy[-1]) == ((MANY,), 5, 0)
    del copy
    again = np.from_dlpack(ours)
    assert (again.shape, again[FAR + 3]) == ((MANY,), 5)
    assert xp.from_dlpack(again)[FAR + 3].item() == 5
    assert memoryview(ours)[FAR + 3] == 5


@takes(5)
def test_copies_of_views_have_the_elements_of_the_views(room):
    x = xp.zeros(TALL, dtype="int8")
    x[-1, -2] = 3
    x[-3, 5] = 4
    turned = xp.copy(x.T, order="C")
    assert (turned[-2, -1].item(), turned[5, -3].item(), xp.sum(turned).item()) == (3, 4, 7)
    del turned
    back = xp.copy(x[::-1, ::-1])
    assert (back[0, 1].item(), back[2, -6].item(), xp.sum(back).item()) == (3, 4, 7)
    del back
    part = xp.asnumpy(x[::2, 1::2])
    assert (part.shape, part[-1, -1], part[-2, 2], part.sum()) == ((2**15 + 1, 2**14 + 1), 3, 4, 7)


@takes(3)
def test_products_of_vectors_are_summed(room):
    x = xp.ones(MANY, dtype="int8")
    assert xp.vecdot(x, x).item() == MANY % 256


@takes(3)
def test_rows_of_matrices_are_multiplied(room):
    x = xp.zeros(TALL, dtype="int8")
    x[-1, -2] = 3
    product = x @ xp.ones(TALL[1], dtype="int8")
    assert (product[-1].item(), xp.count_nonzero(product).item()) == (3, 1)
