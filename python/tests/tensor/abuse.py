"""Calls everything that ``millpond.tensor`` has with what it can't take. A process of its own runs this: it may crash.

Every call must answer, with a result or with an ``Exception``; a panic of Rust's is none. What is called comes from the
namespace, so that new functions, methods and attributes are covered by being there.
"""

import contextlib
import faulthandler
import inspect
import itertools
import random
import sys
import warnings
from types import ModuleType

import numpy as np

import millpond
import millpond.tensor as xp

#: Calls of each function with arguments drawn by chance.
ROUNDS = 400

#: Seconds after which a single call counts as hanging.
HANG = 60


class Broken:
    """Fails whatever is asked of it."""

    def fail(self, *args, **kwargs):
        raise RuntimeError("broken")

    __index__ = __int__ = __float__ = __complex__ = __len__ = __iter__ = __getitem__ = fail
    __eq__ = __hash__ = __repr__ = __str__ = __bool__ = __dlpack__ = __dlpack_device__ = __array__ = fail


class Liar:
    """Promises a length, an index and an exchange, and doesn't keep any."""

    shape = dtype = device = "nothing"

    @property
    def __array_interface__(self):
        return {"shape": (2**62,), "typestr": "<f8", "data": (8, False), "version": 3}

    def __len__(self):
        return 2**62

    def __getitem__(self, key):
        raise IndexError(key)

    def __index__(self):
        return 2**63 - 1

    def __dlpack_device__(self):
        return (1, "0")

    def __dlpack__(self, **kwargs):
        return object()


def endless():
    nested = []
    nested.append(nested)
    return nested


def arrays():
    """Give arrays of many dtypes, ranks and layouts; none of them large."""
    for dtype in ("bool", "int8", "uint64", "float16", "float32", "float64", "complex64", "complex128"):
        yield xp.ones(3, dtype=dtype)
    yield xp.asarray(2)
    yield xp.asarray(float("nan"))
    yield xp.zeros((0, 3))
    yield xp.zeros((2, 0, 2), dtype="int32")
    yield xp.reshape(xp.arange(6), (2, 3))
    yield xp.reshape(xp.arange(6), (2, 3)).T
    yield xp.reshape(xp.arange(8.0), (2, 2, 2))[::-1, :, ::-1]
    yield xp.ones((1,) * 64)
    yield xp.broadcast_to(xp.ones(1), (3, 3))
    yield xp.ones(3, usm_type="shared")
    yield xp.asarray([-1, 5, 2**40])


#: Sizes are small, or more than any machine has: what is between them would be computed.
STRANGERS = [
    None,
    True,
    -1,
    0,
    2,
    64,
    65,
    2**62,
    -(2**63),
    2**63,
    2**70,
    10**5000,
    1.5,
    float("nan"),
    float("inf"),
    1j,
    "",
    "C",
    "int8",
    "a",
    "\udcff",
    "\0",
    b"",
    b"abc",
    (),
    (1, 2),
    (2, -1, -1),
    (0,) * 65,
    (2**62, 2**62),
    (2**31,) * 2,
    [],
    [1, [2]],
    [[], []],
    ["a", 1],
    {},
    {1: 2},
    {1, 2},
    range(3),
    slice(None),
    slice(None, None, 0),
    slice("a", 1.5),
    ...,
    NotImplemented,
    object,
    int,
    float,
    xp.float32,
    xp.Array,
    xp.add,
    len,
    lambda *args: args[0],
    Broken(),
    Liar(),
    endless(),
    iter([1]),
    memoryview(b"12345678"),
    bytearray(8),
    np.ones(3),
    np.ones(3, dtype=">f8"),
    np.zeros((2, 2), dtype=object),
    np.array(["a"]),
    np.float32(1),
    np.int64(-3),
    np.datetime64("2000-01-01"),
    millpond.default_device(),
    millpond.default_device().default_queue,
    millpond,
]


#: What functions of several arguments need to get past the first: they are drawn more often.
PLAUSIBLE = [-2, 0, 1, 2, 64, 1.5, 1j, "C", "int8", "float32", "xy", (0, 1), (2, 3), None, True, False]


def drawn(chance, values):
    return chance.choice(PLAUSIBLE if chance.random() < 0.6 else values)


def answers(call, *args, **kwargs):
    """Call; what isn't an ``Exception`` ends the process, and so does what takes too long."""
    faulthandler.dump_traceback_later(HANG, exit=True)
    try:
        result = call(*args, **kwargs)
        if isinstance(result, xp.Array) and 0 < result.size < 10_000:
            # What was computed can be read, or says why not.
            result.tolist()
    except Exception:
        pass
    except BaseException as error:  # a panic
        told(call, args, kwargs)
        raise SystemExit(f"not an Exception: {type(error).__name__}: {error}") from error
    finally:
        faulthandler.cancel_dump_traceback_later()


