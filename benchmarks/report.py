"""Time the report of a file of many columns: what is judged for it, and the page with its pictures.

Run with `python benchmarks/report.py`.
"""

import time

import numpy as np
import pandas as pd

import microagg as ma
from microagg.report import build, render

RECORDS, COLUMNS = 5000, 25


def main() -> None:
    """Print the seconds of each step, the first time and the second."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(RECORDS, 3)) @ rng.normal(size=(3, COLUMNS))
    values = np.exp(0.5 * (common + rng.normal(size=(RECORDS, COLUMNS))))
    frame = pd.DataFrame(values, columns=[f"column {j}" for j in range(COLUMNS)])
    release = ma.protect(frame, 5, select="emad")
    release = release.with_risk(release.risk_for(["column 0", "column 1", "column 2"]))
    for turn in ("first", "again"):
        began = time.perf_counter()
        model = build(release)
        judged = time.perf_counter()
        page = render(model)
        drawn = time.perf_counter()
        print(f"{turn}: judged in {judged - began:.2f} s; page of {len(page) / 1000:.0f} kB in {drawn - judged:.2f} s")


if __name__ == "__main__":
    main()
