"""The documentation site: `cargo xtask docs` makes it of the pages of `docs`, which read as well without it.

Each index page says by its links what belongs to it, and in which order; `pages.py` makes the navigation of that.
"""

import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

project = "millpond"
author = copyright = "The millpond developers"
release = version("millpond")
version = ".".join(release.split(".")[:2])

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "pages",
]
root_doc = "index"
exclude_patterns = ["site"]
pygments_style = "friendly"
pygments_dark_style = "monokai"

# Pages: GitHub's anchors for headings, so that links work in both places.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence"]

# Docstrings: NumPy's sections, every name of `__all__`, signatures without the types of stubs.
autodoc_member_order = "groupwise"
autodoc_default_options = {"members": True, "imported-members": True, "undoc-members": True}
autodoc_typehints = "none"
add_module_names = False
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
default_role = "code"

html_theme = "furo"
html_title = f"millpond {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
