"""The jobs that are killed: how each is started, what it leaves, and whether that is whole."""

import hashlib
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

import microagg as ma
from adversary.browser import Browser
from adversary.children import NAME, ROLES, Child, canaries, digest, holds, options, survey

FORMER = "f0rm3r"  # begins each value of a table that is replaced
RECORDS = 3000
_FORMER_ROWS = 200
_INTERNAL = {"report.html", "recipe.toml", "again.sh", "again.py", "rows.parquet"}
_LONG = 300.0


@dataclass
class Job:
    """A command, its source and its outputs, by name in the folder where it is run.

    `former` and `new` are the checksums of each output before and after; a former output was made by the same command
    with another k.
    """

    name: str
    source: str
    words: Sequence[str]
    outputs: Sequence[str]
    pool: Path
    together: bool = True  # whether all outputs come to be, or none
    by_content: Callable[[Path], str] | None = None  # of the first output, where its bytes do not repeat
    stays: Callable[[Path], bool] | None = None  # what else a former first output holds, and must still
    exchange: Callable[[Path], None] | None = None  # changes the former outputs once they are made
    is_served = False
    success = 0
    seconds: float = 0.0
    before: float = 0.0  # seconds until its length begins to count
    former: dict[str, str] = field(default_factory=dict)
    new: dict[str, str] = field(default_factory=dict)

    def measure(self) -> None:
        """Make the former output, then the new one, and take the time of that."""
        for label, k in (("former", 4), ("new", 5)):
            place, scratch = self.pool / self.name / label, self.pool / self.name / f"{label}-scratch"
            place.mkdir(parents=True)
            scratch.mkdir()
            shutil.copy(self.pool / self.source, place)
            if label == "new":
                self.lay_out(place, with_former=True)
            child = self.start(place, scratch, k=k, again=True)
            begun = self.begin(child)
            self.complete(child, _LONG)
            self.seconds, self.before = self.finished(child) - begun, begun - child.begun
            if child.process.returncode != self.success:
                raise RuntimeError(f"{self.name} ends with {child.process.returncode}: {child.err[-2000:]}")
            if label == "former" and self.exchange is not None:
                self.exchange(place)
            setattr(self, label, {name: self.digest_of(name, place) for name in self.outputs})
            if left := self.left(place, scratch):
                raise RuntimeError(f"{self.name} leaves {left} behind without any signal")

    def lay_out(self, place: Path, *, with_former: bool) -> None:
        """Put the source, and what a former run left, into a folder."""
        shutil.copy(self.pool / self.source, place)
        for name in self.outputs if with_former else ():
            kept = self.pool / self.name / "former" / name
            if kept.is_dir():
                shutil.copytree(kept, place / name)
            else:
                shutil.copy2(kept, place / name)

    def start(self, place: Path, scratch: Path, *, k: int = 5, again: bool = False) -> Child:
        """Start it; as a rule by the same words, but an output that is there must be replaced."""
        force = ["--force"] if again or any((place / name).exists() for name in self.outputs) else []
        return Child([*self.words, "-k", str(k), *force], place, scratch)

    def begin(self, child: Child) -> float:
        """Return the moment from which its length counts."""
        return child.begun

    def wait_for(self, child: Child, moment: float) -> None:
        """Wait until a share of its usual length is over."""
        time.sleep(max(0.0, self.begin(child) + moment * self.seconds - time.monotonic()))

    def complete(self, child: Child, seconds: float) -> None:
        """Wait until it is done."""
        if not child.ended(seconds):
            raise TimeoutError(f"{self.name} does not come to an end")

    def finished(self, child: Child) -> float:  # noqa: ARG002
        """Return the moment at which it was done."""
        return time.monotonic()

    def digest_of(self, name: str, place: Path) -> str:
        """Return a checksum of an output; "absent" where it is not there."""
        if self.by_content is not None and name == self.outputs[0]:
            return self.by_content(place / name)
        return digest(place / name, [place, *(self.pool / self.name / label for label in ("former", "new"))])

    def state(self, place: Path, with_former: bool) -> tuple[str, str]:
        """Return whether the outputs are the former ones, the new ones or none; and what is wrong with them."""
        found = {name: self.digest_of(name, place) for name in self.outputs}
        states = {}
        for name, own in found.items():
            if with_former and own == self.new[name] == self.former[name]:
                states[name] = "alike"
            elif own == self.new[name]:
                states[name] = "new"
            elif with_former and own == self.former[name]:
                states[name] = "former"
            elif own == "absent":
                states[name] = "lost" if with_former else "none"
            else:
                states[name] = "half"
        if with_former and self.stays is not None and not self.stays(place / self.outputs[0]):
            states[self.outputs[0]] = "half"
        kinds = set(states.values()) - {"alike"} or {"new"}
        if len(kinds) == 1 and kinds <= {"new", "former", "none"}:
            return kinds.pop(), ""
        if not self.together and kinds <= {"new", "former", "none"}:
            return "some", ""
        worst = next((one for one in ("half", "lost") if one in kinds), "torn")
        return worst, f"the output is {worst}: {states}"

    def left(self, place: Path, scratch: Path) -> list[Path]:
        """Return what is there beside the source and the outputs."""
        known = {self.source, *self.outputs}
        return [one for one in sorted(place.iterdir()) if one.name not in known] + sorted(scratch.iterdir())

    def too_open(self, place: Path) -> list[str]:
        """Return which internal files, or their folders, others may read."""
        found = []
        for name in self.outputs:
            for path in (place / name).rglob("*") if (place / name).is_dir() else ():
                if path.name in _INTERNAL and "release" not in path.relative_to(place).parts:
                    if stat.S_IMODE(path.stat().st_mode) & 0o077:
                        found.append(f"{path.name} is open to others")
                    if stat.S_IMODE(path.parent.stat().st_mode) != 0o700:
                        found.append(f"the folder of {path.name} is open to others")
        return found

    def canaries_in_outputs(self, place: Path, state: str) -> list[str]:
        """Return which values of the original, or of a table that was replaced, the outputs hold."""
        needles = [NAME.encode(), *canaries()[1:]]
        if state == "new":
            needles.append(FORMER.encode())
        found = [(name, holds(place / name, needles)) for name in self.outputs if (place / name).exists()]
        return [f"{name} holds {[one.decode(errors='replace') for one in own]}" for name, own in found if own]


