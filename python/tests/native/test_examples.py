"""The examples of native extensions, built from the installed package in a fresh folder."""

import shutil
import sys
from pathlib import Path

import pytest

from .compiler import compiler, library, run

EXAMPLES = Path(__file__).parents[3] / "examples" / "native"

#: Where programs of Python packages are.
PROGRAMS = str(Path(sys.executable).parent)


@pytest.fixture
def fresh(request, tmp_path):
    """A copy of an example."""
    return Path(shutil.copytree(EXAMPLES / request.param, tmp_path / request.param))


@pytest.mark.parametrize("fresh", ["c"], indirect=True)
def test_a_program_in_c(fresh):
    compiler("cc")
    library()
    cmake, ninja = (shutil.which(name, path=PROGRAMS) or name for name in ("cmake", "ninja"))
    package = run(sys.executable, "-m", "millpond", "--cmakedir").strip()
    settings = [f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-Dmillpond_DIR={package}"]
    run(cmake, "-G", "Ninja", *settings, "-S", fresh, "-B", fresh / "build")
    run(cmake, "--build", fresh / "build")
    lines = run(fresh / "build" / "moving_mean").splitlines()
    assert lines[1:] == ["MP_FAILED: host task broken failed: the antenna is gone", "handles left: 0"]


@pytest.mark.parametrize("fresh", ["cython"], indirect=True)
def test_an_extension_in_cython(fresh):
    build_and_test(fresh)


@pytest.mark.parametrize("fresh", ["pybind11"], indirect=True)
def test_extensions_in_cpp(fresh):
    compiler("c++")
    build_and_test(fresh)


def build_and_test(folder: Path) -> None:
    """Build the extensions beside their sources, and run the example's own tests."""
    # What is tested needn't be fast, but soon.
    run(sys.executable, "setup.py", "--quiet", "build_ext", "--inplace", within=folder, CFLAGS="-O0 -g0")
    run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder, within=folder)
