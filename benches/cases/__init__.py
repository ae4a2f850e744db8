"""What is measured: a module for each group of cases. To import this is to have all of them in `CASES`."""

from importlib import import_module

from .case import CASES, B

GROUPS = (
    "overhead",
    "alloc",
    "sweep",
    "elementwise",
    "chain",
    "users",
    "reduce",
    "sort",
    "index",
    "linalg",
    "decompose",
    "fft",
    "manip",
)
for group in GROUPS:
    import_module(f".{group}", __name__)

__all__ = ["CASES", "GROUPS", "B"]
