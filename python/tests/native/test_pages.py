"""The first extensions and the first program of the guide, followed to the letter in empty folders."""

import os
import re
import sys
from pathlib import Path

import pytest

import millpond

from .compiler import STRICT, compiler, execute, library
from .guide import files, section

#: What sections begin with, the files that they name, and the compiler that they need.
FIRST = {
    "A first extension, from nothing": ({"first.cpp", "setup.py", "use.py"}, "c++"),
    "The same in Cython": ({"first.pyx", "setup.py"}, "cc"),
    "The same by nanobind and CMake": ({"first.cpp", "CMakeLists.txt"}, "c++"),
    "A first program in C": ({"first.c"}, "cc"),
}


@pytest.mark.parametrize("title", FIRST)
def test_what_is_made_first_works(tmp_path, title):
    names, needed = FIRST[title]
    compiler(needed)
    if title == "A first program in C":
        library()
    text = section(title)
    assert set(files(text)) == names
    for name, content in (files(section("A first extension, from nothing")) | files(text)).items():
        (tmp_path / name).write_text(content)
    commands = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    # The packages are those of these tests.
    commands = [command for command in commands if "pip install" not in command]
    # Programs of the packages are beside Python; compilers needn't make it fast.
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    quick = {"CFLAGS": "-O0 -g0", "CXXFLAGS": "-O0 -g0"}
    printed = [execute("sh", "-ec", command, within=tmp_path, PATH=path, **quick) for command in commands]
    assert f"It prints `{printed[-1].splitlines()[-1]}`" in text


def test_the_lines_of_a_task_compile(tmp_path):
    (lines,) = re.findall(r"^```c\n(.*?)^```", section("Tasks"), re.MULTILINE | re.DOTALL)
    given = "mp_array *x, mp_array *y, mp_queue *queue, mp_status (*run)(void *), void *work, mp_event *event"
    source = tmp_path / "tasks.c"
    source.write_text(f"#include <stdlib.h>\n#include <millpond.h>\nvoid f({given});\nvoid f({given}) {{\n{lines}}}\n")
    execute(compiler("cc"), "-std=c11", *STRICT, "-fsyntax-only", f"-I{millpond.get_include()}", source)


def test_the_lines_of_a_stream_compile(tmp_path):
    (lines,) = re.findall(r"^```cpp\n(.*?)^```", section("Work that millpond doesn't run"), re.MULTILINE | re.DOTALL)
    source = tmp_path / "streams.cpp"
    kernel = "void launch_scale(double *elements, std::size_t size, double factor, void *stream);"
    source.write_text(f"#include <millpond.hpp>\n{kernel}\n{lines}")
    execute(compiler("c++"), "-std=c++17", *STRICT, "-fsyntax-only", f"-I{millpond.get_include()}", source)
