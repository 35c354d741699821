"""EMAD: groups are formed on the few columns that a dependence tree connects to most others.

B. J. Oommen, E. Fayyoumi: On utilizing dependence-based information to enhance micro-aggregation for secure statistical
databases. Pattern Analysis and Applications 16, 2013. The tree is that of Chow and Liu, by the expected mutual
information, chi-squared or the mutual information of normal columns (`dependence`); algorithm 1 takes the columns with
the most edges. Where several choices tie, the paper tries all of them and takes the one that loses least; here the
first is taken unless choose="lowest-loss". `choose_columns` in `algorithms/selection.py` chooses.
"""

from typing import Any

from microagg.algorithms import mdav
from microagg.algorithms.method import ByTree
from microagg.checks import check_whole

COUNT = 3
"""How many columns are taken where nobody says: as in most of the paper's tables."""


def places(count: Any, n_columns: int) -> int:
    """Return how many columns are taken (algorithm 1)."""
    if count is None:
        return min(COUNT, n_columns)
    return check_whole("count", count, 1, n_columns, "There are no more columns.")


METHOD = ByTree(
    "emad",
    mdav.METHOD,
    "groups by mdav on the few columns that have the most edges in the dependence tree",
    measure="emim",
    rule="degree",
)
