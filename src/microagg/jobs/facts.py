"""Figures, and what the report finds, as plain values: the same dictionaries whichever edge hands them out."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from microagg.judge.parts import Finding
from microagg.judge.text import FIXED, THIN
from microagg.judge.topics import confidential, loss, results, risk, weights
from microagg.judge.topics.moments import MOMENTS
from microagg.measures.definitions import measures_of_both
from microagg.report.parts import ReportModel

if TYPE_CHECKING:
    from microagg.files.joining import Joined
    from microagg.files.sources import Source
    from microagg.jobs.assessment import Assessed
    from microagg.jobs.inspecting import SmallStrata
    from microagg.jobs.trees import ColumnTree
    from microagg.jobs.writing import Written
    from microagg.judge.comparison import Candidate, Comparison
    from microagg.mask.facts import OnceFacts
    from microagg.measures.analyses.estimate import Utility
    from microagg.measures.anonymity import RebuiltUnits
    from microagg.measures.joint import JointDisclosure
    from microagg.release import Release
    from microagg.study.costs import ColumnCosts
    from microagg.study.inspection import Inspection


def release_facts(release: "Release[Any]") -> dict[str, Any]:
    """Return the figures of a release that was judged."""
    return {
        "records": release.n_records,
        "records_judged": len(release.groups),
        "records_left_out": release.n_dropped,
        "groups": release.n_groups,
        "k": release.recipe.k,
        "k_reached": release.k_achieved,
        "unit": release.recipe.roles.unit,
        "unit_release": None if release.recipe.roles.unit is None else release.recipe.units.release,
        **rebuilt_facts(release.rebuilt),
        "unit_spellings_joined": release.spellings_joined,
        "fewest_units": release.anonymity.units,
        "largest_unit_share_percent": release.anonymity.share,
        "information_loss_percent": release.information.percent,
        "importance": {str(name): own for name, own in release.recipe.importance.importance.items()},
        "losses_without_importance_percent": {str(name): own for name, own in release.information.uncounted.items()},
        "loss_bound": loss.bound_as_json(release.loss.bound),
        "g_il": release.loss.g_il,
        **risk.as_json(release.risk),
        **weights.as_json(release.weights),
        **confidential.as_json(release.diversity),
        **once_facts(release.once),
        **({} if release.moments is None else MOMENTS.as_json(release.moments)),
        "results": results.as_json(release.results),
        "figures": {one.name: one.value for one in measures_of_both(release.loss, release.risk)},
    }


def rebuilt_facts(found: "RebuiltUnits | None") -> dict[str, Any]:
    """Return how many units come together again by columns that are released unchanged; nothing where none is named."""
    if found is None:
        return {}
    by_column = {str(name): units for name, units in found.by_column.items()}
    return {"units_rebuilt": found.units, "units_with_several_rows": found.of, "units_rebuilt_by_column": by_column}


def once_facts(found: "OnceFacts | None") -> dict[str, Any]:
    """Return which columns were masked once for each unit, and what that cost."""
    if found is None:
        return {}
    return {
        "masked_once": list(map(str, found.columns)),
        "information_loss_by_row_percent": found.loss_by_row,
        "information_loss_once_percent": found.loss,
    }


def written_facts(release: "Release[Any]", written: "Written") -> dict[str, Any]:
    """Return what a run has left, the figures of its release and what the report finds of it."""
    joined = None if release.source is None else release.source.joined
    return {
        "public_report": None,
        **({} if joined is None else households_facts(joined)),
        **written.places,
        **release_facts(release),
        **topics_of(written.told),
        "sha256": written.sha256,
        "recoded": recoded_of(written.told),
        "warnings": written.warnings,
        "findings": findings_of(written.told),
        "differences": [{"sign": one.sign, "column": one.column, "text": one.text} for one in release.differences],
    }


def households_facts(joined: "Joined") -> dict[str, Any]:
    """Return what a file of households holds that was joined to one of persons."""
    table = joined.households.table
    return {
        "joined": {
            "source": joined.households.name,
            "details": dict(joined.households.details),
            "sha256": joined.households.sha256,
            "records": table.num_rows,
            "columns": table.column_names,
            "on": joined.on,
            "without_persons": joined.without_persons,
        }
    }


def inspection_facts(source: "Source", inspection: "Inspection") -> dict[str, Any]:
    """Return what a file holds, and what was guessed of each column."""
    columns = [
        {
            "name": column.name,
            "type": column.type,
            "missing": column.missing,
            "distinct": column.distinct,
            "role": column.role.value,
            "kind": column.kind,
            "spike": column.spike,
            "missing_codes": list(column.missing_codes),
            "reason": column.reason,
        }
        for column in inspection.columns
    ]
    return {
        "source": source.name,
        "kind": source.kind,
        "details": dict(source.details),
        "records": inspection.records,
        "unique": inspection.unique,
        "incomplete": inspection.incomplete,
        "moved": inspection.moved,
        "repeats": inspection.repeats,
        "columns": columns,
        **({} if source.joined is None else households_facts(source.joined)),
    }


def small_strata_facts(found: "SmallStrata") -> dict[str, Any]:
    """Return how many strata are small and where they are listed, and none of them."""
    return {"k": found.k, "strata": list(found.strata), "small_strata": found.count, "small_strata_file": found.place}


def comparison_facts(found: "Comparison") -> dict[str, Any]:
    """Return the figures of releases that were compared."""
    return {
        "candidates": [one.as_dict() for one in found.candidates],
        "rank": found.ranking.rank.name,
        "axis": found.axis.name,
        "least_k": found.ranking.least_k,
        "below_least_k": len(found.candidates) - len(found.eligible),
        "best": _named(found.best),
        "frontier": [_named(one) for one in found.frontier],
        "sampled": found.sampled,
        "standard_error": found.standard_error,
    }


def _named(one: "Candidate") -> dict[str, Any]:
    demanded = {"l": one.l, "t": one.t}
    return {"method": one.method, "k": one.k, **{name: of for name, of in demanded.items() if of is not None}}


def assessed_facts(found: "Assessed") -> dict[str, Any]:
    """Return the figures of a masked file beside its original."""
    return {
        "columns": found.columns,
        "strata": found.strata,
        "records_left_out": found.left_out,
        "information_loss_percent": found.loss.percent,
        "per_column_percent": dict(found.loss.per_column),
        "g_il": found.loss.g_il,
        **risk.as_json(found.risk),
        "scoring_index": found.score,
        **(
            {"demanded": {str(name): confidential.goals_as_json(of) for name, of in found.demanded.items()}}
            if found.demanded
            else {}
        ),
        **({} if found.results is None else {"results": result_facts(found.results)}),
        "figures": {one.name: one.value for one in found.measures},
    }


def joint_facts(found: "JointDisclosure") -> dict[str, Any]:
    """Return the figures of several masked files together."""
    return {**asdict(found), "figures": {one.name: one.value for one in found.measures}}


def result_facts(found: "Utility") -> dict[str, Any]:
    """Return what became of the results of analyses as plain values."""
    return {
        "level": found.level,
        "figures": {one.name: one.value for one in found.measures},
        "analyses": [{"name": one.analysis.name, **one.analysis.said, "said": one.sentence} for one in found.analyses],
        "estimates": [row | {"difference_percent": 100.0 * row.pop("difference")} for row in found.rows()],
        "remarks": list(found.remarks),
    }


def tree_facts(tree: "ColumnTree") -> dict[str, Any]:
    """Return a dependence tree by its edges and degrees, and the columns that would stand for all."""
    chosen, covering = tree.chosen, tree.covering
    edges = [
        {"first": tree.names[edge.first], "second": tree.names[edge.second], "weight": edge.weight}
        for edge in tree.dependence.edges
    ]
    return {
        "measure": tree.dependence.measure,
        "categories": dict(zip(tree.names, tree.dependence.categories.tolist(), strict=True)),
        "columns": tree.names,
        "edges": edges,
        "degrees": dict(chosen.degrees),
        "rule": chosen.rule,
        "chosen": list(chosen.columns),
        "ties": chosen.ties,
        "alternatives": [{"columns": list(way), "loss": chosen.losses.get(way)} for way in chosen.alternatives],
        "cover": {"chosen": list(covering.columns), "ties": covering.ties},
    }


def cost_facts(costs: "ColumnCosts") -> dict[str, Any]:
    """Return what each masked column costs the others as plain values."""
    return {
        "sampled": costs.sampled,
        "columns": {str(one.name): {"with": one.with_it, "without": one.without_it} for one in costs.columns},
        "dearest": list(map(str, costs.dearest)),
        "with_them": costs.with_them,
        "without_them": costs.without_them,
    }


_LEVELS = {"bad": "broken", "look": "warning", "note": "note", "good": "note"}
"""How grave a finding is: the promise does not hold, somebody should look at it, or it is merely stated."""


def findings_of(model: ReportModel) -> list[dict[str, Any]]:
    """Return what a report finds, the gravest first: its level, its topic, a line and the whole text."""
    return [_plain(one) for one in model.verdict.findings]


def recoded_of(model: ReportModel) -> list[dict[str, Any]]:
    """Return the columns that were recoded before they were masked: the rule in words, and the cells that changed."""
    return [{"column": one.column, "rule": one.rule, "cells_changed": one.changed} for one in model.recoded]


def topics_of(model: ReportModel) -> dict[str, Any]:
    """Return the figures of each topic that has any, by its name."""
    return {name: own for one in model.topics for name, own in one.figures.items()}


def bound_of(model: ReportModel) -> list[str]:
    """Return a line that says how little any grouping could lose, or why that is not known."""
    return [_spaced(model.loss.bound_text)] if model.loss.bound_text else []


def results_of(model: ReportModel) -> list[str]:
    """Return a line that says how many results of researchers survive; empty if that is not known."""
    return [_spaced(f"{one.name}: {one.value}") for one in model.verdict.lines if one.name == "Results"]


def to_tick(model: ReportModel) -> tuple[list[Finding], list[Finding]]:
    """Return what somebody must look at before the file goes out, the gravest first, and the rest of the checklist.

    What the verdict and the checklist both have is listed once.
    """
    listed = {one.topic for one in model.checklist}
    grave = [one for one in model.verdict.findings if one.state in ("bad", "look") and one.topic not in listed]
    grave += [one for one in model.checklist if one.state in ("bad", "look")]
    rest = [one for one in model.checklist if one.state not in ("bad", "look")]
    return sorted(grave, key=lambda one: one.state != "bad"), rest


def _plain(one: Finding) -> dict[str, Any]:
    texts = {"line": one.short or one.text, "text": one.text}
    return {"level": _LEVELS[one.state], "topic": one.topic, **{key: _spaced(text) for key, text in texts.items()}}


def _spaced(text: str) -> str:
    """Return a text with plain spaces, which every terminal has."""
    return text.replace(THIN, " ").replace(FIXED, " ")


def warnings_among(findings: list[dict[str, Any]]) -> list[str]:
    """Return a line for each finding that somebody should look at."""
    return [one["line"] for one in findings if one["level"] != "note"]
