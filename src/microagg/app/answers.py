"""What pages answer with, and what they read of a request; the help at the end of each page."""

import asyncio
from contextvars import ContextVar
from functools import cache
from importlib import resources
from typing import Any
from urllib.parse import parse_qs

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from microagg.app.pages import PAGES
from microagg.app.session import Session
from microagg.errors import InvalidParameter

_SEEN: ContextVar[int] = ContextVar("seen")
_MOMENT, _MOMENTS = 0.02, 10  # seconds, and how many of them
_MOST = 4_000_000  # bytes of a form
_DIGITS = 400  # of a number: a float has at most 309 before its point
_REFUSED = (409, 422)  # what is answered to a form of a former state, and to one that holds something wrong


def begin(session: Session) -> None:
    """Note the state that a page is about to show: what changes while the page is made, the script then asks for."""
    _SEEN.set(session.stamp)


def rendered(session: Session, template: str, status: int = 200, **content: Any) -> Response:
    """Return a page made from a template, which knows the session and what is passed besides."""
    known = {"session": session, "pages": PAGES, "stamp": _SEEN.get(session.stamp), **_header(session)}
    known["helping"] = help_text(template.partition(".")[0])
    # The script leaves such a page as it is, but where a form waits for something that is being made.
    known["refused_form"] = status in _REFUSED and not content.get("preparing")
    text = environment().get_template(template).render(**known, **content)
    return HTMLResponse(text, status)


def back(path: str) -> Response:
    """Lead to a page after something was posted, so that reload and Back post nothing once more."""
    return RedirectResponse(path, 303)


async def settled(session: Session, *kinds: str) -> None:
    """Wait a moment for work of these kinds, or all, so that quick work is on the page at once, without a script."""
    for _ in range(_MOMENTS):
        if not any(map(session.worker.has, kinds)) if kinds else session.worker.idle:
            break
        await asyncio.sleep(_MOMENT)
    begin(session)


async def form_of(request: Request) -> dict[str, list[str]]:
    """Return what was posted, each field with all its values in order."""
    if int(request.headers.get("content-length") or _MOST + 1) > _MOST:
        raise InvalidParameter("the form is too long, or its length is not known.")
    body = await request.body()  # read once, and then at hand
    posted = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    for given in (one.strip() for values in posted.values() for one in values):
        if len(given) > _DIGITS and given.lstrip("-+").isdecimal():
            raise InvalidParameter(f"a number has {len(given)} digits, and at most {_DIGITS} are possible.")
    return posted


def number_in(posted: dict[str, list[str]], name: str = "number") -> int:
    """Return a whole number that was posted; -1 where there is none."""
    text = posted.get(name, [""])[-1]
    return int(text) if text.isdecimal() else -1


@cache
def environment() -> Environment:
    """Return the templates of the app; those of the report's sections and pictures are among them."""
    found = Environment(
        loader=ChoiceLoader([PackageLoader("microagg", "app/templates"), PackageLoader("microagg", "report")]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    found.filters |= {name: _of_report(name) for name in ("percent", "points", "count", "number", "shown")}
    found.filters |= {"coded": _coded, "set_out": _set_out}
    return found


def _of_report(name: str) -> Any:
    """Return a filter of the report, imported when it is first used, since that is heavy."""

    def used(value: Any) -> Any:
        from microagg.judge import text

        return getattr(text, name)(value)

    return used


def _set_out(text: str) -> str:
    from microagg.app.words import set_out

    return set_out(text)


def _coded(text: str) -> Markup:
    """Return a text with what stands between backticks, one or two, as code."""
    parts = enumerate(text.replace("``", "`").split("`"))
    return Markup("").join(Markup("<code>{}</code>").format(part) if place % 2 else part for place, part in parts)


def _header(session: Session) -> dict[str, Any]:
    """Return what stands above every page."""
    if session.opened is None or session.history is None:
        return {"number": 0, "line": ""}
    from microagg.app.edits import recipe_line

    line = recipe_line(session.recipe, session.columns) if session.ready else ""
    return {"number": session.history.number, "line": line}


@cache
def static_text(name: str) -> str | None:
    """Return a file that pages link to: the style, that of the report and ours, or the script."""
    home = resources.files("microagg")
    if name == "style.css":
        both = (home.joinpath("report", "style.css"), home.joinpath("app", "static", "app.css"))
        return "\n".join(one.read_text(encoding="utf-8") for one in both)
    if name == "app.js":
        return home.joinpath("app", "static", "app.js").read_text(encoding="utf-8")
    return None


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
