"""Compile the kernels and keep them on disk, so that tests in parallel load them and do not all compile the same ones.

It uses public names only. What it misses is compiled by the tests themselves, so nothing here has to be complete.
"""

import sys

import numpy as np

import microagg as ma

METHODS = (ma.MDAV, ma.CBFS, ma.VMDAV, ma.IAMAT, ma.MaximumDistance, ma.Projection, ma.Univariate)


def compile_estimators():
    """Run each method, by records and by units, on a file so small that nearly all the time goes into compiling."""
    X = ma.datasets.uniform(60, 3, seed=0)
    for method in METHODS:
        for units in (None, np.arange(60) // 2):
            method(k=3).fit_predict(X, units=units)
            if "search" in method(k=3).get_params():
                method(k=3, search="tree").fit_predict(X, units=units)
    ma.MDAV(k=3, tail="2k").fit_predict(X)
    ma.IAMAT(k=3, sizes="variable").fit_predict(X)


def compile_stages():
    """Run the other stages, and each measure, once."""
    X = ma.datasets.uniform(60, 3, seed=0)
    ma.MedianTree().fit(X)
    ma.OrthantTree().fit(X)
    ma.DependenceTree().fit(X)
    table = ma.datasets.survey(120, seed=0).select(["age", "wage", "income", "tax"])
    for options in ({}, {"aggregate": "median"}, {"refine": "fast"}, {"blocks": "median"}):
        made = ma.protect(table, k=3, confidential=["tax"], **options)
    mixed = ma.datasets.households(120, seed=0).select(["sex", "birth", "education", "wage"])
    people = ma.datasets.households(240, seed=0).select(["household", "age", "wage", "weight"])
    for options in ({"refine": "fast"}, {"unit_release": "pseudonym"}, {"blocks": "median"}):
        by_units = ma.protect(people, k=3, unit="household", weight="weight", weight_cap=True, **options)
    for release in (made, by_units, ma.protect(mixed, k=3, kinds={"wage": "semi"})):
        release.loss, release.risk, release.anonymity  # noqa: B018 (computed when asked for)


PARTS = {"estimators": compile_estimators, "stages": compile_stages}
"""What can be compiled by processes beside each other; they have little in common."""

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
