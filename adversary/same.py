"""Mask the same values in many ways, and compare what is written: `python -m adversary same`.

Some ways promise the same bytes: other threads, hash seeds, locales, time zones, working folders, a recipe once more.
Others promise the same values: row groups, kinds of files, engines, the order of rows where no two distances are equal.
What nobody promises is counted apart.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import microagg as ma
from adversary.children import ROOT

N = 420
_ROLES = {"quasi": ["x", "y", "z"], "keep": ["id"], "rest": "drop"}

# Each as the command line has it, and as `protect` has it.
CASES: dict[str, dict[str, Any]] = {
    "mdav": {"method": "mdav"},
    "vmdav": {"method": "vmdav", "gamma": 0.4},
    "cbfs": {"method": "cbfs"},
    "iamat": {"method": "iamat"},
    "maximum-distance": {"method": "maximum-distance"},
    "projection": {"method": "projection"},
    "mdav, refine": {"method": "mdav", "refine": "fast"},
    "vmdav, refine": {"method": "vmdav", "refine": "fast"},
    "cbfs, refine": {"method": "cbfs", "refine": "thorough"},
    "l": {"confidential": ["diagnosis"], "l": 2},
    "t": {"confidential": ["diagnosis"], "t": 0.4},
    "units": {"unit": "person"},
    "weights": {"weight": ["w"]},
    "missing": {"quasi": ["x", "y", "gaps"]},
    "kinds": {"quasi": ["x", "y", "job", "size", "day"], "kinds": {"job": "nominal", "size": "ordinal", "day": "date"}},
    "strata": {"strata": ["region"]},
    "medians": {"aggregate": "median"},
    "moments": {"moments": "variance"},
    "blocks": {"blocks": "median", "max_block": 150},
    "blocks, weights": {"blocks": "median", "max_block": 150, "weight": ["w"]},
    "blocks, kinds": {
        "quasi": ["x", "y", "job", "size"],
        "kinds": {"job": "nominal", "size": "ordinal"},
        "blocks": "median",
        "max_block": 150,
    },
    "blocks, missing": {"quasi": ["x", "y", "gaps"], "blocks": "median", "max_block": 150},
}
_WITH_TIES = {"kinds", "blocks, kinds"}  # categories: distances, and counts of categories, may be equal
ENVIRONMENTS: dict[str, dict[str, str]] = {
    "once more": {},
    "1 thread of Numba": {"NUMBA_NUM_THREADS": "1"},
    "2 threads of Numba": {"NUMBA_NUM_THREADS": "2"},
    "1 thread of OpenMP": {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    "hash seed 0": {"PYTHONHASHSEED": "0"},
    "hash seed 1": {"PYTHONHASHSEED": "1"},
    "hash seed random": {"PYTHONHASHSEED": "random"},
    "Tokyo": {"TZ": "Asia/Tokyo"},
    "Newfoundland": {"TZ": "America/St_Johns"},
    "locale C": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "locale of Turkey": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
    "another folder": {"ADVERSARY_FOLDER": "another"},
}
_KINDS = {
    "": "once more",
    "NUMBA_NUM_THREADS": "threads",
    "OMP_NUM_THREADS": "threads",
    "PYTHONHASHSEED": "hash seed",
    "TZ": "time zone",
    "LC_ALL": "locale",
    "ADVERSARY_FOLDER": "working folder",
}
ROW_GROUPS = (1, 7, 1000)
PERMUTATIONS = 18


@dataclass
class Counts:
    """How many checks of each kind there were, how many were equal, and which were not."""

    promised: dict[str, list[int]] = field(default_factory=dict)
    others: dict[str, list[int]] = field(default_factory=dict)
    differing: list[str] = field(default_factory=list)

    def check(self, kind: str, what: str, equal: bool, promised: bool = True) -> None:
        """Count one check."""
        own = (self.promised if promised else self.others).setdefault(kind, [0, 0])
        own[0] += 1
        own[1] += equal
        if promised and not equal:
            self.differing.append(f"{kind}: {what}")

    def __str__(self) -> str:
        lines = [f"{'kind of check':42} {'checks':>7} {'equal':>7}"]
        for title, table in (("", self.promised), ("not promised:", self.others)):
            lines += [title] if title and table else []
            lines += [f"{kind:42} {number:7} {equal:7}" for kind, (number, equal) in table.items()]
        number, equal = (sum(own[place] for own in self.promised.values()) for place in (0, 1))
        lines.append(f"{'promised, in all':42} {number:7} {equal:7}")
        return "\n".join([*lines, *(f"DIFFERS {one}" for one in self.differing)])


def made(n: int = N, seed: int = 5) -> pa.Table:
    """Make records of which no two distances between numbers are equal."""
    drawn = np.random.default_rng(seed)
    points = drawn.normal(size=(n, 3)) @ drawn.normal(size=(3, 3)) * 1000
    x, y, z = (np.round(column, 3) for column in points.T)
    gaps = np.where(drawn.random(n) < 0.2, None, np.round(drawn.gamma(2.0, 500.0, n), 3))
    return pa.table(
        {
            "id": np.arange(n) + 10_000,
            "person": [f"p{number:03d}" for number in drawn.permutation(np.arange(n) // 2)],
            "region": drawn.choice(["north", "south", "east"], n),
            "x": x,
            "y": y,
            "z": z,
            "gaps": pa.array(gaps.tolist(), pa.float64()),
            "job": drawn.choice(["baker", "clerk", "nurse", "pilot"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "size": drawn.integers(1, 6, n),
            "day": pa.array((drawn.integers(0, 9000, n)).astype("datetime64[D]")),
            "w": np.round(drawn.uniform(50, 60, n), 2),
            "diagnosis": drawn.choice(["a", "b", "c", "d"], n),
        }
    )


def recipe_of(case: dict[str, Any], **more: Any) -> ma.Recipe:
    """Return the recipe of a case."""
    return ma.Recipe.of(4, **(_ROLES | case | more))


def mask(source: Path, recipe: ma.Recipe | Path, output: Path, *words: str) -> dict[str, Path]:
    """Mask a file by the command line in this process; give the places of what was written."""
    from typer.testing import CliRunner

    from microagg.cli import app

    if not isinstance(recipe, Path):
        place = output.with_name(f"{output.name}.toml")
        recipe.write(place)
        recipe = place
    given = ["mask", str(source), "--recipe", str(recipe), "-o", str(output), "--json", *words]
    result = CliRunner().invoke(app, given)
    if result.exit_code:
        raise RuntimeError(f"{given} was refused: {result.exception!r} {result.stderr}")
    return left_in(output)


def left_in(output: Path) -> dict[str, Path]:
    """Return the places of what a run left, wherever in its folder: "masked", "recipe" and each other file by name.

    Scripts are left out: they name the folder.
    """
    found = {str(one.relative_to(output)): one for one in sorted(output.rglob("*")) if one.is_file()}
    kept = {name: one for name, one in found.items() if not one.name.startswith("again.")}
    masked = next(one for one in sorted(output.rglob("*_masked*")))
    recipes = [one for one in kept.values() if one.name == "recipe.toml"]
    return {**kept, "masked": masked, "recipe": min(recipes, key=lambda one: "release" in one.parts)}


def digests(places: dict[str, Path]) -> dict[str, str]:
    """Return the checksum of each file that was written."""
    found = {}
    for what, place in places.items():
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        found[what] = hashlib.sha256(b"".join(one.read_bytes() for one in files if one.is_file())).hexdigest()
    return found


def child(source: Path, folder: Path, names: list[str]) -> dict[str, dict[str, str]]:
    """Mask a file in every way, and give the checksums; this runs in a process of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    with chdir(folder):
        address = Path(os.path.relpath(source, folder)) if os.environ.get("ADVERSARY_FOLDER") else source
        return {name: digests(mask(address, recipe_of(CASES[name]), folder / f"{i}")) for i, name in enumerate(names)}


