import importlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import microagg as ma
from microagg.algorithms.scores import standard_scores
from microagg.algorithms.tight_bound import tight_bound
from microagg.errors import InvalidParameter
from tests.lengths import first_few
from tests.reference.optimum import least_error
from tests.reference.pricing import largest_excess, programme


def small_file(number, most):
    rng = np.random.default_rng(number)
    k = int(rng.integers(2, 5))
    n = int(rng.integers(k, most + 1))
    d = int(rng.integers(1, 4))
    X = rng.normal(size=(n, d)) if number % 2 else rng.integers(0, 6, (n, d)).astype(float)
    return X * 10.0 ** rng.integers(-4, 5), k


@pytest.mark.parametrize("number", first_few(20, range(200)))
def test_never_above_the_optimum_of_small_files(number):
    X, k = small_file(number, 11)
    found = tight_bound(X, k)
    optimum = least_error(X.tolist(), k)
    scale = ((X - X.mean(axis=0)) ** 2).sum()
    assert found.squared_error <= optimum + 1e-12 * scale
    assert found.squared_error >= programme(X.tolist(), k) * (1 - 1e-4) - 1e-7 * scale


@pytest.mark.parametrize("number", range(40))
def test_the_prices_prove_the_bound(number):
    X, k = small_file(1000 + number, 15)
    found = tight_bound(X, k, rounds=1 + number % 7, steps=(1, 10, 20_000)[number % 3])  # they do whenever it ends
    scale = ((X - X.mean(axis=0)) ** 2).sum()
    excess = largest_excess(X.tolist(), k, found.prices.tolist(), found.triples.tolist(), found.penalties.tolist())
    assert excess <= 1e-12 * scale or len(X) < 2 * k
    assert (found.penalties <= 0).all()
    assert found.squared_error <= max(0.0, found.prices.sum() + found.penalties.sum()) + 1e-12 * scale


def test_cuts_raise_the_bound_and_keep_the_proof():
    module = importlib.import_module("microagg.algorithms.tight_bound")
    X = ma.datasets.normal(16, 2, seed=8)
    with_cuts = tight_bound(X, 3)
    assert len(with_cuts.triples) > 0
    assert (with_cuts.penalties < 0).any()
    plain = programme(X.tolist(), 3)
    assert with_cuts.squared_error > plain * 1.001
    excess = largest_excess(X.tolist(), 3, with_cuts.prices, with_cuts.triples.tolist(), with_cuts.penalties)
    assert excess <= 1e-9
    assert module.MOST_RECORDS >= 2000


def test_repeatable_and_interruptible():
    X = ma.datasets.normal(150, 3, seed=1)
    one, two = (tight_bound(X, 4, rounds=5) for _ in range(2))
    assert_array_equal(one.prices, two.prices)
    assert one.rounds <= 5
    told = []
    tight_bound(X, 4, rounds=2, progress=lambda *a: told.append(a))
    assert told[-1] == (2, 2)


def test_bad_parameters():
    X = ma.datasets.uniform(30, 2)
    for change, words in (({"rounds": 0}, "rounds"), ({"steps": 0}, "steps"), ({"time_limit": -1.0}, "time_limit")):
        with pytest.raises(InvalidParameter, match=words):
            tight_bound(X, 3, **change)
    with pytest.raises(InvalidParameter, match="5001 records"):
        tight_bound(np.zeros((5001, 1)), 3)


@pytest.mark.campaign
@pytest.mark.casc
@pytest.mark.parametrize(("name", "least"), [("tarragona", 13.85), ("census", 4.645)])
def test_bounds_of_the_reference_files(name, least):
    table = ma.datasets.load(name)
    X = standard_scores(np.array([table[column].to_numpy() for column in table.column_names], dtype=float)).T
    assert tight_bound(X, 3, rounds=45).percent > least
