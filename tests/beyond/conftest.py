"""A cluster that the tests of a file share."""

import pytest
from distributed import LocalCluster


@pytest.fixture(scope="module")
def cluster():
    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
    ) as running:
        yield running.scheduler_address