def in_environment(source: Path, folder: Path, names: list[str], extra: dict[str, str]) -> dict[str, dict[str, str]]:
    """Run `child` with other settings of the environment."""
    path = os.pathsep.join([str(Path(ma.__file__).parent.parent), str(ROOT)])
    command = [sys.executable, "-m", "adversary.same", "--child", str(source), str(folder), "--cases", *names]
    run = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": path, **extra}, capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise RuntimeError(run.stderr[-3000:])
    found: dict[str, dict[str, str]] = json.loads(run.stdout.splitlines()[-1])
    return found


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    """Return the rows of a table in an order of their own; the names of columns go before."""
    names = sorted(table.column_names)
    columns = [_plain(table[name]) for name in names]
    return [tuple(names), *sorted(zip(*columns, strict=True), key=repr)]


def _plain(column: pa.ChunkedArray) -> list[Any]:
    """Return values such that those of a text file and of a typed one are alike."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return [_number(one) for one in column.to_pylist()]


def _number(value: Any) -> Any:
    """Return a number, also where a text file has it; a date as its text; nothing where that is missing."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return None if value in (None, "") else str(value)


def read_rows(place: Path) -> list[tuple[Any, ...]]:
    """Return the rows of a file, or of a folder of parts."""
    table = pq.read_table(place) if place.is_dir() else ma.read(str(place)).table
    return rows_of(table)


