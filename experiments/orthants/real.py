"""Table 5 and section 3.3 of the 2^d-tree paper: EIA, which is the paper's own file, so no tolerance is allowed.

The paper does not say by which column it cuts, nor in which order small leaves are fused. Its section 3 cuts a
column's range into equal intervals; its introduction sorts a column and divides it. Table 5 was made in the second way,
it seems: sorted by column 2, in blocks of L records. `nearest_reading` finds that among 33 readings.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

import microagg as ma
from experiments.orthants.base import Rows

TABLE, SECTION = "2^d-tree table 5", "2^d-tree section 3.3"
RECORDS = 4092
CASES = [(most, k) for k in (3, 5) for most in (100, 200)]
WAYS = ("equal intervals", "equal counts", "blocks of L records")
ORDERS = 20

Part = NDArray[np.int64]


@cache
def raw() -> NDArray[np.float64]:
    """Return EIA's values."""
    file = ma.datasets.load("eia")
    return np.array([file[name].to_numpy() for name in file.column_names], dtype=float).T


@cache
def scores() -> NDArray[np.float64]:
    """Return EIA's z-scores."""
    X = raw()
    return (X - X.mean(axis=0)) / X.std(axis=0)


def squared_error(parts: list[Part], k: int) -> float:
    """Return the SSE of MDAV on z-scores, block by block."""
    Z = scores()
    return sum(ma.information_loss(Z[part], ma.MDAV(k=k).fit_predict(Z[part])).sse for part in parts)


def parted(labels: NDArray[np.int64]) -> list[Part]:
    """Return the rows of each block."""
    return [np.flatnonzero(labels == block) for block in range(int(labels.max()) + 1)]


@cache
def tree(most: int, k: int) -> float:
    """Return the SSE with a 2^d-tree over all columns."""
    return squared_error(parted(ma.OrthantTree(max_block=most, k=k).fit_predict(scores())), k)


@cache
def whole(k: int) -> float:
    """Return the SSE without blocks."""
    return squared_error([np.arange(len(scores()))], k)


def sorted_blocks(column: int, most: int, tie: int | None = None) -> list[Part]:
    """Sort by a column and divide after every `most` records; equal values in file order, or in a random one."""
    x = raw()[:, column]
    last = np.arange(len(x)) if tie is None else np.random.default_rng(tie).permutation(len(x))
    order = np.lexsort((last, x))
    return [np.sort(order[start : start + most]) for start in range(0, len(x), most)]


def univariate_blocks(column: int, way: str, most: int, k: int) -> list[Part]:
    """Cut by one column."""
    if way == WAYS[2]:
        return sorted_blocks(column, most)
    by = "width" if way == WAYS[0] else "count"
    return parted(ma.UnivariateBlocks(max_block=most, k=k, column=column, by=by).fit_predict(scores()))


@cache
def univariate(column: int, way: str, most: int, k: int) -> float:
    """Return the SSE of blocks cut by one column."""
    return squared_error(univariate_blocks(column, way, most, k), k)


@cache
def every_reading() -> dict[tuple[int, str], dict[tuple[int, int], float]]:
    """Return the four errors of each column and each way to cut."""
    return {
        (column, way): {(most, k): univariate(column, way, most, k) for most, k in CASES}
        for column in range(scores().shape[1])
        for way in WAYS
    }


def nearest_reading(rows: Rows) -> tuple[tuple[int, str], float, float]:
    """Return the reading whose four errors are nearest to the paper's, how far it is at most, and how far the next."""
    paper = {c: float(rows.expected[TABLE, f"EIA, L={c[0]}, k={c[1]}: univariate SSE"].expected) for c in CASES}
    worst = {key: max(abs(found[c] / paper[c] - 1) for c in CASES) for key, found in every_reading().items()}
    first, second = sorted(worst, key=lambda key: (worst[key], key))[:2]
    return first, 100 * worst[first], 100 * worst[second]


def leaves(Z: NDArray[np.float64], most: int) -> list[Part]:
    """Grow the 2^d-tree and give the rows of its leaves, small ones not joined."""
    found, stack = [], [(np.arange(len(Z)), Z.min(axis=0), Z.max(axis=0))]
    while stack:
        rows, low, high = stack.pop()
        if len(rows) <= most or (Z[rows] == Z[rows[0]]).all():
            found.append(rows)
            continue
        middle = (low + high) / 2
        upper = Z[rows] >= middle
        for orthant in np.unique(upper, axis=0):
            inside = (upper == orthant).all(axis=1)
            stack.append((rows[inside], np.where(orthant, middle, low), np.where(orthant, high, middle)))
    return found


def one_at_a_time(k: int, most: int, seed: int, renewed: bool) -> float:
    """Return the SSE when small leaves join the nearest one after the other, in random order.

    The centroid of a leaf that was joined is computed anew, or stays.
    """
    Z = scores()
    parts = leaves(Z, most)
    centres = np.array([Z[part].mean(axis=0) for part in parts])
    rng = np.random.default_rng(seed)
    while small := [i for i, part in enumerate(parts) if 0 < len(part) < k]:
        i = small[rng.integers(len(small))]
        distances = np.square(centres - centres[i]).sum(axis=1)
        distances[i] = np.inf
        j = int(distances.argmin())
        parts[j] = np.sort(np.concatenate([parts[j], parts[i]]))
        if renewed:
            centres[j] = Z[parts[j]].mean(axis=0)
        centres[i], parts[i] = np.inf, parts[i][:0]
    return squared_error([part for part in parts if len(part)], k)


