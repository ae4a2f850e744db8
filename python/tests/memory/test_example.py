import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "examples" / "python" / "pools.py"


def test_the_example_stays_within_its_limit():
    ended = subprocess.run(
        [sys.executable, EXAMPLE, "--requests", "40"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    first, *lines = ended.stdout.splitlines()
    assert first.startswith("request 40: the budget of tag 'service/40' is 41943040 bytes")
    assert lines[0].startswith("40 requests: ")
    assert lines[0].endswith(" 1 refused")
    assert not lines[1].startswith("0 tables")
    assert lines[-1] == "0 allocations are left"
