"""Real surveys: figures that a slow, literal program has found, reached by `protect`."""

import os
from pathlib import Path

import narwhals as nw
import numpy as np
import pandas as pd
import pytest

import microagg as ma
from microagg.columns import frames
from microagg.columns.embedding import embed
from microagg.columns.finders import open_table
from microagg.columns.patterns import find_patterns
from microagg.recipe.data import asked_of
from tests.lengths import first_few
from tests.reference import mixed

pytestmark = pytest.mark.casc

EXACT = {"rounding": "none", "spike": 1, "spike_totals": "exact"}
NINE = {
    "age": "number",
    "eqIncome": "number",
    "hsize": "ordinal",
    "rb090": "nominal",
    "db040": "nominal",
    "pl030": "nominal",
    "pb220a": "nominal",
    "py010n": "semi",
    "hy090n": "semi",
}


def read(name, **how):
    return pd.read_csv(Path(os.environ["MICROAGG_DATA"]) / f"{name}.csv", **how)


@pytest.fixture(scope="module")
def eusilc():
    return read("eusilc", dtype={"pl030": "str"})


@pytest.fixture(scope="module")
def nine(eusilc):
    return eusilc[list(NINE)]


@pytest.fixture(scope="module")
def yrbss():
    frame = read("yrbss")
    for name in ("grade", "text_while_driving_30d", "hours_tv_per_school_day", "school_night_hours_sleep"):
        frame[name] = frame[name].astype("string")
    return frame


@pytest.fixture(scope="module")
def psid():
    return read("psid").drop(columns=["id", "year"])


def coded(frame, **choices):
    recipe = ma.Recipe.of(3, **choices)
    return open_table(frames.open_frame(frame), asked_of(recipe, list(frame.columns)))[0]


@pytest.mark.parametrize(
    ("name", "losses"), [("census", (5.6922, 9.0884, 14.1559)), ("tarragona", (16.9326, 22.4619, 33.1929))]
)
def test_files_of_numbers_lose_what_they_did(name, losses):
    frame = ma.datasets.load(name)
    for k, expected in zip((3, 5, 10), losses, strict=True):
        assert ma.protect(frame, k, rounding="none").information.percent == pytest.approx(expected, abs=5e-5)


def test_the_embedding_of_a_survey_adds_up(nine):
    table = coded(nine, kinds=NINE)
    points = embed(table, spike=1.0)
    assert points.coordinates.shape[0] == 30
    variances = [points.coordinates[points.owners == j].var(axis=1).sum() for j in range(9)]
    for column, variance in zip(table, variances, strict=True):
        whole = 0.966346 if column.name == "py010n" else 1.0
        assert variance == pytest.approx(whole, abs=1e-12 if column.cells.states is None else 1e-6)
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, len(nine), (2, 10_000))
    found = ((points.coordinates[:, one] - points.coordinates[:, other]) ** 2).sum(axis=0)
    expected = np.zeros(10_000)
    for column in table:
        cells = column.cells
        states = np.zeros(len(nine), dtype=np.uint8) if cells.states is None else cells.states
        if column.kind.name == "nominal":
            codes = np.where(states > 0, -1.0, cells.values)
            shares = np.unique(codes, return_counts=True)[1] / codes.size
            expected += np.where(codes[one] == codes[other], 0.0, 2 / (1 - (shares**2).sum()))
            continue
        known = cells.known
        parts = [((cells.values - known.mean()) / known.std(), 1.0)]
        if column.kind.name == "semi":
            flags = (cells.values == 0).astype(float)
            parts = [(parts[0][0], 0.5), ((flags - flags[states == 0].mean()) / flags[states == 0].std(), 0.5)]
        for scores, weight in parts:
            scores = np.where(states > 0, 0.0, scores)
            expected += weight * (scores[one] - scores[other]) ** 2
        expected += (states[one] != states[other]).astype(float)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("missing", "losses"), [("pattern", (4.8938, 8.0234, 13.1839)), ("state", (4.8031, 7.8843, 12.7074))]
)
def test_nine_keys_of_a_survey_lose_what_the_reference_does(nine, missing, losses):
    for k, expected in zip((3, 5, 10), losses, strict=True):
        release = ma.protect(nine, k, kinds=NINE, missing=missing, **EXACT)
        assert release.information.percent == pytest.approx(expected, rel=0.003)
        assert len(release.data) == len(nine)
        if missing == "pattern":
            assert (release.missing.filled, release.missing.blanked) == ({}, {})


