"""One self-contained page of HTML: no script, nothing fetched."""

from functools import cache
from importlib import resources
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from microagg.checks import check_absent
from microagg.errors import InvalidParameter
from microagg.io.files import whole_file
from microagg.report import pictures, text
from microagg.report.parts import ReportModel


def render(model: ReportModel) -> str:
    """Give the page of a report.

    Examples
    --------
    >>> import microagg as ma
    >>> from microagg.report import build, render
    >>> page = render(build(ma.protect(ma.datasets.survey(300, seed=0).select(["age", "income"]), k=3)))
    >>> page.splitlines()[0]
    '<!doctype html>'
    """
    style = resources.files("microagg.report").joinpath("style.css").read_text(encoding="utf-8")
    page = environment().get_template("page.html.j2")
    return page.render(model=model, pictures=_pictures(model), style=Markup(style))


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
    }
    return found


def _pictures(model: ReportModel) -> dict[str, Markup | list[Markup]]:
    """Draw what there is to draw; every name in it was escaped when it was drawn."""
    found: dict[str, Markup | list[Markup]] = {
        "distributions": [
            Markup(pictures.distribution(one, f"column-{number}") if one.edges else "")
            for number, one in enumerate(model.distributions)
        ]
    }
    if model.correlations and model.correlations.change:
        found["correlations"] = Markup(pictures.correlations(model.correlations, "correlations"))
    if model.risk:
        found["records"] = Markup(pictures.record_risk(model.risk.records, "records"))
    if model.tree:
        found["tree"] = Markup(pictures.tree(model.tree, "tree"))
    if model.map:
        found["map"] = Markup(pictures.risk_map(model.map, "map"))
    return found


def check_target(path: Path, overwrite: bool) -> Path:
    """Refuse a place where the page cannot go, before anything is computed for it."""
    if path.is_dir():
        raise InvalidParameter(f"{path.name!r} is a folder. Name a file, such as report.html.")
    check_absent(path, "the report", overwrite=overwrite)
    return path


def write(model: ReportModel, path: Path, *, overwrite: bool = False) -> Path:
    """Write the page beside its place and move it there when it is whole."""
    page = render(model)
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as fresh:
        fresh.write_text(page, encoding="utf-8", newline="\n")
        check_target(path, overwrite)  # once more: it may have come to be there meanwhile
    return path