class Served(Job):
    """The app: it is started, a release is written on its pages, and its length is that of the writing."""

    is_served = True
    success = 130  # as it is ended by Ctrl-C
    _early = 0.35  # of all moments, while it starts and prepares the release

    def wait_for(self, child: Child, moment: float) -> None:
        """Wait for a moment of the start, or of the writing."""
        if moment < self._early:
            time.sleep(moment / self._early * self.before)
            return
        begun = self.begin(child)
        share = (moment - self._early) / (1.0 - self._early)
        time.sleep(max(0.0, begun + share * self.seconds - time.monotonic()))

    def start(self, place: Path, scratch: Path, *, k: int = 5, again: bool = False) -> Child:  # noqa: ARG002
        """Start it on a recipe with another k."""
        text = (self.pool / "app.toml").read_text().replace("k = 5", f"k = {k}", 1)
        recipe = scratch.with_name(f"{scratch.name}-{k}.toml")
        recipe.write_text(text)
        return Child([*self.words, "--recipe", str(recipe)], place, scratch)

    def begin(self, child: Child) -> float:
        """Fill in the page Release, and give the moment at which it is sent."""
        limit = time.monotonic() + 60
        while not Browser.knows(child.out):
            if child.process.poll() is not None or time.monotonic() > limit:
                raise RuntimeError(f"the app did not start: {child.err}")
            time.sleep(0.02)
        self._browser(child).post("/release/write", wait=False, **self._form(child))
        return time.monotonic()

    def _browser(self, child: Child) -> Browser:
        made: Any = child.__dict__.get("browser")
        if made is None:
            made = child.__dict__["browser"] = Browser(child.out)
        return made  # type: ignore[no-any-return]

    def _form(self, child: Child) -> dict[str, Any]:
        ticks = self._browser(child).ticks()
        return {"folder": self.outputs[0], "shown": ticks, "tick": ticks, "overwrite": "yes"}

    def complete(self, child: Child, seconds: float) -> None:
        """Wait until the release is written, and press Ctrl-C."""
        if "browser" not in child.__dict__:
            self.begin(child)
        browser = self._browser(child)
        time.sleep(0.1)
        browser.settle(seconds)
        child.__dict__["done"] = time.monotonic()
        child.send("INT")
        super().complete(child, seconds)

    def finished(self, child: Child) -> float:
        """Return the moment at which the release was there."""
        return float(child.__dict__["done"])


def of_database(path: Path) -> str:
    """Return a checksum of a table in a DuckDB file; "absent" where it is not there."""
    rows = _rows(path, "t")
    return "absent" if rows is None else hashlib.sha256(repr(rows).encode()).hexdigest()[:16]


def _rows(path: Path, table: str) -> list[Any] | None:
    """Read a table from a copy of its file, as opening it may change it."""
    import duckdb

    if not path.exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        for one in (path, path.with_name(path.name + ".wal")):
            if one.exists():
                shutil.copy(one, folder)
        with duckdb.connect(str(Path(folder) / path.name), read_only=True) as connection:
            found = connection.execute("SELECT table_name FROM information_schema.tables").fetchall()
            if (table,) not in found:
                return None
            rows: list[Any] = connection.execute(f'SELECT * FROM "{table}" ORDER BY ALL').fetchall()
            return rows


