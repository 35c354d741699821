"""Look: one release before and after, or two side by side, by the report's own sections and pictures."""

from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from microagg.app.answers import back, form_of, number_in, rendered, settled
from microagg.app.comparing import choose, rows_of
from microagg.app.edits import candidate_name, recipe_line
from microagg.app.jobs import drawing, peeking
from microagg.app.session import AT_ONCE, Session
from microagg.app.worker import COMPARE, DRAW, EXPORT, TRY
from microagg.base.frozen import frozen
from microagg.errors import MicroaggError
from microagg.jobs.trial import MOST_ROWS, SECTIONS, Looked, peek_at, set_beside
from microagg.judge.text import shown
from microagg.recipe import Recipe

_COLUMNS = 12  # drawn on one page where nobody chooses
_MOST_COLUMNS = 30
_PATIENCE = 15  # moments that somebody waits for rows whose release is made again
_IN_NUMBERS = 4  # columns up to which every bin is also written as text


@frozen()
class Side:
    """One of the releases that are looked at.

    Attributes
    ----------
    letter : str
        "A", or "B" for the second.
    number : int
    name, line : str
        What it is called, and the rest of its recipe in a line.
    recipe : Recipe
    looked : Looked or None
        None until it is drawn.
    refused : str
        Why it is not.
    """

    letter: str
    number: int
    name: str
    line: str
    recipe: Recipe
    looked: Looked | None
    refused: str = ""

    def section(self, name: str) -> Markup:
        """Return a section; the second has other ids, since one page holds both."""
        text = Markup("") if self.looked is None else self.looked.sections.get(name, Markup(""))
        return text if self.letter == "A" else Markup(str(text).replace('<section id="', '<section id="b-', 1))

    def column(self, name: str) -> Any:
        """Return a column by its name; None where it is not masked here."""
        return next((one for one in self.looked.columns if one.name == name), None) if self.looked else None


@frozen()
class View:
    """What of it is seen: the second release, the section, the columns by their places; numbers alone."""

    other: int = -1
    part: int = 0
    columns: tuple[int, ...] = ()
    start: int = 0

    def address(self, number: int, **changes: Any) -> str:
        """Return the address of another view."""
        now = replace(self, **changes)
        said = [("with", now.other), ("part", now.part), ("from", now.start)]
        said = [one for one in said if one[1] > 0] + [("column", place) for place in now.columns]
        return f"/look/{number}" + ("?" + "&".join(f"{name}={value}" for name, value in said) if said else "")


def _view(query: str) -> View:
    given = {
        name: [int(one) for one in values if one.isdecimal() and len(one) < 10]
        for name, values in parse_qs(query).items()
    }
    one = {name: values[-1] for name, values in given.items() if values}
    part = one.get("part", 0)
    return View(
        one.get("with", -1),
        part if part < len(SECTIONS) else 0,
        tuple(dict.fromkeys(given.get("column", ())))[:_MOST_COLUMNS],
        one.get("from", 0),
    )


def _side(session: Session, letter: str, number: int, recipe: Recipe) -> Side:
    key, kept = session.key(recipe), session.candidate(number)
    refused = session.shelf.unseen.get(key)
    return Side(
        letter,
        number,
        shown(candidate_name(recipe) if kept is None else kept.name),
        recipe_line(recipe, session.columns, named=True),
        recipe,
        session.shelf.looks.get(key),
        "" if refused is None else refused.text,
    )


def _recipe(session: Session, number: int) -> Recipe | None:
    """Return the recipe with a number, where the file is read as it says."""
    kept = session.candidate(number)
    recipe = session.shelf.recipe(number) if kept is None else kept.recipe
    return recipe if recipe is not None and session.is_read_for(recipe) else None


def _undrawn(session: Session, *numbers: int) -> list[Recipe]:
    """Return the recipes with these numbers that are not drawn yet."""
    recipes = [recipe for one in numbers if (recipe := _recipe(session, one)) is not None]
    return [recipe for recipe in recipes if session.key(recipe) not in session.shelf.looks]


def _draw(session: Session, recipes: list[Recipe]) -> None:
    """Draw what recipes do, on the worker's thread."""
    shelf, keys = session.shelf, [session.key(recipe) for recipe in recipes]
    for key in keys:
        shelf.unseen.pop(key, None)

    def done(place: int, release: Any, looked: Looked) -> None:
        session.release = (keys[place], release)
        shelf.looks.store(keys[place], looked)
        session.touch()

    def refused(place: int, told: Any) -> None:
        shelf.unseen.store(keys[place], told)
        session.touch()

    shelf.drawing, shelf.stopped = " ".join(keys), ""
    files = [(session.with_recipe(recipe), _at_hand(session, recipe)) for recipe in recipes]
    session.worker.submit(drawing(files, done, refused))


def _at_hand(session: Session, recipe: Recipe) -> Any:
    """Return the release of a recipe where it is the last that was made."""
    return session.release[1] if session.release is not None and session.release[0] == session.key(recipe) else None


def _is_quick(session: Session, recipe: Recipe) -> bool:
    return _at_hand(session, recipe) is not None or session.seconds_of(recipe) < AT_ONCE


