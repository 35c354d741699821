"""The numbers of a report, from a release and its judgements."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from microagg._kernels.classes import refined
from microagg.checks import check_jobs
from microagg.errors import InvalidData
from microagg.evaluate.definitions import measures_of
from microagg.evaluate.dominance import measure_dominance
from microagg.evaluate.measure import HIGHER
from microagg.evaluate.utility import QUANTILES
from microagg.io import frames
from microagg.parallel import in_parallel
from microagg.prepare.dependence import dependence
from microagg.report.bins import before_and_after, masked_only
from microagg.report.parts import (
    Alone,
    CandidateFacts,
    ColumnLoss,
    ColumnRisk,
    Correlations,
    Distribution,
    DiversityFacts,
    Figure,
    Groups,
    Loss,
    Map,
    RecordRisk,
    Risk,
    SizeCount,
    Tree,
)
from microagg.report.text import count, counted, listed, percent, quoted, sentence, shown
from microagg.schema import Role

if TYPE_CHECKING:
    from microagg.evaluate.anonymity import Anonymity, Diversity
    from microagg.evaluate.loss import InformationLoss
    from microagg.evaluate.measure import Measure
    from microagg.evaluate.risk import DisclosureRisk
    from microagg.evaluate.utility import LossMeasures
    from microagg.prepare.selection import Selection
    from microagg.recipe import Recipe

Columns = NDArray[np.float64]

MOST_DRAWN = 30
AS_IT_IS = (Role.WEIGHT, Role.KEEP, Role.CONFIDENTIAL)
DOMINANCE = 10.0  # percent: the p of the p percent rule
LOSS_WORDS = ((5.0, "small"), (20.0, "moderate"), (math.inf, "large"))
LOSS_SCALE = "Small: below 5 % of the variation; moderate: 5 to 20 %; large: above. A convention of this report."
_MOST_SIZES = 8
_CORRELATION_STEPS = (0.01, 0.05, 0.1, 0.2)


class Judged(Protocol):
    """What a report needs of a release."""

    @property
    def data(self) -> Any: ...  # noqa: D102
    @property
    def groups(self) -> NDArray[np.int64]: ...  # noqa: D102
    @property
    def information(self) -> "InformationLoss": ...  # noqa: D102
    @property
    def loss(self) -> "LossMeasures": ...  # noqa: D102
    @property
    def risk(self) -> "DisclosureRisk": ...  # noqa: D102
    @property
    def anonymity(self) -> "Anonymity": ...  # noqa: D102
    @property
    def k_achieved(self) -> int: ...  # noqa: D102
    @property
    def n_groups(self) -> int: ...  # noqa: D102
    @property
    def smallest_group(self) -> int: ...  # noqa: D102
    @property
    def largest_group(self) -> int: ...  # noqa: D102
    @property
    def recipe(self) -> "Recipe": ...  # noqa: D102
    @property
    def selection(self) -> "Selection | None": ...  # noqa: D102
    @property
    def n_dropped(self) -> int: ...  # noqa: D102
    @property
    def index_dropped(self) -> bool: ...  # noqa: D102
    @property
    def reordered(self) -> bool: ...  # noqa: D102
    @property
    def excel_safe(self) -> bool: ...  # noqa: D102

    def _both(self) -> tuple[Columns, Columns]: ...


class Compared(Protocol):
    """What a report needs of a comparison."""

    @property
    def candidates(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def frontier(self) -> Sequence[Any]: ...  # noqa: D102
    @property
    def best(self) -> Any: ...  # noqa: D102
    @property
    def x(self) -> float: ...  # noqa: D102
    @property
    def sampled(self) -> int | None: ...  # noqa: D102
    @property
    def standard_error(self) -> float: ...  # noqa: D102


def finite(value: float) -> float | None:
    """Give a plain float that JSON can hold, or None."""
    return float(value) if math.isfinite(value) else None


def loss_word(value: float) -> str:
    """Give a loss, in percent, in a word."""
    return next(word for limit, word in LOSS_WORDS if value < limit or limit == math.inf)


def names_of(release: Judged, role: Role) -> list[str]:
    """Give the names of the columns of a role as they are shown."""
    return [shown(name) for name in release.recipe.roles.get(role.value, ())]


def groups_of(release: Judged, public: bool) -> Groups:
    """Count the groups, and count k again in the released file as it is."""
    found = release.anonymity
    return Groups(
        promised=release.recipe.k,
        reached=release.k_achieved,
        counted=None if public and release.recipe.per_column else found.k,
        unique=None if public else found.n_unique,
        per_column=release.recipe.per_column,
        records=found.n_records,
        groups=release.n_groups,
        smallest=release.smallest_group,
        largest=None if public else release.largest_group,
        sizes=() if public or release.groups.ndim == 2 else _sizes(np.bincount(release.groups)),
    )


def _sizes(sizes: NDArray[np.int64]) -> tuple[SizeCount, ...]:
    """Count groups by size; beyond eight sizes the largest are taken together."""
    n = int(sizes.sum())
    values, counts = np.unique(sizes, return_counts=True)
    rows = list(zip(values.tolist(), counts.tolist(), strict=True))
    alone = rows if len(rows) <= _MOST_SIZES else rows[: _MOST_SIZES - 1]
    found = [SizeCount(count(size), number, 100.0 * size * number / n) for size, number in alone]
    rest = rows[len(alone) :]
    if rest:
        held = sum(size * number for size, number in rest)
        label = f"{count(rest[0][0])} to {count(rest[-1][0])}"
        found.append(SizeCount(label, sum(number for _, number in rest), 100.0 * held / n))
    return tuple(found)


def _figure(measure: "Measure", more: str = "") -> Figure:
    return Figure(
        measure.title or measure.name,
        measure.name,
        finite(measure.value),
        measure.unit,
        sentence([measure.explained, more, HIGHER if measure.better == "higher" else ""]),
        measure.better,
    )


def loss_of(release: Judged) -> Loss:
    """Give the loss overall and of each column, for the house."""
    found = release.loss
    figures = tuple(map(_figure, found.measures))
    columns = []
    for name, lost in found.per_column.items():
        moves = found.quantiles[name]
        at = int(np.argmax(np.abs(moves)))
        columns.append(
            ColumnLoss(
                column=shown(name),
                word=loss_word(lost),
                percent=finite(lost),
                mean=finite(found.means[name]),
                deviation=finite(found.deviations[name]),
                quantile=finite(moves[at]),
                at=f"{100 * QUANTILES[at]:g}{percent(1)[-2:]}" if moves[at] else "",
            )
        )
    columns.sort(key=lambda one: -(math.inf if one.percent is None else one.percent))
    return Loss(loss_word(found.percent), finite(found.percent), LOSS_SCALE, figures, tuple(columns), len(columns))


def distributions_of(release: Judged, public: bool) -> tuple[tuple[Distribution, ...], tuple[str, ...]]:
    """Bin the masked columns, at most 30; give the names of the others."""
    original, masked = release._both()
    names = names_of(release, Role.QUASI)
    # Where there are too many, those that lost most are worth seeing.
    lost = list(release.information.per_column.values())
    order = sorted(range(len(names)), key=lambda j: -lost[j])[:MOST_DRAWN] if len(names) > MOST_DRAWN else None
    drawn = range(len(names)) if order is None or public else order

    def one(j: int, _: Callable[[], None]) -> Distribution:
        if public:
            return masked_only(names[j], masked[j], release.recipe.k)
        return replace(before_and_after(names[j], original[j], masked[j]), lost=percent(lost[j]))

    places = list(drawn)[:MOST_DRAWN]
    found = in_parallel(one, places, check_jobs(None))
    return tuple(found), tuple(name for j, name in enumerate(names) if j not in places)


def correlations_of(release: Judged) -> Correlations | None:
    """Give the change of each correlation; the matrix where it can be drawn."""
    change = release.loss.correlations
    names = names_of(release, Role.QUASI)
    if len(names) < 2:
        return None
    rows, columns = np.triu_indices(len(names), 1)
    changes = change[rows, columns]
    order = np.argsort(-np.abs(changes), kind="stable")[:6]
    matrix = tuple(map(tuple, change.round(4).tolist())) if len(names) <= MOST_DRAWN else ()
    return Correlations(
        columns=tuple(names),
        change=matrix,
        largest=tuple((names[rows[i]], names[columns[i]], float(changes[i])) for i in order),
        mean=float(np.abs(changes).mean()),
        text=correlation_words(float(np.abs(changes).mean())),
    )


def correlation_words(mean: float, steps: Sequence[float] = _CORRELATION_STEPS) -> str:
    """Give the mean change of a correlation as less than some step, or more than all."""
    limit = next((step for step in steps if mean < step), None)
    return f"less than {limit:g}" if limit else f"more than {steps[-1]:g}"


def risk_of(release: Judged) -> Risk:
    """Give what an intruder could do, overall, by record and by column."""
    found = release.risk
    recipe = release.recipe
    figures = tuple(
        _figure(measure, _bound_words(recipe) if measure.name == "full keys" else "")
        for measure in (*found.measures, *measures_of("both", release.loss, found))
    )
    dominated = _dominated(release, found.columns)
    columns = [
        ColumnRisk(shown(name), finite(found.drivers.get(name, math.nan)), dominated.get(name))
        for name in found.columns
    ]
    columns.sort(key=lambda one: -(one.driver or 0.0))
    return Risk(
        figures=figures,
        keys=tuple(shown(name) for name in found.columns if name in found.keys),  # in the file's order
        restricted=found.restricted,
        sampled=found.sampled,
        seed=found.seed,
        standard_error=found.standard_error,
        how=_how_linked(found),
        records=_record_risk(found.per_record, None if recipe.per_column else 100.0 / recipe.k),
        columns=tuple(columns),
        dominance_percent=DOMINANCE,
        n_groups=release.n_groups,
    )


def _dominated(release: Judged, names: Sequence[Any]) -> dict[Any, int]:
    """Count, for each column without negative values, the groups that fail the p percent rule.

    The rule is about totals: those of whole groups, which their means tell and their medians do not.
    """
    if release.groups.ndim == 2 or release.recipe.aggregate != "mean":
        return {}
    original, _ = release._both()
    return dict(measure_dominance(original, release.groups, names, DOMINANCE).failing)


def _bound_words(recipe: "Recipe") -> str:
    if recipe.per_column:
        return "k holds for single columns only, so nothing bounds this."
    return f"It cannot exceed {percent(100.0 / recipe.k)}: {recipe.k} records or more are released alike."


def _how_linked(found: "DisclosureRisk") -> str:
    tried = len(found.per_set)
    sets = f"all {count(tried)}" if tried == found.n_sets else f"{count(tried)} of the {count(found.n_sets)}"
    if found.restricted:
        keys = [name for name in found.columns if name in found.keys]
        words = [
            f"The intruder is taken to know the original values of only {listed(keys)} (the keys), {count(len(keys))} "
            f"of {counted(len(found.columns), 'masked column')}, and the strata, of everybody. He links each person to "
            f"the nearest released record. Who knows other masked columns too can link more than is shown here."
        ]
    else:
        words = [
            "The intruder knows the original values of masked columns, and the strata, of everybody, and links each "
            "person to the nearest released record."
        ]
    if found.n_sets > 1:
        what = "keys" if found.restricted else "columns"
        words.append(f"Which {what} he knows nobody can say: {sets} sets of them were tried and averaged.")
    if found.sets_error:
        words.append(f"The sets were drawn with seed 0; standard error {percent(found.sets_error)}.")
    words.append(sample_words(found))
    return sentence(words)


def sample_words(found: "DisclosureRisk | Risk") -> str:
    """Say on which records linkage was estimated; nothing where all were linked."""
    if found.sampled is None:
        return ""
    return (
        f"Estimated on {count(found.sampled)} records drawn with seed {found.seed}; standard error "
        f"{percent(found.standard_error)}."
    )


def _record_risk(per_record: NDArray[np.float64], bound: float | None) -> RecordRisk:
    """Spread the records' chances over bins, in percent."""
    chances = 100.0 * per_record[np.isfinite(per_record)]
    top = max(bound or 0.0, float(chances.max()), 0.01)
    edges = np.linspace(0.0, top, 21)
    counts = np.bincount(np.clip(np.searchsorted(edges, chances, side="right") - 1, 0, 19), minlength=20)
    wanted = (("half of the records: up to", 0.5), ("nine in ten: up to", 0.9), ("99 in 100: up to", 0.99))
    quantiles = [(label, float(np.quantile(chances, share))) for label, share in wanted]
    return RecordRisk(
        edges=tuple(edges.round(4).tolist()),
        shares=tuple((100.0 * counts / chances.size).round(3).tolist()),
        quantiles=(*quantiles, ("the highest of all", float(chances.max()))),
        bound=bound,
    )


