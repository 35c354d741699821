"""Partitioners: plain functions from a matrix to group labels, one file each."""

from microagg.checks import check_option
from microagg.partition import cbfs, iamat, maximum_distance, mdav, univariate, vmdav
from microagg.partition._method import Method as Method
from microagg.partition._run import choose_search as choose_search
from microagg.partition._run import records_and_k as records_and_k
from microagg.partition._run import settled_search as settled_search

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        mdav.METHOD,
        cbfs.METHOD,
        vmdav.METHOD,
        iamat.METHOD,
        maximum_distance.METHOD,
        univariate.PROJECTION,
        univariate.UNIVARIATE,
        univariate.RANKING,
    )
}
"""Each method by the name that `protect` and recipes use."""


def method_named(name: str) -> Method:
    """Return the method of this name, or say which there are."""
    check_option("method", name, METHODS)
    return METHODS[name]


def groups_each_column(name: str) -> bool:
    """Return whether a method, by its name, groups each column on its own."""
    return name in METHODS and METHODS[name].per_column
