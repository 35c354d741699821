import pytest
from numpy.testing import assert_array_equal

from tests.lengths import given_few
from tests.partition.cases import PARTITIONERS, UNIVARIATE, matrices_and_k


@pytest.mark.parametrize("name", PARTITIONERS)
@given_few(25, 200, case=matrices_and_k())
def test_partition_equals_its_oracle(name, case):
    X, k = case
    partitioner, oracle, options = PARTITIONERS[name]
    assert_array_equal(partitioner(X, k, **options), oracle(X.tolist(), k, **options))


@pytest.mark.parametrize("method", UNIVARIATE)
@given_few(25, 200, case=matrices_and_k(most_columns=3))
def test_univariate_equals_its_oracle_in_every_column(method, case):
    X, k = case
    partitioner, oracle = UNIVARIATE[method]
    labels = partitioner(X, k, method=method).reshape(X.shape)
    for j in range(X.shape[1]):
        assert_array_equal(labels[:, j], oracle(X[:, j].tolist(), k))
