"""Do mixed jobs in one process, round after round, and see that nothing grows: `python -m adversary soak --minutes 60`.

After each round the memory that the process holds, its open handles, its threads and the files in its folder for
scratch are counted. After a warm-up none of them may grow.
"""

import argparse
import ctypes
import gc
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import pyarrow as pa

import microagg as ma
from adversary.children import ROLES, options, survey

WARM_UP = 4  # rounds: kernels compile, modules are imported, caches fill
MEMORY = 32.0  # MiB that it may hold more after all rounds; fragments of the heap come and go
HANDLES = 2  # more open handles, or threads, that may be there in the end


@dataclass(frozen=True)
class Sample:
    """What the process holds after a round."""

    memory: float  # MiB
    handles: int
    threads: int
    scratch: int  # files and folders

    @classmethod
    def now(cls, scratch: Path) -> "Sample":
        """Look, after what can be let go has been."""
        gc.collect()
        pa.default_memory_pool().release_unused()
        with suppress(OSError, AttributeError):
            ctypes.CDLL("libc.so.6").malloc_trim(0)
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        memory = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
        left = sum(1 for _ in scratch.rglob("*"))
        return cls(memory, len(list(Path("/proc/self/fd").iterdir())), threading.active_count(), left)


def slope(values: list[float]) -> float:
    """Return the median of the slopes of all pairs: how much is added a round, whatever a few rounds do."""
    pairs = [(second - first) / (b - a) for (a, first), (b, second) in combinations(enumerate(values), 2)]
    return statistics.median(pairs) if pairs else 0.0


