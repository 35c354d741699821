"""Time files beyond memory: what each part of the job takes, for each record, and the memory it needs.

`python benchmarks/beyond.py` masks synthetic surveys of ten numbers in Parquet, made a part at a time; `--sizes` says
how many records they have, in millions, `--fifty` adds 50 million, `--engines disk,dask` chooses who masks them. Every
run is a process of its own. "seconds" are those of the clock, "processor" those of all cores and workers, and both are
given for a million records too; the parts of the job are in seconds of the clock. "MB" is the most memory that the
process held, "own" what of that is not pages of files, which the system may drop; of Dask, the largest process counts.
"mask" lays records out, groups and masks them. `--choices '{"refine": "fast"}'` adds choices of `protect_file`.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

STAGES = {
    "look": "look",
    "read": "read",
    "constants": "sum",
    "grow": "cut",
    "mask": "mask",
    "take_turns": "choose",
    "finish_weights": "weigh",
    "write": "write",
}
"""What each stage is called in the table; laying records out and grouping them are parts of "mask"."""

NAMES = tuple(STAGES.values())
ROW_GROUP = 250_000


def make(path: Path, n: int) -> None:
    """Write a survey of n records and ten columns, a row group at a time."""
    import pyarrow.parquet as pq

    import microagg as ma

    names = ma.datasets.survey(10, seed=0).column_names[3:13]
    writer = None
    for number, start in enumerate(range(0, n, ROW_GROUP)):
        table = ma.datasets.survey(min(ROW_GROUP, n - start), seed=number).select(names)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    assert writer is not None
    writer.close()


def child(engine: str, source: str, target: str, k: str, choices: str) -> None:
    """Mask a file in this process; print the seconds of each part and the memory."""
    import microagg as ma
    from microagg.mask.engines import cluster, disk

    seconds: dict[str, float] = defaultdict(float)

    def timed(stage: Callable[..., Any], name: str) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            began = time.monotonic()
            try:
                return stage(*given)
            finally:
                seconds[name] += time.monotonic() - began

        return run

    owner: Any = disk.Disk if engine == "disk" else cluster.Cluster
    for stage, name in STAGES.items():
        setattr(owner, stage, timed(getattr(owner, stage), name))
    held, done = [0], threading.Event()
    watching = threading.Thread(target=_watch, args=(held, done), daemon=True)
    watching.start()
    ma.protect_file(source, target, int(k), engine=engine, overwrite=True, **json.loads(choices))
    done.set()
    watching.join()
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(
        json.dumps(
            {
                "parts": seconds,
                "processor": sum(one.ru_utime + one.ru_stime for one in used),
                "mb": max(one.ru_maxrss for one in used) / 1024,
                "own": held[0] / 1024,
            }
        )
    )


def _watch(held: list[int], done: threading.Event) -> None:
    """Note the most memory, in kB, that is not of files."""
    while not done.wait(0.05):
        lines = Path("/proc/self/status").read_text().splitlines()
        held[0] = max([held[0], *(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))])


def main() -> None:
    """Time the sizes that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1,2", help="millions of records, with commas between")
    parser.add_argument(
        "--fifty", action="store_true", help="50 million records too: 6 GB of files, and twice that of scratch"
    )
    parser.add_argument("--engines", default="disk,dask")
    parser.add_argument("-k", default="3")
    parser.add_argument("--choices", default="{}", help="more choices of protect_file, as JSON")
    parser.add_argument("--folder", help="where the files go; a folder for temporary files by default")
    asked = parser.parse_args()
    engines = asked.engines.split(",")
    sizes = [*map(float, asked.sizes.split(",")), *([50.0] if asked.fifty else [])]
    heads = ("seconds", "processor", "s/M", "proc/M", *NAMES, "MB", "own")
    print(f"{'records':>12} {'engine':<6} " + " ".join(f"{head:>9}" for head in heads))
    with tempfile.TemporaryDirectory(dir=asked.folder) as made:
        for millions in sizes:
            n = round(millions * 1e6)
            source, target = Path(made) / "survey.parquet", Path(made) / "masked"
            make(source, n)
            for engine in engines:
                place = target.with_suffix("" if engine == "dask" else ".parquet")
                words = [sys.executable, __file__, "--child", engine, str(source), str(place), asked.k, asked.choices]
                began = time.monotonic()
                done = subprocess.run(words, capture_output=True, text=True, check=False)
                if done.returncode:
                    sys.exit(done.stderr)
                show(n, engine, time.monotonic() - began, json.loads(done.stdout.splitlines()[-1]))


def show(n: int, engine: str, seconds: float, found: dict[str, Any]) -> None:
    """Print a line of the table."""
    each = n / 1e6
    figures = [seconds, found["processor"], seconds / each, found["processor"] / each]
    figures += [found["parts"].get(part, 0.0) for part in NAMES]
    words = " ".join(f"{figure:9.1f}" for figure in figures)
    print(f"{n:>12} {engine:<6} {words} {found['mb']:9.0f} {found['own']:9.0f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
    else:
        main()
