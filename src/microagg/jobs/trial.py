"""What one try of a recipe gave: a few figures, which stay when the release itself is gone, and what it did, drawn.

The report's sections and pictures are drawn one by one, and figures of two releases are set side by side.
"""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import Any

from markupsafe import Markup

from microagg.algorithms.selection import select_columns
from microagg.base.frozen import frozen
from microagg.columns import frames
from microagg.columns.dependence import dependence
from microagg.jobs.facts import findings_of, release_facts, topics_of
from microagg.judge.judgement import tree_by
from microagg.judge.parts import ColumnLoss, Figure, JudgedTree, WrittenFacts
from microagg.judge.text import points, shown
from microagg.judge.topics.loss import loss_word
from microagg.mask.facts import uncounted_words
from microagg.release import Release
from microagg.report import pictures
from microagg.report.html import render_section
from microagg.report.parts import ReportModel
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
        What the report finds of it (`microagg.jobs.facts`).
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
        facts=release_facts(release) | topics_of(model),
    )


SECTIONS = {
    "columns": "Before and after",
    "verdict": "Verdict",
    "loss": "Loss",
    "correlations": "Correlations",
    "groups": "Groups",
    "risk": "Risk",
    "confidential": "Confidential columns",
    "results": "What researchers would find",
    "tree": "Dependence tree",
    "topics": "More",
}
"""The sections of the report that a page can show by itself; "columns" is drawn column by column (`Looked.columns`)."""

MOST_ROWS = 20
"""So many rows of a masked file can be looked at."""

_MOST_LETTERS = 120_000  # of a section with its picture
_MOST_FOR_TREE = 500_000_000  # records times pairs of columns, up to which a tree that nobody asked for takes a moment


@frozen()
class LookedColumn:
    """A masked column before and after.

    Attributes
    ----------
    name : str
        As it may be displayed.
    picture : Markup
        Empty where nothing is drawn; `note` says why.
    note, lost : str
    moved : tuple of (str, str)
        The loss in a word, what moved and how far: in standard deviations of the original column, as text.
    shares : tuple of (str, float or None, float)
        The picture as text: each bin or category, and its share of records before and after, in percent.
    """

    name: str
    picture: Markup
    note: str
    lost: str
    moved: tuple[tuple[str, str], ...]
    shares: tuple[tuple[str, float | None, float], ...]


@frozen()
class Looked:
    """What a release did to a file, drawn; internal, as all of it is of original values.

    Attributes
    ----------
    figures : tuple of Figure
        What it is judged by.
    columns : tuple of LookedColumn
    not_drawn : tuple of str
        Columns that are not among those, since there are too many.
    sections : mapping
        Other sections by their name; those that have nothing to say of this release are left out.
    """

    figures: tuple[Figure, ...]
    columns: tuple[LookedColumn, ...]
    not_drawn: tuple[str, ...]
    sections: Mapping[str, Markup]


@frozen()
class Beside:
    """A figure of two releases, how far the second is from the first, and which is better: "A", "B" or empty."""

    figure: Figure
    other: float | None
    difference: str
    better: str


def look_at(release: Release[Any], progress: Progress | None = None) -> Looked:
    """Draw what a release that was judged did to the file."""
    model = release.report_model(written=WrittenFacts(reordered=False), progress=progress)
    if model.tree is None:
        model = replace(model, tree=_unused_tree(release))
    rows = {one.column: one for one in model.loss.columns}
    columns = tuple(
        LookedColumn(
            name=one.column,
            picture=Markup("") if one.note else pictures.distribution(one),
            note=one.note,
            lost=one.lost,
            moved=_moved(rows[one.column]),
            shares=() if one.note else tuple(pictures.in_numbers(one)),
        )
        for one in model.distributions
    )
    drawn = {name: _section(model, name) for name in SECTIONS if name != "columns"}
    return Looked(_figures(model), columns, model.not_drawn, {name: text for name, text in drawn.items() if text})


def _unused_tree(release: Release[Any]) -> JudgedTree | None:
    """Return the dependence tree of a file that was grouped on all its columns, as EMAD would take it."""
    table = release.pair.original
    if release.selection is not None or len(table) < 2 or table.n_records * len(table) ** 2 > _MOST_FOR_TREE:
        return None
    return tree_by(select_columns(table.names, dependence(table)), used=False)


def set_beside(one: Looked, other: Looked) -> list[Beside]:
    """Set the figures of two releases beside each other."""
    others = {figure.symbol: figure for figure in other.figures}
    found = []
    for figure in one.figures:
        second = others[figure.symbol].value if figure.symbol in others else None
        far = None if figure.value is None or second is None else second - figure.value
        better = (
            "" if not far or figure.better not in ("lower", "higher") else "AB"[(far < 0) == (figure.better == "lower")]
        )
        found.append(Beside(figure, second, "–" if far is None else _signed(far), better))
    return found


def _signed(value: float) -> str:
    """Return a difference with the digits that matter."""
    return "0" if value == 0 else f"{value:+.3g}".replace("-", "−")


def peek_at(release: Release[Any]) -> tuple[list[str], list[list[str]]]:
    """Return the first rows of a masked file as text, without the columns that name units; others are not released."""
    frame = frames.open_frame(release.data)
    hidden = {release.recipe.roles.unit, *release.recipe.roles.of("identifiers"), *release.recipe.roles.of("drop")}
    names = [name for name in frame.columns if name not in hidden]
    rows = frame.select(names).head(MOST_ROWS).rows() if names else []
    return [shown(name) for name in names], [["" if cell is None else str(cell) for cell in row] for row in rows]


def _figures(model: ReportModel) -> tuple[Figure, ...]:
    """Return the figures of a release: k and groups, the information lost, then every measure of loss and risk."""
    whose = "units" if model.groups.units else "records"
    risk = () if model.risk is None else model.risk.figures
    return (
        Figure(
            "k reached",
            "k",
            model.groups.reached,
            "",
            f"the smallest number of {whose} with identical values",
            "higher",
        ),
        Figure("groups", "groups", model.groups.groups, "", "", ""),
        Figure("information lost", "lost", model.loss.percent, "%", model.loss.meaning),
        *(one for one in (*model.loss.figures, *risk) if one.symbol != "IL"),  # which is the information lost
    )


def _section(model: ReportModel, name: str) -> Markup:
    """Return a section; without its picture where names of columns make that too long for a page."""
    text = Markup(render_section(model, name).strip())
    if name == "correlations" and len(text) > _MOST_LETTERS and model.correlations is not None:
        return _section(replace(model, correlations=replace(model.correlations, change=())), name)
    return text


def _moved(row: ColumnLoss) -> tuple[tuple[str, str], ...]:
    """Say in figures what became of a column."""
    found = [("loss", row.word)]
    if row.mean is not None or row.deviation is not None:
        found += [("mean", points(row.mean)), ("deviation", points(row.deviation))]
    if row.quantile:
        found.append((f"quantile at {row.at}", points(row.quantile)))
    return (*found, *((("in its own terms", row.own),) if row.own else ()))
