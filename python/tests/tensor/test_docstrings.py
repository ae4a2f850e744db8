"""Each public function and method says what it takes, gives and refuses, whose rule it is, and shows it.

The pages of the reference are made of these docstrings, by the program that takes them apart here too.
"""

import doctest
import importlib.util
import inspect
import re
import sys
from pathlib import Path

import pytest

import millpond.tensor as xp

PROGRAM = Path(__file__).parents[3] / "xtask" / "reference_pages.py"


def _load():
    spec = importlib.util.spec_from_file_location("reference_pages", PROGRAM)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


pages = _load()
#: What programs name, but don't call; and classes of results, which functions document.
NOT_CALLED = {"Array", "ElementwiseFunction"}
RESULTS = {"EigResult", "EighResult", "LinAlgError", "QRResult", "SVDResult", "SlogdetResult"}
INFO = type(xp.__array_namespace_info__())
#: What Python, NumPy and other libraries call, where the standard asks for nothing.
UNASKED = {
    *("__array__", "__array_function__", "__array_ufunc__", "__complex__", "__copy__", "__deepcopy__", "__reduce_ex__"),
    "__format__",
}

CALLABLE = {
    f"{owner}.{name}": getattr(module, name)
    for owner, module in (("xp", xp), ("xp.linalg", xp.linalg), ("xp.fft", xp.fft))
    for name in module.__all__
    if callable(getattr(module, name)) and name not in NOT_CALLED | RESULTS
}
CALLABLE |= {
    f"{owner}.{name}": method
    for owner, kind in (("x", xp.Array), ("info", INFO))
    for name, method in sorted(vars(kind).items())
    # Those of operators are of another type, and have what Python says of all of them.
    if type(method) is type(str.join) and name not in UNASKED
}
CLASSES = {"Array": xp.Array, "Flags": type(xp.ones(1).flags), "dtype": xp.dtype, "finfo": xp.finfo, "iinfo": xp.iinfo}
ATTRIBUTES = {
    f"{owner}.{name}": attribute
    for owner, kind in CLASSES.items()
    for name, attribute in sorted(vars(kind).items())
    if inspect.isdatadescriptor(attribute) and not name.startswith("_")
}


def _doc(name):
    return pages.Docstring.of(CALLABLE[name])


def test_all_sorts_of_callables_are_looked_at():
    some = {"xp.zeros", "xp.add", "xp.sum", "xp.finfo", "xp.fft.fft", "xp.linalg.det", "x.tolist", "info.devices"}
    assert some <= set(CALLABLE)
    assert {"Array.shape", "Flags.writable", "dtype.kind", "finfo.eps", "iinfo.max"} <= set(ATTRIBUTES)


@pytest.mark.parametrize("name", CALLABLE)
def test_a_docstring_says_what_is_given_and_refused(name):
    doc = _doc(name)
    assert re.fullmatch(r"[A-Z`].*[.]", doc.summary)
    # A call of a class gives an object of it.
    wanted = {"Raises", "Notes", "Examples"} | ({"Returns"} if not isinstance(CALLABLE[name], type) else set())
    assert wanted <= set(doc.sections)
    for section in {"Returns", "Raises"} & set(doc.sections):
        items = dict(doc.items(section))
        assert items
        assert all(text.endswith(".") for text in items.values())


@pytest.mark.parametrize("name", CALLABLE)
def test_a_docstring_names_each_parameter(name):
    parameters = inspect.signature(CALLABLE[name]).parameters
    items = [(names, text) for names, text in _doc(name).items("Parameters")]
    named = [name.lstrip("*") for names, _ in items for name in names.partition(" : ")[0].split(", ")]
    assert sorted(named) == sorted(parameter for parameter in parameters if parameter != "self")
    assert all(text.endswith(".") for _, text in items)


@pytest.mark.parametrize("name", CALLABLE)
def test_a_docstring_says_where_the_standard_has_it(name):
    doc = _doc(name)
    assert doc.chapter in pages.CHAPTERS
    beyond = " ".join(doc.sections["Notes"]).partition("beyond it: ")[2]
    known = {*inspect.signature(CALLABLE[name]).parameters, *vars(xp.finfo)}
    assert set(re.findall(r"`(\w+)`", beyond)) <= known


@pytest.mark.parametrize("name", CALLABLE)
def test_an_example_shows_the_function_and_gives_what_it_says(name):
    examples = doctest.DocTestParser().get_examples("\n".join(_doc(name).sections["Examples"]))
    assert examples
    called = name.rpartition(".")[2].strip("_").removesuffix("_device")
    assert any(called in example.source for example in examples)
    told: list[str] = []
    test = doctest.DocTest(examples, {}, name, None, None, None)
    assert doctest.DocTestRunner().run(test, out=told.append).failed == 0, "".join(told)


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_an_attribute_says_what_it_is(name):
    assert re.fullmatch(r"[A-Z].*[.]", pages.Docstring.of(ATTRIBUTES[name]).summary)


def test_every_callable_is_on_a_page():
    found = {f"{entry.owner}.{entry.name}" for entry in pages.entries()}
    # What the main namespace has too is documented there.
    twice = {name for name in CALLABLE if name.startswith("xp.linalg.") and f"xp.{name[10:]}" in CALLABLE}
    assert found == set(CALLABLE) - twice
    text = {chapter: (pages.FOLDER / pages.page_of(chapter)).read_text() for chapter in pages.CHAPTERS}
    for entry in pages.entries():
        assert f"\n## {entry.heading}\n" in text[entry.chapter]