def diversity_of(release: Judged) -> tuple[DiversityFacts, ...]:
    """Give l and t of the confidential columns."""
    return tuple(
        DiversityFacts(
            column=shown(name),
            distinct=own.distinct,
            entropy=float(own.entropy),
            t=float(own.t),
            t_ordered=finite(own.t_ordered),
            uniform_groups=own.uniform_groups,
            uniform_records=own.uniform_records,
            text=_diversity_words(own),
        )
        for name, own in release.anonymity.diversity.items()
    )


def _diversity_words(own: "Diversity") -> str:
    if own.distinct == 1:
        groups = counted(own.uniform_groups, "group has", "groups have")
        return (
            f"{groups} one value throughout, {counted(own.uniform_records, 'record')} in all: who is known to be in "
            f"such a group has that value."
        )
    if own.distinct == 2:
        return "Some group has two values only."
    return f"Every group has at least {count(own.distinct)} different values."


def tree_of(release: Judged) -> Tree | None:
    """Span the dependence tree again, where the columns that form groups were chosen by one."""
    how = release.recipe.select
    if release.selection is None or how.get("by") not in ("emad", "ama"):
        return None
    original, _ = release._both()
    names = list(release.recipe.roles[Role.QUASI.value])
    tree = dependence(original, how["measure"], how["width"], how["bins"])
    return Tree(
        measure=how["measure"],
        names=tuple(map(shown, names)),
        edges=tuple((int(a), int(b), finite(weight)) for a, b, weight in tree.edges),
        chosen=tuple(names.index(name) for name in release.selection.columns),
        text=release.selection.reason,
    )


