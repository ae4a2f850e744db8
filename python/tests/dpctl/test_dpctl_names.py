"""The page of dpctl's names says what there is: no more, and no less."""

import inspect
import re
from pathlib import Path

import pytest

from millpond import dpctl

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "dpctl.md"

#: A row of a table: a name, perhaps with its signature, and what is different.
ROW = re.compile(r"^\| `([\w.]+)(\(.*\))?` \| (.*?) ?\|$")

HEADING = re.compile(r"^(##+) (?:`dpctl\.?(.*)`|(.*))$")

#: Whose names the parts of the page have that aren't headed by a name.
PARTS = {
    "Memory objects": dpctl.memory.MemoryUSMShared,
    "A queue's order manager": type(dpctl.utils.SequentialOrderManager[dpctl.SyclQueue()]),
}


def rows():
    """Yield whose name it is, the name, its signature and what is different."""
    owner = None
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if heading := HEADING.match(line):
            _, path, part = heading.groups()
            if path is not None:
                owner = dpctl
                for name in filter(None, path.split(".")):
                    owner = getattr(owner, name)
            elif part in PARTS:
                owner = PARTS[part]
        elif row := ROW.match(line):
            yield owner, *row.groups()


ROWS = list(rows())


def signature(function):
    """A function's parameters as the page has them."""
    parameters = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for name, parameter in inspect.signature(function).parameters.items()
        if name != "self"
    ]
    return re.sub(r"<(\w+\.\w+): \d+>", r"\1", str(inspect.Signature(parameters)))


def title(row):
    owner, name, *_ = row
    return f"{owner.__name__.removeprefix('millpond.')}.{name}"


def test_the_page_is_read():
    assert len(ROWS) > 400


@pytest.mark.parametrize("row", ROWS, ids=map(title, ROWS))
def test_each_name_of_the_page_is_there_with_its_arguments(row):
    owner, name, arguments, difference = row
    if difference.startswith("not there"):
        assert not hasattr(owner, name)
        return
    assert hasattr(owner, name)
    if arguments is not None:
        assert signature(getattr(owner, name)) == arguments


@pytest.mark.parametrize("owner", dict.fromkeys(row[0] for row in ROWS), ids=lambda owner: owner.__name__)
def test_each_name_that_is_there_is_on_the_page(owner):
    named = {name for other, name, *_ in ROWS if other is owner}
    if inspect.ismodule(owner):
        there = {name for name in owner.__all__ if not inspect.ismodule(getattr(owner, name))}
    elif owner is dpctl.memory.MemoryUSMShared:
        # Memory objects have millpond's own names besides.
        there = {name for base in owner.__mro__[:2] for name in vars(base)}
    else:
        there = set(vars(owner))
    assert {name for name in there if not name.startswith("_")} <= named
