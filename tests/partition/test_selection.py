import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg.algorithms.selection import choose_columns, select_columns
from microagg.columns import dependence as dependences
from microagg.columns.table import Table
from microagg.errors import InvalidParameter
from tests.reference import dependence as oracle


def dependence(columns, *how, **more):
    return dependences.dependence(Table.of_numbers(range(len(columns)), columns), *how, **more)


BITS = np.random.default_rng(0).integers(0, 2, (3, 400))
STAR = np.array([BITS[0], BITS[0] + 2 * BITS[1] + 4 * BITS[2], BITS[1], BITS[2]], dtype=float)
"""Four columns of which the second tells all about the others."""


@st.composite
def trees(draw):
    """The degrees of a random tree of 3 to 9 columns."""
    d = draw(st.integers(3, 9))
    return oracle.degrees([(draw(st.integers(0, j - 1)), j) for j in range(1, d)], d)


@settings(max_examples=200)
@given(degree=trees(), data=st.data())
def test_all_tied_choices_are_listed_and_the_first_takes_the_first_columns(degree, data):
    count = data.draw(st.integers(1, len(degree)))
    ways, n_ways = choose_columns(np.array(degree), "degree", count)
    assert {frozenset(way) for way in ways} == oracle.choices(degree, count)
    assert n_ways == len(ways)
    assert sum(ways[0]) == min(sum(way) for way in ways)


@settings(max_examples=200)
@given(degree=trees())
def test_the_cover_has_two_columns_to_half_of_them(degree):
    ways, _ = choose_columns(np.array(degree), "cover")
    assert 2 <= len(ways[0]) <= -(-len(degree) // 2)
    assert len(ways[0]) == oracle.cover_size(degree)
    assert {frozenset(way) for way in ways} == oracle.choices(degree, len(ways[0]))


def test_one_and_two_columns_cover_themselves():
    assert choose_columns(np.array([0]), "cover")[0] == ((0,),)
    assert choose_columns(np.array([1, 1]), "cover")[0] == ((0, 1),)


def test_a_selection_names_columns_and_says_why():
    tree = dependence(STAR)
    found = select_columns(["a", "b", "c", "d"], tree, "degree", 2)
    assert found.columns == ("b", "a")
    assert found.alternatives == (("b", "a"), ("b", "c"), ("b", "d"))
    assert dict(found.degrees) == {"a": 1, "b": 3, "c": 1, "d": 1}
    assert repr(found) == "Selection: b, a (the most edges of the dependence tree: 3, 1; 3 choices tie)"
    assert repr(pickle.loads(pickle.dumps(found))) == repr(found)
    covered = select_columns(["a", "b", "c", "d"], tree, "cover")
    assert covered.columns == ("b", "a")
    assert "add up to the 4 columns" in covered.reason


def test_very_many_ties_are_counted_and_listed_in_part():
    ways, n_ways = choose_columns(np.ones(60, dtype=int), "degree", 5)
    assert n_ways == 5_461_512
    assert len(ways) == 10_000


def test_columns_of_one_value_come_last_and_do_not_count():
    silent = np.array([True, False, False, True])
    assert choose_columns(np.array([0, 1, 1, 0]), "cover", silent=silent)[0] == ((1, 2),)
    assert choose_columns(np.array([0, 1, 1, 0]), "degree", 3, silent)[0] == ((1, 2, 0), (1, 2, 3))
    assert choose_columns(np.array([0, 0, 0]), "cover", silent=np.array([True, True, False]))[0] == ((2,),)
    assert choose_columns(np.array([0, 0]), "cover", silent=np.array([True, True]))[0] == ((0,), (1,))


def test_a_count_does_not_go_with_a_cover():
    with pytest.raises(InvalidParameter, match="count goes with rule='degree'"):
        choose_columns(np.array([1, 1]), "cover", 1)


@pytest.mark.parametrize("count", [0, 5, 2.0, True])
def test_bad_counts_are_named(count):
    with pytest.raises(InvalidParameter, match="count"):
        choose_columns(np.array([1, 3, 1, 1]), "degree", count)
