"""The campaign that soaks: a short one, and that growth is noticed."""

import pytest

from adversary.soak import HANDLES, MEMORY, WARM_UP, Sample, growth, slope, soak, verdict


def samples(memory=lambda _: 400.0, handles=lambda _: 20, threads=lambda _: 3, scratch=lambda _: 0, n=30):
    return [Sample(memory(i), handles(i), threads(i), scratch(i)) for i in range(n)]


def test_what_stays_as_it_is_is_no_problem():
    assert verdict(samples()) == []
    assert verdict(samples(memory=lambda i: 400.0 + 15.0 * (i % 4))) == []
    assert verdict(samples(memory=lambda i: 400.0 + 300.0 * (i == 20))) == []  # a single round
    assert verdict(samples(memory=lambda i: min(i, WARM_UP) * 100.0)) == []  # the warm-up
    assert verdict(samples(handles=lambda i: 20 + i % (HANDLES + 1))) == []


def test_a_list_that_grows_is_noticed():
    kept = []

    def memory(_):
        kept.append(bytes(2 << 20))
        return 400.0 + sum(map(len, kept)) / 2**20

    assert "memory grew by" in verdict(samples(memory=memory))[0]
    assert verdict(samples(memory=lambda i: 400.0 + i * MEMORY / 60)) == []


@pytest.mark.parametrize("what", ["handles", "threads"])
def test_handles_and_threads_that_are_not_let_go_are_noticed(what):
    assert f"{what} grew by" in verdict(samples(**{what: lambda i: 20 + i}))[0]


def test_scratch_is_noticed_in_any_round():
    assert verdict(samples(scratch=lambda i: int(i == 2))) == ["1 files of scratch after round 2"]


def test_the_slope_is_that_of_most_rounds():
    assert slope([0.0, 1.0, 2.0, 3.0, 100.0, 5.0]) == pytest.approx(1.0)
    assert growth([5.0, 4.0, 3.0]) == 0.0
    assert slope([1.0]) == 0.0


@pytest.mark.campaign
def test_a_few_rounds_leave_nothing(capsys):
    found = soak(0.0, 1, ["read", "mask", "disk", "cancelled", "refused"])
    assert len(found) == WARM_UP + 3
    assert verdict(found) == []
    assert "handles" in capsys.readouterr().out