def growth(values: list[float]) -> float:
    """Return by how much something has grown steadily: by the slope and by the ends, the lesser of both."""
    third = max(1, len(values) // 3)
    by_ends = statistics.median(values[-third:]) - statistics.median(values[:third])
    return max(0.0, min(slope(values) * (len(values) - 1), by_ends))


def verdict(samples: list[Sample], warm_up: int = WARM_UP) -> list[str]:
    """Tell what has grown."""
    found = [f"{one.scratch} files of scratch after round {n}" for n, one in enumerate(samples) if one.scratch]
    kept = samples[warm_up:]
    if len(kept) < 3:
        return found
    memory = growth([one.memory for one in kept])
    if memory > MEMORY:
        found.append(f"memory grew by {memory:.1f} MiB over {len(kept)} rounds; {MEMORY:.0f} may be")
    for what in ("handles", "threads"):
        more = growth([float(getattr(one, what)) for one in kept])
        if more > HANDLES:
            found.append(f"{what} grew by {more:.0f} over {len(kept)} rounds; {HANDLES} may be")
    return found


class Jobs:
    """What is done in a round; each in a folder that goes with it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.drawn = folder, random.Random(seed)
        self.table = survey(600)
        for name in ("s.csv", "s.parquet"):
            ma.write(self.table, folder / name)
        ma.write(ma.datasets.households(60), folder / "panel.csv")
        self.roles: dict[str, Any] = {name: columns.split(",") for name, columns in ROLES.items()}

    def all(self) -> dict[str, Callable[[Path], object]]:
        """Return the jobs by name."""
        names = (name for name in vars(type(self)) if name.startswith("_do_"))
        return {name.removeprefix("_do_"): getattr(self, name) for name in names}

    def _protect(self, **more: Any) -> Any:
        roles = self.roles | {name: more.pop(name) for name in list(more) if name in ("quasi", "drop", "identifiers")}
        return ma.protect(self.table, k=self.drawn.randint(3, 6), **roles, rest="drop", **more)

    def _call(self, *words: object, code: int = 0) -> str:
        from typer.testing import CliRunner

        from microagg.cli import app

        result = CliRunner().invoke(app, [str(word) for word in words])
        if (result.exit_code == 0) != (code == 0):
            raise RuntimeError(f"{words} ended with {result.exit_code}: {result.exception!r} {result.output}")
        return result.output

    def _do_read(self, place: Path) -> None:  # noqa: ARG002
        for name in ("s.csv", "s.parquet"):
            ma.read(str(self.folder / name))

    def _do_inspect(self, place: Path) -> None:
        self._call("inspect", self.folder / "s.csv", "-o", place / "recipe.toml", "-q")

    def _do_mask(self, place: Path) -> None:
        method = self.drawn.choice(["mdav", "vmdav", "cbfs", "iamat"])
        self._call(
            "mask", self.folder / "s.csv", *options(), "--rest", "drop", "--method", method, "-o", place / "out", "-q"
        )

    def _do_disk(self, place: Path) -> None:
        more = ["--rest", "drop", "--engine", "disk", "--same-order", "--max-block", "200", "-q", "-o", place / "out"]
        self._call("mask", self.folder / "s.parquet", *options(), *more)

    def _do_to_database(self, place: Path) -> None:
        target = f"duckdb:///{place / 'base.db'}?table=t"
        for force in ([], ["--force"]):
            words = [*options(), "--rest", "drop", "--to", target, "-o", place / "out", "-q", *force]
            self._call("mask", self.folder / "s.csv", *words)

    def _do_judge(self, place: Path) -> None:
        release = self._protect()
        release.report(place / "report.html")
        assert release.loss is not None
        assert release.risk is not None

    def _do_compare(self, place: Path) -> None:
        words = ["--methods", "mdav,cbfs", "-k", "3,5", "-o", place / "map.svg", "-q"]
        self._call("compare", self.folder / "s.csv", *options(), *words)

    def _do_refine(self, place: Path) -> None:  # noqa: ARG002
        self._protect(refine="fast")

    def _do_diversity(self, place: Path) -> None:  # noqa: ARG002
        left = [name for name in self.roles["drop"] if name != "capital"]
        self._protect(drop=left, confidential=["capital"], l=2)
        self._protect(drop=left, confidential=["capital"], t=0.5)

    def _do_units(self, place: Path) -> None:  # noqa: ARG002
        self._protect(identifiers=["name"], unit="person")

    def _do_weights(self, place: Path) -> None:  # noqa: ARG002
        left = [name for name in self.roles["drop"] if name != "weight"]
        self._protect(drop=left, weight=["weight"])

    def _do_app(self, place: Path) -> None:
        from microagg.app.session import Session
        from tests.app.client import Client
        from tests.app.releases import write

        session = Session(place)
        client = Client(session)
        try:
            session.open(str(self.folder / "s.csv"))
            client.settle()
            for page in ("/", "/try", "/compare", "/look", "/release"):
                if client.get(page).status != 200:
                    raise RuntimeError(f"the page {page} is not there")
                client.settle()
            write(client, place / "out")
        finally:
            session.worker.end()

    def _do_cancelled(self, place: Path) -> None:
        from microagg.jobs import masking, open_file

        class Stopped(Exception):
            """What a person does."""

        def stop(*_: object) -> None:
            raise Stopped

        recipe = ma.Recipe.of(5, **self.roles, rest="drop", refine="thorough")
        opened = open_file(str(self.folder / "s.csv"), recipe)
        with suppress(Stopped):
            masking.mask(opened, stop)
        with suppress(Stopped):
            source, target = self.folder / "s.parquet", place / "x.parquet"
            ma.protect_file(source, target, 5, quasi=["age"], rest="drop", max_block=200, progress=stop)

    def _do_refused(self, place: Path) -> None:
        self._call("mask", self.folder / "s.csv", "--quasi", "nobody", "-o", place / "out", "-q", code=1)
        self._call("mask", self.folder / "absent.csv", "-y", "-o", place / "out", code=1)
        self._call("mask", self.folder / "s.csv", *options(), "-k", "100000", "-o", place / "out", "-q", code=1)
        bad = place / "bad.parquet"
        bad.write_bytes((self.folder / "s.parquet").read_bytes()[:1000])
        self._call("inspect", bad, "-o", place / "r.toml", code=1)


def soak(seconds: float, seed: int, only: list[str] | None = None, say: Callable[[str], None] = print) -> list[Sample]:
    """Do rounds of jobs for so long; give a sample of each."""
    samples: list[Sample] = []
    with tempfile.TemporaryDirectory(prefix="soak-") as made:
        scratch, files, places = (Path(made) / name for name in ("scratch", "files", "places"))
        for one in (scratch, files, places):
            one.mkdir()
        former, tempfile.tempdir = tempfile.tempdir, str(scratch)
        try:
            jobs = Jobs(files, seed)
            wanted = {name: job for name, job in jobs.all().items() if only is None or name in only}
            end = time.monotonic() + seconds
            say(f"{'round':>5} {'MiB':>8} {'handles':>8} {'threads':>8} {'scratch':>8}   {len(wanted)} jobs a round")
            while time.monotonic() < end or len(samples) < WARM_UP + 3:
                for name in jobs.drawn.sample(list(wanted), len(wanted)):
                    with tempfile.TemporaryDirectory(dir=places) as place:
                        wanted[name](Path(place))
                samples.append(now := Sample.now(scratch))
                say(f"{len(samples):5} {now.memory:8.1f} {now.handles:8} {now.threads:8} {now.scratch:8}")
        finally:
            tempfile.tempdir = former
    return samples


def main(arguments: list[str]) -> int:
    """Soak, and print what was counted; 1 if something grew."""
    parser = argparse.ArgumentParser(prog="python -m adversary soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", help="of a round, with commas; all where this is left out")
    given = parser.parse_args(arguments)
    only = given.jobs.split(",") if given.jobs else None
    samples = soak(given.minutes * 60, given.seed, only, lambda line: print(line, flush=True))
    kept = [one.memory for one in samples[WARM_UP:]]
    grown = slope(kept) * 1024
    print(f"{len(samples)} rounds, seed {given.seed}; after {WARM_UP}: memory {grown:+.0f} KiB a round (robust slope)")
    for problem in (found := verdict(samples)):
        print(f"FAILED {problem}")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
