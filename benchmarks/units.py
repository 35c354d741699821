"""Time what it costs to keep k units in a group, beside the same records without units.

`python benchmarks/units.py` prints seconds of processor time, the least of several runs (one minute). The units have
five records each: drawn at random, and alike as the members of a household are.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from microagg.algorithms.methods import METHODS
from microagg.algorithms.refine import refine
from microagg.algorithms.units import Units

PER_UNIT = 5
CASES = [
    *[(name, 50_000, 5, k) for name in ("mdav", "cbfs", "vmdav", "iamat") for k in (3, 10)],
    *[(name, 8_000, 12, 5) for name in ("mdav", "vmdav", "iamat")],
    ("maximum-distance", 3_000, 5, 3),
]


def least(work: Callable[[], Any], times: int = 5) -> float:
    """Return the least processor time of several runs, after one that compiles."""
    work()
    found = []
    for _ in range(times):
        began = time.thread_time()
        work()
        found.append(time.thread_time() - began)
    return min(found)


def main() -> None:
    """Print a table of all cases."""
    rng = np.random.default_rng(0)
    print(f"{'method':>18}{'n':>8}{'d':>4}{'k':>4}{'units':>12}{'without':>10}{'with':>8}{'ratio':>8}")
    for name, n, d, k in CASES:
        partition = METHODS[name].function
        scattered = rng.random((n, d))
        in_order = np.arange(n) // PER_UNIT
        alike = 0.97 * scattered[in_order * PER_UNIT] + 0.03 * scattered
        for said, X, codes in (("at random", scattered, rng.permutation(in_order)), ("alike", alike, in_order)):
            units = Units(codes)
            without = least(lambda X=X, k=k, f=partition: f(X, k))
            having = least(lambda X=X, k=k, f=partition, units=units: f(X, k, units=units))
            print(f"{name:>18}{n:>8}{d:>4}{k:>4}{said:>12}{without:>10.3f}{having:>8.3f}{having / without:>8.2f}")
    units = Units(np.arange(50_000) // PER_UNIT)
    X = rng.random((50_000, 5))
    labels = METHODS["mdav"].function(X, 5, units=units)
    without, having = (least(lambda u=u: refine(X, labels, 5, n_jobs=1, units=u), 3) for u in (None, units))
    print(
        f"{'refine':>18}{50_000:>8}{5:>4}{5:>4}{'in order':>12}{without:>10.3f}{having:>8.3f}{having / without:>8.2f}"
    )


if __name__ == "__main__":
    main()