def map_of(comparison: Compared) -> Map:
    """Give the releases that were compared."""
    efficient, best = list(comparison.frontier), comparison.best
    found = tuple(
        CandidateFacts(
            method=shown(one.method),
            k=int(one.k),
            il=finite(one.il),
            g_il=finite(one.g_il),
            rld=finite(one.rld),
            g_dr=finite(one.g_dr),
            score=finite(one.score),
            mark="lowest score" if one is best else "efficient" if one in efficient else "",
        )
        for one in comparison.candidates
    )
    x = comparison.x
    words = f"Score = {x:g} · G_IL + {1 - x:g} · G_DR; lower is better."
    if comparison.sampled is not None:
        words += (
            f" Linkage estimated on {count(comparison.sampled)} records; standard error up to "
            f"{percent(comparison.standard_error)}."
        )
    return Map(found, tuple((float(one.g_il), float(one.g_dr)) for one in efficient), words)


def standing_alone(release: Judged) -> Alone:
    """Count the records whose values nobody else has, in what is released as it is."""
    frame = frames.open_frame(release.data)
    roles = release.recipe.roles
    strata = roles.get(Role.STRATUM.value, ())
    together = frames.category_codes(frame, strata)
    by_column = {}
    for name in (name for role in AS_IT_IS for name in roles.get(role.value, ())):
        try:
            codes = frames.category_codes(frame, [name])
        except InvalidData:  # lists and mixed types cannot be counted
            continue
        by_column[shown(name)] = _lone(codes)
        together = refined(together, codes, codes)
    return Alone(by_column, _lone(together) if by_column else 0)


def _lone(codes: NDArray[np.int64]) -> int:
    return int(np.count_nonzero(np.bincount(codes) == 1))


def strata_sizes(release: Judged) -> NDArray[np.int64]:
    """Count the records of each stratum; empty without strata."""
    names = list(release.recipe.roles.get(Role.STRATUM.value, ()))
    if not names:
        return np.zeros(0, dtype=np.int64)
    return np.bincount(frames.category_codes(frames.open_frame(release.data), names))


def worst_dominated(risk: Risk) -> str:
    """Say in which column the means most often give the largest member to the second; empty where they seldom do."""
    worst = max(risk.columns, key=lambda one: one.dominated or 0)
    if not worst.dominated or worst.dominated < 0.05 * risk.n_groups:
        return ""
    share = percent(100.0 * worst.dominated / risk.n_groups)
    return (
        f"In {share} of the groups the second largest member in {quoted(worst.column)}, who knows its own value, can "
        f"work out the largest to within {percent(risk.dominance_percent)} from the mean. See risk by column."
    )
