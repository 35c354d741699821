"""Figures 3 and 5 to 17 and table 9 of the paper on dependence trees: the trees, and what finds them."""

import math
import re
from functools import cache

import numpy as np

import microagg as ma
from experiments._table import Expected, Row, of_made_data
from experiments.emad.losses import MADE, fit
from experiments.emad.subsets import NAMES, as_width, choices

WIDTHS = {"Tarragona": (50_000, 100_000, 150_000), "Census": (1_000, 5_000, 10_000)}
BINARY = ((0, 1), (0, 2), (0, 3), (2, 4), (2, 5))
SNAPSHOTS = (50, 150, 5000)


def truth(file: str) -> set[tuple[int, int]]:
    """Return the tree that a file was made from."""
    parents = ma.datasets.TREES[MADE[file][0]]
    return {tuple(sorted(link)) for link in enumerate(parents) if link[1] is not None}


def edges(tree) -> str:
    """Write a tree's edges, columns from 1."""
    return " ".join(f"{a + 1}-{b + 1}" for a, b in sorted(edge[:2] for edge in tree.edges_))


def found_edges(tree) -> set[tuple[int, int]]:
    """Return a tree's edges without their weights."""
    return {edge[:2] for edge in tree.edges_}


def real_tree(e: Expected, quick: bool) -> list[Row]:  # noqa: ARG001
    """Return a tree that the paper only draws, or whether normality finds that of a made file."""
    file, measure, width = re.fullmatch(r"(\w+), ([\w-]+)(?:, width ([\d ]+))?: .+", e.what).groups()
    tree = fit(file, NAMES[measure], as_width(width))
    if file in MADE:
        found = "found" if found_edges(tree) == truth(file) else "not found"
        return [of_made_data(Row(e.where, e.page, e.what, e.expected, found))]
    return [Row(e.where, e.page, e.what, e.expected, edges(tree))]


def changes_with_width(e: Expected, quick: bool) -> list[Row]:  # noqa: ARG001
    """Tell whether the three widths of a real file give different trees."""
    file, measure = e.what.split(", ")
    return [Row(e.where, e.page, e.what, e.expected, *_by_width(file, NAMES[measure]))]


def _by_width(file: str, measure: str) -> tuple[str, str, str]:
    trees = {edges(fit(file, measure, width)) for width in WIDTHS[file]}
    return ("yes" if len(trees) > 1 else "no"), "", f"{len(trees)} different trees at 3 widths"


@cache
def binary_trees(siblings: str, measure: str, n: int, seeds: int) -> list:
    """Fit trees to made files of zeros and ones."""
    data = (ma.datasets.binary_tree(n, siblings=siblings, seed=seed) for seed in range(seeds))
    return [ma.DependenceTree(measure).fit(one) for one in data]


def share_found(trees: list) -> float:
    """Return the share of trees that are the one of figure 11, in percent."""
    return 100 * float(np.mean([found_edges(tree) == set(BINARY) for tree in trees]))


def snapshots(e: Expected, quick: bool) -> list[Row]:
    """Compare figures 12 and 13, and say of how many files the tree shown is true."""
    siblings, n = re.fullmatch(r"siblings (\w+), (\d+) records: edges", e.what).groups()
    trees = binary_trees(siblings, "emim", int(n), seeds(quick))
    first = Row(e.where, e.page, e.what, e.expected, edges(trees[0]), "", "the tree of seed 0")
    what = f"siblings {siblings}, {n} records: true trees in {len(trees)} files, percent"
    return [first, Row(e.where, e.page, what, "", share_found(trees))]


def seeds(quick: bool) -> int:
    """Return how many files are made of each kind."""
    return 10 if quick else 200


# Pr(x = 0 | parent = 0), Pr(x = 0 | parent = 1) of columns 2 to 6; the parents are columns 1, 1, 1, 3, 3. The first two
# are the paper's tables 2 and 3. The third is the first with zero and one swapped in column 3: every edge is as strong,
# and no siblings add up to 1. In the fourth columns 2 and 3 add up to 1, and no edge is stronger than in the second.
CONTROLS = {
    "related": ((0.30, 0.10), (0.70, 0.90), (0.20, 0.60), (0.80, 0.40), (0.15, 0.76)),
    "unrelated": ((0.30, 0.10), (0.60, 0.70), (0.20, 0.60), (0.40, 0.50), (0.15, 0.76)),
    "unrelated, edges as strong as in the related": (
        (0.30, 0.10), (0.30, 0.10), (0.20, 0.60), (0.40, 0.80), (0.76, 0.15),
    ),
    "related, edges no stronger than in the unrelated": (
        (0.40, 0.30), (0.60, 0.70), (0.20, 0.60), (0.40, 0.50), (0.15, 0.76),
    ),
}  # fmt: skip


