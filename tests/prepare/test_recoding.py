"""Recoding equals its oracle, cell by cell, in every frame library, whole or in parts."""

import datetime as dt
import pickle
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import strategies as st

import microagg as ma
from microagg.columns.recoding import Recoding, RecodingTally
from microagg.errors import InvalidParameter
from tests.lengths import given_few
from tests.reference import recoding as oracle

MAKE = {
    "pyarrow": lambda table: table,
    "polars": pl.from_arrow,
    "pandas": lambda table: table.to_pandas(),
    "pandas of arrow": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
}
WAYS = st.sampled_from(["lower", "middle", "label"])
DAYS = st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1))


def cells(frame, name="x"):
    """Give the cells of a column as plain Python, missing ones as None."""
    found = nw.from_native(frame, eager_only=True).get_column(name).to_arrow().to_pylist()
    return [None if isinstance(one, float) and np.isnan(one) else one for one in found]


def as_said(rule):
    """Write a rule as a recipe does: days as text."""

    def plain(value):
        return str(value) if isinstance(value, dt.date) else value

    return {word: list(map(plain, value)) if word == "cuts" else plain(value) for word, value in rule.items()}


@st.composite
def rules(draw, limits, widths, starts, ways=WAYS):
    """Rules over limits of one kind."""
    rule = {}
    low, high = sorted([draw(limits), draw(limits)])
    kind = draw(st.sampled_from(["limits", "width", "cuts"]))
    bounded = draw(st.sampled_from([(), ("bottom",), ("top",), ("bottom", "top")]))
    way = draw(ways)
    if kind == "limits":
        bounded = bounded or ("top",)
    if kind == "width":
        rule["width"] = draw(widths)
        if not isinstance(rule["width"], str) and draw(st.booleans()):
            rule["start"] = draw(starts)
    if kind == "cuts":
        inner = draw(st.lists(limits.filter(lambda cut: low <= cut <= high), min_size=0, max_size=3))
        rule["cuts"] = sorted({low, high, *inner})
        bounded = ("bottom", "top") if way == "middle" else bounded if way == "label" else ("bottom", *bounded)
    if kind != "limits":
        rule["as"] = way
    return rule | {end: {"bottom": low, "top": high}[end] for end in bounded}


def check_whole_and_in_parts(table, rule, expected):
    """See that every library, whole and in parts, gives what is expected, with the types that came in."""
    recoding = Recoding.of({"x": as_said(rule)})
    keeps_type = rule.get("as", "lower") != "label"
    for library, make in MAKE.items():
        frame = make(table)
        before = cells(frame)
        found = recoding.apply(frame)
        assert cells(found) == expected, library
        assert cells(frame) == before
        assert type(found) is type(frame)
        types = [nw.from_native(one, eager_only=True).schema["x"] for one in (frame, found)]
        assert (types[0] == types[1]) == keeps_type or set(expected) == {None}  # pandas guesses the type of no values
        assert nw.from_native(found, eager_only=True).columns == ["x", "other"]
    parts = [recoding.apply_to_part(table.slice(row, 2)) for row in range(0, table.num_rows, 2)]
    whole, tally = recoding.apply_to_part(table)
    joined = pa.concat_tables([part for part, _ in parts])
    assert joined.schema == whole.schema
    assert cells(joined) == expected
    assert sum((one for _, one in parts), RecodingTally()) == tally
    original = table["x"].to_pylist()
    if keeps_type:
        assert tally.changed["x"] == sum(a != b for a, b in zip(original, expected, strict=True) if b is not None)
        assert cells(recoding.apply(whole)) == expected  # twice is once
    else:
        assert tally.changed["x"] == sum(one is not None for one in expected)
        assert set(recoding.levels(tally)["x"]) == {one for one in expected if one is not None}
        ranks = {label: rank for rank, label in enumerate(recoding.levels(tally)["x"])}
        known = sorted((a, ranks[b]) for a, b in zip(original, expected, strict=True) if b is not None)
        assert [rank for _, rank in known] == sorted(rank for _, rank in known)


