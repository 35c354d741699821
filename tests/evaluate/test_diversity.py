"""What groups give away beside what was demanded: as the oracle counts it, and in words."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.algorithms.diversity.demand import Confidential, Demand, Limits
from microagg.measures.diversity import DiversityFacts, demand_words, given_away, goals_of, promised
from tests.reference import diversity as oracle


@given(data=st.data(), n=st.integers(2, 25), rank=st.integers(2, 3))
def test_what_is_given_away_equals_the_oracle(data, n, rank):
    file = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    labels = np.unique(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)), return_inverse=True)[1]
    demand = Demand.of([Confidential.of(file, ordered=True, name="c")], recursive=(2.0, rank), t=0.5)
    found = given_away(demand, labels)["c"]
    owned = [[file[row] for row in np.flatnonzero(labels == g)] for g in range(labels.max() + 1)]
    counted = [oracle.commonest_and_rest(own, rank) for own in owned]
    assert found.distinct == min(map(oracle.distinct, owned))
    assert found.entropy == min(map(oracle.entropy, owned))
    assert found.t == max(oracle.t_of(own, file, True, None) for own in owned)
    assert (found.uniform, found.groups) == (sum(oracle.distinct(own) == 1 for own in owned), len(owned))
    assert found.ratio == max(most / rest if rest else math.inf for most, rest in counted)
    recursive, t = goals_of(demand.limits[0], found)
    assert recursive.holds == all(most < 2.0 * rest for most, rest in counted)
    assert (recursive.holds and t.holds) == demand.kept(labels)


def test_what_is_demanded_is_said_in_one_sentence():
    column = Confidential.of([0, 0, 1, 1, 2, 2], name="c")
    demand = Demand((column,), (Limits(l=2, entropy=1.5, recursive=(3.0, 2), t=0.9),))
    labels = np.zeros(6, dtype=np.int64)
    facts = DiversityFacts.of(demand, labels, labels, "merge", (1.0, 2.0))
    assert promised(facts.goals["c"], "'c'") == (
        "Records with the same masked values hold at least 2 different values of 'c'; their values vary at least as "
        "much as 1.5 equally frequent values; the commonest of their values has fewer records than 3 times the 2nd "
        "commonest value and all rarer ones together; their values differ by at most 0.9 from those of the whole file"
    )
    assert demand_words(facts) == (
        "l = 2 of c (3 reached), entropy_l = 1.5 of c (3 reached), recursive_l = (3, 2) of c (0.5 reached), t = 0.9 of "
        "c (0 reached); merge: loss 1.00 % without that and 2.00 % with it, unrefined and unrounded"
    )


@pytest.mark.parametrize(("rank", "word"), [(2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (21, "21st")])
def test_ranks_are_called_as_one_says(rank, word):
    column = Confidential.of([0, 1], name="c")
    demand = Demand((column,), (Limits(recursive=(9.0, rank)),))
    (goal,) = goals_of(demand.limits[0], given_away(demand, np.zeros(2, dtype=np.int64))["c"])
    assert f"the {word} commonest" in goal.words("values")
