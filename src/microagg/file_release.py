"""protect_file(): mask a file of any size in bounded memory, on this machine or on many.

The columns to mask are copied to scratch, cut into blocks and masked there; the file is then read once more and
written out with the masked values. Groups and figures are those of protect(blocks="median").
"""

import os
from collections.abc import Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from microagg import __version__
from microagg.base.frozen import frozen
from microagg.checks import check_jobs, check_option, check_whole
from microagg.columns import frames
from microagg.columns.kinds import Nominal
from microagg.columns.roles import Role, Schema
from microagg.columns.rounding import Rounded
from microagg.columns.weights import Weighed, weights_in
from microagg.errors import InvalidData, InvalidParameter, a_type
from microagg.files.batches import Batches
from microagg.files.sources import Source
from microagg.files.stores import Where, kept_address
from microagg.mask.digits import refuse_integers
from microagg.mask.engines import disk
from microagg.mask.engines.figures import Outcome
from microagg.mask.engines.plan import Plan
from microagg.mask.engines.targets import check_scratch, check_target
from microagg.mask.facts import MissingFacts, WeightFacts, WholeFile, beside_loss
from microagg.mask.groups import Groups
from microagg.mask.masked import Masked
from microagg.mask.method import resolve_method
from microagg.mask.pieces import DEFAULT_BLOCK
from microagg.mask.weights import revealing_weights, settled_weights, weighing_of, weight_facts
from microagg.measures.loss import InformationLoss, weighted_loss_of_release
from microagg.recipe import OF_PROTECT, Recipe
from microagg.recipe._recipe import recipe_of
from microagg.recipe._tables import takes
from microagg.recipe.combine import Combination, refuse
from microagg.recipe.data import asked_of, settled_kinds
from microagg.recipe.profile import compared
from microagg.release import Release
from microagg.report import SourceFacts
from microagg.work import Progress, Work


@frozen()
class FileRelease:
    """What is known of a masked file.

    Attributes
    ----------
    path : Path or Place
        The masked file, or the folder of its parts; in a store a place, which prints as its address.
    n_records, n_groups : int
    k_achieved : int
        The fewest records that share one combination of values in the masked columns and strata that are released, as
        in `Release`; counted on the file, read back before it got its name.
    information : InformationLoss
        On the standardised columns, original against released.
    recipe : Recipe
        Everything the run depended on.
    n_blocks : int
        How many blocks the file was cut into.
    version : str
        The version of microagg that ran.
    index_dropped : bool
        Whether the file had a pandas index of row labels, which count as an identifier.
    details : mapping of str to str
        How a text file was read, to show a person: the delimiter, the encoding, the marks of numbers.
    missing : MissingFacts
        What became of missing values.
    rounded : mapping
        For each quantity that was rounded, to which step, and by how much its total moved.
    weights : WeightFacts or None
        Where a weight is used: the loss with weights, and what was done to them.
    sample : Release
        The records on which the file is judged: those of 40 000 groups, or of fewer where these would be more than
        400 000 records, and all where less than half would be left out. `sample.whole` has what is known of the whole
        file. It holds original values, and is not stored.

    Examples
    --------
    >>> import tempfile, pyarrow.parquet as pq, microagg as ma
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(ma.datasets.survey(3000).select(["age", "income"]), f"{folder}/survey.parquet")
    ...     ma.protect_file(f"{folder}/survey.parquet", f"{folder}/masked.parquet", k=5)
    FileRelease: 3000 records in 600 groups; k=5 asked, 5 reached; information loss 0.35 %
    """

    path: Where
    n_records: int
    n_groups: int
    k_achieved: int
    information: InformationLoss
    recipe: Recipe
    n_blocks: int = 0
    version: str = ""
    index_dropped: bool = False
    details: Mapping[str, str] = field(default_factory=dict)
    missing: MissingFacts = field(default_factory=MissingFacts, repr=False)
    rounded: Mapping[Any, Rounded] = field(default_factory=dict, repr=False)
    weights: WeightFacts | None = field(default=None, repr=False)
    sample: Release[Any] | None = field(default=None, repr=False, compare=False)

    def report(self, path: str | os.PathLike[str], *, public: bool = False, overwrite: bool = False) -> Path:
        """Write the page that a disclosure committee reads, as `Release.report` does.

        k, groups and the information loss are those of the whole file; all else is judged on `sample`.
        """
        if self.sample is None:
            raise InvalidData("a stored release has no original values to compare with. Mask again by its recipe.")
        return self.sample.report(path, public=public, source=self.source_facts, overwrite=overwrite)

    @property
    def source_facts(self) -> SourceFacts:
        """What a report says of the file that was masked."""
        assert self.sample is not None
        assert self.sample.source is not None
        own = self.sample.source
        return SourceFacts(
            name=own.name, kind=own.kind, details=self.details, records=self.n_records, columns=own.table.num_columns
        )

    def __getstate__(self) -> dict[str, Any]:
        # As for a Release: original values, and what discloses them.
        gone: dict[str, Any] = {"sample": None, "missing": MissingFacts(), "rounded": {}, "weights": None}
        return {**self.__dict__, **gone, "recipe": self.recipe.replace(nominal_seed=None)}

    def __repr__(self) -> str:
        units = "" if self.recipe.roles.unit is None else " units"
        joined = 0 if self.sample is None else self.sample.spellings_joined
        spelt = f"; {joined} spellings of units joined" if joined else ""
        return (
            f"FileRelease: {self.n_records} records in {self.n_groups} groups; k={self.recipe.k}{units} asked, "
            f"{self.k_achieved} reached; information loss {self.information.percent:.2f} %"
            f"{beside_loss(self.information, self.weights)}"
            f"{spelt}"
        )


