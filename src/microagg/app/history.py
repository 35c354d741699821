"""Every recipe that was chosen, one after the other: undo, redo, jump, without limit."""

from typing import TYPE_CHECKING

from microagg.base.frozen import frozen

if TYPE_CHECKING:
    from microagg.recipe import Recipe


@frozen()
class KeptCandidate:
    """A candidate: a recipe that was tried and may be released.

    Attributes
    ----------
    number : int
        Its place in addresses, such as /look/3; never given twice.
    name, note : str
        For a person.
    recipe : Recipe
    """

    number: int
    name: str
    recipe: "Recipe"
    note: str = ""


@frozen()
class Step:
    """A state of the work: what the next try would do, what is kept, and in words what was changed to get here."""

    recipe: "Recipe"
    words: str
    candidates: tuple[KeptCandidate, ...] = ()


class Stale(Exception):
    """A form was made for a state that is no longer the present one."""

    def __init__(self, changes: list[str]) -> None:
        super().__init__("stale")
        self.changes = changes


class History:
    """The states of the work, and which of them is the present one.

    Attributes
    ----------
    steps : list of Step
    at : int
        The present one.
    number : int
        How often the present state was changed, undone or redone. Forms carry it, so that one that was made before a
        change in another tab is noticed.
    """

    def __init__(self, first: Step) -> None:
        self.steps, self.at = [first], 0
        self._log: list[str] = []

    @property
    def now(self) -> Step:
        """The present state."""
        return self.steps[self.at]

    @property
    def number(self) -> int:
        """How often the state was changed."""
        return len(self._log)

    @property
    def undoes(self) -> str:
        """What undo would take back; empty where nothing is."""
        return self.now.words if self.at else ""

    @property
    def redoes(self) -> str:
        """What redo would do once more; empty where nothing is."""
        return self.steps[self.at + 1].words if self.at + 1 < len(self.steps) else ""

    def check(self, number: int) -> None:
        """Refuse a form of a former state, and say what has changed since."""
        if number != self.number:
            raise Stale(self._log[max(0, number) :] or ["something was changed"])

    def add(self, step: Step) -> None:
        """Go on to a new state; what was undone before is gone."""
        self.steps[self.at + 1 :] = [step]
        self.at += 1
        self._log.append(step.words)

    def go(self, at: int) -> None:
        """Go to a state that was there before, or one that was undone."""
        at = max(0, min(at, len(self.steps) - 1))
        if at == self.at:
            return
        back = [step.words for step in self.steps[at + 1 : self.at + 1]]
        again = [step.words for step in self.steps[self.at + 1 : at + 1]]
        self._log.append("; ".join([f"undone: {words}" for words in reversed(back)] + [f"redone: {w}" for w in again]))
        self.at = at

    def undo(self) -> None:
        """Take the last change back."""
        self.go(self.at - 1)

    def redo(self) -> None:
        """Do once more what was undone last."""
        self.go(self.at + 1)
