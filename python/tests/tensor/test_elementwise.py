"""Every element-wise function, for every dtype and layout, against NumPy with more digits."""

import copy
import functools
import inspect
import operator
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import millpond.tensor as xp

from .reference import EVERY_DTYPE, FORMULAS, LAYOUTS, defined, distance, elementwise, in_layout, numbers

FUNCTIONS = {name: function for name in xp.__all__ if isinstance(function := getattr(xp, name), xp.ElementwiseFunction)}
CASES = [
    (name, signature) for name, function in FUNCTIONS.items() for signature in function.types if "E" not in signature
]


def _case(name, signature):
    return pytest.param(name, signature, id=f"{name}-{signature}")


def _operands(name, dtype, seed=0, shape=(7, 11)):
    return defined(name, [numbers(dtype, shape, seed + index) for index in range(FUNCTIONS[name].nin)])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("name", "signature"), [_case(*case) for case in CASES])
def test_a_function_is_as_exact_as_its_row_says(name, signature, layout):
    dtype = np.dtype(signature[0]).name
    result_dtype = np.dtype(signature[-1]).name
    pairs = [in_layout(part, layout) for part in _operands(name, dtype)]
    result = FUNCTIONS[name](*(ours for _, ours in pairs))
    assert result.dtype == result_dtype
    wanted = elementwise(name, [theirs for theirs, _ in pairs])
    # A half type is computed in `float32` and rounded once more.
    allowed = FUNCTIONS[name].ulp + (1 if dtype == "float16" else 0.5)
    if np.dtype(dtype).kind == "c":
        # The error of an angle grows with the exponent.
        allowed = allowed * 2 + (6 if name == "pow" else 2)
    # Below one it is as exact as one, as its row says.
    floor = 1 if name == "logaddexp" else 0
    assert distance(xp.asnumpy(result), wanted, floor) <= allowed


def _same_bits(result, wanted):
    """Whether all elements are the same, zeros with their signs, NaNs whatever their bits are."""
    result, wanted = xp.asnumpy(result), np.asarray(wanted)
    assert result.dtype == wanted.dtype
    word = f"u{wanted.itemsize}"
    return ((result.view(word) == wanted.view(word)) | (np.isnan(result) & np.isnan(wanted))).all()


