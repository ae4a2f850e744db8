"""`python -m millpond replay`: what other pools would have made of a recording."""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from typing import Any

from millpond._sizes import parse_size, size_text
from millpond.memory import Recording, Replay

_SIZES = ("maximum_size", "release_threshold", "max_poolable", "min_driver_alloc", "memory")
_RULES = ("follow_events", "opportunistic", "internal_dependencies")

_Policy = dict[str, Any]


def _ratio(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


#: What the table shows: a name, and the text of it.
_ROWS: list[tuple[str, Callable[[Replay], str]]] = [
    ("requests", lambda replay: str(replay.requests)),
    ("refused", lambda replay: str(replay.refused)),
    ("refused when recorded", lambda replay: str(replay.refused_before)),
    ("of these, served now", lambda replay: str(replay.served_now)),
    ("waited on the host", lambda replay: str(replay.waited)),
    ("inserted waits", lambda replay: str(replay.inserted_waits)),
    ("driver allocations", lambda replay: str(replay.driver_allocations)),
    ("requested, most", lambda replay: size_text(replay.requested_high)),
    ("used, most", lambda replay: size_text(replay.used_high)),
    ("reserved, most", lambda replay: size_text(replay.reserved_high)),
    ("reserved / used", lambda replay: _ratio(replay.fragmentation)),
]


def _truth(text: str) -> bool:
    known = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if text.lower() not in known:
        raise ValueError(f"'{text}' is neither true nor false")
    return known[text.lower()]


def _policy(text: str) -> _Policy:
    """Read the options of one pool: pairs of a name and a value, with commas between."""
    policy: _Policy = {}
    for pair in filter(None, (pair.strip() for pair in text.split(","))):
        name, equals, value = pair.partition("=")
        name = name.strip().replace("-", "_")
        if name not in _SIZES + _RULES or not equals:
            raise argparse.ArgumentTypeError(f"'{pair}' is not NAME=VALUE with one of {', '.join(_SIZES + _RULES)}")
        try:
            policy[name] = _truth(value) if name in _RULES else parse_size(value)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{name}: {error}") from None
    return policy


def _size(text: str) -> int:
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m millpond replay",
        description="Ask pools with other limits for what a recorded pool was asked for. Nothing is computed.",
    )
    parser.add_argument("file", help="a recording, from Pool.record or MILLPOND_RECORD")
    for name in _SIZES:
        meaning = "of the device" if name == "memory" else "of the pool"
        parser.add_argument(f"--{name.replace('_', '-')}", type=_size, metavar="SIZE", help=meaning)
    for name in _RULES:
        parser.add_argument(f"--no-{name.replace('_', '-')}", dest=name, action="store_false", default=None)
    parser.add_argument(
        "--policy",
        action="append",
        type=_policy,
        default=[],
        metavar="NAME=VALUE,...",
        help="another pool to compare, such as 'maximum_size=1GiB,opportunistic=false'; may be repeated",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, with sizes in bytes")
    return parser


def _title(policy: _Policy) -> str:
    def text(name: str, value: Any) -> str:
        return f"no {name}" if value is False else name if value is True else f"{name} {size_text(value)}"

    return ", ".join(text(name, value) for name, value in policy.items()) or "no limits"


def _table(policies: Sequence[_Policy], replays: Sequence[Replay]) -> str:
    names = ["", *(name for name, _ in _ROWS)]
    columns = [names]
    several = len(policies) > 1
    heads = [f"[{number}]" if several else _title(policy) for number, policy in enumerate(policies, 1)]
    columns += [[head, *(row(replay) for _, row in _ROWS)] for head, replay in zip(heads, replays, strict=True)]
    widths = [max(map(len, column)) for column in columns]
    lines = []
    for cells in zip(*columns, strict=True):
        first, *others = cells
        padded = [first.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))]
        lines.append("  ".join(padded).rstrip())
    if several:
        lines = [*(f"{head} {_title(policy)}" for head, policy in zip(heads, policies, strict=True)), "", *lines]
    # What was asked for is the same under every policy, but for what was refused.
    tags = [(head, replay.tags) for head, replay in zip(heads, replays, strict=True) if replay.tags]
    for head, most in tags[:1]:
        lines += ["", f"most requested by tag ({head}):"]
        lines += [f"  {name}: {size_text(nbytes)}" for name, nbytes in most.items()]
    for head, replay in zip(heads, replays, strict=True):
        if replay.first_refusal is not None:
            lines += ["", f"first refusal ({head}): {replay.first_refusal}"]
    return "\n".join(lines)


def main(arguments: Sequence[str]) -> int:
    """Replay a recording as the arguments say; the answer is the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    named = {name: getattr(options, name) for name in _SIZES + _RULES}
    own: _Policy = {name: value for name, value in named.items() if value is not None}
    # What is said beside holds for every policy that doesn't say otherwise.
    policies: list[_Policy] = [own | policy for policy in options.policy] or [own]
    try:
        recording = Recording.load(options.file)
        replays = [recording.replay(**policy) for policy in policies]
    except (OSError, ValueError, OverflowError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2
    if options.json:
        pairs = zip(policies, replays, strict=True)
        print(json.dumps([{"policy": policy, **replay.as_dict()} for policy, replay in pairs], indent=2))
    else:
        print(f"{options.file}: {len(recording)} steps\n")
        print(_table(policies, replays))
    return 0
