"""What the page Release is about: what was filled in, what a release would say, and what was written."""

import hashlib
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from microagg.base.frozen import frozen

if TYPE_CHECKING:
    from microagg.jobs.messages import Told
    from microagg.jobs.writing import Written
    from microagg.judge.parts import Finding
    from microagg.recipe import Recipe

_MOST = 6  # that are kept: each may hold a whole page


@frozen()
class ChosenRelease:
    """What is to be written: the present recipe, numbered 0, or a candidate, each as the page says how to write it."""

    number: int
    name: str
    recipe: "Recipe"
    key: str

    @property
    def path(self) -> str:
        """The address of its page."""
        return f"/release/{self.number}" if self.number else "/release"

    @property
    def place(self) -> str:
        """The choices that its reports depend on."""
        return f"{self.key} {self.recipe.output!r}"


@frozen()
class Prepared:
    """What would be written of a release, as far as it can be known before.

    Attributes
    ----------
    headline, state : str
        The report's verdict.
    to_tick, rest : tuple of Finding
        The report's checklist: what must be looked at, and what is merely said.
    recipe : Recipe
        As it would be written.
    public : str or None
        The public report, where one is asked for.
    """

    headline: str
    state: str
    to_tick: "tuple[Finding, ...]"
    rest: "tuple[Finding, ...]"
    recipe: "Recipe"
    public: str | None = None


@frozen()
class Done:
    """A release that was written."""

    number: int
    key: str
    line: str
    file: tuple[str, str | None]  # the address of the source and its checksum
    folder: str
    written: "Written"
    sha256: str | None


@frozen()
class Draft:
    """What was filled in on the page."""

    folder: str
    overwrite: bool = False
    reason: str = ""
    ticked: frozenset[str] = frozenset()


def tick_of(key: str, finding: "Finding") -> str:
    """Return what a ticked box posts: it holds for this finding of this release alone."""
    return hashlib.sha256(f"{key}\n{finding.topic}\n{finding.text}".encode()).hexdigest()[:16]


class Releasing:
    """What is known of releases of this session.

    Attributes
    ----------
    draft : Draft
    done : list of Done
        In the order in which they were written.
    refused : tuple of str and Told, or None
        Why the last one was not written, and the page that it is about.
    failed : dict
        Why no checklist could be made, by `ChosenRelease.place`.
    stopped : str
        What somebody cancelled, and is not begun again by itself.
    """

    def __init__(self, folder: str) -> None:
        self.draft = Draft(folder)
        self.done: list[Done] = []
        self.refused: tuple[str, Told] | None = None
        self.failed: dict[str, Told] = {}
        self.stopped = ""
        self._prepared: OrderedDict[str, Prepared] = OrderedDict()

    def prepared(self, chosen: ChosenRelease) -> Prepared | None:
        """Return what is known of a release, if that was found out."""
        return self._prepared.get(chosen.place)

    def store(self, chosen: ChosenRelease, prepared: Prepared) -> None:
        """Keep what is known of a release."""
        self._prepared[chosen.place] = prepared
        while len(self._prepared) > _MOST:
            self._prepared.popitem(last=False)

    def unticked(self, chosen: ChosenRelease) -> list["Finding"]:
        """Return what nobody has ticked yet."""
        prepared = self.prepared(chosen)
        found = () if prepared is None else prepared.to_tick
        return [one for one in found if tick_of(chosen.key, one) not in self.draft.ticked]

    def others(self, chosen: ChosenRelease, file: tuple[str, str | None]) -> list[Done]:
        """Return the releases of the same file that were written already and are masked otherwise."""
        return [
            one
            for one in self.done
            if one.key != chosen.key and (one.file[0] == file[0] or None is not one.file[1] == file[1])
        ]

    def replaced(self, one: Done) -> bool:
        """Return whether another release was written to the same folder since: what lies there is not this one's."""
        place = Path(one.folder).resolve()
        return any(other.number > one.number and Path(other.folder).resolve() == place for other in self.done)

    def take(self, done: Done) -> None:
        """Remember what was written; the next time nothing is replaced unless that is asked for again."""
        self.done.append(done)
        self.refused = None
        self.draft = replace(self.draft, overwrite=False)
