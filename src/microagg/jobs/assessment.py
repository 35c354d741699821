"""Judging any masked file, from any program, beside its original; several of one original are judged together."""

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import pyarrow as pa

from microagg.algorithms.diversity.demand import Limits
from microagg.base.frozen import frozen
from microagg.columns import frames
from microagg.columns.recoding import Recoding
from microagg.columns.roles import Role
from microagg.columns.weights import checked_weights
from microagg.errors import InvalidData, RoleError, setting
from microagg.files.sources import Source
from microagg.jobs.pairs import BothFiles, Pairing, check_can_be_matched, in_the_order_of, read_pair
from microagg.judge.analyses import checked_analyses, utility
from microagg.judge.findings import SOLVED
from microagg.judge.run import UNCHANGED
from microagg.judge.text import shown
from microagg.mask.demands import check_demanded, demand_on, demanded_columns, sensitive_table
from microagg.measures.analyses.analysis import Analysis
from microagg.measures.analyses.estimate import Utility
from microagg.measures.assess import disclosure_risk, loss_measures, usual_sample
from microagg.measures.criterion import scoring_index
from microagg.measures.definitions import measures_of_both
from microagg.measures.diversity import Goal, given_away, goals_of
from microagg.measures.joint import JointDisclosure
from microagg.measures.measure import Measure
from microagg.measures.risk import DisclosureRisk
from microagg.measures.utility import LossMeasures
from microagg.recipe import Recipe, choices
from microagg.recipe.combine import Combination, refuse
from microagg.recipe.data import with_declared_codes
from microagg.study.joint import joint_disclosure
from microagg.work import Progress

Goals = Mapping[str, tuple[Goal, ...]]


