"""Return the bound of the loss on the reference files, and the time that it takes on large ones.

`python benchmarks/bound.py` prints the bound beside the best loss known of each reference file that is at hand;
`--large` times it on made files of up to a million records. Seconds of the processor count all threads, so that another
program that runs meanwhile changes them little.
"""

import argparse
import resource
import time

import numpy as np
from refine import BEST_KNOWN, scores

import microagg as ma

SIZES = ((100_000, 5), (1_000_000, 5), (100_000, 10), (60_000, 30))


def reference() -> None:
    """Print the bound of each file, and which part of the best known loss it is."""
    print("file       k   bound     best known  share")
    for name, losses in BEST_KNOWN.items():
        X = scores(name)
        for k, best in losses.items():
            found = ma.loss_bound(X, k)
            print(f"{name:<10} {k:<3} {found:<9.4f} {best:<11.4f} {100 * found / best:.1f} %", flush=True)


def large(jobs: int | None) -> None:
    """Time the search on uniform and normal records, and on normal ones of one decimal, which are full of ties."""
    ma.loss_bound(ma.datasets.normal(20_000, 5, seed=0), 3)  # compiles
    print("records    columns  values   k   bound     seconds  of the processor")
    for n, d in SIZES:
        normal = ma.datasets.normal(n, d, seed=0)
        made = {"uniform": ma.datasets.uniform(n, d, seed=0), "normal": normal, "ties": np.round(normal, 1)}
        for name, X in made.items():
            for k in (3, 10):
                began, spent = time.perf_counter(), _processor()
                found = ma.loss_bound(X, k, n_jobs=jobs)
                times = f"{time.perf_counter() - began:7.2f}  {_processor() - spent:7.2f}"
                print(f"{n:<10} {d:<8} {name:<8} {k:<3} {found:<9.4f} {times}", flush=True)


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="time it on large files")
    parser.add_argument("--jobs", type=int, help="threads; by default one a core")
    options = parser.parse_args()
    if options.large:
        large(options.jobs)
    else:
        reference()


if __name__ == "__main__":
    main()
