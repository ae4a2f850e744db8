"""Operations that are carried out together give the bits that they give one by one.

Queues that keep times carry out each command by itself, so the same program on such queues is the
reference. When a device begins what was collected is a matter of its speed; so that every moment is
met, programs are run with windows that close at moments of a seed as well.
"""

import gc
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import millpond as mp
import millpond.tensor as xp
from millpond import _millpond, memory

#: Large enough that nothing runs at once on the calling thread.
SIDE = 300

UNARY = ["negative", "abs", "sqrt", "exp", "square", "sin", "floor", "isfinite", "logical_not"]
BINARY = ["add", "subtract", "multiply", "divide", "maximum", "less", "hypot", "atan2"]
IN_PLACE = ["__iadd__", "__isub__", "__imul__"]
REDUCTIONS = ["sum", "max", "mean", "var", "argmax", "all", "logsumexp"]
VIEWS = [
    lambda x: x[::-1],
    lambda x: x[:, ::-1],
    lambda x: x.T,
    lambda x: x[:1],
    lambda x: x[:, :1],
    lambda x: x[3, 4],
    lambda x: x[:, 7][:, None],
]

pick = st.integers(0, 99)
steps = st.one_of(
    st.tuples(st.just("unary"), st.sampled_from(UNARY), pick),
    st.tuples(st.just("binary"), st.sampled_from(BINARY), pick, pick),
    st.tuples(st.just("binary"), st.sampled_from(BINARY), pick, pick),
    st.tuples(st.just("scalar"), st.sampled_from(BINARY), pick, st.sampled_from([2, 0.5, -3, 0])),
    st.tuples(st.just("in_place"), st.sampled_from(IN_PLACE), pick, pick),
    st.tuples(st.just("out"), st.sampled_from(BINARY), pick, pick, pick),
    st.tuples(st.just("where"), pick, pick, pick),
    st.tuples(st.just("astype"), st.sampled_from(["float32", "float64", "int32", "float16"]), pick),
    st.tuples(st.just("view"), st.integers(0, len(VIEWS) - 1), pick),
    st.tuples(st.just("reduce"), st.sampled_from(REDUCTIONS), pick, st.sampled_from([None, 0, 1, -1])),
    st.tuples(st.just("drop"), pick),
    st.tuples(st.just("drop"), pick),
    st.tuples(st.just("read"), pick),
    st.tuples(st.just("event"), pick),
    st.tuples(st.just("follow"), pick, pick),
    st.tuples(st.just("move"), pick, pick),
    st.tuples(st.just("set"), pick, pick),
)


def start(queues):
    """Make the arrays that a program begins with, most of them at home on the first queue."""
    queue, other, unordered = queues
    random = np.random.default_rng(7)
    shape = (SIDE, SIDE)
    return [
        xp.asarray(random.normal(size=shape).astype("float32"), queue=queue),
        xp.asarray(random.normal(size=shape).astype("float32"), queue=queue),
        xp.asarray(random.normal(size=shape), queue=queue),
        xp.asarray(random.integers(-9, 9, shape).astype("int32"), queue=queue),
        xp.asarray(random.normal(size=shape).astype("float32"), queue=other),
        xp.asarray(random.normal(size=shape).astype("float32"), queue=unordered),
    ]


def carry_out(step, arrays, queues):
    """Do a step of a program; bytes, if it looks at any."""
    kind, *rest = step

    def at(number):
        return arrays[number % len(arrays)]

    def line(number):
        return queues[number % len(queues)]

    match kind:
        case "unary":
            arrays.append(getattr(xp, rest[0])(at(rest[1])))
        case "binary":
            arrays.append(getattr(xp, rest[0])(at(rest[1]), at(rest[2])))
        case "scalar":
            arrays.append(getattr(xp, rest[0])(at(rest[1]), rest[2]))
        case "in_place":
            getattr(at(rest[1]), rest[0])(at(rest[2]))
        case "out":
            getattr(xp, rest[0])(at(rest[1]), at(rest[2]), out=at(rest[3]))
        case "where":
            arrays.append(xp.where(at(rest[0]) > 0, at(rest[1]), at(rest[2])))
        case "astype":
            arrays.append(xp.astype(at(rest[1]), rest[0]))
        case "view":
            arrays.append(VIEWS[rest[0]](at(rest[1])))
        case "reduce":
            arrays.append(getattr(xp, rest[0])(at(rest[1]), axis=rest[2], keepdims=True))
        case "drop":
            if len(arrays) > 2:
                del arrays[rest[0] % len(arrays)]
        case "read":
            return xp.asnumpy(at(rest[0])).tobytes()
        case "event":
            line(rest[0]).record().wait()
        case "follow":
            line(rest[0]).wait_for(line(rest[1]).record())
        case "move":
            arrays.append(xp.asarray(at(rest[0]), queue=line(rest[1])))
        case "set":
            at(rest[0])[...] = at(rest[1])
    return None


