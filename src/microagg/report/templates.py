"""The templates of the page, its sections and its pictures."""

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from microagg.report import text
from microagg.report.results import word_of


@cache
def environment() -> Environment:
    """Give the templates, compiled once: the page, and under sections/ each part of it, which reads `model` too."""
    found = Environment(
        loader=PackageLoader("microagg", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )
    found.filters |= {
        "percent": text.percent,
        "points": text.points,
        "count": text.count,
        "number": text.number,
        "change": text.change,
        "word": word_of,
        "px": px,
    }
    return found


def px(value: float) -> str:
    """Give a length or a place in a picture: to a tenth of a pixel, and no longer than that takes."""
    return f"{value:.1f}".removesuffix(".0")


def drawn(name: str, **what: object) -> Markup:
    """Give a picture as an element of the page; its template escapes every name in it."""
    return Markup(environment().get_template(f"pictures/{name}.svg.j2").render(**what).strip())
