"""Every kind of column is drawn in its own way, and in public nothing of few records is named."""

import datetime as dt

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import microagg as ma
from microagg.columns.finders import ColumnChoices, open_table
from microagg.columns.frames import open_frame
from microagg.columns.kinds import Cells, Nominal, Ordinal
from microagg.columns.table import Coded
from microagg.judge import judge
from microagg.judge.bins import SMALL_CELL, _cut_of_calendar, _day, cut_of_dates
from microagg.judge.drawn import _public_bars
from microagg.report import build, render

K = 3
HOUSEHOLDS = ma.datasets.households(900, seed=1)
MASKED = ["sex", "region", "education", "occupation", "birth", "hours", "wage", "income"]
RELEASE = ma.protect(HOUSEHOLDS, K, quasi=MASKED, kinds={"wage": "semi"}, rest="drop")
FRAMES = HOUSEHOLDS.to_pandas(), RELEASE.data.to_pandas()


@pytest.fixture(scope="module")
def inside():
    return {one.column: one for one in judge(RELEASE).distributions}


@pytest.fixture(scope="module")
def outside():
    return {one.column: one for one in judge(RELEASE, public=True).distributions}


def test_all_masked_columns_are_drawn_in_the_order_of_the_file(inside, outside):
    assert list(inside) == list(outside) == [name for name in HOUSEHOLDS.column_names if name in MASKED]
    kinds = {"sex": "nominal", "education": "ordinal", "birth": "date", "wage": "semi", "hours": "number"}
    assert {name: inside[name].kind for name in kinds} == kinds


def test_shares_of_bins_and_bars_add_up_to_all_records(inside):
    for one in inside.values():
        assert sum(one.before) + sum(bar.before for bar in one.bars) == pytest.approx(100, abs=0.05)
        assert sum(one.after) + sum(bar.after for bar in one.bars) == pytest.approx(100, abs=0.05)


def test_categories_are_ordered_by_share_and_levels_by_their_order(inside):
    before, after = (frame["region"].value_counts(normalize=True) for frame in FRAMES)
    bars = inside["region"].bars
    assert [bar.before for bar in bars] == sorted((bar.before for bar in bars), reverse=True)
    for bar in bars:
        assert (bar.before, bar.after) == pytest.approx((100 * before[bar.label], 100 * after.get(bar.label, 0)))
    levels = [bar.label for bar in inside["education"].bars if bar.of == "category"]
    assert levels == [level for level in FRAMES[0]["education"].cat.categories if level in levels]
    assert inside["education"].bars[-1].of == "missing"
    assert inside["education"].bars[-1].before == pytest.approx(100 * FRAMES[0]["education"].isna().mean())


def test_many_categories_are_joined(inside):
    kinds = [bar.of for bar in inside["occupation"].bars]
    assert kinds == ["category"] * 12 + ["others", "missing"]
    others = inside["occupation"].bars[12]
    assert int(others.label) == FRAMES[0]["occupation"].nunique() - 12


def test_the_spike_and_what_is_missing_stand_apart_from_the_bins(inside):
    spike, missing = inside["wage"].bars
    assert (spike.of, spike.label, missing.of) == ("spike", "0", "missing")
    for share, frame in ((spike.before, FRAMES[0]), (spike.after, FRAMES[1])):
        assert share == pytest.approx(100 * (frame["wage"] == 0).mean())
    assert missing.before == pytest.approx(100 * FRAMES[0]["wage"].isna().mean())
    assert inside["hours"].bars[0].of == "missing"
    assert inside["income"].bars == ()


