"""The stub says of each name what the module does."""

import ast
import inspect
from pathlib import Path

import pytest

import millpond.tensor as xp


class Stub:
    """What the stub of a module has."""

    def __init__(self, module):
        self.module = module
        self.body = ast.parse(Path(module.__file__).with_suffix(".pyi").read_text()).body
        self.functions = {node.name: node for node in self.body if isinstance(node, ast.FunctionDef)}
        self.classes = {node.name: node for node in self.body if isinstance(node, ast.ClassDef)}
        self.values = {node.target.id: node.annotation for node in self.body if isinstance(node, ast.AnnAssign)}
        # A name that is imported by its own name is handed on.
        imports = [name for node in self.body if isinstance(node, ast.ImportFrom) for name in node.names]
        self.imported = {name.name for name in imports if name.asname == name.name}


STUBS = {module: Stub(module) for module in (xp, xp.fft, xp.linalg)}
CLASSES = STUBS[xp].classes
VALUES = STUBS[xp].values


@pytest.mark.parametrize("module", STUBS)
def test_every_name_has_a_stub(module):
    stub = STUBS[module]
    named = {*stub.functions, *stub.classes, *stub.values, *stub.imported}
    assert set(module.__all__) - named == set()
    assert {name for name in named - set(module.__all__) if not name.startswith("_")} == set()


@pytest.mark.parametrize(
    ("module", "name"),
    [(module, name) for module, stub in STUBS.items() for name in stub.functions if not name.startswith("__")],
)
def test_a_function_takes_what_its_stub_says(module, name):
    arguments = STUBS[module].functions[name].args
    signature = inspect.signature(getattr(module, name))
    ours = signature.parameters.values()
    kinds = inspect.Parameter
    assert [p.name for p in ours if p.kind is kinds.POSITIONAL_ONLY] == [a.arg for a in arguments.posonlyargs]
    assert [p.name for p in ours if p.kind is kinds.POSITIONAL_OR_KEYWORD] == [a.arg for a in arguments.args]
    assert {p.name for p in ours if p.kind is kinds.KEYWORD_ONLY} == {a.arg for a in arguments.kwonlyargs}
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    positional = [*arguments.posonlyargs, *arguments.args]
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    for argument, default in [*keywords, *zip(positional, defaults, strict=True)]:
        parameter = signature.parameters[argument.arg]
        if default is None:
            assert parameter.default is kinds.empty
        else:
            assert ast.literal_eval(default) == parameter.default


@pytest.mark.parametrize("name", [name for name in CLASSES if not name.startswith("_")])
def test_a_class_has_what_its_stub_says(name):
    stubbed = {node.name for node in CLASSES[name].body if isinstance(node, ast.FunctionDef)} - {"__buffer__"}
    ours = {member for part in getattr(xp, name).__mro__[:-1] for member in vars(part)}
    assert stubbed - ours == set()
    assert {member for member in ours - stubbed if not member.startswith("_")} == set()


def test_values_are_of_the_class_that_the_stub_says():
    for name, annotation in VALUES.items():
        if name.startswith("_") or ast.unparse(annotation) == "TypeAlias":
            continue
        kind = ast.unparse(annotation).removeprefix("Final[").removesuffix("]")
        assert type(getattr(xp, name)).__name__ == {"None": "NoneType", "_dtype": "dtype"}.get(kind, kind)
