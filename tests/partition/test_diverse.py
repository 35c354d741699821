"""Ways to keep a demand: equal to their oracles, and the demand kept in the end."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from microagg.algorithms.diversity.demand import Confidential, Demand, Limits
from microagg.algorithms.diversity.ways import (
    MOST_SWAPPED,
    WAYS,
    candidates,
    chosen_by,
    closeness,
    cut_by_rank,
    fitting,
    form_diverse,
    size_for_closeness,
    swapped,
)
from microagg.algorithms.kernels.records import plain_records
from microagg.algorithms.mdav import mdav
from microagg.algorithms.refine import refine, squared_error
from microagg.algorithms.units import Units, held_by
from microagg.errors import InvalidParameter
from tests.lengths import given_few
from tests.partition.cases import matrices_and_k
from tests.partition.test_codes import made
from tests.reference import candidates as candidates_oracle
from tests.reference import closeness as closeness_oracle
from tests.reference import diversity as oracle
from tests.reference import swaps as swaps_oracle
from tests.test_diversity import TREE, columns, confidential, limits


def plain(X):
    return plain_records(np.ascontiguousarray(X.T))


@given_few(30, 100, data=st.data(), case=matrices_and_k(most_columns=3), wanted=st.integers(1, 6))
def test_choosing_candidates_equals_its_oracle(data, case, wanted):
    X, k = case
    file, _ = data.draw(columns(X.shape[0]))
    assume(oracle.distinct(file) >= wanted and X.shape[0] >= wanted)
    column = confidential(file, "nominal")
    expected = candidates_oracle.candidates(X.tolist(), k, wanted, file)
    for search in ("brute", "tree"):
        labels = candidates(plain(X), k, wanted, column.codes, column.n_values, search=search)
        assert_array_equal(labels, expected)
    assert np.bincount(labels).min() >= max(k, wanted)
    assert Demand.of([column]).figures(labels)[0].distinct.min() >= wanted


@given_few(30, 100, data=st.data(), case=matrices_and_k(most_columns=3), t=st.sampled_from([0.02, 0.1, 0.2, 0.5]))
def test_closeness_first_equals_its_oracle(data, case, t):
    X, k = case
    n = X.shape[0]
    values = data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n))
    expected = closeness_oracle.closeness(X.tolist(), k, t, values)
    for search in ("brute", "tree"):
        assert_array_equal(closeness(plain(X), k, t, np.array(values), swaps=False, search=search), expected)
    size = size_for_closeness(n, k, t)
    assert size == closeness_oracle.group_size(n, k, t)
    subsets = closeness_oracle.subsets_by_value(values, size)
    cut = cut_by_rank(np.array(values), size)
    assert [np.flatnonzero(cut == number).tolist() for number in range(size)] == [sorted(one) for one in subsets]
    improved = closeness_oracle.exchange(X.tolist(), expected, [sorted(one) for one in subsets])
    assert_array_equal(closeness(plain(X), k, t, np.array(values)), improved)


@given_few(25, 200, data=st.data(), case=matrices_and_k(most_columns=3), t=st.sampled_from([0.0, 0.1, 0.25, 0.5]))
def test_swapping_members_equals_its_oracle(data, case, t):
    X, k = case
    n = X.shape[0]
    values = data.draw(st.lists(st.integers(0, 7), min_size=n, max_size=n))
    kind = data.draw(st.sampled_from(["nominal", "ordered", "tree"]))
    levels = TREE if kind == "tree" else None
    expected = swaps_oracle.swapped(X.tolist(), k, t, values, kind == "ordered", levels)
    assert_array_equal(swapped(plain(X), k, t, confidential(values, kind)), expected)


@given_few(25, 200, data=st.data(), case=matrices_and_k(most_columns=3), demanded=limits())
def test_every_way_keeps_k_and_the_demand(data, case, demanded):
    X, k = case
    files = [data.draw(columns(X.shape[0])) for _ in range(data.draw(st.integers(1, 2)))]
    demand = Demand.of([confidential(*one) for one in files], **demanded)
    labels = mdav(X, k)
    possible = demand.kept(np.zeros(X.shape[0], dtype=np.int64))
    for way in fitting(X.shape[0], demand):
        formed = form_diverse(plain(X), k, labels, demand, way)
        assert np.bincount(formed).min() >= k
        assert demand.kept(formed) or not possible


def test_the_ways_that_fit():
    ordered, nominal = (Confidential.of(np.arange(40) % 5, ordered=order) for order in (True, False))
    units = Units(np.arange(40) // 2)
    assert fitting(40, Demand.of([nominal], l=2)) == ("merge", "candidates")
    assert fitting(40, Demand.of([nominal], t=0.2)) == ("merge", "swap")
    assert fitting(40, Demand.of([ordered, nominal], l=2, t=0.2)) == ("merge", "candidates", "swap", "closeness")
    assert fitting(MOST_SWAPPED + 1, Demand.of([ordered], t=0.2)) == ("merge", "closeness")
    assert fitting(40, Demand.of([ordered], l=2, t=0.2), units) == ("merge",)
    assert set(WAYS) == {"merge", "candidates", "swap", "closeness"}
    with pytest.raises(InvalidParameter, match="diversity='swap' is not known") as caught:
        form_diverse(made(40, 8), 3, np.zeros(40, dtype=np.int64), Demand.of([nominal], l=2), "swap")
    assert caught.value.parameter == "diversity"


def test_a_piece_that_is_too_far_from_the_file_is_left_for_a_merge_of_all():
    whole = Confidential.of(np.repeat([0, 1], 40), ordered=False)
    demand = Demand.of([whole], t=0.2)
    records = made(80, 8, seed=1)
    first = np.arange(40)
    piece = records._replace(entries=records.entries[:, first])
    labels = mdav(piece, 4)
    formed = form_diverse(piece, 4, labels, demand.take(first), "merge")
    assert not demand.take(first).kept(formed)
    assert_array_equal(formed, labels)
    assert demand.kept(form_diverse(records, 4, mdav(records, 4), demand, "merge"))


def test_units_are_kept_together_with_a_demand():
    records, rng = made(200, 8, seed=3), np.random.default_rng(0)
    units = Units(np.arange(200) // 3)
    demand = Demand.of([Confidential.of(rng.integers(0, 4, 200))], l=3)
    assert fitting(200, demand, units) == ("merge",)
    formed = form_diverse(records, 4, mdav(records, 4, units=units), demand, "merge", units=units)
    assert demand.kept(formed)
    for group in range(formed.max() + 1):
        own = units.codes[formed == group]
        assert np.bincount(own).max() * 4 <= own.size


@given(data=st.data(), size=st.integers(2, 6), each=st.integers(2, 8))
def test_a_group_of_one_per_subset_is_within_the_bound_over_ranks(data, size, each):
    """EMD <= (n - k) / (2 (n - 1) k) where k divides n, and at least (n + k)(n - k) / (4 n (n - 1) k)."""
    n = size * each
    group = [number * each + data.draw(st.integers(0, each - 1)) for number in range(size)]
    t = Demand.of([Confidential.of(np.arange(n), ordered=True)]).figures(np.isin(np.arange(n), group).astype(int))[0].t
    assert t[1] <= (n - size) / (2 * (n - 1) * size) + 1e-12
    assert t[1] >= (n + size) * (n - size) / (4 * n * (n - 1) * size) - 1e-12


def test_closeness_where_groups_do_not_divide_the_records_is_repaired():
    rng = np.random.default_rng(1)
    for _ in range(20):
        column = Confidential.of(np.arange(50), ordered=True)
        X = rng.standard_normal((50, 2))
        demand = Demand.of([column], t=0.12)
        formed = form_diverse(plain(X), 2, mdav(X, 2), demand, "closeness")
        assert demand.figures(formed)[0].t.max() <= 0.12
    assert size_for_closeness(50, 2, 0.12) == 4
    subsets = cut_by_rank(np.arange(50), 4)
    rows = [np.flatnonzero(subsets == one) for one in range(4)]
    ends = [[own[:1], own[-1:], *([own[:2], own[-2:]] if own.size == 13 else [])] for own in rows]
    groups = [np.isin(np.arange(50), np.concatenate(parts)).astype(np.int64) for parts in itertools.product(*ends)]
    worst = max(Demand.of([column]).figures(labels)[0].t[1] for labels in groups)
    assert worst > 0.14


@given_few(
    30,
    200,
    data=st.data(),
    case=matrices_and_k(most_columns=3),
    demanded=limits(),
    sizes=st.sampled_from(["variable", "fixed"]),
)
def test_refining_keeps_the_demand_and_never_loses_more(data, case, demanded, sizes):
    X, k = case
    demand = Demand.of([confidential(*data.draw(columns(X.shape[0]))) for _ in range(2)], **demanded)
    labels = form_diverse(plain(X), k, mdav(X, k), demand, "merge")
    assume(demand.kept(labels))
    found = refine(X, labels, k, effort=2000 * X.shape[0], sizes=sizes, demand=demand)
    assert demand.kept(found.labels)
    assert np.bincount(found.labels).min() >= k
    assert found.after <= found.before
    assert found.after == squared_error(plain(X), found.labels)


def test_refining_keeps_units_and_a_demand():
    records, rng = made(300, 8, seed=3), np.random.default_rng(0)
    units = Units(np.arange(300) // 3)
    demand = Demand.of([Confidential.of(rng.integers(0, 5, 300), ordered=True)], l=2, t=0.25)
    formed = form_diverse(records, 4, mdav(records, 4, units=units), demand, "merge", units=units)
    found = refine(records, formed, 4, units=units, demand=demand)
    assert demand.kept(found.labels)
    assert not held_by(found.labels, units.codes, found.labels.max() + 1).short(4, True).any()
    assert found.after < 0.95 * found.before
    thorough = refine(records, formed, 4, effort=2_000_000, units=units, demand=demand)
    assert demand.kept(thorough.labels)


def test_refining_a_partition_that_breaks_the_demand_is_refused():
    records = made(40, 8, seed=1)
    demand = Demand.of([Confidential.of(np.arange(40) // 20)], l=2)
    with pytest.raises(InvalidParameter, match="labels must keep the demand on confidential columns"):
        refine(records, np.arange(40) // 20, 4, demand=demand)


def test_members_are_chosen_by_the_first_column_that_a_way_can_choose_by():
    rng = np.random.default_rng(0)
    nominal, ordered = (Confidential.of(rng.integers(0, 5, 60), ordered=order) for order in (False, True))
    demand = Demand((nominal, ordered), (Limits(l=3), Limits(t=0.2)))
    assert fitting(60, demand) == ("merge", "candidates", "swap", "closeness")
    assert [chosen_by(way, demand) for way in WAYS] == [None, 0, 1, 1]
    records = made(60, 8)
    for way in WAYS:
        assert demand.kept(form_diverse(records, 4, mdav(records, 4), demand, way))
