"""The examples of docstrings give what they say."""

import doctest

import pytest

import millpond.tensor as xp

EXAMPLES = {
    name: examples
    for name in xp.__all__
    if isinstance(text := getattr(xp, name).__doc__, str)
    if (examples := doctest.DocTestParser().get_examples(text))
}


def test_there_are_examples():
    assert {"take", "nonzero", "place"} <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_gives_what_it_says(name):
    test = doctest.DocTest(EXAMPLES[name], {}, name, None, None, None)
    told: list[str] = []
    assert doctest.DocTestRunner().run(test, out=told.append).failed == 0, "".join(told)
