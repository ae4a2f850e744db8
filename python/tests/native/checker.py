"""Checkers of memory errors, under which `cargo xtask memcheck` runs the examples of native extensions."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Checker:
    """How extensions are built, and how programs that have them are run."""

    #: Options of compilers and linkers.
    flags: str = ""
    #: What stands in front of the program.
    command: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    #: What it can't check, and why.
    beyond: dict[str, str] = field(default_factory=dict)


def valgrind() -> Checker:
    """Valgrind, which reads what is built as ever, in any language."""
    suppressed = Path(__file__).with_name("valgrind.supp")
    return Checker("-g", ("valgrind", "--quiet", "--error-exitcode=9", f"--suppressions={suppressed}"))


def asan() -> Checker:
    """AddressSanitizer and its kin, built in: Python has to load its library before all others."""
    libraries = " ".join(library(name) for name in ("libasan.so", "libubsan.so", "libstdc++.so"))
    # Interpreters end with much that is alive.
    options = {"ASAN_OPTIONS": "detect_leaks=0", "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1"}
    flags = "-fsanitize=address,undefined -fno-omit-frame-pointer -g"
    command = ("env", f"LD_PRELOAD={libraries}")
    return Checker(flags, command, options, beyond={"rust": "the stable compiler of Rust has no sanitizers"})


def library(name: str) -> str:
    """Find a library of the compiler's."""
    return subprocess.run(["cc", f"-print-file-name={name}"], capture_output=True, text=True, check=True).stdout.strip()


#: By the name that `--checker` takes.
CHECKERS = {"valgrind": valgrind, "asan": asan}
