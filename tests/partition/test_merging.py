"""Merging until every group keeps what is demanded: equal to its oracle, and the demand kept."""

import numpy as np
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from microagg.algorithms.diversity.demand import Demand
from microagg.algorithms.kernels.diversity import nothing_asked
from microagg.algorithms.kernels.records import coordinates, plain_records
from microagg.algorithms.mdav import mdav
from microagg.algorithms.units import merge_worst, with_units
from tests.lengths import given_few
from tests.partition.cases import matrices_and_k
from tests.partition.test_codes import made
from tests.partition.test_units import can_keep, units_of
from tests.reference import merging as oracle
from tests.reference.common import labels_of
from tests.reference.units import breach as units_breach
from tests.test_diversity import columns, confidential, limits, oracle_breach


@given_few(25, 200, data=st.data(), case=matrices_and_k(most_columns=3), demanded=limits(), most=st.integers(1, 12))
def test_merging_equals_its_oracle_and_keeps_the_demand(data, case, demanded, most):
    X, k = case
    n = X.shape[0]
    files = [data.draw(columns(n)) for _ in range(data.draw(st.integers(1, 2)))]
    units = data.draw(units_of(n, k)) if data.draw(st.booleans()) else None
    demand = Demand.of([confidential(*one) for one in files], **demanded)
    labels = np.random.default_rng(n).integers(0, most, n)
    groups = [np.flatnonzero(labels == g).tolist() for g in np.unique(labels)]

    def breach(group):
        found = [oracle_breach([file[row] for row in group], file, kind, demanded) for file, kind in files]
        if units is not None:
            short = units_breach(group, k, units.codes.tolist(), units.in_part)
            found.append(short if units.in_part else short / k)
        return max(found)

    oracle.merge_worst(X.tolist(), groups, breach)
    asked = with_units(demand.asked, k, units)
    merged = merge_worst(plain_records(np.ascontiguousarray(X.T)), labels, asked)
    assert_array_equal(merged, labels_of(groups, n))
    assert demand.kept(merged) or merged.max() == 0
    assert units is None or can_keep(units, k)


def test_records_of_codes_merge_as_all_their_coordinates():
    records = made(300, 8, seed=3)
    column = confidential(np.random.default_rng(0).integers(0, 8, 300).tolist(), "nominal")
    labels = mdav(records, 4)
    asked = Demand.of([column], l=4).asked
    merged = merge_worst(records, labels, asked)
    assert_array_equal(merge_worst(plain_records(coordinates(records)), labels, asked), merged)
    assert 1 < merged.max() < labels.max()


def test_nothing_asked_merges_nothing():
    records = made(60, 8, seed=3)
    labels = mdav(records, 4)
    assert_array_equal(merge_worst(records, labels, nothing_asked()), labels)


def test_merging_tells_how_far_it_has_come(monkeypatch):
    monkeypatch.setattr("microagg.algorithms.units._SLICE", 1)
    records = made(200, 8, seed=3)
    column = confidential(np.random.default_rng(0).integers(0, 8, 200).tolist(), "nominal")
    told = []
    merge_worst(records, mdav(records, 3), Demand.of([column], l=6).asked, lambda *how_far: told.append(how_far))
    assert len(told) > 10
    assert told == sorted(told)
