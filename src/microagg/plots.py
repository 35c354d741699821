"""Pictures, by Matplotlib, from plain data."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

INK, ACCENT, PALE = "#1b2a3a", "#1f6f8b", "#dfe7ec"
LINES = ("#1f6f8b", "#c1662f", "#5b8c3a", "#8a4f9e", "#b8860b", "#a23b4a", "#4a5a6a")


def draw_tree(
    names: Sequence[str], edges: Sequence[tuple[int, int, float]], chosen: Collection[int] = (), ax: Any = None
) -> Any:
    """Draw a spanning tree: nodes grow with their degree, chosen ones are filled, strong edges are thick.

    `edges` come strongest first; the thickness follows that order, so it suits any measure.
    """
    d = len(names)
    places = _around_the_centre(d, edges)
    degrees = np.bincount([end for edge in edges for end in edge[:2]], minlength=d)
    if ax is None:
        ax = _new_axes(5.5 + 0.11 * d, 5.5 + 0.11 * d)
    for rank, (a, b, weight) in enumerate(edges):
        strength = 1.0 - rank / max(1, len(edges) - 1)
        start, end = places[a], places[b]
        ax.plot(
            *zip(start, end, strict=True), color=ACCENT, lw=0.8 + 3.2 * strength, alpha=0.35 + 0.45 * strength, zorder=1
        )
        if d <= 25:
            middle = (start + end) / 2
            ax.annotate(
                _short(weight),
                middle,
                fontsize=6.5,
                color=INK,
                ha="center",
                va="center",
                zorder=2,
                bbox={"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.85},
            )
    small = max(0.55, 1.0 - 0.009 * d)
    filled = [ACCENT if j in chosen else "white" for j in range(d)]
    ax.scatter(*places.T, s=small * (70 + 110 * degrees), c=filled, edgecolors=ACCENT, linewidths=1.4, zorder=3)
    for j, name in enumerate(names):
        outward = places[j] if places[j].any() else np.array([0.0, 1.0])
        angle = np.arctan2(outward[1], outward[0])
        leaf = degrees[j] <= 1
        offset = (7 + 3.2 * np.sqrt(small * (1 + degrees[j]))) * np.array([np.cos(angle), np.sin(angle)])
        if not leaf:
            offset = np.array([0.0, 8 + 3.2 * np.sqrt(small * (1 + degrees[j]))])
        ax.annotate(
            name, places[j], xytext=offset, textcoords="offset points", fontsize=max(7.5, 9.5 - 0.05 * d), color=INK,
            ha="center" if not leaf or abs(np.cos(angle)) < 0.3 else "left" if np.cos(angle) > 0 else "right",
            va="center" if leaf else "bottom", fontweight="bold" if j in chosen else "normal", zorder=4,
            bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.7},
        )  # fmt: skip
    ax.margins(0.16)
    ax.set_aspect("equal")
    ax.axis("off")
    return ax


def draw_weights(names: Sequence[str], weights: NDArray[np.float64], label: str, ax: Any = None) -> Any:
    """Draw the weights of all pairs of columns as a heat map."""
    d = len(names)
    if ax is None:
        ax = _new_axes(2.6 + 0.26 * d, 2.2 + 0.26 * d)
    shown = np.where(np.eye(d, dtype=bool), np.nan, weights)
    finite = shown[np.isfinite(shown)]
    top = float(finite.max()) if finite.size and finite.max() > 0 else 1.0
    image = ax.imshow(np.where(np.isinf(shown), top, shown), cmap="GnBu", vmin=0.0, vmax=top)
    size = max(7.0, 9.0 - 0.05 * d)
    ax.set_xticks(range(d), names, rotation=90, fontsize=size)
    ax.set_yticks(range(d), names, fontsize=size)
    ax.tick_params(length=0)
    for side in ax.spines.values():
        side.set_visible(False)
    ax.figure.colorbar(image, ax=ax, shrink=0.8, label=label)
    return ax


def draw_map(
    lines: Mapping[str, Sequence[tuple[int, float, float]]], frontier: Sequence[tuple[float, float]], ax: Any = None
) -> Any:
    """Draw risk against loss: a line for each method through its (k, loss, risk), the efficient ones marked."""
    if ax is None:
        ax = _new_axes(7.2, 5.0)
    if len(frontier) > 1:
        ax.plot(*zip(*sorted(frontier), strict=True), color=PALE, lw=9, solid_capstyle="round", zorder=1)
    ax.scatter(
        *zip(*frontier, strict=True), s=190, facecolors="none", edgecolors=INK, linewidths=1.1, zorder=2,
        label="efficient",
    )  # fmt: skip
    for number, (name, points) in enumerate(lines.items()):
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
    ax.set(xlabel="information loss, G_IL (%)", ylabel="disclosure risk, G_DR (%)")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(alpha=0.25)
    ax.legend(fontsize=8, frameon=False)
    return ax


def _new_axes(width: float, height: float) -> Any:
    """Make a figure that belongs to its caller, so that a loop of many leaves none behind."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").subplots()


def _short(weight: float) -> str:
    return "∞" if np.isinf(weight) else f"{weight:.2g}"


def _around_the_centre(d: int, edges: Sequence[tuple[int, int, float]]) -> NDArray[np.float64]:
    """Place a tree's nodes on rings about its centre; a branch gets room for its leaves."""
    neighbours: list[list[int]] = [[] for _ in range(d)]
    for a, b, _ in edges:
        neighbours[a].append(b)
        neighbours[b].append(a)
    root = _centre(neighbours)
    order, parent = [root], {root: -1}
    for node in order:
        for child in neighbours[node]:
            if child != parent[node]:
                parent[child] = node
                order.append(child)
    leaves = dict.fromkeys(range(d), 0)
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
    return places


def _centre(neighbours: list[list[int]]) -> int:
    """Give the middle of the tree's longest path."""

    def farthest(begin: int) -> tuple[int, dict[int, int]]:
        came, order = {begin: -1}, [begin]
        for node in order:
            for other in neighbours[node]:
                if other not in came:
                    came[other] = node
                    order.append(other)
        return order[-1], came

    end, came = farthest(farthest(0)[0])
    path = [end]
    while came[path[-1]] >= 0:
        path.append(came[path[-1]])
    return path[len(path) // 2]
