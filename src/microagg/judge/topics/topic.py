"""Topic: one thing that is found of a release, and what is said of it."""

from abc import ABC, abstractmethod
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from microagg.judge.parts import Fact, Finding
from microagg.judge.run import JudgedRun

if TYPE_CHECKING:
    from microagg.judge.judgement import Judgement
    from microagg.release import Release

Figures = TypeVar("Figures")


class Topic(ABC, Generic[Figures]):
    """One thing that is found of a release, with all that is said of it, wherever it is said.

    Its figures are a frozen dataclass. The report, the terminal, `--json` and the app show what the topic makes of
    them. Nothing of it is public unless `public` says so.

    Attributes
    ----------
    name : str
        By which its figures are found in a judgement, in `--json` and in a report as JSON.
    title : str
        What heads its section of the page; empty: it has none.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""

    @abstractmethod
    def find(self, release: "Release[Any]", run: JudgedRun) -> Figures | None:
        """Return the figures; None where there is nothing to say."""

    def public(self, found: Figures) -> Figures | None:
        """Return what of the figures may be shown to everybody: by default nothing."""
        return None

    def of(self, judgement: "Judgement") -> Figures | None:
        """Return the figures of a judgement."""
        found: Figures | None = judgement.topics.get(self.name)
        return found

    def done(self, judgement: "Judgement") -> list[Fact]:
        """Return what was done, for the list of choices."""
        return []

    def findings(self, judgement: "Judgement") -> list[Finding]:
        """Return what deserves attention, for the page, the terminal, `--json` and the app; never public."""
        return []

    def limits(self, judgement: "Judgement") -> list[str]:
        """Return what is not claimed."""
        return []

    def paragraphs(self, found: Figures) -> list[str]:
        """Return the sentences of its section on the page."""
        return []

    def as_json(self, found: Figures) -> dict[str, Any]:
        """Return what `--json` has of it: the figures themselves."""
        return {self.name: asdict(found)}  # type: ignore[call-overload]
