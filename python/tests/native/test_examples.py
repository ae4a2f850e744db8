"""The examples of native extensions, built from the installed package in a fresh folder."""

import shutil
import sys
from pathlib import Path

import pytest

from .compiler import compiler, execute, library

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
    lines = execute(build_by_cmake(fresh) / "moving_mean").splitlines()
    assert lines[1:] == ["MP_FAILED: host task broken failed: the antenna is gone", "handles left: 0"]


@pytest.mark.parametrize("fresh", ["cython"], indirect=True)
def test_an_extension_in_cython(fresh):
    build_and_test(fresh)


@pytest.mark.parametrize("fresh", ["pybind11"], indirect=True)
def test_an_extension_by_pybind11(fresh):
    compiler("c++")
    build_and_test(fresh)


@pytest.mark.parametrize("fresh", ["nanobind"], indirect=True)
def test_an_extension_by_nanobind(fresh):
    compiler("c++")
    nanobind = execute(sys.executable, "-m", "nanobind", "--cmake_dir").strip()
    built = build_by_cmake(fresh, f"-Dnanobind_DIR={nanobind}", f"-DPython_EXECUTABLE={sys.executable}")
    run_tests(fresh, PYTHONPATH=str(built))


def build_by_cmake(folder: Path, *settings: str) -> Path:
    """Build with the package of the wheel; the answer is the folder with what was built."""
    cmake, ninja = (shutil.which(name, path=PROGRAMS) or name for name in ("cmake", "ninja"))
    package = execute(sys.executable, "-m", "millpond", "--cmakedir").strip()
    tools = [f"-DCMAKE_MAKE_PROGRAM={ninja}", f"-Dmillpond_DIR={package}", "-DCMAKE_BUILD_TYPE=Debug"]
    execute(cmake, "-G", "Ninja", *tools, *settings, "-S", folder, "-B", folder / "build")
    execute(cmake, "--build", folder / "build")
    return folder / "build"


def build_and_test(folder: Path) -> None:
    """Build the extensions beside their sources, and run the example's own tests."""
    # What is tested needn't be fast, but soon.
    execute(sys.executable, "setup.py", "--quiet", "build_ext", "--inplace", within=folder, CFLAGS="-O0 -g0")
    run_tests(folder)


def run_tests(folder: Path, **environment: str) -> None:
    """Run the example's own tests."""
    execute(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder, within=folder, **environment)
