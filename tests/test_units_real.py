"""Units of real surveys: what groups of k households or persons lose, by the partitioners themselves."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import microagg as ma
from microagg.algorithms.methods import METHODS
from microagg.algorithms.refine import refine
from microagg.algorithms.units import Units, held_by
from microagg.columns import frames
from microagg.columns.embedding import embed
from microagg.columns.finders import open_table
from microagg.columns.kinds import Rule
from microagg.columns.representatives import represent
from microagg.measures.loss import loss_of_release
from microagg.measures.risk import measure_risk
from microagg.recipe.data import asked_of
from tests.lengths import first_few

pytestmark = pytest.mark.casc

EIGHT = {
    "age": "number",
    "eqIncome": "number",
    "rb090": "nominal",
    "db040": "nominal",
    "pl030": "nominal",
    "pb220a": "nominal",
    "py010n": "semi",
    "hy090n": "semi",
}
LOSSES = {  # by k: without units, and at most with them
    "eusilc": {3: (2.833, 3.49), 5: (4.871, 5.67), 10: (8.515, 10.71)},
    "psid": {3: (2.541, 7.77), 5: (4.829, 14.2), 10: (9.352, 25.4)},
}
CASES = [(name, k) for name in LOSSES for k in (3, 5, 10)]


class Survey:
    """A file as the partitioners see it, and how to tell what labels lose."""

    def __init__(self, frame, unit, kinds):
        recipe = ma.Recipe.of(3, kinds=kinds)
        self.table = open_table(frames.open_frame(frame), asked_of(recipe, list(frame.columns)))[0]
        self.records = embed(self.table, spike=1.0).records
        self.codes = np.unique(unit, return_inverse=True)[1].astype(np.int64)

    def loss(self, labels, k):
        released = represent(self.table, labels, Rule(k, spike_totals="exact"))[1]
        return loss_of_release(self.table, released).percent

    def held(self, labels):
        return held_by(labels, self.codes, labels.max() + 1)


@pytest.fixture(scope="module")
def surveys():
    folder = Path(os.environ["MICROAGG_DATA"])
    eusilc = pd.read_csv(folder / "eusilc.csv", dtype={"pl030": "str"})
    psid = pd.read_csv(folder / "psid.csv")
    return {
        "eusilc": Survey(eusilc[list(EIGHT)], eusilc["db030"], EIGHT),
        "psid": Survey(psid.drop(columns=["id", "year"]), psid["id"], {}),
    }


@pytest.mark.parametrize(("name", "k"), CASES)
def test_groups_of_k_units_lose_no_more_than_the_reference(surveys, name, k):
    survey, (plain, most) = surveys[name], LOSSES[name][k]
    mdav = METHODS["mdav"].function
    without = mdav(survey.records, k)
    assert survey.loss(without, k) == pytest.approx(plain, rel=0.003)
    assert np.count_nonzero(survey.held(without).units < k) > 200
    for in_part in (True, False):
        labels = mdav(survey.records, k, units=Units(survey.codes, in_part))
        held = survey.held(labels)
        assert held.units.min() == k
        assert not held.short(k, in_part).any()
        assert survey.loss(labels, k) <= most


@pytest.mark.parametrize(("name", "k"), first_few(1, [("psid", 5), ("psid", 3), ("eusilc", 5)]))
def test_whole_units_are_linked_no_more_often_than_once_in_k(name, k):
    folder = Path(os.environ["MICROAGG_DATA"])
    if name == "psid":
        choices = {"unit": "id", "wave": "year", "keep": ["year"]}
        frame = pd.read_csv(folder / "psid.csv")
    else:
        choices = {"unit": "db030", "household": ["eqIncome"], "quasi": list(EIGHT), "kinds": EIGHT, "rest": "drop"}
        frame = pd.read_csv(folder / "eusilc.csv", dtype={"pl030": "str"})
    release = ma.protect(frame, k, unit_release="pseudonym", **choices)
    risk, units = release.risk, release._units
    assert risk.n_units == units.n_units > 500
    assert max(risk.per_set.values()) <= 100 / k + 1e-9
    assert np.nanmax(risk.per_record) <= 1 / k + 1e-9
    original, written = release.pair
    one_by_one = replace(original, strata=np.zeros(len(units.codes), dtype=np.int64), units=Units(units.codes))
    by_rows = measure_risk(one_by_one, written, original.names)
    assert risk.full_keys > by_rows.full_keys
    if name == "psid" and k == 5:
        assert risk.full_keys == pytest.approx(13.815, abs=0.01)


@pytest.mark.parametrize("method", ["cbfs", "vmdav", "iamat", "maximum-distance"])
def test_every_method_keeps_k_units(surveys, method):
    survey = surveys["psid"]
    labels = METHODS[method].function(survey.records, 5, units=Units(survey.codes))
    held = survey.held(labels)
    assert held.units.min() >= 5
    assert (held.largest * 5 <= held.rows).all()
    assert survey.loss(labels, 5) < 16


@pytest.mark.parametrize(("name", "k"), first_few(1, CASES))
def test_refining_keeps_k_units_and_lowers_the_loss(surveys, name, k):
    survey, units = surveys[name], Units(surveys[name].codes)
    labels = METHODS["mdav"].function(survey.records, k, units=units)
    found = refine(survey.records, labels, k, units=units)
    held = survey.held(found.labels)
    assert held.units.min() >= k
    assert not held.short(k, True).any()
    assert found.after < 0.95 * found.before
    assert survey.loss(found.labels, k) < 0.95 * survey.loss(labels, k)
