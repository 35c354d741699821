"""Tests of many cases in two lengths: few in a quick run, the full number as a campaign."""

import functools
import inspect

import pytest
from hypothesis import HealthCheck, given, settings


def given_few(quick, full, *strategies, **named):
    """Run a test as `hypothesis.given` does, with a few examples, and as a campaign with all of them.

    Arguments that no strategy fills are parameters or fixtures, as in any test.
    """

    def decorate(test):
        def run(examples, **others):
            checked = given(*strategies, **named)(test)
            settings(max_examples=examples, suppress_health_check=[HealthCheck.too_slow])(checked)(**others)

        functools.update_wrapper(run, test)
        del run.__wrapped__  # whose arguments pytest would take for fixtures
        left = inspect.signature(given(*strategies, **named)(test)).parameters.values()
        own = inspect.Parameter("examples", inspect.Parameter.KEYWORD_ONLY)
        run.__signature__ = inspect.Signature([*left, own])
        return pytest.mark.parametrize("examples", [quick, pytest.param(full, marks=pytest.mark.campaign)])(run)

    return decorate


def first_few(quick, cases):
    """Return cases for `pytest.mark.parametrize`: those after the first few are campaigns."""
    values = [case if isinstance(case, tuple) else (case,) for case in cases]
    marks = [pytest.mark.campaign if place >= quick else () for place in range(len(values))]
    return [pytest.param(*each, marks=mark) for each, mark in zip(values, marks, strict=True)]
