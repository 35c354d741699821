"""Tests of drawn examples in two lengths: few in a quick run, the full number as a campaign."""

import functools

import pytest
from hypothesis import HealthCheck, given, settings


def given_few(quick, full, *strategies, **named):
    """Run a test as `hypothesis.given` does, with a few examples, and as a campaign with all of them."""

    def decorate(test):
        def run(examples):
            checked = given(*strategies, **named)(test)
            settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow])(checked)()

        functools.update_wrapper(run, test)
        del run.__wrapped__  # whose arguments pytest would take for fixtures
        return pytest.mark.parametrize("examples", [quick, pytest.param(full, marks=pytest.mark.campaign)])(run)

    return decorate
