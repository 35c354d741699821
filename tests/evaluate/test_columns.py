"""What became of each column: equal to the letter's, whatever is missing."""

import numpy as np
import pytest
from hypothesis import strategies as st

from microagg.columns.kinds import Cells, Date, Nominal, Number, Ordinal, Semi, Taxonomy
from microagg.columns.table import Coded, Table
from microagg.measures.columns import change_of, changes_of, has_gaps
from tests.lengths import given_few
from tests.reference import columns as reference


def coded(kind, values):
    """Make a column of a list in which None is missing."""
    states = np.array([value is None for value in values], dtype=np.uint8)
    numbers = np.array([np.nan if value is None else value for value in values], dtype=float)
    return Coded("a", kind, Cells(numbers, states if states.any() else None))


@st.composite
def _columns(draw):
    n = draw(st.integers(4, 30))
    cells = st.one_of(st.none(), st.integers(0, 4))
    before = draw(st.lists(cells, min_size=n, max_size=n).filter(lambda own: len(set(own) - {None}) > 1))
    after = draw(st.lists(cells, min_size=n, max_size=n))
    labels = draw(st.lists(st.integers(0, n // 3), min_size=n, max_size=n))
    return before, after, np.unique(labels, return_inverse=True)[1].astype(np.int64)


@given_few(25, 200, _columns())
def test_every_kind_is_told_as_by_the_letter(columns):
    before, after, labels = columns
    nominal = change_of(coded(Nominal(), before), coded(Nominal(), after), labels)
    assert nominal.mismatches == pytest.approx(reference.mismatches(before, after))
    assert nominal.uncertainty == pytest.approx(reference.uncertainty(before, after), abs=1e-9)
    assert nominal.span == pytest.approx(reference.span_of_categories(before, labels.tolist()))
    assert nominal.filled == sum(one is None and other is not None for one, other in zip(before, after, strict=True))
    assert nominal.blanked == sum(one is not None and other is None for one, other in zip(before, after, strict=True))
    ordinal = change_of(coded(Ordinal(5), before), coded(Ordinal(5), after), labels)
    if any(one is not None and other is not None for one, other in zip(before, after, strict=True)):
        assert ordinal.levels == pytest.approx(reference.levels(before, after, 5))
    assert ordinal.span == pytest.approx(reference.span_by_order(before, labels.tolist()))
    assert ordinal.uncertainty == pytest.approx(nominal.uncertainty)
    semi = change_of(coded(Semi(0.0), before), coded(Semi(0.0), after), labels)
    assert semi.common_before == pytest.approx(100 * before.count(0) / len(before))
    assert semi.common_after == pytest.approx(100 * after.count(0) / len(before))
    date = change_of(coded(Date(), before), coded(Date(), after), labels)
    assert (date.mismatches, date.levels, date.common, date.total) == (None, None, None, None)
    assert date.span == semi.span == ordinal.span


def test_a_taxonomy_is_as_wide_as_the_lowest_ancestor():
    ancestors = {0: (0, 0), 1: (1, 0), 2: (2, 1), 3: (3, 1), 4: (4, 1)}
    kind = Taxonomy(tuple(zip(*ancestors.values(), strict=True)))
    values = [0, 0, 0, 1, 2, 4, 0, 3, 2, None]
    labels = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
    found = change_of(coded(kind, values), coded(kind, values), labels)
    assert found.span == pytest.approx(reference.span_by_taxonomy(values, labels.tolist(), ancestors))
    assert found.span == pytest.approx(100 * (0 + 2 * 2 / 5 + 2 * 3 / 5 + 2 + 2) / 10)


def test_totals_and_the_commonest_value_of_a_number():
    before, after = coded(Number(), [7, 7, 7, 5, 4]), coded(Number(), [7, 7, 6, 6, 5])
    found = change_of(before, after, np.zeros(5, dtype=np.int64))
    assert (found.common, found.common_before, found.common_after) == (7.0, 60.0, 40.0)
    assert found.total == pytest.approx(100 / 30)
    assert found.unknown == 40.0  # two sixes, which nobody had
    nothing = change_of(coded(Number(), [-1, 1]), coded(Number(), [0, 0]), np.zeros(2, dtype=np.int64))
    assert nothing.total is None
    large = np.array([-1.5e308, 1.7e308])
    wide = Coded("a", Number(), Cells(large))
    assert change_of(wide, wide, np.zeros(2, dtype=np.int64)).total == 0.0
    assert change_of(wide, wide, np.zeros(2, dtype=np.int64)).span == 100.0


@pytest.mark.parametrize(
    ("values", "gaps"),
    [
        ([1, 2, 3, 4], False),
        ([0, 10, 20, 30], False),  # amounts in tens
        ([110, 121, 253, 310, 741], True),
        ([1, 2, 3, 4, 5, 6, 7, 9], False),  # one that nobody has
        ([5, 10, *range(20, 46), 50, 60], False),  # hours: rare ones leave gaps, but fewer than half
        ([1, 2, 99], True),
        ([1, 9], False),  # two values have no gap
    ],
)
def test_codes_have_gaps(values, gaps):
    assert has_gaps(np.array(values, dtype=float)) is gaps
    column = coded(Number(), values * 4)
    assert change_of(column, column, np.zeros(len(values) * 4, dtype=np.int64)).coded is gaps
    semi = coded(Semi(float(values[0])), values * 4)
    assert not change_of(semi, semi, np.zeros(len(values) * 4, dtype=np.int64)).coded


def test_columns_with_groups_of_their_own_are_told_by_those():
    one = Coded("a", Number(), Cells(np.array([0.0, 1.0, 2.0, 4.0])))
    other = Coded("b", Number(), Cells(np.array([0.0, 1.0, 2.0, 4.0])))
    groups = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    found = changes_of(Table((one, other)), Table((one, other)), groups)
    assert found["a"].span == pytest.approx(100 * (2 * 1 / 4 + 2 * 2 / 4) / 4)
    assert found["b"].span == pytest.approx(100 * (2 * 2 / 4 + 2 * 3 / 4) / 4)
