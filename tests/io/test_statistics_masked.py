"""Masked columns of SPSS and Stata files keep what the file says of the values that are still there."""

import datetime as dt
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import microagg as ma
from microagg.columns import labels
from microagg.errors import InvalidData

pyreadstat = pytest.importorskip("pyreadstat")
polars = pytest.importorskip("polars")

N = 60


def write_spss(path, columns, **rest):
    pyreadstat.write_sav(polars.DataFrame(columns), path, **rest)
    return ma.read(path)


@pytest.fixture
def survey(tmp_path):
    draw = np.random.default_rng(0)
    job = draw.integers(1, 4, N).astype(float)
    job[:6] = 9.0
    grade = draw.integers(1, 5, N).astype(float)
    wage = draw.integers(10, 40, N) * 50.0
    wage[:8], wage[8:14], wage[20:25] = -9.0, -8.0, np.nan
    town = draw.choice(["north", "south", "XX"], N).tolist()
    town[3:9] = [""] * 6
    born = [dt.date(1950 + int(year), 5, 17) for year in draw.integers(0, 50, N)]
    return write_spss(
        tmp_path / "data.sav",
        {"job": job, "grade": grade, "wage": wage, "town": town, "born": born},
        column_labels={"job": "Occupation", "wage": "Monthly wage"},
        variable_value_labels={
            "job": {1.0: "farmer", 2.0: "clerk", 3.0: "smith", 9.0: "refused"},
            "grade": {1.0: "low", 4.0: "high"},
            "wage": {-9.0: "refused", -8.0: "does not know"},
            "town": {"XX": "unknown"},
        },
        variable_measure={"job": "nominal", "grade": "ordinal", "wage": "scale", "town": "nominal"},
        variable_format={"wage": "F6.0", "born": "EDATE10"},
        missing_ranges={"job": [9.0], "wage": [{"lo": -9.0, "hi": -1.0}], "town": ["XX"]},
    )


def masked(survey, path, **choices):
    kinds = {"job": "nominal", "grade": [1, 2, 3, 4]}
    release = ma.protect(survey, k=3, kinds=kinds, **choices)
    ma.write(release, path)
    return release, ma.read(path)


def test_spss_keeps_what_it_says_of_categories_and_of_missing_codes(survey, tmp_path):
    release, again = masked(survey, tmp_path / "out.sav")
    assert again.labels == survey.labels
    assert again.table.schema == survey.table.schema
    for name, codes in {"job": {9.0}, "wage": {-9.0, -8.0}, "town": {"XX"}}.items():
        before, after = set(survey.table[name].to_pylist()), set(again.table[name].to_pylist())
        assert codes <= after
        assert name == "wage" or after <= before
    assert again.table["town"].null_count > 0
    assert again.table["wage"].null_count > 0
    assert "" not in again.table["town"].to_pylist()
    assert release.recipe.missing_codes.codes == {"job": (9,), "wage": (-9, -8), "town": ("XX",)}
    groups = again.table.group_by(again.table.column_names).aggregate([([], "count_all")])
    assert min(groups["count_all"].to_pylist()) >= 3


def test_a_recipe_of_a_release_gives_the_same_release_again(survey, tmp_path):
    release, again = masked(survey, tmp_path / "out.sav")
    assert ma.protect(survey, recipe=release.recipe).data.equals(release.data)
    ma.write(release, tmp_path / "out.dta")
    stata = ma.read(tmp_path / "out.dta")
    assert stata.labels.values["job"] == {1: "farmer", 2: "clerk", 3: "smith", 9: "refused"}
    assert stata.labels.values["wage"] == {-9: "refused", -8: "does not know"}
    assert stata.table["town"].to_pylist() == again.table["town"].to_pylist()


def test_codes_that_a_recipe_names_go_before_those_of_the_file(survey, tmp_path):
    release, again = masked(survey, tmp_path / "out.sav", missing_codes={"wage": [-9]})
    assert release.recipe.missing_codes.codes["wage"] == (-9,)
    released = set(again.table["wage"].to_pylist())
    assert -9.0 in released
    assert -8.0 not in released
    assert again.labels.values["wage"] == {-9.0: "refused"}


def test_a_masked_number_keeps_no_labels_of_numbers(survey, tmp_path):
    release = ma.protect(survey, k=3, kinds={"job": "number", "grade": "number"})
    ma.write(release, tmp_path / "out.sav")
    again = ma.read(tmp_path / "out.sav").labels
    assert again.values["job"] == {9.0: "refused"}
    assert "grade" not in again.values
    assert {again.measures[name] for name in ("job", "grade")} == {"scale"}


