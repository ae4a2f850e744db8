"""The guide to native extensions, as its reader takes it: section by section, file by file."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "guides" / "native.md"


def section(title: str) -> str:
    """The text below a heading."""
    text = PAGE.read_text(encoding="utf-8").partition(f"## {title}\n")[2]
    return text.partition("\n## ")[0]


def files(text: str) -> dict[str, str]:
    """What the text says is in each file that it names in the last paragraph before a block."""
    found = re.findall(r"`([\w/]+\.\w+)`[^`]*\n\n```(?!sh)\w+\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return dict(found)