@takes(*OF_PROTECT, "read")
def protect_file(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    k: int | None = None,
    *,
    recipe: Recipe | None = None,
    overwrite: bool = False,
    scratch: str | os.PathLike[str] | None = None,
    engine: str = "disk",
    scheduler: str | None = None,
    partitions: int | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    **choices: Any,
) -> FileRelease:
    """Mask a Parquet or CSV file of any size, in bounded memory.

    Rows keep their order and, from Parquet, their row groups. The target appears when it is whole, has been read back,
    and has at least k records to each combination of values.

    Parameters
    ----------
    source : path or address
        A Parquet file, a folder of Parquet files (taken in the order of their names), or a text file, such as CSV,
        whose columns are text but for those to mask, so that what is not masked comes out as it was. Parquet may also
        lie in an object store, as at "s3://bucket/survey.parquet".
    target : path or address
        The file to write, Parquet or text; with engine="dask" a folder of Parquet files, or a text file. In an object
        store it is Parquet, and needs `scratch`.
    k : int
        The least number of records that may share one combination of released values.
    recipe : Recipe, optional
        All choices in one value; keywords beside it change single ones. Columns are standardised, and blocks cut in
        a way that has a name; what a recipe says otherwise is refused.
    overwrite : bool
        Whether a target that exists may be replaced.
    scratch : path or address, optional
        The folder for scratch, by default that of the target; with Dask also one of an object store, which only you
        may read and write. It takes 8 bytes for each value to mask and each weight, and 8 for each coordinate: one a
        number, as many as categories for these (with Dask up to three times the values). It holds original values: in
        files without names, which vanish with the process, or with Dask in a folder that only its owner can open,
        removed at the end.
    engine : {"disk", "dask"}
        Threads of this process, or tasks on a Dask cluster, for which text is copied to Parquet in scratch. The result
        does not depend on it.
    scheduler : str, optional
        The address of a Dask scheduler, such as "tcp://10.0.0.1:8786", whose workers see the source, the target and
        the scratch under the same paths, or reach the store that they are in. Without one, a cluster on this machine
        starts and ends with the call; a script that asks for that must keep its code under
        ``if __name__ == "__main__":``.
    partitions : int, optional
        With Dask, the parts in which the file is read, each of whole row groups; by default about a million
        records each, or four for each worker.
    n_jobs : int, optional
        Threads, or workers of a cluster on this machine; by default one a core. The result does not depend on it.
    progress : callable, optional
        Called as progress(done, in all), where each record counts three times: read, grouped, written and read back.
    {choices}
    **options
        The method's own options.

    Returns
    -------
    FileRelease

    Examples
    --------
    >>> import tempfile, pyarrow.parquet as pq, microagg as ma
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(ma.datasets.survey(3000), f"{folder}/survey.parquet")
    ...     release = ma.protect_file(f"{folder}/survey.parquet", f"{folder}/masked.parquet", k=3,
    ...                               identifiers=["person"], weight="weight", strata=["region"])
    ...     pq.read_table(f"{folder}/masked.parquet").num_rows
    3000
    """
    asked = recipe_of(k, recipe, choices, *OF_PROTECT, "read", "join")
    with asked.blamed():
        refuse("file", Combination(recipe=asked, engine="disk"))  # "disk" stands for Dask too: both are beyond memory
        work = Work(check_jobs(n_jobs), progress)
        partitions = _check_engine(engine, scheduler, partitions)
        file = Batches(source, asked.reading.said)
        path = check_target(target, file, overwrite, in_parts=engine == "dask")
        place = check_scratch(scratch, path, engine)
        asked, found = compared(asked, file)
        plan, index = _planned(file, asked)
        if isinstance(place, Path) and engine == "disk":
            outcome = disk.Disk(file, path, plan, place, work).run()
        else:
            from microagg.mask.engines import cluster

            outcome = cluster.run(file, path, plan, place, scheduler, partitions, overwrite, work)
        plan = outcome.plan
        coders = {coder.name: coder for coder in plan.coders}
        reading = {} if file.dialect is None else file.dialect.options()
        settled = plan.recipe.replace(
            kinds=settled_kinds(plan.recipe, coders), method=plan.grouping.settled, same_order=True, **reading
        )
        sample = replace(_release_of(file, outcome, settled, index), differences=found)
    return FileRelease(
        path=path,
        n_records=outcome.n_records,
        n_groups=outcome.figures.n_groups,
        k_achieved=outcome.k_achieved,
        information=outcome.information,
        recipe=settled,
        n_blocks=outcome.n_blocks,
        version=__version__,
        index_dropped=index,
        details=file.details,
        missing=outcome.missing,
        rounded=outcome.rounded,
        weights=None if outcome.weights is None else sample.weights,
        sample=sample,
    )


