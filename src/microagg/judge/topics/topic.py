"""Topic: one thing that is found of a release, and what is said of it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from microagg.judge.parts import Fact, Finding, finite
from microagg.judge.run import JudgedRun
from microagg.judge.text import shown

if TYPE_CHECKING:
    from microagg.judge.judgement import Judgement
    from microagg.release import Release

Figures = TypeVar("Figures")


class Topic(ABC, Generic[Figures]):
    """One thing that is found of a release, with all that is said of it, wherever it is said.

    Its figures are a frozen dataclass. The report, the terminal, `--json` and the app show what the topic makes of
    them. None of them is public unless `public` says so: a public judgement has no others, so that what is said of
    figures is not said there. What `done` and `limits` say without figures stands on the public page too.

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

    @property
    def is_public(self) -> bool:
        """Whether any of its figures may be shown to everybody."""
        return type(self).public is not Topic.public

    def of(self, judgement: "Judgement") -> Figures | None:
        """Return the figures of a judgement."""
        found: Figures | None = judgement.topics.get(self.name)
        return found

    def done(self, judgement: "Judgement") -> list[Fact]:
        """Return what was done, for the list of choices; also for the public page, with the figures that are public."""
        return []

    def findings(self, judgement: "Judgement") -> list[Finding]:
        """Return what deserves attention, for the page, the terminal, `--json` and the app; never public."""
        return []

    def limits(self, judgement: "Judgement") -> list[str]:
        """Return what is not claimed; also for the public page."""
        return []

    def paragraphs(self, found: Figures) -> list[str]:
        """Return the sentences of its section on the page."""
        return []

    def as_json(self, found: Figures) -> dict[str, Any]:
        """Return what `--json` has of it: the figures themselves."""
        return {self.name: {one.name: _plain(getattr(found, one.name)) for one in fields(found)}}  # type: ignore[arg-type]


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: a number that is none is null."""
    if isinstance(value, Mapping):
        return {shown(name): _plain(own) for name, own in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(own) for own in value]
    return finite(value) if isinstance(value, float) else value
