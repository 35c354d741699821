"""Estimates and their errors: equal to loops from the definitions, and to statsmodels where that has them."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.regression.linear_model import WLS
from statsmodels.stats.weightstats import DescrStatsW

import microagg as ma
from microagg.errors import InvalidData
from microagg.measures.analyses.estimate import Judged, Utility
from tests.reference import analyses as reference

Z = 1.959963984540054
CLOSE = {"rel": 1e-8, "abs": 1e-9, "nan_ok": True}


@st.composite
def frames(draw):
    """Few records: amounts with ties and zeros, whole weights, households, two columns of categories, gaps."""
    n = draw(st.integers(8, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    amounts = np.round(rng.lognormal(3.0, 1.0, n), draw(st.integers(0, 2)))
    amounts[rng.random(n) < draw(st.sampled_from([0.0, 0.3]))] = 0.0
    amounts[:2] = 3.0, 40.0
    other = rng.lognormal(2.0, 0.5, n)
    frame = pd.DataFrame(
        {
            "income": amounts,
            "cost": other,
            "w": rng.integers(1, 30, n),
            "house": rng.integers(0, max(2, n // 2), n),
            "sex": rng.choice(["f", "m"], n),
            "region": rng.choice(["a", "b", "c"], n),
        }
    )
    if draw(st.booleans()):
        frame.loc[rng.random(n) < 0.2, "income"] = np.nan
        frame.loc[:1, "income"] = 3.0, 40.0
    return frame


def estimates(frame, kind, columns, **options):
    """Give the estimates of an analysis of one file, by domain and term; another order must change nothing."""
    turned = frame.iloc[::-1]
    (judged,) = ma.utility(frame, turned, [ma.Analysis(kind, columns, **options)]).analyses
    for one in judged.estimates:
        assert one.after == pytest.approx(one.before, **CLOSE)
        assert one.interval_after == pytest.approx(one.interval_before, **CLOSE)
    return {(tuple(value for _, value in one.domain), one.term): one for one in judged.estimates}


def error_of(one):
    return (one.interval_before[1] - one.interval_before[0]) / (2 * Z)


def parts(frame, column, by):
    """Give what each domain has of the records that lack nothing."""
    known = frame.dropna(subset=[column])
    return known.groupby(by) if by else [((), known)]


designs = {
    "by": st.sampled_from([[], ["sex"], ["sex", "region"]]),
    "weight": st.sampled_from([None, "w"]),
    "unit": st.sampled_from([None, "house"]),
}


def design_of(part, weight, unit):
    weights = [1] * len(part) if weight is None else part[weight].tolist()
    return weights, None if unit is None else part[unit].tolist()


@settings(max_examples=60)
@given(frame=frames(), **designs)
def test_a_mean_is_that_of_statsmodels_and_its_error_that_of_a_regression_on_nothing(frame, by, weight, unit):
    found = estimates(frame, "mean", "income", by=by, weight=weight, unit=unit)
    for domain, part in parts(frame, "income", by):
        weights, clusters = design_of(part, weight, unit)
        one = found[domain, ""]
        assert one.before == pytest.approx(DescrStatsW(part["income"], weights).mean, **CLOSE)
        expected = reference.error(weights, reference.influences_of_mean(part["income"].tolist(), weights), clusters)
        assert error_of(one) == pytest.approx(expected, **CLOSE)
        if not math.isnan(expected):
            # HC1 and the correction for clusters are n/(n − 1) and c/(c − 1) where there is one coefficient.
            how = {"cov_type": "HC1"}
            if clusters is not None:
                how = {"cov_type": "cluster", "cov_kwds": {"groups": np.array(clusters)}}
            model = WLS(part["income"].to_numpy(), np.ones(len(part)), weights=np.array(weights, dtype=float))
            assert error_of(one) == pytest.approx(model.fit(**how).bse[0], rel=1e-8, abs=1e-9)


@settings(max_examples=40)
@given(frame=frames(), **designs)
def test_totals_count_the_records_outside_the_domain(frame, by, weight, unit):
    found = estimates(frame, "total", "income", by=by, weight=weight, unit=unit)
    known = frame.dropna(subset=["income"])
    weights, clusters = design_of(known, weight, unit)
    for domain, part in parts(frame, "income", by):
        inside = known.index.isin(part.index)
        one = found[domain, ""]
        own = design_of(part, weight, unit)[0]
        assert one.before == pytest.approx(DescrStatsW(part["income"], own).sum, **CLOSE)
        expected = reference.error_of_total(known["income"].tolist(), weights, inside, clusters)
        assert error_of(one) == pytest.approx(expected, rel=1e-8, abs=1e-7, nan_ok=True)


@settings(max_examples=40)
@given(frame=frames(), **designs)
def test_shares_are_means_of_a_condition_or_a_category(frame, by, weight, unit):
    zeros = estimates(frame, "share", "income", by=by, weight=weight, unit=unit, value="= 0")
    for domain, part in parts(frame, "income", by):
        weights, clusters = design_of(part, weight, unit)
        one, held = zeros[domain, "= 0"], (part["income"] == 0).astype(float).tolist()
        assert one.before == pytest.approx(100 * reference.mean(held, weights), **CLOSE)
        expected = 100 * reference.error(weights, reference.influences_of_mean(held, weights), clusters)
        assert error_of(one) == pytest.approx(expected, **CLOSE)
        assert one.unit == "%"
    regions = estimates(frame, "share", "region", weight=weight, unit=unit)
    assert sum(one.before for one in regions.values()) == pytest.approx(100)
    weights, clusters = design_of(frame, weight, unit)
    for (_, term), one in regions.items():
        held = ("= " + frame["region"] == term).astype(float).tolist()
        expected = 100 * reference.error(weights, reference.influences_of_mean(held, weights), clusters)
        assert error_of(one) == pytest.approx(expected, **CLOSE)


@settings(max_examples=40)
@given(frame=frames(), p=st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.55, 0.7, 1.0]), **designs)
def test_quantiles_and_their_intervals(frame, p, by, weight, unit):
    found = estimates(frame, "quantile", "income", by=by, weight=weight, unit=unit, p=p)
    for domain, part in parts(frame, "income", by):
        weights, clusters = design_of(part, weight, unit)
        one, values = found[domain, f"p = {p:g}"], part["income"].tolist()
        assert one.before == reference.quantile(values, weights, p)
        if not math.isnan(reference.error(weights, [0.0] * len(values), clusters)):
            expected = reference.interval_of_quantile(values, weights, p, Z, clusters)
            assert list(one.interval_before) == expected


@settings(max_examples=40)
@given(frame=frames(), **designs)
def test_a_ratio_is_that_of_sums(frame, by, weight, unit):
    found = estimates(frame, "ratio", ["income", "cost"], by=by, weight=weight, unit=unit)
    for domain, part in parts(frame, "income", by):
        weights, clusters = design_of(part, weight, unit)
        above, below = part["income"].tolist(), part["cost"].tolist()
        one = found[domain, ""]
        assert one.before == pytest.approx(reference.ratio(above, below, weights), **CLOSE)
        influences = reference.influences_of_ratio(above, below, weights)
        assert error_of(one) == pytest.approx(reference.error(weights, influences, clusters), **CLOSE)
        slope = reference.derivative(lambda own: reference.ratio(above, below, own), weights, 0)  # noqa: B023
        assert influences[0] == pytest.approx(slope, rel=1e-6, abs=1e-9)


@settings(max_examples=40)
@given(frame=frames(), **designs)
def test_gini_is_the_mean_difference_of_two_persons(frame, by, weight, unit):
    found = estimates(frame, "gini", "income", by=by, weight=weight, unit=unit)
    for domain, part in parts(frame, "income", by):
        weights, clusters = design_of(part, weight, unit)
        one, values = found[domain, ""], part["income"].tolist()
        if sum(values) == 0:
            assert math.isnan(one.before)
            continue
        assert one.before == pytest.approx(100 * reference.gini(values, weights), **CLOSE)
        influences = reference.influences_of_gini(values, weights)
        expected = 100 * reference.error(weights, influences, clusters)
        assert error_of(one) == pytest.approx(expected, rel=1e-8, abs=1e-7, nan_ok=True)
        slope = reference.derivative(lambda own: reference.gini(values, own), weights, 0)  # noqa: B023
        assert influences[0] == pytest.approx(slope, rel=1e-6, abs=1e-9)


@settings(max_examples=40)
@given(frame=frames(), fraction=st.sampled_from([0.4, 0.6]), **designs)
def test_the_poverty_rate_is_the_share_below_a_fraction_of_the_median(frame, fraction, by, weight, unit):
    found = estimates(frame, "poverty", "income", by=by, weight=weight, unit=unit, fraction=fraction)
    for domain, part in parts(frame, "income", by):
        weights, clusters = design_of(part, weight, unit)
        one, values = found[domain, ""], part["income"].tolist()
        assert one.before == pytest.approx(100 * reference.poverty(values, weights, fraction), **CLOSE)
        if len(set(values)) > 1 and reference.density(values, weights, reference.quantile(values, weights, 0.5)) > 0:
            influences = reference.influences_of_poverty(values, weights, fraction)
            expected = 100 * reference.error(weights, influences, clusters)
            assert error_of(one) == pytest.approx(expected, rel=1e-8, abs=1e-8, nan_ok=True)


@settings(max_examples=40)
@given(frame=frames(), **{**designs, "by": st.sampled_from([[], ["sex"]])})
def test_a_table_has_counts_and_how_strongly_its_columns_belong_together(frame, by, weight, unit):
    frame["size"] = frame["house"] % 3
    found = estimates(frame, "table", ["region", "size"], by=by, weight=weight, unit=unit)
    all_weights, all_clusters = design_of(frame, weight, unit)
    for domain, part in frame.groupby(by) if by else [((), frame)]:
        weights, clusters = design_of(part, weight, unit)
        rows, columns = part["region"].tolist(), part["size"].tolist()
        one = found[domain, "Cramér's V"]
        if min(len(set(rows)), len(set(columns))) > 1:
            strength = reference.cramer(rows, columns, weights)
            assert one.before == pytest.approx(strength, rel=1e-7, abs=1e-7)
            if strength > 0.01:
                slopes = [
                    reference.derivative(lambda own: reference.cramer(rows, columns, own), weights, k)  # noqa: B023
                    for k in range(len(weights))
                ]
                assert error_of(one) == pytest.approx(
                    reference.error(weights, slopes, clusters), rel=1e-4, abs=1e-7, nan_ok=True
                )
        else:
            assert math.isnan(one.before)
        cell = (part["region"] == rows[0]) & (part["size"] == columns[0])
        count = found[domain, f"{rows[0]} and {columns[0]}"]
        assert count.before == pytest.approx(sum(w for w, own in zip(weights, cell, strict=True) if own))
        inside = frame.index.isin(part.index[cell])
        expected = reference.error_of_total([1.0] * len(frame), all_weights, inside, all_clusters)
        assert error_of(count) == pytest.approx(expected, rel=1e-8, abs=1e-8, nan_ok=True)


@given(st.lists(st.integers(-50, 50), min_size=4, max_size=4, unique=True))
def test_intervals_overlap_by_their_formula(ends):
    first, second = sorted(ends[:2]), sorted(ends[2:])
    one = ma.Estimate("Mean", "mean", (), "", 0.0, 1.0, tuple(first), tuple(second))
    assert one.overlap == pytest.approx(reference.overlap(first, second))
    assert one.within == (first[0] <= 1.0 <= first[1])
    assert one.significance_changed == ((first[0] <= 0 <= first[1]) != (second[0] <= 0 <= second[1]))


def test_an_interval_without_length_is_covered_or_not():
    def overlap(first, second):
        return ma.Estimate("Mean", "mean", (), "", 1.0, 1.0, first, second).overlap

    assert overlap((1.0, 1.0), (1.0, 1.0)) == 1.0
    assert overlap((1.0, 1.0), (0.0, 2.0)) == 0.5
    assert overlap((1.0, 1.0), (2.0, 3.0)) == 0.0
    assert math.isnan(overlap((math.nan, math.nan), (2.0, 3.0)))


def estimate(before, after, low, high, after_low=None, after_high=None, **others):
    after_low, after_high = (low if after_low is None else after_low), (high if after_high is None else after_high)
    return ma.Estimate("Mean of x", "mean", (), "", before, after, (low, high), (after_low, after_high), **others)


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (estimate(14.41, 13.9, 13.8, 15.1, unit="%"), "Mean of x 14.4 → 13.9 %: within its interval."),
        (
            estimate(14.41, 10.8, 13.8, 15.1, unit="%"),
            "Mean of x 14.4 → 10.8 %: outside its interval of 13.8 to 15.1 %.",
        ),
        (
            estimate(0.5, -0.2, 0.1, 0.9, -0.6, 0.2),
            "Mean of x 0.50 → -0.20: outside its interval of 0.10 to 0.90; its sign changed; no longer significant.",
        ),
        (
            estimate(0.1, 0.2, -0.1, 0.3, 0.1, 0.3),
            "Mean of x 0.10 → 0.20: within its interval; significant only after masking.",
        ),
        (estimate(0.1, -0.1, -0.2, 0.4), "Mean of x 0.10 → -0.10: within its interval."),  # it may as well be 0
        (estimate(2.0, 3.0, math.nan, math.nan), "Mean of x 2 → 3: it has no interval, so it cannot be judged."),
        (estimate(2.0, math.nan, 1.0, 3.0), "Mean of x: lost by masking."),
        (estimate(math.nan, 2.0, 1.0, 3.0), "Mean of x: only the masked file has it."),
        (estimate(math.nan, math.nan, 1.0, 3.0), "Mean of x: neither file has it."),
    ],
)
def test_each_estimate_is_said_in_a_sentence(one, said):
    assert one.sentence == said
    assert repr(one) == said


_PLACE = st.none() | st.integers(-3, 3)


@given(st.lists(st.tuples(_PLACE, _PLACE, st.integers(0, 2) | st.none()), min_size=1, max_size=4))
def test_an_analysis_moved_as_far_as_its_worst_estimate(drawn):
    said, estimates = [], []
    for before, after, half in drawn:
        ends = (None, None) if before is None or half is None else (before - half, before + half)
        said.append((before, after, *ends))
        numbers = [math.nan if one is None else float(one) for one in said[-1]]
        estimates.append(estimate(*numbers))
    analysis = ma.Analysis("mean", "x")
    judged = Judged(analysis, tuple(estimates), (0, 0), (False, False))
    assert judged.moved == pytest.approx(reference.moved(said))
    (figure,) = Utility((judged,)).moved
    assert (figure.name, figure.value, figure.better, figure.of) == ("Mean of x", judged.moved, "lower", "loss")


def test_the_edge_of_the_interval_is_one_and_analyses_of_one_name_count_as_one():
    edge, far = (
        Judged(ma.Analysis("mean", "x"), (estimate(10.0, after, 8.0, 12.0),), (0, 0), (False, False))
        for after in (12.0, 5.0)
    )
    assert (edge.moved, far.moved) == (1.0, 2.5)
    assert edge.estimates[0].within
    assert [one.value for one in Utility((edge, far, edge)).moved] == [2.5]


def test_relative_differences():
    assert estimate(-2.0, -1.0, -3.0, -1.0).difference == 0.5
    assert estimate(0.0, 0.0, 0.0, 0.0).difference == 0.0
    assert estimate(0.0, -1.0, 0.0, 0.0).difference == -math.inf


def test_a_table_of_more_cells_than_anybody_reads_is_refused():
    frame = pd.DataFrame({"a": np.arange(300), "b": np.arange(300)[::-1]})
    with pytest.raises(InvalidData, match="a table of 'a' and 'b' would have 90000 cells, and 10000 are the most"):
        ma.utility(frame, frame, [{"kind": "table", "columns": ["a", "b"]}])
