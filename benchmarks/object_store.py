"""Mask a file on three workers that share only an object store: time, bytes moved, and the same bytes as one process.

`python benchmarks/object_store.py` makes 5 000 000 records of ten columns (`--records`), puts them into an emulation of
S3 on this machine, and masks them on this machine alone (`engine="disk"`), on three workers, and once more with one of
them killed while it masks. Workers have homes, folders and, for root on Linux, networks of their own. The emulation
counts what passes. It is slower than a store: judge by the bytes, the requests and the processor time of workers.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import pyarrow as pa
import pyarrow.parquet as pq

import microagg as ma
from microagg.files.stores import place_at
from tests.beyond.machines import machines

CHUNK = 500_000
ROLES = {"k": 3, "max_block": 50_000}


def make(path: Path, records: int) -> None:
    """Write a survey of ten columns of numbers, in row groups small enough for parts."""
    writer = None
    for start in range(0, records, CHUNK):
        table = ma.datasets.survey(min(CHUNK, records - start), seed=start)
        table = table.select(table.column_names[-10:])
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=min(CHUNK // 10, max(1000, records // 48)))
    if writer is not None:
        writer.close()


def put(path: Path, address: str) -> None:
    """Copy a file to the store."""
    with path.open("rb") as file, place_at(address).writing() as there:
        while piece := file.read(1 << 23):
            there.write(piece)


def measured(there: Any, records: int, **how: Any) -> dict[str, Any]:
    """Mask once; give seconds, and bytes and requests for each record."""
    before, began = there.counted(), time.monotonic()
    release = ma.protect_file(**how, **ROLES)
    seconds = time.monotonic() - began
    after = there.counted()
    requests = {name: count - before["requests"].get(name, 0) for name, count in after["requests"].items()}
    return {
        "seconds": round(seconds, 1),
        "read_bytes_a_record": round((after["sent"] - before["sent"]) / records, 1),
        "written_bytes_a_record": round((after["received"] - before["received"]) / records, 1),
        "requests": requests,
        "k": release.k_achieved,
        "loss": release.information.percent,
    }


def seconds_of(process: Any) -> float:
    """Return the processor time of a worker."""
    try:
        words = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError):
        return 0.0


def main() -> None:
    """Run it and print one JSON object a line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=5_000_000)
    parser.add_argument("--partitions", type=int, default=None, help="parts of the file; else four a worker")
    parser.add_argument("--folder", type=Path, default=None, help="where to work; else a temporary folder")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as made, machines(made) as there:
        os.environ.update(there.environment)
        source = f"{there.bucket}/survey.parquet"
        local = there.client / "survey.parquet"
        make(local, asked.records)
        put(local, source)
        print(json.dumps({"records": asked.records, "networks": there.networks, "bytes": local.stat().st_size}))
        began, used = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
        release = ma.protect_file(local, there.client / "masked.parquet", engine="disk", **ROLES)
        alone = {"run": "one process", "seconds": round(time.monotonic() - began, 1)}
        alone["processor"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_utime - used, 1)
        print(json.dumps({**alone, "k": release.k_achieved, "loss": release.information.percent}), flush=True)
        there.wait()
        how = {"source": source, "scratch": f"{there.bucket}/scratch", "engine": "dask", "scheduler": there.scheduler}
        how["partitions"] = asked.partitions
        before = sum(map(seconds_of, there.workers))
        found = measured(there, asked.records, target=f"{there.bucket}/whole", **how)
        found["processor"] = round(sum(map(seconds_of, there.workers)) - before, 1)
        print(json.dumps({"run": "three workers", **found}), flush=True)
        killed = []

        def kill(done: int, total: int) -> None:
            if done > total // 3 and not killed:  # while regions are masked
                there.workers[0].kill()
                killed.append(round(done / total, 2))

        if asked.partitions is None:  # which follows from how many workers there are
            how["partitions"] = len(place_at(f"{there.bucket}/whole").inside())
        found = measured(there, asked.records, target=f"{there.bucket}/killed", progress=kill, **how)
        print(json.dumps({"run": "one killed", "at": killed, **found}), flush=True)
        parts = {name: _parts(f"{there.bucket}/{name}") for name in ("whole", "killed")}
        same = pa.concat_tables(pq.read_table(part.open()) for part in parts["whole"].values())
        print(
            json.dumps(
                {
                    "same bytes with one killed": {name: part.digest().hex() for name, part in parts["whole"].items()}
                    == {name: part.digest().hex() for name, part in parts["killed"].items()},
                    "same table as one process": same.equals(pq.read_table(there.client / "masked.parquet")),
                    "left": [str(one) for one, _, _ in place_at(there.bucket).inside(deep=True) if ".micro" in one.key],
                }
            )
        )


def _parts(address: str) -> dict[str, Any]:
    return {one.name: one for one, _, _ in place_at(address).inside()}


if __name__ == "__main__":
    main()
