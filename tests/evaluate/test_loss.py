import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg as ma
from microagg.errors import InvalidParameter


@given(seed=st.integers(0, 10**6), n=st.integers(4, 30), groups=st.integers(1, 3))
def test_loss_is_its_definition(seed, n, groups):
    rng = np.random.default_rng(seed)
    X = rng.integers(-5, 6, (n, 3)).astype(float)
    labels = np.unique(rng.integers(0, groups, n), return_inverse=True)[1]
    sse = sum(((X[labels == g] - X[labels == g].mean(axis=0)) ** 2).sum() for g in np.unique(labels))
    sst = ((X - X.mean(axis=0)) ** 2).sum()
    loss = ma.information_loss(X, labels)
    assert loss.sse == pytest.approx(sse, abs=1e-9)
    assert loss.sst == pytest.approx(sst, abs=1e-9)
    assert loss.percent == pytest.approx(100 * sse / sst if sst else 0, abs=1e-9)


def test_labels_may_have_gaps_and_be_large():
    X = np.arange(8.0).reshape(4, 2)
    expected = ma.information_loss(X, [0, 0, 1, 1])
    assert ma.information_loss(X, np.array([5, 5, 10**13, 10**13])) == expected
    assert ma.information_loss(X, np.array([0, 0, 2**63, 2**63], dtype=np.uint64)) == expected


def test_nothing_varies_nothing_is_lost():
    loss = ma.information_loss(np.ones((4, 2)), [0, 0, 1, 1])
    assert (loss.percent, loss.sst, dict(loss.per_column)) == (0, 0, {0: 0, 1: 0})


def test_extreme_magnitudes_give_the_same_percentage():
    X = np.random.default_rng(0).standard_normal((30, 2))
    labels = np.arange(30) // 3
    expected = ma.information_loss(X, labels).percent
    for power in (-700, 900):
        assert ma.information_loss(np.ldexp(X, power), labels).percent == pytest.approx(expected, rel=1e-12)


def test_results_are_frozen_and_pickle():
    loss = ma.information_loss(np.eye(4), [0, 0, 1, 1])
    with pytest.raises(AttributeError):
        loss.sse = 0
    with pytest.raises(TypeError):
        loss.per_column[0] = 0
    assert pickle.loads(pickle.dumps(loss)) == loss


@pytest.mark.parametrize("labels", [[0, 0, 1], [0.0, 0.0, 1.0, 1.0], [-1, 0, 0, 0], [[[0]]] * 4, [[0]] * 4])
def test_labels_that_do_not_fit(labels):
    with pytest.raises(InvalidParameter, match="labels"):
        ma.information_loss(np.eye(4), labels)
