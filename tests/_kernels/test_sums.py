import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from microagg.algorithms.kernels.sums import exact_digits, exact_sum, group_means, round_digits

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


@given(st.lists(finite, max_size=50))
def test_exact_sum_is_fsum(values):
    assert exact_sum(np.array(values)) == math.fsum(values)


@given(st.lists(finite, max_size=50), st.integers(0, 50))
def test_digits_of_chunks_add_up(values, cut):
    array = np.array(values)
    assert round_digits(exact_digits(array[:cut]) + exact_digits(array[cut:])) == math.fsum(values)


def test_subnormals_and_cancellation():
    tiny = np.array([5e-324, 1e308, -1e308, 5e-324, 2.5e-310])
    assert exact_sum(tiny) == math.fsum(tiny)


def test_means_keep_equal_values_to_the_last_bit():
    values = np.array([[0.1, 0.1, 0.1, 1e9 + 0.1, 1e9 + 0.1, 1e9 + 0.1]])
    labels = np.array([0, 0, 0, 1, 1, 1])
    assert group_means(values, labels, 2).tolist() == [[0.1, 1e9 + 0.1]]
