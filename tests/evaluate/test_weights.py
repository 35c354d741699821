"""What weights give away, what a sample leaves of the risk, and contributions by weight, against the definitions."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import microagg as ma
from microagg.errors import InputError, InvalidParameter
from microagg.measures.weights import could_dominate, expected_links, fingerprint, individual_risks, unit_could_dominate
from tests.lengths import given_few
from tests.reference import weights as by_the_book
from tests.reference.counted_units import can_hold


@given(st.lists(st.tuples(st.integers(0, 4), st.floats(0.0, 60.0)), min_size=1, max_size=30))
def test_expected_links_are_those_of_the_definition(records):
    classes, weights = [one for one, _ in records], [weight for _, weight in records]
    found = expected_links(np.array(classes), np.array(weights))
    assert found == pytest.approx(by_the_book.expected_links(classes, weights), rel=1e-6)


@given(st.integers(1, 40), st.floats(1.0, 1e4))
def test_the_chance_lies_between_one_of_all_persons_and_one_of_the_sample(f, times):
    (chance,) = individual_risks(np.array([f]), np.array([f * times]))
    assert 1 / (f * times) * (1 - 1e-9) <= chance <= 1 / f * (1 + 1e-9)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=40),
    st.integers(2, 5),
)
def test_what_weights_give_away_is_that_of_the_definition(records, k):
    weights, one, other = (list(column) for column in zip(*records, strict=True))
    found = fingerprint(np.array(weights), {"one": np.array(one), "other": np.array(other)}, k)
    assert found.rare == by_the_book.rare_weights(weights, k)
    for name, categories in (("one", one), ("other", other)):
        telling, distinct, _ = by_the_book.telling_weights(weights, categories)
        assert (found.telling[name].weights, found.distinct) == (telling, distinct)
        shared = [i for i, weight in enumerate(weights) if weights.count(weight) >= k]
        if shared:
            own = [weights[i] for i in shared], [categories[i] for i in shared]
            assert found.telling[name].share == by_the_book.telling_weights(*own)[2]
        else:
            assert found.telling[name].share == 0


@given_few(25, 200, st.data())
def test_contributions_are_values_times_weights(data):
    n = data.draw(st.integers(4, 20))
    values = data.draw(st.lists(st.integers(0, 50).map(float), min_size=n, max_size=n))
    weights = data.draw(st.lists(st.integers(1, 9).map(float), min_size=n, max_size=n))
    labels = np.minimum(np.arange(n) // 2, n // 2 - 1)
    found = ma.dominance(np.array(values)[:, None], labels, p=10, weights=weights)
    assert found.failing[0] == by_the_book.contributions(values, weights, labels.tolist(), 10)


@given(st.data(), st.integers(2, 4))
def test_where_no_group_could_be_dominated_none_is(data, k):
    n = data.draw(st.integers(k, 15))
    weights = data.draw(st.lists(st.integers(0, 30).map(float), min_size=n, max_size=n))
    labels = np.array(data.draw(st.permutations(np.minimum(np.arange(n) // k, n // k - 1).tolist())))
    groups = [[weights[i] for i in np.flatnonzero(labels == group)] for group in range(labels.max() + 1)]
    assert could_dominate(np.array(weights), k) or not any(map(by_the_book.is_dominated, groups))


@given_few(25, 200, st.data(), st.integers(2, 4), st.booleans(), st.booleans())
def test_where_no_unit_could_dominate_a_group_none_does(data, k, in_part, gaps):
    n = data.draw(st.integers(k, 16))
    weights = data.draw(st.lists(st.integers(0, 30).map(float), min_size=n, max_size=n))
    units = data.draw(st.lists(st.integers(0, 6), min_size=n, max_size=n))
    group = data.draw(st.sets(st.integers(0, n - 1), min_size=1))
    assume(can_hold([units[i] for i in group], k, in_part))
    known = data.draw(st.sets(st.sampled_from(sorted(group)), min_size=1)) if gaps else group
    assume(2 * sum(weights[i] for i in known) >= sum(weights[i] for i in group))
    dominated = by_the_book.is_dominated([weights[i] for i in known], [units[i] for i in known])
    assert not dominated or unit_could_dominate(np.array(weights), np.array(units), k, in_part=in_part, gaps=gaps)


def test_weights_that_are_none_are_refused():
    values, labels = np.arange(6.0)[:, None], [0, 0, 0, 1, 1, 1]
    with pytest.raises(InvalidParameter, match="6 records"):
        ma.dominance(values, labels, weights=[1.0, 2.0])
    with pytest.raises(InvalidParameter, match="no numbers"):
        ma.dominance(values, labels, weights=["a"] * 6)
    with pytest.raises(InputError, match="1 negative"):
        ma.loss_measures(values, values, weights=[1, 1, 1, 1, 1, -1])


def test_loss_and_risk_of_any_file_can_be_had_by_weight():
    survey = ma.datasets.survey(300, seed=0)
    weights = survey["weight"].to_numpy()
    release = ma.protect(survey, 5, quasi=["age", "income", "tax"], weight="weight", rest="drop")
    masked = release.data.drop_columns(["weight"])
    original = survey.select(["age", "income", "tax"])
    loss = ma.loss_measures(original, masked, weights=weights)
    assert loss.weighted.percent == pytest.approx(release.weights.information.percent)
    assert [one.value for one in loss.measures if one.name == "IL_w"] == [loss.weighted.percent]
    risk = ma.disclosure_risk(original, masked, weights=weights)
    assert risk.expected_links == pytest.approx(release.risk.expected_links)
    assert 0 < risk.expected_links < len(release.groups) * risk.full_keys / 100
    classes = list(zip(*(masked[name].to_pylist() for name in masked.column_names), strict=True))
    assert risk.expected_links == pytest.approx(by_the_book.expected_links(classes, weights.tolist()), rel=1e-6)


def test_without_weights_nothing_is_said_of_them():
    survey = ma.datasets.survey(100, seed=0).select(["age", "income"])
    release = ma.protect(survey, 5)
    assert (release.weights, release.loss.weighted, release.risk.expected_links) == (None, None, None)
    assert not {"IL_w", "expected links"} & {one.name for one in (*release.loss.measures, *release.risk.measures)}
    assert "by weight" not in repr(release)
    assert isinstance(release.data, pa.Table)
