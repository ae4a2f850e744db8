"""What can't be combined is refused at the call, with a message that names it."""

import numpy as np
import pytest

import millpond.tensor as xp

ARITHMETIC = ["+", "-", "*", "/", "//", "%", "**", "<", "<=", "==", "!=", ">", ">="]


@pytest.mark.parametrize("symbol", ARITHMETIC)
def test_arrays_of_numpy_are_never_taken_unasked(symbol):
    names = {"x": xp.ones(3), "a": np.ones(3)}
    for text in (f"x {symbol} a", f"a {symbol} x"):
        with pytest.raises(TypeError, match=r"NumPy array.*asarray.*asnumpy"):
            eval(text, names)


def test_arrays_of_numpy_are_refused_in_place_too():
    x, a = xp.ones(3), np.ones(3)
    with pytest.raises(TypeError, match="NumPy array"):
        x += a
    with pytest.raises(TypeError):
        a += x
    with pytest.raises(TypeError, match="NumPy array"):
        xp.add(x, a)
    with pytest.raises(TypeError, match="NumPy array"):
        xp.sum(a)


@pytest.mark.parametrize("other", ["a", None, [1, 2], {}, object()], ids=lambda other: type(other).__name__)
def test_strangers_get_their_turn_and_then_an_error(other):
    x = xp.ones(2)
    with pytest.raises(TypeError, match="unsupported operand"):
        x + other
    with pytest.raises(TypeError, match="unsupported operand"):
        other - x
    with pytest.raises(TypeError, match="in place"):
        x += other
    assert (x == other) is False
    assert (x != other) is True


def test_a_class_that_knows_arrays_is_asked():
    class Clever:
        def __radd__(self, other):
            return "clever", other.shape

    assert xp.ones(2) + Clever() == ("clever", (2,))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: xp.add(x), TypeError, "add: takes 2 positional arguments, 1 were given"),
        (lambda x: xp.sin(x, x), TypeError, "sin: takes 1 positional arguments, 2 were given"),
        (lambda x: xp.add(1, 2), TypeError, "add: at least one operand must be an array"),
        (lambda x: xp.add(x, "a"), TypeError, "add: expected an array or a number, got 'a'"),
        (lambda x: xp.add(x1=x, x2=x), TypeError, "unexpected keyword"),
        (lambda x: xp.add(x, x, order="Q"), ValueError, "'Q'"),
        (lambda x: xp.sin(x, out=np.ones(3)), TypeError, "out: expected an array of millpond, got"),
        (lambda x: xp.clip(x, 0, 1, out=[0]), TypeError, "out: expected an array of millpond, got"),
        (lambda x: xp.where(x > 0, x, x, out=1.0), TypeError, "out: expected an array of millpond, got"),
        (lambda x: xp.sum([1, 2]), TypeError, r"expected an array, got \[1, 2\].*asarray"),
        (lambda x: xp.bitwise_and(x, x), TypeError, "bitwise_and is not defined for float64"),
        (lambda x: xp.subtract(x > 0, x > 0), TypeError, "subtract is not defined for bool and bool"),
        (lambda x: ~x, TypeError, "bitwise_invert is not defined for float64"),
        (lambda x: xp.add(x, x, out=xp.ones(4)), ValueError, r"add: the output has shape \(4,\)"),
        (lambda x: xp.add(x, x, out=xp.ones(3, dtype="int64")), TypeError, "float64 to int64"),
        (lambda x: xp.where(x, x, x), TypeError, "where is not defined for float64"),
        (lambda x: xp.reshape(x, (2, 2)), ValueError, r"shape \(3,\) into shape \(2, 2\)"),
        (lambda x: xp.astype(xp.asarray([1j]), "float32"), TypeError, "complex128 to float32"),
        (lambda x: xp.astype(x, "float128"), TypeError, "'float128'.* is no dtype"),
        (lambda x: x.__array_namespace__(api_version="1999.01"), ValueError, "'1999.01'"),
        (lambda x: xp.zeros(3, dtype=[]), TypeError, "is no dtype"),
        (lambda x: pow(x, 2, 3), TypeError, "modulus"),
        (lambda x: xp.Array(), TypeError, "Array"),
        (lambda x: hash(x), TypeError, "unhashable"),
        (lambda x: x.to_device("nowhere"), ValueError, "nowhere"),
    ],
)
def test_wrong_arguments_are_named(call, error, message):
    with pytest.raises(error, match=message):
        call(xp.ones(3))