def between(found: list[float], paper: float) -> str:
    """Write a range, and whether the paper's figure lies in it."""
    inside = min(found) <= paper <= max(found)
    return f"{min(found):.1f} to {max(found):.1f}, " + (
        "the paper's among them" if inside else "the paper's not among them"
    )


def table_five(rows: Rows) -> None:
    """Add table 5."""
    for most, k in CASES:
        what = f"EIA, L={most}, k={k}: 2^d-tree SSE"

        def fused(most: int = most, k: int = k, what: str = what) -> str:
            found = [one_at_a_time(k, most, seed, renewed) for seed in range(10) for renewed in (True, False)]
            text = (
                "the order in which small leaves join is not stated, ours join in rounds; one at a time in ten random"
            )
            return (
                f"{text} orders, centroids renewed or not: {between(found, float(rows.expected[TABLE, what].expected))}"
            )

        rows.add(TABLE, what, lambda c=(most, k): tree(*c), n=RECORDS, reason=fused)
        what = f"EIA, L={most}, k={k}: univariate SSE"

        def cut(most: int = most, k: int = k, what: str = what) -> str:
            (column, way), far, other = nearest_reading(rows)
            found = [squared_error(sorted_blocks(column, most, tie), k) for tie in range(ORDERS)]
            paper = float(rows.expected[TABLE, what].expected)
            return (
                f"column and cut are not stated; of 33 readings column {column + 1}, {way}, is nearest, at most "
                f"{far:.1f} % off (the next {other:.1f} %); in {ORDERS} orders of its equal values "
                f"{between(found, paper)}; equal intervals of column 1 {univariate(0, WAYS[0], most, k):.1f}"
            )

        rows.add(TABLE, what, lambda c=(most, k): univariate(1, WAYS[2], *c), n=RECORDS, reason=cut)
    for k in (3, 5):
        rows.add(TABLE, f"EIA, k={k}: SSE without blocks", lambda k=k: whole(k), n=RECORDS)
    rows.add(TABLE, "EIA: records", lambda: len(raw()), n=RECORDS, reason="so many has the CASC project's file")
    rows.add(TABLE, "EIA: columns", lambda: raw().shape[1], n=RECORDS)


def listed(errors: Callable[[int, int], float]) -> str:
    """Write the four errors."""
    return ", ".join(f"L={most}, k={k} {errors(most, k):.1f}" for most, k in CASES)


def largest_block(most: int) -> int:
    """Return how many records the largest of equal intervals of column 1 holds."""
    return max(map(len, univariate_blocks(0, WAYS[0], most, 3)))


def section(rows: Rows) -> None:
    """Add what section 3.3 concludes: first of the tree, then of univariate blocks in the two readings."""

    def claim(what: str, holds: Callable[[], bool], why: Callable[[], str]) -> None:
        if rows.skips(RECORDS):
            return rows.add(SECTION, what, "", n=RECORDS)
        return rows.add(SECTION, what, "yes" if holds() else "no", reason=why())

    def alone() -> str:
        return f"without blocks {whole(3):.1f} (k=3), {whole(5):.1f} (k=5)"

    both = lambda: f"{listed(tree)}; {alone()}"  # noqa: E731
    claim("k=3: the 2^d-tree loses more than no blocks", lambda: all(tree(m, 3) > whole(3) for m in (100, 200)), both)
    claim("k=5: the 2^d-tree loses less than no blocks", lambda: all(tree(m, 5) < whole(5) for m in (100, 200)), both)
    for name, column, way in (
        ("blocks of L records by column 2", 1, WAYS[2]),
        ("equal intervals of column 1", 0, WAYS[0]),
    ):

        def cut(most: int, k: int, column: int = column, way: str = way) -> float:
            return univariate(column, way, most, k)

        def why(cut: Callable[[int, int], float] = cut, way: str = way) -> str:
            text = f"{listed(cut)}; {alone()}; 2^d-tree {listed(tree)}"
            if way == WAYS[0]:
                sizes = " and ".join(str(largest_block(most)) for most in (100, 200))
                counts = listed(lambda most, k: univariate(0, WAYS[1], most, k))
                text += f"; the largest blocks hold {sizes} records; equal counts of column 1, at most L, {counts}"
            return text

        worse = lambda cut=cut: all(cut(m, k) > whole(k) for m, k in CASES)  # noqa: E731
        claim(f"univariate blocks lose more than no blocks; {name}", worse, why)
        higher = lambda cut=cut: all(cut(m, k) > tree(m, k) for m, k in CASES)  # noqa: E731
        claim(f"univariate blocks lose more than the 2^d-tree; {name}", higher, why)

    def counts() -> dict[tuple[int, int], int]:
        found = every_reading().values()
        return {(most, k): sum(errors[most, k] > tree(most, k) for errors in found) for most, k in CASES}

    def told() -> str:
        shares = ", ".join(f"L={most}, k={k} {count}" for (most, k), count in counts().items())
        return f"of 33 readings, 11 columns cut in three ways: {shares}"

    what = "univariate blocks lose more than the 2^d-tree; every column and every cut"
    claim(what, lambda: min(counts().values()) == len(every_reading()), told)
