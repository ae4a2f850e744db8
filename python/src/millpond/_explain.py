"""What a block of code became: which operations ran together, what they moved, and how long they took."""

from __future__ import annotations

import os.path
import sys
import time
from types import TracebackType
from typing import NamedTuple, TextIO

from millpond._millpond import _begin_explanation, _end_explanation
from millpond._sizes import size_text

# Longer names are cut in the printed table.
_WIDTH = 72


class Execution(NamedTuple):
    """One execution: an operation, or several that became one.

    Bytes are those from the first to the last of each operand, each operand counted once.
    """

    name: str
    """What ran, with its shape."""
    queue: int
    """The `id` of the queue."""
    inline: bool
    """Whether it ran on the calling thread, before the call returned."""
    operations: int
    """How many operations it carried out; 0 for a host task."""
    read: int
    """Bytes that it read."""
    written: int
    """Bytes that it wrote."""
    spared: int
    """Bytes that its operations would have moved besides, each by itself."""
    began: float | None
    """Seconds from the begin of the block until it ran; `None` if it didn't, as it failed with what it follows."""
    time: float
    """Seconds that it ran."""
    lines: tuple[str, ...]
    """The lines of the program that asked for it."""
    closed: str | None
    """Why no more joined it, if more could have."""
    failed: bool
    """Whether it failed."""

    @property
    def moved(self) -> int:
        """Bytes that it read and wrote."""
        return self.read + self.written


class Explanation:
    """What `explain` found; empty until its block has ended."""

    def __init__(self) -> None:
        self.executions: tuple[Execution, ...] = ()
        self.duration = 0.0

    def __str__(self) -> str:
        """Return a table with a line for each execution."""
        operations = sum(execution.operations for execution in self.executions)
        head = (
            f"{operations} operations in {len(self.executions)} executions, {_time_text(self.duration)}: "
            f"{_time_text(sum(execution.time for execution in self.executions))} of work, "
            f"{size_text(sum(execution.moved for execution in self.executions))} moved, "
            f"{size_text(sum(execution.spared for execution in self.executions))} spared"
        )
        if not self.executions:
            return head
        rows = [("time", "rate", "moved", "spared", "what")]
        rows += [_row(execution) for execution in self.executions]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = [
            "  ".join([*(cell.rjust(width) for cell, width in zip(row, widths, strict=False)), row[4]]) for row in rows
        ]
        return "\n".join([head, *lines])

    def __repr__(self) -> str:
        """Return how much was found."""
        return f"<Explanation of {len(self.executions)} executions>"


def _time_text(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1 or unit == "us":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError


def _row(execution: Execution) -> tuple[str, str, str, str, str]:
    name = execution.name if len(execution.name) <= _WIDTH else f"{execution.name[: _WIDTH - 3]}..."
    notes = []
    if execution.lines:
        notes.append(_lines_text(execution.lines))
    if execution.inline:
        notes.append("at once")
    if execution.closed is not None:
        notes.append(execution.closed)
    if execution.failed:
        notes.append("failed")
    rate = f"{execution.moved / execution.time / 1e9:.1f} GB/s" if execution.time and execution.moved else ""
    return (
        _time_text(execution.time),
        rate,
        size_text(execution.moved) if execution.moved else "",
        size_text(execution.spared) if execution.spared else "",
        f"{name}  [{'; '.join(notes)}]" if notes else name,
    )


def _lines_text(lines: tuple[str, ...]) -> str:
    """Write lines of one file as a range, as in ``model.py:3-7``."""
    places = [line.rpartition(":") for line in lines]
    files = dict.fromkeys(os.path.basename(file) for file, _, _ in places)
    if len(files) > 1:
        return ", ".join(dict.fromkeys(f"{os.path.basename(file)}:{number}" for file, _, number in places))
    numbers = sorted({int(number) for _, _, number in places})
    last = f"-{numbers[-1]}" if len(numbers) > 1 else ""
    return f"{next(iter(files))}:{numbers[0]}{last}"


class explain:  # noqa: N801 - used as a function is
    """Explain why a block is fast or slow: what it ran, fused into what, bytes moved and spared, and times.

    Parameters
    ----------
    file : text stream, optional
        Where the table goes when the block ends; `sys.stdout` by default.
    print : bool, default: True
        Whether a table is printed.

    What the calling thread asks for within the block is noted, on any queue, and runs as it would have: only its end
    waits for it. Blocks nest. Use the value of the `with` statement to look at the numbers:

    >>> x = xp.linspace(0.0, 1.0, 1_000_000)
    >>> with millpond.explain(print=False) as explanation:
    ...     y = xp.sum(3 * x * x + 2 * x + 1)
    >>> explanation.executions[0].operations
    6

    Raises
    ------
    RuntimeError
        If the block ends on another thread than it began on.
    """

    def __init__(self, file: TextIO | None = None, *, print: bool = True) -> None:
        self._file = file
        self._print = print
        self._blocks: list[tuple[Explanation, int, float]] = []

    def __enter__(self) -> Explanation:
        explanation = Explanation()
        self._blocks.append((explanation, _begin_explanation(), time.perf_counter()))
        return explanation

    def __exit__(
        self,
        kind: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        explanation, number, start = self._blocks.pop()
        rows = _end_explanation(number)
        explanation.duration = time.perf_counter() - start
        explanation.executions = tuple(Execution(*row[:9], tuple(row[9]), *row[10:]) for row in rows)
        if self._print:
            file = sys.stdout if self._file is None else self._file
            file.write(f"{explanation}\n")
