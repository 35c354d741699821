"""Time what it costs to keep l different values, or closeness t, in every group, beside the same file without a demand.

`python benchmarks/diversity.py` prints seconds of processor time (one minute): 100 000 records, ten quasi-identifiers,
and a confidential column of 20 values, nominal and ordered, that is related to the quasi-identifiers or not. Each is
the time of the whole of `protect` on one thread; `--records` takes another number of records.
"""

import argparse
import time

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import microagg as ma

KEYS = [f"q{j}" for j in range(10)]
VALUES = 20
CASES = [("none", {}), ("l=3", {"l": 3}), ("t=0.2", {"t": 0.2})]
MOST = {"l=3": 5, "t=0.2": 10}


def codes_of(amounts: NDArray[np.float64]) -> NDArray[np.int64]:
    """Cut amounts into twenty classes, the higher the rarer."""
    shares = np.arange(VALUES, 0, -1.0)
    cuts = np.quantile(amounts, np.cumsum(shares / shares.sum())[:-1])
    return np.searchsorted(cuts, amounts)


def frame_of(n: int, related: bool) -> pd.DataFrame:
    """Draw a file; where the confidential column is related, half of its variance is that of the quasi-identifiers."""
    X = ma.datasets.normal(n, len(KEYS), seed=0)
    noise = np.random.default_rng(1).normal(size=n)
    amounts = (X.sum(axis=1) / np.sqrt(len(KEYS)) + noise) / np.sqrt(2) if related else noise
    return pd.DataFrame(X, columns=KEYS).assign(c=codes_of(amounts))


def seconds(frame: pd.DataFrame, k: int, **choices: object) -> tuple[float, ma.Release]:
    """Return the processor time of one release, and the release."""
    began = time.process_time()
    release = ma.protect(frame, k, confidential=["c"], rounding="none", n_jobs=1, **choices)
    return time.process_time() - began, release


def main() -> None:
    """Print a table of all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("-k", type=int, default=5)
    options = parser.parse_args()
    small = frame_of(500, related=True)
    for kind in ("number", "nominal"):  # compiles
        for _, demand in CASES:
            seconds(small, 2, kinds={"c": kind}, **demand)
    heads = f"{'related':>8}{'kind':>9}{'demand':>8}{'seconds':>9}{'ratio':>7}{'most':>6}{'way':>12}{'loss':>8}"
    print(f"{options.records} records, ten quasi-identifiers, k={options.k}\n{heads}")
    for related in (True, False):
        frame = frame_of(options.records, related)
        plain, release = seconds(frame, options.k)
        print(f"{related!s:>8}{'':>9}{'none':>8}{plain:>9.2f}{'':>7}{'':>6}{'':>12}{release.information.percent:>8.2f}")
        for kind in ("nominal", "number"):
            for said, demand in CASES[1:]:
                taken, release = seconds(frame, options.k, kinds={"c": kind}, **demand)
                print(
                    f"{related!s:>8}{kind:>9}{said:>8}{taken:>9.2f}{taken / plain:>7.2f}{MOST[said]:>6}"
                    f"{release.diversity.way:>12}{release.information.percent:>8.2f}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
