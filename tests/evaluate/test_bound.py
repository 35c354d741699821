"""The bound of the loss: equal to its oracle, never above it, and never above what any grouping loses."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import microagg as ma
from microagg.algorithms.kernels.records import Records, coordinates
from microagg.algorithms.scores import standard_scores
from microagg.errors import InvalidData, InvalidParameter, TooFewRecords
from microagg.measures import bound as bounding
from microagg.measures.bound import LossBound, loss_bound
from tests.lengths import first_few, given_few
from tests.reference.bound import bound, optimum
from tests.test_progress import rises, stops_at


@st.composite
def files(draw):
    """Records with ties, duplicates, constant columns, far from 0, of any size of numbers, and k."""
    k = draw(st.integers(2, 5))
    n, d = draw(st.integers(k, 40)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.normal(size=(n, d)) if draw(st.booleans()) else rng.integers(0, 4, (n, d)).astype(float)
    if draw(st.booleans()):
        X[:, 0] = draw(st.sampled_from([0.0, 7.0, 1e9]))
    if draw(st.booleans()):
        X = X[rng.integers(0, n, n)]
    X = X * 10.0 ** draw(st.integers(-150, 150)) if draw(st.booleans()) else X + draw(st.sampled_from([0.0, 1e6]))
    return X, k


@given_few(25, 200, files())
def test_equal_to_the_oracle_and_never_above_it(case):
    X, k = case
    expected, found = bound(X.tolist(), k), loss_bound(X, k)
    assert Fraction(found) <= expected
    assert_allclose(found, float(expected), rtol=1e-12)


@given_few(25, 200, files())
def test_rounds_down_far_from_zero(case):
    """The mean of numbers near 1e13 rounds so much that the variation comes out larger, and the bound lower."""
    X, k = case
    X = np.where(np.abs(X) < 1e3, X, 0.0) + 1e13
    expected, found = bound(X.tolist(), k), loss_bound(X, k)
    assert Fraction(found) <= expected
    assert_allclose(found, float(expected), rtol=1e-4)


@given_few(25, 200, files())
def test_the_tree_gives_the_same_bits(case):
    X, k = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounding, "_FEW", 0)
        by_tree = loss_bound(X, k)
    assert by_tree == loss_bound(X, k)


@given_few(25, 200, files(), st.randoms())
def test_the_order_of_rows_and_threads_change_nothing(case, random):
    X, k = case
    rows = list(range(len(X)))
    random.shuffle(rows)
    assert loss_bound(X[rows], k, n_jobs=2) == loss_bound(X, k, n_jobs=1)


@given_few(25, 200, files())
def test_grows_with_k_and_no_partition_undercuts_it(case):
    X, k = case
    found = loss_bound(X, k)
    assert 0.0 <= found <= 100.0
    if len(X) > k:
        assert found <= loss_bound(X, k + 1) * (1 + 1e-12)
    labels = ma.MDAV(k=k).fit_predict(X)
    refined = ma.refine(X, labels, k, effort=20_000).labels
    for own in (labels, refined, np.zeros(len(X), dtype=np.int64)):
        assert found <= ma.information_loss(X, own).percent * (1 + 1e-9)


@pytest.mark.parametrize("number", first_few(50, range(200)))
def test_never_above_the_optimum_of_small_files(number):
    rng = np.random.default_rng(number)
    k = int(rng.integers(2, 5))
    n, d = int(rng.integers(k, 11)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) if number % 2 else rng.integers(0, 6, (n, d)).astype(float)
    found, least = Fraction(loss_bound(X, k)), optimum(X.tolist(), k)
    assert found <= least
    assert found >= Fraction(1, 4) * least  # not just any number below it


@pytest.mark.parametrize("number", range(60))
def test_by_linear_programming_between_the_neighbours_and_the_optimum(number):
    rng = np.random.default_rng(number)
    k = int(rng.integers(2, 5))
    n, d = int(rng.integers(k, 11)), int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) if number % 2 else rng.integers(0, 6, (n, d)).astype(float)
    X += (0.0, 1e6, 1e9)[number % 3]  # where records are far from 0, their differences still count in full
    found, least = Fraction(loss_bound(X, k, method="programme")), optimum(X.tolist(), k)
    assert loss_bound(X, k) <= found <= least
    assert found >= Fraction(3, 5) * least


def test_by_linear_programming_of_two_far_crowds():
    """What groups lose is nothing beside the variation, and programmes find nothing: the neighbours bound it."""
    rng = np.random.default_rng(0)
    X = rng.normal(scale=1e-3, size=(10, 2)) + np.repeat([[1e6 + 0.1], [-3e5]], 5, axis=0)
    found = Fraction(loss_bound(X, 2, method="programme"))
    assert 0.0 < loss_bound(X, 2) <= found <= optimum(X.tolist(), 2)


@pytest.mark.casc
@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("tarragona", {3: 9.8551, 5: 13.9273, 10: 19.2181}),
        ("census", {3: 3.4438, 5: 5.0168, 10: 7.3363}),
        ("eia", {3: 0.2204, 5: 0.4720, 10: 1.2737}),
    ],
)
def test_of_the_reference_files(name, figures):
    table = ma.datasets.load(name)
    columns = np.array([table[column].to_numpy() for column in table.column_names], dtype=float)
    X = standard_scores(columns).T
    assert {k: round(loss_bound(X, k), 4) for k in figures} == figures


def test_codes_count_as_all_their_coordinates():
    rng = np.random.default_rng(3)
    entries = np.concatenate([rng.normal(size=(2, 300)), rng.integers(0, 4, (1, 300)), rng.integers(0, 3, (1, 300))])
    records = Records(entries, np.array([0.8, 1.7]), np.array([2, 6, 9]))
    for few in (0, 10**9):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(bounding, "_FEW", few)
            found = loss_bound(records, 4)
        assert_allclose(found, loss_bound(coordinates(records).T, 4), rtol=1e-12)
    few = Records(entries[:, :60], records.heights, records.starts)
    by_codes, by_coordinates = (loss_bound(X, 3, method="programme") for X in (few, coordinates(few).T))
    assert_allclose(by_codes, by_coordinates, rtol=1e-3)  # the first groups are others, the end is the same
    assert by_codes > 1.1 * loss_bound(few, 3)


def test_what_can_only_be_one_group_loses_all():
    X = ma.datasets.normal(9, 2, seed=0)
    assert loss_bound(X, 5) == loss_bound(X, 5, method="programme") == 100.0
    assert loss_bound(X, 4) < 100.0
    assert loss_bound(X[:2], 2) == 100.0


def test_nothing_is_lost_where_records_are_equal():
    assert loss_bound(np.repeat(ma.datasets.normal(5, 2, seed=0), 3, axis=0), 3) == 0.0
    assert loss_bound(np.full((12, 2), 3.5), 4) == loss_bound(np.full((12, 2), 3.5), 4, method="programme") == 0.0
    assert loss_bound(np.full((6, 2), 3.5), 4) == 0.0


def test_of_numbers_whose_squares_vanish():
    """Squares of 2**-533 round by more than their last digit: what is left of them must not lift the bound."""
    X = np.zeros((8, 2))
    X[:, 0] = [0, 0, 0, 0, 1, 1, 1, 1]
    X[:, 1] = np.arange(8) * 3 * 2.0**-533
    X[-1, 1] = 2.0**-470  # so that the column varies enough
    assert Fraction(loss_bound(X, 4)) <= bound(X.tolist(), 4)


def test_what_cannot_be_bounded_is_refused():
    X = ma.datasets.normal(4, 2, seed=0)
    with pytest.raises(TooFewRecords, match="4 records cannot fill a group of k=5"):
        ma.loss_bound(X, 5)
    with pytest.raises(InvalidParameter, match="k=1 protects nobody"):
        ma.loss_bound(X, 1)
    with pytest.raises(InvalidParameter, match=r"method='program' is not known\. Did you mean 'programme'\?"):
        ma.loss_bound(X, 2, method="program")
    with pytest.raises(InvalidParameter, match=r"there are 5001 records.*call `loss_bound` with method='neighbours'"):
        ma.loss_bound(np.zeros((5001, 1)), 2, method="programme")
    with pytest.raises(InvalidData, match="column 1 of X has 1 missing"):
        ma.loss_bound([[1.0, 2.0], [1.0, np.nan]], 2)


@pytest.mark.parametrize("few", [0, 10**9])
def test_tells_how_far_it_has_come_and_can_be_stopped(monkeypatch, few):
    monkeypatch.setattr(bounding, "_FEW", few)
    monkeypatch.setattr(bounding, "_MOST_AT_ONCE", 50)
    X, told = ma.datasets.normal(400, 3, seed=0), []
    ma.loss_bound(X, 3, n_jobs=1, progress=lambda *now: told.append(now))
    assert rises(told)
    assert len(told) > 8
    for jobs, call in ((1, 1), (1, len(told) - 1), (2, 1), (2, 3)):
        assert stops_at(lambda progress, jobs=jobs: ma.loss_bound(X, 3, n_jobs=jobs, progress=progress), call)


def test_linear_programming_tells_how_far_it_has_come_and_can_be_stopped():
    X, told = ma.datasets.normal(120, 2, seed=0), []
    ma.loss_bound(X, 3, method="programme", progress=lambda *now: told.append(now))
    assert rises(told)
    for call in (1, len(told) // 2, len(told) - 1):
        assert stops_at(lambda progress: ma.loss_bound(X, 3, method="programme", progress=progress), call)


def test_work_is_cut_where_it_takes_long(monkeypatch):
    """A slice ends at its budget, so that Ctrl-C is heard however many records and columns there are."""
    heard, X = [], ma.datasets.normal(500, 3, seed=0)
    monkeypatch.setattr(bounding, "SLICE", 100)
    cut = loss_bound(X, 3, n_jobs=1, progress=lambda *_: heard.append(1))
    monkeypatch.undo()
    assert cut == loss_bound(X, 3)
    assert len(heard) > 500  # a record a slice


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            LossBound(5.0999, 7.46, "information loss", 5),
            "No grouping at k=5 can lose less than 5.0 %; this one loses 7.5 %.",
        ),
        (
            LossBound(0.2299, 0.35, "information loss", 3),
            "No grouping at k=3 can lose less than 0.22 %; this one loses 0.35 %.",
        ),
        (
            LossBound(0.00149, 1.0, "information loss", 3, "within the strata", weighted=True),
            "No grouping at k=3 within the strata can lose less than 0.0014 %; this one loses 1.0 %, both without "
            "weights.",
        ),
        (
            LossBound(100.0, 100.0, "information loss", 3),
            "No grouping at k=3 can lose less than 100.0 %; this one loses 100.0 %.",
        ),
        (LossBound(2.0, np.inf, "information loss", 3), "No grouping at k=3 can lose less than 2.0 %."),
        (LossBound(0.0, 3.0, "information loss", 3), ""),
        (
            LossBound(5.0, 7.5, "squared distances", 5),
            "Of the squared distances between records, no grouping at k=5 can lose less than 5.0 %; this one loses "
            "7.5 %. The information loss is another measure: it takes each column by its kind.",
        ),
        (
            LossBound(None, None, "information loss", 5, why_not="it is raining"),
            "It is not known how little any grouping at k=5 could lose: it is raining.",
        ),
    ],
)
def test_what_is_said(found, said):
    assert str(found) == said