def _others(session: Session, number: int) -> list[tuple[int, str]]:
    """Return what can stand beside a release: the present choice, what was kept, and what was compared."""
    found = {session.number_of(): f"present choice: {candidate_name(session.recipe)}"}
    for kept in session.candidates:
        if session.is_read_for(kept.recipe):
            found.setdefault(kept.number, f"kept: {kept.name}")
    try:
        rows = rows_of(session)
    except MicroaggError:
        rows = []
    for row in rows:
        if row.judged is not None:
            found.setdefault(row.number, row.title)
    return [(one, shown(words)) for one, words in found.items() if one != number]


def _columns_seen(session: Session, sides: list[Side], view: View) -> dict[str, Any]:
    """Return the columns that are drawn, by their place in the file, and what else can be chosen."""
    masked = {one.name for side in sides if side.looked for one in side.looked.columns}
    known = [(place, shown(name)) for place, name in enumerate(session.columns) if shown(name) in masked]
    chosen = [(place, name) for place, name in known if place in view.columns]
    paged = [] if chosen else known[view.start : view.start + _COLUMNS]
    return {
        "known": known,
        "seen": chosen or paged,
        "chosen": bool(chosen),
        "in_numbers": len(chosen or paged) <= _IN_NUMBERS,
        "pages_of": range(0, len(known), _COLUMNS) if len(known) > _COLUMNS else (),
    }


def _shown(session: Session, number: int, view: View, status: int = 200, **more: Any) -> Response:
    recipe, other = _recipe(session, number), _recipe(session, view.other)
    if recipe is None:
        return _gone(session)
    sides = [_side(session, "A", number, recipe)]
    if other is not None and view.other != number:
        sides.append(_side(session, "B", view.other, other))
    there = [side.looked for side in sides if side.looked is not None]
    drawn = len(there) == len(sides)
    parts = [(place, name, title) for place, (name, title) in enumerate(SECTIONS.items()) if _is_there(name, there)]
    return rendered(
        session,
        "look.html.j2",
        status,
        n=number,
        sides=sides,
        view=view,
        address=lambda **changes: view.address(number, **changes),
        parts=parts,
        part=list(SECTIONS)[view.part],
        drawn=drawn,
        beside=set_beside(*there) if len(there) == 2 else [],
        others=_others(session, number),
        waits=session.worker.has(DRAW),
        busy=any(map(session.worker.has, (TRY, COMPARE, EXPORT))),
        seconds=sum(session.seconds_of(side.recipe) for side in sides if side.looked is None),
        kept=session.candidate(number) is not None,
        present=session.key(recipe) == session.key(),
        rows=more.get("rows"),
        again=more.get("again", False),
        most=MOST_ROWS,
        **_columns_seen(session, sides, view),
    )


def _is_there(name: str, looked: list[Looked]) -> bool:
    return name == "columns" or any(name in one.sections for one in looked)


def _gone(session: Session) -> Response:
    return rendered(
        session,
        "fault.html.j2",
        404,
        text="There is no release of this number, or the file was read in another way since then.",
    )


async def show(request: Request, session: Session) -> Response:
    """Show a release by its number, or the present one."""
    if session.lacking:
        return back("/try")
    number = request.path_params.get("number")
    if number is None:
        query = f"?{request.url.query}" if request.url.query else ""
        return back(f"/look/{session.number_of()}{query}")
    view = _view(request.url.query)
    undrawn = [one for one in _undrawn(session, number, view.other) if _may_draw(session, one)]
    if undrawn and session.worker.idle:  # a page of its own accord takes no other work's place
        _draw(session, undrawn)
    await settled(session, DRAW)
    return _shown(session, number, view)


def _may_draw(session: Session, recipe: Recipe) -> bool:
    key = session.key(recipe)
    return key not in session.shelf.unseen and key not in session.shelf.stopped and _is_quick(session, recipe)


async def draw(request: Request, session: Session) -> Response:
    """Draw a release that takes longer than a moment."""
    posted = await form_of(request)
    number, view = number_in(posted, "candidate"), _view(posted.get("view", [""])[-1])
    undrawn = _undrawn(session, number, view.other)
    if undrawn:
        _draw(session, undrawn)
    await settled(session, DRAW)
    return back(view.address(number))


async def use(request: Request, session: Session) -> Response:
    """Go on with the recipe of a release."""
    posted = await form_of(request)
    assert session.history is not None
    session.history.check(number_in(posted))
    number = number_in(posted, "candidate")
    recipe = _recipe(session, number)
    if recipe is None:
        return _gone(session)
    choose(session, recipe)
    return back(f"/look/{number}")


async def peek(request: Request, session: Session) -> Response:
    """Show some rows of a masked file, once."""
    if not session.peek:
        return PlainTextResponse("404: there is no such page.\n", 404)
    posted = await form_of(request)
    number = number_in(posted, "candidate")
    recipe = _recipe(session, number)
    if recipe is None:
        return _gone(session)
    rows = _rows(session, recipe)
    if rows is None and session.worker.idle:
        key, shelf = session.key(recipe), session.shelf
        session.worker.submit(
            peeking(session.with_recipe(recipe), lambda found: setattr(shelf, "peeked", (key, found)))
        )
        for _ in range(_PATIENCE):
            await settled(session, DRAW)
        rows = _rows(session, recipe)
    return _shown(session, number, View(), rows=rows, again=rows is None)


def _rows(session: Session, recipe: Recipe) -> Any:
    """Return rows of a release that is at hand, or that were asked for a moment ago; those are then forgotten."""
    release, (key, rows) = _at_hand(session, recipe), session.shelf.peeked
    session.shelf.peeked = ("", None)
    return peek_at(release) if release is not None else rows if key == session.key(recipe) else None
