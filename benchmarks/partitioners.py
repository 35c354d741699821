"""Time the partitioners on made data; print a table and write a JSON beside it.

Run with `make bench`. Each case runs once in this process after a small warm-up that compiles it.
"""

import argparse
import json
import platform
import time
from pathlib import Path

import numba
import numpy as np

from microagg import __version__, datasets
from microagg.partition import PARTITIONERS

CASES = [
    ("mdav", "uniform", 10_000, 10, 3),
    ("mdav", "uniform", 50_000, 10, 3),
    ("cbfs", "uniform", 20_000, 10, 3),
    ("iamat", "uniform", 20_000, 10, 3),
    ("vmdav", "uniform", 20_000, 10, 3),
    ("maximum-distance", "uniform", 5_000, 10, 3),
    ("projection", "uniform", 100_000, 10, 3),
]


def seconds(method: str, kind: str, n: int, d: int, k: int) -> float:
    """Time one partition of made data."""
    make = getattr(datasets, kind)
    PARTITIONERS[method](make(100, d, seed=1), k)
    X = make(n, d, seed=0)
    began = time.perf_counter()
    PARTITIONERS[method](X, k)
    return time.perf_counter() - began


def main() -> None:
    """Run all cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "partitioners.json")
    output = parser.parse_args().output
    print(f"{'method':<18}{'data':<10}{'n':>9}{'d':>4}{'k':>4}{'seconds':>10}")
    rows = []
    for case in CASES:
        took = seconds(*case)
        method, kind, n, d, k = case
        print(f"{method:<18}{kind:<10}{n:>9}{d:>4}{k:>4}{took:>10.3f}", flush=True)
        rows.append({"method": method, "data": kind, "n": n, "d": d, "k": k, "seconds": round(took, 4)})
    versions = {"microagg": __version__, "numba": numba.__version__, "numpy": np.__version__}
    report = {"machine": platform.machine(), "python": platform.python_version(), **versions, "rows": rows}
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(report, indent=1))
    print(f"\nwritten to {output}")


if __name__ == "__main__":
    main()
