import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microagg as ma
from microagg.algorithms.univariate import projection, univariate
from microagg.errors import InvalidParameter
from tests.reference.univariate import least_error_of_all_cuts, optimal_runs


@given(values=st.lists(st.integers(-20, 20).map(float), min_size=4, max_size=12), k=st.integers(2, 3))
def test_optimal_is_the_best_of_all_cuts(values, k):
    X = np.array(values)[:, None]
    loss = ma.information_loss(X, univariate(X, k))
    assert loss.sse == pytest.approx(float(least_error_of_all_cuts(values, k)), abs=1e-9)


@given(seed=st.integers(0, 1000), k=st.integers(2, 5))
def test_optimal_never_loses_to_ranking(seed, k):
    X = np.random.default_rng(seed).lognormal(size=(60, 1))
    optimal, ranked = (ma.information_loss(X, univariate(X, k, method=m)).sse for m in ("optimal", "ranking"))
    assert optimal <= ranked * (1 + 1e-12)


@given(seed=st.integers(0, 10**6), k=st.integers(2, 5), n=st.integers(6, 40))
def test_pca_orders_by_the_first_right_singular_vector(seed, k, n):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)) @ np.diag([3.0, 1.0, 0.5]) + 100
    axis = np.linalg.svd(X - X.mean(axis=0))[2][0]
    axis *= np.sign(axis[np.argmax(np.abs(axis))])
    labels = projection(X, k, axis="pca")
    assert labels.tolist() == optimal_runs(X.tolist(), k, ((X - X.mean(axis=0)) @ axis).tolist())


def test_projection_orders_by_the_axis_it_is_given():
    rng = np.random.default_rng(0)
    spread = rng.standard_normal(200)
    X = np.column_stack([rng.standard_normal(200) * 0.01, spread])
    along_spread = projection(X, 4, axis=1)
    assert (projection(X, 4, axis="pca") == along_spread).all()
    assert (projection(X, 4, axis=0) != along_spread).any()
    assert (
        projection(np.column_stack([spread, spread]), 4, axis="zscores") == projection(spread[:, None], 4, axis=0)
    ).all()


@pytest.mark.parametrize("axis", [2, -1, "income", True, None])
def test_projection_refuses_an_axis_that_is_not_there(axis):
    with pytest.raises(InvalidParameter, match="axis="):
        projection(np.eye(4)[:, :2], 2, axis=axis)
