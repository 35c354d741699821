"""Partitioners: plain functions from a matrix to group labels, one file each."""

from typing import Any

from microagg.algorithms import ama, cbfs, emad, iamat, maximum_distance, mdav, univariate, vmdav
from microagg.algorithms._run import choose_search as choose_search
from microagg.algorithms._run import records_and_k as records_and_k
from microagg.algorithms._run import settled_search as settled_search
from microagg.algorithms.method import ByTree as ByTree
from microagg.algorithms.method import Method as Method
from microagg.checks import check_option

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

BY_TREE: dict[str, ByTree] = {method.name: method for method in (emad.METHOD, ama.METHOD)}
"""Those that choose columns by a dependence tree and group by another method; they also name ways to select."""


def method_named(name: str) -> Method:
    """Return the method of this name, or say which there are."""
    check_option("method", name, METHODS)
    return METHODS[name]


def forming_method(name: Any) -> Method | None:
    """Return the method that forms the groups of the one of this name; None where it is not known."""
    if not isinstance(name, str):
        return None
    return BY_TREE[name].on if name in BY_TREE else METHODS.get(name)


def is_ours(method: Any) -> bool:
    """Return whether a method is one of our estimators, which stand for a function; a class of yours may do more."""
    return hasattr(method, "as_named_method") and type(method).__module__.partition(".")[0] == "microagg"


def groups_each_column(name: str) -> bool:
    """Return whether a method, by its name, groups each column on its own."""
    return name in METHODS and METHODS[name].per_column
