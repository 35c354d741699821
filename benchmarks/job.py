"""Time `microagg mask` from the first second to the last, and what each part of the job takes.

`python benchmarks/job.py` masks synthetic surveys of numbers (`survey`) and of all kinds of columns (`households`);
`--file FILE` adds one of yours, `--million` a million records, and `--empty-cache` the demo with no compiled kernel.
Every run is a process of its own, of which the least of `--times` counts. Parts do not overlap: what one calls is
counted there alone. "start" is Python, all imports and the reading of the command line. The first table is of the
imports of three commands. Compiled modules are kept in a folder of the benchmark, whatever the environment says: as an
installed package has them.
"""

import argparse
import atexit
import functools
import importlib.abc
import importlib.machinery
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

PARTS = {
    "microagg.jobs.opening": {"read_file": "read", "open_source": "inspect"},
    "microagg.columns.embedding": {"embed": "embed"},
    "microagg.mask.form": {"groups_of_rows": "group", "groups_of_units": "group", "form_whole_groups": "group"},
    "microagg.pipeline": {"protect": "release"},
    "microagg.measures.loss": {"loss_of_release": "loss", "weighted_loss_of_release": "loss"},
    "microagg.measures.utility": {"measure_loss": "loss"},
    "microagg.judge.topics.loss": {"bound_of": "bound"},
    "microagg.measures.risk": {"measure_risk": "risk"},
    "microagg.judge.topics.results": {"results_of": "findings"},
    "microagg.jobs.writing": {"report_model": "report", "write_report": "report", "write": "write"},
}
"""The part of the job that each function belongs to, by its module."""

NAMES = (
    *("start", "read", "inspect", "embed", "group", "release", "loss", "bound", "risk", "findings", "report"),
    *("write", "rest"),
)


class Clock:
    """Adds up the seconds of parts; of parts within others, those of the inner one count for it alone."""

    def __init__(self, began: float) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._running = ["start"]
        self._since = began

    def enter(self, part: str) -> None:
        """Begin a part."""
        self._turn()
        self._running.append(part)

    def leave(self) -> None:
        """End the part that began last."""
        self._turn()
        self._running.pop()

    def _turn(self) -> None:
        now = time.monotonic()
        self.seconds[self._running[-1]] += now - self._since
        self._since = now

    def timed(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        """Return a function whose seconds count for a part."""

        def run(*given: Any, **named: Any) -> Any:
            self.enter(part)
            try:
                return function(*given, **named)
            finally:
                self.leave()

        return run


class Timing(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of `PARTS`, and exchanges their functions for timed ones as soon as they are there."""

    def __init__(self, clock: Clock) -> None:
        self._clock, self._loaders = clock, {}

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> Any:  # noqa: ARG002
        """Find a module as Python does."""
        if name not in PARTS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        assert spec is not None
        self._loaders[name], spec.loader = spec.loader, self
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Run a module, then exchange its functions."""
        self._loaders[module.__name__].exec_module(module)
        for name, part in PARTS[module.__name__].items():
            setattr(module, name, self._clock.timed(getattr(module, name), part))


def child(began: float, words: list[str]) -> None:
    """Run the program in this process; print the seconds of each part and the memory."""
    clock = Clock(began)
    sys.meta_path.insert(0, Timing(clock))
    bootstrap = importlib._bootstrap  # type: ignore[attr-defined]  # what imports call that are not there yet
    bootstrap._find_and_load = clock.timed(bootstrap._find_and_load, "start")
    from microagg.cli import main

    sys.argv = ["microagg", *words]
    clock.enter("rest")
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    clock.leave()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"parts": clock.seconds, "mb": peak / 1024}), file=sys.stderr)


def timed(words: Sequence[str], times: int, **environment: str) -> dict[str, Any]:
    """Run the program several times, each in a process of its own, and give the run of the fewest seconds."""
    found = []
    for _ in range(times):
        began = time.monotonic()
        done = subprocess.run(
            [sys.executable, __file__, "--child", repr(began), *words],
            capture_output=True, text=True, check=False, env=_installed() | environment,
        )  # fmt: skip
        seconds = time.monotonic() - began
        if done.returncode:
            sys.exit(done.stderr)
        found.append({**json.loads(done.stderr.splitlines()[-1]), "seconds": seconds})
    return min(found, key=lambda one: one["seconds"])