def run(program, queues):
    """Run a program; everything that could be seen of it."""
    arrays, seen = start(queues), []
    for step in program:
        try:
            seen.append(carry_out(step, arrays, queues))
        except (TypeError, ValueError, IndexError) as refusal:
            seen.append(type(refusal).__name__)
    return seen + [xp.asnumpy(array).tobytes() for array in arrays]


@pytest.fixture(scope="module")
def queues():
    device = mp.default_device()
    return [
        [mp.Queue(device, in_order=in_order, profiling=times) for in_order in (True, True, False)]
        for times in (False, True)
    ]


@contextmanager
def closing_windows(seed):
    """Have windows close at the moments of a seed."""
    _millpond.close_windows_at_random(seed)
    try:
        yield
    finally:
        _millpond.close_windows_at_random(None)


def check(queues, program, seed):
    fused, alone = queues
    expected = run(program, alone)
    assert run(program, fused) == expected
    with closing_windows(seed):
        assert run(program, fused) == expected


@given(st.lists(steps, min_size=5, max_size=60), st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_programs_give_the_same_bits_fused_one_by_one_and_however_windows_close(queues, program, seed):
    check(queues, program, seed)


@given(st.lists(steps, min_size=100, max_size=200), st.integers(0, 2**32))
@settings(max_examples=8, deadline=None)
def test_long_programs_too(queues, program, seed):
    check(queues, program, seed)


def chain(x, length):
    for _ in range(length):
        x = x * 0.5 + 1
    return x


def executions_of_a_chain(length):
    """Ask for all of a chain before any of it begins; what it became."""
    x = xp.ones((SIDE, SIDE), dtype="float32")
    with mp.explain(print=False) as explanation:
        gate = x.queue.gate()
        result = chain(x, length)
        gate.open()
    assert float(result[0, 0]) == float(chain(np.float32(1), length))
    return [execution.operations for execution in explanation.executions]


def test_a_seed_closes_windows_and_always_at_the_same_moments():
    assert executions_of_a_chain(30) == [60]
    with closing_windows(5):
        closed = executions_of_a_chain(30)
    assert sum(closed) == 60
    assert 3 < len(closed) < 57
    with closing_windows(5):
        assert executions_of_a_chain(30) == closed
    assert executions_of_a_chain(30) == [60]


def test_what_is_collected_has_a_limit():
    counts = executions_of_a_chain(500)
    assert sum(counts) == 1000
    assert max(counts) <= 64


def test_what_is_collected_keeps_no_memory():
    """However much is collected or waits behind that, a pool of a few arrays is enough for it."""
    device = mp.default_device()
    queue = device.create_queue()
    x = xp.ones((SIDE, SIDE), dtype="float32", queue=queue)
    # One that is computed, one that is read and one that was computed before.
    pool = memory.Pool(device, "device", maximum_size=4 * x.nbytes)
    with memory.use_pool(pool):
        gate = queue.gate()
        result = chain(x, 5000)
    assert not queue.is_idle
    gate.open()
    assert float(result[0, 0]) == 2


def test_a_function_of_several_passes_gives_what_numpy_does():
    x = xp.ones((SIDE, SIDE), dtype=xp.float32)

    def norm(x):
        y = x * 2 + 1
        return y / xp.sqrt(xp.sum(y * y, axis=-1, keepdims=True))

    gc.collect()
    result = norm(x)
    np.testing.assert_allclose(xp.asnumpy(result), np.full((SIDE, SIDE), SIDE**-0.5), rtol=1e-6)
