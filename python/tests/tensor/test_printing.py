"""Arrays are printed as NumPy prints its own."""

import math

import numpy as np
import pytest

import millpond.tensor as xp

VALUES = [
    np.arange(3),
    np.asarray([1.5, 2.25, -3]),
    np.asarray([1e-10, 1.0]),
    np.asarray([True, False]),
    np.asarray([1 + 2j, -0.5j]),
    np.asarray([np.nan, np.inf, -np.inf]),
    np.arange(12).reshape(3, 4),
    np.arange(24.0).reshape(2, 3, 4),
    np.arange(2000),
    np.zeros((40, 40)),
    np.asarray(3.25),
    np.linspace(0, 1, 7, dtype=np.float32),
    np.arange(40) * 1000,
]


@pytest.mark.parametrize("values", VALUES, ids=lambda values: f"{values.dtype}{values.shape}")
def test_text_is_numpys(values):
    assert str(xp.asarray(values)) == str(values)


def test_a_representation_names_what_the_elements_do_not_tell():
    assert repr(xp.asarray([1, 2])) == "Array([1, 2])"
    assert repr(xp.asarray([1, 2], dtype="int8")) == "Array([1, 2], dtype=int8)"
    assert repr(xp.zeros((0, 2))) == "Array([], shape=(0, 2), dtype=float64)"


EVERY_DTYPE = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
SHAPES = [(), (1,), (3,), (7,), (40,), (0,), (0, 3), (2, 3), (3, 1), (2, 2, 2), (2, 1, 3, 2), (30, 40), (1001,)]
AWKWARD = [0.1, 1 / 3, 1e-5, 123456.789, 9.99999999, 0.99999, 1000, 1001, 6e-9, 0.0001, 0.0625, 999.5, 2.0**-12, 1e8]
CHOICES = {
    "threshold": [0, 5, 1000],
    "edgeitems": [0, 1, 2, 5],
    "linewidth": [1, 10, 40, 120],
    "precision": [0, 1, 3, 8, 17, 20],
    "floatmode": ["fixed", "unique", "maxprec", "maxprec_equal"],
    "suppress": [True],
    "nanstr": ["NaN", "n", "missing value"],
    "infstr": ["Infinity", "\N{INFINITY}"],
    "sign": ["+", " "],
}


