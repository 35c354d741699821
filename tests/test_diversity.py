"""Demands on confidential columns: figures and breaches as the oracle counts them, and what cannot be kept."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from microagg.algorithms.diversity.demand import Confidential, Demand, Limits, check_possible, max_groups
from microagg.errors import InvalidParameter
from microagg.measures.anonymity import measure_anonymity
from tests.lengths import given_few
from tests.reference import diversity as oracle

TREE = [{value: value // width for value in range(8)} for width in (1, 2, 4)]


@st.composite
def limits(draw):
    """What may be demanded, alone or together."""
    each = {
        "l": st.integers(2, 4),
        "entropy": st.sampled_from([1.5, 2.0, 3.0]),
        "recursive": st.tuples(st.sampled_from([0.5, 1.0, 2.0]), st.integers(2, 3)),
        "t": st.sampled_from([0.0, 0.1, 0.25, 0.5]),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(each)), min_size=1, max_size=3, unique=True))
    return {name: draw(each[name]) for name in chosen}


@st.composite
def columns(draw, n):
    """A confidential column of n values, some of them missing, and whether it has an order or a tree."""
    value = st.sampled_from([0, 1, 2, 3, 5, 7, 7, 7]) if draw(st.booleans()) else st.integers(0, 7)
    file = draw(
        st.lists(st.one_of(value, value, value, st.none()) if draw(st.booleans()) else value, min_size=n, max_size=n)
    )
    assume(any(one is not None for one in file))
    return file, draw(st.sampled_from(["nominal", "ordered", "tree"]))


def confidential(file, kind, name="c"):
    codes = np.array([0 if value is None else value for value in file])
    kin = [[level[value] for value in range(8)] for level in TREE] if kind == "tree" else None
    missing = [value is None for value in file]
    return Confidential.of(codes, missing=missing, ordered=kind == "ordered", kin=kin, name=name)


def oracle_breach(own, file, kind, demanded):
    return oracle.breach(own, file, kind == "ordered", demanded, TREE if kind == "tree" else None)


@given_few(25, 200, data=st.data(), demanded=limits(), n=st.integers(2, 30))
def test_breaches_and_figures_equal_the_oracle(data, demanded, n):
    file, kind = data.draw(columns(n))
    labels = np.unique(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), return_inverse=True)[1]
    demand = Demand.of([confidential(file, kind)], **demanded)
    owned = [[file[row] for row in np.flatnonzero(labels == g)] for g in range(labels.max() + 1)]
    assert demand.breach(labels).tolist() == [oracle_breach(own, file, kind, demanded) for own in owned]
    assert demand.kept(labels) == (max(oracle_breach(own, file, kind, demanded) for own in owned) == 0)
    rank = demanded.get("recursive", (1, 2))[1]
    figures = demand.figures(labels)[0]
    assert figures.distinct.tolist() == [oracle.distinct(own) for own in owned]
    assert figures.entropy.tolist() == [oracle.entropy(own) for own in owned]
    assert list(zip(figures.most, figures.tail, strict=True)) == [oracle.commonest_and_rest(own, rank) for own in owned]
    levels = TREE if kind == "tree" else None
    assert figures.t.tolist() == [oracle.t_of(own, file, kind == "ordered", levels) for own in owned]


@given(data=st.data(), n=st.integers(2, 30))
def test_the_distance_in_a_tree_is_that_of_moving_earth_in_it(data, n):
    file, _ = data.draw(columns(n))
    own = data.draw(st.lists(st.sampled_from(file), min_size=1, max_size=n))
    missing_apart = [{**level, None: None} for level in TREE]
    assert oracle.t_tree(own, file, TREE) == pytest.approx(oracle.t_tree_by_transport(own, file, missing_apart))


@given(data=st.data(), n=st.integers(2, 30), ordered=st.booleans())
def test_figures_of_complete_columns_are_those_that_are_reported(data, n, ordered):
    file = data.draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    labels = np.unique(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), return_inverse=True)[1]
    codes = np.unique(file, return_inverse=True)[1]
    figures = Demand.of([confidential(file, "ordered" if ordered else "nominal")]).figures(labels)[0]
    reported = measure_anonymity(labels, {"c": (codes, ordered)}).diversity["c"]
    assert figures.distinct.min() == reported.distinct
    assert_allclose(figures.entropy.min(), reported.entropy, rtol=1e-12)
    assert_allclose(figures.t.max(), reported.t_ordered if ordered else reported.t, atol=1e-12)


@given_few(25, 200, data=st.data(), demanded=limits(), n=st.integers(2, 30))
def test_merging_two_groups_that_keep_a_demand_keeps_it(data, demanded, n):
    file, kind = data.draw(columns(n))
    labels = np.unique(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)), return_inverse=True)[1]
    demand = Demand.of([confidential(file, kind)], **demanded)
    assert not demand.kept(labels) or demand.kept(np.zeros(n, dtype=np.int64))


def test_a_missing_value_is_no_value_for_l_and_one_of_its_own_for_t():
    column = confidential([3, None, 3, None, 1, 5, 1, 5], "nominal")
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    figures = Demand.of([column]).figures(labels)[0]
    assert figures.distinct.tolist() == [1, 2]
    assert figures.t.tolist() == [0.5, 0.5]
    assert not Demand.of([column], l=2).kept(labels)
    ordered = confidential([3, None, 3, None, 1, 5, 1, 5], "ordered")
    assert Demand.of([ordered]).figures(labels)[0].t.tolist() == pytest.approx([1 / 3, 0.25])


def test_some_records_are_still_compared_with_the_whole_file():
    column = confidential([0, 1, 2, 3] * 5, "ordered")
    part = Demand.of([column], t=0.2).take(np.arange(0, 20, 4))
    assert part.columns[0].codes.tolist() == [0] * 5
    assert part.figures(np.zeros(5, dtype=np.int64))[0].t.tolist() == [0.5]
    assert_array_equal(part.columns[0].counts, [5, 5, 5, 5, 0])


def test_limits_may_differ_by_column():
    a, b = confidential([0, 1, 0, 1], "nominal"), confidential([0, 0, 1, 1], "nominal")
    labels = np.array([0, 0, 1, 1])
    assert Demand((a, b), (Limits(l=2), Limits())).kept(labels)
    assert Demand((a, b), (Limits(), Limits(l=2))).breach(labels).tolist() == [0.5, 0.5]


@given_few(25, 200, data=st.data(), n=st.integers(2, 40), p=st.integers(2, 4))
def test_the_most_groups_equal_the_oracle(data, n, p):
    file, _ = data.draw(columns(n))
    assume(oracle.distinct(file) >= p)
    assert max_groups(confidential(file, "nominal").counts[:-1], p) == oracle.max_groups(file, p)


def test_the_most_groups_of_too_few_values_is_none():
    assert max_groups([5, 5], 3) == 0


KEYWORDS = {"entropy": "entropy_l", "recursive": "recursive_l"}
"""What recipes call a limit, where that is another name."""

FILE = [0, 1, 2, 2, 2, 2, 3, 3] * 3
STRATA = np.repeat([0, 1], 12)


def keyword(demanded):
    """Give what a recipe calls the only limit that is demanded."""
    (name,) = demanded
    return KEYWORDS.get(name, name)


@pytest.mark.parametrize(
    ("demanded", "strata", "message"),
    [
        ({"l": 5}, None, r"l=5 cannot be kept: the file has 4 different value\(s\) of column 'c'. Ask for l=4 at most"),
        ({"l": 4}, np.arange(24) % 8 // 6, r"one stratum has 1 different value\(s\).*Leave l out or merge strata"),
        ({"entropy": 3.8}, None, r"entropy_l=3.8 cannot be kept: exp\(entropy\).*in the file is 3.3635"),
        ({"recursive": (1.0, 2)}, None, r"c must be above 1\. Change it"),
        ({"recursive": (1.0, 6)}, None, r"the file has fewer than 6 values"),
        ({"t": 0.01}, np.arange(24) % 2, r"t=0.01 cannot be kept: the values of one stratum .* away.*merge strata"),
    ],
)
def test_what_cannot_be_kept_is_refused(demanded, strata, message):
    with pytest.raises(InvalidParameter, match=message) as caught:
        check_possible(Demand.of([confidential(FILE, "nominal")], **demanded), strata)
    assert caught.value.parameter == keyword(demanded)
    assert caught.value.columns == ("c",)


def test_what_can_be_kept_is_not_refused():
    column = confidential(FILE, "nominal")
    check_possible(Demand.of([column], l=4, entropy=3.36, recursive=(1.01, 2), t=0.0))
    check_possible(Demand.of([column], l=4, t=0.17), STRATA)
    check_possible(Demand.of([confidential(list(range(24)), "nominal")], l=5))


def test_different_values_of_a_continuous_column_are_refused():
    column = Confidential.of(np.arange(30), ordered=True, name="income")
    for demanded in ({"l": 3}, {"entropy": 2.0}, {"recursive": (2.0, 2)}):
        with pytest.raises(InvalidParameter, match=r"nearly all values of column 'income' differ \(30 of 30") as caught:
            check_possible(Demand.of([column], **demanded))
        assert caught.value.parameter == keyword(demanded)
    check_possible(Demand.of([column], t=0.1))


@pytest.mark.parametrize(
    "demanded", [{"l": 1}, {"entropy": 0.5}, {"recursive": (0.0, 2)}, {"recursive": (1.0, 1)}, {"t": 1.5}]
)
def test_limits_that_mean_nothing_are_refused(demanded):
    with pytest.raises(InvalidParameter) as caught:
        Limits(**demanded).check()
    assert caught.value.parameter == keyword(demanded)
