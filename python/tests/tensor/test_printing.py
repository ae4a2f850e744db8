"""Arrays are printed as NumPy prints its own."""

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
