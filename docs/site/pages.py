"""What the site adds to the pages: navigation, sources that pages link to, and links to the pages of crates."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers import get_lexer_for_filename
from pygments.util import ClassNotFound
from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#]+)(#[^)]*)?(?=\))")
#: The scheme of links to what the site shows the source of.
SOURCE = "source"
#: The page that has the crates in a table, and where their own pages are.
CRATES = "reference/rust"
RUSTDOC = "rust"


def targets(text: str, docname: str) -> Iterator[tuple[str, bool]]:
    """Give what a page links to, as a path from the root of the pages, and whether that is inside."""
    for match in LINK.finditer(text):
        path = posixpath.normpath(posixpath.join(posixpath.dirname(docname), match[1]))
        yield path, not path.startswith("..")


def read(app: Sphinx, docname: str, source: list[str]) -> None:
    """Add the navigation to an index page, and have links to sources lead to the pages that show them."""
    text = source[0]

    def replaced(match: re.Match[str]) -> str:
        path, inside = next(targets(f"]({match[1]})", docname))
        return match[0] if inside else f"{SOURCE}:{path.removeprefix('../')}"

    source[0] = LINK.sub(replaced, text)
    if posixpath.basename(docname) == "index":
        found = dict.fromkeys(path for path, inside in targets(text, docname) if inside and belongs(path, docname))
        entries = "\n".join("/" + path.removesuffix(".md") for path in found)
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def belongs(path: str, index: str) -> bool:
    """Say whether a page is of an index page's folder, or is the index of a folder in it."""
    folder, name = posixpath.split(path)
    if name == "index.md":
        folder = posixpath.dirname(folder)
    return name.endswith(".md") and folder == posixpath.dirname(index)


def resolve(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Turn links to sources, and the names of crates on their page, into links of the site."""
    here = app.builder.get_target_uri(docname)
    for link in doctree.findall(nodes.reference):
        uri = link.get("refuri", "")
        if uri.startswith(f"{SOURCE}:"):
            link["refuri"] = relative_uri(here, f"{SOURCE}/{uri.partition(':')[2].rstrip('/')}.html")
    if docname != CRATES:
        return
    for literal in list(doctree.findall(nodes.literal)):
        name = literal.astext()
        if isinstance(literal.parent.parent, nodes.entry) and name.startswith("millpond"):
            target = relative_uri(here, f"{RUSTDOC}/{name.replace('-', '_')}/index.html")
            literal.replace_self(nodes.reference("", "", literal.deepcopy(), refuri=target, internal=False))


def sources(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Make a page of each file or folder outside of the pages that one of them links to."""
    root = Path(app.srcdir)
    wanted = set()
    for docname in app.env.found_docs:
        text = Path(app.env.doc2path(docname)).read_text(encoding="utf-8")
        wanted |= {path.removeprefix("../") for path, inside in targets(text, docname) if not inside}
    for path in sorted(wanted):
        place = root.parent / path
        files = sorted(place.iterdir()) if place.is_dir() else [place]
        parts = [f"<h1>{path}</h1>"]
        for file in (file for file in files if file.is_file()):
            if place.is_dir():
                parts.append(f'<h2 id="{file.name}">{file.name}</h2>')
            parts.append(app.builder.highlighter.highlight_block(file.read_text("utf-8"), lexer(file)))
        yield f"{SOURCE}/{path}", {"title": path, "body": "\n".join(parts)}, "page.html"


def lexer(file: Path) -> str:
    """Name the lexer for a file."""
    if file.suffix == ".pyx":
        return "cython"
    try:
        return get_lexer_for_filename(file.name).aliases[0]
    except ClassNotFound:
        return "text"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything."""
    app.config.myst_url_schemes = {"http": None, "https": None, "mailto": None, SOURCE: None}
    app.connect("source-read", read)
    app.connect("doctree-resolved", resolve)
    app.connect("html-collect-pages", sources)
    return {"parallel_read_safe": True}