def test_a_recoded_column_keeps_no_labels_but_those_of_missing_codes(survey, tmp_path):
    rules = {"job": {"join": {"3": ["1", "2"]}}, "wage": {"top": 1500}}
    release, again = masked(survey, tmp_path / "out.sav", recode=rules)
    assert again.labels.values["job"] == {9.0: "refused"}
    assert again.labels.values["wage"] == {-9.0: "refused", -8.0: "does not know"}
    assert release.recipe.missing_codes.codes == {"job": (9,), "wage": (-9, -8), "town": ("XX",)}
    assert {-9.0, -8.0} <= set(again.table["wage"].to_pylist())


def test_no_mean_falls_into_a_range_that_is_declared_missing(tmp_path):
    age = [90.0, 104.0, 100.0] * 4 + [98.0] * 12  # the mean of the first is 98 too
    source = write_spss(tmp_path / "data.sav", {"age": age}, missing_ranges={"age": [{"lo": 97.0, "hi": 99.0}]})
    release = ma.protect(source, k=12)
    ma.write(release, tmp_path / "out.sav")
    again = ma.read(tmp_path / "out.sav")
    assert again.labels.missing == source.labels.missing
    assert again.table["age"].to_pylist() == [96.0] * 12 + [98.0] * 12
    assert ma.protect(source.table, k=12, missing_codes={"age": [98]}).data["age"].to_pylist()[0] == 97.0


@pytest.mark.parametrize(("most", "states"), [(30, 3), (2, 0)])
def test_more_ways_of_being_missing_than_there_may_be_are_one(tmp_path, monkeypatch, most, states):
    monkeypatch.setattr(labels, "MOST_STATES", most)
    x = [float(number) for number in range(12)] + [-1.0] * 3 + [-2.0] * 3 + [-3.0] * 3
    missing = {"x": [{"lo": -np.inf, "hi": -1.0}]}
    source = write_spss(tmp_path / "data.sav", {"x": x}, missing_ranges=missing)
    released = ma.protect(source, k=3, rounding="none").data["x"]
    assert len({value for value in released.to_pylist() if value is not None and value < 0}) == states
    assert released.null_count == (0 if states else 9)


def test_dates_and_texts_that_are_declared_missing_are_no_values(tmp_path):
    days = [dt.date(2000, 1, 1 + day) for day in range(9)] + [dt.date(9999, 12, 31)] * 3
    seconds = (dt.date(9999, 12, 31) - dt.date(1582, 10, 14)).days * 86400.0
    source = write_spss(
        tmp_path / "data.sav", {"day": days}, missing_ranges={"day": [seconds]}, variable_format={"day": "DATE11"}
    )
    assert source.table["day"].null_count == 0
    assert source.typed(["day"])["day"].null_count == 3
    release = ma.protect(source, k=3)
    assert release.data["day"].null_count == 3
    assert max(day for day in release.data["day"].to_pylist() if day).year == 2000


def test_numbers_most_of_which_have_labels_need_a_kind(tmp_path):
    columns = {"job": [1.0, 2.0, 3.0] * 4, "wage": [float(number) for number in range(12)]}
    texts = {"job": {1.0: "farmer", 2.0: "clerk"}, "wage": {0.0: "none", 99.0: "refused"}}
    source = write_spss(tmp_path / "data.sav", columns, variable_value_labels=texts)
    assert ma.protect(source, k=3, quasi=["wage"], keep=["job"]).k_achieved >= 3
    with pytest.raises(InvalidData, match="'job' holds numbers that have labels in the file"):
        ma.protect(source, k=3, quasi=["job", "wage"])


def test_labels_of_codes_for_missing_do_not_make_codes_of_the_others(tmp_path):
    columns = {"rating": [1.0, 2.0, 3.0, 4.0, 97.0, 98.0, 99.0] * 3}
    texts = {"rating": {97.0: "refused", 98.0: "unknown", 99.0: "not asked", 1.0: "bad"}}
    source = write_spss(
        tmp_path / "data.sav", columns, variable_value_labels=texts, missing_ranges={"rating": [97.0, 98.0, 99.0]}
    )
    assert set(ma.protect(source, k=3).data["rating"].to_pylist()) >= {97.0, 98.0, 99.0}


@pytest.fixture
def panel(tmp_path):
    draw = np.random.default_rng(1)
    wage = [*(["a"] * 8), *(["b"] * 6), *([None] * 5), *(float(one) for one in draw.integers(10, 90, N - 19))]
    job = [*(["z"] * 5), *(int(one) for one in draw.integers(1, 4, N - 5))]
    columns = {
        "wage": polars.Series(wage, dtype=polars.Object),
        "job": polars.Series(job, dtype=polars.Object),
        "kept": polars.Series([*["b"] * 3, *range(N - 3)], dtype=polars.Object),
    }
    path = tmp_path / "data.dta"
    pyreadstat.write_dta(
        polars.DataFrame(columns),
        path,
        missing_user_values={"wage": ["a", "b"], "job": ["z"], "kept": ["b"]},
        variable_value_labels={
            "wage": {"a": "refused", 10: "ten"},
            "job": {1: "farmer", 2: "clerk", 3: "smith", "z": "none"},
        },
    )
    return ma.read(path)


