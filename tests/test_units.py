"""Units through `protect`: k counts persons, households or firms, whatever the method."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg as ma
from microagg.errors import InvalidData, PromiseBroken, TooFewRecords
from microagg.jobs.assessment import assess
from microagg.jobs.pairs import read_pair
from tests.lengths import first_few
from tests.reference import counted_units as slow
from tests.report.test_verdict import findings

METHODS = ["mdav", "vmdav", "cbfs", "iamat", "maximum-distance", "projection"]


@st.composite
def panels(draw):
    """Rows of units with ties, categories, missing values and strata that can hold two units each."""
    n = draw(st.integers(12, 40))
    units = draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))
    columns = {
        "a": draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)),
        "b": draw(st.lists(st.one_of(st.none(), st.floats(0, 3)), min_size=n, max_size=n)),
        "c": draw(st.lists(st.sampled_from(["x", "y", None]), min_size=n, max_size=n)),
        "unit": units,
    }
    return pd.DataFrame(columns).astype({"b": float})


def released_rows(frame):
    return [tuple(None if pd.isna(one) else one for one in row) for row in frame.itertuples(index=False)]


@settings(max_examples=60)
@given(
    panels(),
    st.integers(2, 4),
    st.sampled_from(METHODS),
    st.sampled_from(["limited", "any"]),
    st.sampled_from(["pattern", "state"]),
    st.sampled_from(["none", "median", "orthants"]),
)
def test_k_units_share_what_is_released(frame, k, method, share, missing, blocks):
    choices = {"method": method, "unit": "unit", "unit_share": share, "missing": missing, "blocks": blocks}
    if blocks != "none":
        choices["max_block"] = 4 * k
    can = slow.can_hold(frame["unit"], k, share == "limited")
    if not can:
        with pytest.raises(TooFewRecords):
            ma.protect(frame, k, **choices)
        return
    release = ma.protect(frame, k, **choices)
    found = slow.fewest_units(released_rows(release.data), frame["unit"], share == "limited")
    assert release.k_achieved == found >= k
    assert release.anonymity.k == found
    assert "unit" not in release.data.columns


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("missing", ["pattern", "state"])
def test_every_row_its_own_unit_is_no_unit_at_all(method, missing):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"a": rng.integers(0, 9, 200), "b": rng.normal(size=200).round(1), "c": rng.choice([*"xyz"], 200)}
    )
    frame.loc[rng.random(200) < 0.2, "b"] = None
    plain = ma.protect(frame, 3, method=method, missing=missing)
    apart = ma.protect(frame.assign(unit=np.arange(200)), 3, method=method, missing=missing, unit="unit")
    assert np.array_equal(plain.groups, apart.groups)
    assert plain.data.equals(apart.data)
    refined = ma.protect(frame, 3, method="mdav", missing=missing, refine="fast")
    alike = ma.protect(frame.assign(unit=np.arange(200)), 3, missing=missing, unit="unit", refine="fast")
    assert np.array_equal(refined.groups, alike.groups)


def with_units(units, **more):
    units = np.asarray(units)
    return pd.DataFrame({"x": np.arange(float(units.size)), "unit": units, **more})


def test_a_unit_with_more_than_its_part_is_refused_with_two_remedies():
    half = with_units([0] * 20 + list(range(1, 21)))
    with pytest.raises(TooFewRecords, match=r"one unit has more than 1/3 of the rows \(20 of 40\)") as told:
        ma.protect(half, 3, unit="unit")
    assert told.value.parameter == "unit_share"
    assert "Lower k (k=2), or accept groups of 3 different units" in str(told.value)
    assert "unit_share='any'" in str(told.value)
    assert ma.protect(half, 2, unit="unit").k_achieved == 2
    release = ma.protect(half, 3, unit="unit", unit_share="any")
    assert release.k_achieved == 3
    assert release.anonymity.share > 100 / 3


def test_one_unit_alone_is_refused():
    with pytest.raises(TooFewRecords, match="the file holds fewer than k=3 different units"):
        ma.protect(with_units([7] * 30), 3, unit="unit", unit_share="any")


def test_a_stratum_of_few_units_is_refused_without_its_name():
    frame = with_units([*range(10), *[20, 21] * 5], place=["north"] * 10 + ["Secretville"] * 10)
    with pytest.raises(TooFewRecords, match="1 of 2 strata by 'place' hold fewer than k=3 different units") as told:
        ma.protect(frame, 3, unit="unit", strata=["place"])
    assert "Secretville" not in str(told.value)


def test_a_missing_unit_is_refused():
    frame = with_units([1.0, 2.0, None, 3.0, 4.0, 5.0])
    with pytest.raises(InvalidData, match=r"'unit' \(1\). Fill them in"):
        ma.protect(frame, 2, unit="unit")


def test_a_pattern_that_cannot_hold_k_units_joins_another():
    rng = np.random.default_rng(1)
    frame = with_units(np.repeat(np.arange(20), 3), y=rng.normal(size=60), z=rng.normal(size=60))
    frame.loc[frame["unit"] < 2, "y"] = None  # six rows of two people: k rows, but not k units
    release = ma.protect(frame, 3, unit="unit")
    assert release.missing.moved == 6
    assert release.k_achieved == 3
    assert ma.protect(frame.drop(columns="unit"), 3).missing.moved == 0


def test_blocks_are_large_enough_for_the_largest_unit():
    rng = np.random.default_rng(2)
    units = np.concatenate([np.zeros(30, dtype=int), np.arange(1, 971)])
    frame = pd.DataFrame(
        {"x": np.where(units == 0, 0.0, rng.normal(size=1000)), "y": rng.normal(size=1000), "unit": units}
    )
    release = ma.protect(frame, 3, unit="unit", blocks="median", max_block=20)
    assert release.k_achieved >= 3
    assert release.n_blocks == -(-1000 // 360)  # four times three times thirty
    assert release.recipe.blocks.max_block == 20


def test_somebodys_own_method_is_repaired_by_merging():
    class Own:
        def fit_predict(self, X):
            return np.arange(len(X)) // 4

    frame = with_units(np.repeat(np.arange(15), 4))
    release = ma.protect(frame, 3, unit="unit", method=Own())
    assert release.k_achieved >= 3
    apart = ma.protect(with_units(np.arange(60)), 3, unit="unit", method=Own())
    assert np.array_equal(apart.groups, np.arange(60) // 4)


def test_each_column_by_itself_holds_k_units():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.normal(size=60), "y": rng.normal(size=60), "unit": np.repeat(np.arange(20), 3)})
    release = ma.protect(frame, 3, unit="unit", method="univariate", per_column=True)
    for name in ("x", "y"):
        assert slow.fewest_units(release.data[name].tolist(), frame["unit"]) >= 3
    assert release.k_achieved >= 3


def test_refinement_keeps_units_apart_and_loses_less():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(300, 3)), columns=list("xyz")).assign(unit=np.repeat(np.arange(100), 3))
    plain = ma.protect(frame, 4, unit="unit")
    refined = ma.protect(frame, 4, unit="unit", refine="fast")
    assert refined.information.percent < plain.information.percent
    assert refined.k_achieved >= 4


def test_what_is_written_is_counted_by_units_in_whatever_order(tmp_path, monkeypatch):
    frame = with_units(np.repeat(np.arange(10), 3))
    release = ma.protect(frame, 3, unit="unit")
    ma.write(release, tmp_path / "sorted.csv")
    assert (tmp_path / "sorted.csv").exists()
    ordered = release.promise
    monkeypatch.setattr("microagg.release.Release.promise", property(lambda _: ordered.of_units(np.zeros(30), True)))
    with pytest.raises(PromiseBroken, match=r"1 unit\(s\) only"):
        ma.write(release, tmp_path / "other.csv")
    assert not (tmp_path / "other.csv").exists()


def test_linkage_finds_a_unit_no_more_often_than_k_allows():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {"x": rng.normal(size=120).round(1), "y": rng.normal(size=120), "unit": np.repeat(np.arange(40), 3)}
    )
    release = ma.protect(frame, 4, unit="unit")
    assert release.risk.full_keys <= 25
    original = frame.drop(columns="unit")
    outside = ma.disclosure_risk(frame, release.data, columns=["x", "y"], unit="unit")
    assert outside.full_keys == release.risk.full_keys
    assert outside.full_keys >= ma.disclosure_risk(original, release.data).full_keys


def test_assess_links_units_where_the_recipe_names_one(tmp_path):
    rng = np.random.default_rng(6)
    frame = pd.DataFrame({"x": rng.normal(size=90), "y": rng.normal(size=90), "unit": np.repeat(np.arange(30), 3)})
    frame.to_csv(tmp_path / "in.csv", index=False)
    release = ma.protect(ma.read(tmp_path / "in.csv"), 3, unit="unit", same_order=True)
    ma.write(release, tmp_path / "out.csv")
    pair = read_pair(str(tmp_path / "in.csv"), str(tmp_path / "out.csv"), release.recipe, {})
    assert assess(pair, release.recipe).risk.full_keys == pytest.approx(release.risk.full_keys)
    whole = release.recipe.replace(unit_release="pseudonym")
    with pytest.raises(InvalidData, match="nothing shows which row is which"):
        assess(pair, whole)


@pytest.mark.parametrize("nominal", ["mode", "balanced", "draw"])
@pytest.mark.parametrize("engine", first_few(3, ["memory", "disk", "whole", "dask"]))
def test_a_category_that_fewer_than_three_units_have_is_not_released(tmp_path, engine, nominal, by_engine):
    """One firm has most plants of a trade, and two others have all of another."""
    firm = np.repeat(np.arange(12), 4)
    trade = np.select([firm == 0, np.isin(firm, [1, 2])], ["gold", "salt"], np.where(firm % 2, "iron", "wood"))
    trade[0::4] = np.where(firm[0::4] % 2, "iron", "wood")
    frame = pd.DataFrame({"firm": firm, "age": np.arange(48.0) % 7, "trade": trade})
    chosen = {"quasi": ["age", "trade"], "unit": "firm", "unit_constant": "row", "nominal": nominal}
    chosen |= {"nominal_seed": 5} if nominal == "draw" else {}
    if engine in ("memory", "whole"):
        chosen |= {"unit_release": "pseudonym"} if engine == "whole" else {}
        data = ma.protect(frame, 3, **chosen).data
    else:
        pq.write_table(pa.Table.from_pandas(frame), tmp_path / "in.parquet", row_group_size=7)
        ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 3, **by_engine(engine), **chosen)
        data = pd.read_parquet(tmp_path / "out.parquet")
    assert set(data["trade"]) == {"iron", "wood"}


@pytest.mark.parametrize("engine", first_few(3, ["memory", "disk", "whole", "dask"]))
def test_a_spike_that_fewer_than_three_units_have_is_refused(tmp_path, engine, by_engine):
    firm = np.repeat(np.arange(12), 4)
    frame = pd.DataFrame({"firm": firm, "grant": np.where(firm < 2, 0.0, np.arange(48.0))})
    chosen = {"quasi": ["grant"], "kinds": {"grant": "semi"}}
    more = {"unit_release": "pseudonym"} if engine == "whole" else {}
    path = tmp_path / "in.parquet"
    pq.write_table(pa.Table.from_pandas(frame), path, row_group_size=7)

    def masked(**chosen):
        if engine in ("memory", "whole"):
            return ma.protect(frame, 3, **chosen)
        return ma.protect_file(path, tmp_path / "out.parquet", 3, overwrite=True, **by_engine(engine), **chosen)

    with pytest.raises(InvalidData, match="fewer than 3 units have the spike of column 'grant'"):
        masked(**chosen, unit="firm", **more)
    assert masked(**chosen, drop=["firm"]).k_achieved >= 3  # eight rows have it
    with pytest.raises(InvalidData, match="fewer than 3 records have the spike of column 'grant'"):
        masked(quasi=["grant"], kinds={"grant": {"spike": 17}}, drop=["firm"])


def test_one_firm_that_has_nearly_all_rows_with_an_amount_does_not_release_it():
    firm = np.append(np.zeros(12, dtype=int), np.arange(1, 25))
    grant = np.where(firm == 0, 7777.0, 0.0)
    grant[[12, 13]] = 1.0
    frame = pd.DataFrame({"firm": firm, "age": np.ones(36), "grant": grant})
    release = ma.protect(frame, 3, quasi=["age", "grant"], unit="firm", kinds={"grant": {"spike": 0}})
    assert set(release.data["grant"]) == {0.0}


def test_a_report_warns_of_a_firm_that_has_nearly_all_rows_of_a_group():
    firm = np.append(np.zeros(40, dtype=int), np.arange(1, 9))
    frame = pd.DataFrame({"firm": firm, "age": np.arange(48.0)})
    release = ma.protect(frame, 4, quasi=["age"], unit="firm", unit_share="any")
    assert findings(release)["one unit"].short.startswith("one unit has ")
    assert "one unit" not in findings(ma.protect(frame.iloc[36:], 3, quasi=["age"], unit="firm", unit_share="any"))


@pytest.mark.parametrize("beyond", [False, True])
def test_what_fewer_than_three_units_have_is_not_released(tmp_path, beyond):
    """Two firms of ten plants and eight of one: most plants of every group tell their pay, but those of two firms."""
    firm = np.append(np.repeat([0, 1], 10), np.arange(2, 10))
    large = firm < 2
    frame = pd.DataFrame(
        {
            "firm": firm,
            "age": np.arange(28.0) % 5,
            "pay": np.where(large, 1000.0 + firm, np.nan),
            "grant": np.where(large, 500.0 + firm, 0.0),
        }
    )
    chosen = {"quasi": ["age", "pay", "grant"], "unit": "firm", "unit_share": "any", "missing": "state"}
    chosen |= {"kinds": {"grant": {"spike": 0}}}
    if beyond:
        frame.to_parquet(tmp_path / "in.parquet")
        ma.protect_file(tmp_path / "in.parquet", tmp_path / "out.parquet", 5, **chosen)
        data = pd.read_parquet(tmp_path / "out.parquet")
    else:
        data = ma.protect(frame, 5, **chosen).data
    assert data["pay"].isna().all()
    assert set(data["grant"]) == {0.0}
