"""Pictures, by Matplotlib, from plain data."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microagg.checks import Extra

EXTRA = Extra(("matplotlib",), "pictures need Matplotlib. Run: pip install 'microagg[plots]'")

INK, ACCENT, PALE, OVER = "#1b2a3a", "#1f6f8b", "#dfe7ec", "#c1662f"
_LABEL: dict[str, Any] = {
    "color": INK,
    "parse_math": False,  # a name is not a formula
    "in_layout": False,
    "bbox": {"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.75},
}
LINES = ("#1f6f8b", "#c1662f", "#5b8c3a", "#8a4f9e", "#b8860b", "#a23b4a", "#4a5a6a", "#2f9e8f")


def draw_tree(
    names: Sequence[str], edges: Sequence[tuple[int, int, float]], chosen: Collection[int] = (), ax: Any = None
) -> Any:
    """Draw a spanning tree: nodes grow with their degree, chosen ones are filled, strong edges are thick.

    `edges` come strongest first; the thickness follows that order, so it suits any measure.
    """
    d = len(names)
    places = tree_places(d, edges)
    degrees = np.bincount(np.array([edge[:2] for edge in edges], dtype=np.int64).ravel(), minlength=d)
    if ax is None:
        ax = _new_axes(5.5 + 0.11 * d, 5.5 + 0.11 * d)
    for rank, (a, b, weight) in enumerate(edges):
        strength = 1.0 - rank / max(1, len(edges) - 1)
        line = np.array([places[a], places[b]])
        ax.plot(*line.T, color=ACCENT, lw=0.8 + 3.2 * strength, alpha=0.35 + 0.45 * strength, zorder=1)
        if d <= 25:
            ax.annotate(_short(weight), line.mean(axis=0), fontsize=6.5, ha="center", va="center", zorder=2, **_LABEL)
    shrink = max(0.55, 1.0 - 0.009 * d)
    filled = [ACCENT if j in chosen else "white" for j in range(d)]
    ax.scatter(*places.T, s=shrink * (70 + 110 * degrees), c=filled, edgecolors=ACCENT, linewidths=1.4, zorder=3)
    for j, name in enumerate(names):
        # Leaves are labelled outwards, where there is room; others above.
        outward = places[j] if degrees[j] <= 1 and places[j].any() else np.array([0.0, 1.0])
        outward = outward / np.linalg.norm(outward)
        side = "center" if abs(outward[0]) < 0.3 else "left" if outward[0] > 0 else "right"
        level = "center" if abs(outward[1]) < 0.8 else "bottom" if outward[1] > 0 else "top"
        ax.annotate(
            cut_short(name),
            places[j],
            xytext=(5 + 4 * np.sqrt(shrink * (1 + degrees[j]))) * outward,
            textcoords="offset points",
            fontsize=max(7.5, 9.5 - 0.05 * d),
            fontweight="bold" if j in chosen else "normal",
            ha=side,
            va=level,
            zorder=4,
            **_LABEL,
        )
    # The limits are the tree's own: a tree that is a path would leave nothing of the other axis.
    radius = 1.25 * max(1.0, float(np.abs(places).max()))
    ax.set(xlim=(-radius, radius), ylim=(-radius, radius))
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def draw_leaves(
    nodes: Sequence[Any],
    places: Sequence[int],
    names: Sequence[str],
    most: int,
    k: int,
    points: NDArray[np.float64] | None = None,
    ax: Any = None,
) -> Any:
    """Draw the leaves of a 2^d-tree by two of its columns: those of fewer than k records filled, fused ones joined.

    A small leaf is joined to the nearest of those that it was fused with. `points` (n, 2) are the records.
    """
    if ax is None:
        ax = _new_axes(6.4, 5.6)
    from matplotlib.collections import LineCollection, PatchCollection
    from matplotlib.patches import Rectangle

    leaves = [node for node in nodes if node.is_leaf]
    small = [leaf for leaf in leaves if leaf.n_records < k]
    boxes = [Rectangle(leaf.lower[places], *(leaf.upper - leaf.lower)[places]) for leaf in leaves]
    filled = [OVER if leaf.n_records < k else "none" for leaf in leaves]
    ax.add_collection(PatchCollection(boxes, facecolor=filled, edgecolor=ACCENT, linewidth=0.8, alpha=0.55, zorder=1))
    if points is not None:
        ax.scatter(*points.T, s=4, color=INK, linewidths=0, zorder=2)
    lines = []
    for leaf in small:
        others = [other for other in leaves if other.block == leaf.block and other is not leaf]
        if others:
            nearest = min(others, key=lambda other: float(((other.centroid - leaf.centroid) ** 2).sum()))
            lines.append([leaf.centroid[places], nearest.centroid[places]])
    ax.add_collection(LineCollection(lines, colors=INK, linewidths=1.2, zorder=3))
    ax.scatter(*np.array([leaf.centroid[places] for leaf in leaves]).T, s=12, color=ACCENT, zorder=4)
    ax.set_xlabel(names[0], parse_math=False)
    ax.set_ylabel(names[1], parse_math=False)
    ax.set_title(
        f"{len(leaves)} leaves of at most {most} records, {len(small)} of them of fewer than k = {k}", fontsize=10
    )
    ax.autoscale_view()
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def draw_weights(names: Sequence[str], weights: NDArray[np.float64], label: str, ax: Any = None) -> Any:
    """Draw the weights of all pairs of columns as a heat map."""
    d = len(names)
    names = [cut_short(name) for name in names]
    if ax is None:
        room = 1.0 + 0.08 * max(map(len, names))
        ax = _new_axes(2.0 + room + 0.26 * d, 1.4 + room + 0.26 * d)
    shown = np.where(np.eye(d, dtype=bool), np.nan, weights)
    finite = shown[np.isfinite(shown)]
    top = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    endless = bool(np.isinf(shown).any())
    from matplotlib import colormaps

    image = ax.imshow(
        np.where(np.isinf(shown), 2 * top, shown), cmap=colormaps["GnBu"].with_extremes(over=OVER), vmin=0.0, vmax=top
    )
    size = max(7.0, 9.0 - 0.05 * d)
    ax.set_xticks(range(d), names, rotation=90, fontsize=size)
    ax.set_yticks(range(d), names, fontsize=size)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    for text in (*ax.get_xticklabels(), *ax.get_yticklabels()):
        text.set_parse_math(False)
    bar = {"extend": "max", "label": f"{label}; tip: infinite"} if endless else {"label": label}
    ax.figure.colorbar(image, ax=ax, shrink=0.8, **bar)
    return ax


def draw_map(
    lines: Mapping[str, Sequence[tuple[int, float, float]]],
    frontier: Sequence[tuple[float, float]],
    ax: Any = None,
    label: str = "information loss, G_IL (%)",
    *,
    falling: bool = False,
) -> Any:
    """Draw risk against loss: a line for each method through its (k, loss, risk), the efficient ones marked.

    `label` says what loss is; it falls to the right where more of it is better.
    """
    if ax is None:
        ax = _new_axes(7.2, 5.0)
    if len(frontier) > 1:
        ax.plot(*zip(*sorted(frontier), strict=True), color=PALE, lw=9, solid_capstyle="round", zorder=1)
    ringed = [loss for loss, _ in frontier], [risk for _, risk in frontier]
    ax.scatter(
        *ringed, s=190, facecolors="none", edgecolors=INK, linewidths=1.1, zorder=2,
        label="efficient",
    )  # fmt: skip
    for number, (name, unsorted) in enumerate(lines.items()):
        points = sorted(unsorted)
        colour = LINES[number % len(LINES)]
        marker = "osD^vPX"[number % 7]
        losses, risks = [loss for _, loss, _ in points], [risk for _, _, risk in points]
        ax.plot(losses, risks, color=colour, marker=marker, markersize=5, lw=1.3, label=name, zorder=3)
        for k, loss, risk in points:
            offset = (5, 5) if number % 2 == 0 else (-5, -9)
            side = "left" if number % 2 == 0 else "right"
            ax.annotate(
                str(k), (loss, risk), xytext=offset, textcoords="offset points", fontsize=7, color=colour, ha=side
            )
    ax.set(xlabel=label, ylabel="disclosure risk, G_DR (%)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)
    ax.legend(fontsize=8, frameon=False)
    if falling:
        ax.invert_xaxis()
    return ax


def _new_axes(width: float, height: float) -> Any:
    """Make a figure that belongs to its caller, so that a loop of many leaves none behind."""
    return EXTRA.load("matplotlib.figure").Figure(figsize=(width, height), layout="constrained").subplots()


def cut_short(name: str, most: int = 20) -> str:
    """Shorten a name that is too long."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _short(weight: float) -> str:
    return "∞" if np.isinf(weight) else f"{weight:.2g}"


