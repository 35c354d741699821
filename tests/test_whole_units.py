"""Whole units alike: households and panels under pseudonyms."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg as ma
from microagg.algorithms.equivalence import codes_of
from microagg.columns import frames
from microagg.columns.embedding import shapes_of
from microagg.columns.table import order_of_units
from microagg.errors import InvalidData, InvalidParameter, RoleError, TooFewRecords
from microagg.mask.whole_units import lay_out
from tests.reference import counted_units as slow


def households(n=40, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, n)
    unit = np.repeat(rng.permutation(n), sizes)
    return pd.DataFrame(
        {
            "hid": unit,
            "income": np.repeat(rng.lognormal(10, 1, n).round(2), sizes),
            "region": np.repeat(rng.choice(list("NSE"), n), sizes),
            "age": rng.integers(0, 90, unit.size),
            "sex": rng.choice(["f", "m"], unit.size),
        }
    ).sample(frac=1, random_state=seed, ignore_index=True)


def rows_of(frame, names):
    return list(map(tuple, frame[names].to_numpy(dtype=object).tolist()))


@settings(max_examples=30)
@given(st.integers(0, 1000), st.sampled_from([2, 3]), st.sampled_from(["mdav", "vmdav", "cbfs", "iamat"]))
def test_k_households_have_the_same_rows(seed, k, method):
    frame = households(seed=seed)
    release = ma.protect(frame, k, unit="hid", unit_release="pseudonym", household=["income"], method=method)
    data = release.data
    rows = [(row[0], row[1], row[2], row[3]) for row in rows_of(data, ["income", "region", "age", "sex"])]
    assert release.k_achieved == slow.fewest_whole_units(rows, data["hid"]) >= k
    assert (data.groupby("hid")[["income", "region"]].nunique() == 1).all(axis=None)  # region is found to be shared
    sizes = frame.groupby("hid").size()
    kept = sizes[sizes.map(sizes.value_counts()) >= k]
    assert sorted(data.groupby("hid").size()) == sorted(kept)
    assert release.n_dropped == len(frame) - kept.sum()
    assert list(data.index) == list(range(len(data)))


def test_pseudonyms_follow_from_what_is_released_alone():
    frame = households(200, seed=1)
    one = ma.protect(frame, 3, unit="hid", unit_release="pseudonym", keep=["sex"])
    data = one.data
    assert data["hid"].is_monotonic_increasing
    shuffled = data.sample(frac=1, random_state=3, ignore_index=True)
    shuffled["hid"] = shuffled["hid"].map(dict(enumerate(np.random.default_rng(0).permutation(1000))))
    ranks = frames.row_ranks(frames.open_frame(shuffled.drop(columns="hid")))
    rows, numbers = order_of_units(np.unique(shuffled["hid"], return_inverse=True)[1], ranks)
    again = shuffled.iloc[rows].reset_index(drop=True).assign(hid=numbers + 1)
    pd.testing.assert_frame_equal(again, data)


def test_a_panel_is_masked_wave_by_wave():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"id": np.repeat(np.arange(30), 3), "year": np.tile([1, 2, 3], 30), "wage": rng.normal(size=90)}
    )
    frame = frame.drop(index=[0, 4])  # two people lack a wave, each another one
    release = ma.protect(frame, 3, quasi=["wage"], keep=["year"], unit="id", unit_release="pseudonym", wave="year")
    data = release.data
    assert release.n_dropped == 4  # what is left of both: no set of two waves is anybody else's
    assert (data.groupby("id")["year"].apply(tuple) == (1, 2, 3)).all()
    assert release.k_achieved >= 3


def test_surplus_waves_are_left_out():
    waves = [(1, 2)] * 5 + [(1, 2, 3)] * 2
    frame = pd.DataFrame([{"id": i, "year": wave, "x": 10.0 * i + wave} for i, own in enumerate(waves) for wave in own])
    release = ma.protect(frame, 3, quasi=["x"], keep=["year"], unit="id", unit_release="pseudonym", wave="year")
    assert release.n_dropped == 2
    assert len(release.data) == 14
    assert release.data["id"].nunique() == 7


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.frozensets(st.integers(0, 2), min_size=1), st.integers(0, 2)), min_size=1, max_size=25),
    st.integers(1, 4),
)
def test_a_unit_keeps_waves_that_are_common_in_its_own_stratum(units, k):
    waves, strata = zip(*units, strict=True)
    expected = slow.waves_that_stay(waves, strata, k)
    rows = [(unit, wave) for unit, own in enumerate(waves) for wave in sorted(own)]
    codes, slots = (np.array(one, dtype=np.int64) for one in zip(*rows, strict=True))
    own = np.array(strata, dtype=np.int64)[codes]
    if not any(expected):
        with pytest.raises(TooFewRecords):
            lay_out(codes, slots, own, k, panel=True, refuse=False)
        return
    kept = lay_out(codes, slots, own, k, panel=True, refuse=False)
    assert [rows[row] for row in kept] == [row for row in rows if row[1] in expected[row[0]]]
    assert np.bincount(shapes_of(codes_of(codes[kept]), slots[kept], own[kept])).min() >= k


def test_a_rare_set_of_waves_is_suppressed_where_another_stratum_has_it_often():
    shapes = [("N", (1, 2))] * 6 + [("S", (1, 2))] * 6 + [("N", (1,))] * 6 + [("S", (1,))]
    cells = [(i, region, year) for i, (region, years) in enumerate(shapes) for year in years]
    frame = pd.DataFrame(cells, columns=["id", "region", "year"])
    frame["x"] = np.arange(len(frame)) % 7 * 1.5
    choices = {"strata": ["region"], "unit": "id", "unit_release": "pseudonym", "wave": "year"}
    release = ma.protect(frame, 3, quasi=["x"], keep=["year"], **choices)
    assert release.n_dropped == 1
    assert release.k_achieved >= 3


def test_rare_sizes_are_suppressed_or_refused():
    frame = pd.DataFrame({"id": [0, 1, 2, 3, 3], "x": [1.0, 2.0, 3.0, 4.0, 5.0]})
    assert ma.protect(frame, 3, unit="id", unit_release="pseudonym").n_dropped == 2
    with pytest.raises(
        TooFewRecords, match="1 of 4 units have a number of rows that fewer than k=3 units share"
    ) as told:
        ma.protect(frame, 3, unit="id", unit_release="pseudonym", small_units="error")
    assert told.value.parameter == "small_units"
    with pytest.raises(TooFewRecords, match="fewer than k=4 units have it"):
        ma.protect(frame, 4, unit="id", unit_release="pseudonym")


def test_a_household_column_must_be_the_households():
    frame = households()
    with pytest.raises(InvalidData, match=r"column 'age' differs within \d+ units") as told:
        ma.protect(frame, 3, unit="hid", unit_release="pseudonym", household=["age"])
    assert told.value.columns == ("age",)
    with pytest.raises(InvalidParameter, match="which is not masked"):
        ma.protect(frame, 3, unit="hid", unit_release="pseudonym", household=["agee"])


@pytest.mark.parametrize(
    ("choices", "parameter"),
    [
        ({"unit_release": "pseudonym"}, "unit"),
        ({"unit": "hid", "household": ["income"]}, "household"),
        ({"unit": "hid", "wave": "age"}, "wave"),
        ({"unit": "hid", "unit_release": "pseudonym", "wave": "age", "unit_order": ["age"]}, "unit_order"),
        ({"unit": "hid", "unit_release": "pseudonym", "select": ["age"]}, "select"),
        ({"unit": "hid", "unit_release": "pseudonym", "unit_share": "any"}, "unit_share"),
        ({"unit": "hid", "unit_release": "pseudonym", "missing": "drop"}, "missing"),
        ({"unit": "hid", "unit_release": "pseudonym", "method": "ranking", "per_column": True}, "method"),
    ],
)
def test_what_does_not_go_together_is_refused_before_any_work(choices, parameter):
    frame = households()
    quasi = ["age", "income"] if "per_column" in choices else ["age", "income", "sex", "region"]
    with pytest.raises(InvalidParameter) as told:
        ma.protect(frame, 3, quasi=quasi, rest="drop", **choices)
    assert told.value.parameter == parameter


def test_strata_must_hold_whole_units():
    with pytest.raises(InvalidData, match="rows of one unit are in different strata") as told:
        ma.protect(households(), 3, strata=["sex"], unit="hid", unit_release="pseudonym")
    assert told.value.parameter == "strata"
    release = ma.protect(households(200), 3, strata=["region"], unit="hid", unit_release="pseudonym")
    assert release.k_achieved >= 3


def test_a_wave_that_repeats_is_refused():
    frame = pd.DataFrame({"id": [0, 0, 1, 1], "year": [1, 1, 1, 2], "x": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(InvalidData, match="1 rows have the same wave, in column 'year', as another row of their unit"):
        ma.protect(frame, 2, quasi=["x"], keep=["year"], unit="id", unit_release="pseudonym", wave="year")


def test_frames_of_other_libraries_and_files_come_back_alike(tmp_path):
    frame = households()
    choices = {"unit": "hid", "unit_release": "pseudonym", "household": ["income"]}
    pandas = ma.protect(frame, 3, **choices)
    polars = ma.protect(pl.from_pandas(frame), 3, **choices)
    assert pandas.data.equals(polars.data.to_pandas())
    ma.write(polars, tmp_path / "released.csv")
    again = pd.read_csv(tmp_path / "released.csv")
    assert again["hid"].tolist() == pandas.data["hid"].tolist()


def test_refinement_keeps_whole_units_alike():
    frame = households(200)
    plain = ma.protect(frame, 3, unit="hid", unit_release="pseudonym")
    refined = ma.protect(frame, 3, unit="hid", unit_release="pseudonym", refine="fast")
    assert refined.k_achieved >= 3
    assert refined.information.percent <= plain.information.percent


def test_names_that_are_not_in_the_file_or_not_masked_are_told():
    frame = households()
    roles = {"quasi": ["age", "income"], "rest": "drop", "unit": "hid", "unit_release": "pseudonym"}
    with pytest.raises(RoleError, match=r"column 'agee' in wave is not in the file\. Did you mean 'age'") as told:
        ma.protect(frame, 3, wave="agee", **roles)
    assert told.value.parameter == "wave"
    with pytest.raises(RoleError, match=r"column 'sex' in unit_order is not masked\. Name") as told:
        ma.protect(frame, 3, unit_order=["sex"], **roles)
    assert told.value.parameter == "unit_order"


def test_a_wave_that_is_dropped_cannot_be_read_from_the_order_of_rows(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "id": np.repeat(np.arange(60), 4),
            "year": np.tile([1, 2, 3, 4], 60),
            "place": np.repeat(rng.choice(["N", "S"], 60), 4),
            "wage": rng.normal(1000, 100, 240).round() + np.tile([0, 300, -300, 100], 60),
        }
    )
    frame.to_csv(tmp_path / "panel.csv", index=False)
    choices = {"quasi": ["place", "wage"], "drop": ["year"], "unit": "id", "unit_release": "pseudonym", "wave": "year"}
    release = ma.protect(ma.read(tmp_path / "panel.csv"), 3, **choices)
    ma.write(release, tmp_path / "masked.csv")
    masked = pd.read_csv(tmp_path / "masked.csv")
    assert list(masked.columns) == ["id", "place", "wage"]
    units = [rows_of(own, ["place", "wage"]) for _, own in masked.groupby("id")]
    assert len(units) == 60
    assert all(rows == sorted(rows) for rows in units)  # third year first: by what is released, and nothing else
    assert masked.groupby("id")["wage"].first().mean() < masked["wage"].mean() - 200


@pytest.mark.parametrize("kind", [pa.struct([("a", pa.int8()), ("b", pa.string())]), pa.list_(pa.int8())])
def test_whole_units_stand_in_an_order_by_kept_columns_of_any_type(kind):
    kept = [{"a": i % 5, "b": "x"} if pa.types.is_struct(kind) else [i % 5] for i in range(24)]
    table = pa.table({"unit": np.repeat(np.arange(12), 2), "x": np.arange(24.0) % 7, "kept": pa.array(kept, kind)})
    released = ma.protect(table, 3, quasi=["x"], unit="unit", unit_release="pseudonym", keep=["kept"]).data

    assert released.num_rows == 24
    ranks = frames.row_ranks(frames.open_frame(table.select(["kept"])))
    shown = [repr(one) for one in kept]
    assert [sorted(set(shown)).index(one) for one in shown] == ranks.tolist()
