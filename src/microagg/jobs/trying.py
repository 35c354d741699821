"""What one try of a recipe gave, in figures: a few numbers that stay when the release itself is gone."""

from dataclasses import field, replace
from typing import Any

from microagg.base.frozen import frozen
from microagg.jobs.facts import release_facts
from microagg.jobs.findings import findings_of
from microagg.judge.loss import loss_word
from microagg.judge.names import shown
from microagg.mask.facts import uncounted_words
from microagg.release import Release
from microagg.report.parts import WrittenFacts
from microagg.work import Progress


@frozen()
class ColumnLost:
    """What a masked column lost."""

    name: str
    percent: float
    word: str


@frozen()
class Tried:
    """What one try of a recipe gave; internal, since it holds exact losses.

    Attributes
    ----------
    records, groups, k, k_reached : int
    units : bool
        Whether k counts units, such as households, and not records.
    percent : float
        The information lost.
    word : str
        The same in a word.
    columns : tuple of ColumnLost
        The largest loss first.
    seconds : float
        How long masking took.
    verdict, state : str
        The report's verdict, and whether it is "good", "look" or "bad"; both empty until risk is measured.
    findings : list of dict
        What the report finds of it (`microagg.jobs.findings`).
    facts : dict
        All its figures, as `mask --json` has them; empty until risk is measured.
    """

    records: int
    groups: int
    k: int
    k_reached: int
    units: bool
    per_column: bool
    percent: float
    word: str
    columns: tuple[ColumnLost, ...]
    seconds: float
    verdict: str = ""
    state: str = ""
    findings: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def bound(self) -> float | None:
        """The share of persons that can be linked correctly at most, in percent, however much an intruder knows."""
        return None if self.per_column else 100.0 / self.k_reached


def first_figures(release: Release[Any], seconds: float) -> Tried:
    """Return what is known of a release before its risk is measured."""
    lost = sorted(release.information.per_column.items(), key=lambda one: -one[1])
    return Tried(
        records=len(release.groups),
        groups=release.n_groups,
        k=release.recipe.k,
        k_reached=release.k_achieved,
        units=release.recipe.roles.unit is not None,
        per_column=release.recipe.masking.per_column,
        percent=release.information.percent,
        word=f"{loss_word(release.information.percent)}{uncounted_words(release.information)}",
        columns=tuple(ColumnLost(shown(name), percent, loss_word(percent)) for name, percent in lost),
        seconds=seconds,
    )


def full_figures(release: Release[Any], first: Tried, progress: Progress | None = None) -> Tried:
    """Add the risk, the verdict and what the report finds, of a release that was judged."""
    model = release.report_model(written=WrittenFacts(reordered=False), progress=progress)
    return replace(
        first,
        verdict=model.verdict.headline,
        state=model.verdict.state,
        findings=findings_of(model),
        facts=release_facts(release),
    )
