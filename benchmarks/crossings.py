"""Count the calls that go from one room of the source to another: `python benchmarks/crossings.py`.

A room is a package of the root, or a module there. `protect` on a survey, and `microagg mask` on the same file, are run
once to warm up, and once under a profile. The table ROOMS says in which room a module is to be, so that versions are
compared by the same rooms, and has former names too; a module that it does not name is in the room of its package.
"""

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import microagg as ma

HERE = str(Path(ma.__file__).parent)
ROOMS = {
    "_kernels": "algorithms", "partition": "algorithms", "blocking": "algorithms", "diversity": "algorithms",
    "moments": "algorithms", "equivalence": "algorithms", "units": "algorithms", "prepare.ordering": "algorithms",
    "kinds": "columns", "table": "columns", "schema": "columns", "prepare": "columns", "weights": "columns",
    "io.coding": "columns", "io.finding": "columns", "io.dates": "columns", "io.numbers": "columns", "io": "files",
    "evaluate": "measures", "assess": "measures", "results": "judge", "judgement": "judge", "release_facts": "judge",
    "grouping": "mask", "forming": "mask", "row_groups": "mask", "refining": "mask", "whole_units": "mask",
    "unit_constants": "mask", "demands": "mask", "weighting": "mask", "aggregate": "mask", "rounding": "mask",
    "moment_matching": "mask", "relation_keeping": "mask", "digits": "mask", "pipeline": "mask", "beyond": "mask",
    "guessing": "guess", "desk": "jobs", "parallel": "work", "progress": "work", "ownership": "work",
    "readonly": "work", "frozen": "work", "checks": "work", "errors": "work", "_pandas": "work", "plots": "pictures",
    "base": "work", "file_release": "mask", "mask.facts": "judge",
}  # fmt: skip
"""Modules, and the rooms that they are to be in."""


def room_of(module: str) -> str:
    """Return the room of a module, as the plan has it."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        if ".".join(parts[:length]) in ROOMS:
            return ROOMS[".".join(parts[:length])]
    return parts[0]


def counted(act: Callable[[], Any]) -> tuple[int, int, int, int, Counter[tuple[str, str]]]:
    """Return how many functions and files were in use, the calls between present rooms and between planned ones."""
    functions: set[tuple[str, int]] = set()
    between: Counter[tuple[str, str]] = Counter()
    present = 0

    def heard(frame: FrameType, event: str, _: Any) -> None:
        nonlocal present
        place = frame.f_code.co_filename
        if event != "call" or not place.startswith(HERE):
            return
        functions.add((place, frame.f_code.co_firstlineno))
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(HERE):
            caller = caller.f_back
        if caller is None:
            return
        here, there = _module(caller.f_code.co_filename), _module(place)
        present += here.split(".")[0] != there.split(".")[0]
        if room_of(here) != room_of(there):
            between[room_of(here), room_of(there)] += 1

    act()
    sys.setprofile(heard)
    try:
        act()
    finally:
        sys.setprofile(None)
    return len(functions), len({place for place, _ in functions}), present, between.total(), between


def _module(place: str) -> str:
    return place[len(HERE) + 1 :].removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def main(arguments: list[str]) -> None:
    """Print the counts, and the busiest ways between rooms."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=12, help="ways between rooms that are listed")
    most = parser.parse_args(arguments).most
    table = ma.datasets.survey(2000, seed=0)
    roles: dict[str, Any] = {"identifiers": ["person"], "strata": ["region"], "weight": "weight"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "survey.csv"
        ma.write(table, file)

        def mask() -> None:
            from typer.testing import CliRunner

            from microagg.cli import app

            words = ["--identifiers", "person", "--strata", "region", "--weight", "weight", "--quasi"]
            words.append(",".join(name for name in table.column_names if name not in ("person", "region", "weight")))
            done = CliRunner().invoke(app, ["mask", str(file), "-k", "5", "-o", f"{folder}/out", "--force", *words])
            assert done.exit_code == 0, done.output

        for title, act in {"protect": lambda: ma.protect(table, k=5, n_jobs=1, **roles), "mask": mask}.items():
            functions, files, present, planned, between = counted(act)
            print(f"{title}: {functions} functions in {files} files, {present} calls between rooms as they stand, "
                  f"{planned} between those of the plan")  # fmt: skip
            for (here, there), count in between.most_common(most):
                print(f"  {here} -> {there}: {count}")


if __name__ == "__main__":
    main(sys.argv[1:])