def table_of(values, type_):
    return pa.table({"x": pa.array(values, type_), "other": pa.array([str(row) for row in range(len(values))])})


@given_few(
    50,
    200,
    values=st.lists(st.integers(-60, 60), min_size=1, max_size=12),  # pandas' own cannot be missing
    rule=rules(st.integers(-50, 50), st.integers(1, 30), st.integers(-20, 20)),
    type_=st.sampled_from([pa.int64(), pa.int16(), pa.int32()]),
)
def test_whole_numbers_equal_the_oracle(values, rule, type_):
    check_whole_and_in_parts(table_of(values, type_), rule, [oracle.recode(one, rule) for one in values])


@given_few(
    50, 200, values=st.lists(st.none() | st.integers(-60, 60), min_size=1, max_size=12), width=st.integers(1, 30)
)
def test_missing_whole_numbers_stay_missing(values, width):
    table = table_of(values, pa.int64())
    expected = [oracle.recode(one, {"width": width}) for one in values]
    recoding = Recoding.of({"x": {"width": width}})
    for frame in (table, pl.from_arrow(table), table.to_pandas().astype({"x": "Int64"})):
        found = recoding.apply(frame)
        assert cells(found) == expected
        assert nw.from_native(found, eager_only=True).schema["x"] == nw.Int64


TENTHS = st.integers(-600, 600).map(lambda whole: whole / 10)


@given_few(
    100,
    400,
    values=st.lists(st.none() | st.just(float("nan")) | TENTHS | st.floats(-1000, 1000), min_size=1, max_size=12),
    rule=rules(
        TENTHS, st.sampled_from([0.1, 0.3, 0.25, 2.5, 1, 7, 1e-3]), TENTHS, st.sampled_from(["lower", "middle"])
    ),
    narrow=st.sampled_from([np.float64, np.float32]),
)
def test_fractions_equal_the_oracle(values, rule, narrow):
    def rounded(number):
        return float(narrow(float(number)))

    values = [one if one is None else rounded(one) for one in values]
    table = table_of(values, pa.from_numpy_dtype(narrow))
    expected = [oracle.recode(one, rule, rounded) for one in values]
    check_whole_and_in_parts(table, rule, [None if one is None or np.isnan(one) else one for one in expected])


PERIODS = st.sampled_from(["week", "month", "quarter", "year", 1, 10, 365])


@given_few(25, 200, values=st.lists(st.none() | DAYS, min_size=1, max_size=10), rule=rules(DAYS, PERIODS, DAYS))
def test_days_equal_the_oracle(values, rule):
    check_whole_and_in_parts(table_of(values, pa.date32()), rule, [oracle.recode(one, rule) for one in values])


@given_few(
    50,
    200,
    values=st.lists(
        st.none() | st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2100, 1, 1)), min_size=1, max_size=10
    ),
    rule=rules(DAYS, PERIODS, DAYS),
)
def test_times_equal_the_oracle(values, rule):
    check_whole_and_in_parts(table_of(values, pa.timestamp("us")), rule, [oracle.recode(one, rule) for one in values])


@given_few(25, 200, values=st.lists(st.none() | DAYS, min_size=1, max_size=10), rule=rules(DAYS, PERIODS, DAYS))
def test_days_that_are_text_stay_text(values, rule):
    table = table_of([one and str(one) for one in values], pa.string())
    expected = [oracle.recode(one, rule) for one in values]
    recoding = Recoding.of(
        {"x": {"start": "1970-01-01"} | as_said(rule) if rule.get("width") in (1, 10, 365) else as_said(rule)}
    )
    for make in MAKE.values():
        assert cells(recoding.apply(make(table))) == [one and str(one) for one in expected]