@frozen()
class Assessed:
    """What was lost between two files, and what an intruder could do.

    Attributes
    ----------
    columns, strata : list of str
        Those judged, and those within which an intruder links.
    loss : LossMeasures
    risk : DisclosureRisk
    score : float
        The scoring index.
    warnings : list of str
        What makes the figures look better than they are; choices are named by `microagg.errors.setting`.
    demanded : mapping
        What the recipe demands of each confidential column, with what the masked file reaches; empty without a recipe
        that does.
    results : Utility or None
        What became of the results of analyses; None where none were named.
    left_out : int
        Records of the original that masking left out.
    """

    columns: list[str]
    strata: list[str]
    loss: LossMeasures
    risk: DisclosureRisk
    score: float
    warnings: list[str]
    demanded: Goals = field(default_factory=dict)
    results: Utility | None = None
    left_out: int = 0

    @property
    def linked(self) -> str:
        """How many records an intruder links, in words."""
        return _linked(self.risk, self.strata)

    @property
    def words(self) -> str:
        """The same, a line for each thing that is demanded of confidential columns, and the results of analyses."""
        results = [] if self.results is None else ["", str(self.results)]
        return "\n".join([self.linked, *kept_words(self.demanded), *results])

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Every figure of loss and of risk, with its words."""
        return measures_of_both(self.loss, self.risk)


def assess(
    files: Pairing,
    recipe: Recipe | None = None,
    *,
    columns: list[str] | None = None,
    keys: list[str] | None = None,
    strata: list[str] | None = None,
    sample: int | None = None,
    seed: int | None = None,
    key: str | None = None,
    analyses: Sequence[Any] | None = None,
    progress: Progress | None = None,
) -> Assessed:
    """Judge a masked file; what is not said here the recipe says, or the files show.

    `key` is a column that identifies each record in both files, if their rows are not in the same order.
    """
    if analyses is None:
        analyses = () if recipe is None else recipe.analyses.analyses
    before, after, whole = files.before, files.after, files.whole
    if recipe is not None and recipe.recode.recode:
        before, whole = _recoded(before, recipe), None if whole is None else _recoded(whole, recipe)
    if key is not None:
        after = in_the_order_of(before, after, key)
    pair = BothFiles(before.typed(), after.typed())
    if key is None:
        check_can_be_matched(files, pair, recipe)
    within = _strata(pair, recipe, strata)
    names = _compared(pair, before, recipe, columns, within)
    _check_order(pair, recipe, names if recipe is not None or columns is not None else [], within)
    masked = [] if recipe is None else recipe.masked(before.table.column_names)
    demanded = goals_in(after, recipe, masked)
    wanted = Recipe(2).risk if recipe is None else recipe.risk
    keys = keys if keys is not None else None if wanted.keys is None else list(wanted.keys)
    sample = sample if sample is not None else wanted.sample or usual_sample(before.table.num_rows)
    known = with_declared_codes(recipe or Recipe(2), before, names)
    said: dict[str, Any] = {"kinds": known.kinds.kinds, "missing_codes": known.missing_codes.codes}
    left, right = _typed(before, after, names, within, said)
    unit = None if recipe is None or recipe.roles.unit not in before.table.column_names else recipe.roles.unit
    if unit is not None and unit not in left.column_names:
        left = left.append_column(unit, before.table[unit])
    weights = None if recipe is None else _weights(files.before, recipe)
    results = _results(whole or before, after, pair.common, said, checked_analyses(analyses))
    everybody = None if whole is None else whole.typed_for(said["kinds"], names, said["missing_codes"])
    loss = loss_measures(left, right, columns=names, weights=weights, whole=everybody, **said)
    risk = disclosure_risk(
        left,
        right,
        **said,
        keys=keys,
        columns=names,
        strata=within,
        unit=unit,
        sample=sample,
        seed=wanted.seed if seed is None else seed,
        weights=weights,
        progress=progress,
    )
    score = scoring_index(loss.overall[1], risk.g_dr)
    warnings = [*broken_words(demanded), *_disclosed(risk), *_warnings(pair, recipe, names, within)]
    return Assessed(names, within, loss, risk, score, warnings, demanded, results, files.left_out)


def _results(
    before: Source, after: Source, common: list[str], said: Mapping[str, Any], analyses: Sequence[Analysis]
) -> Utility | None:
    """Compare the results of analyses in both files; units need not be in the masked one."""
    if not analyses:
        return None
    told = dict(said)
    left, right = _typed(before, after, common, [], told)
    for name in {one.unit for one in analyses} & {*before.table.column_names} - {*left.column_names}:
        left = left.append_column(name, before.table[name])
    return utility(left, right, analyses, **told)


def _weights(source: Source, recipe: Recipe) -> Any:
    """Return the weights of the original that a recipe names, the first of several; None where they are none."""
    names = [name for name in recipe.roles.of(Role.WEIGHT.value)[:1] if name in source.table.column_names]
    try:
        typed = frames.open_frame(source.typed_for(dict.fromkeys(names, "number"), names))
        return checked_weights(typed.get_column(names[0]), names[0]) if names else None
    except InvalidData:  # what is no weight weights nothing
        return None


def _typed(
    before: Source, after: Source, names: list[str], within: list[str], said: dict[str, Any]
) -> tuple[pa.Table, pa.Table]:
    """Return both files with numbers where both have them; codes that one file holds as text are text in both."""
    kinds, codes = dict(said["kinds"]), said["missing_codes"]
    tables = [one.typed_for(kinds, names, codes) for one in (before, after)]
    for name in names:
        is_text = [pa.types.is_string(table[name].type) for table in tables]
        if name not in kinds and is_text[0] != is_text[1]:
            kinds[name] = "nominal"
    if kinds != said["kinds"]:
        said["kinds"] = kinds
        tables = [one.typed_for(kinds, names, codes) for one in (before, after)]
    left, right = (table.select([*names, *within]) for table in tables)
    return left, right


def _recoded(source: Source, recipe: Recipe) -> Source:
    """Return the original as it was recoded before it was masked."""
    recoding = Recoding.of(recipe.recode.recode)
    codes = with_declared_codes(recipe, source, list(recipe.recode.recode)).missing_codes.codes
    kinds = dict.fromkeys(recoding.numbers, "number") | dict(recipe.kinds.kinds)
    table = source.typed_for(kinds, source.table.column_names, codes)
    return replace(source, table=recoding.apply(table, codes), kind="parquet")


def _strata(pair: BothFiles, recipe: Recipe | None, given: list[str] | None) -> list[str]:
    """Return the columns that the intruder links within; both files must have them, identical row by row."""
    declared = () if recipe is None else recipe.roles.strata
    strata = list(declared if given is None else given)
    pair.check_known(strata)
    for name in strata:
        if not pair.is_same(name):
            raise InvalidData(f"the stratum {name!r} {pair.difference(name)}")
    return strata


def _compared(
    pair: BothFiles, before: Source, recipe: Recipe | None, given: list[str] | None, strata: list[str]
) -> list[str]:
    """Return the columns to judge: those named, those the recipe masks, or those in both files that differ."""
    if given is not None or recipe is not None:
        names = given if given is not None else recipe.masked(before.table.column_names) if recipe else []
        pair.check_known(names)
        both = next((name for name in names if name in strata), None)
        if both is not None:
            raise RoleError(
                f"column {both!r} is a stratum and one of the columns to compare. Leave it out of one of the two."
            )
        return names
    common = [name for name in pair.common if name not in strata and pair.can_be_judged(name)]
    if not common:
        raise InvalidData(
            f"the files have no column of numbers or categories in common. Name them: {setting('columns')}.",
            parameter="columns",
        )
    return [name for name in common if not pair.is_same(name)] or common


def _check_order(pair: BothFiles, recipe: Recipe | None, masked: list[str], strata: list[str]) -> None:
    """Refuse files whose rows cannot stand for the same records; columns said to be masked bear no witness."""
    declared = [] if recipe is None else _declared_unchanged(recipe)
    others = [name for name in pair.common if name not in strata and (name not in masked or name in declared)]
    moved = [name for name in others if pair.is_moved(name)]
    wrong = next((name for name in moved if name in declared), None)
    if wrong is None and moved and not any(pair.is_witness(name) for name in pair.common):
        wrong = moved[0]
    if wrong is not None:
        raise InvalidData(
            f"column {wrong!r} {pair.difference(wrong)} If it was swapped on purpose, name it "
            f"({setting('columns')}), or leave it out of one file if it does not hold numbers.",
            columns=[wrong],
        )


def _declared_unchanged(recipe: Recipe) -> list[str]:
    unchanged = [name for role in UNCHANGED for name in recipe.roles.of(role.value)]
    return [name for name in unchanged if name not in recipe.weights_by_group]


def _disclosed(risk: DisclosureRisk) -> list[str]:
    """Say that means disclose values of units, where they do so of more than a few."""
    found = risk.constants
    if found is None or found.percent is None or found.percent <= 100.0 * SOLVED:
        return []
    return [
        f"for {found.percent:.1f} % of the units, a value of {', '.join(map(str, found.columns))} can be computed from "
        "the means of the groups that their rows are in. To mask such columns once for each unit: "
        f"{setting('unit_constant', 'once')}"
    ]


def _warnings(pair: BothFiles, recipe: Recipe | None, names: list[str], strata: list[str]) -> list[str]:
    """Say what makes the figures look better than they are."""
    found = []
    unchanged = [name for name in pair.common if pair.is_witness(name) and name not in (*names, *strata)]
    numbers = [name for name in unchanged if pair.is_numeric(name)]
    others = [name for name in unchanged if name not in numbers]
    passed_over = [
        name
        for name in pair.common
        if name not in (*names, *strata) and not pair.can_be_judged(name) and not pair.is_same(name)
    ]
    if passed_over:
        found.append(
            f"changed and not judged: {', '.join(passed_over)}. They are not numbers in both files, and have too "
            "many different values for categories. No figure here covers them."
        )
    if numbers:
        found.append(
            f"released unchanged and not judged: {', '.join(numbers)}. An intruder who knows them links more records "
            f"than is shown. To judge them as well: {setting('columns', [*names, *numbers])}"
        )
    if others:
        found.append(
            f"released unchanged, and not numbers: {', '.join(others)}. An intruder who knows them links more "
            f"records than is shown. To count them as known: {setting('strata', [*strata, *others])}"
        )
    for name in [] if recipe is None else _declared_unchanged(recipe):
        if name in pair.common and not pair.is_same(name):
            found.append(
                f"the recipe releases {name!r} unchanged, but it differs. Was this file made with this recipe?"
            )
    if not any(pair.is_witness(name) for name in pair.common) and pair.is_sorted_anew():
        found.append(
            "the masked file is sorted and the original is not. If masking sorted its rows, each row is compared "
            "with a wrong original, and no figure here is right. Name the file in the output folder of `mask`, or "
            "mask in the same order to assess."
        )
    return found


def _linked(risk: DisclosureRisk, strata: list[str]) -> str:
    """Say how many records are linked, by what, and on how many records that was estimated."""
    keys = [shown(name) for name in risk.columns if name in risk.keys]
    only = f"only {', '.join(keys)} ({len(keys)} of {len(risk.columns)} columns)"
    known = only if risk.restricted else f"{len(keys)} columns" if len(keys) > 1 else keys[0]
    within = f" and {', '.join(map(shown, strata))}" if strata else ""
    linked = f"records linked by an intruder who knows {known}{within}: "
    linked += f"{risk.rld:.2f} % by some of them, {risk.full_keys:.2f} % by all" if keys[1:] else f"{risk.rld:.2f} %"
    if risk.sampled is not None:
        linked += (
            f" (estimated on {risk.sampled} records drawn with seed {risk.seed}; standard error "
            f"{risk.standard_error:.2f})"
        )
    return linked


def goals_in(after: Source, recipe: Recipe | None, masked: Sequence[str]) -> Goals:
    """Return what a recipe demands of confidential columns and what a masked file reaches; empty without a demand.

    `masked` are the columns that the recipe masks. Records look the same if they share these, the strata, and weights
    that are released by group.
    """
    if recipe is None or not recipe.diversity.demanded:
        return {}
    confidential = list(recipe.roles.confidential)
    check_demanded(recipe, confidential)
    limits = demanded_columns(recipe, confidential)
    keys = [*masked, *recipe.roles.strata, *recipe.weights_by_group]
    _check_known(after, recipe, keys, limits)
    typed = frames.open_frame(after.typed_for(recipe.kinds.kinds, [*keys, *limits]))
    sensitive = sensitive_table({name: typed.get_column(name) for name in limits}, recipe, after.labels)
    found = given_away(demand_on(sensitive, limits), frames.category_codes(typed, keys))
    return {name: goals_of(limits[name], own) for name, own in found.items()}


def _check_known(after: Source, recipe: Recipe, keys: Sequence[str], limits: Mapping[str, Limits]) -> None:
    """Refuse a file without a column that the demand needs, or with one whose order of values is not known."""
    lacking = next((name for name in (*limits, *keys) if name not in after.table.column_names), None)
    if lacking is not None:
        raise InvalidData(
            f"the recipe demands l or t of confidential columns, which is counted with column {lacking!r}, and that "
            "column is not in the masked file. Assess a file that has it, or take [diversity] out of the recipe.",
            columns=(lacking,),
        )
    for name, own in limits.items():
        if own.t is not None and name in recipe.recode.recode and name not in recipe.kinds.kinds:
            raise InvalidData(
                f"column {name!r} was recoded. t is measured by the order of its classes, and the recipe does not "
                "say that order. Use the recipe that masking has written, which does.",
                columns=(name,),
            )


def kept_words(goals: Goals) -> list[str]:
    """Say of each thing that is demanded whether the file keeps it."""
    return [
        f"{one.short} of {name!r}: {'kept' if one.holds else 'NOT kept'}, {one.reached:.3g} reached"
        for name, own in goals.items()
        for one in own
    ]


def broken_words(goals: Goals) -> list[str]:
    """Warn of what the file does not keep."""
    return [
        f"the masked file does not keep {one.short} of {name!r}, as the recipe demands: {one.reached:.3g} is reached. "
        f"Mask again, and do not release it."
        for name, own in goals.items()
        for one in own
        if not one.holds
    ]


def assess_all(
    original: str,
    masked: Sequence[str],
    recipe: Recipe | None = None,
    chosen: Mapping[str, Any] | None = None,
    *,
    columns: list[str] | None = None,
    strata: str | None = None,
    key: str | None = None,
    progress: Progress | None = None,
) -> JointDisclosure:
    """Measure what several masked files of one original disclose together.

    Parameters
    ----------
    original : str
    masked : sequence of str
        Of the same records. Rows in another order are matched by `key`, or else by nearest values; the result
        says which.
    recipe : Recipe, optional
        What they were masked by.
    chosen : mapping, optional
        Choices by keyword. Those of reading hold of text files; others have no meaning here, and are refused.
    columns : list of str, optional
        The masked ones; by default the recipe's, or those of each file in which it differs from the original.
    strata : str, optional
        Refused: groups lie within strata already.
    key : str, optional
        A column that identifies each record in all files.
    progress : callable, optional
        Called as progress(done, in all).
    """
    said = {**(chosen or {}), "strata": strata}
    reading = {name: value for name, value in said.items() if name in choices("read")}
    for keyword, value in said.items():
        if value is not None:
            refuse("several files", Combination(keyword=keyword))
    pairs = [read_pair(original, one, recipe, reading) for one in masked]
    before = pairs[0].before
    after = [one.after if key is None else in_the_order_of(before, one.after, key) for one in pairs]
    if columns is None and recipe is not None:
        columns = list(recipe.masked(before.table.column_names))
    match = "auto" if key is None else "position"
    frames = [one.typed() for one in after]
    unit = None if recipe is None or recipe.roles.unit not in before.table.column_names else recipe.roles.unit
    return joint_disclosure(before.typed(), frames, columns=columns, match=match, unit=unit, progress=progress)
