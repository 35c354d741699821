"""Columns that all rows of a unit have in common: masked once a unit, and what means disclose of them otherwise."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st
from scipy import sparse

import microagg as ma
from adversary.constants import attack, panel
from microagg.columns.table import Table
from microagg.errors import InvalidParameter
from microagg.mask.facts import WholeFile
from microagg.measures.constants import Seen, measure_constants
from microagg.measures.joint import TooManyUnknowns, solved_unknowns
from tests.cli import call
from tests.lengths import given_few
from tests.reference.unit_constants import once, solvable

PANEL = ma.datasets.panel(120, waves=5, seed=1, frame="pandas")
CONSTANT, OTHERS = ["birth", "education", "height", "parents"], ["hours", "wage", "rent", "savings"]
ROLES = {"unit": "person", "quasi": [*CONSTANT, *OTHERS], "rest": "drop"}


def same_groups(labels, others):
    """Whether two labellings make the same groups."""
    pairs = set(zip(np.asarray(labels).tolist(), np.asarray(others).tolist(), strict=True))
    return len(pairs) == len(set(np.asarray(labels).tolist())) == len(set(np.asarray(others).tolist()))


@st.composite
def files(draw):
    n_units = draw(st.integers(6, 14))
    sizes = draw(st.lists(st.integers(1, 4), min_size=n_units, max_size=n_units))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    units = np.repeat(np.arange(n_units), sizes)
    rng.shuffle(units)
    frame = pd.DataFrame({"unit": units, "c": rng.normal(size=n_units)[units], "d": rng.normal(size=n_units)[units]})
    return frame.assign(x=rng.normal(size=units.size), y=rng.normal(size=units.size)), draw(st.integers(2, 3))


@given_few(15, 200, files())
def test_groups_are_those_of_the_oracle(drawn):
    frame, k = drawn
    sizes = frame["unit"].value_counts()
    if sizes.max() * k > len(frame) or len(sizes) == len(frame):
        return  # no groups of k units can be formed, or every column is constant in units of one row
    release = ma.protect(frame, k=k, unit="unit", rounding="none", unit_constant="once")
    constant = [name for name in ("c", "d", "x", "y") if frame.groupby("unit")[name].nunique().max() == 1]
    others = [name for name in ("c", "d", "x", "y") if name not in constant]
    rows, by_unit = once(
        [frame[name].tolist() for name in constant],
        [frame[name].tolist() for name in others],
        frame["unit"].tolist(),
        k,
    )
    assert same_groups(release.groups, rows)
    for name in constant:
        means = frame[name].groupby(by_unit).transform("mean")
        np.testing.assert_allclose(release.data[name], means, atol=1e-12)


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"method": "vmdav"},
        {"refine": "fast"},
        {"strata": ["year"]},
        {"missing": "state"},
        {"blocks": "median", "max_block": 60},
        {"unit_share": "any"},
        {"aggregate": "median"},
        {"importance": dict.fromkeys(CONSTANT, 0)},
        {"select": ["wage", "hours"]},
        {"moments": "variance"},
    ],
    ids=str,
)
def test_rows_are_shared_by_k_units_and_constants_stay_constant(choices):
    frame = PANEL.copy()
    if "missing" in choices:
        frame["height"] = frame["height"].where(frame["birth"] % 7 != 0)
        frame["rent"] = frame["rent"].where(frame["wage"] % 5 != 0)
    release = ma.protect(frame, k=4, **ROLES, **choices)
    assert release.recipe.units.constant == "once"  # five rows a unit
    strata = choices.get("strata", [])
    data = release.data.assign(unit=frame["person"])
    classes = data.groupby([*ROLES["quasi"], *strata], dropna=False)["unit"]
    assert classes.nunique().min() >= 4
    if choices.get("unit_share") != "any":
        assert (classes.agg(lambda own: own.value_counts().iloc[0] / len(own)) <= 0.25).all()
    for name in CONSTANT:
        assert data.groupby("unit")[name].nunique(dropna=False).max() == 1
    assert release.risk.constants.solved == 0


@pytest.mark.parametrize("missing", ["pattern", "state"])
def test_units_that_lack_a_value_are_masked_once_too(missing):
    rng = np.random.default_rng(3)
    units = np.repeat(np.arange(80), rng.integers(3, 7, 80))
    lacking = rng.random(80) < 0.3
    frame = pd.DataFrame({"unit": units, "c": np.where(lacking, np.nan, rng.normal(size=80))[units]})
    frame = frame.assign(x=np.where(rng.random(units.size) < 0.2, np.nan, rng.normal(size=units.size)))
    release = ma.protect(frame, k=3, unit="unit", missing=missing)
    data = release.data.assign(unit=units)
    assert data.groupby("unit")["c"].nunique(dropna=False).max() == 1
    assert data.groupby(["c", "x"], dropna=False)["unit"].nunique().min() >= 3


def test_the_order_of_rows_does_not_matter_where_groups_are_refined():
    rows = np.random.default_rng(0).permutation(len(PANEL))
    first = ma.protect(PANEL, k=3, refine="fast", **ROLES)
    second = ma.protect(PANEL.iloc[rows].reset_index(drop=True), k=3, refine="fast", **ROLES)
    pd.testing.assert_frame_equal(first.data.iloc[rows].reset_index(drop=True), second.data)


def test_l_holds_inside_of_groups_of_units():
    frame = PANEL.assign(illness=np.where(PANEL["person"] % 4 == 0, "yes", "no"))
    release = ma.protect(frame, k=3, l=2, confidential=["illness"], **ROLES)
    classes = release.data.groupby(ROLES["quasi"])["illness"]
    assert classes.nunique().min() == 2
    assert release.data.assign(unit=frame["person"]).groupby("unit")["parents"].nunique().max() == 1
    assert release.diversity.loss_after == pytest.approx(release.once.loss)


def test_auto_goes_by_the_rows_of_a_unit_and_the_recipe_says_what_it_chose():
    few = PANEL[PANEL["year"] < 2018]  # three rows a unit, and not more
    assert ma.protect(few, k=3, **ROLES).recipe.units.constant == "row"
    assert ma.protect(few, k=3, unit_constant="once", **ROLES).once is not None
    release = ma.protect(PANEL, k=3, **ROLES)
    assert release.once.columns == tuple(CONSTANT)
    assert release.once.loss_by_row < release.once.loss
    again = ma.protect(PANEL, recipe=release.recipe)
    pd.testing.assert_frame_equal(release.data, again.data)
    assert '\nconstant = "once"' in release.recipe.text()


def test_units_of_one_row_give_the_groups_of_no_unit_at_all():
    frame = ma.datasets.survey(200, seed=0, frame="pandas")[["age", "income", "tax"]].assign(unit=np.arange(200))
    alone = ma.protect(frame, k=3, unit="unit", unit_constant="once")
    assert (alone.groups == ma.protect(frame.drop(columns="unit"), k=3).groups).all()


@pytest.mark.parametrize(
    ("choices", "words"),
    [
        ({"moments": "covariance"}, "moments='variance'"),
        ({"moments": "variance", "strata": ["year"]}, "unit_constant='row'"),
        ({"method": "projection", "axis": "wage"}, "unit_constant='row'"),
        ({"method": "univariate", "per_column": True}, "unit_constant='row'"),
    ],
)
def test_what_does_not_go_with_it_is_refused_with_a_remedy(choices, words):
    with pytest.raises(InvalidParameter, match="masked once a unit") as caught:
        ma.protect(PANEL, k=3, **ROLES, **choices)
    assert caught.value.parameter == "unit_constant"
    assert words in str(caught.value)
    assert ma.protect(PANEL, k=3, unit_constant="row", **ROLES, **choices).k_achieved >= 3


@pytest.mark.parametrize("engine", ["disk", pytest.param("dask", marks=pytest.mark.campaign)])
def test_beyond_memory_units_of_many_rows_need_a_word(tmp_path, engine):
    path, out = tmp_path / "panel.parquet", tmp_path / "out.parquet"
    pq.write_table(ma.datasets.panel(60, waves=5, seed=1), path)
    with pytest.raises(InvalidParameter, match=r"5\.0 rows on average.*unit_constant='row'"):
        ma.protect_file(path, out, 3, engine=engine, **ROLES)
    with pytest.raises(InvalidParameter, match="larger than memory"):
        ma.protect_file(path, out, 3, engine=engine, unit_constant="once", **ROLES)
    assert not out.exists()
    found = ma.protect_file(path, out, 3, engine=engine, unit_constant="row", **ROLES)
    assert found.recipe.units.constant == "row"
    assert found.sample.risk.constants.percent > 90  # all records are drawn


def test_a_sample_of_a_file_is_not_measured():
    release = ma.protect(PANEL, k=3, unit_constant="row", **ROLES)
    drawn = replace(release, whole=WholeFile(10 * len(PANEL), {3: 2000}))
    assert drawn.risk.constants is None


@st.composite
def labelled(draw):
    n = draw(st.integers(4, 30))
    n_units = draw(st.integers(1, 8))
    groups = draw(st.lists(st.integers(0, max(1, n // 3)), min_size=n, max_size=n))
    units = draw(st.lists(st.integers(0, n_units), min_size=n, max_size=n))
    return np.unique(groups, return_inverse=True)[1], np.unique(units, return_inverse=True)[1]


@given_few(60, 1000, labelled())
def test_units_that_follow_are_those_that_exact_elimination_gives(drawn):
    groups, units = drawn
    if units.max() + 1 == units.size:
        return
    values = np.random.default_rng(0).normal(size=units.max() + 1)[units]
    means = np.bincount(groups, weights=values) / np.bincount(groups)
    original, masked = (Table.of_numbers(["x"], own[None]) for own in (values, means[groups]))
    found = measure_constants(original, [Seen(masked, groups)], units)
    shared = np.array([np.ptp(means[groups][units == unit]) for unit in range(units.max() + 1)])
    if (shared < 1e-12).all():
        return  # masked once a unit: then groups are taken together
    assert found.solved == sum(solvable(groups.tolist(), units.tolist()))


def test_weighted_means_are_equations_of_weights():
    rng = np.random.default_rng(1)
    units = np.repeat(np.arange(30), 6)
    weights, values = rng.uniform(1, 9, units.size), rng.normal(size=30)[units]
    groups = rng.permutation(units.size) // 4
    means = np.bincount(groups, weights=weights * values) / np.bincount(groups, weights=weights)
    original, masked = (Table.of_numbers(["x"], own[None]) for own in (values, means[groups]))
    assert measure_constants(original, [Seen(masked, groups)], units, weights).solved == 30
    assert measure_constants(original, [Seen(masked, groups)], units).solved < 30


def test_too_many_units_are_not_solved(monkeypatch):
    monkeypatch.setattr("microagg.measures.constants._MOST", 10)
    release = ma.protect(PANEL, k=3, unit_constant="row", **ROLES)
    assert release.risk.constants.solved is None
    assert "unit constants" not in {one.name for one in release.risk.measures}
    with pytest.raises(TooManyUnknowns):
        solved_unknowns(sparse.csr_matrix(np.ones((3, 3)) + np.eye(3)), most=2)


@pytest.mark.campaign
def test_a_panel_gives_values_away_and_does_not_where_they_are_masked_once():
    frame, unit, known, wanted = panel(300, 0)
    figures = {}
    for how in ("row", "once"):
        roles = {"quasi": [*known, wanted], "unit": unit, "rest": "drop"}
        release = ma.protect(frame, k=3, rounding="none", unit_constant=how, **roles)
        figures[how] = attack(frame, release.data, unit, known, wanted), release.risk.constants.percent
    (row, row_solvable), (masked_once, once_solvable) = figures["row"], figures["once"]
    assert row.found > 80 > 20 > row.guessed
    assert row_solvable > 90
    assert masked_once.found < 10
    assert once_solvable == 0


def test_the_report_the_figures_and_joint_disclosure_say_it(tmp_path):
    release = ma.protect(PANEL, k=3, unit_constant="row", **ROLES)
    share = release.risk.constants.percent
    assert share > 90
    figures = {one.name: one.value for one in release.risk.measures}
    assert figures["unit constants"] == share
    page = release.report(tmp_path / "report.html").read_text()
    assert "can be computed from the means of the groups that these rows are in" in page
    assert "unit_constant = &#34;once&#34;" in page or "unit_constant" in page
    joint = ma.joint_disclosure(PANEL, [release.data], unit="person")
    assert joint.solved == 0
    assert 100 * joint.solved_units / joint.n_units == pytest.approx(share)
    masked_once = ma.protect(PANEL, k=3, **ROLES)
    assert ma.joint_disclosure(PANEL, [masked_once.data], unit="person").solved_units == 0
    page = masked_once.report(tmp_path / "once.html").read_text()
    assert "masked once for each unit" in page
    public = masked_once.report(tmp_path / "public.html", public=True).read_text()
    assert "masked once for each unit" not in public


def test_the_terminal_says_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PANEL.to_csv("panel.csv", index=False)
    asked = ["mask", "panel.csv", "-k", 3, "--unit", "person", "--quasi", ",".join(ROLES["quasi"]), "--rest", "drop"]
    found = json.loads(call(*asked, "--unit-constant", "row", "-o", "out", "--json").stdout)
    assert found["figures"]["unit constants"] > 90
    assert "can be computed from the means" in json.dumps(found)
    assert "can be computed from the means" in " ".join(
        call(*asked, "--unit-constant", "row", "-o", "again").output.split()
    )
    once_each = json.loads(call(*asked, "-o", "once", "--json").stdout)
    assert once_each["masked_once"] == CONSTANT
    assert once_each["information_loss_by_row_percent"] < once_each["information_loss_once_percent"]


@pytest.mark.parametrize("odd", [1.0, np.nan])
def test_an_odd_cell_does_not_switch_it_off(odd):
    frame = PANEL.astype({"parents": float})
    frame.loc[5, "parents"] += odd
    release = ma.protect(frame, k=3, **ROLES)
    assert "parents" in release.once.columns
    assert release.data.assign(unit=frame["person"]).groupby("unit")["parents"].nunique(dropna=False).max() == 1
    by_row = ma.protect(frame, k=3, unit_constant="row", **ROLES)
    assert "parents" in by_row.risk.constants.columns
    assert by_row.risk.constants.percent > 90


def test_what_is_masked_once_brings_units_together_with_what_is_unchanged():
    frame = PANEL.assign(origin=PANEL["person"] % 10)
    roles = {**ROLES, "confidential": ["origin"]}
    by_row, masked_once = (ma.protect(frame, k=4, unit_constant=how, **roles) for how in ("row", "once"))
    assert masked_once.rebuilt.units > 0.9 * masked_once.rebuilt.of > 0
    shown = masked_once.data.assign(unit=frame["person"]).groupby([*CONSTANT, "origin"])["unit"].nunique()
    assert masked_once.rebuilt.units == shown[shown < 4].sum()
    assert by_row.rebuilt.units < masked_once.rebuilt.units


def test_assess_warns_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PANEL.to_csv("panel.csv", index=False)
    asked = ["mask", "panel.csv", "-k", 3, "--unit", "person", "--quasi", ",".join(ROLES["quasi"]), "--rest", "drop"]
    call(*asked, "--unit-constant", "row", "-o", "out")
    words = ["assess", "panel.csv", "out/release/panel_masked.csv", "--recipe", "out/internal/recipe.toml", "--json"]
    found = json.loads(call(*words).stdout)
    assert any("can be computed from" in text for text in found["warnings"])


@pytest.mark.parametrize("said", [True, False, None])
def test_a_value_that_is_no_word_is_shown_in_the_refusal(said):
    with pytest.raises(InvalidParameter, match=f"unit_constant={said} is not known"):
        ma.Recipe(3).replace(unit_constant=said)