@given_few(
    50,
    200,
    values=st.lists(st.none() | st.sampled_from("abcdef"), min_size=1, max_size=12),
    groups=st.lists(st.sampled_from(["a", "new", "other", None]), min_size=6, max_size=6),
)
def test_joined_categories_equal_the_oracle(values, groups):
    rule = {"join": {}}
    for old, new in zip("abcdef", groups, strict=True):
        if new is not None:
            rule["join"].setdefault(new, []).append(old)
    if not rule["join"]:
        rule["join"]["new"] = ["a"]
    values = [*values, *"abcdef"]
    expected = [oracle.recode(one, rule) for one in values]
    recoding = Recoding.of({"x": rule})
    plain = table_of(values, pa.string())
    coded = plain.set_column(0, "x", plain["x"].dictionary_encode())
    for library, make in MAKE.items():
        for table in (plain, coded):
            frame = make(table)
            found, tally = recoding.apply_to_part(frame)
            assert cells(found) == expected, library
            assert nw.from_native(found, eager_only=True).schema == nw.from_native(frame, eager_only=True).schema
            assert tally.changed["x"] == sum(a != b for a, b in zip(values, expected, strict=True))
            recoding.check_joined(tally)
    parts = [recoding.apply_to_part(coded.slice(row, 3)) for row in range(0, coded.num_rows, 3)]
    assert [one for part, _ in parts for one in cells(part)] == expected
    recoding.check_joined(sum((one for _, one in parts), RecodingTally()))


@pytest.mark.parametrize("type_", [pa.int64(), pa.uint8(), pa.float64()])
def test_codes_that_are_numbers_stay_numbers_where_the_new_ones_are(type_):
    table = pa.table({"x": pa.array([11, 12, 30, None], type_)})
    found = Recoding.of({"x": {"join": {"1": ["11", 12]}}}).apply(table)
    assert found["x"].type == type_
    assert found["x"].to_pylist() == [1, 1, 30, None]
    named = Recoding.of({"x": {"join": {"one": ["11", 12]}}}).apply(table)
    assert named["x"].to_pylist() == ["one", "one", "30", None]


def test_categories_keep_the_order_that_they_have():
    sizes = pd.Categorical(["S", "L", "M", None], categories=["S", "M", "L", "XL"], ordered=True)
    frame = pd.DataFrame({"size": sizes}, index=[7, 8, 9, 10])
    found = Recoding.of({"size": {"join": {"large": ["L", "XL"]}}}).apply(frame)
    assert list(found["size"].cat.categories) == ["S", "M", "large"]
    assert found["size"].cat.ordered
    assert list(found.index) == [7, 8, 9, 10]
    with pytest.raises(InvalidParameter, match="not neighbours"):
        Recoding.of({"size": {"join": {"ends": ["S", "XL"]}}}).apply(frame)
    fixed = pl.DataFrame({"size": pl.Series(["S", "L", None], dtype=pl.Enum(["S", "M", "L"]))})
    found = Recoding.of({"size": {"join": {"small": ["S", "M"]}}}).apply(fixed)
    assert found["size"].dtype == pl.Enum(["small", "L"])
    assert found["size"].to_list() == ["small", "L", None]
    with pytest.raises(InvalidParameter, match="not neighbours"):
        Recoding.of({"size": {"join": {"ends": ["S", "L"]}}}).apply(fixed)


def test_local_midnight_begins_a_day_even_where_clocks_skip_it():
    """In Sao Paulo the 4th of November 2018 began at one o'clock."""
    zone = "America/Sao_Paulo"
    times = pd.Series(pd.to_datetime(["2018-11-04 15:00", "2018-11-05 15:00"]).tz_localize(zone))
    found = Recoding.of({"x": {"width": 1}}).apply(pd.DataFrame({"x": times}))["x"]
    assert str(found.dtype.tz) == zone
    assert [str(one) for one in found] == ["2018-11-04 01:00:00-02:00", "2018-11-05 00:00:00-02:00"]
    late = Recoding.of({"x": {"top": "2018-11-05"}}).apply(pd.DataFrame({"x": times}))["x"]
    assert [str(one) for one in late] == ["2018-11-04 15:00:00-02:00", "2018-11-05 00:00:00-02:00"]