def test_a_scale_by_ranges_loses_more(nine):
    for k, least in ((3, 9.3), (5, 14.4), (10, 20.7)):
        release = ma.protect(nine, k, kinds=NINE, missing="state", scale="range", **EXACT)
        assert release.information.percent > least


def released_k(frame, names):
    """Count, as anybody would, the fewest rows that share their values, missing ones being a value."""
    return int(frame[names].astype("string").fillna("<missing>").groupby(names).size().min())


@pytest.mark.parametrize(
    ("method", "records"),
    [
        *((method, None) for method in ("mdav", "vmdav", "cbfs", "projection", "ama")),
        ("iamat", 4000),
        ("maximum-distance", 4000),
        pytest.param("maximum-distance", None, marks=pytest.mark.campaign),
    ],
)
def test_k_holds_on_what_is_released_by_every_method(method, records, nine, yrbss, psid):
    for whole, kinds in ((nine, NINE), (yrbss, {}), (psid, {})):
        frame = whole.iloc[:records]
        release = ma.protect(frame, 5, kinds=kinds, method=method)
        assert released_k(release.data, list(frame.columns)) >= 5
        assert release.k_achieved >= 5


def test_patterns_of_missing_values_stay_whole(yrbss):
    table = coded(yrbss)
    found = find_patterns(table, np.zeros(len(yrbss), dtype=np.int64), 3)
    assert (found.n_patterns, found.n_moved, int(found.pieces.max()) + 1) == (160, 119, 66)
    release = ma.protect(yrbss, 3, **EXACT)
    assert sum(release.missing.filled.values()) == pytest.approx(93, abs=20)
    assert sum(release.missing.blanked.values()) == pytest.approx(58, abs=20)
    assert release.information.percent == pytest.approx(18.07, rel=0.02)
    release = ma.protect(yrbss, 3, missing="state", **EXACT)
    assert sum(release.missing.filled.values()) == pytest.approx(966, rel=0.1)
    assert sum(release.missing.blanked.values()) == pytest.approx(2710, rel=0.1)


def test_putting_missing_cells_back_would_break_the_promise(yrbss):
    with pytest.raises(ma.errors.InvalidParameter, match="keep"):
        ma.protect(yrbss, 3, missing="keep")
    release = ma.protect(yrbss, 3, missing="state")
    kept = release.data.mask(yrbss.isna().to_numpy()).astype("string").fillna("<missing>")
    sizes = kept.groupby(list(kept.columns))[kept.columns[0]].transform("size")
    assert (sizes < 3).mean() > 0.15


def test_zeros_stay_where_a_spike_is_declared(eusilc):
    adults = eusilc[eusilc["py010n"].notna()][["age", "py010n", "hy090n", "eqIncome"]]
    kinds = {"py010n": "semi", "hy090n": "semi"}
    release = ma.protect(adults, 5, kinds=kinds, **EXACT)
    before, after = (adults["hy090n"] == 0).mean(), (release.data["hy090n"] == 0).mean()
    assert before == pytest.approx(0.2436, abs=5e-5)
    assert after >= 0.242
    assert release.data["hy090n"].sum() == pytest.approx(adults["hy090n"].sum(), rel=1e-12)


def test_tied_modes_keep_the_margins(nine):
    release = ma.protect(nine, 3, kinds=NINE, missing="state", **EXACT)
    before, after = (frame["db040"].value_counts(normalize=True) for frame in (nine, release.data))
    assert (before - after.reindex(before.index)).abs().sum() / 2 <= 0.001
    assert release.information.per_column["db040"] == pytest.approx(5.731, rel=0.02)
    counts = pd.crosstab(release.groups, nine["db040"]).to_numpy()
    assert (release.data["db040"].to_numpy() != nine["db040"].to_numpy()).sum() == len(nine) - counts.max(axis=1).sum()
    alone = ma.protect(nine, 3, kinds=NINE, missing="state", n_jobs=1, **EXACT)
    assert alone.data.equals(release.data)


def test_the_oracle_gives_the_released_modes(nine):
    release = ma.protect(nine.iloc[:1500], 3, kinds=NINE, **EXACT)
    codes = {value: float(number) for number, value in enumerate(sorted(nine["db040"].unique()))}
    cells = [codes[value] for value in nine["db040"].iloc[:1500]]
    expected = mixed.modes(cells, release.groups.tolist())
    assert [codes[value] for value in release.data["db040"]] == [expected[group] for group in release.groups]