def test_dates_are_binned_by_the_calendar(inside):
    one = inside["birth"]
    assert one.marks == tuple(str(1970 + int(edge) // 365.25).split(".")[0] for edge in np.array(one.edges) + 3)
    births = pd.to_datetime(FRAMES[0]["birth"])
    inner = pd.to_datetime([f"{mark}-01-01" for mark in one.marks[1:-1]])
    counts = np.bincount(np.searchsorted(inner, births, side="right"), minlength=len(one.before))
    assert one.before == pytest.approx(100 * counts / len(births), abs=0.001)


DAY = dt.datetime(2024, 2, 28, 22)
STORED = {
    "days": ([DAY.date() + dt.timedelta(days=j) for j in range(12)], "2024-02-28"),
    "hours": ([DAY + dt.timedelta(hours=j) for j in range(20)], "2024-02-28 22:00"),
    "months": ([dt.date(2020 + j // 12, 1 + j % 12, 15) for j in range(30)], "2020-01"),
    "years": ([dt.date(1907 + j, 6, 1) for j in range(90)], "1905"),
    "text": ([f"{1 + j:02}.01.2024" for j in range(20)], "2024-01-01"),
    "times": ([dt.time(8 + j % 10, 30) for j in range(20)], "08:00"),
    "durations": ([dt.timedelta(days=j) for j in range(20)], "0\u00a0d"),
    "far": ([dt.date(1, 1, 1), dt.date(9999, 12, 31)], "0000"),
}


@pytest.mark.parametrize("stored", STORED)
def test_borders_of_dates_are_called_as_dates_are_written(stored):
    values, first = STORED[stored]
    frame = open_frame(pa.table({"a": values}))
    cut = cut_of_dates(frame.get_column("a"), "a")
    _, coders = open_table(frame, {"a": ColumnChoices(kind="date")})
    numbers = coders["a"].cells(frame.get_column("a")).values
    edges, marks = cut(numbers.min(), numbers.max(), 32, whole=True)
    assert marks[0] == first
    assert len(marks) == len(edges) <= 34
    assert edges[0] <= numbers.min()
    assert edges[-1] >= numbers.max()
    assert (np.diff(edges) > 0).all()
    assert len(set(marks)) == len(marks)


def test_in_public_nothing_of_few_records_is_named_and_shares_are_whole(outside):
    n = len(FRAMES[1])
    for name, one in outside.items():
        assert one.before == ()
        for bar in one.bars:
            assert bar.before is None
            assert bar.after == round(bar.after)
            if bar.of == "category":
                number = (FRAMES[1][name].astype(str) == bar.label).sum()
                assert number >= SMALL_CELL * K
                assert bar.after == round(100 * number / n)
            elif bar.of == "others":
                assert bar.label == ""  # not even how many
    assert outside["birth"].marks[0] == outside["birth"].marks[-1] == ""


@pytest.mark.parametrize(
    ("counts", "named"),
    [
        ([100, 60, 40], ["a", "b", "c"]),
        ([100, 60, 40, 20, 15], ["a", "b", "c"]),  # others: 35
        ([100, 60, 40, 5], ["a", "b"]),  # five alone would be told by what is left: others are 45
        ([100, 5], []),  # there is no other to hide among
        ([20, 20], []),
    ],
)
def test_the_few_hide_among_others_or_nothing_is_drawn(counts, named):
    codes = np.repeat(np.arange(len(counts)), counts).astype(float)
    column = Coded("x", Nominal(), Cells(codes), tuple("abcde"[: len(counts)]))
    bars = _public_bars(column, [], 30)
    assert [bar.label for bar in bars if bar.of == "category"] == named
    left = sum(counts) - sum(counts["abcde".index(name)] for name in named)
    assert [bar.after for bar in bars if bar.of == "others"] == (
        [round(100 * left / sum(counts))] if named and left else []
    )
    levels = Coded("x", Ordinal(len(counts)), Cells(codes[::-1].copy()), column.shown)
    assert [bar.label for bar in _public_bars(levels, [], 30) if bar.of == "category"] == sorted(named)


def test_a_column_of_dates_none_of_which_is_released_is_drawn_as_nothing_but_missing():
    rng = np.random.default_rng(0)
    born = [dt.date(1990, 1, 1) if j < 2 else None for j in range(60)]
    release = ma.protect(pa.table({"a": rng.normal(size=60), "born": pa.array(born, pa.date32())}), 5)
    assert release.data["born"].null_count == 60
    one = judge(release).distributions[1]
    assert [(bar.of, round(bar.before, 2), bar.after) for bar in one.bars] == [("missing", 96.67, 100.0)]


@pytest.mark.parametrize(("unit", "low", "high"), [("us", -(2.0**63), 1e18), ("s", -1e18, 2.0**63), ("s", 0.0, 3e9)])
def test_an_axis_of_moments_has_few_bins_however_far_they_reach(unit, low, high):
    edges, marks = _cut_of_calendar(unit, _day)(low, high, 20, whole=True)
    assert 2 < len(edges) == len(marks) <= 50
    assert (np.diff(edges) > 0).all()


def test_moments_that_python_has_no_words_for_are_masked_as_categories():
    moments = pa.array([2**62, 2**62 + 1, -(2**62)] * 6, pa.timestamp("us"))
    release = ma.protect(pa.table({"when": moments}), 3, kinds={"when": "nominal"})
    assert judge(release).groups.records == 18


@pytest.mark.parametrize("high", [5e-324, 1e-323, np.nextafter(1.0, 2.0)])
def test_values_too_near_to_each_other_to_cut_are_drawn(high):
    low = 0.0 if high < 1 else 1.0
    frame = pd.DataFrame({"a": [low] * 20 + [high] * 20})
    page = render(build(ma.protect(frame, 3)))
    assert "<svg" in page