def environments(counts: Counts, table: pa.Table, folder: Path, names: list[str], wanted: dict[str, Any]) -> None:
    """Compare the bytes of all files of processes with other environments."""
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "source.parquet"
    ma.write(table, source)
    usual = in_environment(source, folder / "usual", names, {})
    for number, (title, extra) in enumerate(wanted.items()):
        found = in_environment(source, folder / f"environment-{number}", names, extra)
        for name in names:
            kind = f"environment, {_KINDS[next(iter(extra), '')]}"
            differing = [what for what in usual[name] if found[name].get(what) != usual[name][what]]
            counts.check(kind, f"{title}, {name}: {differing}", not differing)


def sources(counts: Counts, table: pa.Table, folder: Path, names: list[str]) -> None:
    """Compare the values that are released of the same values in other files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {f"row groups of {size}": folder / f"groups-{size}.parquet" for size in ROW_GROUPS}
    for size, place in zip(ROW_GROUPS, files.values(), strict=True):
        pq.write_table(table, place, row_group_size=size)
    for suffix in ("csv", "feather"):
        files[suffix] = folder / f"kind.{suffix}"
        ma.write(table, files[suffix])
    pq.write_table(table, folder / "usual.parquet")
    for number, name in enumerate(names):
        recipe = recipe_of(CASES[name])
        usual = read_rows(mask(folder / "usual.parquet", recipe, folder / f"usual-{number}")["masked"])
        for title, place in files.items():
            found = read_rows(mask(place, recipe, folder / f"{place.stem}-{place.suffix[1:]}-{number}")["masked"])
            counts.check("row groups" if "groups" in title else "kind of file", f"{title}, {name}", found == usual)


def engines(counts: Counts, table: pa.Table, folder: Path, names: list[str], also: tuple[str, ...]) -> None:
    """Compare what is released from memory, from disk and from a cluster, where blocks are the same."""
    folder.mkdir(parents=True, exist_ok=True)
    for suffix in ("parquet", "csv"):
        source = folder / f"source.{suffix}"
        ma.write(table, source)
        for number, name in enumerate(names):
            if not name.startswith("blocks"):
                continue
            recipe = recipe_of(CASES[name])
            usual = mask(source, recipe, folder / f"memory-{suffix}-{number}", "--same-order")["masked"]
            for engine in also:
                if engine == "dask" and suffix == "csv":
                    continue
                given = ("--same-order", "--engine", engine)
                place = mask(source, recipe, folder / f"{engine}-{suffix}-{number}", *given)["masked"]
                counts.check(f"engine {engine}", f"{suffix}, {name}", read_rows(place) == read_rows(usual))
                if engine == "disk":
                    equal = place.read_bytes() == usual.read_bytes()
                    counts.check("engine disk, bytes", f"{suffix}, {name}", equal)


def once_more(counts: Counts, table: pa.Table, folder: Path, names: list[str]) -> None:
    """Do a run again by what it left: its recipe, the script of the shell, the program."""
    from microagg.jobs import again

    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "source.parquet"
    ma.write(table, source)
    path = os.pathsep.join([str(Path(ma.__file__).parent.parent), str(ROOT)])
    words = {**os.environ, "PYTHONPATH": path}
    words["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), words.get("PATH", "")])
    for number, name in enumerate(names):
        first = mask(source, recipe_of(CASES[name]), folder / f"first-{number}")
        usual = digests(first)
        second = mask(source, first["recipe"], folder / f"second-{number}")
        counts.check("recipe.toml", name, digests(second) == usual)
        release = ma.protect(ma.read(str(source)), recipe=ma.Recipe.read(first["recipe"]))
        ma.write(release, folder / f"api-{number}.parquet")
        counts.check(
            "recipe.toml by Python",
            name,
            digests({"masked": folder / f"api-{number}.parquet"})["masked"] == usual["masked"],
        )
        if number % 4:
            continue
        beside, recipe = first["recipe"].parent, ma.Recipe.read(first["recipe"])
        for kind, text, program in (
            ("again.sh", again.shell(str(source), recipe), "sh"),
            ("again.py", again.program(str(source), recipe), sys.executable),
        ):
            script = next((one for one in folder.joinpath(f"first-{number}").rglob(kind)), beside / kind)
            if not script.exists():
                script.write_text(text)
            target = folder / f"{kind[-2:]}-{number}"
            run = subprocess.run([program, script, target], env=words, capture_output=True, text=True, check=False)
            found = [one for one in target.rglob(first["masked"].name) if one.is_file()]
            equal = bool(found) and digests({"masked": found[0]})["masked"] == usual["masked"]
            counts.check(kind, f"{name} {run.stderr[-300:]}", equal)


def permutations(counts: Counts, table: pa.Table, names: list[str], number: int = PERMUTATIONS) -> None:
    """Compare what each person's record becomes when the rows stand in other orders."""
    for name in names:
        recipe = recipe_of(CASES[name])
        usual = rows_of(ma.protect(table, recipe=recipe).data)
        for turn in range(number):
            order = np.random.default_rng(turn).permutation(table.num_rows)
            found = rows_of(ma.protect(table.take(order), recipe=recipe).data)
            kind = "order of rows, refine" if "refine" in name else "order of rows"
            promised = name not in _WITH_TIES
            if not promised:
                kind += ", categories"
            counts.check(kind, f"{name}, permutation {turn}", found == usual, promised)