def told(call, args, kwargs):
    def name(value):
        try:
            return repr(value)[:200]
        except Exception:
            return object.__repr__(value)

    print(name(call), [name(value) for value in args], {key: name(value) for key, value in kwargs.items()}, flush=True)


def namespaces():
    yield xp
    for value in vars(xp).values():
        if isinstance(value, ModuleType) and value.__name__.startswith("millpond"):
            yield value


def functions():
    seen = set()
    for namespace in namespaces():
        for name, value in vars(namespace).items():
            if callable(value) and not name.startswith("_") and id(value) not in seen:
                seen.add(id(value))
                yield f"{namespace.__name__}.{name}", value
    yield "__array_namespace_info__", xp.__array_namespace_info__


def instances():
    """Give an object of each class that programs come across, and its class."""
    found = list(arrays())
    found += [xp.float32, xp.add, xp.finfo("float32"), xp.iinfo("int8"), xp.ones(3).flags, iter(xp.ones(3))]
    found += [xp.__array_namespace_info__(), millpond.default_device(), millpond.default_device().default_queue]
    return found


def keywords(function):
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [one.name for one in parameters if one.kind in (one.KEYWORD_ONLY, one.POSITIONAL_OR_KEYWORD)]


def abuse_functions(chance, values):
    count = 0
    for _, function in functions():
        names = keywords(function)
        answers(function)
        for value in values:
            answers(function, value)
            answers(function, xp.ones((2, 2)), value)
            for name in names:
                answers(function, xp.ones((2, 2)), **{name: value})
        for _ in range(ROUNDS):
            args = [drawn(chance, values) for _ in range(chance.randrange(6))]
            kwargs = {name: drawn(chance, values) for name in names if chance.random() < 0.3}
            answers(function, *args, **kwargs)
        count += 1
    return count


def abuse_selves(values):
    """Call every method and getter of every class with everything for ``self``."""
    count = 0
    classes = {type(instance) for instance in instances()}
    for namespace in (*namespaces(), millpond, millpond.memory, millpond._millpond):
        classes |= {value for value in vars(namespace).values() if inspect.isclass(value)}
    for cls in classes:
        if not cls.__module__.startswith("millpond"):
            continue
        for name, member in vars(cls).items():
            count += 1
            for value in values:
                if hasattr(member, "__get__"):
                    answers(member.__get__, value)
                    answers(member.__get__, value, cls)
                if hasattr(member, "__set__"):
                    answers(member.__set__, value, value)
                # A gate or an event of somebody else's is never reached: `self` is of another class.
                if callable(member) and not isinstance(value, cls) and name not in ("__new__", "__init_subclass__"):
                    answers(member, value)
                    answers(member, value, value)
        answers(object.__new__, cls)
        answers(cls.__new__, object)
    return count


def abuse_methods(chance, values):
    """Call every method of arrays and their kin with what it can't take."""
    count = 0
    for instance in instances():
        if not isinstance(instance, xp.Array) and type(instance).__module__ != "millpond.tensor":
            continue
        for name in dir(type(instance)):
            try:
                method = getattr(instance, name)
            except Exception:
                continue
            if not callable(method) or inspect.isclass(method) or name in ("__init_subclass__", "__subclasshook__"):
                continue
            count += 1
            names = keywords(method)
            for value in values:
                answers(method, value)
            for _ in range(40):
                args = [drawn(chance, values) for _ in range(chance.randrange(4))]
                kwargs = {name: drawn(chance, values) for name in names if chance.random() < 0.4}
                answers(method, *args, **kwargs)
    return count


def abuse_items(chance, values):
    """Read and write elements by everything, alone and in tuples."""
    count = 0
    pairs = [(chance.choice(values), chance.choice(values)) for _ in range(200)]
    for x, key in itertools.product(arrays(), [*values, *pairs]):
        count += 1
        answers(lambda x=x, key=key: x[key])
        answers(x.__setitem__, key, chance.choice(values))
    return count


def main(seed):
    warnings.simplefilter("ignore")
    chance = random.Random(seed)
    values = [*STRANGERS, *arrays()]
    called = {
        "functions": abuse_functions(chance, values),
        "selves": abuse_selves(values),
        "methods": abuse_methods(chance, values),
        "items": abuse_items(chance, values),
    }
    # What a call began may fail later, which is an answer as well; the device goes on.
    with contextlib.suppress(millpond.exceptions.Error):
        millpond.wait()
    assert xp.ones(3).tolist() == [1.0] * 3
    print("survived", called)


if __name__ == "__main__":
    main(int(sys.argv[1]))
