"""Every kind of column against the definitions, cell by cell."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from microagg.columns.embedding import embed, embed_both
from microagg.columns.kinds import Cells, Nominal, Ordinal, Rule, Semi, Taxonomy
from microagg.columns.representatives import represent
from microagg.columns.table import Coded, Table
from microagg.errors import InvalidData
from microagg.measures.loss import loss_of_release
from tests.kinds.columns import coded, columns, plain, units_of
from tests.lengths import given_few
from tests.reference import mixed


@st.composite
def tables(draw, least=2, most=20, **how):
    n = draw(st.integers(least, most))
    drawn = draw(st.lists(columns(n, **how), min_size=1, max_size=4))
    weights = draw(st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=len(drawn), max_size=len(drawn)))
    return drawn, weights


@given_few(30, 200, tables(), st.sampled_from([1.0, 4.0]))
def test_squared_distances_add_up_over_the_columns(drawn, spike):
    described, weights = drawn
    table = Table(tuple(coded(j, *one, weights[j]) for j, one in enumerate(described)))
    placed = embed(table, spike=spike).coordinates
    n = table.n_records
    for i in range(n):
        for other in range(i):
            expected = sum(
                weight * mixed.squared_distance(kind, cells, cells[i], cells[other], 0.0, spike)
                for weight, (kind, cells) in zip(weights, described, strict=True)
            )
            found = ((placed[:, i] - placed[:, other]) ** 2).sum()
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given_few(30, 200, tables(missing=False))
def test_a_complete_column_that_varies_has_a_variance_of_its_importance(drawn):
    described, weights = drawn
    table = Table(tuple(coded(j, *one, weights[j]) for j, one in enumerate(described)))
    points = embed(table)
    for j, column in enumerate(table):
        if column.kind.name == "semi" and len({value != 0 for value in column.values}) == 1:
            continue  # all are the spike, or none is: half of the column is silent
        variance = points.coordinates[points.owners == j].var(axis=1).sum()
        assert variance == pytest.approx(0.0 if column.is_constant else column.importance, abs=1e-9)


@given(st.lists(st.booleans(), min_size=2, max_size=30))
def test_two_categories_lie_where_zero_and_one_do(flags):
    as_number = coded("a", "number", [float(flag) for flag in flags])
    as_category = coded("a", "nominal", [float(flag) for flag in flags])
    numbers, categories = embed(Table((as_number,))), embed(Table((as_category,)))
    if len(set(flags)) == 2:
        assert np.array_equal(numbers.coordinates, categories.coordinates)
    else:
        assert not numbers.coordinates.any()
        assert not categories.coordinates.any()


def test_another_table_is_placed_by_the_constants_of_the_original():
    original = Table((coded("a", "number", [0.0, 2.0]), coded("b", "nominal", [0.0, 1.0])))
    other = Table((coded("a", "number", [4.0, 1.0]), coded("b", "nominal", [1.0, 1.0])))
    _, placed = embed_both(original, other)
    assert placed.coordinates[0].tolist() == [3.0, 0.0]
    assert placed.coordinates[1].tolist() == [1.0, 1.0]


@given(st.data(), st.integers(2, 5), st.booleans(), st.booleans())
def test_representatives_are_those_of_the_definition(data, k, exact, several):
    n = data.draw(st.integers(k, 24))
    kind, cells = data.draw(columns(n))
    labels = np.array(data.draw(st.permutations(np.minimum(np.arange(n) // k, n // k - 1).tolist())))
    units = units_of(data, labels, k) if several else list(range(n))
    rule = Rule(k, spike_totals="exact" if exact else "safe", units=np.array(units) if several else None)
    table = Table((coded("x", kind, cells),))
    common = mixed.common_levels(cells, min(k, 3), units)
    shown = mixed.with_common_codes(cells, min(k, 3), units)
    expected = mixed.modes(shown, labels.tolist(), min(k, 3), units) if kind == "nominal" else []
    if expected is None or (kind == "ordinal" and not common and mixed.present(cells)):
        with pytest.raises(InvalidData, match=r"column 'x' (holds categories that fewer than|has no level that)"):
            represent(table, labels, rule)
        return
    of_groups, of_records, *_ = represent(table, labels, rule)
    if kind != "nominal":
        rows = [np.flatnonzero(labels == group) for group in range(labels.max() + 1)]
        expected = [
            mixed.representative(kind, [shown[i] for i in own], k, 0.0, exact, [units[i] for i in own], common)
            for own in rows
        ]
    assert plain(of_groups.columns[0].cells) == expected
    assert plain(of_records.columns[0].cells) == [expected[own] for own in labels]


@given_few(30, 200, st.data())
def test_losses_are_those_of_the_definition(data):
    n = data.draw(st.integers(2, 20))
    kind, before = data.draw(columns(n))
    values = sorted(set(before), key=str)
    after = data.draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))
    original, released = Table((coded("x", kind, before),)), Table((coded("x", kind, after),))
    expected = mixed.share_lost(kind, before, after)
    found = loss_of_release(original, released)
    assert found.per_column["x"] == pytest.approx(0.0 if expected is None else 100 * expected, rel=1e-9, abs=1e-9)


def test_the_loss_is_the_mean_of_the_columns_by_their_importance():
    numbers, released = [0.0, 1.0, 2.0, 3.0], [0.5, 0.5, 2.5, 2.5]
    names, modes = [0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 1.0, 1.0]
    before = Table((coded("a", "number", numbers, 3.0), coded("b", "nominal", names)))
    after = Table((coded("a", "number", released, 3.0), coded("b", "nominal", modes)))
    found = loss_of_release(before, after)
    assert found.per_column["a"] == pytest.approx(20.0)
    assert found.per_column["b"] == pytest.approx(50.0)
    assert found.percent == pytest.approx((3 * 20.0 + 50.0) / 4)


@given(st.data(), st.sampled_from(["balanced", "draw"]))
def test_other_rules_release_a_category_that_the_group_has(data, rule):
    n = data.draw(st.integers(2, 30))
    _, cells = data.draw(columns(n, kinds=("nominal",)))
    labels = np.unique(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), return_inverse=True)[1]
    table = Table((coded("x", "nominal", cells),))
    shown = mixed.with_common_codes(cells, 2)
    if mixed.modes(shown, labels.tolist(), 2) is None:
        with pytest.raises(InvalidData, match="column 'x' holds categories that fewer than 2"):
            represent(table, labels, Rule(2, nominal=rule, seed=3))
        return
    of_groups, *_ = represent(table, labels, Rule(2, nominal=rule, seed=3))
    again, *_ = represent(table, labels, Rule(2, nominal=rule, seed=3))
    assert plain(of_groups.columns[0].cells) == plain(again.columns[0].cells)
    for group, cell in enumerate(plain(of_groups.columns[0].cells)):
        assert mixed.is_missing(cell) or cells.count(cell) >= 2
        assert cell in [own for own, label in zip(shown, labels, strict=True) if label == group]


def drawn_columns(rows, labels, rule):
    """What groups release of two columns that hold the same cells."""
    table = Table(tuple(coded(name, "nominal", rows) for name in ("x", "y")))
    return [plain(one.cells) for one in represent(table, labels, rule)[0].columns]


def test_each_column_is_drawn_by_itself_and_tells_of_no_row():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(500), 4)
    cells = rng.integers(0, 5, labels.size).astype(float)
    x, y = drawn_columns(cells, labels, Rule(4, nominal="draw", seed=0))
    assert x != y
    shuffled = rng.permuted(cells.reshape(-1, 4), axis=1).ravel()  # other members have the same values
    assert drawn_columns(shuffled, labels, Rule(4, nominal="draw", seed=0)) == [x, y]
    # The place that a public seed gives is no better a guess of whose value it was than any other.
    places = np.arange(500) * 4 + (np.random.default_rng(0).random(500) * 4).astype(int)
    assert np.mean(cells[places] == x) < 0.6


def test_categories_are_drawn_by_their_shares():
    labels = np.repeat(np.arange(4000), 4)
    cells = np.tile([0.0, 2.0, 2.0, 2.0], 4000)
    drawn = np.array(drawn_columns(cells, labels, Rule(4, nominal="draw", seed=1))[0])
    assert np.mean(drawn == 0.0) == pytest.approx(0.25, abs=0.03)


def test_the_draw_depends_on_what_is_not_released():
    labels = np.repeat(np.arange(300), 4)
    cells = np.tile([0.0, 1.0, 2.0, 3.0], 300)
    other = np.concatenate([cells[:-4], [0.0, 0.0, 0.0, 0.0]])
    one, two = (drawn_columns(own, labels, Rule(4, nominal="draw", seed=1))[0] for own in (cells, other))
    assert one[:-1] != two[:-1]


def test_balanced_keeps_the_shares_of_the_categories():
    rng = np.random.default_rng(0)
    cells = rng.choice(4, size=3000, p=[0.7, 0.2, 0.07, 0.03]).astype(float)
    labels = np.repeat(np.arange(1000), 3)
    column = Coded("x", Nominal(), Cells(cells))
    moved = {}
    for rule in ("mode", "balanced"):
        released = represent(Table((column,)), labels, Rule(3, nominal=rule))[1].columns[0].values
        moved[rule] = np.abs(np.bincount(released.astype(int), minlength=4) - np.bincount(cells.astype(int))).sum()
    assert moved["balanced"] < 0.6 * moved["mode"]


def test_the_median_level_lies_within_the_group():
    cells = Cells(np.array([0.0, 4.0, 1.0, 3.0, 0.0, 1.0]))
    found = Ordinal(5).representatives(cells, np.array([0, 0, 1, 1, 2, 2]), 3, Rule(2))
    assert found.values.tolist() == [0.0, 1.0, 0.0]  # between two middles the mean ties: the lower


def test_a_spike_stands_where_too_few_are_off_it():
    cells = Cells(np.array([0.0, 0.0, 0.0, 0.0, 9.0, 0.0, 0.0, 3.0, 6.0, 9.0]))
    labels = np.repeat([0, 1], 5)
    assert Semi(0.0).representatives(cells, labels, 2, Rule(5)).values.tolist() == [0.0, 3.6]
    exact = Semi(0.0).representatives(cells, labels, 2, Rule(5, spike_totals="exact"))
    assert exact.values.tolist() == [1.8, 3.6]


KIN = (tuple(range(6)), (0, 0, 0, 1, 1, 2))


@given(st.lists(st.integers(0, 5), min_size=2, max_size=25))
def test_a_tree_distance_is_the_length_of_the_path(codes):
    column = Coded("x", Taxonomy(KIN), Cells(np.array(codes, dtype=float)))
    placed = embed(Table((column,))).coordinates
    levels = [[level[code] for code in codes] for level in KIN]
    spread = sum(1 - sum((level.count(one) / len(level)) ** 2 for one in set(level)) for level in levels)
    for i in range(len(codes)):
        for j in range(i):
            steps = sum(level[i] != level[j] for level in levels)
            found = ((placed[:, i] - placed[:, j]) ** 2).sum()
            assert found == pytest.approx(2 * steps / spread if spread else 0.0, rel=1e-12, abs=1e-12)


@given(st.data())
def test_a_taxonomy_releases_the_member_with_the_shortest_paths(data):
    n = data.draw(st.integers(2, 20))
    codes = data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n))
    labels = np.unique(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), return_inverse=True)[1]
    column = Coded("x", Taxonomy(KIN), Cells(np.array(codes, dtype=float)))
    assume(mixed.modes(codes, labels.tolist(), 2) is not None)
    found = represent(Table((column,)), labels, Rule(2))[0].columns[0].values
    for group, chosen in enumerate(found.astype(int)):
        members = [code for code, own in zip(codes, labels, strict=True) if own == group]
        length = {code: sum(level[code] != level[other] for other in members for level in KIN) for code in members}
        assert chosen in length
        assert length[chosen] == min(own for code, own in length.items() if codes.count(code) >= 2)


@given(st.data())
def test_a_taxonomy_of_one_level_is_a_plain_nominal_column(data):
    n = data.draw(st.integers(3, 20))
    codes = np.array(data.draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), dtype=float)
    codes[:3] = [0, 1, 2]
    labels = np.unique(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), return_inverse=True)[1]
    plain_one, tree = Coded("x", Nominal(), Cells(codes)), Coded("x", Taxonomy((tuple(range(6)),)), Cells(codes))
    one, other = (embed(Table((column,))).coordinates for column in (plain_one, tree))
    np.testing.assert_allclose(one, other, rtol=1e-12)
    assume(mixed.modes(codes.tolist(), labels.tolist(), 2) is not None)
    released = [represent(Table((column,)), labels, Rule(2))[0].columns[0].values for column in (plain_one, tree)]
    assert np.array_equal(*released)