def test_decimals_stay_decimals():
    column = pa.array([Decimal("0.30"), Decimal("12.34"), None], pa.decimal128(9, 2))
    table = pa.table({"x": column})
    found = Recoding.of({"x": {"width": 0.1, "top": 12.25}}).apply(table)["x"]
    assert found.type == column.type
    assert found.to_pylist() == [Decimal("0.30"), Decimal("12.20"), None]
    assert Recoding.of({"x": {"top": 12.25}}).apply(table)["x"].to_pylist()[1] == Decimal("12.25")
    with pytest.raises(InvalidParameter, match="has no value"):
        Recoding.of({"x": {"top": 12.125}}).apply(table)


def test_labels_of_fractions_say_where_a_class_ends():
    table = pa.table({"x": [-0.5, 0.3, 2.0, 99.0]})
    recoding = Recoding.of({"x": {"width": 0.25, "bottom": 0, "top": 2, "as": "label"}})
    found, tally = recoding.apply_to_part(table)
    assert found["x"].to_pylist() == ["under 0.25", "0.25 to under 0.5", "2 or more", "2 or more"]
    assert recoding.levels(tally) == {"x": ("under 0.25", "0.25 to under 0.5", "2 or more")}


def test_a_column_without_any_value_stays_as_it_is():
    table = pa.table({"x": pa.nulls(3), "y": pa.nulls(3, pa.int64()), "z": pa.nulls(3, pa.string())})
    with pytest.raises(InvalidParameter, match="1 of 1 values"):
        Recoding.of({"z": {"join": {"b": ["a"]}}}).apply(table)
    found = Recoding.of({"x": {"width": 5}, "y": {"cuts": [1]}}).apply(table)
    assert found.equals(table)
    empty = Recoding.of({"y": {"width": 5}}).apply(table.slice(0, 0))
    assert empty.num_rows == 0
    assert empty.schema == table.schema


def test_a_frame_held_by_narwhals_comes_back_held():
    frame = nw.from_native(pl.DataFrame({"x": [7]}))
    found = Recoding.of({"x": {"width": 5}}).apply(frame)
    assert isinstance(found, nw.DataFrame)
    assert found["x"].to_list() == [5]
    assert Recoding().apply(frame)["x"].to_list() == [7]


def test_columns_may_have_numbers_for_names():
    found = Recoding.of({0: {"width": 5}}).apply(pd.DataFrame([[7, 8]]))
    assert found.to_numpy().tolist() == [[5, 8]]


def test_a_table_of_categories_says_the_same_as_a_list(tmp_path):
    (tmp_path / "jobs.csv").write_text("old,new\n11,a\n12,a\n\n7,b\n", "utf-8-sig")
    read = Recoding.of({"job": {"join": "jobs.csv"}}, tmp_path)
    assert read == Recoding.of({"job": {"join": {"a": ["11", "12"], "b": [7]}}})
    assert read == Recoding.of({"job": {"join": tmp_path / "jobs.csv"}})
    assert Recoding.of(read.mapping) == read


SAID = {
    "age": {"width": 5, "start": 1, "top": 90},
    "birth": {"width": "year", "bottom": dt.date(1930, 1, 1)},
    "left": {"width": 10, "start": "2020-01-01", "as": "label"},
    "income": {"bottom": 0, "top": 200000.0},
    "rate": {"width": 0.5, "as": "middle"},
    "size": {"cuts": [1, 2.5, 12000], "as": "label"},
    "job": {"join": {"1": ["1120", 1211], "other": ["9"]}},
}


