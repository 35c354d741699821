"""Time the partitioners on made data: seconds, memory, growth, and the tree against brute force.

`make bench` runs the quick set (two minutes); `make bench-full` the full one (twenty). Prints a table and
writes a JSON. Each case runs in a process of its own, after a warm-up that compiles or loads its kernels.
"""

import argparse
import json
import math
import multiprocessing
import platform
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numba
import numpy as np

from microagg import __version__, datasets
from microagg.algorithms.kernels.records import plain_records
from microagg.algorithms.methods import METHODS, choose_search, settled_search
from microagg.algorithms.scores import standard_scores


@dataclass(frozen=True)
class Case:
    """One partition to time."""

    method: str
    data: str
    n: int
    d: int
    k: int = 3
    brute: bool = False  # whether to time brute force beside the tree


QUICK = [
    Case("mdav", "uniform", 10_000, 10, brute=True),
    Case("mdav", "uniform", 50_000, 10, brute=True),
    Case("mdav", "uniform", 100_000, 3),
    Case("mdav", "uniform", 100_000, 10),
    Case("mdav", "uniform", 1_000_000, 3),
    Case("mdav", "uniform", 10_000, 40, brute=True),
    Case("mdav", "uniform", 10_000, 80, brute=True),
    Case("mdav", "normal", 100_000, 10),
    Case("mdav", "survey", 50_000, 10, brute=True),
    Case("mdav", "survey", 100_000, 10, brute=True),
    Case("mdav", "equal", 200_000, 10),
    Case("mdav", "three values", 200_000, 10),
    Case("mdav", "offset", 200_000, 3),
    Case("mdav", "uniform", 200_000, 3),
    Case("mdav", "mostly zero", 200_000, 11),
    Case("cbfs", "uniform", 100_000, 10),
    Case("iamat", "uniform", 100_000, 10),
    Case("vmdav", "uniform", 100_000, 10),
    Case("maximum-distance", "uniform", 10_000, 10),
    Case("projection", "uniform", 100_000, 10),
]
FULL = [
    *QUICK,
    *[Case("mdav", "uniform", n, d, brute=True) for d in (3, 10, 20) for n in (5_000, 20_000, 50_000, 100_000)],
    *[Case(m, "uniform", n, 3) for m in ("mdav", "cbfs", "iamat", "vmdav") for n in (200_000, 500_000, 1_000_000)],
    *[Case("mdav", "uniform", 100_000, 10, k) for k in (5, 10, 50)],
    Case("mdav", "uniform", 200_000, 10),
    Case("mdav", "uniform", 200_000, 11),
    Case("mdav", "uniform", 1_000_000, 10),
]


def make(data: str, n: int, d: int) -> np.ndarray:
    """Make the records of a case."""
    rng = np.random.default_rng(0)
    if data == "survey":
        table = datasets.survey(n, seed=0)
        return standard_scores(np.array([table[name].to_numpy() for name in table.column_names[3:]], dtype=float)).T
    if data == "equal":
        return np.full((n, d), 0.1)
    if data == "three values":
        return rng.random((3, d))[rng.integers(0, 3, n)]
    if data == "offset":
        return 1e9 + rng.random((n, d))
    if data == "mostly zero":
        return np.where(rng.random((n, d)) < 0.8, 0.0, rng.lognormal(size=(n, d)))
    return getattr(datasets, data)(n, d, seed=0)


