import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from microagg.evaluate.anonymity import fewest_sharing


@given(
    cells=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=30),
)
def test_it_counts_the_rarest_combination_of_values_and_stratum(cells):
    columns = np.array([[a, b] for a, b, _ in cells], dtype=float).T
    strata = np.array([s for _, _, s in cells])
    groups = np.unique(np.array(cells), axis=0, return_inverse=True)[1].ravel()
    assert fewest_sharing(columns, groups, strata) == min(cells.count(cell) for cell in cells)


def test_groups_that_came_out_alike_count_as_one():
    columns = np.array([[1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 2.0, 2.0]])
    groups = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    assert fewest_sharing(columns, groups, np.zeros(8, dtype=int)) == 4
    assert fewest_sharing(columns, groups, np.array([0, 0, 1, 1, 0, 0, 0, 0])) == 2


def test_a_group_whose_members_differ_shares_nothing():
    groups = np.array([0, 0, 1, 1])
    nowhere = np.zeros(4, dtype=int)
    assert fewest_sharing(np.array([[1.0, 1.5, 2.0, 2.0]]), groups, nowhere) == 0
    assert fewest_sharing(np.array([[1.0, 1.0, 2.0, 2.0]]), groups, np.array([0, 1, 0, 0])) == 0


def test_each_column_by_itself():
    columns = np.array([[1.0, 1.0, 1.0, 2.0, 2.0, 2.0], [5.0, 6.0, 5.0, 6.0, 5.0, 6.0]])
    groups = np.array([[0, 0], [0, 1], [0, 0], [1, 1], [1, 0], [1, 1]])
    assert fewest_sharing(columns, groups, np.zeros(6, dtype=int)) == 3