def _numbers(rng, dtype, size):
    if dtype.kind == "c":
        half = np.dtype(f"f{dtype.itemsize // 2}")
        return (_numbers(rng, half, size) + dtype.type(1j) * _numbers(rng, half, size)).astype(dtype)
    if dtype.kind in "biu":
        return rng.integers(0, 120, size).astype(dtype) if rng.random() < 0.5 else _bits(rng, dtype, size)
    numbers = [
        lambda: _bits(rng, dtype, size),
        lambda: rng.integers(-20, 20, size),
        lambda: rng.normal(size=size) * 10.0 ** rng.integers(-4, 5),
        lambda: 10.0 ** rng.uniform(-12, 12, size),
        lambda: 2.0 ** rng.integers(-40, 40, size),
        lambda: rng.choice(AWKWARD, size),
        lambda: np.full(size, rng.choice([0.0, -0.0, np.nan, np.inf, -np.inf, 1e9])),
    ][rng.integers(7)]().astype(dtype)
    for special in (np.nan, np.inf, -np.inf, -0.0):
        if size and rng.random() < 0.2:
            numbers[rng.integers(0, size, size // 5 + 1)] = special
    return numbers


def _bits(rng, dtype, size):
    if dtype.kind == "b":
        return rng.integers(0, 2, size).astype(bool)
    return np.frombuffer(rng.bytes(size * dtype.itemsize), dtype).copy()


# Older versions of NumPy change to exponents where `float64` does, whatever the dtype.
IS_RECENT = str(np.float32(2.0**39)) == "5.497558e+11"


@pytest.mark.parametrize("dtype", EVERY_DTYPE)
def test_every_array_prints_as_numpys_does(dtype):
    if dtype in ("float16", "float32", "complex64") and not IS_RECENT:
        pytest.skip("this NumPy prints narrow floats otherwise")
    rng = np.random.default_rng(EVERY_DTYPE.index(dtype))
    for _ in range(150):
        shape = SHAPES[rng.integers(len(SHAPES))]
        with np.errstate(all="ignore"):
            theirs = _numbers(rng, np.dtype(dtype), math.prod(shape)).reshape(shape)
        options = {name: choice[rng.integers(len(choice))] for name, choice in CHOICES.items() if rng.random() < 0.3}
        ours = xp.asarray(theirs)
        with np.printoptions(**options), xp.print_options(**options):
            assert str(ours) == str(theirs), (options, shape)
            # The class has as many letters.
            assert repr(ours) == "A" + repr(theirs)[1:], (options, shape)


def test_every_half_prints_as_numpys_does():
    halves = np.arange(2**16).astype(np.uint16).view(np.float16)
    options = {"threshold": 2**16, "floatmode": "unique"}
    with np.printoptions(**options), xp.print_options(**options):
        assert str(xp.asarray(halves)) == str(halves)
    if IS_RECENT:
        assert all(str(xp.asarray(half)) == str(half) for half in halves[:: 2**5])


def test_an_endless_threshold_prints_everything():
    with xp.print_options(threshold=float("inf")):
        assert "..." not in str(xp.arange(2000))


def test_options_hold_for_a_block():
    x = xp.asarray([1 / 3])
    with xp.print_options(precision=3) as options:
        assert options["precision"] == 3
        assert str(x) == "[0.333]"
        with xp.print_options(precision=1, sign="+"):
            assert str(x) == "[+0.3]"
        assert str(x) == "[0.333]"
    assert str(x) == "[0.33333333]"


def test_options_are_set_and_told():
    before = xp.get_print_options()
    try:
        xp.set_print_options(threshold=3, edgeitems=1)
        assert str(xp.arange(5)) == "[0 ... 4]"
        assert xp.get_print_options()["threshold"] == 3
    finally:
        xp.set_print_options(**before)
    assert xp.get_print_options() == before


def test_options_may_be_numpys_and_come_by_place():
    x = xp.asarray([np.pi, 1000.5])
    with np.printoptions(precision=2, suppress=True, nanstr="missing"), xp.print_options(numpy=True) as options:
        assert (options["precision"], options["suppress"], options["nanstr"]) == (2, True, "missing")
        assert str(x) == str(np.asarray(x))
        with xp.print_options(75, 3, 1000, 1):
            assert str(x) == "[   3.1 1000.5]"
        with xp.print_options(numpy=True, precision=4):
            assert str(x) == "[   3.1416 1000.5   ]"
    assert xp.get_print_options()["precision"] == 8
    before = xp.get_print_options()
    try:
        xp.set_print_options(40, 2)
        assert [xp.get_print_options()[name] for name in ("linewidth", "edgeitems")] == [40, 2]
    finally:
        xp.set_print_options(**before)


def test_an_option_is_given_once():
    with pytest.raises(TypeError, match="linewidth is given twice"):
        xp.set_print_options(75, linewidth=75)
    with pytest.raises(TypeError, match="11 are given, there are 10"):
        xp.print_options(*[None] * 11)


@pytest.mark.parametrize("values", VALUES, ids=lambda values: f"{values.dtype}{values.shape}")
@pytest.mark.parametrize("separator", [" ", ", ", ";"])
def test_a_text_takes_options_of_its_own(values, separator):
    before = xp.get_print_options()
    text = xp.array_str(
        xp.asarray(values), 40, precision=2, threshold=20, edge_items=2, separator=separator, prefix="x = ", suffix="!"
    )
    with np.printoptions(linewidth=40, precision=2, threshold=20, edgeitems=2):
        assert text == np.array2string(values, separator=separator, prefix="x = ", suffix="!")
    assert xp.get_print_options() == before


def test_a_representation_takes_options_of_its_own():
    x = xp.asarray([np.pi, 1e-5])
    assert xp.array_repr(x) == repr(x)
    assert xp.array_repr(x, precision=1) == "Array([3.1e+00, 1.0e-05])"
    assert xp.array_repr(x, precision=1, suppress=True) == "Array([3.1, 0. ])"
    assert xp.array_repr(xp.arange(10), line_width=24, prefix="a") == "a([0, 1, 2, 3, 4, 5, 6,\n   7, 8, 9])"
    with pytest.raises(ValueError, match="precision"):
        xp.array_repr(x, precision=-1)
    with pytest.raises(ValueError, match="sign"):
        xp.array_str(x, sign="x")
    with pytest.raises(TypeError, match="expected an array"):
        xp.array_str([1])


@pytest.mark.parametrize(
    ("option", "error"),
    [
        ({"colour": 1}, TypeError),
        ({"sign": "x"}, ValueError),
        ({"floatmode": "x"}, ValueError),
        ({"precision": -1}, ValueError),
        ({"precision": 70_000}, ValueError),
        ({"precision": 10**5000}, ValueError),
        ({"threshold": "all"}, ValueError),
        ({"edgeitems": 1.5}, ValueError),
    ],
)
def test_wrong_options_are_refused(option, error):
    with pytest.raises(error, match=next(iter(option))):
        xp.set_print_options(**option)
    with pytest.raises(error, match=next(iter(option))):
        xp.print_options(**option)


def test_as_many_digits_are_printed_as_there_are():
    with xp.print_options(precision=1100, floatmode="fixed"):
        assert str(xp.asarray([5e-324])).endswith("e-324]")


def test_a_number_is_formatted():
    assert f"{xp.asarray(3.14159):.2f}" == "3.14"
    assert f"{xp.asarray([1, 2])}" == "[1 2]"
    with pytest.raises(TypeError, match="1 dimensions"):
        format(xp.ones(1), ".2f")
