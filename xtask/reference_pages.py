"""Write what docstrings say into the pages of docs/reference/tensor, or compare it; `cargo xtask gen` and `test` do.

A page is a chapter of the standard, and what lies between its marks is written here; the rest of it is by hand. A
docstring says in its notes which chapter it belongs to, so that there is no other list of functions.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import millpond.tensor as xp

FOLDER = Path(__file__).parent.parent / "docs" / "reference" / "tensor"
BEGIN = "<!-- From here on: written by `cargo xtask gen` from docstrings; edit those, not this. -->"
END = "<!-- Up to here. -->"

#: The chapters of the standard, in its order, and what is in none of them. A page is named as its chapter.
BEYOND = "beyond the standard"
CHAPTERS = (
    *("array object", "constants", "creation functions", "data type functions", "data types"),
    *("element-wise functions", "indexing", "indexing functions", "inspection", "linear algebra functions"),
    *("manipulation functions", "searching functions", "set functions", "sorting functions", "statistical functions"),
    *("utility functions", "version", "extension linalg", "extension fft", BEYOND),
)
#: The standard's own pages, and where it has those of functions and methods.
STANDARD = f"https://data-apis.org/array-api/{xp.__array_api_version__}"
OWNERS = {
    "xp": "API_specification/generated/array_api.",
    "xp.linalg": "extensions/generated/array_api.linalg.",
    "xp.fft": "extensions/generated/array_api.fft.",
    "x": "API_specification/generated/array_api.array.",
    "info": "API_specification/generated/array_api.info.",
}
#: What the standard has elsewhere.
ELSEWHERE = {
    "__array_namespace_info__": "API_specification/generated/array_api.info.__array_namespace_info__",
    "dtype": "API_specification/data_types",
}
#: Methods of arrays that the standard asks for, though programs leave it to libraries to call them.
PROTOCOL = ("__array_namespace__", "__dlpack__", "__dlpack_device__")


def page_of(chapter: str) -> str:
    """Name the page of a chapter."""
    return chapter.replace(" ", "-") + ".md"


@dataclass(frozen=True)
class Docstring:
    """A docstring in NumPy's form."""

    summary: str
    remarks: list[str]
    sections: dict[str, list[str]]

    @classmethod
    def of(cls, thing: object) -> Docstring:
        """Take the docstring of an object apart."""
        text = thing.__doc__ if isinstance(thing.__doc__, str) else ""
        lines = inspect.cleandoc(text).splitlines()
        head, sections = [], {}
        current: list[str] = head
        for line, following in zip(lines, [*lines[1:], ""], strict=False):
            if following and set(following) == {"-"}:
                current = sections.setdefault(line, [])
            elif not line or set(line) != {"-"}:
                current.append(line)
        paragraphs = paragraphs_of(head)
        return cls(paragraphs[0] if paragraphs else "", paragraphs[1:], sections)

    def items(self, section: str) -> Iterator[tuple[str, str]]:
        """Give the items of a section: what stands on a line, and what is indented below it."""
        name, text = "", []
        for line in self.sections.get(section, []):
            if line and not line.startswith(" "):
                if name:
                    yield name, " ".join(text)
                name, text = line, []
            elif line:
                text.append(line.strip())
        if name:
            yield name, " ".join(text)

    @property
    def chapter(self) -> str | None:
        """The chapter of the standard that its notes name."""
        notes = " ".join(self.sections.get("Notes", []))
        if "Beyond the Array API standard." in notes:
            return BEYOND
        found = re.search(r"Array API standard, ([\w -]+)", notes)
        return found[1] if found else None


@dataclass(frozen=True)
class Entry:
    """Something that a page documents."""

    name: str
    #: What stands in front of the name in a program.
    owner: str
    thing: Any
    doc: Docstring

    @property
    def chapter(self) -> str:
        """The chapter it belongs to."""
        chapter = self.doc.chapter
        if chapter not in CHAPTERS:
            raise SystemExit(f"the docstring of {self.owner}.{self.name} names no chapter of the standard: {chapter}")
        return chapter

    @property
    def heading(self) -> str:
        """Its name as a heading, of which the link to it follows."""
        return f"`{self.name}`"

    @property
    def anchor(self) -> str:
        """What a link names it by."""
        return self.name.lower().replace(".", "")

    @property
    def source(self) -> str:
        """The page of the standard."""
        return f"{STANDARD}/{ELSEWHERE.get(self.name, OWNERS[self.owner] + self.name)}.html"

    @property
    def parameters(self) -> list[str]:
        """The names of its parameters."""
        return list(inspect.signature(self.thing).parameters)

    @property
    def call(self) -> str:
        """How it is called."""
        signature = str(inspect.signature(self.thing))
        return f"{self.owner}.{self.name}{re.sub(r'^[(][$]?self(, /)?(, )?', '(', signature)}"


