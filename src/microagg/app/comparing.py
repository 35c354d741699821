"""The releases that are compared: which they are, what is known of each, and the work that finds the rest."""

from typing import TYPE_CHECKING, Any

from microagg.app.edits import candidate_name, change_words
from microagg.app.jobs import comparing
from microagg.app.session import Session
from microagg.base.frozen import frozen
from microagg.errors import InvalidParameter
from microagg.jobs.candidates import comparison_of, ranking_by, variants
from microagg.judge.comparison import Comparison
from microagg.judge.text import shown
from microagg.recipe import Recipe
from microagg.study.candidate import seen_by

if TYPE_CHECKING:
    from microagg.app.history import KeptCandidate
    from microagg.jobs.messages import Told
    from microagg.jobs.trial import Tried
    from microagg.judge.comparison import Candidate

MOST = 100
"""So many releases can be compared on one page."""


@frozen()
class ComparedRelease:
    """A release to compare, and what is known of it.

    Attributes
    ----------
    number : int
        Its place in addresses.
    name : str
        The method, and how it differs from others of that method, if it differs in more than k.
    key : str
    recipe : Recipe
        With what [compare] of the present recipe says.
    judged : Candidate or None
        Its figures, as the present recipe ranks them.
    refused : str
        Why there are none.
    kept : KeptCandidate or None
        The candidate that it was kept as.
    tried : Tried or None
        What is known of it before its risk is measured.
    """

    number: int
    name: str
    key: str
    recipe: Recipe
    judged: "Candidate | None" = None
    refused: str = ""
    kept: "KeptCandidate | None" = None
    tried: "Tried | None" = None

    @property
    def worst(self) -> str:
        """The column that lost most."""
        return "" if self.tried is None else self.tried.columns[0].name

    @property
    def title(self) -> str:
        """What it is called among others."""
        return shown(f"{self.judged.line if self.judged else self.name}, k {self.recipe.k}")


def rows_of(session: Session, recipe: Recipe | None = None) -> list[ComparedRelease]:
    """Return the releases to compare: what [compare] of a recipe says, by default the present one, and those kept.

    Raises
    ------
    MicroaggError
        Where [compare] asks for what cannot be.
    """
    base = session.recipe if recipe is None else recipe
    asked = session.shelf.asked
    if asked is None or asked[0] is not base or asked[1] is not session.candidates or asked[2] is not session.opened:
        asked = session.shelf.asked = (base, session.candidates, session.opened, _asked_for(session, base))
    if not asked[3]:
        return []
    ranking = ranking_by(asked[3][0][2])
    found = [_row(session, ranking, *one) for one in asked[3]]
    return [row for row in found if row.kept is not None or row.key not in session.shelf.removed]


def _asked_for(session: Session, base: Recipe) -> "list[tuple[str, str, Recipe, KeptCandidate | None]]":
    """Return key, name and recipe of each release to compare, and the candidate that it was kept as."""
    asked = variants(base)
    own = asked[0][1].compare
    keys = {session.key(one): (name, one) for name, one in asked}
    kept: dict[str, KeptCandidate] = {}
    for one in session.candidates:
        if not session.is_read_for(one.recipe):
            continue
        key = session.key(one.recipe)
        kept[key] = one
        if key not in keys:
            used = {name for name, _ in keys.values()}
            keys[key] = (_line(session, base, one, used), one.recipe.replace(compare=own))
    if len(keys) > MOST:
        raise InvalidParameter(
            f"{len(keys)} releases would be compared, and at most {MOST} are possible. Choose fewer methods or levels.",
            parameter="ks",
        )
    return [(key, name, one, kept.get(key)) for key, (name, one) in keys.items()]


def _line(session: Session, base: Recipe, kept: "KeptCandidate", used: set[str]) -> str:
    """Name a kept candidate: by its method where only that and k are different, so that it is on that line."""
    own = kept.recipe
    method, refined = str(own.method.name), f"{own.method.name}, refined"
    same = base.replace(method=own.method, k=own.k)
    if session.key(same) == session.key(own):
        return method
    if session.key(same.replace(refine=own.refine)) == session.key(own) and own.refine.effort is not None:
        return refined
    name = f"{method}, kept" if own.refine.effort is None else f"{refined}, kept"
    others = (f"{name} {number}" for number in range(2, len(used) + 3))
    return next(one for one in (name, *others) if one not in used)


def _row(
    session: Session, ranking: Any, key: str, name: str, recipe: Recipe, kept: "KeptCandidate | None"
) -> ComparedRelease:
    shelf = session.shelf
    judged = shelf.compared.get(key)
    if judged is not None:
        judged = seen_by(judged, ranking, recipe.compare.x)
    refused = shelf.refused.get(_wish(key, recipe))
    return ComparedRelease(
        shelf.number(key, recipe) if kept is None else kept.number,
        name,
        key,
        recipe,
        judged,
        "" if refused is None else refused.text,
        kept,
        session.figures_at(key) or shelf.masked.get(key),
    )


def _wish(key: str, recipe: Recipe) -> str:
    """Return what was asked of a release: its figures, and how it is ranked and drawn."""
    return repr((key, recipe.compare.rank, recipe.compare.map_axis))


def beside_each_other(rows: list[ComparedRelease]) -> Comparison | None:
    """Return a comparison of those that have figures; None if none has."""
    there = [row.judged for row in rows if row.judged is not None]
    return comparison_of(there, [("", rows[0].recipe)]) if there else None


def start(session: Session, rows: list[ComparedRelease]) -> None:
    """Make the releases that are lacking, one after the other."""
    shelf = session.shelf

    def found(recipe: Recipe, one: "Candidate", tried: "Tried") -> None:
        key = session.key(recipe)
        shelf.compared.store(key, one)
        session.publish(key, tried)

    def masked(recipe: Recipe, tried: "Tried") -> None:
        shelf.masked.store(session.key(recipe), tried)
        session.touch()

    def refused(recipe: Recipe, told: "Told") -> None:
        shelf.refused.store(_wish(session.key(recipe), recipe), told)
        session.touch()

    lacking = [row for row in rows if row.judged is None]
    for row in lacking:
        shelf.refused.pop(_wish(row.key, row.recipe), None)
    if lacking:
        file = session.with_recipe(session.recipe)
        session.worker.submit(comparing(file, [(row.name, row.recipe) for row in lacking], masked, found, refused))


def keep(session: Session, number: int) -> None:
    """Keep a release that was compared as a candidate."""
    recipe = session.shelf.recipe(number)
    if recipe is None or session.candidate(number) is not None:
        return
    recipe = as_chosen(session, recipe)
    session.keep(candidate_name(recipe), recipe=recipe)


def choose(session: Session, recipe: Recipe) -> None:
    """Go on with a recipe that was compared or looked at."""
    recipe = as_chosen(session, recipe)
    words = change_words(session.recipe, recipe, session.columns)
    if words:
        session.change(recipe, words)


def as_chosen(session: Session, recipe: Recipe) -> Recipe:
    """Return a recipe that was compared with what the present one says of comparing and writing."""
    now: Any = session.recipe
    return recipe.replace(compare=now.compare, output=now.output)
