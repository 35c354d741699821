"""Release: what protect() gives back."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic

import numpy as np
from narwhals.typing import IntoDataFrameT
from numpy.typing import NDArray

from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.selection import Selection
from microagg.algorithms.units import Units
from microagg.checks import check_jobs
from microagg.columns import frames
from microagg.columns.kinds import Nominal, Ordinal
from microagg.columns.labels import MaskedColumns
from microagg.columns.roles import Role
from microagg.columns.rounding import Rounded
from microagg.columns.table import Table
from microagg.errors import InvalidData
from microagg.files.promise import Promise
from microagg.files.sources import Source
from microagg.judge.analyses import relations_of_release, utility_of_release
from microagg.mask.facts import MissingFacts, OnceFacts, WeightFacts, WholeFile, beside_loss
from microagg.mask.masked import Masked, enough_weigh
from microagg.mask.moments import MomentFacts, moment_words
from microagg.mask.relations import KeptRelation
from microagg.measures.anonymity import Anonymity, RebuiltUnits, rebuilt_units
from microagg.measures.assess import check_sample, judged_anonymity, known_names, usual_sample
from microagg.measures.diversity import DiversityFacts, demand_words
from microagg.measures.loss import InformationLoss
from microagg.measures.pair import Pair
from microagg.measures.pmse import MOST_RECORDS, PMSE, measure_pmse
from microagg.measures.risk import DisclosureRisk, measure_risk
from microagg.measures.utility import LossMeasures, measure_loss
from microagg.recipe import Recipe
from microagg.recipe.relations import RelationCounts
from microagg.work import Progress, Work, stage

if TYPE_CHECKING:
    from microagg.judge.comparison import Comparison
    from microagg.judge.parts import SourceFacts, WrittenFacts
    from microagg.judge.topics.results import JudgedResults
    from microagg.measures.analyses.analysis import Analysis
    from microagg.measures.analyses.estimate import Utility
    from microagg.measures.analyses.judge import Failed
    from microagg.measures.bound import LossBound
    from microagg.recipe.profile import Difference
    from microagg.report.parts import ReportModel


@dataclass(frozen=True, eq=False)
class Release(Generic[IntoDataFrameT]):
    """A masked frame and what is known of it.

    The original values are at hand in memory, so that loss and risk can be asked for; they are neither
    shown nor stored: a pickled release has none.

    Attributes
    ----------
    data : dataframe
        The same kind of frame as was given, with the same rows in the same order; where units are released by numbers,
        in the order of these.
    groups : array of shape (n,), or (n, d) if `recipe.masking.per_column`
        The group of each released row, numbered by lowest row.
    information : InformationLoss
        On the standardised columns, original against released.
    loss : LossMeasures
        The same and more: M1 to M5, G_IL, differences of statistics, and `loss.bound`: how little any grouping could
        lose. Computed when asked.
    risk : DisclosureRisk
        What an intruder who knows all masked columns and the strata could do; on large files linkage is estimated on
        some of the records (see `risk_for`). Where units are released by numbers, the intruder links whole units, by
        all their rows. Computed when asked; `risk_for` has the choices.
    pair : Pair
        The original and the released values, row by row; a stored release raises `InvalidData`.
    utility : method
        Whether the results of analyses survive: `release.utility()`.
    anonymity : Anonymity
        How many records share their masked values and strata, and what those disclose of the confidential
        columns. Computed when asked.
    k_achieved : int
        The fewest records, or units where a unit is named, that share one combination of values in the masked columns
        and strata that are released, and in weights that are released by group; if `recipe.per_column`, of a value in
        any one masked column and the strata.
    recipe : Recipe
        Everything the run depended on.
    selection : Selection or None
        Which columns formed the groups, and why, where not all did.
    n_blocks : int
        How many blocks the file was cut into; 0 where it, or each stratum, was grouped as a whole.
    moves : int
        Moves that were tried to refine the groups.
    version : str
        The version of microagg that ran.
    n_dropped : int
        Records left out because values were missing.
    index_dropped : bool
        Whether the frame had row labels of its own, which count as an identifier.
    missing : MissingFacts
        What became of missing values; not stored.
    rounded : mapping
        For each quantity that was rounded, to which step, and by how much its total moved; not stored.
    recoded : mapping
        For each column that was recoded, how many cells changed; not stored. Loss and risk are those of masking what
        was recoded.
    weights : WeightFacts or None
        Where a weight is named: the loss with weights, and what was done to them; not stored.
    diversity : DiversityFacts or None
        Where l or t is demanded of confidential columns: what is reached, how, and what it cost; not stored.
    results : JudgedResults
        What researchers would find before and after masking, as the report shows it; not stored. Computed when asked.
    moments : MomentFacts or None
        Where variances or covariances are kept: how exactly, and how many values left their range; not stored.
    chosen : tuple of KeptRelation
        The declared relations that groups keep by what they release; not stored.
    once : OnceFacts or None
        Where columns that are constant in a unit were masked once for each unit: which, and what that cost; not stored.
    relations : tuple of RelationCounts
        How many records break each declared relation, before and after. Computed when asked.
    source : Source or None
        What it was made from, if that was read by `read`; not stored.
    whole : WholeFile or None
        Where it holds the records of some groups of a file beyond memory, drawn to judge it: what is known of all.
    differences : tuple of Difference
        How the file differs from the one that the recipe was written for, where the recipe has a profile; not stored.

    Examples
    --------
    >>> import microagg as ma
    >>> survey = ma.datasets.survey(300, seed=0).select(["income", "tax"])
    >>> release = ma.protect(survey, k=3)
    >>> release
    Release: 300 records in 100 groups of 3; k=3 asked, 3 reached; information loss 0.68 %
    >>> release.data.num_rows
    300
    """

    data: IntoDataFrameT
    groups: NDArray[np.int64]
    information: InformationLoss
    k_achieved: int
    recipe: Recipe
    selection: Selection | None = None
    n_blocks: int = 0
    moves: int = 0
    version: str = ""
    n_dropped: int = 0
    index_dropped: bool = False
    _undoable: tuple[Any, ...] = ()  # columns whose digits would give members away
    # Neither shown nor stored: original values, and what would give them away.
    missing: MissingFacts = field(default_factory=MissingFacts, repr=False)
    rounded: Mapping[Any, Rounded] = field(default_factory=dict, repr=False)
    recoded: Mapping[Any, int] = field(default_factory=dict, repr=False)
    weights: WeightFacts | None = field(default=None, repr=False)
    moments: MomentFacts | None = field(default=None, repr=False)
    chosen: tuple[KeptRelation, ...] = field(default=(), repr=False)
    once: OnceFacts | None = field(default=None, repr=False)
    source: Source | None = field(default=None, repr=False)
    whole: WholeFile | None = field(default=None, repr=False)
    differences: "tuple[Difference, ...]" = field(default=(), repr=False)
    diversity: DiversityFacts | None = field(default=None, repr=False)
    _masked: Masked | None = field(default=None, repr=False)
    _judged: DisclosureRisk | None = field(default=None, repr=False)
    _results: "JudgedResults | None" = field(default=None, repr=False)
    _tags: Mapping[str, Any] = field(default_factory=dict, repr=False)  # which of Stata's .a to .z a row releases

    def __post_init__(self) -> None:
        self.groups.setflags(write=False)

    @cached_property
    def loss(self) -> LossMeasures:
        """What masking did to the statistics of the file."""
        return self._measured_loss(None)

    def _measured_loss(self, progress: Progress | None) -> LossMeasures:
        weighted = None if self.weights is None else self.weights.information
        found = measure_loss(*self.pair, self.information, weighted, progress, self.pair.everybody)
        return replace(found, _find_bound=self._bound)

    def _bound(self, information: InformationLoss, progress: Progress | None) -> "LossBound":
        from microagg.judge.topics.loss import bound_of

        return bound_of(self, information, progress)

    def with_loss(self, progress: Progress | None = None) -> "Release[IntoDataFrameT]":
        """Return this release with `loss` measured, and its bound."""
        found = replace(self)
        found._measure(("loss",), stage(progress, 0, 2))
        found.loss.find_bound(stage(progress, 1, 2))
        return found

    @cached_property
    def risk(self) -> DisclosureRisk:
        """What an intruder who knows all masked columns could do."""
        return self.risk_for() if self._judged is None else self._judged

    def judged(self, *, n_jobs: int | None = None, progress: Progress | None = None) -> "Release[IntoDataFrameT]":
        """Return this release with the risk that its recipe asks for, measured."""
        wanted = self.recipe.risk
        return self.with_risk(self.risk_for(wanted.keys, wanted.sample, wanted.seed, n_jobs, progress))

    def with_risk(self, risk: DisclosureRisk) -> "Release[IntoDataFrameT]":
        """Return this release with another intruder's risk, as `risk_for` measured it, wherever `risk` is shown."""
        return replace(self, _judged=risk)

    def risk_for(
        self,
        keys: Sequence[Any] | None = None,
        sample: int | None = None,
        seed: int = 0,
        n_jobs: int | None = None,
        progress: Progress | None = None,
    ) -> DisclosureRisk:
        """Measure what an intruder who knows these of the masked columns, and the strata, could do.

        Parameters
        ----------
        keys : list of names, optional
            By default all masked columns.
        sample : int, optional
            How many records to estimate linkage on, or whole units where these are linked. By default so many that
            the standard error stays below 0.25 percentage points (at most 4445 at k = 3, 2000 from k = 5 on; 20 000
            where k bounds no record's chance), and all where these would be half of them.
        seed, n_jobs, progress : optional
            As in `disclosure_risk`.

        Returns
        -------
        DisclosureRisk
        """
        names = list(self.recipe.roles.of(Role.QUASI.value))
        original, written = self.pair
        units, weights = self.pair.units, self.pair.weights
        n = original.n_records if units is None or units.slots is None else units.n_units  # of whole units
        known = names if keys is None else known_names(keys, names, "masked columns")
        strata = frames.category_codes(frames.open_frame(self.data), self.recipe.roles.strata)
        return measure_risk(
            replace(original, strata=strata),
            written,
            known,
            sample=check_sample(usual_sample(n, self._highest_chance) if sample is None else sample, n, seed),
            seed=seed,
            weights=None if weights is None else weights.values,
            complete=self.whole is None,
            work=Work(check_jobs(n_jobs), progress),
        )

    @property
    def _highest_chance(self) -> float:
        """The highest chance of a record, or unit, to be linked: it shares its values with so many, in equal parts."""
        if self.groups.ndim == 2 or (self._units is not None and not self._units.in_part):
            return 1.0
        return 1.0 / self.k_achieved

    def utility(
        self, analyses: "Iterable[Analysis | Mapping[str, Any]] | None" = None, *, level: float = 0.95
    ) -> "Utility":
        """Do the same analyses on the original and on the released values, and compare their estimates.

        The original is the whole file, also where records were left out of the release.

        Parameters
        ----------
        analyses : list of Analysis, or of mappings that say the same, optional
            They may name columns that are released, and the unit though it is dropped. By default those of the recipe,
            or else what `default_analyses` guesses, with the recipe's weight and unit.
        level : float
            Of the intervals.

        Returns
        -------
        Utility
            Not for publication: it holds estimates of the original.
        """
        return self._utility(analyses, level)

    def _utility(
        self,
        analyses: "Iterable[Analysis | Mapping[str, Any]] | None",
        level: float = 0.95,
        failed: "Failed | None" = None,
        progress: Progress | None = None,
    ) -> "Utility":
        """Compare estimates; an analysis that cannot be done goes to `failed`, where that is given."""
        analyses = self.recipe.analyses.analyses or None if analyses is None else analyses
        return utility_of_release(self, analyses, level=level, failed=failed, progress=progress)

    @cached_property
    def results(self) -> "JudgedResults":
        """What researchers would find: analyses before and after, in plain values. Not for publication."""
        if self._results is not None:
            return self._results
        from microagg.judge.topics.results import results_of

        return results_of(self)

    def with_results(self, progress: Progress | None = None) -> "Release[IntoDataFrameT]":
        """Return this release with `results` measured."""
        from microagg.judge.topics.results import results_of

        return replace(self, _results=results_of(self, progress))

    @cached_property
    def relations(self) -> tuple[RelationCounts, ...]:
        """How many records break each relation that the recipe declares, before and after."""
        return relations_of_release(self)

    def pmse(self, seed: int = 0) -> PMSE:
        """Return how well a model distinguishes the masked columns from the original ones (see `microagg.pmse`)."""
        original, written = self._as_many(seed)
        return measure_pmse(original, written, check_sample(MOST_RECORDS, original.n_records, seed))

    def _as_many(self, seed: int) -> tuple[Table, Table]:
        """Return all released records, and as many original ones: drawn from the whole file if some were left out."""
        (original, written), everybody = self.pair, self.pair.everybody
        if everybody is None:
            return original, written
        rows = check_sample(written.n_records, everybody.n_records, seed)
        return everybody if rows is None else everybody.take(rows), written

    @property
    def promise(self) -> Promise:
        """What must hold of `data` wherever it is written: `k_achieved`, and the columns that it is counted on."""
        recipe, roles = self.recipe, self.recipe.roles
        names = (*roles.of(Role.QUASI.value), *recipe.weights_by_group)
        each, weighing = recipe.masking.per_column, None if self._masked is None else enough_weigh(self._masked)
        counted = Promise(self.k_achieved, names, roles.strata, each, demand=self._demand, weighing=weighing)
        if recipe.units.release == "pseudonym":
            return replace(counted, pseudonym=roles.unit)
        return counted if self._units is None else counted.of_units(self._units.codes, self._units.in_part)

    @property
    def rows(self) -> NDArray[np.int64]:
        """Which row of what was masked each row of `data` is, from 0. Not for publication."""
        if self._masked is None:
            raise InvalidData("a stored release does not know which records its rows were. Mask again by its recipe.")
        return self._masked.table.rows

    @property
    def masked(self) -> MaskedColumns:
        """Which columns of `data` hold other values than the source's, and what still holds of their values."""
        recipe = self.recipe
        categories = (
            ()
            if self._masked is None
            else [one.name for one in self._masked.written if isinstance(one.kind, (Nominal, Ordinal))]
        )
        recoded = recipe.recode.recode
        return MaskedColumns(
            names=(*recipe.roles.of(Role.QUASI.value), *recipe.weights_by_group, *recoded),
            categories=[name for name in categories if name not in recoded],
            codes=recipe.missing_codes.codes,
            tags=self._tags,
            untold=self._untold,
        )

    @property
    def _untold(self) -> list[Any]:
        """Columns whose kinds of missing values were counted as one: in strata, demands, and to order whole units."""
        if self.recipe.units.release == "pseudonym":
            return list(frames.open_frame(self.data).columns)
        return [*self.recipe.roles.strata, *self.promise.confidential]

    @cached_property
    def anonymity(self) -> Anonymity:
        """How many records share their masked values and strata."""
        return self._measured_anonymity(None)

    def _measured_anonymity(self, progress: Progress | None) -> Anonymity:
        roles = self.recipe.roles
        keys = [*roles.of(Role.QUASI.value), *roles.strata, *self.recipe.weights_by_group]
        return judged_anonymity(frames.open_frame(self.data), keys, list(roles.confidential), self._units, progress)

    def _measure(self, names: Sequence[str], progress: Progress | None) -> None:
        """Measure what would be measured when it is asked for, where its progress could not be shown."""
        measured: Mapping[str, Callable[[Progress | None], Any]] = {
            "loss": self._measured_loss,
            "anonymity": self._measured_anonymity,
            "risk": lambda told: self.risk_for(progress=told) if self._judged is None else self._judged,
            "results": lambda told: self.with_results(told)._results if self._results is None else self._results,
        }
        for number, name in enumerate(names):
            if name not in self.__dict__:
                self.__dict__[name] = measured[name](stage(progress, number, len(names)))

    def report(
        self,
        path: str | os.PathLike[str],
        *,
        public: bool = False,
        source: "SourceFacts | None" = None,
        written: "WrittenFacts | None" = None,
        comparison: "Comparison | None" = None,
        overwrite: bool = False,
    ) -> Path:
        """Write the page that a disclosure committee reads: one file of HTML, no script, nothing fetched.

        The same release gives the same bytes. Unless it is public, it holds figures of the original values and
        must not be published.

        Parameters
        ----------
        path : path
            Written whole or not at all.
        public : bool
            Leave out whatever could help an intruder: figures of loss and risk, small cells, extremes, the names
            of dropped columns, the checksum, the order of rows.
        source : SourceFacts, optional
            Where the original came from (`microagg.report.SourceFacts`); its name heads the page.
        written : WrittenFacts, optional
            What was done to `data` when it was written (`microagg.report.WrittenFacts`): rows sorted, as `write` does,
            apostrophes before formulas. By default it is taken as not written yet: rows in the original order.
        comparison : Comparison, optional
            What `compare` found on the same file, for the map of risk and loss.
        overwrite : bool
            Whether a file that exists may be replaced.

        Returns
        -------
        Path
        """
        from microagg.report.html import check_target, write

        target = check_target(Path(path), overwrite)
        model = self.report_model(public=public, source=source, written=written, comparison=comparison)
        return write(model, target, overwrite=overwrite)

    def report_model(
        self,
        *,
        public: bool = False,
        source: "SourceFacts | None" = None,
        written: "WrittenFacts | None" = None,
        comparison: "Comparison | None" = None,
        progress: Progress | None = None,
    ) -> "ReportModel":
        """Return what `report` shows as plain values; `microagg.report.to_json` writes them as JSON.

        `progress` is called as progress(done, in all), often; what it raises stops the work.
        """
        from microagg.report.model import build

        return build(self, public=public, source=source, written=written, comparison=comparison, progress=progress)

    @property
    def pair(self) -> Pair:
        """The original and the released values as they were when the release was made; not for publication."""
        if self._masked is None:
            raise InvalidData(
                "a stored release has no original values to compare with. Pass the original file to loss_measures, "
                "disclosure_risk or utility."
            )
        return Pair(self._masked.table, self._masked.written)

    @property
    def _units(self) -> Units | None:
        return None if self._masked is None else self._masked.table.units

    @property
    def _demand(self) -> Demand | None:
        return None if self._masked is None else self._masked.table.demand

    def __getstate__(self) -> dict[str, Any]:
        # Loss and risk go too: with the masked file, differences of quantiles give cells of the original away.
        stored = [one.name for one in fields(self) if one.repr]
        stored += ["anonymity"] if "anonymity" in self.__dict__ else []
        # The seed too: somebody who knows it can work out more of a group.
        return {name: self.__dict__[name] for name in stored} | {"recipe": self.recipe.replace(nominal_seed=None)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for one in fields(self):
            if not one.repr:
                state.setdefault(one.name, one.default if one.default_factory is MISSING else one.default_factory())
        self.__dict__.update(state)
        self.groups.setflags(write=False)

    @property
    def n_records(self) -> int:
        """The number of records of the file."""
        return len(self.groups) if self.whole is None else self.whole.records

    @property
    def n_groups(self) -> int:
        """The number of groups; where each column has its own, of the column with the fewest."""
        if self.whole is not None:
            return sum(self.whole.group_sizes.values())
        return int(self.groups.max(axis=0).min()) + 1

    @property
    def smallest_group(self) -> int:
        """The number of records in the smallest group."""
        if self.whole is not None:
            return min(self.whole.group_sizes)
        return min(int(np.bincount(labels).min()) for labels in np.atleast_2d(self.groups.T))

    @property
    def largest_group(self) -> int:
        """The number of records in the largest group."""
        if self.whole is not None:
            return max(self.whole.group_sizes)
        return max(int(np.bincount(labels).max()) for labels in np.atleast_2d(self.groups.T))

    @cached_property
    def rebuilt(self) -> RebuiltUnits | None:
        """The units whose rows come together again by released columns that are constant in them.

        Those are columns that are released unchanged, weights, and columns that are masked once a unit. None where no
        unit is named, or its number is released, or only some of the groups are held: units are then not whole.
        """
        if self._units is None or self._units.slots is not None or self.whole is not None:
            return None
        roles, frame = self.recipe.roles, frames.open_frame(self.data)
        once = () if self.once is None else self.once.columns
        codes = {}
        for name in (*roles.strata, *roles.of(Role.WEIGHT.value), *roles.keep, *roles.confidential, *once):
            with suppress(InvalidData):  # lists and mixed types cannot be counted
                codes[name] = frames.category_codes(frame, [name])
        return rebuilt_units(codes, self._units.codes, self.recipe.k)

    @property
    def spellings_joined(self) -> int:
        """How many spellings of units were taken for the same unit as another spelling; 0 if stored."""
        return 0 if self._units is None else self._units.joined

    def __repr__(self) -> str:
        from microagg.judge.text import shown

        per_column = " in each column" if self.recipe.masking.per_column else ""
        smallest, largest = self.smallest_group, self.largest_group
        sizes = f"{smallest}" if smallest == largest else f"{smallest} to {largest}"
        grouped = f"; grouped on {', '.join(map(shown, self.selection.columns))}" if self.selection else ""
        left_out = f"; {self.n_dropped} records left out" if self.n_dropped else ""
        left_out += "; index dropped" if self.index_dropped else ""
        if self.once is not None:
            left_out += f"; {len(self.once.columns)} columns masked once a unit"
        left_out += f"; {self.spellings_joined} spellings of units joined" if self.spellings_joined else ""
        units = "" if self.recipe.roles.unit is None else " units"
        kept = "" if self.diversity is None else f"\nConfidential columns: {demand_words(self.diversity)}"
        kept += "" if self.moments is None else f"\nMoments: {moment_words(self.moments)}"
        return (
            f"Release: {len(self.groups)} records in {self.n_groups} groups of {sizes}{per_column}; "
            f"k={self.recipe.k}{units} asked, {self.k_achieved} reached{per_column}; "
            f"information loss {self.information.percent:.2f} %{beside_loss(self.information, self.weights)}"
            f"{grouped}{left_out}{kept}"
        )
