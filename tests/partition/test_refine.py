import importlib

import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import microagg as ma
from microagg.errors import InvalidParameter
from tests.lengths import first_few, given_few
from tests.reference.optimum import least_error


@st.composite
def partitions(draw):
    """Records with ties, and any partition of them into groups of k or more."""
    k = draw(st.integers(2, 4))
    n = draw(st.integers(k, 60))
    d = draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    X = rng.normal(size=(n, d)) if draw(st.booleans()) else rng.integers(0, 4, (n, d)).astype(float)
    labels = rng.permutation(np.minimum(np.arange(n) // draw(st.integers(k, 2 * k + 3)), max(0, n // (2 * k + 3) - 1)))
    return X, labels, k


@given_few(20, 200, partitions(), st.sampled_from(["variable", "fixed"]), st.integers(0, 3))
def test_never_invalid_never_worse(case, sizes, seed):
    X, labels, k = case
    found = ma.refine(X, labels, k, effort=20_000, sizes=sizes, seed=seed)
    counts = np.bincount(found.labels)
    assert counts.min() >= k
    assert found.after <= found.before
    assert_allclose(found.before, ma.information_loss(X, labels).sse, rtol=1e-9, atol=1e-12)
    assert_allclose(found.after, ma.information_loss(X, found.labels).sse, rtol=1e-9, atol=1e-12)
    firsts = np.unique(found.labels, return_index=True)[1]
    assert_array_equal(firsts, np.sort(firsts))
    if sizes == "fixed":
        assert_array_equal(np.sort(counts), np.sort(np.bincount(np.unique(labels, return_inverse=True)[1])))


@given_few(25, 200, partitions(), st.integers(0, 5))
def test_a_function_of_the_seed_alone(case, seed):
    X, labels, k = case
    one, two = (ma.refine(X, labels, k, effort=5000, seed=seed, n_jobs=jobs) for jobs in (1, 2))
    assert_array_equal(one.labels, two.labels)
    assert_array_equal(one.labels, ma.refine(X, labels, k, effort=one.moves or 1, seed=seed).labels)


@pytest.mark.parametrize("number", first_few(40, range(200)))
def test_the_optimum_of_small_files(number):
    rng = np.random.default_rng(number)
    k = int(rng.integers(2, 5))
    n = int(rng.integers(k, 11))
    X = rng.normal(size=(n, int(rng.integers(1, 4)))) if number % 2 else rng.integers(0, 6, (n, 2)).astype(float)
    found = ma.refine(X, np.zeros(n, dtype=np.int64), k, effort="thorough")
    assert_allclose(found.after, least_error(X.tolist(), k), rtol=1e-9, atol=1e-9)


@pytest.mark.casc
@pytest.mark.parametrize("k", [3, 5, 10])
@pytest.mark.parametrize("name", ["tarragona", "census", "eia"])
def test_fast_refining_of_the_reference_files(name, k):
    table = ma.datasets.load(name)
    plain, refined = (ma.protect(table, k, refine=effort) for effort in (None, "fast"))
    assert refined.k_achieved >= k
    assert refined.largest_group <= 2 * k - 1
    assert refined.information.percent < 0.94 * plain.information.percent
    assert refined.recipe.refine.effort == "fast"


def test_blocks_are_refined_across_their_borders():
    X = ma.datasets.uniform(4000, 3, seed=1)
    plain = ma.MDAV(k=3).fit_predict(X)
    blocks = ma.MedianTree(max_block=200, k=3).fit_predict(X)
    labels = np.empty(4000, dtype=np.int64)
    base = 0
    for block in range(blocks.max() + 1):
        rows = np.flatnonzero(blocks == block)
        own = ma.MDAV(k=3).fit_predict(X[rows])
        labels[rows] = own + base
        base += own.max() + 1
    blocked = ma.information_loss(X, labels).sse
    whole = ma.information_loss(X, plain).sse
    assert whole < blocked
    assert ma.refine(X, labels, 3).after < whole


def test_strata_stay_apart():
    table = ma.datasets.survey(900, seed=3)
    release = ma.protect(
        table, 3, identifiers=["person"], weight="weight", strata=["region"], refine="fast", seed=5, blocks="median",
        max_block=100,
    )  # fmt: skip
    regions = release.data["region"].to_numpy()
    for group in range(release.n_groups):
        assert np.unique(regions[release.groups == group]).size == 1


@pytest.mark.campaign
def test_a_time_limit_fills_or_ends_a_schedule_and_can_be_repeated():
    X = ma.datasets.normal(800, 4, seed=0)
    labels = ma.MDAV(k=3).fit_predict(X)
    filled = ma.refine(X, labels, 3, effort="thorough", time_limit=2.0, seed=1)
    again = ma.refine(X, labels, 3, effort=filled.moves, seed=1, stop_after=filled.stopped)
    assert_array_equal(filled.labels, again.labels)
    cut = ma.refine(X, labels, 3, effort=10**9, time_limit=0.5, seed=1)
    assert cut.stopped is not None
    assert_array_equal(cut.labels, ma.refine(X, labels, 3, effort=10**9, seed=1, stop_after=cut.stopped).labels)


def test_progress_and_interruption():
    X = ma.datasets.uniform(3000, 2, seed=0)
    labels = ma.MDAV(k=3).fit_predict(X)
    told = []
    ma.refine(X, labels, 3, progress=lambda *a: told.append(a))
    assert told[-1][0] == told[-1][1]

    class Enough(Exception):
        pass

    def stop(*_):
        raise Enough

    with pytest.raises(Enough):
        ma.refine(X, labels, 3, effort="thorough", progress=stop)


def test_nothing_to_gain():
    equal = np.ones((30, 2))
    labels = np.arange(30) // 3
    assert_array_equal(ma.refine(equal, labels, 3).labels, labels)
    one = np.zeros(5, dtype=np.int64)
    assert_array_equal(ma.refine(np.arange(10.0).reshape(5, 2), one, 3).labels, one)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"labels": np.arange(30)}, "at least k=3"),
        ({"effort": "slow"}, "effort"),
        ({"effort": 0}, "effort=0"),
        ({"sizes": "any"}, "sizes"),
        ({"time_limit": -1.0}, "time_limit"),
        ({"seed": -1}, "seed"),
        ({"stop_after": (3,), "effort": 1000}, "stop_after"),
    ],
)
def test_bad_parameters(change, words):
    given = {"X": ma.datasets.uniform(30, 2), "labels": np.arange(30) // 3, "k": 3} | change
    with pytest.raises(InvalidParameter, match=words):
        ma.refine(**given)


def test_very_many_moves_are_divided_among_searches(monkeypatch):
    module = importlib.import_module("microagg.algorithms.refine")
    monkeypatch.setattr(module, "_ENOUGH_MOVES", 400_000)
    monkeypatch.setattr(module, "_ENOUGH_SWEEPS", 2000)
    X = ma.datasets.normal(90, 3, seed=2)
    labels = ma.MDAV(k=4).fit_predict(X)
    one, two = (ma.refine(X, labels, 4, effort=1_300_000, seed=5, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert_array_equal(one.labels, two.labels)
    assert len(module._rounds(1_300_000, 90, once=False)) == 3 * (1 + module._ROUNDS)
    first = ma.refine(X, labels, 4, effort=1_300_000 // 3, seed=5)
    assert one.after <= first.after * (1 + 1e-12) < one.before


def test_reheating_mends_places_and_is_never_worse():
    X = ma.datasets.normal(900, 3, seed=4)
    good = ma.refine(X, ma.MDAV(k=3).fit_predict(X), k=3, effort=2_000_000)
    spoilt = good.labels.copy()
    spoilt[:60] = spoilt[:60][np.random.default_rng(0).permutation(60)]  # sizes stay
    found = ma.refine(X, spoilt, k=3, effort=400_000, reheat=True)
    assert found.moves == 400_000 // 900 // 2 * 900
    assert found.after < found.before
    assert np.bincount(found.labels).min() >= 3
    assert found.after - good.after < 0.02 * (found.before - good.after)  # hardly anything of the damage is left
    again = ma.refine(X, good.labels, k=3, effort=9_000, reheat=True)
    assert again.after <= good.after
    assert np.array_equal(found.labels, ma.refine(X, spoilt, k=3, effort=400_000, reheat=True, n_jobs=1).labels)