def _planned(file: Batches, asked: Recipe) -> tuple[Plan, bool]:
    """Return what is to be done with a file, and whether it has row labels of its own, which count as an identifier."""
    recipe = asked.spelt_out()
    weighing = weighing_of(recipe)
    said = {name for _, name in recipe.roles.named}
    index = [name for name in file.index_columns if name not in said]  # row labels: they may identify
    roles = replace(recipe.roles, identifiers=(*recipe.roles.identifiers, *index))
    schema = Schema.assign(file.names, **roles.lists)
    recipe.check_named(file.names)
    names = schema.names(Role.QUASI)
    grouping = resolve_method(recipe.method, recipe.k, names)
    refuse("file", Combination(recipe=recipe, method=grouping.name, engine="disk"))
    wishes = asked_of(recipe, names)
    file.read_as_numbers(names, recipe.kinds.kinds)
    refuse_integers(recipe, names, file.schema)
    by = "median" if recipe.blocks.by == "auto" else recipe.blocks.by
    settled = recipe.replace(
        roles=recipe.roles.settled(schema),
        blocks=replace(recipe.blocks, by=by, max_block=recipe.blocks.max_block or DEFAULT_BLOCK),
        weights=settled_weights(weighing),
    )
    return Plan(settled, schema, grouping, wishes, weighing), bool(index)


