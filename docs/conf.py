"""The documentation site: `make docs`. Nothing is fetched when it is built, nor when it is read."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

import microagg  # noqa: E402

project = "microagg"
author = "The microagg developers"
project_copyright = "The microagg developers, BSD-3-Clause"
version = release = microagg.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "docstrings",
    "command_line",
    "choices",
]
exclude_patterns = ["_ext", "_static"]
nitpicky = True
smartquotes_action = "D"  # dashes alone
toc_object_entries_show_parents = "hide"

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
# Types in docstrings are words, not names to look up: "array of shape (n, d)".
napoleon_google_docstring = False
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]

html_theme = "pydata_sphinx_theme"
html_title = "microagg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "show_prev_next": True,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"index": []}
