"""Figures of docs/open_questions.md that take too long for the page itself.

python benchmarks/open_questions.py gain     IAMAT's gain over CBFS against k, and what changes it: half a minute
python benchmarks/open_questions.py outer    which groups gain and which lose
python benchmarks/open_questions.py alpha    an α of its own for each record: some minutes
python benchmarks/open_questions.py blocks   the 2^d-tree on EIA: L, columns, and groups of variable size
python benchmarks/open_questions.py time     seconds of CBFS and IAMAT, by brute force
"""

import argparse
import itertools
import time

import numpy as np
from scipy.stats import rankdata

import microagg as ma

FILES = ("tarragona", "census", "eia")
KS = (3, 4, 5, 6, 8, 10)
OUTER = 0.8
"""Records beyond this quantile of the distances from the centroid are outer ones."""


def standardised(X):
    """Return the z-scores."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def values(name):
    """Return the values of a reference file."""
    table = ma.datasets.load(name)
    return np.array([table[column].to_numpy() for column in table.column_names], dtype=float).T


def student(rng, n, d, freedom=3):
    """Draw from a multivariate t distribution."""
    return rng.standard_normal((n, d)) / np.sqrt(rng.chisquare(freedom, (n, 1)) / freedom)


DRAWN = {
    "uniform": lambda rng, n, d: rng.random((n, d)),
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "lognormal": lambda rng, n, d: np.exp(rng.standard_normal((n, d))),
    "Student, 3 degrees of freedom": student,
}


def percent(Z, groups):
    """Return the information loss of groups, given by their rows."""
    return 100 * sum(((Z[g] - Z[g].mean(axis=0)) ** 2).sum() for g in groups) / (Z**2).sum()


def loss(Z, method):
    """Return the information loss of a method."""
    return ma.information_loss(Z, method.fit_predict(Z)).percent


def gains(X, before=ma.CBFS, after=ma.IAMAT):
    """By how many percent `after` loses less than `before`, for each k."""
    Z = standardised(X)
    return np.array([100 * (1 - loss(Z, after(k)) / loss(Z, before(k))) for k in KS])


def show(name, means, spread=None):
    """Print a line of gains."""
    cells = [f"{mean:6.1f}" for mean in means]
    if spread is not None:
        cells = [f"{cell} ±{sd:4.1f}" for cell, sd in zip(cells, spread, strict=True)]
    print(f"{name:44}", *cells, flush=True)


def several(name, draw, runs):
    """Show the mean and the standard deviation of the gains on several files."""
    found = np.array([gains(draw(np.random.default_rng(seed))) for seed in range(runs)])
    show(name, found.mean(axis=0), found.std(axis=0, ddof=1))


def gain():
    """IAMAT's gain, one rule at a time, without tails, with more records, and on synthetic files."""
    print(f"{'gain in percent, k =':44}", *(f"{k:6}" for k in KS))
    for name in FILES:
        X = values(name)
        n, d = X.shape
        show(name, gains(X))
        several("  19 of 20 records, 20 draws: mean, sd", lambda rng, X=X, n=n: rng.permutation(X)[: n * 19 // 20], 20)
        show("  only the centroid fixed", gains(X, after=lambda k: ma.VMDAV(k, gamma=0.0)))
        show("  only the growth by members", gains(X, after=lambda k: ma.IAMAT(k, centroid="moving")))
        show("  ranks in place of values", gains(rankdata(X, axis=0)))
        Z = standardised(X)
        far = (Z**2).sum(axis=1)
        for part in (5, 10, 20):
            show(f"  without the outermost {part} %", gains(X[far < np.quantile(far, 1 - part / 100)]))
        shape = np.cov(Z.T)
        for times in (1, 4):
            several(
                f"  normal, its covariances, {times * n} records",
                lambda rng, shape=shape, m=times * n, d=d: rng.multivariate_normal(np.zeros(d), shape, size=m),
                5,
            )
    for (n, d), (name, draw) in itertools.product(((250, 13), (1000, 13), (4000, 13), (1000, 5)), DRAWN.items()):
        several(f"{name}, {n} x {d}", lambda rng, draw=draw, n=n, d=d: draw(rng, n, d), 5)


def grow(Z, k, weigh=None, *, members=True, scale=1.0):
    """IAMAT step by step; `weigh(distances, member, candidates)` replaces the squared distance.

    `scale` divides the distance from the centroid, by which founders are chosen.
    """
    far = ((Z - Z.mean(axis=0)) ** 2).sum(axis=1) / scale
    free, groups = np.arange(len(Z)), []
    while free.size >= k:
        group = [int(free[np.argmax(far[free])])]
        sums = np.zeros(free.size)
        while True:
            if members or len(group) == 1:
                squares = ((Z[free] - Z[group[-1]]) ** 2).sum(axis=1)
                sums += squares if weigh is None else weigh(squares, group[-1], free)
            sums[free == group[-1]] = np.inf
            if len(group) == k:
                break
            group.append(int(free[np.argmin(sums)]))
        groups.append(np.array(group))
        free = np.setdiff1d(free, group)
    groups[-1] = np.concatenate([groups[-1], free])
    return groups


def outer():
    """Groups around the founder, and around all members: where the loss is."""
    print("around the founder -> around all members; outer: the fifth of the records farthest from the centroid")
    for name, k in itertools.product(FILES, (3, 5, 10)):
        Z = standardised(values(name))
        far = ((Z - Z.mean(axis=0)) ** 2).sum(axis=1)
        is_outer = far >= np.quantile(far, OUTER)
        lines = []
        for members in (False, True):
            groups = grow(Z, k, members=members)
            founded = [g for g in groups if is_outer[g[0]]]
            lines.append((100 * len(founded) / len(groups), percent(Z, founded), percent(Z, groups)))
        (share, own, whole), (share_2, own_2, whole_2) = lines
        print(
            f"{name:10} k = {k:2}: groups founded by an outer record {share:.1f} -> {share_2:.1f} %, "
            f"their loss {own:.3f} -> {own_2:.3f}, that of the others {whole - own:.3f} -> {whole_2 - own_2:.3f}",
            flush=True,
        )


def own_scale(Z, k):
    """The mean squared distance of each record to its k nearest; where it is 0, the least above 0."""
    found = np.array([np.partition(((Z - z) ** 2).sum(axis=1), k)[: k + 1].sum() / k for z in Z])
    return np.where(found > 0, found, found[found > 0].min())


def alpha():
    """IAMAT with d²/α_u (candidate's), d²/α_m (member's), d²/√(α_u α_m), and the root of the last weight."""
    files = {name: values(name) for name in FILES}
    for seed, (name, draw) in itertools.product(range(100, 105), DRAWN.items()):
        files[f"{name}, 1000 x 10, seed {seed}"] = draw(np.random.default_rng(seed), 1000, 10)
    print("loss in percent: IAMAT, then candidate, member, both, root of both; both, and for the founder")
    lower = np.zeros(4, dtype=int)
    for name, X in files.items():
        Z = standardised(X)
        for k in (3, 4, 5, 10) if name in FILES else (3, 5, 10):
            own = own_scale(Z, k)
            weights = (
                lambda squares, _, u, own=own: squares / own[u],
                lambda squares, m, _, own=own: squares / own[m],
                lambda squares, m, u, own=own: squares / np.sqrt(own[u] * own[m]),
                lambda squares, m, u, own=own: squares / (own[u] * own[m]) ** 0.25,
            )
            plain, found = loss(Z, ma.IAMAT(k)), np.array([percent(Z, grow(Z, k, one)) for one in weights])
            lower += (found < plain) & (name not in FILES)
            founder = percent(Z, grow(Z, k, weights[2], scale=own))
            print(f"{name:46} k = {k:2}: {plain:.4f} |", *(f"{one:.4f}" for one in (*found, founder)), flush=True)
    print("lower than IAMAT on synthetic files, of 60:", *lower)


def blocks():
    """Squared error on EIA by L, by the columns of the tree, and with groups of variable size."""
    table = ma.datasets.load("eia")
    base = {"blocks": "orthants", "rounding": "none"}
    for k in (3, 5):
        whole = [ma.protect(table, k=k, rounding="none", **more).information.sse for more in ({}, VARIABLE)]
        print(f"k = {k}: MDAV without blocks {whole[0]:.1f}, IAMAT of variable size {whole[1]:.1f}")
        for limit in (50, 100, 200, 500, 1000, 2000):
            found = [
                ma.protect(table, k=k, max_block=limit, **base, **more).information.sse
                for more in ({}, {"block_fusion": "limited"}, VARIABLE)
            ]
            print(f"  L = {limit}: MDAV {found[0]:.1f}, limited {found[1]:.1f}, IAMAT of variable size {found[2]:.1f}")
    for size in (1, 2, 3, 11):
        found = sorted(
            (ma.protect(table, k=3, max_block=100, block_columns=columns, **base).information.sse, columns)
            for columns in itertools.combinations(table.column_names, size)
        )
        middle = found[len(found) // 2][0]
        print(f"L = 100, k = 3, {size} columns: {found[0][0]:.1f} {found[0][1]}, {middle:.1f}, {found[-1][0]:.1f}")


VARIABLE = {"method": "iamat", "sizes": "variable"}


def times():
    """Seconds and loss of both on 10 000 uniform records of ten columns."""
    Z = standardised(np.random.default_rng(0).random((10_000, 10)))
    for k in KS:
        line = []
        for method in (ma.CBFS, ma.IAMAT):
            method(k, search="brute").fit(Z[:100])
            spent = []
            for _ in range(5):
                began = time.perf_counter()
                labels = method(k, search="brute").fit_predict(Z)
                spent.append(time.perf_counter() - began)
            line.append((min(spent), ma.information_loss(Z, labels).percent))
        (s, il), (s_2, il_2) = line
        fewer = 100 - 100 * il_2 / il
        print(f"k = {k:2}: {s:.3f} s {il:.3f} %, {s_2:.3f} s {il_2:.3f} %: {s_2 / s:.1f} times, {fewer:.1f} %")


if __name__ == "__main__":
    parts = {"gain": gain, "outer": outer, "alpha": alpha, "blocks": blocks, "time": times}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=parts)
    parts[parser.parse_args().part]()
