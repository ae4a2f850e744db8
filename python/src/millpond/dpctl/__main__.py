"""``python -m millpond.dpctl``: lists the platforms, as ``python -m dpctl`` does."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from millpond.dpctl._platform import lsplatform


def main(arguments: Sequence[str]) -> int:
    """Do what the arguments say; the answer is the exit code."""
    parser = argparse.ArgumentParser(prog="python -m millpond.dpctl", description="List the platforms and devices.")
    for level, (short, long, text) in enumerate(
        [
            ("-s", "--summary", "their names"),
            ("-l", "--long-list", "what is known of them"),
            ("-f", "--full-list", "their devices too"),
        ]
    ):
        parser.add_argument(short, long, dest="level", action="store_const", const=level, help=text)
    chosen = parser.parse_args(arguments)
    if chosen.level is None:
        parser.print_help()
        return 1
    lsplatform(chosen.level)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
