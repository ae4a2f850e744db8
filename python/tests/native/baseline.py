"""A plugin for the examples' own tests: after each of them extensions have as many handles as before, and no memory of
theirs is left."""

import ctypes
import gc
import time
from collections.abc import Iterator

import pytest

import millpond
from millpond import _millpond

#: Seconds after which something that should have gone is left.
LEFT = 30.0


def handle_count() -> int:
    """Ask the C interface for the number of handles that were given and not released."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    # The table of functions lies behind two numbers in that of Python, and its fifth is the count.
    table = ctypes.c_void_p.from_address(pointer(_millpond._C_API, b"millpond._millpond._C_API") + 8)
    function = ctypes.c_void_p.from_address(table.value + 8 + 4 * ctypes.sizeof(ctypes.c_void_p))
    count = ctypes.c_size_t()
    assert ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.POINTER(ctypes.c_size_t))(function.value)(ctypes.byref(count)) == 0
    return count.value


def counts() -> tuple[int, int]:
    """Count handles and allocations once everything that was let go of is gone."""
    gc.collect()
    millpond.wait()
    return handle_count(), millpond.live()


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    """Compare both counts, for which threads that let go of something may take a moment."""
    before = counts()
    yield
    end = time.monotonic() + LEFT
    while (after := counts()) != before:
        assert time.monotonic() < end, f"handles and allocations before: {before}, after: {after}"