@cache
def control_share(name: str, n: int, files: int) -> float:
    """Return the share of true trees, in percent, among files of n records made with one set of probabilities."""
    found = []
    for seed in range(files):
        rng = np.random.default_rng(seed)
        x = np.empty((n, 6), dtype=int)
        x[:, 0] = rng.random(n) >= 0.40
        for (parent, child), chances in zip(BINARY, CONTROLS[name], strict=True):
            x[:, child] = rng.random(n) >= np.array(chances)[x[:, parent]]
        found.append(ma.DependenceTree("emim", width=1).fit(x))
    return share_found(found)


def convergence(e: Expected, quick: bool) -> list[Row]:
    """Compare figure 14: weights fall, and whether it is relation that makes learning quick."""
    if e.what.startswith("the tree"):
        files = seeds(quick)
        shares = {name: [control_share(name, n, files) for n in (150, 500)] for name in CONTROLS}
        faster = "related" if shares["related"] > shares["unrelated"] else "unrelated"
        said = "so it is; but it is the strength of the edges that does it, as the next rows show"
        rows = [Row(e.where, e.page, e.what, e.expected, faster, "", said)]
        for name, values in shares.items():
            for n, share in zip((150, 500), values, strict=True):
                rows.append(
                    Row(e.where, e.page, f"true trees in {files} files of {n} records, percent: {name}", "", share)
                )
        return rows
    siblings, measure = re.fullmatch(r"siblings (\w+), ([\w-]+): .+", e.what).groups()
    weights = [mean_weight(siblings, NAMES[measure], n, seeds(quick)) for n in SNAPSHOTS]
    falls = "falls" if weights == sorted(weights, reverse=True) else "does not fall"
    rows = [Row(e.where, e.page, e.what, e.expected, falls, "", "mean over made files")]
    for n, weight in zip(SNAPSHOTS, weights, strict=True):
        rows.append(Row(e.where, e.page, f"siblings {siblings}, {measure}: mean weight, {n} records", "", weight))
    return rows


def mean_weight(siblings: str, measure: str, n: int, files: int) -> float:
    """Return the mean weight of the trees found in made files."""
    return float(np.mean([tree.total_weight_ for tree in binary_trees(siblings, measure, n, files)]))


# --- figures 3 and 5 to 8 --------------------------------------------------------------------------------------------


def example(e: Expected, quick: bool) -> list[Row]:  # noqa: ARG001
    """Choose columns from the tree of figure 3: A-B, A-C, A-D, D-E, D-F; records are drawn along it."""
    if e.what.startswith("subsets"):
        return [Row(e.where, e.page, e.what, e.expected, f"{math.comb(6, 3)} subsets")]
    tree = ma.DependenceTree("emim", width=100).fit(ma.datasets.dependence_tree((None, 0, 0, 0, 3, 3), 5000, seed=0))
    if e.what == "columns chosen":
        names = tree.feature_names_in_.tolist()
        ours = ", ".join(sorted("ABCDEF"[names.index(name)] for name in ma.select_variables(tree, 2).columns))
    else:
        ours = f"{tree.degrees_['ABCDEF'.index(e.what[-1])]} edges"
    return [Row(e.where, e.page, e.what, e.expected, ours)]


def simulated(e: Expected, quick: bool) -> list[Row]:
    """Answer figure 5 on made files: whether the tree is found at a width, and the weights of its edges."""
    file, measure, width, what = re.fullmatch(r"(\w+), ([\w-]+), width (\d+): (.+)", e.what).groups()
    reason = ""
    if what == "the true tree":
        files = 2 if quick else 20
        right = true_trees(file, NAMES[measure], int(width), MADE[file][1], files)
        ours = "found" if right == files else "not always found"
        reason = f"in {right} of {files} files"
    else:
        tree = fit(file, NAMES[measure], int(width))
        weights = {f"{a + 1}-{b + 1}": float(tree.weights_[a, b]) for a, b in sorted(found_edges(tree))}
        if what == "weight of the tree":
            ours = f"{sum(weights.values()):.3f}"
        else:
            ours = ", ".join(f"{edge} {weight:.3f}" for edge, weight in weights.items())
    return [of_made_data(Row(e.where, e.page, e.what, e.expected, ours, "", reason))]


def true_trees(file: str, measure: str, width: int | None, n: int, files: int) -> int:
    """Count the made files of n records that give the tree they were made from."""
    data = (ma.datasets.dependence_tree(MADE[file][0], n, seed=seed) for seed in range(files))
    return sum(found_edges(ma.DependenceTree(measure, width=width).fit(one)) == truth(file) for one in data)


def growing(e: Expected, quick: bool) -> list[Row]:
    """Answer figures 6 to 8: how many made files give their tree as records are added."""
    file, files = e.what.split(",")[0], 2 if quick else 20
    sizes = (100, 200, 300, 500, 1000, MADE[file][1])
    counts = {n: true_trees(file, "emim", 100, n, files) for n in sizes}
    ours = "converges" if counts[sizes[-1]] == files else "does not always converge"
    said = ", ".join(f"{count} at {n}" for n, count in counts.items())
    return [of_made_data(Row(e.where, e.page, e.what, e.expected, ours, "", f"true trees in {files} files: {said}"))]


