"""What was found of recipes beside the one that is being tried, and the numbers by which addresses name recipes."""

from typing import TYPE_CHECKING, Any

from microagg.app.figures import Cache

if TYPE_CHECKING:
    from microagg.jobs.looking import Looked
    from microagg.jobs.trying import Tried
    from microagg.jobs.words import Told
    from microagg.recipe import Recipe
    from microagg.study.candidate import Candidate

_MOST_DRAWN = 24  # releases whose pictures are kept: some hundred kB each


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
