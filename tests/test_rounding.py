"""Rounding of released means."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from microagg.columns.kinds import Cells, Number, Semi
from microagg.columns.rounding import common_power_of_ten, round_means, to_power_of_ten
from microagg.columns.table import Coded, Table
from tests.reference import mixed


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=20), st.integers(-4, 3))
def test_the_step_is_the_largest_power_of_ten_that_divides_every_value(whole, power):
    values = [mixed.rounded(number * 10.0**power, power) for number in whole]
    assume(any(values))
    assert common_power_of_ten(np.array(values)) == mixed.common_step(values)


@given(st.floats(-1e9, 1e9), st.integers(-6, 4))
def test_rounding_gives_the_float_nearest_to_the_decimal_number(value, power):
    found = to_power_of_ten(np.array([value]), power)[0]
    assert found == pytest.approx(mixed.rounded(value, power), abs=1.0001 * 10.0**power * (abs(value) > 0))
    assert found == mixed.rounded(found, power)


def test_values_without_a_common_step_keep_six_digits_of_their_deviation():
    values = np.random.default_rng(0).standard_normal(100) / 3 * 1e4
    assert common_power_of_ten(values) == -2


def table_of(kind, values):
    return Table((Coded("x", kind, Cells(np.array(values))),))


def test_whole_numbers_stay_whole_and_totals_are_reported():
    labels = np.array([0, 0, 0, 1, 1, 1])
    original, groups = table_of(Number(), [1.0, 2, 2, 5, 5, 6]), table_of(Number(), [5 / 3, 16 / 3])
    released, rounded = round_means(original, groups, labels, "auto")
    assert released.columns[0].values.tolist() == [2, 2, 2, 5, 5, 5]
    assert rounded["x"].step == 1
    assert rounded["x"].moved == pytest.approx(0.0)


def test_a_mean_off_the_spike_never_rounds_onto_it():
    labels = np.array([0, 0, 0, 0, 0])
    original = table_of(Semi(0.0), [0.0, 0, 0, 0, 1])
    released, _ = round_means(original, table_of(Semi(0.0), [0.2]), labels, "auto")
    assert released.columns[0].values.tolist() == [1] * 5
    released, _ = round_means(original, table_of(Semi(0.0), [-0.2]), labels, "auto")
    assert released.columns[0].values.tolist() == [-1] * 5


def test_a_step_may_be_named_and_none_leaves_means_as_they_are():
    labels = np.array([0, 0])
    original, groups = table_of(Number(), [1.25, 2.5]), table_of(Number(), [1.875])
    assert round_means(original, groups, labels, {"x": 0.1})[0].columns[0].values[0] == 1.9
    unchanged, rounded = round_means(original, groups, labels, "none")
    assert unchanged.columns[0].values[0] == 1.875
    assert rounded == {}


@pytest.mark.parametrize(
    ("reserved", "mean", "expected"),
    [
        ([(97.0, 97.0)], 97.0, 96.0),
        ([(97.0, 99.0)], 98.0, 96.0),
        ([(97.0, 98.0), (95.0, 96.0)], 97.0, 99.0),
        ([(-np.inf, 97.0)], 3.0, 98.0),
        ([(99.0, 99.0)], 97.0, 97.0),
    ],
)
def test_a_mean_never_falls_on_what_stands_for_missing(reserved, mean, expected):
    values = [mean - 5.0, mean + 5.0]
    original = Table((Coded("x", Number(), Cells(np.array(values)), reserved=tuple(reserved)),))
    groups = Table((original.columns[0].with_cells(Cells(np.array([mean]))),))
    released, _ = round_means(original, groups, np.array([0, 0]), "auto")
    assert released.columns[0].values.tolist() == [expected] * 2
    released, _ = round_means(original, groups, np.array([0, 0]), "none")
    value = released.columns[0].values[0]
    assert not any(low <= value <= high for low, high in reserved)
    nearest = min((abs(mean - edge) for own in reserved for edge in own if own[0] <= mean <= own[1]), default=0.0)
    assert abs(value - mean) <= nearest + 2.0  # two ranges that touch are passed together


def test_a_mean_moved_off_a_code_is_not_moved_onto_the_spike():
    column = Coded("x", Semi(0.0), Cells(np.array([0.0, 0, -4, 2])), reserved=((-1.0, -1.0),))
    groups = Table((column.with_cells(Cells(np.array([-0.9]))),))
    released, _ = round_means(Table((column,)), groups, np.zeros(4, dtype=np.int64), "auto")
    assert released.columns[0].values.tolist() == [-2.0] * 4
