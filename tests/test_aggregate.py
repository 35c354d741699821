from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from microagg.columns.representatives import released_values


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(-1e6, 1e6)), min_size=1, max_size=40))
def test_mean_and_median_are_those_of_the_group(pairs):
    labels = np.unique([label for label, _ in pairs], return_inverse=True)[1]
    values = np.array([value for _, value in pairs])
    for how, function in (("mean", np.mean), ("median", np.median)):
        released = released_values(values[None], labels, how)[0]
        expected = [function(values[labels == label]) for label in labels]
        assert_allclose(released, expected, rtol=1e-12, atol=1e-9)
        assert all(np.unique(released[labels == label]).size == 1 for label in labels)


AMOUNTS = st.integers(-(10**9), 10**9)


@given(
    st.lists(AMOUNTS.map(lambda cents: cents / 100) | AMOUNTS.map(float) | st.floats(-1, 1, width=32), min_size=1),
    st.randoms(use_true_random=False),
)
def test_a_mean_tells_nothing_of_its_members_but_their_sum(values, random):
    """The last digits must not depend on who came first."""
    values = [value for value in values if value == 0 or abs(value) > 1e-9]
    labels = np.zeros(len(values), dtype=np.int64)
    for _ in range(3 if values else 0):
        released = released_values(np.array([values]), labels)[0, 0]
        assert released == float(sum(map(Fraction, values)) / len(values))
        random.shuffle(values)


@given(st.floats(-1e300, 1e300), st.integers(1, 40))
def test_equal_values_stay_what_they_are(value, size):
    assert (released_values(np.full((1, size), value), np.zeros(size, dtype=np.int64)) == value).all()


def test_the_largest_floats_do_not_overflow():
    values = np.array([[-1.7e308, 1.7e308, 1.7e308, 1.7e308]])
    assert_allclose(released_values(values, np.array([0, 0, 1, 1])), [[0, 0, 1.7e308, 1.7e308]])
    assert_allclose(released_values(values, np.array([0, 0, 1, 1]), "median"), [[0, 0, 1.7e308, 1.7e308]])


def test_each_column_may_have_groups_of_its_own():
    columns = np.array([[1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 4.0]])
    labels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert_array_equal(released_values(columns, labels), [[1.5, 1.5, 3.5, 3.5], [2, 3, 2, 3]])
