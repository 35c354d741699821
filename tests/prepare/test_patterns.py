"""Pieces by what records lack, against the definition."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from microagg.columns.patterns import find_patterns
from microagg.columns.table import Table
from tests.kinds.columns import coded, columns
from tests.reference import mixed


@given(st.data(), st.integers(2, 6), st.booleans())
def test_pieces_are_those_of_the_definition(data, k, by_value):
    n = data.draw(st.integers(1, 40))
    drawn = data.draw(st.lists(columns(n, kinds=("number",)), min_size=1, max_size=4))
    strata = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    numbered = np.unique(strata, return_inverse=True)[1].astype(np.int64)
    table = Table(tuple(coded(j, *one) for j, one in enumerate(drawn)))
    found = find_patterns(table, numbered, k, by_value=by_value)
    expected = mixed.pieces([cells for _, cells in drawn], strata, k, by_value)
    names = {}
    assert [names.setdefault(piece, own) for piece, own in zip(expected, found.pieces, strict=True)] == list(
        found.pieces
    )
    assert len(names) == found.pieces.max() + 1


def test_rare_patterns_join_the_nearest_with_records_enough():
    gone = ("missing", 1)
    a = [1.0] * 6 + [gone] * 5 + [gone]
    b = [1.0] * 6 + [1.0] * 5 + [gone]
    table = Table((coded("a", "number", a), coded("b", "number", b)))
    found = find_patterns(table, np.zeros(12, dtype=np.int64), 3)
    assert (found.n_patterns, found.n_moved) == (3, 1)
    assert found.pieces.tolist() == [0] * 6 + [1] * 6


def test_where_no_pattern_has_k_records_the_stratum_is_one_piece():
    gone = ("missing", 1)
    table = Table((coded("a", "number", [1.0, gone, 1.0]), coded("b", "number", [1.0, 1.0, gone])))
    found = find_patterns(table, np.zeros(3, dtype=np.int64), 2)
    assert found.pieces.tolist() == [0, 0, 0]
    assert found.n_patterns == 3


def test_of_two_patterns_as_near_the_first_row_decides_or_what_they_lack():
    gone = ("missing", 1)
    a = [gone] * 3 + [1.0] * 3 + [gone]
    b = [1.0] * 3 + [gone] * 3 + [gone]
    table = Table((coded("a", "number", a), coded("b", "number", b)))
    strata = np.zeros(7, dtype=np.int64)
    backwards = np.arange(7)[::-1]
    for by_value, expected in ((False, [0, 3]), (True, [3, 3])):
        one = find_patterns(table, strata, 3, by_value=by_value).pieces
        two = find_patterns(table.take(backwards), strata, 3, by_value=by_value).pieces[::-1]
        assert one[0] != one[3]
        assert two[0] != two[3]
        assert [int(own[6] == own[3]) * 3 for own in (one, two)] == expected
