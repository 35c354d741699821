import numpy as np
import pytest
from numpy.testing import assert_allclose

import microagg as ma
from microagg.errors import InvalidData, InvalidParameter


def test_association_and_interaction_are_the_papers_formulas():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8, 3))
    members = X[:3]
    alpha = np.sqrt(8) / np.mean(((X - X.mean(axis=0)) ** 2).sum(axis=1))
    naive = np.array([[np.exp(-((x - y) ** 2).sum() / alpha) for y in members] for x in X])
    assert_allclose(ma.association(X, members), naive, rtol=1e-12)
    assert_allclose(ma.interaction(X, members), naive.prod(axis=1), rtol=1e-12)


def test_the_most_interactive_record_is_the_one_nearest_to_the_members_centroid():
    X = np.random.default_rng(1).standard_normal((50, 4))
    members, rest = X[:3], X[3:]
    nearest = np.argmin(((rest - members.mean(axis=0)) ** 2).sum(axis=1))
    for alpha in (0.5, 1.0, 20.0):
        assert np.argmax(ma.interaction(rest, members, alpha)) == nearest


def test_bad_input():
    with pytest.raises(InvalidData, match="3 and 2 columns"):
        ma.association(np.zeros((4, 3)), np.zeros((4, 2)))
    with pytest.raises(InvalidData, match="Pass alpha"):
        ma.interaction(np.zeros((4, 3)), np.zeros((1, 3)))
    with pytest.raises(InvalidParameter, match="alpha=-1"):
        ma.association(np.eye(3), np.eye(3), alpha=-1)
    with pytest.raises(InvalidParameter, match="alpha=a str"):
        ma.association(np.eye(3), np.eye(3), alpha="x")
    for factor in (1e200, 1e-200):
        with pytest.raises(InvalidData, match="Standardise first"):
            ma.interaction(np.eye(3) * factor, np.eye(3) * factor)