@pytest.mark.parametrize(
    "call",
    [
        lambda x, number: xp.zeros(number),
        lambda x, number: xp.zeros((2, number)),
        lambda x, number: xp.zeros([2, number]),
        lambda x, number: xp.eye(number),
        lambda x, number: xp.eye(2, number),
        lambda x, number: xp.linspace(0, 1, number),
        lambda x, number: xp.sum(x, axis=number),
        lambda x, number: xp.argmax(x, axis=number),
        lambda x, number: xp.concat([x], axis=number),
        lambda x, number: xp.stack([x], axis=number),
        lambda x, number: xp.flip(x, axis=number),
        lambda x, number: xp.roll(x, number),
        lambda x, number: xp.repeat(x, 2, axis=number),
        lambda x, number: xp.moveaxis(x, number, 0),
        lambda x, number: xp.swapaxes(x, 0, number),
        lambda x, number: xp.reshape(x, number),
        lambda x, number: xp.diff(x, axis=number),
        lambda x, number: xp.diff(x, n=number),
    ],
)
def test_sizes_and_axes_are_integers(call):
    class Broken:
        def __index__(self):
            raise RuntimeError("no index")

    x = xp.ones((2, 2))
    with pytest.raises(TypeError, match=r"expected an integer.*got .*1\.5"):
        call(x, 1.5)
    with pytest.raises(TypeError, match=r"expected an integer.*got .*'a'"):
        call(x, "a")
    with pytest.raises(OverflowError, match=r"1180591620717411303424 \(of type int\) does not fit"):
        call(x, 2**70)
    with pytest.raises(RuntimeError, match="no index"):
        call(x, Broken())


@pytest.mark.parametrize("far", [5, 2**63 - 1, 2**63, 2**70])
def test_a_diagonal_may_be_as_far_away_as_it_likes(far):
    x = xp.ones((2, 3))
    for k, below in ((far, True), (-far, False)):
        assert not xp.any(xp.eye(2, 3, k=k))
        assert xp.all(xp.tril(x, k=k) == below)
        assert xp.all(xp.triu(x, k=k) != below)
    for call in (lambda k: xp.eye(2, k=k), lambda k: xp.tril(x, k=k), lambda k: xp.triu(x, k=k)):
        with pytest.raises(TypeError, match=r"expected an integer.*got .*1\.5"):
            call(1.5)


@pytest.mark.parametrize("call", [lambda: xp.eye(-2), lambda: xp.eye(2, -2), lambda: xp.diff(xp.ones(3), n=-2)])
def test_counts_are_not_negative(call):
    with pytest.raises(ValueError, match=r"expected 0 or more, got -2"):
        call()


def test_integers_too_long_to_print_are_refused_without_a_word_elsewhere(capfd):
    long = 10**5000
    for call in (
        lambda: xp.asarray(long),
        lambda: xp.ones(2) + long,
        lambda: xp.zeros(long),
        lambda: xp.sum(xp.ones(2), axis=long),
    ):
        with pytest.raises(OverflowError, match="an object of type int"):
            call()
    with pytest.raises(IndexError, match="an object of type int"):
        xp.ones(2)[long]
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("how", [int, float, complex, bool])
def test_only_arrays_of_no_dimension_become_numbers(how):
    for shape in ((2,), (1, 1)):
        with pytest.raises(ValueError if how is bool else TypeError, match=rf"shape \({shape[0]}"):
            how(xp.ones(shape))


def test_numbers_come_back_as_python_has_them():
    assert (type(int(xp.asarray(3.7))), int(xp.asarray(3.7))) == (int, 3)
    assert float(xp.asarray(2)) == 2.0
    assert complex(xp.asarray(1 + 2j)) == 1 + 2j
    assert bool(xp.asarray(0)) is False
    assert [1, 2, 3][xp.asarray(1, dtype="uint8")] == 2
    assert xp.asarray(2**64 - 1, dtype="uint64").item() == 2**64 - 1
    assert xp.ones((1, 1)).item() == 1.0
    for how, value, error in [
        (float, 1j, TypeError),
        (int, float("nan"), ValueError),
        (int, float("inf"), OverflowError),
    ]:
        with pytest.raises(error):
            how(xp.asarray(value))
    with pytest.raises(TypeError, match="float64 cannot be used as an integer"):
        [1, 2][xp.asarray(1.0)]
    with pytest.raises(ValueError, match="item"):
        xp.ones(2).item()


@pytest.mark.parametrize("several", [{}, {2: 1}, {2, 1}, frozenset({1}), b"\x02", bytearray(b"\x02")], ids=repr)
def test_what_has_no_order_or_another_meaning_is_no_sequence_of_integers(several):
    x = xp.ones((2, 3))
    for call in (
        lambda: xp.zeros(several),
        lambda: xp.sum(x, axis=several),
        lambda: xp.reshape(x, several),
        lambda: xp.permute_dims(x, several),
        lambda: xp.tile(x, several),
    ):
        with pytest.raises(TypeError, match="expected an integer or a sequence of integers, got"):
            call()
    for sequence in ([3, 2], (3, 2), range(3, 1, -1), np.asarray([3, 2]), xp.asarray([3, 2])):
        assert xp.reshape(x, sequence).shape == (3, 2)
