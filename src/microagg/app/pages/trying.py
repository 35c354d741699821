"""Try: k, the method and every other choice; what the release would keep, lose and risk."""

from dataclasses import replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from microagg.algorithms.methods import BY_TREE, METHODS
from microagg.app.answers import back, form_of, number_in, rendered, settled
from microagg.app.edits import candidate_name, change_words, roles_from
from microagg.app.forms import Control, FormTable, Wrong, changed_by, k_field, method_options, table_of
from microagg.app.remedies import against, faster, offered, seen_at, taken
from microagg.app.session import Session
from microagg.app.worker import TRY
from microagg.errors import MicroaggError
from microagg.judge.text import shown
from microagg.recipe import PARTS

ELSEWHERE = ("roles", "kinds", "read", "join", "output", "compare")
"""Tables of a recipe that other pages have fields for; add those of a page that you write."""

_FIRST = ("method", "refine")  # tables that stand above the others
_LONG = 60.0  # seconds, beyond which a page says what would be faster
_WORST = 5  # columns whose loss is named


def fields_of(session: Session, wrong: Wrong | None = None) -> dict[str, Any]:
    """Return the fields: those that are used most, and all others by table."""
    recipe, columns = session.recipe, session.columns
    exposure = session.exposure()
    k = k_field(recipe, None if exposure is None else exposure.smallest_stratum, wrong)
    if recipe.roles.unit is not None:
        k = replace(k, help=f"At least this many different units (“{shown(recipe.roles.unit)}”) share masked values.")
    first: list[Control] = [k]
    for name in _FIRST:
        own = table_of(name, recipe, columns, wrong).controls
        first.append(replace(own[0], more=""))  # which speaks to who programs
    known = METHODS.get(recipe.method.name) or BY_TREE.get(recipe.method.name)
    if known is not None:
        first[1] = replace(first[1], help=f"How groups are formed: {known.said}.")
    options = method_options(recipe, columns, wrong)
    more: dict[str, list[Control]] = {}
    for name in PARTS:
        if name not in (*ELSEWHERE, *_FIRST):
            table = table_of(name, recipe, columns, wrong)
            more.setdefault(table.title, []).extend(table.controls)
    more.setdefault(table_of("refine", recipe, columns).title, []).extend(
        table_of("refine", recipe, columns, wrong).controls[1:]
    )
    tables = [FormTable(f"more-{i}", title, tuple(controls)) for i, (title, controls) in enumerate(more.items())]
    placed = (*first, *options, *(one for table in tables for one in table.controls))
    at_field = any(one.error or any(row.error for row in one.rows) for one in placed)
    return {
        "first": first,
        "options": options,
        "tables": tables,
        "changed": sum(table.changed for table in tables),
        "wrong": "" if wrong is None or at_field else wrong.text,
        "refused": wrong is not None,
    }


def _shown(session: Session, status: int = 200, wrong: Wrong | None = None) -> Response:
    tried = session.figures()
    failure = session.failure()
    sorted_rows = not session.recipe.output.same_order  # which figures do not depend on
    slow = session.seconds > _LONG and not session.worker.has(TRY)
    return rendered(
        session,
        "try.html.j2",
        status,
        tried=tried,
        former=session.shown if tried is None and session.shown else None,
        failure=failure,
        remedies=offered(session.recipe, session.columns, failure, wrong),
        faster=faster(session.recipe, session.columns) if slow else (),
        lacking=session.lacking,
        seconds=session.seconds,
        trying=session.worker.has(TRY),
        worst=_WORST,
        solved=("row order",) if sorted_rows else (),
        against=lambda topic: against(topic, session.recipe, session.columns),
        seen_at=seen_at(),
        kept=any(one.recipe == session.recipe for one in session.candidates),
        **fields_of(session, wrong),
    )


async def show(request: Request, session: Session) -> Response:  # noqa: ARG001 - all pages are called in the same way
    """Show the choices and the figures of the last try."""
    if not session.lacking:
        if session.recipe.roles.strata:
            session.look()
        session.attempt_if_quick()
        await settled(session, TRY)
    return _shown(session)


async def apply(request: Request, session: Session) -> Response:
    """Change choices, and try them where that takes no time or is asked for."""
    posted = taken(await form_of(request))
    assert session.history is not None
    session.history.check(number_in(posted))
    try:
        recipe = changed_by(posted, roles_from(posted, session.recipe, session.columns), session.columns)
        if recipe.masked(session.columns):
            recipe.check_columns(session.columns)
    except MicroaggError as error:
        return _shown(session, 422, Wrong(error, posted))
    words = change_words(session.recipe, recipe, session.columns)
    if words:
        session.change(recipe, words)
    # Enter in a field presses this button too, though nothing may have changed.
    if "run" in posted and not session.lacking and session.untried:
        session.attempt()
    return back("/try")


async def keep(request: Request, session: Session) -> Response:
    """Keep the present recipe as a candidate."""
    posted = await form_of(request)
    assert session.history is not None
    session.history.check(number_in(posted))
    recipe = session.recipe
    if session.figures() is not None and all(one.recipe != recipe for one in session.candidates):
        session.keep(candidate_name(recipe), posted.get("note", [""])[-1].strip()[:500])
    return back("/try")


async def forget(request: Request, session: Session) -> Response:
    """Take a candidate away."""
    posted = await form_of(request)
    assert session.history is not None
    session.history.check(number_in(posted))
    session.forget(number_in(posted, "candidate"))
    return back("/try")
