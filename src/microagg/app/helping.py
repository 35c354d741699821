"""The help at the end of each page: passages of the documentation, kept beside the templates."""

from functools import cache
from importlib import resources

from markupsafe import Markup

PASSAGES = {
    "open": ("open", "never"),
    "columns": ("columns", "choosing"),
    "try": ("try", "k", "lost", "intruder", "rest"),
    "compare": ("compare", "map", "method"),
    "look": ("look", "lost", "intruder", "hidden"),
    "release": ("release", "committee", "limits"),
    "quit": ("quit",),
}
"""The passages that each page shows; two pages may show the same."""


@cache
def help_text(page: str) -> Markup:
    """Return what the documentation says of what a page shows; empty where there is none."""
    folder = resources.files("microagg").joinpath("app", "templates", "help")
    texts = (folder.joinpath(f"{name}.html").read_text(encoding="utf-8") for name in PASSAGES.get(page, ()))
    return Markup("".join(texts))
