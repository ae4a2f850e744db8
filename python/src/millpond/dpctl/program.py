"""Programs of SYCL: none can be made.

Devices of millpond run the operations of arrays and functions of the host, not kernels in OpenCL C or SPIR-V: a CPU is
driven by millpond itself, without a compiler for them. The functions say so; the classes are there to be named.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from millpond.dpctl._queue import SyclQueue

__all__ = [
    "SyclKernel",
    "SyclProgram",
    "SyclProgramCompilationError",
    "create_program_from_source",
    "create_program_from_spirv",
]


class SyclProgramCompilationError(Exception):
    """A program can't be made."""


class SyclKernel:
    """A function of a program; there are none."""

    def __init__(self) -> None:
        raise TypeError("a SyclKernel comes from a SyclProgram")


class SyclProgram:
    """Functions that were compiled for a device; there are none."""

    def __init__(self) -> None:
        raise TypeError("a SyclProgram comes from create_program_from_source or create_program_from_spirv")


def create_program_from_source(q: SyclQueue, src: str, copts: str = "") -> NoReturn:
    """Refuse a program in OpenCL C.

    Raises
    ------
    SyclProgramCompilationError
        Always, and says what to do instead.
    TypeError
        If `q` is no queue, or `src` no text.
    """
    _refuse(q, src, (str,), "OpenCL C")


def create_program_from_spirv(q: SyclQueue, IL: bytes, copts: str = "") -> NoReturn:
    """Refuse a program in SPIR-V.

    Raises
    ------
    SyclProgramCompilationError
        Always, and says what to do instead.
    TypeError
        If `q` is no queue, or `IL` no bytes.
    """
    _refuse(q, IL, (bytes, bytearray, memoryview), "SPIR-V")


def _refuse(q: Any, program: Any, kinds: tuple[type, ...], language: str) -> NoReturn:
    from millpond.dpctl._queue import SyclQueue

    if not isinstance(q, SyclQueue):
        raise TypeError(f"expected a SyclQueue, not {type(q).__name__}")
    if not isinstance(program, kinds):
        raise TypeError(f"a program in {language} is {kinds[0].__name__}, not {type(program).__name__}")
    raise SyclProgramCompilationError(
        f"{q.sycl_device.filter_string} takes no programs in {language}: write the work as operations of "
        "millpond.dpctl.tensor, or submit a function of an extension through millpond.Queue.task or the C API"
    )