def measure(case: Case, search: str) -> tuple[float, float]:
    """Time a case in this process; give seconds and the peak of memory above the matrix, in its sizes."""
    partition = METHODS[case.method].function
    options = {} if case.method == "projection" else {"search": search}
    partition(make("uniform", 5000, case.d), case.k, **options)
    X = make(case.data, case.n, case.d)
    before = _resident()
    runs: list[float] = []
    while not runs or (sum(runs) < 2.0 and len(runs) < 5):  # the best of a few: others share the machine
        began = time.perf_counter()
        partition(X, case.k, **options)
        runs.append(time.perf_counter() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return min(runs), max(0.0, peak - before) / X.nbytes


def _resident() -> float:
    """Forget the peak of memory so far where the system can, and give the present use in bytes."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return float("nan")
    return pages * resource.getpagesize()


def in_own_process(case: Case, search: str) -> tuple[float, float]:
    """Measure a case apart from what earlier ones left behind."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (case, search))


def sdcmicro_seconds(case: Case) -> float | None:
    """Time R's sdcMicro on the same records, where it is installed and the case is MDAV of some size."""
    if case.method != "mdav" or case.n > 100_000 or not sdcmicro_installed():
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "records.csv"
        np.savetxt(path, make(case.data, case.n, case.d), delimiter=",")
        code = (
            f"x <- read.csv('{path}', header=FALSE); library(sdcMicro); "
            f"t <- system.time(microaggregation(x, method='mdav', aggr={case.k}))[['elapsed']]; cat(t)"
        )
        run = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True, check=True)
        return float(run.stdout.split()[-1])


def sdcmicro_installed() -> bool:
    """Return whether R and sdcMicro are on this machine."""
    if shutil.which("Rscript") is None:
        return False
    return subprocess.run(["Rscript", "-e", "library(sdcMicro)"], capture_output=True, check=False).returncode == 0


def growth(rows: list[dict], case: Case, seconds: float) -> float | None:
    """Return the exponent of time in n since the last smaller file of this kind."""
    kin = [r for r in rows if (r["method"], r["data"], r["d"], r["k"]) == (case.method, case.data, case.d, case.k)]
    kin = [r for r in kin if r["n"] < case.n]
    if not kin:
        return None
    last = max(kin, key=lambda row: row["n"])
    return math.log(seconds / last["seconds"]) / math.log(case.n / last["n"])


def main() -> None:
    """Run a set of cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="the set of twenty minutes")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent / "results" / "partitioners.json")
    arguments = parser.parse_args()
    r_column = "sdcMicro" if sdcmicro_installed() else "sdcMicro: not installed"
    heads = ("method", "data", "n", "d", "k", "search", "seconds", "growth", "memory", "brute", "brute/it", r_column)
    widths = (18, 14, 9, 4, 4, 8, 9, 8, 8, 9, 10, 2 + len(r_column))
    print("".join(f"{head:>{width}}" for head, width in zip(heads, widths, strict=True)))
    rows: list[dict] = []
    for case in dict.fromkeys(FULL if arguments.full else QUICK):
        search = "-" if case.method == "projection" else choose_search("auto", case.n, case.d)
        if search == "auto":
            records = plain_records(np.ascontiguousarray(make(case.data, case.n, case.d).T))
            search = settled_search(search, records, case.k)
        seconds, memory = in_own_process(case, search)
        brute = in_own_process(case, "brute")[0] if case.brute and search == "tree" else None
        row = asdict(case) | {
            "search": search,
            "seconds": seconds,
            "growth": growth(rows, case, seconds),
            "memory_in_matrices": memory,
            "brute_seconds": brute,
            "brute_over_search": brute / seconds if brute else None,
            "sdcmicro_seconds": sdcmicro_seconds(case),
        }
        rows.append(row)
        cells = [case.method, case.data, case.n, case.d, case.k, *list(row.values())[6:]]
        shown = [f"{c:.2f}" if isinstance(c, float) else "" if c is None else str(c) for c in cells]
        print("".join(f"{cell:>{width}}" for cell, width in zip(shown, widths, strict=True)), flush=True)
    versions = {"microagg": __version__, "numba": numba.__version__, "numpy": np.__version__}
    report = {"machine": platform.machine(), "python": platform.python_version(), **versions, "rows": rows}
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(report, indent=1))
    print(f"\nwritten to {arguments.output}", file=sys.stderr)


if __name__ == "__main__":
    main()
