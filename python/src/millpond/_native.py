"""Where compilers find what native extensions and programs in C need."""

import sys
from collections.abc import Sequence
from pathlib import Path

_PACKAGE = Path(__file__).parent

#: The name of the library of programs in C.
_LIBRARY = "libmillpond.so"


def get_include() -> str:
    """Get the folder of the headers, for `include_dirs` of an extension."""
    return str(_PACKAGE / "include")


def includes() -> str:
    """Options of a compiler that finds the headers."""
    return f"-I{get_include()}"


def libs() -> str:
    """Options of a linker that makes a program which finds the library."""
    folder = _PACKAGE / "lib"
    if not (folder / _LIBRARY).exists():
        raise FileNotFoundError(
            f"this build of millpond has no {_LIBRARY} for programs in C; extensions of Python need none"
        )
    return f"-L{folder} -Wl,-rpath,{folder} -lmillpond"


def cmakedir() -> str:
    """Get the folder of the package for CMake, to be `millpond_DIR`."""
    return str(_PACKAGE / "cmake")


def pkgconfigdir() -> str:
    """Get the folder of the package for pkg-config, to be in `PKG_CONFIG_PATH`."""
    return str(_PACKAGE / "pkgconfig")


#: What `python -m millpond` is asked for.
OPTIONS = {"--includes": includes, "--libs": libs, "--cmakedir": cmakedir, "--pkgconfig": pkgconfigdir}


def main(options: Sequence[str]) -> int:
    """Print what is asked for, on one line; the answer is the exit code."""
    try:
        print(*(OPTIONS[option]() for option in options))
    except FileNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    return 0