def columns(counts: Counts, table: pa.Table, names: list[str]) -> None:
    """Compare what is released when the columns of the file stand in another order; distances are summed in theirs."""
    other = table.select(table.column_names[::-1])
    for name in names:
        recipe = recipe_of(CASES[name])
        usual = rows_of(ma.protect(table, recipe=recipe).data)
        found = rows_of(ma.protect(other, recipe=recipe).data)
        counts.check("order of columns", name, found == usual, promised=False)


def campaign(folder: Path, names: list[str], *, small: bool = False) -> Counts:
    """Do all checks, or a few of each kind."""
    counts, table = Counts(), made()
    wanted = dict(list(ENVIRONMENTS.items())[1::7]) if small else ENVIRONMENTS
    environments(counts, table, folder / "environments", names, wanted)
    sources(counts, table, folder / "sources", names)
    engines(counts, table, folder / "engines", names, ("disk",) if small else ("disk", "dask"))
    once_more(counts, table, folder / "again", names)
    permutations(counts, table, names, 2 if small else PERMUTATIONS)
    columns(counts, table, names)
    return counts


def main(arguments: list[str]) -> int:
    """Do the checks and print the table; 1 if a promise is broken."""
    parser = argparse.ArgumentParser(prog="python -m adversary same", description=__doc__)
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES), metavar="CASE")
    parser.add_argument("--small", action="store_true", help="a few of each kind of check")
    parser.add_argument("--child", nargs=2, type=Path, metavar=("SOURCE", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.child:
        print(json.dumps(child(*given.child, given.cases)))
        return 0
    with tempfile.TemporaryDirectory(prefix="same-") as folder:
        counts = campaign(Path(folder), given.cases, small=given.small)
    print(counts)
    return int(bool(counts.differing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