def test_dates_come_back_as_dates():
    days = pd.to_datetime(["2020-01-01", "2020-01-02"]).tz_localize("Europe/Vienna")
    for frame in (pd.DataFrame({"day": days}), nw.from_native(pd.DataFrame({"day": days})).to_polars()):
        assert ma.protect(frame, 2).data["day"].dtype == frame["day"].dtype
    plain = pd.DataFrame({"day": pd.to_datetime(["2020-01-01", "2020-01-02"])}).astype({"day": "date32[pyarrow]"})
    assert [str(day) for day in ma.protect(plain, 2).data["day"]] == ["2020-01-01"] * 2


@pytest.mark.parametrize(
    ("k", "linked", "in_group"), first_few(1, [(5, 14.22, 71.13), (3, 26.32, 78.96), (10, 5.97, 59.74)])
)
def test_linkage_on_all_keys_is_that_of_the_reference(nine, k, linked, in_group):
    release = ma.protect(nine, k, kinds=NINE, missing="state", **EXACT)
    risk = release.risk_for(sample=len(nine))
    assert risk.full_keys == pytest.approx(linked, rel=0.02)
    assert risk.full_keys * k == pytest.approx(in_group, rel=0.02)
    assert risk.full_keys <= 100 / k


EIGHT = {name: kind for name, kind in NINE.items() if name != "hsize"}
OF_HOUSEHOLDS = ["db040", "hy090n", "eqIncome"]


@pytest.mark.parametrize(("k", "most"), [(3, 15.5), (5, 22.2), (10, 32.1)])
def test_whole_households_are_alike(eusilc, k, most):
    release = ma.protect(
        eusilc[["db030", *EIGHT]],
        k,
        kinds=EIGHT,
        unit="db030",
        unit_release="pseudonym",
        household=OF_HOUSEHOLDS,
        missing="state",
        **EXACT,
    )
    assert release.information.percent <= most
    assert release.n_dropped == 18
    assert release.k_achieved >= k
    assert (release.data.groupby("db030")[OF_HOUSEHOLDS].nunique(dropna=False) == 1).all(axis=None)
    sizes = eusilc.groupby("db030").size()
    assert sorted(release.data.groupby("db030").size()) == sorted(sizes[sizes < 9])


@pytest.mark.parametrize(("k", "expected"), [(3, 16.379), (5, 23.882), (10, 36.256)])
def test_a_panel_is_alike_in_every_wave(k, expected):
    frame = read("psid")
    numbers = ["experience", "weeks", "education", "wage"]
    kinds = {name: "number" if name in numbers else "nominal" for name in frame.columns.drop(["id", "year"])}
    release = ma.protect(
        frame, k, kinds=kinds, keep=["year"], unit="id", unit_release="pseudonym", wave="year", rounding="none"
    )
    assert release.information.percent == pytest.approx(expected, rel=0.003)
    assert release.k_achieved >= k
    assert release.n_dropped == 0


@pytest.mark.parametrize(("k", "by_row", "once"), [(3, 7.616, 13.98), (5, 13.896, 21.23), (10, 24.922, 32.73)])
def test_a_panel_without_numbers_is_masked_by_row_and_once(k, by_row, once):
    frame = read("psid").drop(columns="year")
    numbers = ["experience", "weeks", "education", "wage"]
    kinds = {name: "number" if name in numbers else "nominal" for name in frame.columns.drop("id")}
    for how, expected in (("row", by_row), ("once", once)):
        release = ma.protect(frame, k, kinds=kinds, unit="id", rounding="none", spike=1, unit_constant=how)
        assert release.information.percent == pytest.approx(expected, rel=0.003)
        assert release.k_achieved >= k


def test_eu_silc_has_its_published_inequality(eusilc):
    found = ma.utility(
        eusilc,
        eusilc,
        [
            ma.Analysis("gini", "eqIncome", weight="rb050"),
            ma.Analysis("poverty", "eqIncome", weight="rb050"),
            ma.Analysis("share", "py010n", value="= 0"),
            ma.Analysis("linear", ["log(py010n)", "age", "age^2", "rb090"]),
        ],
    )
    values = {(one.kind, one.term): one.before for one in found}
    assert values["gini", ""] == pytest.approx(26.49, abs=0.005)
    assert values["poverty", ""] == pytest.approx(14.44, abs=0.005)
    assert values["share", "= 0"] == pytest.approx(46.64, abs=0.005)
    assert values["linear", "age"] == pytest.approx(0.0835, abs=5e-5)
    assert values["linear", "age^2"] == pytest.approx(-0.0009, abs=5e-5)
    assert values["linear", "rb090 = male"] == pytest.approx(0.531, abs=5e-4)
    assert [one.kind for one in ma.default_analyses(eusilc, weight="rb050", unit="db030")].count("linear") == 3
