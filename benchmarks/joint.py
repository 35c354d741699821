"""Time what several releases of one file take to be judged together, rows in order and sorted.

`python benchmarks/joint.py` prints seconds and figures of a synthetic survey, k = 3, 4 and 5 (some minutes);
`python benchmarks/joint.py 10000` of so many records.
"""

import sys
import time

import microagg as ma

COLUMNS = ["age", "hours", "wage", "income", "tax", "capital"]


def main(sizes: list[int]) -> None:
    """Print a line for each size and order of rows."""
    print(f"{'n':>8}{'rows':>10}{'seconds':>9}{'singled out %':>15}{'solved %':>10}{'groups that agree %':>21}")
    small = ma.datasets.survey(300, seed=0).select(COLUMNS)
    ma.joint_disclosure(small, [ma.protect(small, k=3).data], match="nearest")  # compiles
    for n in sizes:
        survey = ma.datasets.survey(n, seed=0).select(COLUMNS)
        releases = [ma.protect(survey, k=k).data for k in (3, 4, 5)]
        moved = [one.sort_by([(name, "ascending") for name in COLUMNS]) for one in releases]
        for rows, files in (("in order", releases), ("sorted", moved)):
            began = time.perf_counter()
            found = ma.joint_disclosure(survey, files)
            seconds = time.perf_counter() - began
            shares = [100.0 * count / n for count in (found.singled_out, found.solved)]
            agree = "" if found.consistent is None else f"{found.consistent:.2f}"
            print(f"{n:>8}{rows:>10}{seconds:>9.1f}{shares[0]:>15.2f}{shares[1]:>10.2f}{agree:>21}", flush=True)


if __name__ == "__main__":
    main([int(one) for one in sys.argv[1:]] or [1_000, 10_000, 100_000])
