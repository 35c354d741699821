"""Table II on Tarragona and Census, which are the papers' own files: no tolerance, and the readings that were tried.

The losses that the papers print for IAMAT leave out the error of the group that is formed last, as EMAD's do. Those of
MDAV, by another program, count every group. The rows show ours in this reading, and the loss of all groups beside it.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

import microagg as ma
from experiments.iamat.base import METHODS, Rows, file, loss, seconds

WHERE = "IAMAT table II"
FILES = {"Tarragona": (3, 4, 5), "Census": (3, 4, 5, 6)}
RECORDS = {"Tarragona": 834, "Census": 1080}
UNIT = 1.5e-4  # one unit of the last digit that the papers print, and half for rounding

Labels = NDArray[np.int64]


@cache
def scores(name: str) -> NDArray[np.float64]:
    """Return the z-scores (n, d) of a file."""
    data = file(name, 0, 0, 0)
    X = np.array([data[column].to_numpy() for column in data.column_names], dtype=float).T
    return (X - X.mean(axis=0)) / X.std(axis=0)


def errors(Z: NDArray[np.float64], labels: Labels) -> NDArray[np.float64]:
    """Return the squared error of each group, in percent of the whole file's."""
    groups = [Z[labels == g] for g in range(int(labels.max()) + 1)]
    return np.array([100 * np.square(group - group.mean(axis=0)).sum() / Z.size for group in groups])


def formed_last(Z: NDArray[np.float64], labels: Labels) -> int:
    """Return the group that was formed last around a fixed centroid: its farthest record is the nearest of all."""
    return int(np.argmin([np.square(Z[labels == g]).sum(axis=1).max() for g in range(int(labels.max()) + 1)]))


def left_over(Z: NDArray[np.float64], labels: Labels, k: int) -> NDArray[np.int64]:
    """Return the rows that joined IAMAT's last group when fewer than k were left."""
    free = np.flatnonzero(labels == formed_last(Z, labels))
    members: list[int] = []
    while len(members) < k:
        far = np.square(Z[free][:, None] - Z[members]).sum(axis=(1, 2)) if members else -np.square(Z[free]).sum(axis=1)
        members.append(int(free[np.argmin(far)]))
        free = free[free != members[-1]]
    return free


@cache
def iamat(name: str, k: int) -> dict[str, float]:
    """Give the loss of IAMAT as printed, and in the other readings that were tried."""
    Z = scores(name)
    labels = ma.IAMAT(k).fit_predict(Z)
    each, last = errors(Z, labels), formed_last(Z, labels)
    found = {"last group left out": each.sum() - each[last], "all groups counted": each.sum()}
    rest = left_over(Z, labels, k)
    if len(rest):
        core = np.setdiff1d(np.flatnonzero(labels == last), rest)
        inner = 100 * np.square(Z[core] - Z[core].mean(axis=0)).sum() / Z.size
        own = 100 * np.square(Z[rest] - Z[rest].mean(axis=0)).sum() / Z.size
        found["those left over not counted"] = each.sum() - each[last] + inner
        found["those left over a group of their own"] = each.sum() - each[last] + inner + own
        found["those left over in the nearest group"] = nearest(Z, labels, rest)
    moving = ma.IAMAT(k, centroid="moving").fit_predict(Z)
    found["a moving centroid"] = errors(Z, moving).sum()
    return {reading: float(value) for reading, value in found.items()}


def nearest(Z: NDArray[np.float64], labels: Labels, rest: NDArray[np.int64]) -> float:
    """Return the loss of all groups when each of `rest` joins the group with the nearest centroid."""
    kept = np.setdiff1d(np.arange(len(Z)), rest)
    groups = range(int(labels.max()) + 1)
    centres = np.array([Z[kept[labels[kept] == g]].mean(axis=0) for g in groups])
    moved = labels.copy()
    moved[rest] = [int(np.argmin(np.square(centres - Z[row]).sum(axis=1))) for row in rest]
    return float(errors(Z, moved).sum())


@cache
def mdav(name: str, k: int) -> dict[str, float]:
    """Give the loss of CBFS, and of other methods and readings that were tried for "MDAV"."""
    Z = scores(name)
    found = {"CBFS": ma.CBFS(k), "MDAV": ma.MDAV(k), "two groups a turn to the end": ma.MDAV(k, tail="2k")}
    found |= {
        "maximum distance": ma.MaximumDistance(k),
        "V-MDAV": ma.VMDAV(k),
        "a fixed centroid": ma.VMDAV(k, gamma=0),
    }
    losses = {reading: float(errors(Z, method.fit_predict(Z)).sum()) for reading, method in found.items()}
    fixed = ma.VMDAV(k, gamma=0).fit_predict(Z)
    each = errors(Z, fixed)
    losses["a fixed centroid, last group left out"] = float(each.sum() - each[formed_last(Z, fixed)])
    rng = np.random.default_rng(0)
    orders = [errors(Z[order], ma.CBFS(k).fit_predict(Z[order])).sum() for order in map(rng.permutation, [len(Z)] * 5)]
    losses["CBFS with rows in another order, lowest"] = float(min(orders))
    losses["CBFS with rows in another order, highest"] = float(max(orders))
    return losses


def tried(printed: float, found: dict[str, float]) -> str:
    """List the readings after the first, and say which gives the printed figure."""
    listed = ", ".join(f"{reading} {value:.4f}" for reading, value in list(found.items())[1:])
    hit = [reading for reading, value in found.items() if abs(value - printed) < UNIT]
    return f"tried: {listed}; " + (f"the paper's by {hit[0]}" if hit else "none is the paper's")


def add(rows: Rows, name: str, k: int) -> None:
    """Add the three rows of a line of table II, with the times of both methods."""
    label = f"{name}, k={k}"
    if rows.skips(RECORDS[name]):
        return rows.skip(WHERE, [f"{label}: {figure}" for figure in ("MDAV IL", "IAMAT IL", "improvement")])
    for method, ours in METHODS.items():
        seconds[WHERE, f"{label}: {method}"] = loss(ours, k, name)[1]
    printed = {f: float(rows.expected[WHERE, f"{label}: {f} IL"].expected) for f in ("MDAV", "IAMAT")}
    by_mdav, by_iamat = mdav(name, k), iamat(name, k)
    base, counted = by_mdav["CBFS"], by_iamat["all groups counted"]
    rows.add(WHERE, f"{label}: MDAV IL", base, reason=lambda: tried(printed["MDAV"], by_mdav))
    ours_ = by_iamat["last group left out"]
    equal = abs(ours_ - printed["IAMAT"]) < UNIT
    why = f"the last group left out; all groups counted {counted:.4f}" if equal else tried(printed["IAMAT"], by_iamat)
    rows.add(WHERE, f"{label}: IAMAT IL", ours_, reason=why)
    own = 100 * (1 - printed["IAMAT"] / printed["MDAV"])
    why = f"all groups counted {100 * (1 - counted / base):.2f}; follows the two losses, the paper's own give {own:.2f}"
    rows.add(WHERE, f"{label}: improvement", 100 * (1 - ours_ / base), reason=why)
    return None
