"""What weights make of representatives and losses, against the definitions, cell by cell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.columns.kinds import Rule, Taxonomy
from microagg.columns.representatives import represent
from microagg.columns.table import Coded, Table
from microagg.columns.weights import Members, Weights
from microagg.errors import InvalidData
from microagg.measures.loss import weighted_loss_of_release
from microagg.work import ALONE
from tests.kinds.columns import coded, columns, plain, units_of
from tests.lengths import given_few
from tests.reference import mixed
from tests.reference import weights as by_the_book

# Eighths: their sums are exact, so that ties are the oracle's.
WEIGHTS = st.integers(0, 40).map(lambda eighths: eighths / 8) | st.sampled_from([0.0, 1.0, 1.0, 200.0])


def weights_of(data, n):
    found = data.draw(st.lists(WEIGHTS, min_size=n, max_size=n))
    found[data.draw(st.integers(0, n - 1))] += 1.0
    return found


def groups_of(data, n, k):
    return np.array(data.draw(st.permutations(np.minimum(np.arange(n) // k, n // k - 1).tolist())))


@given_few(25, 200, st.data(), st.integers(2, 5), st.booleans(), st.sampled_from(["mean", "median"]), st.booleans())
def test_representatives_are_those_of_the_definition(data, k, exact, aggregate, several):
    n = data.draw(st.integers(k, 24))
    kind, cells = data.draw(columns(n))
    weights, labels = weights_of(data, n), groups_of(data, n, k)
    units = units_of(data, labels, k) if several else list(range(n))
    rule = Rule(k, aggregate, spike_totals="exact" if exact else "safe", units=np.array(units) if several else None)
    table = Table((coded("x", kind, cells),))
    common = mixed.common_levels(cells, min(k, 3), units)
    shown = mixed.with_common_codes(cells, min(k, 3), units)
    expected = by_the_book.modes(shown, labels.tolist(), weights, min(k, 3), units) if kind == "nominal" else []
    known = Weights.of(np.array(weights))._replace(units=rule.units)
    if expected is None or (kind == "ordinal" and not common and mixed.present(cells)):
        with pytest.raises(InvalidData, match=r"holds categories that fewer than|has no level that"):
            represent(table, labels, rule, ALONE, known)
        return
    found = represent(table, labels, rule, ALONE, known)
    if kind != "nominal":
        expected = [
            by_the_book.representative(
                kind,
                [shown[i] for i in np.flatnonzero(labels == group)],
                [weights[i] for i in np.flatnonzero(labels == group)],
                k,
                0.0,
                exact,
                aggregate,
                [units[i] for i in np.flatnonzero(labels == group)],
                common,
            )
            for group in range(labels.max() + 1)
        ]
    assert plain(found.groups.columns[0].cells) == expected
    assert plain(found.records.columns[0].cells) == [expected[own] for own in labels]


@given(st.data())
def test_means_are_rounded_once_whatever_the_weights(data):
    n = data.draw(st.integers(2, 12))
    values = data.draw(st.lists(st.floats(-1e6, 1e6), min_size=n, max_size=n))
    weights = data.draw(st.lists(st.floats(0.5, 1.5), min_size=n, max_size=n))
    table = Table((coded("x", "number", values),))
    found = represent(table, np.zeros(n, dtype=np.int64), Rule(2), ALONE, Weights.of(np.array(weights)))
    expected = by_the_book.mean(values, by_the_book.effective(weights))
    assert found.groups.columns[0].values[0] == pytest.approx(expected, rel=1e-15, abs=1e-300)


@given(st.data(), st.integers(2, 4))
def test_weighted_totals_stay_in_every_group(data, k):
    n = data.draw(st.integers(k, 20))
    values = data.draw(st.lists(st.floats(0.0, 1e6, allow_subnormal=False), min_size=n, max_size=n))
    weights = data.draw(st.lists(st.floats(1.0, 3.0), min_size=n, max_size=n))
    labels = groups_of(data, n, k)
    table = Table((coded("x", "number", values),))
    released = represent(table, labels, Rule(k), ALONE, Weights.of(np.array(weights))).records.columns[0].values
    for group in range(labels.max() + 1):
        rows = np.flatnonzero(labels == group)
        own = [weights[i] for i in rows]
        before, after = (by_the_book.total([one[i] for i in rows], own) for one in (values, released))
        assert float(abs(after - before)) <= 1e-12 * float(before)


def test_equal_weights_release_what_no_weights_do():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(20), 5)
    columns_ = [
        coded("a", "number", rng.normal(size=100).tolist()),
        coded("b", "nominal", rng.integers(0, 4, 100).astype(float).tolist()),
        coded("c", "ordinal", rng.integers(0, 5, 100).astype(float).tolist()),
    ]
    plain_one = represent(Table(tuple(columns_)), labels, Rule(5))
    weighted = represent(Table(tuple(columns_)), labels, Rule(5), ALONE, Weights.of(np.full(100, 3.7)))
    for one, other in zip(plain_one.groups, weighted.groups, strict=True):
        assert one.values.tolist() == other.values.tolist()


@given_few(25, 200, st.data())
def test_losses_are_those_of_the_definition(data):
    n = data.draw(st.integers(2, 20))
    kind, before = data.draw(columns(n))
    weights = weights_of(data, n)
    values = sorted(set(before), key=str)
    after = data.draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
    expected = by_the_book.share_lost(kind, before, after, weights)
    found = weighted_loss_of_release(
        Table((coded("x", kind, before),)), Table((coded("x", kind, after),)), Weights.of(np.array(weights))
    )
    if expected is not None:
        assert found.per_column["x"] == pytest.approx(100 * expected, rel=1e-9, abs=1e-9)


@given(st.lists(WEIGHTS, min_size=2, max_size=9))
def test_a_weight_that_dominates_is_cut_to_four_fifths(drawn):
    weights = Weights.of(np.array(drawn))
    members = Members.of(weights, np.zeros(len(drawn), dtype=np.int64), 1)
    assert bool(members.cut[0]) == by_the_book.is_dominated(drawn)
    assert members.values.tolist() == [float(one) for one in by_the_book.effective(drawn)]


def test_a_group_that_weighs_nothing_has_the_plain_mean():
    table = Table((coded("x", "number", [1.0, 2.0, 6.0, 1.0, 5.0, 0.0]), coded("c", "nominal", [0.0, 1, 1, 0, 0, 1])))
    weights = Weights.of(np.array([0.0, 0.0, 0.0, 1.0, 1.0, 2.0]))
    found = represent(table, np.array([0, 0, 0, 1, 1, 1]), Rule(3), ALONE, weights)
    assert found.groups.columns[0].values.tolist() == [3.0, 1.5]
    assert found.groups.columns[1].values.tolist() == [1.0, 0.0]
    assert found.dominated == 0


def test_one_member_of_those_present_dominates_though_not_of_the_group():
    cells = [9.0, 1.0, 1.0, ("missing", 1), ("missing", 1)]
    weights = Weights.of(np.array([10.0, 1.0, 1.0, 1.0, 1.0]))
    labels = np.zeros(5, dtype=np.int64)
    assert represent(Table((coded("x", "number", cells),)), labels, Rule(3), ALONE, weights).dominated == 1
    assert represent(Table((coded("x", "number", [9.0, 1, 1, 1, 1]),)), labels, Rule(3), ALONE, weights).dominated == 0


def test_the_medoid_of_a_taxonomy_goes_by_weight():
    kind = Taxonomy(kin=((0, 1, 2, 3), (0, 0, 1, 1)))
    column = coded("x", "nominal", np.repeat([0.0, 1.0, 2.0], 3).tolist())
    column = Coded("x", kind, column.cells)
    labels = np.zeros(9, dtype=np.int64)
    light = represent(Table((column,)), labels, Rule(3), ALONE, Weights.of(np.ones(9))).groups
    heavy = represent(Table((column,)), labels, Rule(3), ALONE, Weights.of(np.repeat([1.0, 1.0, 7.0], 3))).groups
    assert light.columns[0].values[0] in (0.0, 1.0)
    assert heavy.columns[0].values[0] == 2.0


def test_a_member_is_drawn_as_often_as_it_weighs():
    n_groups = 4000
    labels = np.repeat(np.arange(n_groups), 2)
    column = coded("x", "nominal", np.tile([0.0, 1.0], n_groups).tolist())
    weights = Weights.of(np.tile([1.0, 3.0], n_groups))
    found = represent(Table((column,)), labels, Rule(2, nominal="draw"), ALONE, weights).groups.columns[0].values
    assert found.mean() == pytest.approx(0.75, abs=0.03)
