"""Sizes in bytes as people write them."""

import re

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_UNITS |= {"kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_BY_NAME = {name.lower(): factor for name, factor in _UNITS.items()}
_BY_NAME |= {name[0].lower(): factor for name, factor in _UNITS.items() if name.endswith("iB")}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")


def size_text(nbytes: int) -> str:
    """Write a size with the unit that suits it."""
    amount = float(nbytes)
    for unit in ("B", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.4g} {unit}"
        amount /= 1024
    return f"{amount:.4g} GiB"


def parse_size(text: str) -> int:
    """Read a size such as ``1GiB``, ``1.5 MiB``, ``64K`` or ``1000``; ``K``, ``M``, ``G`` and ``T`` are binary."""
    match = _SIZE.fullmatch(text)
    factor = _BY_NAME.get(match[2].lower()) if match else None
    if match is None or factor is None:
        raise ValueError(f"'{text}' is not a size such as 64KiB, 1.5GiB or 1000")
    nbytes = float(match[1]) * factor if "." in match[1] else int(match[1]) * factor
    return int(nbytes)