def test_a_recoding_says_in_words_what_it_does():
    recoding = Recoding.of(SAID)
    assert recoding.words == {
        "age": "at most 90; in classes of 5 from 1, released as the lower bound",
        "birth": "at least 1930-01-01; by year, released as the lower bound",
        "left": "in classes of 10 days from 2020-01-01, released as a label",
        "income": "at least 0; at most 200 000",
        "rate": "in classes of 0.5 from 0, released as the middle",
        "size": "in classes cut at 1, 2.5, 12 000, released as a label",
        "job": "2 values joined to '1'; 1 value joined to 'other'",
    }
    assert recoding.numbers == ["age", "income", "rate", "size"]
    assert bool(recoding)
    assert not Recoding.of({})


def test_a_recoding_can_be_made_again_of_what_it_says():
    recoding = Recoding.of(SAID)
    assert Recoding.of(recoding.mapping) == recoding
    assert pickle.loads(pickle.dumps(recoding)) == recoding
    tally = recoding.apply_to_part(pa.table({name: pa.nulls(1) for name in SAID}))[1]
    assert pickle.loads(pickle.dumps(tally)) == tally


def test_limits_that_no_cell_is_beyond_need_not_fit_the_type():
    table = pa.table({"x": pa.array([42], pa.int8()), "y": pa.array([42], pa.timestamp("ns"))})
    assert Recoding.of({"x": {"top": 1000}, "y": {"bottom": "1500-01-01"}}).apply(table).equals(table)


def test_a_top_brings_infinite_values_back():
    found = Recoding.of({"x": {"width": 5, "top": 20}}).apply(pa.table({"x": [float("inf"), 3.5]}))
    assert found["x"].to_pylist() == [20.0, 0.0]


def test_many_categories_are_joined_at_once():
    codes = [f"c{number}" for number in range(100_000)]
    recoding = Recoding.of({"x": {"join": {"all": codes[:99_999]}}})
    found, tally = recoding.apply_to_part(pa.table({"x": codes}))
    recoding.check_joined(tally)
    assert found["x"].unique().to_pylist() == ["all", "c99999"]
    assert tally.changed == {"x": 99_999}


@pytest.mark.parametrize("library", ["pyarrow", "polars", "pandas of arrow"])
@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({"top": 85}, [20, 85, 997, 85, -8, 34, None]),
        ({"bottom": 30}, [30, 91, 997, 86, -8, 34, None]),
        ({"width": 10, "top": 85}, [20, 80, 997, 80, -8, 30, None]),
        ({"width": 10, "as": "label"}, ["20-29", "90-99", "997", "80-89", "-8", "30-39", None]),
        ({"cuts": [0, 50], "as": "label"}, ["0-49", "50 or more", "997", "50 or more", "-8", "0-49", None]),
    ],
)
def test_codes_for_missing_values_are_neither_limited_nor_put_into_classes(library, rule, expected):
    frame = MAKE[library](pa.table({"age": [20, 91, 997, 86, -8, 34, None]}))
    recoded = Recoding.of({"age": rule}).apply(frame, {"age": (997, -8)})
    assert cells(recoded, "age") == expected


def test_codes_that_are_words_meet_no_number():
    frame = pa.table({"age": [20, 91]})
    assert Recoding.of({"age": {"top": 85}}).apply(frame, {"age": ("refused",)})["age"].to_pylist() == [20, 85]


@pytest.mark.parametrize("rule", [{"top": 85}, {"width": 10, "as": "label"}])
def test_a_code_for_missing_values_is_released_as_one_though_the_column_is_recoded(rule):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 100, 300)
    age[:41] = 997
    frame = pa.table({"age": age, "wage": rng.normal(size=300)})
    release = ma.protect(frame, 5, recode={"age": rule}, missing_codes={"age": [997]})
    found = release.data["age"].to_pylist()
    assert [str(cell) for cell in found[:41]] == ["997"] * 41
    assert "997" not in map(str, found[41:])
    assert release.recipe.missing_codes.codes == {"age": (997,)}
    assert ma.protect(frame, recipe=release.recipe).data.equals(release.data)
