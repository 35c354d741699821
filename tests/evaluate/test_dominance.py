import numpy as np
import pytest

import microagg as ma
from microagg.errors import InputError


def test_shares_and_the_p_percent_rule():
    X = np.array([[1.0, -1], [2, 1], [97, 1], [5, 1], [5, 1], [5, 1], [0, 1], [0, 1], [0, 1]])
    found = ma.dominance(X, [0, 0, 0, 1, 1, 1, 2, 2, 2], p=10)
    assert found.left_out == (1,)
    assert found.largest_share[0] == pytest.approx(97.0)
    assert found.median_share[0] == pytest.approx(100 / 3)
    assert found.failing[0] == 1  # 1 < 10 % of 97; a group of zeros tells nothing
    assert ma.dominance(X, [0, 0, 0, 1, 1, 1, 2, 2, 2], p=1).failing[0] == 0
    assert "up to 97.0 %" in repr(found)


def test_it_agrees_with_a_loop_over_groups():
    rng = np.random.default_rng(0)
    X = rng.lognormal(sigma=2, size=(300, 2))
    labels = ma.MDAV(k=4).fit_predict(X)
    found = ma.dominance(X, labels, p=20)
    for j in range(2):
        groups = [np.sort(X[labels == g, j])[::-1] for g in range(labels.max() + 1)]
        assert found.largest_share[j] == pytest.approx(100 * max(group[0] / group.sum() for group in groups))
        assert found.failing[j] == sum(group[2:].sum() < 0.2 * group[0] for group in groups)


def test_huge_values_do_not_overflow():
    X = np.array([[1e308], [1e308], [1e308]])
    assert ma.dominance(X, [0, 0, 0]).largest_share[0] == pytest.approx(100 / 3)


def test_a_release_by_name():
    survey = ma.datasets.survey(200, seed=0).select(["wage", "income"])
    found = ma.dominance(survey, ma.protect(survey, 5).groups)
    assert set(found.failing) == {"wage", "income"}


@pytest.mark.parametrize("p", [-1, 101, "ten", True])
def test_a_bad_percentage_is_told(p):
    with pytest.raises(InputError, match="It is a percentage"):
        ma.dominance(np.ones((3, 1)), [0, 0, 0], p=p)


def test_labels_of_each_column_are_refused():
    with pytest.raises(InputError, match="one label a record"):
        ma.dominance(np.ones((3, 2)), np.zeros((3, 2), dtype=int))
