import numpy as np
import pytest

from microagg.algorithms.cbfs import cbfs
from microagg.algorithms.iamat import iamat
from microagg.algorithms.mdav import mdav
from microagg.algorithms.methods import METHODS
from microagg.algorithms.vmdav import vmdav
from microagg.errors import InvalidData, InvalidParameter, TooFewRecords

X = np.random.default_rng(0).standard_normal((20, 3))
everywhere = pytest.mark.parametrize("name", METHODS)


@everywhere
@pytest.mark.parametrize("k", [1, 0, -3, 2.0, "3", None, True, np.float64(3)])
def test_k_must_be_an_integer_of_two_or_more(name, k):
    with pytest.raises(InvalidParameter, match="Pass k="):
        METHODS[name].function(X, k)


@everywhere
def test_fewer_records_than_k(name):
    with pytest.raises(TooFewRecords, match=r"20 record.*k=21.*lower k"):
        METHODS[name].function(X, 21)


@everywhere
def test_fewer_than_twice_k_is_one_group(name):
    assert np.asarray(METHODS[name].function(X, 11)).max() == 0
    assert np.asarray(METHODS[name].function(X, 20)).max() == 0


@everywhere
@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (np.where(np.arange(60).reshape(20, 3) == 7, np.nan, X), "column 1 of X has 1 missing"),
        (np.where(np.arange(60).reshape(20, 3) == 7, np.inf, X), "column 1 of X has 1 missing or infinite"),
        (X.astype(complex), "complex128"),
        (X > 0, "bool"),
        (X.astype(str), "dtype"),
        (X.astype(object), "object"),
        (X[:, 0], "1 dimension"),
        (X[:, :0], "no columns"),
        ([[1.0, 2.0], [3.0]], "rows of X have different lengths"),
        (np.column_stack([X[:, 0] * 1e250, X[:, 1] * 1e-20]), "column 1 varies by less than"),
    ],
)
def test_matrix_that_cannot_be_grouped(name, bad, says):
    with pytest.raises(InvalidData, match=says):
        METHODS[name].function(bad, 3)


@pytest.mark.parametrize(
    ("partitioner", "options"),
    [
        (mdav, {"tail": "4k"}),
        (mdav, {"tail": 3}),
        (iamat, {"centroid": "still"}),
        (iamat, {"sizes": "any"}),
        (vmdav, {"gamma": -0.1}),
        (vmdav, {"gamma": float("nan")}),
        (vmdav, {"gamma": "0.2"}),
    ],
)
def test_options_that_are_not_known(partitioner, options):
    with pytest.raises(InvalidParameter, match="Pass"):
        partitioner(X, 3, **options)


def test_a_large_offset_costs_no_precision():
    assert (mdav(X.round(3) + 1e9, 3) == mdav((X.round(3) + 1e9) - 1e9, 3)).all()
    assert (cbfs(X.round(3) + 1e9, 3) == cbfs((X.round(3) + 1e9) - 1e9, 3)).all()
