import copy
import math
import pickle
import warnings
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microagg as ma
from microagg.columns.table import Table
from microagg.measures import utility
from tests.reference.risk import five_measures

VALUES = [st.integers(-3, 3).map(float), st.floats(-100, 100).map(lambda x: round(x, 1)), st.just(5.0), st.just(0.0)]


def measure_loss(original, masked, names):
    return utility.measure_loss(Table.of_numbers(names, original), Table.of_numbers(names, masked))


@st.composite
def pairs(draw):
    """Two files of 2 to 12 records and 1 to 4 columns: zeros, negatives, constants; some columns unchanged."""
    n, d = draw(st.integers(2, 12)), draw(st.integers(1, 4))
    original, masked = [], []
    for _ in range(d):
        kind = draw(st.sampled_from(VALUES))
        column = draw(st.lists(kind, min_size=n, max_size=n))
        original.append(column)
        masked.append(column if draw(st.booleans()) else draw(st.lists(kind, min_size=n, max_size=n)))
    return np.array(original), np.array(masked)


@settings(max_examples=200)
@given(files=pairs())
def test_m1_to_m5_are_those_of_the_oracle(files):
    original, masked = files
    found = measure_loss(original, masked, range(len(original)))
    expected = five_measures(original.tolist(), masked.tolist())
    assert (found.m1, found.m2, found.m3, found.m4, found.m5) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert found.g_il == pytest.approx(20 * sum(expected), rel=1e-6, abs=1e-7)


@settings(max_examples=50)
@given(files=pairs(), power=st.sampled_from([-900, -300, 300, 900]))
def test_the_magnitude_of_a_column_does_not_matter(files, power):
    original, masked = files
    plain = measure_loss(original, masked, range(len(original)))
    scaled = measure_loss(np.ldexp(original, power), np.ldexp(masked, power), range(len(original)))
    assert [m.value for m in scaled.measures] == pytest.approx([m.value for m in plain.measures], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("near_nothing", "large"), [(1e-300, 1e8), (1e-300, 4e7)])
def test_a_change_beyond_float64_is_infinite(near_nothing, large):
    original = np.array([[near_nothing] * 6 + [large] * 6])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = measure_loss(original, np.full((1, 12), large), ["a"])
    assert found.m1 == math.inf
    assert math.isfinite(found.m2)


def test_scores_beyond_float64_are_infinite_and_not_an_error():
    original = np.array([[5e-324] * 6 + [1e-323] * 6])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = measure_loss(original, np.full((1, 12), 1e10), ["a"])
    assert found.il1s == math.inf


@pytest.mark.casc
@pytest.mark.parametrize(
    ("method", "expected"), [("cbfs", (28.609, 33.254, 38.672)), ("iamat", (22.151, 30.313, 34.961))]
)
def test_the_overall_loss_on_census(method, expected):
    table = ma.datasets.load("census")
    for k, value in zip((3, 4, 5), expected, strict=True):
        masked = ma.protect(table, k, method=method, rounding="none").data
        assert ma.loss_measures(table, masked).g_il == pytest.approx(value, abs=5e-4)


def test_differences_are_told_for_each_column():
    original = np.array([[1.0, 10.0], [3.0, 10.0], [5.0, 40.0], [7.0, 40.0]])
    masked = np.array([[2.0, 10.0], [2.0, 10.0], [6.0, 40.0], [6.0, 40.0]])
    found = ma.loss_measures(original, masked)
    deviation = original[:, 0].std()
    assert found.means[0] == pytest.approx(0.0)
    assert found.deviations[0] == pytest.approx(masked[:, 0].std() / deviation - 1)
    assert found.quantiles[0][4] == pytest.approx(0.0)
    assert found.quantiles[1] == pytest.approx([0.0] * 9)
    expected = np.corrcoef(masked.T)[0, 1] - np.corrcoef(original.T)[0, 1]
    assert found.correlations[0, 1] == pytest.approx(expected)
    assert found.per_column[1] == 0.0
    assert found.percent == pytest.approx(100 * 4 / deviation**2 / 8)
    assert found.il1s == pytest.approx(4 / deviation / np.sqrt(2) / 8)


def test_identical_files_lose_nothing():
    X = np.random.default_rng(0).normal(size=(50, 3))
    found = ma.loss_measures(X, X)
    assert [measure.value for measure in found.measures] == [0.0] * 8


def test_a_figure_says_how_to_read_it():
    X = np.random.default_rng(0).normal(size=(50, 3))
    found = ma.loss_measures(X, np.repeat(X.mean(axis=0)[None, :], 50, axis=0))
    assert found.percent == pytest.approx(100.0)
    for measure in found.measures:
        assert measure.better == "lower"
        assert measure.bounds[0] <= measure.value <= measure.bounds[1] + 1e-9
        assert measure.meaning.endswith(".")
        assert measure.name in repr(found)
        assert measure.name in found._repr_html_()


def test_a_constant_that_was_changed_is_no_small_loss():
    original = pd.DataFrame({"a": np.full(30, 7.0), "b": np.arange(30.0)})
    masked = original.copy()
    assert ma.loss_measures(original, masked).percent == 0
    masked["a"] *= 1 + 1e-15  # rounding
    assert ma.loss_measures(original, masked).per_column["a"] == 0
    masked["a"] = 8.0
    masked.loc[0, "b"] = 1.0
    found = ma.loss_measures(original, masked)
    assert found.percent == found.per_column["a"] == found.il1s == np.inf
    assert 0 < found.per_column["b"] < 1
    assert np.isfinite(found.g_il)
    zeros = pd.DataFrame({"a": np.zeros(30)})
    assert ma.loss_measures(zeros, zeros).percent == 0
    assert ma.loss_measures(zeros, zeros + 1e-300).percent == np.inf


def test_a_changed_constant_takes_no_other_column_out_of_the_loss():
    frame = pd.DataFrame({"a": [0.1] * 6, "b": list("xxxyyy"), "c": [1.0, 2, 3, 7, 8, 9]})
    found = ma.protect(frame, k=3, rounding={"a": 1}).loss
    assert found.per_column["a"] == found.percent == math.inf
    assert found.per_column["b"] == 0
    assert 0 < found.per_column["c"] < 20


def test_a_column_that_is_constant_where_nothing_is_missing_has_the_loss_that_it_has():
    frame = pd.DataFrame({"a": [1.0] * 4 + [2.0, 9.0, 9.0, 9.0], "c": [1.0, 2, 3, 4, *[math.nan] * 4]})
    found = ma.loss_measures(frame, frame.assign(a=[2.0] * 4 + [9.0] * 4))
    assert 0 < found.per_column["a"] < 100
    assert math.isfinite(found.percent)


@pytest.mark.parametrize("stored", [False, True])
def test_results_cannot_be_changed(stored):
    frame = ma.datasets.survey(60, seed=0, frame="pandas")[["age", "hours", "wage"]]
    release = ma.protect(frame, 3)
    dominance = ma.dominance(frame, release.groups)
    anonymity = ma.anonymity(release.data, ["age"], confidential=["wage"])
    for result in (release.loss, release.risk, release.information, dominance, anonymity):
        found = pickle.loads(pickle.dumps(result)) if stored else result
        mappings = [value for value in vars(found).values() if isinstance(value, Mapping)]
        arrays = [value for value in vars(found).values() if isinstance(value, np.ndarray)]
        assert mappings
        for mapping in mappings:
            with pytest.raises(TypeError):
                mapping["age"] = 0.0
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0.0
        assert repr(found) == repr(result)
        assert repr(copy.deepcopy(found)) == repr(result)
