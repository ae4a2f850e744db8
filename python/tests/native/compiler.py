"""The compiler of the system, which must accept headers and tests without a warning."""

import os
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

import millpond
from millpond import _native

#: What headers must be without.
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]

#: Headers of a version of the interface, as it was when it was handed out.
VERSIONS = Path(__file__).parent / "versions"


def execute(*command: object, within: Path | None = None, **environment: str) -> str:
    """Run a program to its end; what it says is the answer, or the failure."""
    ended = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        cwd=within,
        env={**os.environ, **environment},
        check=False,
    )
    if ended.returncode != 0:
        pytest.fail(f"{command[0]} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}", pytrace=False)
    return ended.stdout


def compiler(name: str) -> str:
    """Find the compiler of C, `cc`, or of C++, `c++`."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"there is no {name}")
    return found


def library() -> list[str]:
    """Options that link the library, which `cargo xtask wheel` packs; builds by other ways may lack it."""
    try:
        return shlex.split(_native.libs())
    except FileNotFoundError as error:
        pytest.skip(str(error))


def program(folder: Path, source: Path, include: Path | str) -> Path:
    """Make a program in C that links to the library."""
    made = folder / source.stem
    execute(compiler("cc"), "-std=c11", *STRICT, "-pthread", f"-I{include}", source, "-o", made, *library(), "-ldl")
    return made


def extension(folder: Path, source: Path, include: Path | str = "") -> Path:
    """Make an extension of Python; the answer is its file."""
    made = folder / (source.stem + sysconfig.get_config_var("EXT_SUFFIX"))
    python = sysconfig.get_path("include")
    include = include or millpond.get_include()
    # Python's own headers aren't strict.
    options = ["-std=c11", *STRICT, "-shared", "-fPIC", f"-I{include}", "-isystem", python]
    execute(compiler("cc"), *options, source, "-o", made)
    return made