# --- EMIM and chi-squared --------------------------------------------------------------------------------------------


def same_tree(e: Expected, quick: bool) -> list[Row]:  # noqa: ARG001
    """Tell whether the two measures give the same tree of bits, and rank normal pairs alike."""
    if e.what.startswith("normal"):
        ranks = [np.argsort(values).tolist() for values in zip(*map(normal_pair, (0.5, -0.2, 0.8, 0.1)), strict=True)]
        ours, reason = "always" if ranks[0] == ranks[1] else "not always", "both are integrated for four correlations"
    else:
        files, same = 200, 0
        for siblings in ("related", "unrelated"):
            for n in SNAPSHOTS:
                both = (binary_trees(siblings, measure, n, files) for measure in ("emim", "chi2"))
                same += sum(found_edges(a) == found_edges(b) for a, b in zip(*both, strict=True))
        ours, reason = "always" if same == 6 * files else "not always", f"in {same} of {6 * files} files"
    return [Row(e.where, e.page, e.what, e.expected, ours, "", reason)]


def normal_pair(rho: float) -> tuple[float, float]:
    """Integrate EMIM and chi-squared of two normal columns over a grid."""
    x = np.arange(-20, 20, 0.05)
    square = x[:, None] ** 2 + x**2
    alone = -square / 2 - np.log(2 * np.pi)
    joint = -(square - 2 * rho * x[:, None] * x) / (2 * (1 - rho**2)) - np.log(2 * np.pi * np.sqrt(1 - rho**2))
    emim = np.exp(joint) * (joint - alone)
    chi2 = np.exp(2 * joint - alone) - 2 * np.exp(joint) + np.exp(alone)
    return float(emim.sum() * 0.05**2), float(chi2.sum() * 0.05**2)


def total_weights(e: Expected, quick: bool) -> list[Row]:  # noqa: ARG001
    """Count the widths of the real files at which the tree of chi-squared weighs as much as that of EMIM."""
    same, said, own = 0, [], []
    for file, widths in WIDTHS.items():
        for width in widths:
            by_emim, by_chi2 = fit(file, "emim", width), fit(file, "chi2", width)
            best, other = (sum(by_emim.weights_[edge] for edge in found_edges(tree)) for tree in (by_emim, by_chi2))
            same += abs(other / best - 1) < 0.01
            said.append(f"{100 * other / best:.1f} %")
            own.append(by_chi2.total_weight_ / by_emim.total_weight_)
    reason = (
        f"in EMIM the tree of chi-squared weighs {', '.join(said)} of that of EMIM; identical is read as less than 1 % "
        f"apart; each in its own measure, the tree of chi-squared weighs {min(own):.0f} to {max(own):.0f} times as much"
    )
    ours = "almost always" if same >= 5 else f"{same} of {len(said)}"
    return [Row(e.where, e.page, e.what, e.expected, ours, "", reason)]


# --- table 9 ---------------------------------------------------------------------------------------------------------


def table_9(e: Expected, quick: bool) -> list[Row]:
    """Compare the traits of the three measures, but for their speed."""
    trait, name = e.what.split(": ")
    measure = {"EMIM": "emim", "chi-squared": "chi2", "correlation": "normal"}[name]
    if trait.startswith("convergence"):
        files, width = 2 if quick else 20, None if measure == "normal" else 100
        counts = [true_trees(file, measure, width, n, files) for file, (_, n) in MADE.items()]
        ours = "converges" if counts == [files] * 3 else "does not always converge"
        said = f"true trees in {files} files made as each of {', '.join(MADE)}: {', '.join(map(str, counts))}"
        return [of_made_data(Row(e.where, e.page, e.what, e.expected, ours, "", said))]
    if trait == "width":
        moves = measure != "normal" and all(_by_width(file, measure)[0] == "yes" for file in WIDTHS)
        said = "Tarragona and Census at three widths" if measure != "normal" else "it has no width"
        return [Row(e.where, e.page, e.what, e.expected, "sensitive" if moves else "not sensitive", "", said)]
    means = {each: mean_choices(each) for each in NAMES.values()}
    ours = dict(zip(sorted(means, key=means.__getitem__), ("small", "medium", "large"), strict=True))[measure]
    said = f"{means[measure]:.2f} choices of three columns on average, Tarragona and Census"
    return [Row(e.where, e.page, e.what, e.expected, ours, "", said)]


def mean_choices(measure: str) -> float:
    """Return how many choices of three columns the trees of the real files leave on average."""
    widths = {file: (None,) if measure == "normal" else widths for file, widths in WIDTHS.items()}
    return float(np.mean([len(choices(file, measure, width, 3)) for file in widths for width in widths[file]]))