def paragraphs_of(lines: list[str]) -> list[str]:
    """Join lines to paragraphs."""
    return [" ".join(part.split()) for part in "\n".join(lines).split("\n\n") if part.strip()]


def entries() -> Iterator[Entry]:
    """Everything that has a docstring with a chapter: functions, classes, methods."""
    for owner, module in (("xp", xp), ("xp.linalg", xp.linalg), ("xp.fft", xp.fft)):
        for name in module.__all__:
            thing = getattr(module, name)
            doc = Docstring.of(thing)
            if callable(thing) and doc.chapter and not is_elsewhere(owner, name):
                yield Entry(name, owner, thing, doc)
    for owner, kind in (("x", xp.Array), ("info", type(xp.__array_namespace_info__()))):
        for name, method in vars(kind).items():
            if inspect.ismethoddescriptor(method) and (not name.startswith("_") or name in PROTOCOL):
                yield Entry(name, owner, method, Docstring.of(method))


def is_elsewhere(owner: str, name: str) -> bool:
    """Whether the main namespace has the function of an extension, too."""
    return owner != "xp" and callable(getattr(xp, name, None))


class Writer:
    """What is written between the marks of pages."""

    def __init__(self, found: list[Entry]) -> None:
        self.found = sorted(found, key=lambda entry: entry.name.lower().strip("_"))
        self.by_name = {(entry.owner, entry.name): entry for entry in found}

    def chapter(self, chapter: str) -> str:
        """Write a page's part."""
        mine = [entry for entry in self.found if entry.chapter == chapter]
        parts = []
        if mine:
            rows = [f"| [`{entry.name}`](#{entry.anchor}) | {cell(self.short(entry))} |" for entry in mine]
            parts.append("\n".join(["| name | what it does |", "| --- | --- |", *rows, *self.rows_elsewhere(chapter)]))
        if chapter == "array object":
            parts += ["## Attributes", attributes(xp.Array), "## Flags", attributes(type(xp.ones(1).flags))]
        if chapter == "data types":
            parts += ["## Dtypes", dtypes()]
        parts += [self.section(entry) for entry in mine]
        parts.append("[All chapters](index.md)")
        return "\n\n".join(parts)

    def rows_elsewhere(self, chapter: str) -> list[str]:
        """Rows for what the main namespace has as well, and other pages document."""
        if chapter != "extension linalg":
            return []
        names = [name for name in xp.linalg.__all__ if is_elsewhere("xp.linalg", name)]
        shared = [self.by_name["xp", name] for name in sorted(names)]
        return [f"| {self.link(entry, chapter)} | {cell(self.short(entry))} |" for entry in shared]

    def index(self) -> str:
        """Write the list of the pages."""
        rows = ["| chapter | what is in it |", "| --- | --- |"]
        for chapter in CHAPTERS:
            names = [self.link(entry) for entry in self.found if entry.chapter == chapter]
            content = ", ".join(names) if names else opening(chapter)
            rows.append(f"| [{title(chapter)}]({page_of(chapter)}) | {content} |")
        return "\n".join(rows)

    def section(self, entry: Entry) -> str:
        """Write all about an entry."""
        doc = entry.doc
        parts = [f"## {entry.heading}", f"```text\n{entry.call}\n```"]
        parts += [self.prose(text, entry) for text in (doc.summary, *doc.remarks)]
        for name, heading in (("Parameters", "Parameters"), ("Returns", "Returns"), ("Raises", "Raises")):
            items = [self.item(*item, entry) for item in doc.items(name)]
            if items:
                parts.append("\n".join([f"**{heading}**", "", *items]))
        if isinstance(entry.thing, type) and entry.chapter != "array object" and attributes(entry.thing):
            parts.append("**Attributes**\n\n" + attributes(entry.thing))
        notes = [self.prose(text, entry) for text in paragraphs_of(doc.sections.get("Notes", []))]
        parts += [note.replace("Array API standard,", f"[Array API standard]({entry.source}),") for note in notes]
        example = "\n".join(doc.sections.get("Examples", [])).strip()
        parts.append(f"```pycon\n{example}\n```")
        return "\n\n".join(parts)

    def item(self, line: str, text: str, entry: Entry) -> str:
        """Write a parameter, a result or an exception."""
        names, _, kind = line.partition(" : ")
        if kind or set(names.replace("*", "").split(", ")) <= set(entry.parameters):
            shown = ", ".join(f"`{name}`" for name in names.split(", "))
            shown += f" ({kind})" if kind else ""
        else:
            shown = names
        return f"* {shown}: {self.prose(text, entry)}"

    def short(self, entry: Entry) -> str:
        """Give the first sentence."""
        return self.prose(re.split(r"(?<=\w\w[.])\s", entry.doc.summary)[0], entry)

    def prose(self, text: str, entry: Entry) -> str:
        """Turn markup of docstrings into that of pages, and names of functions into links."""
        text = text.replace("``", "`")

        def linked(match: re.Match[str]) -> str:
            name = match[1]
            other = self.by_name.get((entry.owner, name)) or self.by_name.get(("xp", name))
            if other is None or other is entry or name in entry.parameters or other.thing is entry.thing:
                return match[0]
            return self.link(other, entry.chapter)

        return re.sub(r"`(\w+)`", linked, text)

    def link(self, entry: Entry, chapter: str | None = None) -> str:
        """Link to an entry, from the page of a chapter or from elsewhere."""
        page = "" if entry.chapter == chapter else page_of(entry.chapter)
        return f"[`{entry.name}`]({page}#{entry.anchor})"


