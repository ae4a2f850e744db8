"""The examples of native extensions, built from the installed package in a fresh folder, in each way that they show."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from .checker import CHECKERS, Checker
from .compiler import compiler, execute, library
from .guide import files, section

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "native"

#: Where programs of Python packages are.
PROGRAMS = Path(sys.executable).parent


@pytest.fixture
def checker(request):
    """What `--checker` asks for, or nothing."""
    name = request.config.getoption("--checker")
    return CHECKERS[name]() if name else Checker()


def reach(checker: Checker, kind: str) -> None:
    """Skip what a checker can't look at."""
    if kind in checker.beyond:
        pytest.skip(checker.beyond[kind])


@pytest.fixture
def fresh(request, tmp_path):
    """A copy of an example."""
    return Path(shutil.copytree(EXAMPLES / request.param, tmp_path / request.param))


@pytest.mark.parametrize("fresh", ["c"], indirect=True)
def test_a_program_in_c(fresh, checker):
    compiler("cc")
    library()
    program = by_cmake(fresh, checker) / "moving_mean"
    lines = execute(*checker.command, program, **checker.environment).splitlines()
    assert lines[1:] == ["MP_FAILED: host task broken failed: the antenna is gone", "handles left: 0"]


@pytest.mark.parametrize("fresh", ["cython"], indirect=True)
def test_an_extension_in_cython(fresh, checker):
    by_setuptools(fresh, checker)
    run_tests(fresh, fresh, checker)


@pytest.mark.parametrize("fresh", ["cython"], indirect=True)
def test_an_extension_by_meson(fresh, checker):
    run_tests(fresh, by_meson(fresh, checker), checker)


@pytest.mark.parametrize("fresh", ["pybind11"], indirect=True)
def test_an_extension_by_pybind11(fresh, checker):
    compiler("c++")
    by_setuptools(fresh, checker)
    run_tests(fresh, fresh, checker)


@pytest.mark.parametrize(("fresh", "name"), [("pybind11", "pybind11"), ("nanobind", "nanobind")], indirect=["fresh"])
def test_an_extension_by_cmake(fresh, name, checker):
    compiler("c++")
    option = {"pybind11": "--cmakedir", "nanobind": "--cmake_dir"}[name]
    package = execute(sys.executable, "-m", name, option).strip()
    built = by_cmake(fresh, checker, f"-D{name}_DIR={package}", f"-DPython_EXECUTABLE={sys.executable}")
    run_tests(fresh, built, checker)


@pytest.mark.parametrize("fresh", ["rust"], indirect=True)
def test_an_extension_in_rust(fresh, checker):
    reach(checker, "rust")
    if shutil.which("cargo") is None:
        pytest.skip("there is no cargo")
    run_tests(fresh, by_maturin(fresh), checker)


def test_the_guides_extension_in_rust(tmp_path, checker):
    reach(checker, "rust")
    if shutil.which("cargo") is None:
        pytest.skip("there is no cargo")
    written = files(section("Rust"))
    assert set(written) == {"Cargo.toml", "pyproject.toml", "src/lib.rs"}
    (tmp_path / "src").mkdir()
    for name, content in written.items():
        (tmp_path / name).write_text(content.replace("/path/to/millpond", str(ROOT)))
    use = files(section("A first extension, from nothing"))["use.py"]
    built = by_maturin(tmp_path)
    printed = execute(sys.executable, "-c", use, PYTHONPATH=str(built))
    assert printed == "[ 1.  2.  5. 10.]\n"


def program(name: str) -> str:
    """Find a program of a Python package."""
    return shutil.which(name, path=str(PROGRAMS)) or name


def by_cmake(folder: Path, checker: Checker, *settings: str) -> Path:
    """Build with the package of the wheel; the answer is the folder with what was built."""
    package = execute(sys.executable, "-m", "millpond", "--cmakedir").strip()
    tools = [f"-DCMAKE_MAKE_PROGRAM={program('ninja')}", f"-Dmillpond_DIR={package}", "-DCMAKE_BUILD_TYPE=Debug"]
    tools += [f"-DCMAKE_{language}_FLAGS={checker.flags}" for language in ("C", "CXX")]
    execute(program("cmake"), "-G", "Ninja", *tools, *settings, "-S", folder, "-B", folder / "build")
    execute(program("cmake"), "--build", folder / "build")
    return folder / "build"


def by_meson(folder: Path, checker: Checker) -> Path:
    """Build with meson; the answer is the folder with what was built."""
    # It looks for its tools where programs are looked for.
    environment = {"PATH": f"{PROGRAMS}:{os.environ['PATH']}", "CFLAGS": checker.flags, "LDFLAGS": checker.flags}
    execute(program("meson"), "setup", folder / "build", folder, **environment)
    execute(program("meson"), "compile", "-C", folder / "build", **environment)
    return folder / "build"


def by_setuptools(folder: Path, checker: Checker) -> None:
    """Build the extensions beside their sources."""
    # What is tested needn't be fast, but soon.
    flags = {"CFLAGS": f"-O0 -g0 {checker.flags}", "LDFLAGS": checker.flags}
    execute(sys.executable, "setup.py", "--quiet", "build_ext", "--inplace", within=folder, **flags)


def by_maturin(folder: Path) -> Path:
    """Build an extension in Rust with the versions that the project has; the answer is the folder with the module."""
    manifest = folder / "Cargo.toml"
    crates = str(ROOT / "crates").replace("\\", "/")
    manifest.write_text(re.sub(r"(?:\.\./)+crates", crates, manifest.read_text()))
    shutil.copy(ROOT / "Cargo.lock", folder)
    # One folder for all runs, as what the extension needs takes half a minute.
    target = str(ROOT / "target" / "extensions")
    build = [sys.executable, "-m", "maturin", "build", "--offline", "--interpreter", sys.executable, "--out", "dist"]
    execute(*build, within=folder, CARGO_TARGET_DIR=target)
    wheels = list((folder / "dist").glob("*.whl"))
    shutil.unpack_archive(wheels[0], folder / "site", "zip")
    return folder / "site"


def run_tests(folder: Path, built: Path, checker: Checker) -> None:
    """Run the example's own tests with what was built, and count what they leave."""
    options = ["-q", "-p", "no:cacheprovider", "-p", "baseline"]
    environment = {"PYTHONPATH": f"{built}:{Path(__file__).parent}", **checker.environment}
    execute(*checker.command, sys.executable, "-m", "pytest", *options, folder, within=folder, **environment)