def tree_places(d: int, edges: Sequence[tuple[int, int, float]]) -> NDArray[np.float64]:
    """Place a tree's nodes on rings about its centre, a branch with room for its leaves; others below."""
    neighbours: list[list[int]] = [[] for _ in range(d)]
    for a, b, _ in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    root = _centre(neighbours, edges[0][0] if edges else 0)
    order, parent = [root], {root: -1}
    for node in order:
        for child in neighbours[node]:
            if child != parent[node]:
                parent[child] = node
                order.append(child)
    leaves = dict.fromkeys(parent, 0)
    for node in reversed(order):
        leaves[node] = leaves[node] or 1
        if parent[node] >= 0:
            leaves[parent[node]] += leaves[node]
    places = np.zeros((d, 2))
    start, depth = {root: 0.0}, {root: 0}
    for node in order:
        angle = start[node]
        for child in neighbours[node]:
            if child != parent[node]:
                start[child], depth[child] = angle, depth[node] + 1
                angle += 2 * np.pi * leaves[child] / leaves[root]
        if node != root:
            middle = start[node] + np.pi * leaves[node] / leaves[root]
            places[node] = depth[node] * np.cos(middle), depth[node] * np.sin(middle)
    apart = [node for node in range(d) if node not in parent]
    across = (np.arange(len(apart)) - (len(apart) - 1) / 2) * min(1.0, 2 * max(depth.values(), default=1) / d + 0.3)
    for node, x in zip(apart, across, strict=True):
        places[node] = x, -max(depth.values()) - 1.0
    return places


def _centre(neighbours: list[list[int]], anywhere: int) -> int:
    """Return the middle of the longest path of the tree that holds some node."""

    def farthest(begin: int) -> tuple[int, dict[int, int]]:
        came, order = {begin: -1}, [begin]
        for node in order:
            for other in neighbours[node]:
                if other not in came:
                    came[other] = node
                    order.append(other)
        return order[-1], came

    end, came = farthest(farthest(anywhere)[0])
    path = [end]
    while came[path[-1]] >= 0:
        path.append(came[path[-1]])
    return path[len(path) // 2]