def _check_engine(engine: str, scheduler: str | None, partitions: int | None) -> int | None:
    """Return the number of partitions, or say what does not go together."""
    check_option("engine", engine, ("disk", "dask"))
    if engine == "disk" and (scheduler is not None or partitions is not None):
        raise InvalidParameter(
            "scheduler and partitions work only with engine='dask'. Leave them out, or pass that engine."
        )
    if scheduler is not None and not isinstance(scheduler, str):
        raise InvalidParameter(f"the scheduler is {a_type(scheduler)}. Pass its address, a string.")
    return None if partitions is None else check_whole("partitions", partitions, 1, None, "One or more.")


def _release_of(file: Batches, outcome: Outcome, recipe: Recipe, index_dropped: bool) -> Release[Any]:
    """Return the release of the records that were drawn, with what is known of the whole file."""
    plan, drawn = outcome.plan, outcome.drawn
    typed = file.typed(drawn.before)
    frame = nw.from_native(typed, eager_only=True)
    units = None
    if plan.unit is not None:
        units = frames.units_of(frame, plan.unit, plan.in_part)._replace(joined=plan.joined_spellings)
    original = replace(
        plan.coded(typed),
        schema=plan.schema,
        units=units,
        weighed=_weighed(file, plan, typed),
        rows=drawn.rows,
        dropped=frames.shared_codes(frame, plan.schema.names(Role.IDENTIFIER, Role.DROP)),
    )
    written, whole = plan.coded(drawn.after), None if drawn.rows.size == outcome.n_records else _whole(plan, outcome)
    weighed, by_weight = original.weighed, outcome.weights
    weights = weighed.first
    if (
        weights is not None and by_weight is None and whole is None
    ):  # it is not used, and the loss is reported by it all the same
        by_weight = weight_facts(weighted_loss_of_release(original, written, weights), 0, {}, None)
    groups = np.unique(drawn.leads, return_inverse=True)[1].astype(np.int64).ravel()
    if by_weight is not None and plan.weighing.by_group:
        after = {name: weights_in(drawn.after[name], name) for name in weighed.values}
        dropped = frames.shared_codes(frame, plan.schema.names(Role.DROP))
        found = revealing_weights(weighed.values, after, original, groups, groups, plan.k, units, dropped)
        by_weight = replace(by_weight, revealing=found)
    return Release(
        data=drawn.after,
        groups=groups,
        information=outcome.information,
        k_achieved=outcome.k_achieved,
        recipe=recipe,
        n_blocks=outcome.n_blocks,
        moves=outcome.figures.moves,
        version=__version__,
        index_dropped=index_dropped,
        missing=outcome.missing,
        rounded=outcome.rounded,
        weights=by_weight,
        source=Source(
            drawn.before, file.path.name, file.kind, file.details, dialect=file.dialect, address=kept_address(file.path)
        ),
        whole=whole,
        _masked=Masked(original, Groups(groups, plan.grouping, recipe.blocks), written, recipe),
    )


def _weighed(file: Batches, plan: Plan, table: pa.Table) -> Weighed:
    """Return the weights of some records; none if there are none, or they are only released."""
    names = dict.fromkeys([*plan.weighing.used, *plan.weighing.names[:1]])
    try:
        numbers = pa.table({name: file.as_numbers(table[name], name) for name in names})
    except InvalidData:
        return Weighed(plan.weighing, {})
    return Weighed.of(nw.from_native(numbers, eager_only=True), plan.weighing)


def _whole(plan: Plan, outcome: Outcome) -> WholeFile:
    known = list(zip(plan.columns, outcome.known.facts, strict=True))
    return WholeFile(
        records=outcome.n_records,
        group_sizes=dict(sorted(outcome.figures.sizes.items())),
        strata=tuple(outcome.patterns.strata_sizes.tolist()),
        missing_cells=int(outcome.lost.missing.sum()),
        counts={column.name: facts.counts for column, facts in known if isinstance(column.kind, Nominal)},
        states={column.name: frozenset(np.flatnonzero(facts.states).tolist()) for column, facts in known},
    )
