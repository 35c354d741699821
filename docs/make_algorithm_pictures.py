"""Draw one picture for each algorithm page: the groups that the real algorithm forms of forty points.

Run with `make algorithm-pictures`; the same version of microagg gives the same files.
"""

from pathlib import Path

import matplotlib as mpl
import numpy as np
from scipy.spatial import ConvexHull

import microagg as ma

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "microagg"  # the same figure gives the same file
mpl.rcParams["font.size"] = 9
from matplotlib import pyplot as plt  # noqa: E402

HERE = Path(__file__).parent
K = 4
TINTS = ("#2166ac", "#b2182b", "#1b7837", "#8c510a", "#762a83", "#01665e", "#bf812d", "#4d4d4d")


def forty_points():
    """Return three clumps, one of them stretched, and a few strays."""
    spread = ma.datasets.normal(40, 2, seed=5)
    centres = np.repeat([[0.0, 0.0], [4.2, 1.2], [1.6, 4.0], [2.0, 1.8]], [13, 11, 10, 6], axis=0)
    widths = np.repeat([[0.75, 0.6], [0.55, 0.9], [1.1, 0.45], [2.2, 2.0]], [13, 11, 10, 6], axis=0)
    return (centres + widths * spread).round(2)


def farthest(X, free, point):
    """Return the free row farthest from a point, the lowest on ties."""
    rows = np.flatnonzero(free)
    return int(rows[np.argmax(((X[rows] - point) ** 2).sum(axis=1))])


def in_order(X, labels, founders, least):
    """Replay in which order groups were formed: list (label, founder), the founder None where there was none.

    `founders` gives, one after the other, the records around which the next groups form, and sees in `free` what has
    left in between; groups form while `least` records are free.
    """
    found, free = [], np.ones(len(X), dtype=bool)
    while free.sum() >= least:
        for founder in founders(X, free):
            found.append((labels[founder], founder))
            free[labels == labels[founder]] = False
    return found + [(label, None) for label in dict.fromkeys(labels[free]) if label not in dict(found)]


def one_a_turn(X, free):
    """CBFS: the farthest from the centroid of what is free."""
    yield farthest(X, free, X[free].mean(axis=0))


def two_a_turn(X, free):
    """MDAV: the farthest from the centroid, and the farthest from that."""
    first = farthest(X, free, X[free].mean(axis=0))
    second = farthest(X, free, X[first])
    yield first
    yield second if free[second] else farthest(X, free, X[first])


def from_the_whole(X, free):
    """V-MDAV and IAMAT: the farthest from the centroid of the whole file."""
    yield farthest(X, free, X.mean(axis=0))


def most_distant_pair(X, free):
    """MaximumDistance: the two most distant records."""
    rows = np.flatnonzero(free)
    distances = ((X[rows][:, None] - X[rows][None]) ** 2).sum(axis=2)
    first, second = sorted(int(rows[i]) for i in np.unravel_index(np.argmax(distances), distances.shape))
    yield first
    yield second if free[second] else farthest(X, free, X[first])


def draw(axes, X, labels, order=(), *, numbers=True):
    """Draw groups as hulls with lines from the members to the mean; number them in the order they were formed."""
    places = {label: (place, founder) for place, (label, founder) in enumerate(order, start=1)}
    for label in range(labels.max() + 1):
        members, tint = X[labels == label], TINTS[label % len(TINTS)]
        centre = members.mean(axis=0)
        try:
            outline = members[ConvexHull(members).vertices]
        except Exception:  # noqa: BLE001 - members on one line have no hull
            outline = members
        axes.fill(*outline.T, facecolor=tint, edgecolor=tint, alpha=0.16, linewidth=1, joinstyle="round")
        for member in members:
            axes.plot(*zip(member, centre, strict=True), color=tint, linewidth=0.6, alpha=0.7)
        axes.plot(*members.T, "o", color=tint, markersize=3.5)
        place, founder = places.get(label, ("", None))
        if founder is not None:
            axes.plot(*X[founder], "o", markersize=8, markerfacecolor="none", markeredgecolor=tint)
        if numbers and place:
            box = {"boxstyle": "circle,pad=0.15", "facecolor": "white", "edgecolor": tint, "linewidth": 0.8}
            axes.annotate(str(place), centre, ha="center", va="center", fontsize=7, color=tint, bbox=box)
        else:
            axes.plot(*centre, "+", color=tint, markersize=7)
    bare(axes)


def bare(axes):
    """Points say it without scales."""
    axes.set_aspect("equal", adjustable="datalim")
    axes.set_xticks([])
    axes.set_yticks([])
    for spine in axes.spines.values():
        spine.set_color("#cccccc")


def save(figure, stem, folder):
    """Write a picture that is the same every time."""
    path = folder / f"{stem}.svg"
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    plt.close(figure)


def panels(count, height=3.6):
    """Make so many panels side by side."""
    figure, axes = plt.subplots(1, count, figsize=(3.6 * count + (0.9 if count == 1 else 0), height))
    figure.subplots_adjust(wspace=0.06)
    return figure, np.atleast_1d(axes)


def titled(axes, X, labels, title):
    """Say what is lost."""
    axes.set_title(f"{title}: {ma.information_loss(X, labels).percent:.1f} % lost", fontsize=9)


