import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from microagg.algorithms.units import Units
from microagg.columns.kinds import Cells, Number
from microagg.columns.table import Coded, Table, ordered_by_value
from tests.reference.order import in_order

CELLS = st.one_of(st.sampled_from([-0.0, 0.0, 1.0, 2.5]), st.none())
ROWS = st.lists(st.tuples(CELLS, CELLS, st.sampled_from([1.0, 2.0])), min_size=1, max_size=30)


def table_of(rows):
    """Give a table of the first two cells of each row, None where missing."""
    columns = []
    for j in range(2):
        own = [row[j] for row in rows]
        states = np.array([value is None for value in own], dtype=np.uint8)
        values = np.array([np.nan if value is None else value for value in own])
        columns.append(Coded(f"c{j}", Number(), Cells(values, states if states.any() else None)))
    return Table(tuple(columns))


def plain(rows):
    """Give rows as tuples that can be compared: what is missing comes first."""
    return [tuple(-np.inf if value is None else value + 0.0 for value in row) for row in rows]


@given(ROWS)
def test_records_come_by_their_values(rows):
    weights = np.array([row[2] for row in rows])
    found = ordered_by_value(table_of(rows), [weights])
    assert found.units is None
    assert found.rows.tolist() == in_order(plain(rows))[0]
    assert found.back(np.asarray(found.rows)).tolist() == list(range(len(rows)))


@given(ROWS, st.data())
def test_units_are_numbered_by_what_their_rows_hold(rows, data):
    units = data.draw(st.lists(st.integers(0, 8), min_size=len(rows), max_size=len(rows)))
    codes = np.unique(units, return_inverse=True)[1].astype(np.int64)
    found = ordered_by_value(table_of(rows), [np.array([row[2] for row in rows])], units=Units(codes))
    order, content = in_order(plain(rows), units)
    own = plain(rows)
    assert [(own[i], content[i]) for i in found.rows] == [(own[i], content[i]) for i in order]
    numbers = found.units.codes.tolist()
    assert len(set(zip(numbers, units, strict=True))) == len(set(numbers)) == len(set(units))
    by_number = [content[numbers.index(number)] for number in range(len(set(units)))]
    assert by_number == sorted(by_number)


@given(ROWS, st.data())
def test_a_unit_in_two_strata_counts_as_two(rows, data):
    units = data.draw(st.lists(st.integers(0, 4), min_size=len(rows), max_size=len(rows)))
    strata = data.draw(st.lists(st.integers(0, 2), min_size=len(rows), max_size=len(rows)))
    codes = np.unique(units, return_inverse=True)[1].astype(np.int64)
    found = ordered_by_value(table_of(rows), units=Units(codes), strata=np.array(strata, dtype=np.int64))
    pairs = list(zip(strata, units, strict=True))
    assert len(set(zip(found.units.codes.tolist(), pairs, strict=True))) == len(set(pairs))
    assert found.units.n_units == len(set(pairs))
