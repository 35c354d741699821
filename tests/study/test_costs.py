import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import microagg as ma
from microagg.errors import InvalidParameter
from microagg.files.sources import read_source
from microagg.study.costs import ColumnCost, ColumnCosts, column_costs, costs_in_words

RNG = np.random.default_rng(3)
N = 400
BASE = RNG.normal(size=N)
TABLE = pa.table(
    {
        "a": BASE + 0.1 * RNG.normal(size=N),
        "b": BASE + 0.1 * RNG.normal(size=N),
        "c": BASE + 0.1 * RNG.normal(size=N),
        "noise": RNG.normal(size=N),
        "place": np.arange(N) % 4,
    }
)
RECIPE = ma.Recipe.of(5, quasi=["a", "b", "c", "noise"], strata=["place"])


def test_what_is_unlike_the_others_costs_them_most():
    found = column_costs(TABLE, RECIPE)
    assert [one.name for one in found.columns] == ["a", "b", "c", "noise"]
    by_name = {one.name: one for one in found.columns}
    assert max(found.columns, key=lambda one: one.ratio).name == "noise"
    assert by_name["noise"].ratio > 1.5
    assert found.sampled == N
    assert "noise" in found.dearest
    assert found.without_them < found.with_them


def test_costs_are_those_of_two_releases():
    found = column_costs(TABLE, RECIPE).columns[3]
    both = ma.protect(TABLE, recipe=RECIPE).information.per_column
    without = ma.protect(TABLE, 5, quasi=["a", "b", "c"], strata=["place"], drop=["noise"]).information.per_column
    assert found.with_it == pytest.approx(np.mean([both[name] for name in "abc"]))
    assert found.without_it == pytest.approx(np.mean([without[name] for name in "abc"]))
    assert found.ratio == pytest.approx(found.with_it / found.without_it)


def test_a_sample_of_a_file_leaves_small_strata_aside(tmp_path):
    table = TABLE.set_column(4, "place", pa.array(["rare"] * 15 + ["usual"] * (N - 15)))
    pyarrow.csv.write_csv(table, tmp_path / "t.csv")
    source = read_source(tmp_path / "t.csv")
    found = column_costs(source, RECIPE, sample=100, seed=1)
    assert 80 <= found.sampled < 100
    assert found == column_costs(source, RECIPE, sample=100, seed=1)
    assert found.columns != column_costs(source, RECIPE, sample=100, seed=2).columns


def test_progress_is_told_and_stops_the_work():
    told = []
    column_costs(TABLE, RECIPE, sample=60, progress=lambda done, in_all: told.append((done, in_all)))
    assert told == [(i, 6) for i in range(1, 7)]

    def stop(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        column_costs(TABLE, RECIPE, progress=stop)


@pytest.mark.parametrize("recipe", [ma.Recipe(3), ma.Recipe.of(3, quasi=["a"], rest="drop")])
def test_one_column_has_no_others(recipe):
    with pytest.raises(InvalidParameter, match="at least two"):
        column_costs(TABLE, recipe)


def test_words():
    few = ColumnCosts((ColumnCost("a", 2.0, 1.9), ColumnCost("b", 2.0, 2.0)), 100, ("a",), 2.0, 1.9)
    assert costs_in_words(few) == "2 columns are masked."
    many = ColumnCosts(tuple(ColumnCost(f"v{i}", 10.2, 9.0) for i in range(24)), 2000, ("v1", "v2"), 10.2, 6.1)
    said = costs_in_words(many, str.upper)
    assert said.startswith("24 columns are masked. Without V1, V2 the loss of the others falls from 10.2 to 6.1 %")
    assert "on 2000 records" in said
    assert "The more columns are masked together, the more each of them loses" in said


def test_ratios_at_the_edges():
    assert ColumnCost("a", 0.0, 0.0).ratio == 1.0
    assert ColumnCost("a", 1.0, 0.0).ratio == float("inf")


def test_a_column_whose_categories_are_rare_in_the_sample_is_left_aside():
    n = 6000
    town = [f"town {i % 800}" for i in np.random.default_rng(0).permutation(n)]
    table = pa.table({"a": np.arange(n) % 71, "b": np.arange(n) % 89, "town": town})
    recipe = ma.Recipe.of(5, quasi=["a", "b", "town"])
    assert ma.protect(table, recipe=recipe).k_achieved >= 5
    found = column_costs(table, recipe, sample=500)
    assert found.left_aside == ("town",)
    assert [one.name for one in found.columns] == ["a", "b"]
    assert costs_in_words(found).startswith("3 columns are masked.")