def draw_partitioners(folder):
    """Draw the partitioners that form groups from the outside in."""
    X = forty_points()
    cases = {
        "mdav": [("MDAV, k = 4", ma.MDAV(K), two_a_turn, 3 * K)],
        "cbfs": [("CBFS, k = 4", ma.CBFS(K), one_a_turn, K)],
        "vmdav": [(f"V-MDAV, k = 4, γ = {gamma}", ma.VMDAV(K, gamma=gamma), from_the_whole, K) for gamma in (0.2, 1.1)],
        "iamat": [
            (f"IAMAT, k = 4, {sizes} sizes", ma.IAMAT(K, sizes=sizes), from_the_whole, K)
            for sizes in ("fixed", "variable")
        ],
        "maximum_distance": [("MaximumDistance, k = 4", ma.MaximumDistance(K), most_distant_pair, 2 * K)],
    }
    for stem, parts in cases.items():
        figure, axes = panels(len(parts))
        for one, (title, estimator, founders, least) in zip(axes, parts, strict=True):
            labels = estimator.fit_predict(X)
            order = in_order(X, labels, founders, least)
            if stem == "mdav":
                order = with_last_founder(X, labels, order)
            draw(one, X, labels, order)
            titled(one, X, labels, title)
        save(figure, f"{stem}_groups", folder)


def with_last_founder(X, labels, order):
    """MDAV: of 2k to 3k - 1 records, the farthest from their centroid forms one more group."""
    done = {label for label, founder in order if founder is not None}
    free = np.array([label not in done for label in labels])
    if free.sum() < 2 * K:
        return order
    founder = farthest(X, free, X[free].mean(axis=0))
    last = [pair for pair in order if pair[1] is None and pair[0] != labels[founder]]
    return [pair for pair in order if pair[1] is not None] + [(labels[founder], founder)] + last


def draw_univariate(folder):
    """Draw the best cut of one column, and the best cut along an axis."""
    X = forty_points()
    figure, (left, right) = panels(2)
    cuts = {"every k values": "ranking", "the best cut": "optimal"}
    for height, (title, method) in enumerate(cuts.items()):
        labels = ma.Univariate(K, method=method).fit_predict(X[:, :1])
        tints = {label: TINTS[i % 2] for i, label in enumerate(dict.fromkeys(labels[np.argsort(X[:, 0])]))}
        for label, tint in tints.items():
            values = X[labels == label, 0]
            left.plot([values.min(), values.max()], [height] * 2, color=tint, alpha=0.25, linewidth=9)
            left.plot(values, np.full(values.size, height), "|", color=tint, markersize=11)
        loss = ma.information_loss(X[:, :1], labels).percent
        left.text(X[:, 0].min(), height + 0.2, f"{title}: {loss:.2f} % lost", fontsize=8)
    left.set_ylim(-0.7, 2.0)
    left.set_title("Univariate, k = 4, one column", fontsize=9)
    bare(left)
    left.set_aspect("auto")
    labels = ma.Projection(K).fit_predict(X)
    draw(right, X, labels)
    direction = np.linalg.eigh(np.cov(X.T))[1][:, -1]
    ends = X.mean(axis=0) + np.outer([-3.6, 3.6], direction)
    right.plot(*ends.T, color="black", linewidth=0.8, linestyle="--")
    titled(right, X, labels, "Projection, k = 4")
    save(figure, "univariate_groups", folder)


def draw_ama(folder):
    """Draw groups formed on two columns of six, in their plane and in that of two others."""
    table = ma.datasets.dependence_tree([None, 0, 0, 1, 1, 0], n=40, categories=4, seed=2)
    release = ma.protect(table, k=K, method="ama", width=100)
    keys = list(release.selection.columns)
    others = [name for name in table.column_names if name not in keys][:2]
    figure, axes = panels(2)
    for one, names, title in zip(axes, (keys, others), ("the key columns", "two others"), strict=True):
        X = np.array([table[name].to_numpy() for name in names], dtype=float).T
        draw(one, X, release.groups, numbers=False)
        one.set_title(f"AMA, k = 4: {title}, {names[0]} and {names[1]}", fontsize=9)
    save(figure, "ama_groups", folder)


def draw_blocks(folder):
    """Draw the three ways of cutting a file into blocks."""
    X = forty_points()
    ways = {
        "MedianTree": ma.MedianTree(max_block=12, k=K),
        "OrthantTree": ma.OrthantTree(max_block=12, k=K),
        "UnivariateBlocks": ma.UnivariateBlocks(max_block=12, k=K),
    }
    figure, axes = panels(3)
    for one, (title, estimator) in zip(axes, ways.items(), strict=True):
        labels = estimator.fit_predict(X)
        for label in range(labels.max() + 1):
            members, tint = X[labels == label], TINTS[label % len(TINTS)]
            one.fill(*members[ConvexHull(members).vertices].T, facecolor=tint, alpha=0.12)
            one.plot(*members.T, "o", color=tint, markersize=3.5)
        one.set_title(f"{title}: {labels.max() + 1} blocks", fontsize=9)
        bare(one)
    save(figure, "blocks_cuts", folder)


def draw_orthants(folder):
    """Draw a quadtree of 500 records, as in the figures 1 to 3 of its paper."""
    X = ma.datasets.normal(500, 2, seed=0)
    axes = ma.OrthantTree(max_block=50, k=10).fit(X).plot(X=X)
    save(axes.figure, "orthants_tree", folder)


def main(folder=HERE):
    """Draw all."""
    (folder / "algorithms").mkdir(exist_ok=True)
    draw_partitioners(folder / "algorithms")
    draw_univariate(folder / "algorithms")
    draw_ama(folder / "algorithms")
    draw_orthants(folder / "algorithms")
    draw_blocks(folder)


if __name__ == "__main__":
    main()
