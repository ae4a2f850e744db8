"""Nothing that a program calls with what it can't take brings the process down."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

#: Seconds that all calls may take together.
TIME = 600


@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_is_called_answers(seed):
    program = Path(__file__).with_name("abuse.py")
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", program, str(seed)],
        capture_output=True,
        text=True,
        timeout=TIME,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stdout[-2000:], done.stderr[-4000:])
    assert "panicked" not in done.stderr
    counts = [int(count) for count in re.findall(r"\d+", done.stdout.splitlines()[-1])]
    # Functions, members of classes, methods, items: all were found.
    assert [count > least for count, least in zip(counts, (120, 200, 500, 1000), strict=True)] == [True] * 4
