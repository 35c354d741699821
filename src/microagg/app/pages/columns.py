"""Columns: which column is what and of which kind, why, and how exposed the records are."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from microagg.app.answers import back, form_of, number_in, rendered, settled
from microagg.app.edits import change_words, role_named, roles_from, roles_of, with_kinds, with_roles
from microagg.app.forms import Wrong, changed_by, table_of
from microagg.app.remedies import offered, taken
from microagg.app.session import Session
from microagg.app.values import Posted, column_field
from microagg.app.worker import LOOK
from microagg.base.frozen import frozen
from microagg.columns.kinds import KINDS
from microagg.columns.roles import Role
from microagg.errors import InvalidParameter, MicroaggError
from microagg.jobs.inspecting import check_weight
from microagg.judge.text import shown
from microagg.recipe import Recipe, Roles, choices, choices_of
from microagg.recipe._file import read_candidates

_MANY = 40  # columns of a role, beyond which they are not unfolded
_SAID_OF_KINDS = {
    "number": "a quantity, such as age or income",
    "date": "a day, a time, or a length of time",
    "ordinal": "categories in an order, such as levels of education",
    "nominal": "categories without an order, such as occupations",
    "semi": "a quantity with one frequent value, its spike: mostly 0, as for income from a business",
}
_ALSO_SAID = {
    "weight": "It is released, unless you choose otherwise",
    "unit": "The column itself is left out",
}
"""What becomes of a column whose role does not say so by itself."""
_AS_NOW = "="  # the option that does not change levels or a spike


@frozen()
class ColumnRow:
    """A column of the file as a row of the page."""

    index: int
    name: str
    role: str
    kind: str
    kinds: tuple[tuple[str, str], ...]
    reason: str
    missing: int
    distinct: int
    error: str = ""


@frozen()
class Group:
    """The columns of one role."""

    role: str
    said: str
    rows: tuple[ColumnRow, ...]
    unfolded: bool = True


def rows_of(session: Session, wrong: Wrong | None = None) -> list[ColumnRow]:
    """Return a row for each column, in the order of the file."""
    assert session.inspection is not None
    assert session.history is not None
    roles, first = roles_of(session.recipe, session.columns), session.history.steps[0].recipe
    were = roles_of(first, session.columns)
    made = []
    for index, guess in enumerate(session.inspection.columns):
        kind = session.recipe.kinds.kinds.get(guess.name)
        reason = (
            guess.reason if guess.role.value == roles[guess.name] else _other_reason(guess, were[guess.name], roles)
        )
        posted = {} if wrong is None else wrong.posted
        blamed = wrong is not None and guess.name in wrong.error.columns
        made.append(
            ColumnRow(
                index,
                shown(guess.name),
                posted.get(f"role-{index}", [roles[guess.name]])[-1],
                posted.get(f"kind-{index}", ["" if kind is None else kind if isinstance(kind, str) else _AS_NOW])[-1],
                _kinds_for(guess.kind, kind),
                reason,
                guess.missing,
                guess.distinct,
                wrong.text if wrong is not None and blamed else "",
            )
        )
    return made


def _other_reason(guess: Any, was: str, roles: Mapping[str, str]) -> str:
    """Say why a column has another role than the guessed one."""
    by = "as the recipe says" if roles[guess.name] == was else "as you chose"
    return f"{by}; the guess was {guess.role.value}: {guess.reason}"


def _kinds_for(guessed: str | None, kind: Any) -> tuple[tuple[str, str], ...]:
    """Return the kinds that can be chosen, the first of them what follows from the column's type."""
    own: tuple[tuple[str, str], ...] = ()
    if kind is not None and not isinstance(kind, str):
        own = ((_AS_NOW, f"levels ({len(kind)})" if isinstance(kind, tuple) else f"semi, spike {kind['spike']:g}"),)
    by_type = f"{guessed}, by type" if guessed and kind is None else "by type"
    return (("", by_type), *own, *((word, word) for word in KINDS))


