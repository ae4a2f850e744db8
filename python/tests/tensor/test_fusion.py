"""Operations that are carried out together give the bits that they give one by one.

Queues that keep times carry out each command by itself, so the same program on such a queue is the
reference.
"""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import millpond as mp
import millpond.tensor as xp

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
    st.just(("event",)),
    st.tuples(st.just("set"), pick, pick),
)


def start(queue, other):
    """Make the arrays that a program begins with, one of them at home on another queue."""
    random = np.random.default_rng(7)
    shape = (SIDE, SIDE)
    return [
        xp.asarray(random.normal(size=shape).astype("float32"), queue=queue),
        xp.asarray(random.normal(size=shape).astype("float32"), queue=queue),
        xp.asarray(random.normal(size=shape), queue=queue),
        xp.asarray(random.integers(-9, 9, shape).astype("int32"), queue=queue),
        xp.asarray(random.normal(size=shape).astype("float32"), queue=other),
    ]


def carry_out(step, arrays, queue):
    """Do a step of a program; bytes, if it looks at any."""
    kind, *rest = step

    def at(number):
        return arrays[number % len(arrays)]

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
            queue.record().wait()
        case "set":
            at(rest[0])[...] = at(rest[1])
    return None


def run(program, queue, other):
    """Run a program; everything that could be seen of it."""
    arrays, seen = start(queue, other), []
    for step in program:
        try:
            seen.append(carry_out(step, arrays, queue))
        except (TypeError, ValueError, IndexError) as refusal:
            seen.append(type(refusal).__name__)
    return seen + [xp.asnumpy(array).tobytes() for array in arrays]


@pytest.fixture(scope="module")
def queues():
    device = mp.default_device()
    return [[mp.Queue(device, profiling=times) for _ in range(2)] for times in (False, True)]


@given(st.lists(steps, min_size=5, max_size=60))
@settings(max_examples=150, deadline=None)
def test_programs_give_the_same_bits_fused_and_one_by_one(queues, program):
    fused, alone = queues
    assert run(program, *fused) == run(program, *alone)


@given(st.lists(steps, min_size=100, max_size=200))
@settings(max_examples=10, deadline=None)
def test_long_programs_too(queues, program):
    fused, alone = queues
    assert run(program, *fused) == run(program, *alone)


def test_a_function_of_several_passes_gives_what_numpy_does():
    x = xp.ones((SIDE, SIDE), dtype=xp.float32)

    def norm(x):
        y = x * 2 + 1
        return y / xp.sqrt(xp.sum(y * y, axis=-1, keepdims=True))

    gc.collect()
    result = norm(x)
    np.testing.assert_allclose(xp.asnumpy(result), np.full((SIDE, SIDE), SIDE**-0.5), rtol=1e-6)
