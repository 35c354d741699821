"""The attack that puts households together again: a small one, with and without a remedy."""

import os
from pathlib import Path

import pytest

import microagg as ma
from adversary.__main__ import main
from adversary.rebuilt_units import attack, surveys, ways


def test_households_come_together_by_their_income_and_are_found_and_a_remedy_ends_it(capsys):
    survey = surveys(150, None)[0]
    asked = ways(survey, 5)
    found = attack(survey, ma.protect(survey.frame, **asked["confidential"]))
    assert found.together > 95
    assert found.counted >= found.together
    assert found.linked > 2 * 100 / 5
    for remedy in ("dropped", "masked"):
        after = attack(survey, ma.protect(survey.frame, **asked[remedy]))
        assert (after.together, after.counted, after.linked) == (0, 0, 0)
        assert after.by_rows <= 100 / 5
    assert main(["rebuilt", "--households", "60", "-k", "3", "--data", "nowhere"]) == 0
    shown = capsys.readouterr().out
    assert "1/k is 33.3 %" in shown
    assert [line.split()[0] for line in shown.splitlines()[2:]] == ["synthetic"] * 5


@pytest.mark.casc
def test_the_first_households_of_eusilc_come_together():
    survey = surveys(300, Path(os.environ["MICROAGG_DATA"]))[1]
    found = attack(survey, ma.protect(survey.frame, **ways(survey, 5)["kept"]))
    assert found.together > 99
    assert found.counted > 99
    assert found.linked > 100 / 5
