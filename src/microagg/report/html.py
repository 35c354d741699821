"""One self-contained page of HTML: no script, nothing fetched."""

from importlib import resources
from pathlib import Path

from markupsafe import Markup

from microagg.checks import check_absent
from microagg.errors import InvalidParameter
from microagg.files.files import whole_file
from microagg.report import pictures
from microagg.report.parts import ReportModel
from microagg.report.templates import environment


def render(model: ReportModel) -> str:
    """Return the page of a report.

    Examples
    --------
    >>> import microagg as ma
    >>> from microagg.report import build, render
    >>> page = render(build(ma.protect(ma.datasets.survey(300, seed=0).select(["age", "income"]), k=3)))
    >>> page.splitlines()[0]
    '<!doctype html>'
    """
    style = resources.files("microagg.report").joinpath("style.css").read_text(encoding="utf-8")
    return environment().get_template("page.html.j2").render(model=model, pictures=pictures, style=Markup(style))


def render_section(model: ReportModel, name: str) -> Markup:
    """One section of the page, such as "risk", for a page that has `style.css` too; empty where there is none."""
    return Markup(environment().get_template(f"sections/{name}.html.j2").render(model=model, pictures=pictures))


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
    with whole_file(path, private=not model.public) as fresh:
        fresh.write_text(page, encoding="utf-8", newline="\n")
        check_target(path, overwrite)  # once more: it may have come to be there meanwhile
    return path
