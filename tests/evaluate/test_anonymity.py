import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg as ma
from microagg.columns.kinds import Cells, Number
from microagg.columns.table import Coded, Table
from microagg.errors import InputError
from microagg.measures import anonymity
from microagg.work import Work
from tests.reference.alike import fewest_alike

CELLS = st.sampled_from([0.0, -0.0, 1.0, 1.5, float("nan")])


def fewest_sharing(columns, strata, **how):
    table = Table(tuple(Coded(j, Number(), cells_of(column)) for j, column in enumerate(columns)))
    return anonymity.fewest_sharing(table, strata, **how)


def cells_of(column):
    missing = np.isnan(column)
    return Cells(column, missing.astype(np.uint8) if missing.any() else None)


@given(
    st.lists(st.tuples(CELLS, CELLS, st.integers(0, 1)), min_size=1, max_size=30), st.integers(1, 3), st.integers(1, 4)
)
def test_it_counts_the_rarest_combination_of_values_and_stratum(cells, n_jobs, copies):
    groups = np.repeat(np.arange(len(cells)), copies)  # members are alike
    cells = [cell for cell in cells for _ in range(copies)]
    first, second, strata = (list(column) for column in zip(*cells, strict=True))
    columns, numbers = np.array([first, second]), np.array(strata)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("microagg.measures.anonymity._PART", 7)
        fewest = fewest_alike([first, second, strata])
        assert fewest_sharing(columns, numbers, work=Work(n_jobs)) == fewest
        assert fewest_sharing(columns, numbers, groups=groups, work=Work(n_jobs)) == fewest
        not_alike = np.arange(groups.size) % 2 % max(1, groups.size - 1)
        assert fewest_sharing(columns, numbers, groups=not_alike, work=Work(n_jobs)) == fewest
        each = min(fewest_alike([first, strata]), fewest_alike([second, strata]))
        assert fewest_sharing(columns, numbers, per_column=True, work=Work(n_jobs)) == each


def test_groups_that_came_out_alike_count_as_one():
    columns = np.array([[1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]])
    assert fewest_sharing(columns, np.zeros(8, dtype=int)) == 4
    assert fewest_sharing(columns, np.array([0, 0, 1, 1, 0, 0, 0, 0])) == 2


def test_a_missing_value_is_like_another():
    assert fewest_sharing(np.array([[1.0, 1.0, np.nan, np.nan]]), np.zeros(4, dtype=int)) == 2


def test_each_column_by_itself():
    columns = np.array([[1.0, 1.0, 1.0, 2.0, 2.0, 2.0], [5.0, 6.0, 5.0, 6.0, 5.0, 6.0]])
    assert fewest_sharing(columns, np.zeros(6, dtype=int), per_column=True) == 3


GOLDEN = json.loads((Path(__file__).parent / "golden" / "pycanon.json").read_text())


@pytest.mark.parametrize("number", range(100))
def test_k_l_and_t_are_those_of_an_independent_judge(number):
    case = GOLDEN["cases"][number]
    table = pa.table(case["frame"])
    keys = [name for name in table.column_names if name.startswith("key")]
    found = ma.anonymity(table, keys, confidential=["amount", "illness"])
    answers = case["answers"]
    assert found.k == answers["k"]
    for column, t in (("amount", "t_ordered"), ("illness", "t")):
        own = found.diversity[column]
        assert own.distinct == answers[column]["l"]
        assert answers[column]["entropy_l"] in (int(own.entropy + 1e-9), int(own.entropy - 1e-9))  # it cuts decimals
        assert getattr(own, t) == pytest.approx(answers[column]["t"], abs=1e-12)
    assert np.isnan(found.diversity["illness"].t_ordered)


def test_unique_records_and_combinations_are_counted():
    found = ma.anonymity(pa.table({"a": [1, 1, 2, 3], "b": ["x", "x", "x", "y"]}))
    assert (found.k, found.n_unique, found.n_combinations, found.n_records) == (1, 2, 3, 4)
    assert found.measures[1].value == 50.0
    assert "unique" in repr(found)
    assert "unique" in found._repr_html_()


def test_a_confidential_column_that_never_varies():
    own = ma.anonymity(pa.table({"a": [1, 1, 2, 2], "b": [7, 7, 7, 7]}), ["a"], confidential=["b"]).diversity["b"]
    assert (own.distinct, own.entropy, own.t, own.t_ordered) == (1, 1.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keys": ["c"]}, "'c' is not among the columns of the file"),
        ({"keys": ["a"], "confidential": ["a"]}, "is a key and confidential"),
        ({"confidential": ["a", "b"]}, "no key is left"),
        ({"keys": ["a", "a"]}, "names a column twice"),
    ],
)
def test_bad_names_are_told(options, message):
    with pytest.raises(InputError, match=message):
        ma.anonymity(pa.table({"a": [1, 2], "b": [1, 2]}), **options)


def test_large_integers_dates_and_negative_zero():
    big = [2**60, 2**60 + 1, 2**60 + 2, 2**60 + 3]
    days = pa.array([0, 10, 20, 30], pa.date32())
    table = pa.table({"key": [0.0, -0.0, 1.0, 1.0], "big": big, "day": days, "gap": [1, None, 2, 3]})
    found = ma.anonymity(table, ["key"], confidential=["big", "day", "gap"])
    assert found.k == 2
    assert found.diversity["big"].distinct == 2
    assert found.diversity["big"].t_ordered == found.diversity["day"].t_ordered == pytest.approx(1 / 3)
    assert np.isnan(found.diversity["gap"].t_ordered)
