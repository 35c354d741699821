"""Variances and covariances that stay: by the formulas, on random frames, and as published for real files."""

import os
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st

import microagg as ma
from microagg.errors import InvalidData, InvalidParameter
from microagg.mask.moments import _least_change, mean_and_covariance
from tests.lengths import given_few
from tests.reference import moments as reference

EXACT = {"rounding": "none"}
NUMBERS = ["a", "b", "c"]


def frame_of(n, seed, strata=1):
    """Give numbers that hang together, a weight and a stratum."""
    rng = np.random.default_rng(seed)
    a = rng.lognormal(size=n)
    b = 0.6 * a + rng.normal(size=n)
    return pd.DataFrame(
        {
            "a": a,
            "b": b,
            "c": 100 * b - 30 * rng.normal(size=n) + 1e4,
            "s": np.arange(n) % strata,
            "w": rng.integers(1, 9, n).astype(float),
        }
    )


def covariance(frame, weights=None, names=NUMBERS):
    return reference.covariance(frame[names].to_numpy(), weights)


@pytest.mark.parametrize("which", ["variance", "covariance"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("strata", [1, 3])
@pytest.mark.parametrize("aggregate", ["mean", "median"])
def test_as_the_formulas_say(which, weighted, strata, aggregate):
    frame = frame_of(240, seed=strata, strata=strata)
    roles = {"quasi": NUMBERS, "strata": ["s"], "weight": "w", "weighted": weighted, "aggregate": aggregate}
    weights = frame["w"].to_numpy() if weighted else None
    plain = ma.protect(frame, k=4, **roles, **EXACT)
    release = ma.protect(frame, k=4, moments=which, **roles, **EXACT)
    wanted = reference.matched(
        frame[NUMBERS].to_numpy(), plain.data[NUMBERS].to_numpy(), frame["s"].to_numpy(), which, weights
    )
    np.testing.assert_allclose(release.data[NUMBERS].to_numpy(), wanted, rtol=1e-9, atol=1e-9)
    assert np.array_equal(release.groups, plain.groups)
    assert release.k_achieved == plain.k_achieved >= 4
    assert release.moments.left == 0
    for _, rows in frame.groupby("s").groups.items():
        own = None if weights is None else weights[rows]
        before, after = (covariance(one.loc[rows], own) for one in (frame, release.data))
        kept = np.diag if which == "variance" else np.asarray
        np.testing.assert_allclose(kept(after), kept(before), rtol=1e-9)
        for name in NUMBERS:  # the map moves no mean of a stratum
            means = [np.average(one.loc[rows, name], weights=own) for one in (plain.data, release.data)]
            assert means[1] == pytest.approx(means[0], rel=1e-12)


def test_facts_say_how_exact_it_is_and_are_not_stored():
    frame = frame_of(300, seed=1)
    release = ma.protect(frame, k=3, quasi=NUMBERS, rest="drop", moments="covariance", **EXACT)
    facts = release.moments
    assert (facts.which, facts.columns, facts.clipped) == ("covariance", tuple(NUMBERS), {})
    assert facts.covariance_error < 1e-12
    outside = {
        name: int(((release.data[name] < frame[name].min()) | (release.data[name] > frame[name].max())).sum())
        for name in NUMBERS
    }
    assert facts.outside == {name: cells for name, cells in outside.items() if cells}
    variance = ma.protect(frame, k=3, quasi=NUMBERS, rest="drop", moments="variance", **EXACT).moments
    assert variance.variance_error < 1e-12 < 1e-3 < variance.covariance_error
    rounded = ma.protect(frame, k=3, quasi=NUMBERS, rest="drop", moments="covariance").moments
    assert 1e-12 < rounded.covariance_error < 1e-4
    assert ma.protect(frame, k=3, quasi=NUMBERS, rest="drop").moments is None
    assert pickle.loads(pickle.dumps(release)).moments is None
    assert release.recipe.masking.moments == "covariance"


def test_cut_values_stay_within_the_lowest_and_highest_three():
    frame = frame_of(300, seed=1)
    roles = {"quasi": NUMBERS, "rest": "drop", "moments": "variance", **EXACT}
    free, cut = ma.protect(frame, k=20, **roles), ma.protect(frame, k=20, moments_clip=True, **roles)
    assert sum(free.moments.outside.values()) > 0
    assert cut.moments.outside == {}  # counted on what is written
    assert cut.k_achieved >= 20
    for name in NUMBERS:
        ordered = np.sort(frame[name])
        low, high = ordered[:3].mean(), ordered[-3:].mean()
        changed = (free.data[name] < low) | (free.data[name] > high)
        assert cut.moments.clipped.get(name, 0) == changed.sum()
        np.testing.assert_allclose(cut.data[name], free.data[name].clip(low, high), rtol=1e-12)
        assert cut.data[name].between(frame[name].min(), frame[name].max()).all()
    assert cut.moments.variance_error > 1e-6


def test_values_are_cut_by_units_where_one_has_the_highest_three():
    frame = frame_of(120, seed=2).assign(u=np.arange(120) // 3)
    frame.loc[:2, "a"] = [500.0, 501.0, 502.0]
    release = ma.protect(
        frame, k=3, quasi=NUMBERS, unit="u", rest="drop", moments="variance", moments_clip=True, **EXACT
    )
    highest = frame.groupby("u")["a"].max().nlargest(3).mean()
    assert release.data["a"].max() <= highest * (1 + 1e-12) < 500
    assert release.k_achieved >= 3


def test_a_stratum_with_one_group_stays_as_it_is():
    frame = frame_of(104, seed=3)
    frame["s"] = np.where(np.arange(104) < 4, 1, 0)
    roles = {"quasi": NUMBERS, "strata": ["s"], "rest": "drop", **EXACT}
    plain = ma.protect(frame, k=4, **roles)
    for which in ("variance", "covariance"):
        release = ma.protect(frame, k=4, moments=which, **roles)
        assert release.moments.left == 1
        assert release.data[:4].equals(plain.data[:4])
        assert not np.isclose(release.data["a"][4:], plain.data["a"][4:]).all()


def test_columns_that_do_not_vary_stay_bit_by_bit():
    frame = frame_of(90, seed=4, strata=2).assign(one=0.1, by_stratum=lambda own: own["s"] / 7 + 0.3)
    names = [*NUMBERS, "one", "by_stratum"]
    for which in ("variance", "covariance"):
        release = ma.protect(frame, k=3, quasi=names, strata=["s"], rest="drop", moments=which, **EXACT)
        assert release.data[["one", "by_stratum"]].equals(frame[["one", "by_stratum"]])
        assert release.moments.variance_error < 1e-12


@pytest.mark.parametrize("which", ["variance", "covariance"])
def test_constant_columns_alone_stay_as_they_are(which):
    frame = frame_of(30, seed=4, strata=2).assign(one=0.1)
    release = ma.protect(frame, k=3, quasi=["one"], strata=["s"], rest="drop", moments=which, **EXACT)
    assert release.data["one"].eq(0.1).all()
    assert release.moments.left == 2


def test_a_column_that_is_a_sum_of_others_stays_their_sum():
    frame = frame_of(200, seed=5).assign(total=lambda own: own["a"] + 2 * own["b"])
    names = ["a", "b", "total"]
    release = ma.protect(frame[names], k=5, moments="covariance", **EXACT)
    np.testing.assert_allclose(covariance(release.data, names=names), covariance(frame, names=names), rtol=1e-10)
    np.testing.assert_allclose(release.data["total"], release.data["a"] + 2 * release.data["b"], atol=1e-6)


def test_too_few_groups_for_all_covariances_are_refused_by_the_size_of_the_stratum():
    frame = frame_of(107, seed=6)
    frame["s"] = np.where(np.arange(107) < 7, 1, 0)
    roles = {"quasi": NUMBERS, "strata": ["s"], "rest": "drop"}
    message = r"covariances of a stratum of 7 records .* its 2 groups vary in 1 directions, and its records in 3"
    with pytest.raises(InvalidData, match=message) as caught:
        ma.protect(frame, k=3, moments="covariance", **roles)
    assert caught.value.parameter == "moments"
    assert "variance" in str(caught.value)
    assert ma.protect(frame, k=3, moments="variance", **roles).k_achieved == 3


def test_missing_values_are_mapped_with_those_that_lack_the_same():
    frame = frame_of(400, seed=7)
    frame.loc[frame.index % 4 == 0, "b"] = np.nan
    for which in ("variance", "covariance"):
        release = ma.protect(frame[NUMBERS], k=4, moments=which, **EXACT)
        assert release.k_achieved >= 4
        assert np.array_equal(release.data["b"].isna(), frame["b"].isna())
        assert release.moments.variance_error < 1e-12
        assert release.data.var(ddof=0).to_numpy() == pytest.approx(frame[NUMBERS].var(ddof=0).to_numpy(), rel=1e-12)
    assert release.moments.covariance_error < 1e-11
    np.testing.assert_allclose(release.data.cov(), frame[NUMBERS].cov(), rtol=1e-10)


def test_filled_and_blanked_cells_count_as_they_are_released():
    frame = frame_of(300, seed=8)
    gaps = np.random.default_rng(0).random((300, 3)) < 0.1
    frame[NUMBERS] = frame[NUMBERS].mask(gaps)
    release = ma.protect(frame[NUMBERS], k=4, moments="variance", missing="state", **EXACT)
    assert release.missing.filled
    assert release.missing.blanked
    assert release.data.var(ddof=0).to_numpy() == pytest.approx(frame[NUMBERS].var(ddof=0).to_numpy(), rel=1e-12)
    assert release.k_achieved >= 4


def test_only_plain_numbers_are_mapped():
    frame = frame_of(200, seed=9)
    frame["born"] = pd.Timestamp("1970-01-01") + pd.to_timedelta(np.arange(200) * 37 % 9000, unit="D")
    frame["wage"] = np.where(np.arange(200) % 3, 0.0, frame["a"] * 1000)
    frame["size"] = 1 + np.arange(200) % 5
    frame["sex"] = np.where(np.arange(200) % 2, "m", "f")
    others = ["born", "wage", "size", "sex"]
    how = {"quasi": ["a", *others], "rest": "drop", "kinds": {"wage": "semi", "size": "ordinal"}, **EXACT}
    plain, release = ma.protect(frame, k=4, **how), ma.protect(frame, k=4, moments="covariance", **how)
    assert release.moments.columns == ("a",)
    assert release.data[others].equals(plain.data[others])
    assert release.data["a"].var(ddof=0) == pytest.approx(frame["a"].var(ddof=0), rel=1e-12)
    with pytest.raises(InvalidParameter, match="no masked column is a plain number") as caught:
        ma.protect(frame[["sex"]], k=4, moments="variance")
    assert caught.value.parameter == "moments"


def test_groups_of_single_columns_and_whole_units_keep_variances_alone():
    frame = frame_of(120, seed=10).assign(u=np.arange(120) // 2)
    each = {"method": "univariate", "per_column": True, "quasi": NUMBERS, "rest": "drop", **EXACT}
    whole = {"unit": "u", "unit_release": "pseudonym", "quasi": NUMBERS, "rest": "drop", **EXACT}
    for how in (each, whole):
        release = ma.protect(frame, k=3, moments="variance", **how)
        assert release.k_achieved >= 3
        np.testing.assert_allclose(
            release.data[NUMBERS].var(ddof=0).to_numpy(), frame[NUMBERS].var(ddof=0).to_numpy(), rtol=1e-10
        )
        with pytest.raises(InvalidParameter, match="variance") as caught:
            ma.protect(frame, k=3, moments="covariance", **how)
        assert caught.value.parameter == "moments"


def test_what_does_not_go_together_is_refused():
    frame = frame_of(30, seed=11)
    with pytest.raises(InvalidParameter, match="moments_clip goes with") as caught:
        ma.protect(frame[NUMBERS], k=3, moments_clip=True)
    assert caught.value.parameter == "moments_clip"
    huge = pd.DataFrame({"a": [1.7e308, 1.7e308, -1.7e308, 1.7e308, -1.7e308, -1.6e308]})
    with pytest.raises(InvalidData, match="beyond the largest number"):
        ma.protect(huge, k=2, moments="variance", method="ranking", **EXACT)


def test_the_order_of_the_records_does_not_matter():
    frame = frame_of(150, seed=12, strata=2)
    order = np.random.default_rng(1).permutation(150)
    values, weights = frame[NUMBERS].to_numpy().T, frame["w"].to_numpy()
    one, other = mean_and_covariance(values, weights), mean_and_covariance(values[:, order], weights[order])
    assert np.array_equal(one[0], other[0])
    assert np.array_equal(one[1], other[1])
    np.testing.assert_allclose(one[1], reference.covariance(values.T, weights), rtol=1e-12)


@given_few(
    40,
    200,
    seed=st.integers(0, 10**6),
    n=st.integers(40, 90),
    d=st.integers(1, 3),
    k=st.integers(2, 4),
    strata=st.integers(1, 2),
    which=st.sampled_from(["variance", "covariance"]),
    weighted=st.booleans(),
    whole=st.booleans(),
)
def test_k_holds_and_moments_are_kept(seed, n, d, k, strata, which, weighted, whole):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) * 10.0 ** rng.integers(2 if whole else -3, 6, d)
    names = [f"x{j}" for j in range(d)]
    frame = pd.DataFrame(np.rint(values * 10) if whole else values, columns=names)
    frame["s"], frame["w"] = np.arange(n) % strata, rng.uniform(1, 3, n)
    weights = frame["w"].to_numpy() if weighted else np.ones(n)
    how = {"quasi": names, "strata": ["s"], "weight": "w", "weighted": weighted, "missing": "error"}
    release = ma.protect(frame, k=k, moments=which, **how, **EXACT)
    assert release.k_achieved >= k
    released = release.data[names]
    assert (released.groupby(release.groups).nunique() == 1).all().all()
    assert release.moments.left == 0
    for rows in frame.groupby("s").groups.values():
        own, x = weights[rows], frame.loc[rows, names].to_numpy()
        before, after = (reference.covariance(one.loc[rows, names].to_numpy(), own) for one in (frame, released))
        scale = np.outer(x.std(axis=0), x.std(axis=0)) + 1e-300
        error = np.abs(after - before) / scale
        assert (np.diag(error) if which == "variance" else error).max() < 1e-7


FIGURES = {
    ("census", 3): (5.6922, 5.7953, 5.9147),
    ("census", 5): (9.0884, 9.3564, 9.6235),
    ("census", 10): (14.1559, 14.8506, 15.4563),
    ("tarragona", 3): (16.9326, 17.8357, 19.0172),
}


@pytest.mark.casc
@pytest.mark.parametrize(("name", "k"), FIGURES)
def test_the_loss_on_real_files(name, k):
    frame = ma.datasets.load(name)
    for which, percent in zip(("none", "variance", "covariance"), FIGURES[name, k], strict=True):
        release = ma.protect(frame, k=k, moments=which, **EXACT)
        assert release.information.percent == pytest.approx(percent, abs=5e-4)
        assert release.k_achieved == k
    assert release.moments.covariance_error < 1e-11


@pytest.mark.casc
def test_poverty_and_inequality_come_back_and_domains_stay():
    frame = pd.read_csv(Path(os.environ["MICROAGG_DATA"]) / "eusilc.csv", dtype={"pl030": "str"})
    quasi, strata = ["age", "eqIncome", "hsize", "pl030", "pb220a", "py010n", "hy090n"], ["rb090", "db040"]
    how = {"quasi": quasi, "strata": strata, "kinds": {"hsize": "ordinal", "py010n": "semi", "hy090n": "semi"}}
    weights = frame["rb050"].to_numpy()
    figures = {}
    for which in ("none", "variance"):
        release = ma.protect(frame[[*quasi, *strata]], k=5, moments=which, **how)
        income = release.data["eqIncome"].to_numpy()
        means = [one.groupby(strata)["eqIncome"].mean() for one in (frame, release.data)]
        assert (means[1] / means[0] - 1).abs().max() < 1e-6
        figures[which] = poverty(income, weights), gini(income, weights)
    income = frame["eqIncome"].to_numpy()
    rate, inequality = poverty(income, weights), gini(income, weights)
    assert (round(rate, 1), round(inequality, 1)) == (14.4, 26.5)
    assert rate - figures["none"][0] > 1.5
    assert inequality - figures["none"][1] > 1.5
    assert abs(rate - figures["variance"][0]) < 0.7
    assert abs(inequality - figures["variance"][1]) < 0.5


def poverty(income, weights):
    """Give the share below 60 % of the median, in percent."""
    order = np.argsort(income, kind="stable")
    below = np.cumsum(weights[order])
    median = income[order][np.searchsorted(below, below[-1] / 2)]
    return 100 * weights[income < 0.6 * median].sum() / weights.sum()


def gini(income, weights):
    order = np.argsort(income)
    x, w = income[order], weights[order]
    return 100 * (2 * (w * x * (np.cumsum(w) - w / 2)).sum() / (w.sum() * (w * x).sum()) - 1)


def test_where_neither_groups_nor_records_vary_nothing_is_moved():
    assert (_least_change(np.zeros((2, 2)), np.zeros((2, 2)), 9, 3) == 0).all()
