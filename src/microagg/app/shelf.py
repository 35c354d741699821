"""What was found of recipes, how long that takes, and the numbers by which addresses name recipes."""

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from microagg.jobs.messages import Told
    from microagg.jobs.trial import Looked, Tried
    from microagg.judge.comparison import Candidate
    from microagg.recipe import Recipe

MOST = 200
_USUAL = {"mdav": 1e-6}  # seconds for each masked cell, until this file has been masked by the method once
_SLOW = 1e-5
_MOST_DRAWN = 24  # releases whose pictures are kept: some hundred kB each
Value = TypeVar("Value")


class Cache(OrderedDict[str, Value]):
    """The last things, at most so many, by what they are of."""

    def __init__(self, most: int = MOST) -> None:
        super().__init__()
        self._most = most

    def store(self, key: str, value: Value) -> None:
        """Keep something, and forget what was stored longest ago."""
        self[key] = value
        self.move_to_end(key)
        while len(self) > self._most:
            self.popitem(last=False)


class Times:
    """How long masking took, by what decides that."""

    def __init__(self) -> None:
        self._rates: dict[str, float] = {}

    def store(self, recipe: "Recipe", cells: int, seconds: float) -> None:
        """Remember how long so many cells took; no more than usual the first time, when kernels are loaded as well."""
        way, rate = _way(recipe), seconds / max(1, cells)
        self._rates[way] = rate if way in self._rates else min(rate, _guess(recipe))

    def estimate(self, recipe: "Recipe", cells: int) -> float:
        """Say how many seconds so many cells would take: as the last time, or a guess."""
        return cells * self._rates.get(_way(recipe), _guess(recipe))

    def knows(self, recipe: "Recipe") -> bool:
        """Return whether the estimate is no guess."""
        return _way(recipe) in self._rates


def _way(recipe: "Recipe") -> str:
    return repr((recipe.method.name, recipe.refine.effort, recipe.blocks.by, recipe.blocks.max_block))


def _guess(recipe: "Recipe") -> float:
    return _USUAL.get(str(recipe.method.name), _SLOW) * (1 if recipe.refine.effort is None else 10)


class Shelf:
    """What was found of a file's recipes, each by the key of its figures (`Session.key`).

    Attributes
    ----------
    compared : Cache of Candidate
        Figures of releases that were compared.
    masked : Cache of Tried
        What is known of such a release while its risk is measured.
    refused : Cache of Told
        Why one could not be compared.
    removed : set of str
        Those that somebody does not want to see among the compared ones.
    peeked : tuple
        Rows of a masked file that somebody has asked for, until they are shown; and of which.
    asked : tuple or None
        What is compared, and by which recipe, candidates and file: pages ask for that often (`comparing.rows_of`).
    looks : Cache of Looked
        Sections and pictures.
    unseen : Cache of Told
        Why one could not be drawn.
    drawing, stopped : str
        The keys of what was drawn last, and of what somebody has cancelled: that is not drawn again by itself.
    """

    def __init__(self) -> None:
        self.compared: Cache[Candidate] = Cache()
        self.masked: Cache[Tried] = Cache()
        self.refused: Cache[Told] = Cache()
        self.removed: set[str] = set()
        self.looks: Cache[Looked] = Cache(_MOST_DRAWN)
        self.unseen: Cache[Told] = Cache()
        self.drawing = self.stopped = ""
        self.peeked: tuple[str, Any] = ("", None)
        self.asked: tuple[Any, ...] | None = None
        self._numbers: dict[str, int] = {}
        self._recipes: dict[int, Recipe] = {}

    def number(self, key: str, recipe: "Recipe") -> int:
        """Return the number of a recipe in addresses, such as /look/3: the same as long as the file is open."""
        if key not in self._numbers:
            self._numbers[key] = self.fresh(recipe)
        return self._numbers[key]

    def fresh(self, recipe: "Recipe") -> int:
        """Return a number that nothing has yet."""
        number = len(self._recipes) + 1
        self._recipes[number] = recipe
        return number

    def recipe(self, number: int) -> "Recipe | None":
        """Return the recipe that has a number."""
        return self._recipes.get(number)
