"""The stub says of each name what the module does."""

import ast
import inspect
from pathlib import Path

import pytest

import millpond.tensor as xp

STUB = ast.parse(Path(xp.__file__).with_suffix(".pyi").read_text())
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
CLASSES = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
VALUES = {node.target.id: node.annotation for node in STUB.body if isinstance(node, ast.AnnAssign)}


def test_every_name_has_a_stub():
    named = {*FUNCTIONS, *CLASSES, *VALUES}
    assert set(xp.__all__) - named == set()
    assert {name for name in named - set(xp.__all__) if not name.startswith("_")} == set()


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if not name.startswith("__")])
def test_a_function_takes_what_its_stub_says(name):
    arguments = FUNCTIONS[name].args
    ours = inspect.signature(getattr(xp, name)).parameters.values()
    kinds = inspect.Parameter
    assert [p.name for p in ours if p.kind is kinds.POSITIONAL_ONLY] == [a.arg for a in arguments.posonlyargs]
    assert [p.name for p in ours if p.kind is kinds.POSITIONAL_OR_KEYWORD] == [a.arg for a in arguments.args]
    assert {p.name for p in ours if p.kind is kinds.KEYWORD_ONLY} == {a.arg for a in arguments.kwonlyargs}
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    for argument, default in [*keywords, *zip(positional, defaults, strict=True)]:
        parameter = inspect.signature(getattr(xp, name)).parameters[argument.arg]
        if default is None:
            assert parameter.default is kinds.empty
        else:
            assert ast.literal_eval(default) == parameter.default


@pytest.mark.parametrize("name", [name for name in CLASSES if not name.startswith("_")])
def test_a_class_has_what_its_stub_says(name):
    stubbed = {node.name for node in CLASSES[name].body if isinstance(node, ast.FunctionDef)} - {"__buffer__"}
    ours = set(vars(getattr(xp, name)))
    assert stubbed - ours == set()
    assert {member for member in ours - stubbed if not member.startswith("_")} == set()


def test_values_are_of_the_class_that_the_stub_says():
    for name, annotation in VALUES.items():
        if name.startswith("_") or ast.unparse(annotation) == "TypeAlias":
            continue
        kind = ast.unparse(annotation).removeprefix("Final[").removesuffix("]")
        assert type(getattr(xp, name)).__name__ == {"None": "NoneType", "_dtype": "dtype"}.get(kind, kind)
