"""Time two checkouts by turns: `python benchmarks/turns.py OTHER [--times 9] [--file FILE]`.

Jobs are whole runs of `microagg mask`, partitioners single calls in a process of their own after a warm-up. OTHER, this
checkout and OTHER again take turns, so that what else the machine does falls on all of them. The table has the median
seconds of each, this against OTHER in percent, and OTHER against itself: what the machine alone makes of equal code.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

HERE = Path(__file__).parent.parent
SURVEYS = (("survey", 2_000), ("households", 2_000), ("survey", 100_000), ("households", 100_000))
PARTITIONS = ("mdav", "cbfs", "vmdav", "iamat")
CALL = """
import sys, time, numpy as np, microagg as ma
X = ma.datasets.uniform({n}, 10, seed=0)
estimator = ma.{name}(k=3)
estimator.fit(X[:5000])
began = time.perf_counter()
estimator.fit(X)
print(time.perf_counter() - began)
"""


def environment(checkout: Path, folder: Path) -> dict[str, str]:
    """Return the environment in which a checkout runs, with compiled code of its own."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    own = folder / checkout.name
    return kept | {"PYTHONPATH": str(checkout / "src"), "PYTHONPYCACHEPREFIX": str(own / "modules")}


def job(path: Path, checkout: Path, folder: Path) -> float:
    """Time one run of `microagg mask`."""
    words = ["mask", str(path), "-k", "3", "--yes", "-o", str(folder / f"out-{path.stem}"), "--force", "-q"]
    began = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "microagg", *words],
        check=True,
        capture_output=True,
        cwd=folder,
        env=environment(checkout, folder),
    )
    return time.perf_counter() - began


def partition(name: str, checkout: Path, folder: Path) -> float:
    """Time one partition."""
    done = subprocess.run(
        [sys.executable, "-c", CALL.format(name=name.upper(), n=100_000)],
        check=True,
        capture_output=True,
        text=True,
        cwd=folder,
        env=environment(checkout, folder),
    )
    return float(done.stdout.split()[-1])


def compare(title: str, measure, thing, other: Path, folder: Path, times: int) -> None:
    """Print a line: medians by turns."""
    measure(thing, other, folder)  # compiles, or loads what is kept
    measure(thing, HERE, folder)
    turns = [[measure(thing, checkout, folder) for checkout in (other, HERE, other)] for _ in range(times)]
    first, ours, again = (median(own) for own in zip(*turns, strict=True))
    base = median([turn[i] for turn in turns for i in (0, 2)])
    print(f"{title:<24}{first:8.3f}{ours:8.3f}{again:8.3f}{ours / base - 1:+9.1%}{again / first - 1:+9.1%}", flush=True)


def main() -> None:
    """Time jobs, then partitioners."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="another checkout of this project")
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--file", type=Path, action="append", default=[], help="a file of yours to mask too")
    given = parser.parse_args()
    print(f"{'seconds':<24}{'other':>8}{'this':>8}{'other':>8}{'this':>9}{'itself':>9}")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        files = [path.resolve() for path in given.file]
        for name, n in SURVEYS:
            files.append(folder / f"{name}-{n}.csv")
            words = ["datasets", "make", name, "-n", str(n), "-o", str(files[-1]), "-q"]
            subprocess.run([sys.executable, "-m", "microagg", *words], check=True, env=environment(HERE, folder))
        for path in files:
            compare(path.stem, job, path, given.other.resolve(), folder, given.times)
        for name in PARTITIONS:
            compare(f"{name} 100 000 x 10", partition, name, given.other.resolve(), folder, given.times)


if __name__ == "__main__":
    main()
