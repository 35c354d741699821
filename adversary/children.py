"""What the parts of the campaign share: a file with canaries, programs as child processes, and what they leave."""

import hashlib
import os
import signal
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa

import microagg as ma

NAME = "c4n4ry"  # begins each value of a column that identifies persons, and that nothing may hold but the source
NUMBER = 987654.3125  # a wage that one record has; no text and no scratch file may still hold it
ROLES = {
    "quasi": "age,education,hours,wage,income",
    "identifiers": "person,name",
    "strata": "region",
    "drop": "weight,business,capital,pension,tax,contributions",
}
ROOT = Path(__file__).resolve().parent.parent


def options(roles: dict[str, str] = ROLES) -> list[str]:
    """Return the roles as options of the command line."""
    return [word for name, columns in roles.items() for word in (f"--{name}", columns)]


def survey(records: int, seed: int = 0) -> pa.Table:
    """Make a survey with canaries."""
    table = ma.datasets.survey(records, seed=seed)
    names = [f"{NAME}{hashlib.sha256(f'{seed}-{row}'.encode()).hexdigest()[:24]}" for row in range(records)]
    wage = table["wage"].cast(pa.float64()).to_pylist()
    wage[records // 2] = NUMBER
    table = table.set_column(table.column_names.index("wage"), "wage", pa.array(wage))
    return table.append_column("name", pa.array(names))


def canaries() -> list[bytes]:
    """Return what must not be found in anything that is left: as text, and as it lies in scratch."""
    return [NAME.encode(), repr(NUMBER).encode(), struct.pack("<d", NUMBER)]


def holds(path: Path, needles: Iterable[bytes]) -> list[bytes]:
    """Return which of some bytes are in a file, or in any file of a folder."""
    found = set()
    for file in files_of(path):
        with suppress(OSError):
            content = file.read_bytes()
            found |= {one for one in needles if one in content}
    return sorted(found)


def files_of(path: Path) -> Iterator[Path]:
    """Return a file, or all files of a folder; no link is followed."""
    if path.is_symlink() or not path.is_dir():
        yield path
        return
    for one in sorted(path.iterdir()):
        yield from files_of(one)


def digest(path: Path, places: Iterable[Path]) -> str:
    """Return a checksum of a file, or of all files of a folder by name; the places are left out of what they say."""
    if not os.path.lexists(path):
        return "absent"
    whole = hashlib.sha256()
    for file in files_of(path):
        content = file.read_bytes()
        for place in places:
            content = content.replace(os.fsencode(place), b"PLACE")
        whole.update(f"{file.relative_to(path)}\0{len(content)}\0".encode() + content)
    return whole.hexdigest()[:16]


def too_open(path: Path) -> bool:
    """Return whether others could look into something."""
    return bool(stat.S_IMODE(path.lstat().st_mode) & 0o077)


@dataclass
class Child:
    """A program of its own session, as one that is started from a terminal; what it says goes to files."""

    words: list[str]
    place: Path
    scratch: Path
    environment: dict[str, str] = field(default_factory=dict)
    said: Path = field(init=False)
    process: "subprocess.Popen[str]" = field(init=False)
    begun: float = field(init=False)

    def __post_init__(self) -> None:
        self.said = self.scratch.with_name(f"{self.scratch.name}.said")
        environment = {**os.environ, "TMPDIR": str(self.scratch), "PYTHONPATH": _path(), **self.environment}
        with self.said.with_suffix(".out").open("w") as out, self.said.with_suffix(".err").open("w") as err:
            self.begun = time.monotonic()
            self.process = subprocess.Popen(
                [sys.executable, "-m", "microagg", *self.words],
                cwd=self.place,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                text=True,
                start_new_session=True,
            )

    @property
    def out(self) -> str:
        """What it has printed."""
        return self.said.with_suffix(".out").read_text(errors="replace")

    @property
    def err(self) -> str:
        """What it has printed to standard error."""
        return self.said.with_suffix(".err").read_text(errors="replace")

    def send(self, name: str) -> None:
        """Send a signal; "GROUP" is the Ctrl-C of a terminal, which reaches the workers too."""
        with suppress(ProcessLookupError):
            if name == "GROUP":
                os.killpg(self.process.pid, signal.SIGINT)
            else:
                os.kill(self.process.pid, getattr(signal, f"SIG{name}"))

    def ended(self, seconds: float) -> bool:
        """Wait until it and all that it started have ended, or so long."""
        limit = time.monotonic() + seconds
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        while time.monotonic() < limit:
            if self.process.poll() is not None and not in_session(self.process.pid):
                return True
            time.sleep(0.05)
        return False

    def end(self) -> None:
        """Kill whatever is left of it."""
        for number in [self.process.pid, *in_session(self.process.pid)]:
            with suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        self.process.wait()


def _path() -> str:
    """Return where a child finds the package that this process has."""
    return os.pathsep.join([str(Path(ma.__file__).parent.parent), str(ROOT)])


def in_session(leader: int) -> list[int]:
    """Return the processes, other than the leader, of its session that still run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != leader:
            with suppress(OSError, IndexError, ValueError):
                state, _, _, session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(session) == leader and state not in "ZX":
                    found.append(int(entry.name))
    return found