def test_the_missing_values_of_stata_are_states(panel, tmp_path):
    release = ma.protect(panel, k=3, quasi=["wage", "job"], keep=["kept"], kinds={"job": "nominal"}, same_order=True)
    assert release.recipe.missing_codes.codes == {}
    assert release.data["wage"].null_count == 19
    ma.write(release, tmp_path / "out.dta", like=panel)
    again = ma.read(tmp_path / "out.dta")
    for name in ("wage", "kept"):
        assert again.labels.tags[name].to_pylist() == panel.labels.tags[name].to_pylist()
    assert set(again.labels.tags["job"].to_pylist()) == {"z", None}
    assert again.labels.values == {"wage": {"a": "refused"}, "job": panel.labels.values["job"]}
    assert again.table.schema == panel.table.schema
    rows = [
        (wage, job, *tags)
        for wage, job, *tags in zip(
            *(again.table[name].to_pylist() for name in ("wage", "job")),
            *(again.labels.tags[name].to_pylist() for name in ("wage", "job")),
            strict=True,
        )
    ]
    assert min(rows.count(row) for row in set(rows)) >= 3


def test_the_missing_values_of_stata_do_not_stay_with_the_rows_that_had_them(panel, tmp_path):
    few = panel.take(np.arange(5, N))  # three rows with .a are left, and k of them are not alike
    release = ma.protect(few, k=20, quasi=["wage", "job"], rest="drop", kinds={"job": "nominal"})
    ma.write(release, tmp_path / "out.dta")
    found = ma.read(tmp_path / "out.dta")
    tags = found.labels.tags["wage"].to_pylist() if "wage" in found.labels.tags else []
    assert tags.count("a") in (0, *range(20, N))
    sorted_anew = ma.protect(panel, k=3, quasi=["wage", "job"], rest="drop", kinds={"job": "nominal"})
    in_order = replace(sorted_anew, recipe=sorted_anew.recipe.replace(same_order=True))
    written = []
    for number, one in enumerate((sorted_anew, in_order)):
        ma.write(one, tmp_path / f"{number}.dta")
        read = ma.read(tmp_path / f"{number}.dta")
        tags = read.labels.tags["wage"].to_pylist()
        written.append(Counter(zip(*(read.table[name].to_pylist() for name in ("wage", "job")), tags, strict=True)))
    assert written[0] == written[1]  # they move with their rows
    assert any(tag == "a" for *_, tag in written[0])


def test_files_without_labels_have_no_codes():
    assert labels.declared_values(pa.chunked_array([pa.array([True])]), [1.0]) == ()
    assert not labels.mostly_labelled(pa.array([1, 2]), {})


def with_a_long_town():
    draw = np.random.default_rng(0)
    town = draw.choice(["aa", "bb"], N).tolist()
    town[4] = "W" * 37
    return {"wage": draw.integers(10, 40, N) * 50.0, "town": town}


@pytest.mark.parametrize(("said", "written"), [("%37s", "%9s"), ("%-37s", "%-9s"), ("%5s", "%5s"), ("%9s", "%9s")])
def test_a_format_of_stata_tells_no_length_of_text_that_is_not_released(tmp_path, said, written):
    frame = polars.DataFrame(with_a_long_town())
    pyreadstat.write_dta(frame, tmp_path / "in.dta", variable_format={"town": said})
    release = ma.protect(ma.read(tmp_path / "in.dta"), k=3, quasi=["wage", "town"])
    ma.write(release, tmp_path / "out.dta")
    _, meta = pyreadstat.read_dta(tmp_path / "out.dta")
    assert meta.original_variable_types["town"] == written


def test_a_width_of_spss_tells_no_length_of_text_that_is_not_released(tmp_path):
    source = write_spss(tmp_path / "in.sav", with_a_long_town(), variable_display_width={"town": 37, "wage": 12})
    ma.write(ma.protect(source, k=3, quasi=["town"], keep=["wage"]), tmp_path / "out.sav")
    _, meta = pyreadstat.read_sav(tmp_path / "out.sav")
    assert meta.variable_display_width == {"town": 8, "wage": 12}
    assert meta.original_variable_types["town"] == "A2"


def test_text_that_is_released_whole_keeps_its_format(tmp_path):
    frame = polars.DataFrame(with_a_long_town())
    pyreadstat.write_dta(frame, tmp_path / "in.dta", variable_format={"town": "%-37s"})
    ma.write(ma.protect(ma.read(tmp_path / "in.dta"), k=3, quasi=["wage"], keep=["town"]), tmp_path / "out.dta")
    assert pyreadstat.read_dta(tmp_path / "out.dta")[1].original_variable_types["town"] == "%-37s"