def attributes(kind: type) -> str:
    """Write a table of the attributes of a class."""
    found = sorted((name, vars(kind)[name]) for name in vars(kind) if inspect.isdatadescriptor(vars(kind)[name]))
    rows = []
    for name, attribute in found:
        if not name.startswith("_"):
            rows.append(f"| `{name}` | {cell(' '.join(Docstring.of(attribute).summary.split()).replace('``', '`'))} |")
    return "\n".join(["| attribute | what it is |", "| --- | --- |", *rows]) if rows else ""


def dtypes() -> str:
    """Write a table of the dtypes."""
    rows = ["| dtype | bytes | numbers |", "| --- | --- | --- |"]
    for name in xp.__all__:
        dtype = getattr(xp, name)
        if not isinstance(dtype, xp.dtype):
            continue
        if xp.isdtype(dtype, "integral"):
            numbers = f"integers from {xp.iinfo(dtype).min} to {xp.iinfo(dtype).max}"
        elif xp.isdtype(dtype, "bool"):
            numbers = "truth values"
        else:
            limits = xp.finfo(dtype)
            parts = "complex, of two parts" if xp.isdtype(dtype, "complex floating") else "real,"
            numbers = f"{parts} up to {limits.max:.4g}, in steps of {limits.eps:.4g} at one"
        rows.append(f"| `{name}` | {dtype.itemsize} | {numbers} |")
    return "\n".join(rows)


def cell(text: str) -> str:
    """Make text that may stand in a cell of a table."""
    return text.replace("|", "\\|")


def opening(chapter: str) -> str:
    """Give the first sentence of a page that is by hand alone."""
    text = (FOLDER / page_of(chapter)).read_text(encoding="utf-8")
    return re.split(r"(?<=[.;])\s", paragraphs_of(text.splitlines())[1])[0]


def title(chapter: str) -> str:
    """Write a chapter as a heading."""
    return chapter[0].upper() + chapter[1:]


def main() -> int:
    """Write the pages, or say which ones differ."""
    writer = Writer(list(entries()))
    wanted = {page_of(chapter): writer.chapter(chapter) for chapter in CHAPTERS}
    wanted["index.md"] = writer.index()
    strays = {path.name for path in FOLDER.glob("*.md")} ^ set(wanted)
    if strays:
        print(f"pages without a chapter, or chapters without a page: {', '.join(sorted(strays))}")
        return 1
    stale = []
    for name, text in wanted.items():
        path = FOLDER / name
        page = path.read_text(encoding="utf-8")
        before, begun, rest = page.partition(BEGIN)
        _, ended, after = rest.partition(END)
        if not (begun and ended):
            print(f"{name} has lost the lines that surround what is generated")
            return 1
        if page != (new := f"{before}{BEGIN}\n\n{text}\n\n{END}{after}"):
            stale.append(name)
            if "--check" not in sys.argv:
                path.write_text(new, encoding="utf-8")
    if "--check" in sys.argv and stale:
        print(f"out of date: {', '.join(stale)}; run `cargo xtask gen`")
        return 1
    print(f"{len(wanted)} pages, {len(writer.found)} entries, {len(stale)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
