"""What the 2^d-tree paper says of time in words. See `experiments._claims` for how a word is found."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import microagg as ma
from experiments._claims import NO_END, Claim, least_seconds
from experiments.orthants.base import Rows
from experiments.orthants.real import parted, scores

WHERE = "2^d-tree time in words"
LARGE, LEAF = 250_000, 1000


def drawn(n: int) -> NDArray[np.float64]:
    """Return the z-scores of a uniform file of two columns."""
    X = ma.datasets.uniform(n, 2, seed=0)
    return (X - X.mean(axis=0)) / X.std(axis=0)


def others_over_mdav() -> float:
    """Return the least time of other heuristics over MDAV's, on EIA at k=3."""
    Z = scores()
    methods = {"MDAV": ma.MDAV(3), "CBFS": ma.CBFS(3), "V-MDAV": ma.VMDAV(3), "IAMAT": ma.IAMAT(3)}
    jobs: dict[str, Callable[[], object]] = {name: lambda m=m: m.fit_predict(Z) for name, m in methods.items()}
    took = least_seconds(jobs)
    return min(seconds for name, seconds in took.items() if name != "MDAV") / took["MDAV"]


def tree_over_mdav() -> float:
    """Return the time of growing a tree over that of MDAV in its blocks."""
    Z = drawn(LARGE)
    tree = ma.OrthantTree(max_block=LEAF, k=3)
    blocks = parted(tree.fit_predict(Z))

    def inside() -> None:
        for block in blocks:
            ma.MDAV(3).fit_predict(Z[block])

    took = least_seconds({"tree": lambda: tree.fit_predict(Z), "MDAV": inside}, 2)
    return took["tree"] / took["MDAV"]


def claims() -> list[Claim]:
    """Measure every claim."""
    files = {"small": drawn(LARGE // 4), "large": drawn(LARGE)}
    jobs: dict[str, Callable[[], object]] = {n: lambda Z=Z: ma.MDAV(3).fit_predict(Z) for n, Z in files.items()}
    took = least_seconds(jobs, 2)
    found = [
        ("MDAV is the fastest heuristic", others_over_mdav(), (1.0, NO_END)),
        (
            "the tree is cheap: it takes less than half of the time of MDAV in its blocks",
            tree_over_mdav(),
            (0.0, 0.5),
        ),
        (
            "MDAV without blocks and without a matrix of distances takes no reasonable time, more than 60 s, for 250 "
            "000 records",
            took["large"],
            (60.0, NO_END),
        ),
        (
            "time without blocks grows with the square of n: 16 times for 4 times as many records",
            took["large"] / took["small"],
            (10.0, 25.0),
        ),
    ]
    return [Claim(WHERE, *parts) for parts in found]


def add(rows: Rows, wanted: bool) -> list[Claim]:
    """Add the rows of all claims, and return what was measured; a run of some files only measures nothing."""
    if not wanted:
        for where, what in rows.expected:
            if where == WHERE:
                rows.skip(where, what, "skipped: no times in this run")
        return []
    found = claims()
    for claim in found:
        if claim.word:
            rows.add(WHERE, claim.what, claim.word, reason=claim.reason)
        else:
            rows.skip(WHERE, claim.what, claim.reason)
    return found