def _shown(session: Session, request: Request, status: int = 200, wrong: Wrong | None = None) -> Response:
    rows = rows_of(session, wrong)
    said = {name: choice.said for name, choice in choices_of(Roles).items()}
    said |= {role: f"{said[role]}. {more}" for role, more in _ALSO_SAID.items()}
    roles = roles_of(session.recipe, session.columns)
    groups = []
    for role in Role:
        own = tuple(row for row, name in zip(rows, session.columns, strict=True) if roles[name] == role.value)
        if own:
            groups.append(Group(role.value, said[role.value], own, len(own) <= _MANY or any(one.error for one in own)))
    session.look()
    blamed = next((row for row in rows if row.error), None)
    lacking = session.lacking
    return rendered(
        session,
        "columns.html.j2",
        status,
        groups=groups,
        roles=[(role.value, said[role.value]) for role in Role],
        kinds=[(kind, _SAID_OF_KINDS.get(kind, "")) for kind in KINDS],
        exposure=session.exposure(),
        wrong="" if wrong is None else wrong.text,
        failure=session.failure() if wrong is None and not lacking else None,
        remedies=offered(session.recipe, session.columns, session.failure(), wrong),
        focus=blamed.index if blamed else 0 if lacking and "changed" in request.query_params else None,
        lacking=lacking,
        refused=session.refused,
        reading=(table_of("read", session.recipe, session.columns), table_of("join", session.recipe, session.columns)),
        recipes=_recipes(session.folder),
    )


def _recipes(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir() if path.suffix == ".toml" and path.is_file())[:100]
    except OSError:
        return []


async def show(request: Request, session: Session) -> Response:
    """Show the columns."""
    session.look()
    await settled(session, LOOK)
    return _shown(session, request)


async def _change(request: Request, session: Session, made: Any) -> Response:
    """Go on with what `made(posted)` gives, or show why it is refused."""
    posted = taken(await form_of(request))
    assert session.history is not None
    session.history.check(number_in(posted))
    try:
        recipe: Recipe = made(posted)
        if recipe.roles.weight != session.recipe.roles.weight:
            check_weight(session.with_recipe(recipe))
    except MicroaggError as error:
        return _shown(session, request, 422, Wrong(error, posted))
    words = change_words(session.recipe, recipe, session.columns)
    if words:
        session.change(recipe, words)
    return back("/?changed=1" if session.lacking else "/")


async def apply(request: Request, session: Session) -> Response:
    """Change the roles and kinds of rows."""

    def made(posted: Posted) -> Recipe:
        recipe = roles_from(posted, session.recipe, session.columns)
        return changed_by(posted, with_kinds(recipe, _kinds(posted, session)), session.columns)

    return await _change(request, session, made)


async def bulk(request: Request, session: Session) -> Response:
    """Change the role of all rows that were ticked."""

    def made(posted: Posted) -> Recipe:
        ticked = [session.columns[int(one)] for one in posted.get("row", []) if _is_place(one, session)]
        role = role_named(posted.get("role", [""])[-1])
        if not ticked:
            raise InvalidParameter("no column is ticked. Tick some, then choose their role.")
        return with_roles(session.recipe, session.columns, dict.fromkeys(ticked, role))

    return await _change(request, session, made)


async def load(request: Request, session: Session) -> Response:
    """Go on with a recipe from a file."""
    posted = await form_of(request)
    assert session.history is not None
    session.history.check(number_in(posted))
    place = posted.get("path", [""])[-1].strip() or posted.get("recipe", [""])[-1]
    try:
        if not place:
            raise InvalidParameter("no recipe is named. Choose one, or type its path.", parameter="recipe")
        recipe, saved = read_candidates(session.place(place))
        for one in (recipe, *(candidate.recipe for candidate in saved)):
            one.check_columns(session.columns)
    except MicroaggError as error:
        return _shown(session, request, 422, Wrong(error, {}))
    words, kept = f"loaded the recipe {Path(place).name}", session.kept_with(saved, session.candidates)
    same = (recipe.reading, recipe.join) == (session.recipe.reading, session.recipe.join)
    if same and recipe.profile is None:  # else the file is compared with that of the recipe, which may take a while
        session.change(recipe, words, kept)
    else:
        session.read_differently(recipe, words, kept)
    return back("/")


async def read(request: Request, session: Session) -> Response:
    """Read the file in another way."""
    posted = await form_of(request)
    assert session.history is not None
    session.history.check(number_in(posted))
    try:
        recipe = changed_by(posted, session.recipe, session.columns)
    except MicroaggError as error:
        return _shown(session, request, 422, Wrong(error, posted))
    words = change_words(session.recipe, recipe, session.columns)
    if words:
        session.read_differently(recipe, f"read differently: {words}")
    return back("/")


def _kinds(posted: Posted, session: Session) -> dict[str, Any]:
    """Read the kinds of rows; None leaves it to the type."""
    known, now, found = choices("kinds")["kinds"][1], session.recipe.kinds.kinds, {}
    for i, name in enumerate(session.columns):
        word = posted.get(f"kind-{i}", [_AS_NOW])[-1]
        if word not in (_AS_NOW, column_field(known, now.get(name))):
            found[name] = known.of_column(name, word) if word else None
    return found


def _is_place(text: str, session: Session) -> bool:
    return text.isdecimal() and int(text) < len(session.columns)
