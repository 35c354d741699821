"""Compare: methods and levels of k, l and t beside each other, as a map of risk and loss and as a table."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from microagg.app.answers import back, form_of, number_in, rendered, settled
from microagg.app.comparing import ComparedRelease, beside_each_other, choose, rows_of, start
from microagg.app.comparing import keep as keep_one
from microagg.app.edits import change_words
from microagg.app.forms import Control, FormOption, Wrong, changed_by, table_of
from microagg.app.session import Session
from microagg.app.words import set_out
from microagg.app.worker import COMPARE
from microagg.base.frozen import frozen
from microagg.errors import MicroaggError
from microagg.jobs.candidates import not_used
from microagg.judge.comparison import Comparison
from microagg.judge.text import shown
from microagg.measures.criterion import Criterion
from microagg.measures.definitions import defined
from microagg.recipe import Recipe
from microagg.report import alternatives, pictures
from microagg.study.candidate import known_criteria
from microagg.study.variants import KS_COMPARED, methods_to_compare


@frozen()
class TableColumn:
    """A column of the table: what it says of a row, and how rows are sorted by it."""

    head: str
    value: Callable[[ComparedRelease], Any]
    shape: str = "text"  # "text", "count", "number", "percent" or "seconds"
    said: str = ""
    brief: str = ""


_BRIEF = {
    "IL": "information lost",
    "G_IL": "five changes combined",
    "RLD": "linked, some columns known",
    "ID": "guessed closely",
    "G_DR": "both risks",
}
"""What stands beneath a symbol where its title is long, or says little away from its list."""

_MEANT = {
    "IL": "What each column lost, as a share of what it would lose if all records had one value.",
    "RLD": "Records or units that are linked to the right one, averaged over what the intruder may know.",
}
"""What symbols mean whose sentence depends on the release."""


def columns_of(found: Comparison | None) -> list[TableColumn]:
    """Return the columns of the table: those of `microagg compare`, k reached and the column that lost most."""
    made = [
        TableColumn("method", lambda row: shown(row.judged.line) if row.judged else shown(row.name)),
        TableColumn("k", lambda row: row.recipe.k, "count"),
    ]
    if found is None:
        return made
    made += [
        TableColumn("k reached", _of("k_reached"), "count"),
        TableColumn("groups", _of("groups"), "count"),
    ]
    for name in ("l_reached", "t_reached"):
        if any(getattr(one, name) is not None for one in found.candidates):
            made.append(TableColumn(name.replace("_", " "), _of(name), "number"))
    meant = {one.name: one.meaning for one in (*defined("loss"), *defined("risk")) if isinstance(one.meaning, str)}
    meant |= _MEANT
    for one in found.compared:
        title = one.title[:1].upper() + one.title[1:]
        said = ". ".join(words.removesuffix(".") for words in (title, meant.get(one.name, "")) if words) + "."
        brief = _BRIEF.get(one.name, one.title if one.name in meant else "")
        made.append(
            TableColumn(shown(one.name), _figure(one.name), "percent" if one.unit else "number", set_out(said), brief)
        )
    made += [
        TableColumn("score", _of("score"), "number", "Loss and risk together.", "loss and risk"),
        TableColumn("lost most", lambda row: row.worst, "text", "The column that lost most."),
        TableColumn("seconds", _of("seconds"), "seconds", "How long masking took."),
    ]
    return made


def _of(name: str) -> Callable[[ComparedRelease], Any]:
    return lambda row: getattr(row.judged, name, None)


def _figure(name: str) -> Callable[[ComparedRelease], Any]:
    return lambda row: None if row.judged is None else row.judged.figures.get(name)


def _in_order(rows: list[ComparedRelease], columns: list[TableColumn], sort: int, down: bool) -> list[ComparedRelease]:
    """Sort rows by a column; those without a figure come last."""
    if not 0 <= sort < len(columns):
        return rows
    value = columns[sort].value
    known = [row for row in rows if not _is_lacking(value(row))]
    lacking = [row for row in rows if _is_lacking(value(row))]
    return [*sorted(known, key=value, reverse=down), *lacking]


def _is_lacking(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def _usual(recipe: Recipe) -> dict[str, list[str]]:
    """Return what is compared where nothing is said, as the fields have it."""
    return {"compare.methods": list(methods_to_compare(recipe)), "compare.ks": [", ".join(map(str, KS_COMPARED))]}


def _fields(session: Session, wrong: Wrong | None) -> list[Control]:
    """The fields of [compare]: what is usual is shown as chosen, and measures are picked from those there are."""
    recipe = session.recipe
    made = list(table_of("compare", recipe, session.columns, wrong).controls)
    ranks, axes = known_criteria(recipe)
    for place, one in enumerate(made):
        if wrong is not None and one.name in wrong.posted:
            usual = wrong.posted[one.name]
        else:
            usual = _usual(recipe).get(one.name, []) if not one.changed else []
        if one.name == "compare.methods" and usual:
            made[place] = replace(one, options=tuple(replace(of, chosen=of.value in usual) for of in one.options))
        elif one.name == "compare.ks" and usual:
            made[place] = replace(one, value=usual[-1])
        elif one.name == "compare.rank":
            made[place] = replace(one, shape="select", options=_measures(ranks, one.value or "score", None))
        elif one.name == "compare.map_axis":
            made[place] = replace(one, shape="select", options=_measures(axes, one.value, "the loss of the score"))
    return made


def _measures(known: list[Criterion], chosen: str, empty: str | None) -> tuple[FormOption, ...]:
    first = () if empty is None else (FormOption("", empty, not chosen),)
    made = [FormOption(one.name, f"{shown(one.name)}: {one.title}", one.name == chosen) for one in known]
    return (*first, *made)


def _view(given: Any) -> dict[str, int]:
    """Return what is seen of the table: which row is chosen, by which column it is sorted, and which way."""
    found = {}
    for name in ("chosen", "sort", "down"):
        text = given.get(name, "")
        text = text[-1] if isinstance(text, list) else text
        found[name] = int(text) if text.isdecimal() and len(text) < 10 else -1
    return found


def _address(view: dict[str, int], **changes: int) -> str:
    numbers = [
        f"{name}={value}" for name, value in {**view, **changes}.items() if value > 0 or (name, value) == ("sort", 0)
    ]
    return f"/compare?{'&'.join(numbers)}" if numbers else "/compare"


def _map(
    session: Session, rows: list[ComparedRelease], found: Comparison | None, view: dict[str, int]
) -> dict[str, Any]:
    """Return the map, what is said of it, and what each row is marked as."""
    if found is None:
        return {"map": Markup(""), "text": "", "marks": {}, "least_k": None, "sampled": None}
    section = alternatives.section(found)
    there = [row for row in rows if row.judged is not None]
    judged = list(zip(there, section.candidates, strict=True))
    marks = {row.number: one.mark.split(", ") if one.mark else [] for row, one in judged}
    best = next((row for row, one in judged if one.best), None)
    present = session.key()
    for row in there:
        if row.kept is not None:
            marks[row.number].append("kept")
        if row.key == present:
            marks[row.number].append("present choice")
    links = [
        pictures.Link(
            f"{_address(view, chosen=row.number)}#c-{row.number}",
            row.number == view["chosen"],
            tuple(word for word in marks[row.number] if word != "efficient"),
        )
        for row in there
    ]
    return {
        "map": pictures.risk_map(section, links),
        "text": section.text,
        "marks": marks,
        "least_k": section.least_k,
        "sampled": found.sampled,
        "best": "" if best is None else f"{section.head}: {best.title}.",
    }


def _shown(session: Session, view: dict[str, int], status: int = 200, wrong: Wrong | None = None) -> Response:
    rows: list[ComparedRelease] = []
    if not session.lacking:
        try:
            rows = rows_of(session)
        except MicroaggError as error:
            wrong = wrong or Wrong(error, {})
    found = beside_each_other(rows)
    columns = columns_of(found)
    fields = _fields(session, wrong)
    names = [str(method) for method in session.recipe.compare.methods or methods_to_compare(session.recipe)]
    masked = session.recipe.masked(session.columns)
    return rendered(
        session,
        "compare.html.j2",
        status,
        fields=fields,
        wrong="" if wrong is None or any(one.error for one in fields) else wrong.text,
        refused=wrong is not None,
        lacking=session.lacking,
        rows=_in_order(rows, columns, view["sort"], view["down"] > 0),
        columns=columns,
        view=view,
        address=lambda **changes: _address(view, **changes),
        to_do=sum(row.judged is None for row in rows),
        running=session.worker.has(COMPARE),
        unused=[] if wrong else not_used(session.recipe, names),
        known=len(session.recipe.risk.keys or masked),
        masked=len(masked),
        present="" if session.lacking else session.key(),
        **{"best": "", **_map(session, rows, found, view)},
    )


async def show(request: Request, session: Session) -> Response:
    """Show what was compared, and what would be."""
    return _shown(session, _view(dict(request.query_params)))


async def apply(request: Request, session: Session) -> Response:
    """Change what is compared, and make the releases that are lacking."""
    posted = await form_of(request)
    assert session.history is not None
    session.history.check(number_in(posted))
    posted = {name: [one for one in given if one] or [""] for name, given in posted.items()}
    for name, usual in _usual(session.recipe).items():
        if posted.get(name) == usual and getattr(session.recipe.compare, name.partition(".")[2]) is None:
            del posted[name]
    try:
        recipe = changed_by(posted, session.recipe, session.columns)
        session.shelf.removed.clear()
        rows = rows_of(session, recipe)
    except MicroaggError as error:
        return _shown(session, _view({}), 422, Wrong(error, posted))
    words = change_words(session.recipe, recipe, session.columns)
    if words:
        session.change(recipe, words)
    start(session, rows)
    await settled(session, COMPARE)
    return back("/compare")


async def keep(request: Request, session: Session) -> Response:
    """Keep a release as a candidate."""
    posted = await form_of(request)
    assert session.history is not None
    session.history.check(number_in(posted))
    keep_one(session, number_in(posted, "candidate"))
    looked = number_in(posted, "look")  # where it was kept from there
    return back(_address(_view(posted)) if looked < 0 else f"/look/{looked}")


async def use(request: Request, session: Session) -> Response:
    """Go on with the recipe of a release."""
    posted = await form_of(request)
    assert session.history is not None
    session.history.check(number_in(posted))
    recipe = session.shelf.recipe(number_in(posted, "candidate"))
    if recipe is not None and session.is_read_for(recipe):  # a form of a former state may be posted on top
        choose(session, recipe)
    return back(_address(_view(posted)))


async def forget(request: Request, session: Session) -> Response:
    """Keep a candidate no longer; undo brings it back."""
    posted = await form_of(request)
    assert session.history is not None
    session.history.check(number_in(posted))
    session.forget(number_in(posted, "candidate"))
    return back(_address(_view(posted)))


async def remove(request: Request, session: Session) -> Response:
    """Take a release off the map and the table; comparing once more brings it back."""
    posted = await form_of(request)
    assert session.history is not None
    session.history.check(number_in(posted))
    recipe = session.shelf.recipe(number_in(posted, "candidate"))
    if recipe is not None:
        session.shelf.removed.add(session.key(recipe))
        session.touch()
    return back(_address(_view(posted)))
