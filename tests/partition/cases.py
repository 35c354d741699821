"""Inputs for all partitioners: small, and full of ties, duplicates and constant columns."""

import numpy as np
from hypothesis import strategies as st

from microagg.algorithms.cbfs import cbfs
from microagg.algorithms.iamat import iamat
from microagg.algorithms.maximum_distance import maximum_distance
from microagg.algorithms.mdav import mdav
from microagg.algorithms.univariate import projection, univariate
from microagg.algorithms.vmdav import vmdav
from tests.reference.cbfs import cbfs as cbfs_oracle
from tests.reference.iamat import iamat as iamat_oracle
from tests.reference.maximum_distance import maximum_distance as maximum_distance_oracle
from tests.reference.mdav import mdav as mdav_oracle
from tests.reference.univariate import optimal_runs, ranking, sums_of_scores
from tests.reference.vmdav import vmdav as vmdav_oracle

TIED = st.sampled_from([0.0, 1.0, 2.0, -1.0])
HALVES = st.integers(-6, 6).map(lambda i: i / 2)
ROUGH = st.floats(-100, 100, allow_nan=False).map(lambda x: round(x, 1))
OFFSET = st.integers(0, 40).map(lambda i: 1e9 + i / 8)


@st.composite
def matrices_and_k(draw, most_columns=4):
    """A matrix of 2 to 40 records and a k that fits it."""
    k = draw(st.integers(2, 5))
    n = draw(st.integers(k, 40))
    d = draw(st.integers(1, most_columns))
    values = draw(st.sampled_from([TIED, HALVES, ROUGH, OFFSET]))
    flat = draw(st.lists(values, min_size=n * d, max_size=n * d))
    X = np.array(flat).reshape(n, d)
    if draw(st.booleans()):  # whole records repeated
        X = X[draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n))]
    return X, k


PARTITIONERS = {
    "mdav": (mdav, mdav_oracle, {}),
    "mdav-2k": (mdav, mdav_oracle, {"tail": "2k"}),
    "cbfs": (cbfs, cbfs_oracle, {}),
    "vmdav-0.2": (vmdav, vmdav_oracle, {"gamma": 0.2}),
    "vmdav-1.1": (vmdav, vmdav_oracle, {"gamma": 1.1}),
    "iamat": (iamat, iamat_oracle, {}),
    "iamat-moving": (iamat, iamat_oracle, {"centroid": "moving"}),
    "iamat-variable": (iamat, iamat_oracle, {"sizes": "variable"}),
    "iamat-moving-variable": (iamat, iamat_oracle, {"centroid": "moving", "sizes": "variable"}),
    "maximum-distance": (maximum_distance, maximum_distance_oracle, {}),
    "projection-0": (projection, lambda X, k, axis: optimal_runs(X, k, [x[axis] for x in X]), {"axis": 0}),
    "projection-zscores": (projection, lambda X, k, **_: optimal_runs(X, k, sums_of_scores(X)), {"axis": "zscores"}),
}

UNIVARIATE = {
    "optimal": (univariate, lambda values, k: optimal_runs([[v] for v in values], k, values)),
    "ranking": (univariate, ranking),
}

NEVER_ABOVE_2K = ("mdav", "iamat", "iamat-moving", "projection-0", "projection-zscores")
"""Partitioners that leave no group with 2k records or more, leftovers included."""
