"""What recoding refuses: before any data is seen, and without showing a cell of it."""

import datetime as dt

import pandas as pd
import pyarrow as pa
import pytest

from microagg.columns.recoding import Recoding
from microagg.errors import InvalidData, InvalidParameter, RoleError

WRONG = {
    "no mapping": (5, "is not a rule"),
    "an unknown word": ({"widht": 5}, "Did you mean 'width'"),
    "nothing": ({}, "it has no rule"),
    "only how": ({"as": "label"}, "it has no rule"),
    "a start alone": ({"start": 5}, "it has no rule"),
    "no width": ({"width": 0}, "above 0"),
    "a width below 0": ({"width": -2.5}, "above 0"),
    "a width of text": ({"width": "5"}, "not known"),
    "an unknown period": ({"width": "years"}, "Did you mean 'year'"),
    "a width that is true": ({"width": True}, "must be a number"),
    "an endless width": ({"width": float("inf")}, "must be a number"),
    "a third": ({"width": 1 / 3}, "decimal places"),
    "beyond float64": ({"top": 2**60}, "beyond"),
    "a width and cuts": ({"width": 5, "cuts": [1]}, "not both"),
    "a start of years": ({"width": "year", "start": "2020-02-01"}, "Leave it out"),
    "a start of cuts": ({"cuts": [1], "start": 5}, "Leave it out"),
    "a way without classes": ({"top": 5, "as": "label"}, "goes with classes"),
    "an unknown way": ({"width": 5, "as": "midle"}, "Did you mean 'middle'"),
    "no cuts": ({"cuts": []}, "one at least"),
    "cuts of text": ({"cuts": "1,2"}, "must be a list"),
    "cuts that fall": ({"cuts": [1, 3, 2]}, "3, 2 do not rise"),
    "a cut twice": ({"cuts": [1, 1]}, "do not rise"),
    "mixed cuts": ({"cuts": [1, "2020-01-01"]}, "some cuts are numbers and some are dates"),
    "a date that is none": ({"top": "2020-02-30"}, "is not a date"),
    "a time": ({"top": dt.datetime(2020, 1, 1)}, "is a time"),
    "a number of years": ({"width": "year", "top": 2020}, "it is for dates, but some of its limits are numbers"),
    "broken days": ({"width": 1.5, "top": "2020-01-01"}, "whole number of days"),
    "a top below the bottom": ({"top": 1, "bottom": 2}, "top=1 is below bottom=2"),
    "a bottom above a cut": ({"cuts": [1, 5], "bottom": 2}, "above the first cut"),
    "a top below a cut": ({"cuts": [1, 5], "top": 2}, "below the last cut"),
    "no middle": ({"cuts": [1, 5], "as": "middle"}, "no middle"),
    "join with more": ({"join": {"a": ["b"]}, "top": 5}, "together with top"),
    "an empty join": ({"join": {}}, "must say new categories"),
    "an empty group": ({"join": {"a": []}}, "one at least"),
    "a group of text": ({"join": {"a": "bc"}}, "a list of values"),
    "one value in two groups": ({"join": {"a": ["x", "y"], "b": ["y"]}}, "more than once: 'y'"),
    "a new one twice": ({"join": {"1": ["x"], 1: ["y"]}}, "twice"),
    "no name": ({"join": {"": ["x"]}}, "a text or a whole number"),
    "a broken code": ({"join": {"a": [1.5]}}, "a text or a whole number"),
    "no table": ({"join": "nowhere.csv"}, "cannot be read"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_meant_is_refused_before_any_data_is_seen(case):
    said, words = WRONG[case]
    with pytest.raises(InvalidParameter, match="column 'x'") as raised:
        Recoding.of({"x": said})
    assert words in str(raised.value)
    assert raised.value.parameter == "recode"
    assert raised.value.columns == ("x",)


def test_a_recoding_of_nothing_is_refused():
    with pytest.raises(InvalidParameter, match="recode is a list") as raised:
        Recoding.of(["x"])
    assert raised.value.parameter == "recode"


@pytest.mark.parametrize("content", ["", "new,old\n1,2\n", "old,new\n1\n", "old,new\n,2\n", b"\xff"])
def test_a_table_of_categories_that_is_none_is_refused(tmp_path, content):
    (tmp_path / "t.csv").write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InvalidParameter, match=r"'t\.csv'") as raised:
        Recoding.of({"x": {"join": "t.csv"}}, tmp_path)
    assert raised.value.columns == ("x",)


MISFITS = {
    "classes of text": (["secret"], {"width": 5}, "it holds text"),
    "classes of truth": ([True], {"width": 5}, "neither numbers nor dates"),
    "limits of categories": (pa.array(["secret"]).dictionary_encode(), {"top": 5}, "it holds categories"),
    "years of numbers": ([4242], {"width": "year"}, "it holds numbers"),
    "numbers of dates": ([dt.date(4242, 1, 1)], {"top": 5}, "it holds dates"),
    "broken days": ([dt.date(4242, 1, 1)], {"width": 1.5}, "it holds dates"),
    "fractions of whole numbers": ([4242], {"width": 2.5}, "whole numbers"),
    "a limit beyond the type": (pa.array([42], pa.int8()), {"bottom": 1000}, "int8 has no value"),
    "a class beyond the type": (pa.array([-42], pa.int8()), {"width": 1000}, "int8 has no value"),
    "a day beyond the type": (pa.array([4242], pa.timestamp("ns")), {"top": "1500-01-01"}, "has no value"),
    "values that are not there": (["secret"], {"join": {"a": ["x", "y"]}}, "2 of 2 values to join are not in the file"),
    "codes that are not there": ([4242], {"join": {"1": ["007", "x"]}}, "2 of 2 values"),
    "one number twice": ([4242.0], {"join": {"1": ["7"], "2": ["7.0"]}}, "in two ways"),
    "joined dates": ([dt.date(4242, 1, 1)], {"join": {"a": ["b"]}}, "neither text nor numbers"),
}


@pytest.mark.parametrize("case", MISFITS)
def test_a_rule_that_does_not_fit_its_column_is_refused_without_showing_a_cell(case):
    values, said, words = MISFITS[case]
    with pytest.raises(InvalidParameter) as raised:
        Recoding.of({"x": said}).apply(pa.table({"x": values}))
    assert words in str(raised.value)
    assert "secret" not in str(raised.value)
    assert "42" not in str(raised.value)
    assert raised.value.columns == ("x",)


UNUSABLE = {
    "below the first cut": ([42, 43, 77], {"cuts": [50]}, "2 value(s) below the first cut"),
    "infinite": ([float("inf"), 42.0], {"width": 5}, "1 value(s) too large for its classes, or infinite"),
    "too fine": ([4.2e15], {"width": 0.001}, "1 value(s) too large"),
    "too long": ([2**63 - 42], {"width": 5}, "beyond 2**62"),
    "no dates": (["2020-02-30", "42", "2020-02-03"], {"width": "year"}, "2 value(s) that are not written like"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_cells_that_are_in_no_class_are_counted_and_not_shown(case):
    values, said, words = UNUSABLE[case]
    with pytest.raises(InvalidData) as raised:
        Recoding.of({"x": said}).apply(pa.table({"x": values}))
    assert words in str(raised.value)
    assert "42" not in str(raised.value)


def test_a_column_of_mixed_types_is_refused_without_showing_a_cell():
    with pytest.raises(InvalidData, match="mixes types") as raised:
        Recoding.of({"x": {"width": 5}}).apply(pd.DataFrame({"x": [4242, "secret"]}, dtype=object))
    assert "secret" not in str(raised.value)


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(RoleError, match="'y' in recode is not in the file") as raised:
        Recoding.of({"y": {"width": 5}}).apply(pa.table({"x": [1]}))
    assert raised.value.parameter == "recode"
