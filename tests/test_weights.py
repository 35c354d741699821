"""Weights in `protect`: totals that stay, dominance, weights of groups, and every refusal."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg as ma
from microagg.columns.weights import Members, Weights, WeightStep, count_steps
from microagg.errors import InvalidData, InvalidParameter, PromiseBroken, RoleError
from microagg.mask.demands import enough_weighing
from microagg.report.model import build
from tests.lengths import first_few
from tests.reference import weights as by_the_book


def frame_of(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": rng.lognormal(10, 0.6, n).round(2),
            "job": rng.choice(["farm", "shop", "office"], n),
            "region": rng.choice(["north", "south"], n),
            "w": rng.uniform(50, 150, n).round(2),
            "v": rng.uniform(5, 15, n).round(2),
        }
    )


ROLES = {"quasi": ["age", "income", "job"], "strata": ["region"], "rounding": "none"}


def moved(before, after, weights, new=None):
    """How far a weighted total moved, as a share of itself."""
    new = weights if new is None else new
    was = by_the_book.total(before.tolist(), weights.tolist())
    return float((by_the_book.total(after.tolist(), new.tolist()) - was) / was)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 5]), st.sampled_from(["mdav", "vmdav", "cbfs"]))
def test_weighted_totals_stay_for_the_file_and_its_strata(seed, k, method):
    frame = frame_of(seed=seed)
    release = ma.protect(frame, k=k, weight="w", drop=["v"], method=method, **ROLES)
    for rows in (slice(None), frame["region"] == "north", frame["region"] == "south"):
        for name in ("age", "income"):
            before, after = frame[name][rows], release.data[name][rows]
            assert abs(moved(before, after, frame["w"][rows])) <= 1e-12
    assert release.data["w"].equals(frame["w"])
    assert release.recipe.weights.weighted is True


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([2, 3, 5]))
def test_weights_of_groups_are_rounded_means_and_keep_weighted_totals_before_that(seed, k):
    frame = frame_of(seed=seed)
    release = ma.protect(frame, k=k, weight=["w", "v"], weight_release="group", **ROLES)
    data, labels, facts = release.data, release.groups.tolist(), release.weights
    means = {}
    for name in ("w", "v"):
        means[name] = pd.Series(by_the_book.weights_of_groups(frame[name].tolist(), labels))
        step = by_the_book.step_of(frame[name].tolist())
        for mean, released in zip(means[name], data[name], strict=True):
            assert released in by_the_book.nearest_multiples(mean, step)
        assert facts.steps[name] == float(step)
        assert means[name].sum() == pytest.approx(frame[name].sum(), rel=1e-12)
        shift = data[name].sum() / frame[name].sum() - 1
        assert facts.rounding_moved[name] == pytest.approx(shift, rel=1e-9, abs=1e-12)
    for name in ("age", "income"):
        assert abs(moved(frame[name], data[name], frame["w"], means["w"])) <= 1e-12
        shift = moved(frame[name], data[name], frame["w"], data["w"])
        assert facts.rounding_moved[name] == pytest.approx(shift, rel=1e-6, abs=1e-12)
    counts = data.groupby(["age", "income", "job", "region", "w", "v"]).size()
    assert counts.min() >= k
    assert release.promise.columns == ["age", "income", "job", "w", "v", "region"]
    assert release.anonymity.k >= k


@settings(max_examples=200)
@given(st.lists(st.sampled_from([0, 1, 2, 3, 5, 7, 20, 49, 100, 995]), min_size=1), st.integers(-6, 6))
def test_the_step_of_weights_is_at_most_a_twentieth_of_the_median(weights, power):
    values = [float(f"{weight}e{power}") for weight in weights]
    if not any(values):
        assert WeightStep.of(count_steps(np.array(values))).rounded(np.array(values)).tolist() == values
        return
    step, expected = WeightStep.of(count_steps(np.array(values))), by_the_book.step_of(values)
    assert step.size == float(expected)
    found = step.rounded(np.array(values))
    assert all(now > 0 or own == 0 for own, now in zip(values, found, strict=True))
    apart = [abs(now - own) for own, now in zip(values, found, strict=True) if own > step.size]
    assert max(apart, default=0.0) <= step.size / 2 * (1 + 1e-9)
    text = [f"{value:.12g}" for value in found]  # multiples of the step, with no other digits
    assert [repr(float(one)) for one in text] == [repr(value) for value in found.tolist()]


def of_design(n=200, seed=0):
    """Weights that go with one job each; the sex is no part of the design."""
    frame = frame_of(n, seed).assign(sex=np.random.default_rng(seed).choice(["f", "m"], n))
    return frame.assign(w=frame["job"].map({"farm": 90.0, "shop": 100.0, "office": 140.0}))


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.sampled_from([3, 5]), st.booleans())
def test_groups_whose_weight_still_shows_categories_are_counted(seed, k, by_job):
    frame = of_design(seed=seed)
    quasi = ["age", "income", "job", "sex"]
    how = {"quasi": quasi, "weight": "w", "weight_release": "group", "rest": "drop"}
    release = ma.protect(frame, k=k, select=None if by_job else ["age"], **how)
    columns = [frame["job"].tolist(), frame["sex"].tolist()]
    labels = release.groups.tolist()
    expected = by_the_book.revealing(frame["w"].tolist(), release.data["w"].tolist(), columns, labels, k)
    assert release.weights.revealing == {"w": expected}
    means = by_the_book.weights_of_groups(frame["w"].tolist(), labels)
    assert expected <= by_the_book.revealing(frame["w"].tolist(), means, columns, labels, k)


@pytest.mark.parametrize("coded", first_few(1, [False, True]))
def test_dropped_columns_and_numbers_of_few_values_can_be_of_the_design(tmp_path, coded):
    rng, weights = np.random.default_rng(0), np.array([10.0, 30.0, 70.0, 20.0])
    region = rng.integers(0, 4, 500)
    frame = frame_of(500).assign(region=region if coded else np.array(list("abcd"))[region], w=weights[region])
    pq.write_table(pa.table(frame), tmp_path / "in.parquet")
    for quasi in (["age", "income"], ["age", "income", "region"]):
        how = {"quasi": quasi, "weight": "w", "weight_release": "group", "rest": "drop"}
        release = ma.protect(frame, 5, **how)
        columns = region.tolist(), release.groups.tolist()
        expected = by_the_book.revealing(frame["w"].tolist(), release.data["w"].tolist(), [columns[0]], columns[1], 5)
        assert release.weights.revealing == {"w": expected}
        assert expected > 10
        said = f"The weight “w” shows categories of the members in {expected} of {release.n_groups} groups."
        assert said in build(release).verdict.headline
        for engine in ("disk", "dask"):
            files = tmp_path / "in.parquet", tmp_path / f"{engine}.parquet"
            masked = ma.protect_file(*files, k=5, engine=engine, n_jobs=1, overwrite=True, **how)
            assert masked.sample.weights.revealing == {"w": expected}


def test_weights_that_go_with_no_category_show_none():
    release = ma.protect(frame_of(200), k=5, weight="w", weight_release="group", drop=["v"], **ROLES)
    assert release.weights.revealing == {"w": 0}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("way", ["as it is", "group"])
def test_weights_that_are_almost_nothing_warn_of_nothing(way):
    frame = frame_of().assign(w=5e-324)
    with pytest.raises(InvalidData, match="the weight 'w' has values too large or small for weights"):
        ma.protect(frame, k=3, weight="w", weight_release=way, drop=["v"], **ROLES)
    few = frame.assign(w=np.where(np.arange(60) % 20, 1.0, 5e-324))
    assert ma.protect(few, k=3, weight="w", weight_release=way, drop=["v"], **ROLES).k_achieved >= 3
    most = np.where(np.arange(60) % 4, 1e-310, 1.0)
    assert count_steps(most) == {-4: 15, 3 * -292 + 2: 45}


def test_the_first_weight_that_is_named_weights_whatever_the_order_of_the_file():
    frame = frame_of()
    release = ma.protect(frame, k=3, weight=["v", "w"], **ROLES)
    assert abs(moved(frame["income"], release.data["income"], frame["v"])) <= 1e-12
    assert abs(moved(frame["income"], release.data["income"], frame["w"])) > 1e-12
    assert release.recipe.roles.weight == ("v", "w")
    again = ma.protect(frame, recipe=release.recipe)
    assert again.data.equals(release.data)


def test_without_weights_the_sums_of_records_stay():
    frame = frame_of()
    release = ma.protect(frame, k=3, weight="w", weighted=False, drop=["v"], **ROLES)
    plain = ma.protect(frame, k=3, drop=["v", "w"], **ROLES)
    assert release.data["income"].equals(plain.data["income"])
    assert release.recipe.weights.weighted is False
    assert release.weights.information.percent != release.information.percent


def test_groups_and_k_do_not_depend_on_weights():
    frame = frame_of()
    weighted = ma.protect(frame, k=3, weight="w", drop=["v"], **ROLES)
    plain = ma.protect(frame, k=3, drop=["v", "w"], **ROLES)
    assert np.array_equal(weighted.groups, plain.groups)


def test_rounding_tells_how_far_it_moved_weighted_totals():
    frame = frame_of()
    roles = {**ROLES, "rounding": {"income": 1000}}
    release = ma.protect(frame, k=3, weight="w", drop=["v"], **roles)
    assert release.rounded["income"].moved == pytest.approx(
        moved(frame["income"], release.data["income"], frame["w"]), rel=1e-6
    )


def dominated(n=30):
    frame = frame_of(n)
    frame.loc[7, "w"] = 1e6
    return frame


def test_a_weight_that_dominates_its_group_is_refused_with_both_remedies():
    with pytest.raises(InvalidData, match=r"^1 of 10 groups holds one record with more than 80 %") as caught:
        ma.protect(dominated(), k=3, quasi=["age", "income"], weight="w", rest="drop")
    assert "weight_cap=True" in str(caught.value)
    assert "weighted=False" in str(caught.value)
    assert caught.value.parameter == "weight_cap"
    assert "1000000" not in str(caught.value)


def test_a_weight_that_dominates_is_cut_where_that_is_asked_for_and_it_is_told_how_far_totals_moved():
    frame = dominated()
    how = {"quasi": ["age", "income"], "weight": "w", "rest": "drop", "rounding": "none"}
    release = ma.protect(frame, k=3, weight_cap=True, **how)
    assert release.weights.dominated == 1
    for name in ("age", "income"):
        assert release.weights.moved[name] == pytest.approx(moved(frame[name], release.data[name], frame["w"]))
    group = release.groups == release.groups[7]
    rows = frame[group]
    shares = by_the_book.effective(rows["w"].tolist())
    assert release.data["income"][7] == by_the_book.mean(rows["income"].tolist(), shares)
    assert ma.protect(frame, k=3, weighted=False, **how).weights.dominated == 0


@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), st.sampled_from([0.0, 1.0, 2.5, 7.0, 300.0])), min_size=1),
    st.booleans(),
)
def test_members_count_as_by_the_book(drawn, with_units):
    groups, units, weights = (list(one) for one in zip(*drawn, strict=True))
    labels = np.unique(groups, return_inverse=True)[1].astype(np.int64)
    codes = np.array(units, dtype=np.int64) if with_units else None
    found = Members.of(Weights.of(np.array(weights))._replace(units=codes), labels, int(labels.max()) + 1)
    for group in range(int(labels.max()) + 1):
        own = np.flatnonzero(labels == group)
        mine = [weights[i] for i in own], [units[i] for i in own] if with_units else None
        assert found.values[own].tolist() == pytest.approx([float(one) for one in by_the_book.effective(*mine)])
        assert found.cut[group] == by_the_book.is_dominated(*mine)


def test_units_of_one_record_each_change_nothing():
    weights = Weights.of(np.array([1.0, 3.0, 900.0, 2.0, 0.1, 0.0, 0.0, 5.0]))
    labels = np.array([0, 0, 0, 1, 1, 1, 2, 2])
    plain, apart = (Members.of(one, labels, 3) for one in (weights, weights._replace(units=np.arange(8)[::-1].copy())))
    assert np.array_equal(plain.values, apart.values)
    assert np.array_equal(plain.whole, apart.whole)
    assert np.array_equal(plain.cut, apart.cut)


def of_firms(seed=0):
    """A firm with most plants, none of which could outweigh its group alone."""
    rng = np.random.default_rng(seed)
    firm = np.concatenate([np.zeros(36, dtype=int), np.arange(1, 25)])
    return pd.DataFrame(
        {
            "firm": firm,
            "staff": rng.normal(size=60),
            "trade": rng.choice(["a", "b"], 60),
            "w": np.where(firm == 0, rng.uniform(6, 9, 60), rng.uniform(1, 3, 60)),
        }
    )


FIRMS = {"quasi": ["staff", "trade"], "unit": "firm", "unit_share": "any", "weight": "w", "rounding": "none"}


def test_a_unit_that_dominates_its_group_by_all_its_records_is_refused_or_cut():
    frame = of_firms()
    with pytest.raises(InvalidData, match=r"^\d+ of \d+ groups hold one unit with more than 80 %") as caught:
        ma.protect(frame, k=4, **FIRMS)
    assert caught.value.parameter == "weight_cap"
    release = ma.protect(frame, k=4, weight_cap=True, **FIRMS)
    dominated = 0
    for group in range(release.n_groups):
        rows = frame[release.groups == group]
        weights, firms = rows["w"].tolist(), rows["firm"].tolist()
        dominated += by_the_book.is_dominated(weights, firms)
        shares = by_the_book.effective(weights, firms)
        assert max(by_the_book.of_units(shares, firms).values()) <= 0.8 * sum(shares) + 1e-12
        assert release.data["staff"][rows.index[0]] == pytest.approx(by_the_book.mean(rows["staff"].tolist(), shares))
    assert release.weights.dominated == dominated > 1
    assert not any(by_the_book.is_dominated(frame["w"][release.groups == g].tolist()) for g in range(release.n_groups))
    assert release.weights.moved["staff"] == pytest.approx(moved(frame["staff"], release.data["staff"], frame["w"]))


def test_the_report_says_that_units_were_cut():
    model = build(ma.protect(of_firms(), k=4, weight_cap=True, **FIRMS))
    (found,) = [one for one in model.verdict.findings if one.topic == "weights cut"]
    assert "one unit had more than 80" in found.text


def test_whole_units_are_dominated_by_group_however_many_rows_they_have():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": np.repeat(np.arange(12), 3), "x": rng.normal(size=36), "w": 1.0})
    frame.loc[frame["id"] == 5, "w"] = 1e4
    with pytest.raises(InvalidData, match=r"^1 of 4 groups holds one unit with more than 80 %"):
        ma.protect(frame, k=3, quasi=["x"], unit="id", unit_release="pseudonym", weight="w")


def test_nothing_is_cut_where_no_weight_dominates():
    frame = frame_of()
    release = ma.protect(frame, k=3, weight="w", weight_cap=True, drop=["v"], **ROLES)
    assert (release.weights.dominated, dict(release.weights.moved)) == (0, {})
    assert release.data.equals(ma.protect(frame, k=3, weight="w", drop=["v"], **ROLES).data)


def test_groups_are_merged_until_k_records_weigh_something():
    frame = pd.DataFrame({"x": [1.0, 2.0, 9.0, 50.0, 60.0, 70.0], "w": [1.0, 1.0, 0.0, 2.0, 0.0, 0.0]})
    release = ma.protect(frame, k=3, quasi=["x"], weight="w", weight_release="group", rounding="none")
    assert release.groups.tolist() == [0] * 6
    assert release.data["x"].tolist() == [(1 + 2 + 2 * 50) / 4] * 6
    assert release.data["w"].tolist() == [0.65] * 6
    plain = ma.protect(frame, k=3, quasi=["x"], weight="w", weighted=False, weight_release="group", rounding="none")
    assert plain.data["w"].tolist() == [0.65] * 6


def with_zeros(n=240, seed=0, share=0.3):
    """Persons with up to three rows each; some rows weigh nothing, and some lack their income."""
    rng = np.random.default_rng(seed)
    frame = frame_of(n, seed).assign(u=rng.integers(0, n // 2, n), ill=rng.choice(["a", "b", "c", "d"], n))
    light = rng.random(n) < share
    frame.loc[light, "w"] = 0.0
    frame.loc[light & (rng.random(n) < 0.5) | (rng.random(n) < 0.1), "income"] = np.nan
    return frame


@settings(max_examples=40)
@given(
    st.integers(0, 10**6),
    st.sampled_from([2, 3, 5]),
    st.sampled_from(["mdav", "vmdav", "iamat"]),
    st.sampled_from(
        [
            {},
            {"refine": "fast"},
            {"refine": "fast", "unit": "u"},
            {"unit": "u", "unit_share": "any"},
            {"strata": ["region"], "missing": "state"},
            {"confidential": ["ill"], "l": 2},
            {"confidential": ["ill"], "l": 2, "refine": "fast"},
            {"blocks": "median", "max_block": 40},
            {"weight_release": "group", "calibrate": ["job"]},
        ]
    ),
)
def test_k_of_every_group_weigh_something(seed, k, method, choices):
    frame = with_zeros(seed=seed)
    quasi = ["age", "income", "job"]
    release = ma.protect(
        frame, k=k, quasi=quasi, weight="w", weight_cap=True, method=method, rest="drop", rounding="none", **choices
    )
    units = frame["u"].tolist() if "unit" in choices else None
    weights = frame["w"].tolist()
    assert by_the_book.light_groups(release.groups.tolist(), weights, k, units) == 0
    shared = release.data[[*quasi, *choices.get("strata", [])]].itertuples(index=False)
    assert by_the_book.light_groups(list(map(str, shared)), weights, k, units) == 0


def test_what_cannot_have_k_with_a_weight_is_refused_with_their_number():
    frame = with_zeros().dropna()
    how = {"quasi": ["age", "income"], "weight": "w", "weight_cap": True, "rest": "drop"}
    frame["region"] = np.where(np.arange(len(frame)) < 20, "far", "near")
    frame.loc[frame["region"] == "far", "w"] = [5.0, 6.0, *[0.0] * 18]
    with pytest.raises(InvalidData) as refused:
        ma.protect(frame, k=5, strata=["region"], **how)
    assert str(refused.value) == (
        "1 of 2 strata has fewer than k=5 records with a weight above 0, so that a weighted mean would be one of "
        "fewer. Leave out records of weight 0, merge strata, lower k, or do not weight: weighted=False."
    )
    ma.protect(frame, k=5, strata=["region"], weighted=False, **{**how, "weight_cap": False})
    with pytest.raises(InvalidData, match=r"of \d+ groups have fewer than k=5 records with a weight above 0"):
        ma.protect(frame, k=5, method="ranking", per_column=True, **how)
    whole = {"unit": "u", "unit_release": "pseudonym", "small_units": "suppress"}
    with pytest.raises(InvalidData, match=r"of \d+ groups have fewer than k=3 units with a weight above 0"):
        ma.protect(frame, k=3, **whole, **how)


@pytest.mark.parametrize("constant", ["row", "once"])
def test_units_of_many_rows_are_grouped_such_that_k_of_them_weigh_something(constant):
    rng = np.random.default_rng(0)
    n, units = 400, np.repeat(np.arange(100), 4)
    frame = pd.DataFrame({"u": units, "born": rng.integers(1930, 2000, 100)[units], "pay": rng.lognormal(8, 1, n)})
    frame["w"] = rng.uniform(50, 150, n) * (rng.random(n) < 0.7)
    how = {"k": 3, "unit": "u", "weight": "w", "weight_cap": True}
    release = ma.protect(frame, unit_constant=constant, **how)
    assert (release.once is not None) == (constant == "once")
    assert by_the_book.light_groups(release.groups.tolist(), frame["w"].tolist(), 3, units.tolist()) == 0


def test_what_is_written_is_counted_by_those_who_weigh_something(tmp_path, monkeypatch):
    frame = with_zeros()
    release = ma.protect(frame, k=3, quasi=["age", "income", "job"], weight="w", rest="drop", weight_cap=True)
    ma.write(release, tmp_path / "fine.parquet")
    light = enough_weighing(np.zeros(len(frame)), None, 3)
    monkeypatch.setattr("microagg.release.enough_weigh", lambda _: light)
    with pytest.raises(PromiseBroken, match="fewer than 3 of those who share all masked values have a weight above 0"):
        ma.write(release, tmp_path / "out.parquet")
    assert [path.name for path in tmp_path.iterdir()] == ["fine.parquet"]


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ([1.0, -1.0, 2.0], "1 negative"),
        ([1.0, float("nan"), float("nan")], "2 missing"),
        ([1.0, float("inf"), 2.0], "1 infinite"),
        (["1", "2", "x"], "not numeric"),
        ([True, False, True], "not numeric"),
        ([0.0, 0.0, 0.0], "0 in every record"),
        ([1e30, 1.0, 1.0], "too large or small"),
    ],
)
def test_what_is_no_weight_is_refused_where_it_is_used(values, what):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "w": values})
    with pytest.raises(InvalidData, match=what) as caught:
        ma.protect(frame, k=3, quasi=["x"], weight="w")
    assert caught.value.parameter == "weight"
    assert caught.value.columns == ("w",)
    assert "weighted=False" in str(caught.value)
    release = ma.protect(frame, k=3, quasi=["x"], weight="w", weighted=False)
    assert release.data["x"].tolist() == [2.0] * 3


def test_a_second_weight_is_looked_at_only_where_it_is_used():
    frame = frame_of().assign(v="text")
    ma.protect(frame, k=3, weight=["w", "v"], **ROLES)
    with pytest.raises(InvalidData, match="'v' is not numeric"):
        ma.protect(frame, k=3, weight=["w", "v"], weight_release="group", **ROLES)


@pytest.mark.parametrize(
    ("choices", "parameter"),
    [
        ({"weight_release": "group"}, "weight_release"),
        ({"weight_cap": True}, "weight_cap"),
        ({"weighted": True}, "weighted"),
        ({"calibrate": ["job"]}, "calibrate"),
        ({"weight": "w", "weighted": False, "weight_cap": True}, "weight_cap"),
        ({"weight": "w", "calibrate": ["job"]}, "calibrate"),
        ({"weight": "w", "weight_release": "all"}, "weight_release"),
    ],
)
def test_choices_that_do_not_go_together_are_refused(choices, parameter):
    with pytest.raises(InvalidParameter) as caught:
        ma.protect(frame_of(), k=3, quasi=["age", "income", "job"], rest="drop", **choices)
    assert caught.value.parameter == parameter


def test_weights_of_groups_do_not_go_with_a_group_for_each_column():
    how = {"method": "ranking", "per_column": True, "quasi": ["age", "income"], "weight": "w", "rest": "drop"}
    with pytest.raises(InvalidParameter, match="per_column"):
        ma.protect(frame_of(), k=3, weight_release="group", **how)
    release = ma.protect(frame_of(), k=3, rounding="none", **how)
    assert abs(moved(frame_of()["income"], release.data["income"], frame_of()["w"])) <= 1e-12


@pytest.mark.parametrize("make", [pl.from_pandas, pa.Table.from_pandas, lambda frame: frame])
def test_weights_of_groups_are_numbers_in_every_library(make):
    frame = frame_of().assign(w=np.arange(101, 161))
    release = ma.protect(make(frame), k=3, weight="w", weight_release="group", drop=["v"], **ROLES)
    assert type(release.data) is type(make(frame))
    values = release.data["w"].to_pylist() if isinstance(release.data, pa.Table) else list(release.data["w"])
    assert all(isinstance(value, float) for value in values)
    assert {value % 5 for value in values} == {0.0}
    assert sum(values) == pytest.approx(60 * 130.5, rel=0.01)


def test_weights_of_a_text_file_are_written_in_its_manner(tmp_path):
    frame = frame_of()
    path = tmp_path / "survey.csv"
    frame.to_csv(path, sep=";", decimal=",", index=False)
    how = {"quasi": ["age", "income", "job"], "rest": "drop", "weight": "w"}
    kept = ma.protect(ma.read(path), k=3, **how)
    assert kept.data["w"].to_pylist() == [line.split(";")[4] for line in path.read_text().splitlines()[1:]]
    release = ma.protect(ma.read(path), k=3, weight_release="group", same_order=True, **how)
    ma.write(release, tmp_path / "masked.csv")
    again = pd.read_csv(tmp_path / "masked.csv", sep=";", dtype=str)["w"].str.replace(",", ".").map(float)
    assert again.tolist() == release.data["w"].to_pylist()
    assert again.sum() == pytest.approx(frame["w"].sum(), rel=0.01)


def test_records_that_are_left_out_take_their_weights_along():
    frame = frame_of()
    frame.loc[[3, 10], "income"] = np.nan
    release = ma.protect(frame, k=3, weight="w", missing="drop", drop=["v"], **ROLES)
    left = frame.drop(index=[3, 10]).reset_index(drop=True)
    assert abs(moved(left["income"], release.data["income"], left["w"])) <= 1e-12


def test_calibration_keeps_the_weighted_totals_of_categories():
    frame = frame_of(300)
    how = {"weight": ["w", "v"], "weight_release": "group", **ROLES}
    plain = ma.protect(frame, k=3, **how)
    release = ma.protect(frame, k=3, calibrate=["job"], **how)
    off = 0.0
    for weight in ("w", "v"):
        for job in ("farm", "shop", "office"):
            wanted = frame[weight][frame["job"] == job].sum()
            found, step = release.data[weight][release.data["job"] == job].sum(), release.weights.steps[weight]
            assert abs(found - wanted) <= release.weights.rounding_moved["job"] * frame[weight].sum() * (1 + 1e-6)
            assert abs(found - wanted) < step * len(frame) ** 0.5  # rounding errors cancel out
            off = max(off, abs(plain.data[weight][plain.data["job"] == job].sum() / wanted - 1))
    assert off > 1e-3  # which is what calibration is for
    assert release.data.groupby([*ROLES["quasi"], "region", "w", "v"]).size().min() >= 3
    low, high = release.weights.factors
    assert 1 / 3 <= low <= 1 <= high <= 3
    assert release.weights.missed < 1e-9
    assert release.k_achieved >= 3


def test_a_category_that_no_group_releases_is_told():
    frame = frame_of(60).assign(job=["rare", *["shop", "office"] * 29, "shop"])
    release = ma.protect(frame, k=5, weight="w", weight_release="group", calibrate=["job"], drop=["v"], **ROLES)
    assert "rare" not in set(release.data["job"])
    assert release.weights.missed > 1e-4


def test_calibration_that_changes_weights_too_much_is_refused():
    # "a" weighs most, and is the mode of the lightest group only.
    jobs = ["b", "b", "a"] * 3 + ["a", "a", "a"]
    frame = pd.DataFrame({"x": np.arange(12.0), "job": jobs, "w": [1.0, 1.0, 1.9] * 3 + [0.01] * 3})
    with pytest.raises(InvalidData, match="from 1/3 to 3 is allowed") as caught:
        ma.protect(frame, k=3, quasi=["x", "job"], weight="w", weight_release="group", calibrate=["job"], select=["x"])
    assert caught.value.parameter == "calibrate"


def test_columns_to_calibrate_by_must_be_masked_categories():
    how = {"weight": "w", "weight_release": "group", "drop": ["v"], **ROLES}
    with pytest.raises(RoleError, match="'region' in calibrate is not masked"):
        ma.protect(frame_of(), k=3, calibrate=["region"], **how)
    with pytest.raises(InvalidParameter, match="'age' in calibrate is of kind 'number'"):
        ma.protect(frame_of(), k=3, calibrate=["age"], **how)


@pytest.mark.casc
def test_the_figures_of_eusilc():
    frame = pd.read_csv(Path(os.environ["MICROAGG_DATA"]) / "eusilc.csv")
    how = {"quasi": ["eqIncome"], "weight": "rb050", "rest": "drop", "rounding": "none"}
    plain = ma.protect(frame, k=5, weighted=False, **how)
    weighted = ma.protect(frame, k=5, **how)
    assert abs(moved(frame["eqIncome"], weighted.data["eqIncome"], frame["rb050"])) <= 1e-12
    missed = moved(frame["eqIncome"], plain.data["eqIncome"], frame["rb050"])
    # What unweighted means miss: the covariance of weights and values within groups.
    own = frame[["eqIncome", "rb050"]] - frame[["eqIncome", "rb050"]].groupby(plain.groups).transform("mean")
    covariance = (own["eqIncome"] * own["rb050"]).sum() / (frame["eqIncome"] * frame["rb050"]).sum()
    assert missed == pytest.approx(-covariance, rel=1e-6)
    assert missed == pytest.approx(-1.8e-5, rel=0.01)
    # The price: the plain total is off, where it was not.
    assert moved(frame["eqIncome"], plain.data["eqIncome"], frame["rb050"] * 0 + 1) == pytest.approx(0, abs=1e-12)
    assert abs(moved(frame["eqIncome"], weighted.data["eqIncome"], frame["rb050"] * 0 + 1)) > 1e-6
