"""Run every Python example of the pages that are named, each by itself; `cargo xtask test` does."""

import re
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def main() -> int:
    """Run all, and say how many failed."""
    passed = failed = 0
    for page in map(Path, sys.argv[1:]):
        text = page.read_text(encoding="utf-8")
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start(1))
            try:
                # Empty lines before the code make line numbers those of the page.
                run("\n" * line + block[1], page)
                passed += 1
            except Exception:
                traceback.print_exc()
                failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def run(code: str, page: Path) -> None:
    """Run it here, or as a program of its own, which an example is that starts processes."""
    if '__name__ == "__main__"' not in code:
        exec(compile(code, str(page), "exec"), {"__name__": "example"})
        return
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, f"{page.stem}.py")
        program.write_text(code, encoding="utf-8")
        subprocess.run([sys.executable, program], check=True)


if __name__ == "__main__":
    sys.exit(main())
