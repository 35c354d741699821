"""The information loss that each partitioner gives on the CASC files, to four decimals."""

import numpy as np
import pytest

from microagg import datasets, information_loss
from microagg.algorithms.cbfs import cbfs
from microagg.algorithms.iamat import iamat
from microagg.algorithms.maximum_distance import maximum_distance
from microagg.algorithms.mdav import mdav
from microagg.algorithms.scores import standard_scores
from microagg.algorithms.vmdav import vmdav

pytestmark = pytest.mark.casc

FIGURES = [
    (mdav, {}, "tarragona", {3: 16.9326, 4: 19.5460, 5: 22.4619, 10: 33.1929}),
    (mdav, {}, "census", {3: 5.6922, 4: 7.4947, 5: 9.0884, 10: 14.1559}),
    (mdav, {}, "eia", {3: 0.4829, 4: 0.6713, 5: 1.6667, 10: 3.8397}),
    (cbfs, {}, "census", {3: 5.6536, 4: 7.4414, 5: 8.8840, 6: 10.1941}),
    (maximum_distance, {}, "tarragona", {3: 16.9835, 4: 19.5364, 5: 22.9355}),
    (maximum_distance, {}, "census", {3: 5.7210, 4: 7.6374, 5: 9.0065}),
    (vmdav, {"gamma": 0.2}, "tarragona", {3: 16.9630, 4: 19.6940, 5: 22.8778}),
    (vmdav, {"gamma": 0.2}, "census", {3: 5.6619, 4: 7.5140, 5: 9.0070}),
    (vmdav, {"gamma": 0.2}, "eia", {3: 0.5966, 4: 0.6687, 5: 1.7294}),
    (vmdav, {"gamma": 1.1}, "eia", {3: 0.5081, 4: 0.9703, 5: 1.3040}),
    (iamat, {}, "tarragona", {3: 15.6073, 4: 19.2677, 5: 22.6214}),
    (iamat, {}, "census", {3: 5.3736, 4: 7.2467, 5: 8.9322}),
    (iamat, {"centroid": "moving"}, "census", {3: 5.3476, 4: 7.1735, 5: 8.6852}),
]

CASES = [
    (partitioner, options, name, k, loss)
    for partitioner, options, name, figures in FIGURES
    for k, loss in figures.items()
]


@pytest.fixture(scope="module")
def files():
    def z_scores(name):
        table = datasets.load(name)
        columns = np.array([table[column].to_numpy() for column in table.column_names], dtype=float)
        return standard_scores(columns).T

    return {name: z_scores(name) for name in ("tarragona", "census", "eia")}


@pytest.mark.parametrize(("partitioner", "options", "name", "k", "loss"), CASES)
def test_loss_is_the_published_one(files, partitioner, options, name, k, loss):
    X = files[name]
    assert round(information_loss(X, partitioner(X, k, **options)).percent, 4) == loss


@pytest.mark.parametrize(("k", "sse"), [(3, 217.38), (5, 750.2)])
def test_error_of_mdav_on_eia_is_the_orthant_papers(files, k, sse):
    assert information_loss(files["eia"], mdav(files["eia"], k)).sse == pytest.approx(sse, rel=1e-4)


@pytest.mark.parametrize("centroid", ["fixed", "moving"])
@pytest.mark.parametrize("k", [3, 5, 10])
@pytest.mark.parametrize("name", ["tarragona", "census", "eia"])
def test_variable_sizes_never_lose_more_than_a_percent(files, name, k, centroid):
    X = files[name]
    fixed = information_loss(X, iamat(X, k, centroid=centroid)).percent
    assert information_loss(X, iamat(X, k, centroid=centroid, sizes="variable")).percent <= 1.01 * fixed


@pytest.mark.parametrize("k", [5, 10])
def test_variable_sizes_win_by_a_third_on_eia(files, k):
    X = files["eia"]
    fixed = information_loss(X, iamat(X, k)).percent
    assert information_loss(X, iamat(X, k, sizes="variable")).percent < 0.67 * fixed
