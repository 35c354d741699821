"""The files of the paper on dependence trees, and what groups on some of their columns lose."""

import itertools
from functools import cache

import numpy as np

import microagg as ma

K = 3
MADE = {"Sim_1": ("eight", 5000), "Sim_2": ("sixteen", 10_000), "Sim_3": ("twenty-two", 20_000)}

Subset = tuple[int, ...]


@cache
def table(file: str, n: int | None = None):
    """Return a file with its columns named by number, from 1."""
    if file in MADE:
        tree, records = MADE[file]
        data = ma.datasets.dependence_tree(tree, n or records, seed=0)
    else:
        data = ma.datasets.load(file.lower())
    return data.rename_columns([str(j + 1) for j in range(data.num_columns)])


@cache
def scores(file: str) -> np.ndarray:
    """Return the z-scores (n, d) of a file."""
    data = table(file)
    X = np.array([data[name].to_numpy() for name in data.column_names], dtype=float).T
    return (X - X.mean(axis=0)) / X.std(axis=0)


@cache
def fit(file: str, measure: str, width: int | None):
    """Span the tree of a file."""
    return ma.DependenceTree(measure, width=width).fit(table(file))


@cache
def printed_loss(file: str, subset: Subset) -> float:
    """Return the loss as the paper printed it: the centroid fixed, the last group's error left out.

    The centroid being fixed, a group's seed is its farthest record, and seeds come nearer with every group: the last is
    the group whose farthest record is the nearest.
    """
    return loss_as_printed(scores(file), subset)


def loss_as_printed(Z: np.ndarray, subset: Subset) -> float:
    """Return the same of z-scores (n, d)."""
    columns = [j - 1 for j in subset]
    labels = ma.VMDAV(K, gamma=0.0).fit_predict(Z[:, columns])
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    means = np.add.reduceat(Z[order], starts) / np.bincount(labels)[:, None]
    errors = np.bincount(labels, ((Z - means[labels]) ** 2).sum(axis=1))
    farthest = np.maximum.reduceat((Z[order][:, columns] ** 2).sum(axis=1), starts)
    errors[np.argmin(farthest)] = 0.0
    return float(100 * errors.sum() / Z.size)


def printed_losses(file: str, size: int) -> dict[Subset, float]:
    """Return the printed loss of every subset; of four and five columns the first three are used."""
    d = scores(file).shape[1]
    return {subset: printed_loss(file, subset[:3]) for subset in itertools.combinations(range(1, d + 1), size)}


@cache
def true_losses(file: str, size: int) -> dict[Subset, float]:
    """Return what groups on every subset lose, by CBFS, all groups counted."""
    found = ma.best_subset(table(file), size, K, "cbfs").losses
    return {tuple(map(int, subset)): loss for subset, loss in found.items()}


def named(subset: Subset) -> str:
    """Write a subset as the expected figures do."""
    return f"column {subset[0]}" if len(subset) == 1 else "-".join(map(str, subset))


def summarise(losses: dict[Subset, float]) -> dict[str, float | str]:
    """Return what table 4 says of all subsets of a size."""
    best, worst = min(losses, key=losses.__getitem__), max(losses, key=losses.__getitem__)
    return {
        "subsets": f"{len(losses)} subsets",
        "columns of the lowest IL": named(best),
        "lowest IL": losses[best],
        "columns of the highest IL": named(worst),
        "highest IL": losses[worst],
        "mean IL": float(np.mean(list(losses.values()))),
    }
