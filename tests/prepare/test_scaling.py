import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from microagg.algorithms.scores import standard_scores
from microagg.columns.embedding import embed
from microagg.columns.table import Table


def scale_columns(columns, scale):
    return embed(Table.of_numbers(range(len(columns)), columns), scale).coordinates


def naive_scores(values):
    n = len(values)
    mean = math.fsum(values) / n
    deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in values) / n)
    return [(x - mean) / deviation for x in values]


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40).filter(lambda v: max(v) - min(v) > 1e-3))
def test_scores_are_the_definition_to_the_last_bit(values):
    assert standard_scores(np.array([values]))[0].tolist() == naive_scores(values)


def test_row_order_does_not_matter():
    rng = np.random.default_rng(0)
    column = rng.lognormal(size=1000)
    order = rng.permutation(1000)
    assert_array_equal(standard_scores(column[None, order])[0], standard_scores(column[None])[0, order])


@pytest.mark.parametrize("power", [-1030, -600, 600, 1000])
def test_extreme_magnitudes_give_the_same_scores(power):
    column = np.random.default_rng(0).standard_normal((1, 100))
    column = column if power > -1000 else np.round(column, 2)
    assert_allclose(
        standard_scores(np.ldexp(column, power)), standard_scores(column), atol=1e-9 if power < -1000 else 0
    )


def test_noise_on_a_large_offset_is_not_taken_for_a_constant():
    noise = np.random.default_rng(0).integers(0, 8, 100) / 8
    assert_allclose(standard_scores((1e9 + noise)[None]), standard_scores(noise[None]), atol=1e-6)


def test_constant_column_becomes_zeros():
    columns = np.array([[0.1] * 7, [1e300] * 7])
    for scale in ("standard", "range"):
        assert_array_equal(scale_columns(columns, scale), np.zeros((2, 7)))
    assert_array_equal(standard_scores(columns), np.zeros((2, 7)))


def test_range_and_none():
    columns = np.array([[1.0, 2.0, 5.0], [-1.7e308, 0.0, 1.7e308]])
    assert_allclose(scale_columns(columns, "range"), [[0, 0.25, 1], [0, 0.5, 1]])
    assert_array_equal(scale_columns(columns, "none"), columns)
