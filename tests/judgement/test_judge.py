"""A judgement holds all that a report says, from what was computed already, and in public nothing else."""

import dataclasses
import json
import pickle

import numpy as np
import pyarrow as pa
import pytest

import microagg as ma
from microagg.algorithms.methods import METHODS, Method
from microagg.columns.roles import Role
from microagg.judge import judge
from microagg.measures.definitions import DEFINITIONS
from microagg.measures.measure import Definition
from microagg.report import build, render
from microagg.report.model import put_into_words

SURVEY = ma.datasets.survey(400, seed=0)
ROLES = {"identifiers": ["person"], "weight": "weight", "strata": ["region"], "confidential": ["tax"]}
RELEASE = ma.protect(SURVEY, 5, select="emad", **ROLES)
COMPARED = ma.compare(SURVEY.select(["age", "income"]), ["mdav"], [3, 5])


def test_the_report_is_the_judgement_in_words():
    found = judge(RELEASE)
    assert put_into_words(found, comparison=COMPARED) == build(RELEASE, comparison=COMPARED)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.public = True
    with pytest.raises(TypeError):
        found.measures["IL"] = None


def test_figures_are_found_by_name_and_are_the_releases():
    found = judge(RELEASE)
    assert {name: one.value for name, one in found.measures.items()} == {
        one.name: one.value for one in (*RELEASE.loss.measures, *RELEASE.risk.measures)
    } | {"SI": ma.scoring_index(RELEASE.loss.g_il, RELEASE.risk.g_dr)}
    assert RELEASE.loss.information is RELEASE.information  # known when the release was made


def test_the_tree_is_the_one_that_was_spanned(monkeypatch):
    monkeypatch.setattr("microagg.algorithms.dependence._spanning_tree", lambda *_, **__: pytest.fail("spanned again"))
    tree = judge(RELEASE).tree
    assert tree.edges == tuple((a, b, weight) for a, b, weight in RELEASE.selection.tree.edges)
    assert [tree.names[j] for j in tree.chosen] == list(RELEASE.selection.columns)


def test_a_stored_selection_tells_nothing_of_the_tree():
    assert pickle.loads(pickle.dumps(RELEASE.selection)).tree is None
    assert pickle.loads(pickle.dumps(RELEASE)).selection == RELEASE.selection


def test_a_selection_of_other_columns_shows_no_tree():
    other = ma.protect(SURVEY.select(["age", "hours", "wage"]), 5, select="emad", count=1).selection
    table = SURVEY.select(["age", "hours", "wage", "income"])
    assert judge(ma.protect(table, 5, select=other)).tree is None
    assert judge(ma.protect(table.select(["age", "hours", "wage"]), 5, select=other)).tree is not None


def test_a_public_judgement_has_nothing_that_must_not_be_shown():
    found = judge(RELEASE, public=True)
    assert (found.measures, found.risk, found.tree, found.correlations, found.diversity) == ({}, None, None, None, ())
    assert put_into_words(found, comparison=COMPARED).map is None
    assert found.run.has_identifiers
    assert found.run.names(Role.IDENTIFIER) == []
    assert (found.run.reason, found.run.ties) == ("", 1)
    assert (found.strata.smallest, found.strata.largest, found.strata.small) == (None, None, None)
    assert found.alone.by_column == {}
    assert (found.groups.unique, found.groups.largest, found.groups.sizes) == (None, None, ())
    assert all(one.lost_percent is None and one.before == () for one in found.distributions)
    assert all(one.percent is one.mean is one.deviation is one.quantile is None for one in found.loss.columns)
    text = repr(found)
    for secret in ("person", f"{RELEASE.information.percent:.6g}"[:5], RELEASE.selection.reason):
        assert secret not in text


@pytest.mark.parametrize(("lacking", "below", "percent"), [(7, 50, None), (60, None, 15.0)])
def test_in_public_records_left_out_are_told_roughly(lacking, below, percent):
    column = [None] * lacking + list(range(400 - lacking))
    release = ma.protect(pa.table({"a": column, "b": np.arange(400.0)}), 5, missing="drop")
    found = judge(release, public=True).left_out
    assert (found.records, found.read, found.percent, found.below) == (None, None, percent, below)
    inside = judge(release).left_out
    assert (inside.records, inside.read, inside.percent) == (lacking, 400, 100 * lacking / 400)


@pytest.mark.parametrize("missing", ["pattern", "drop"])
def test_groups_of_few_households_are_counted_in_frames_too(missing):
    ages = [None if i % 20 == 0 else float(i % 7) for i in range(80)]
    table = pa.table(
        {"household": [i // 4 for i in range(80)], "age": ages, "income": [i // 4 * 10.0 for i in range(80)]}
    )
    release = ma.protect(table.to_pandas(), 4, identifiers=["household"], missing=missing)
    kept = [i for i in range(80) if missing == "pattern" or ages[i] is not None]
    units = {}
    for i, group in zip(kept, release.groups.tolist(), strict=True):
        units.setdefault(group, set()).add(i // 4)
    few = sum(len(own) < 4 for own in units.values())
    assert judge(release).alone.few_units == {"household": few}
    assert few > 0
    assert pickle.loads(pickle.dumps(release))._masked is None


# One definition is enough: a measure and a method of the test's own, shown with their own words.

MEASURE = Definition(
    "worst cell", "loss", "the cell that moved most", "The largest change of a cell, as it is.",
    from_columns=lambda original, masked, names: float(np.abs(original - masked).max() + 0 * len(names)),
)  # fmt: skip


def in_order(X, k, *, step=1, progress=None):
    """Group records as they stand."""
    groups = np.minimum(np.arange(len(X)) // (k * step), len(X) // (k * step) - 1)
    if progress is not None:
        progress(len(X), len(X))
    return groups


METHOD = Method("in-order", in_order, "groups of k as the records stand", {"step": "groups to merge"})


@pytest.fixture
def _entered(monkeypatch):
    monkeypatch.setitem(DEFINITIONS, MEASURE.name, MEASURE)
    monkeypatch.setitem(METHODS, METHOD.name, METHOD)


@pytest.mark.usefixtures("_entered")
def test_a_new_measure_and_a_new_method_are_reported_by_their_own_words():
    table = SURVEY.select(["age", "income"])
    release = ma.protect(table, 5, method="in-order", step=2)
    compared = ma.compare(table, ["in-order"], [3, 5])
    model = build(release, comparison=compared)
    figure = next(one for one in model.loss.figures if one.symbol == "worst cell")
    assert (figure.name, figure.meaning) == ("the cell that moved most", "The largest change of a cell, as it is.")
    original, masked = (both.matrix() for both in release.pair)
    assert figure.value == np.abs(original - masked).max()
    method = next(one for one in model.done if one.name == "method")
    assert (method.value, method.why) == ("in-order", "groups of k as the records stand")
    assert next(one for one in model.done if one.name == "its options").value == "step = 2"
    assert [row.figures["worst cell"] for row in model.map.candidates] == [
        one.figures["worst cell"] for one in compared.candidates
    ]
    page = render(model)
    for words in ("the cell that moved most <small>worst cell</small>", '<th class="n">worst cell</th>'):
        assert words in page
    assert "worst cell" not in json.dumps(dataclasses.asdict(build(release, public=True)))


def test_a_method_of_no_name_here_is_the_callers_own():
    class Halves:
        def fit_predict(self, X):
            return (np.arange(len(X)) >= len(X) // 2).astype(int)

    method = next(
        one for one in build(ma.protect(SURVEY.select(["age"]), 5, method=Halves())).done if one.name == "method"
    )
    assert method.why == "a method from outside microagg"
