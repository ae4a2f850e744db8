"""The first extension of the guide, followed to the letter in an empty folder."""

import re
import sys
from pathlib import Path

import millpond

from .compiler import STRICT, compiler, execute

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "native.md"


def section(title: str) -> str:
    """The text below a heading."""
    text = PAGE.read_text(encoding="utf-8").partition(f"## {title}\n")[2]
    return text.partition("\n## ")[0]


def files(text: str) -> dict[str, str]:
    """What the text says is in each file that it names at the begin of a paragraph."""
    found = re.findall(r"^`(\w+\.\w+)`[^\n]*\n\n```\w+\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return dict(found)


def test_the_first_extension_works(tmp_path):
    compiler("c++")
    text = section("A first extension, from nothing")
    for name, content in files(text).items():
        (tmp_path / name).write_text(content)
    assert {path.name for path in tmp_path.iterdir()} == {"first.cpp", "setup.py", "use.py"}
    install, *commands = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert "pip install" in install, "the packages are those of these tests"
    printed = ""
    for command in commands:
        words = command.split()
        assert words[0] == "python"
        printed = execute(sys.executable, *words[1:], within=tmp_path, CFLAGS="-O0 -g0")
    assert f"It prints `{printed.strip()}`" in text


def test_the_lines_of_a_task_compile(tmp_path):
    (lines,) = re.findall(r"^```c\n(.*?)^```", section("Tasks"), re.MULTILINE | re.DOTALL)
    given = "mp_array *x, mp_array *y, mp_queue *queue, mp_status (*run)(void *), void *work, mp_event *event"
    source = tmp_path / "tasks.c"
    source.write_text(f"#include <stdlib.h>\n#include <millpond.h>\nvoid f({given});\nvoid f({given}) {{\n{lines}}}\n")
    execute(compiler("cc"), "-std=c11", *STRICT, "-fsyntax-only", f"-I{millpond.get_include()}", source)