@functools.cache
def _installed() -> dict[str, str]:
    """Return an environment in which Python keeps compiled modules, until this process ends."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return kept | {"PYTHONPYCACHEPREFIX": folder}


def imports(name: str, words: Sequence[str], times: int) -> None:
    """Print what a command imports: the processor's seconds, how many modules, and those that take longest."""
    found = []
    for _ in range(times + 1):  # the first one compiles them
        command = [sys.executable, "-X", "importtime", "-m", "microagg", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=_installed())
        lines = [line.split("|") for line in done.stderr.splitlines() if line.startswith("import time:")][1:]
        own: dict[str, float] = defaultdict(float)
        for line in lines:
            own[line[2].strip().split(".")[0]] += max(0, int(line[0].split(":")[1])) / 1e6  # below 0 across threads
        found.append((sum(own.values()), len(lines), own))
    seconds, modules, own = min(found[1:], key=lambda one: one[0])
    longest = sorted(own, key=lambda package: -own[package])[:6]
    shares = ", ".join(f"{package} {own[package]:.2f}" for package in longest)
    print(f"{name:<24}{seconds:8.2f} {modules:8d}  {shares}", flush=True)


def show(name: str, found: dict[str, Any]) -> None:
    """Print a line of the table."""
    parts = " ".join(f"{found['parts'].get(part, 0.0):8.2f}" for part in NAMES)
    print(f"{name:<24}{found['seconds']:8.2f} {parts} {found['mb']:8.0f}", flush=True)


def main() -> None:
    """Time the jobs that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--file", action="append", default=[])
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--empty-cache", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        import_table(folder, asked.times)
        print(f"{'job':<24}{'seconds':>8} {' '.join(f'{part:>8}' for part in NAMES)} {'MB':>8}")
        sizes = [("survey", 2_000), ("households", 2_000), ("survey", 100_000), ("households", 100_000)]
        sizes += [("survey", 1_000_000), ("households", 1_000_000)] if asked.million else []
        for name, n in sizes:
            path = folder / f"{name}-{n}.csv"
            make(name, n, path)
            mask(f"{name} {n}", path, folder, asked.times if n < 1_000_000 else 1)
            path.unlink()
        for path in map(Path, asked.file):
            mask(path.name, path, folder, asked.times)
        if asked.empty_cache:
            cache = str(folder / "kernels")
            for name in ("demo, empty cache", "demo, warm"):
                words = ["demo", "-o", str(folder / name)]
                show(name, timed(words, 1, NUMBA_CACHE_DIR=cache))


def make(name: str, n: int, path: Path) -> None:
    """Make a file of n records."""
    words = ["datasets", "make", name, "-n", str(n), "-o", str(path), "-q"]
    subprocess.run([sys.executable, "-m", "microagg", *words], check=True, env=_installed())


def import_table(folder: Path, times: int) -> None:
    """Time what commands import on a small file, once their kernels are kept."""
    path = folder / "imported.csv"
    make("survey", 2_000, path)
    print(f"{'imports of':<24}{'seconds':>8} {'modules':>8}  of these")
    imports("--help", ["--help"], times)
    imports("inspect", ["inspect", str(path), "-o", str(folder / "recipe.toml"), "--force"], times)
    imports("mask", ["mask", str(path), "-k", "3", "--yes", "-o", str(folder / "imported"), "--force"], times)
    print()
    path.unlink()


def mask(name: str, path: Path, folder: Path, times: int) -> None:
    """Time the masking of a file by guessed roles."""
    words = ["mask", str(path), "-k", "3", "--yes", "-o", str(folder / path.stem), "--force"]
    show(name, timed(words, times))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(float(sys.argv[2]), sys.argv[3:])
    else:
        main()
