"""What digits give away: much of a release with all of them, nothing of one that is written."""

import numpy as np
import pytest

from adversary import __main__ as campaign
from adversary.weight_traces import Design, Found, attack, decoded, synthetic


def test_an_intruder_learns_much_from_all_digits_and_nothing_from_what_is_written(capsys):
    ages, ages_now, regions, regions_now = (found for _, found in attack(synthetic(600)))
    assert ages.known > 0.5 * ages.of
    assert ages.right == ages.known
    assert regions.known > 0.9 * regions.of > 0
    assert regions.right == regions.known
    assert (ages_now.known, regions_now.known) == (0, 0)
    assert campaign.main(["weights", "--records", "200", "--only-synthetic"]) == 0
    assert capsys.readouterr().out.count(" of ") == 6


def test_ages_are_known_only_where_one_way_leads_to_the_mean():
    labels, ages = np.zeros(3, dtype=np.int64), np.array([30, 34, 41])
    for weights, known in ((np.array([2**0.5, 3**0.5, np.pi]), 3), (np.array([1.5, 2.1, 3.0]), 0), (np.ones(3), 0)):
        means = np.full(3, np.average(ages, weights=weights))
        assert decoded(means, labels, weights, ages, 0.0) == Found(3, known, known)
        assert decoded(means.round(), labels, weights, ages, 1.0).known == 0


@pytest.mark.parametrize(("tolerance", "expected"), [(1e-9, frozenset("ab")), (5.0, None)])
def test_regions_are_known_only_where_all_ways_have_the_same(tolerance, expected):
    design = Design(np.array([10.1, 20.3, 33.7]), np.array(["a", "b", "c"]))
    assert design.told((10.1 * 3 + 20.3) / 4, 4, tolerance) == expected
    assert design.told(11.0, 4, 1e-9) is None