def _other_stays(path: Path) -> bool:
    return _rows(path, "other") == [(row,) for row in range(_FORMER_ROWS)]


def of_picture(path: Path) -> str:
    """Return a checksum of what a picture says, as its bytes hold the date; "half" where its end is missing."""
    if not path.exists():
        return "absent"
    text = path.read_text(errors="replace")
    if not text.rstrip().endswith("</svg>"):
        return "half"
    return hashlib.sha256("".join(re.findall(r"<!--(.*?)-->", text)).encode()).hexdigest()[:16]


def _former_table(place: Path) -> None:
    """Make a DuckDB file with a table to replace, that holds canaries, and another one that stays."""
    import duckdb

    path = place / "base.db"
    path.unlink()
    rows = [f"{FORMER}{hashlib.sha256(str(row).encode()).hexdigest()[:20]}" for row in range(_FORMER_ROWS)]
    with duckdb.connect(str(path)) as connection:
        former = pa.table({"who": rows, "wage": list(range(_FORMER_ROWS))})
        connection.register("former", former)
        connection.execute("CREATE TABLE t AS SELECT * FROM former")
        connection.execute("CREATE TABLE other AS SELECT wage FROM former")
    if not holds(path, [FORMER.encode()]):
        raise RuntimeError("the canaries of the former table cannot be seen in its file")


def _mask(*words: str) -> list[str]:
    return ["mask", *words[:1], *options(), "--rest", "drop", "-q", *words[1:]]


JOBS: dict[str, dict[str, Any]] = {
    "memory": {"source": "s.csv", "words": _mask("s.csv", "-o", "out", "--public"), "outputs": ["out"]},
    "parquet": {
        "source": "s.parquet",
        "words": _mask("s.parquet", "-o", "out", "--refine", "fast"),
        "outputs": ["out"],
    },
    "disk": {
        "source": "s.parquet",
        "words": _mask("s.parquet", "-o", "out", "--engine", "disk", "--same-order", "--max-block", "500"),
        "outputs": ["out"],
    },
    "dask": {
        "source": "s.parquet",
        "words": _mask("s.parquet", "-o", "out", "--engine", "dask", "--same-order", "--max-block", "500"),
        "outputs": ["out"],
    },
    "to-file": {
        "source": "s.csv",
        "words": _mask("s.csv", "-o", "out", "--to", "masked.parquet"),
        "outputs": ["masked.parquet", "out"],
    },
    "duckdb": {
        "source": "s.csv",
        "words": _mask("s.csv", "-o", "out", "--to", "duckdb:///base.db?table=t"),
        "outputs": ["base.db", "out"],
        "by_content": of_database,
        "stays": _other_stays,
        "exchange": _former_table,
    },
    "postgresql": {
        "source": "s.csv",
        "words": _mask("s.csv", "-o", "out"),
        "outputs": ["table", "out"],
    },
    "inspect": {
        "source": "s.csv",
        "words": ["inspect", "s.csv", "-q", "-o", "recipe.toml", "--small-strata", "small.csv"],
        "outputs": ["recipe.toml", "small.csv"],
        "together": False,
    },
    "compare": {
        "source": "s.csv",
        "words": ["compare", "s.csv", *options(), "-q", "--methods", "mdav", "-o", "map.svg"],
        "outputs": ["map.svg"],
        "by_content": of_picture,
    },
    "app": {"source": "s.csv", "words": ["app", "s.csv", "--no-browser"], "outputs": ["out"]},
}
"""What each job is started with; `--jobs` names them."""


def make_pool(folder: Path, names: Sequence[str], stack: ExitStack) -> dict[str, Job]:
    """Make the sources, and run each job twice: for its former output and for its new one."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    table = survey(RECORDS)
    for name in ("s.csv", "s.parquet"):
        ma.write(table, folder / name)
    roles = {name: columns.split(",") for name, columns in ROLES.items()}
    ma.Recipe.of(5, **roles, rest="drop").write(folder / "app.toml")
    found: dict[str, Job] = {}
    for name in names:
        job = _kind_of(name, stack)(name=name, pool=folder, **JOBS[name])
        if name == "postgresql" and job.server is None:
            print("postgresql: left out, as there is no server on this machine", flush=True)
            continue
        found[name] = job
    for job in found.values():
        job.measure()
    return found


def _kind_of(name: str, stack: ExitStack) -> Callable[..., Any]:
    """Return what makes a job; for one that needs a server, start it."""
    if name == "app":
        return Served
    if name != "postgresql":
        return Job
    from adversary.postgresql import InServer, start_server

    InServer.server = start_server(stack)
    return InServer