def test_neighbours_of_halves_are_those_of_numpy():
    every = np.arange(2**16, dtype="uint16").view("float16")
    for goal in [0.0, -0.0, 1.0, -3.5, 6e-8, -6e-8, 65504.0, np.inf, -np.inf, np.nan]:
        goals = np.full_like(every, goal)
        assert _same_bits(xp.nextafter(xp.asarray(every), xp.asarray(goals)), FORMULAS["nextafter"](every, goals))
        assert _same_bits(xp.nextafter(xp.asarray(goals), xp.asarray(every)), FORMULAS["nextafter"](goals, every))
    other = np.random.default_rng(1).permutation(every)
    assert _same_bits(xp.nextafter(xp.asarray(every), xp.asarray(other)), FORMULAS["nextafter"](every, other))
    # A step and a scalar go other ways through the kernels.
    assert _same_bits(xp.nextafter(xp.asarray(every)[::-3], 0.5), FORMULAS["nextafter"](every[::-3], np.float16(0.5)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floors_of_quotients_are_those_of_numpy(dtype):
    random = np.random.default_rng(2)
    count = 200_000
    digits = np.finfo(dtype).nmant
    divisors = random.normal(0, 10, count).astype(dtype)
    divisors[divisors == 0] = 1
    wholes = np.round(random.normal(0, 1, count) * 2.0 ** random.integers(0, digits - 1, count))
    with np.errstate(all="ignore"):
        multiples = (wholes * divisors.astype("float64")).astype(dtype)
        near = [np.nextafter(multiples, np.asarray(goal, dtype=dtype)) for goal in (-np.inf, np.inf)]
        for dividends in [multiples, *near, random.normal(0, 100, count).astype(dtype)]:
            # Beyond the integers that the format has, NumPy's quotients are off by one place at times.
            kept = np.abs(dividends / divisors) < 2.0 ** (digits - 1)
            x1, x2 = dividends[kept], divisors[kept]
            assert _same_bits(xp.floor_divide(xp.asarray(x1), xp.asarray(x2)), np.floor_divide(x1, x2))


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_an_output_takes_the_result_and_may_be_an_operand(name):
    signature = next(s for s in FUNCTIONS[name].types if "E" not in s and s[0] not in "?e")
    dtype = np.dtype(signature[0]).name
    operands = [xp.asarray(part, copy=True) for part in _operands(name, dtype)]
    wanted = xp.asnumpy(FUNCTIONS[name](*operands))
    out = xp.empty(wanted.shape, dtype=wanted.dtype)
    assert FUNCTIONS[name](*operands, out=out) is out
    np.testing.assert_array_equal(xp.asnumpy(out), wanted)
    if wanted.dtype == dtype:
        FUNCTIONS[name](*operands, out=operands[0])
        np.testing.assert_array_equal(xp.asnumpy(operands[0]), wanted)


def test_an_output_that_overlaps_an_operand_gets_the_same_values():
    x = xp.arange(10, dtype="int32")
    assert xp.add(x[:-1], x[1:], out=x[1:]) is not None
    assert x.tolist() == [0, 1, 3, 5, 7, 9, 11, 13, 15, 17]


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_order_is_kept_to(order):
    x = xp.ones((3, 4))
    flags = xp.negative(x, order=order).flags
    assert flags.c_contiguous == (order == "C")
    assert flags.f_contiguous == (order == "F")


def test_functions_are_called_alike_however_arguments_come():
    has_vectorcall = 1 << 11
    assert all(type(function).__flags__ & has_vectorcall for function in FUNCTIONS.values())
    x, y, out = xp.asarray([1.0, 2.0]), xp.asarray([10.0, 20.0]), xp.zeros(2)
    calls = [
        lambda: xp.add(x, y),
        lambda: xp.add(*[x, y]),
        lambda: xp.add(x, y, out=None, order="C"),
        lambda: xp.add(x, y, **{"order": "K"}),
        lambda: xp.add(x, y, out=out),
        lambda: xp.add.__call__(x, y),
        lambda: type(xp.add).__call__(xp.add, x, y),
        lambda: functools.partial(xp.add, x)(y),
        lambda: functools.reduce(xp.add, [x, y]),
        lambda: next(map(xp.add, [x], [y])),
        lambda: copy.copy(xp.add)(x, y),
        lambda: pickle.loads(pickle.dumps(xp.add))(x, y),
    ]
    for call in calls:
        assert xp.asnumpy(call()).tolist() == [11, 22]
    assert xp.asnumpy(out).tolist() == [11, 22]
    assert xp.asnumpy(xp.add(1, x)).tolist() == xp.asnumpy(xp.add(x, True)).tolist() == [2, 3]
    assert xp.asnumpy(next(map(xp.negative, [x]))).tolist() == [-1, -2]


@pytest.mark.parametrize(
    ("positional", "named", "says"),
    [
        ((), {}, "takes 2 positional arguments, 0 were given"),
        ((1.0,), {}, "takes 2 positional arguments, 1 were given"),
        ((1.0, 2.0, 3.0), {}, "takes 2 positional arguments, 3 were given"),
        ((1.0, 2.0), {}, "at least one operand must be an array"),
        ((1.0, 2.0), {"where": True}, "unexpected keyword argument 'where'"),
        ((1.0,), {"x2": 2.0}, "unexpected keyword argument 'x2'"),
    ],
)
def test_functions_refuse_what_they_do_not_take(positional, named, says):
    with pytest.raises(TypeError, match=says):
        xp.add(*positional, **named)


def test_the_class_of_functions_makes_no_others():
    with pytest.raises(TypeError, match="cannot create"):
        xp.ElementwiseFunction("add")
    base = xp.ElementwiseFunction.__base__
    with pytest.raises(ValueError, match="no element-wise function 'sum'"):
        base("sum")


def test_functions_tell_what_they_take():
    assert str(inspect.signature(xp.add)) == "(x1, x2, /, *, out=None, order='K')"
    assert str(inspect.signature(xp.sin)) == "(x, /, *, out=None, order='K')"
    assert xp.sin.__name__ == xp.sin.__qualname__ == "sin"
    assert xp.sin.__module__ == "millpond.tensor"
    assert "Parameters\n----------\nx : Array" in xp.sin.__doc__
    assert (xp.add.nin, xp.add.nout) == (2, 1)
    assert "ff->f" in xp.add.types


BINARY = {
    operator.add: ("add", "iufc"),
    operator.sub: ("subtract", "iufc"),
    operator.mul: ("multiply", "iufc"),
    operator.truediv: ("divide", "fc"),
    operator.floordiv: ("floor_divide", "iuf"),
    operator.mod: ("remainder", "iuf"),
    operator.and_: ("bitwise_and", "biu"),
    operator.or_: ("bitwise_or", "biu"),
    operator.xor: ("bitwise_xor", "biu"),
    operator.lshift: ("bitwise_left_shift", "iu"),
    operator.rshift: ("bitwise_right_shift", "iu"),
    operator.pow: ("pow", "iuf"),
    operator.lt: ("less", "biuf"),
    operator.le: ("less_equal", "biuf"),
    operator.eq: ("equal", "biufc"),
    operator.ne: ("not_equal", "biufc"),
    operator.gt: ("greater", "biuf"),
    operator.ge: ("greater_equal", "biuf"),
}


@pytest.mark.parametrize(
    ("how", "dtype"),
    [(how, dtype) for how in BINARY for dtype in EVERY_DTYPE if np.dtype(dtype).kind in BINARY[how][1]],
    ids=str,
)
def test_an_operator_is_its_function(how, dtype):
    name, _ = BINARY[how]
    x1, x2 = (xp.asarray(part, copy=True) for part in _operands(name, dtype))
    wanted = xp.asnumpy(FUNCTIONS[name](x1, x2))
    np.testing.assert_array_equal(xp.asnumpy(how(x1, x2)), wanted)


@pytest.mark.parametrize("dtype", [dtype for dtype in EVERY_DTYPE if np.dtype(dtype).kind in "iuf"])
def test_divmod_is_both_functions(dtype):
    x1, x2 = (xp.asarray(part, copy=True) for part in _operands("floor_divide", dtype))
    for left, right in ((x1, x2), (x1, 3), (100, x2)):
        quotient, remainder = divmod(left, right)
        np.testing.assert_array_equal(xp.asnumpy(quotient), xp.asnumpy(left // right))
        np.testing.assert_array_equal(xp.asnumpy(remainder), xp.asnumpy(left % right))
    with pytest.raises(TypeError, match="divmod"):
        divmod(x1, "three")


IN_PLACE = {
    operator.iadd: operator.add,
    operator.isub: operator.sub,
    operator.imul: operator.mul,
    operator.ifloordiv: operator.floordiv,
    operator.imod: operator.mod,
    operator.iand: operator.and_,
    operator.ior: operator.or_,
    operator.ixor: operator.xor,
    operator.ilshift: operator.lshift,
    operator.irshift: operator.rshift,
    operator.ipow: operator.pow,
}


@pytest.mark.parametrize("how", IN_PLACE, ids=lambda how: how.__name__)
def test_an_operator_in_place_changes_the_array_and_its_views(how):
    x = xp.asarray([5, 6, 7, 8], dtype="int64")
    view, wanted = x[1:], IN_PLACE[how](x, 2).tolist()
    result = how(x, 2)
    assert result is x
    assert x.tolist() == wanted
    assert view.tolist() == wanted[1:]


@pytest.mark.parametrize("dtype", [dtype for dtype in EVERY_DTYPE if dtype != "bool"])
def test_a_power_by_two_is_a_square_and_rounded_once(dtype):
    kind = np.dtype(dtype).kind
    host = np.arange(100).astype(dtype) / (1 if kind in "iu" else 7)
    host = (host * (1 - 0.7j) if kind == "c" else host).astype(dtype)
    x = xp.asarray(host)
    for power in [2] if kind in "iu" else [2, 2.0]:
        for made in (x**power, xp.pow(x, power)):
            assert made.dtype == x.dtype
            assert np.array_equal(xp.asnumpy(made), xp.asnumpy(xp.square(x)))
    y = xp.asarray(x, copy=True)
    y **= 2
    assert np.array_equal(xp.asnumpy(y), xp.asnumpy(xp.square(x)))
    if kind in "iuf":
        assert np.array_equal(xp.asnumpy(y), host * host)


def test_division_in_place_needs_floats():
    x = xp.asarray([1.0, 2.0])
    x /= 2
    assert x.tolist() == [0.5, 1.0]
    y = xp.asarray([1, 2])
    with pytest.raises(TypeError, match=r"divide.*float64.*int64"):
        y /= 2
    assert y.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        (operator.neg, [-1, 2]),
        (operator.pos, [1, -2]),
        (operator.abs, [1, 2]),
        (operator.invert, [-2, 1]),
    ],
)
def test_a_unary_operator_is_its_function(how, wanted):
    assert how(xp.asarray([1, -2])).tolist() == wanted


@given(
    x=st.floats(width=32, allow_nan=False),
    y=st.floats(width=32, allow_nan=False),
    how=st.sampled_from(["add", "subtract", "multiply", "divide", "maximum", "minimum", "copysign", "hypot"]),
)
def test_single_numbers_are_combined_as_numpy_does(x, y, how):
    x32, y32 = np.float32(x), np.float32(y)
    result = FUNCTIONS[how](xp.asarray(x32), xp.asarray(y32))
    with np.errstate(all="ignore"):
        wanted = getattr(np, how)(np.float64(x32), np.float64(y32))
    assert distance(xp.asnumpy(result), wanted) <= FUNCTIONS[how].ulp + 0.5


@given(
    start=st.integers(0, 40),
    count=st.integers(0, 40),
    step=st.integers(1, 4),
    dtype=st.sampled_from(["int8", "uint16", "float32", "complex128"]),
)
def test_a_part_of_a_row_is_computed_as_the_whole(start, count, step, dtype):
    values = np.arange(120).astype(dtype)
    piece = slice(start, start + count, step)
    x = xp.asarray(values, copy=True)
    np.testing.assert_array_equal(xp.asnumpy((x[piece] + x[piece]) * 3), (values[piece] + values[piece]) * 3)


def test_clip_bounds_from_either_side():
    x = xp.asarray([-2, -1, 0, 1, 2])
    assert xp.clip(x, -1, 1).tolist() == [-1, -1, 0, 1, 1]
    assert xp.clip(x, min=0).tolist() == [0, 0, 0, 1, 2]
    assert xp.clip(x, max=0).tolist() == [-2, -1, 0, 0, 0]
    assert xp.clip(x).tolist() == x.tolist()
    assert xp.clip(xp.asarray([1, 255], dtype="uint8"), -5, 1000).tolist() == [1, 255]
    assert xp.clip(x, xp.zeros_like(x), x + 1).tolist() == [-1, 0, 0, 1, 2]


def test_where_chooses():
    condition = xp.asarray([True, False, True])
    assert xp.where(condition, xp.asarray([1, 2, 3]), xp.asarray([4.5, 5.5, 6.5])).tolist() == [1.0, 5.5, 3.0]
    assert xp.where(condition, 1, xp.asarray([4, 5, 6])).tolist() == [1, 5, 1]
    assert xp.where(condition, xp.asarray(1.5), 0).tolist() == [1.5, 0.0, 1.5]
    out = xp.zeros(3, dtype="int64")
    assert xp.where(condition, xp.asarray([1, 2, 3]), xp.asarray([4, 5, 6]), out=out) is out
    assert out.tolist() == [1, 5, 3]
