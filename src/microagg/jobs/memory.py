"""Whether a file fits into memory, before it is read, and what can be done where it does not; giving memory back."""

import ctypes
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from microagg.errors import MicroaggError
from microagg.files.addresses import Extent, extent_of, in_parts
from microagg.files.sources import read_beginning
from microagg.jobs.again import command
from microagg.jobs.messages import DATA, Told
from microagg.jobs.opening import open_source
from microagg.recipe import Recipe

_MASKED = 150  # bytes of a cell of a masked column at the peak, measured
_OTHER = 40  # of any other cell: more than its text or number takes, and no measure
_LOOKED_AT = 200_000  # records that a recipe is guessed from
_GROUPS = Path("/sys/fs/cgroup")


@dataclass
class Beyond:
    """A file that does not fit into memory.

    Attributes
    ----------
    address : str
    recipe : Recipe or None
        To mask it by; guessed from its first records where none was given. None where it cannot be masked in parts.
    extent : Extent or None
        How large it is.
    masked, needed, free : int or None
        The columns to mask, and bytes of memory.
    written : Path or None
        Where the recipe was written to, once somebody has asked for that.
    """

    address: str
    recipe: Recipe | None
    extent: Extent | None = None
    masked: int | None = None
    needed: int | None = None
    free: int | None = None
    written: Path | None = None

    @property
    def told(self) -> Told:
        """What is said of it."""
        if self.needed is None or self.free is None or self.extent is None:
            said = "The file does not fit into memory."
        else:
            of = "" if self.masked is None else f", {self.masked} of them to mask"
            records = f"{self.extent.records:,}".replace(",", "\u202f")
            size = "" if self.extent.columns < 2 else f" ({records} records × {self.extent.columns} columns{of})"
            said = (
                f"The file would need about {_gigabytes(self.needed)} of memory{size}, and {_gigabytes(self.free)} "
                "are free. It was not read."
            )
        return Told("MemoryError", said, DATA, "engine")

    def command(self, recipe: str | Path, output: str | Path) -> str:
        """Return the command line that masks it on disk."""
        return command(self.address, recipe, output, engine="disk")


def beyond_memory(address: str, recipe: Recipe | None = None, **chosen: Any) -> Beyond | None:
    """Return whether a file would not fit into memory; None where it fits, or nobody knows.

    Only where all its columns would not fit, its beginning is looked at to see which are masked.
    """
    free = free_memory()
    reading = _reading(recipe, chosen)
    try:
        extent = None if free is None else extent_of(address, **reading)
    except (MicroaggError, OSError):  # who reads the file will say what is wrong with it
        return None
    if extent is None or free is None or extent.records * extent.columns * _MASKED <= free:
        return None
    guessed, masked, columns = _looked_at(address, recipe, **chosen)
    needed = extent.records * (_MASKED * masked + _OTHER * (columns - masked)) if columns else 0
    if columns and needed <= free:
        return None
    if not columns:
        return Beyond(address, None, extent, None, extent.records * extent.columns * _MASKED, free)
    return Beyond(address, guessed, extent, masked, needed, free)


def after_all(address: str, recipe: Recipe | None = None, **chosen: Any) -> Beyond:
    """Return what can be done with a file that has turned out not to fit."""
    return Beyond(address, _looked_at(address, recipe, **chosen)[0])


def tried_beyond(address: str, recipe: Recipe) -> Beyond:
    """Return what can be done with a file that was read, and cannot be masked in memory."""
    return Beyond(address, recipe if in_parts(address) and recipe.join.households is None else None)


def _reading(recipe: Recipe | None, chosen: dict[str, Any]) -> dict[str, Any]:
    known = (Recipe(2) if recipe is None else recipe).reading
    names = ("delimiter", "encoding", "decimal", "thousands", "header")
    said = {**known.said, **chosen}
    return {name: said[name] for name in names if name in said}  # a sheet is of a file that is read as a whole


def _looked_at(address: str, recipe: Recipe | None, **chosen: Any) -> tuple[Recipe | None, int, int]:
    """Return a recipe by the first records of a file, and how many columns it masks, of how many; zero if unknown."""
    if not in_parts(address):
        return None, 0, 0
    try:
        start = read_beginning(address, _LOOKED_AT, **_reading(recipe, chosen))
        names = start.table.column_names
        # Of a whole file: its beginning would differ from that.
        profile, part = (None, None) if recipe is None else (recipe.profile, replace(recipe, profile=None))
        found = replace(open_source(address, start, part, **chosen).recipe, profile=profile)
    except (MicroaggError, OSError, MemoryError):
        return None, 0, 0
    return found, len(found.masked(names)), len(names)


def free_memory() -> int | None:
    """Return how many bytes of memory are free; None where the system does not say."""
    found = []
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text("ascii").splitlines()
        found += [1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    with suppress(OSError, ValueError):  # within a container that has a limit of its own
        limit, used, of = ((_GROUPS / f"memory.{name}").read_text("ascii") for name in ("max", "current", "stat"))
        cached = next((int(line.split()[1]) for line in of.splitlines() if line.startswith("inactive_file ")), 0)
        found.append(max(0, int(limit) - int(used) + cached))
    if not found and sys.platform != "win32":
        with suppress(OSError, ValueError, AttributeError):
            found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)  # not all of it is free
    return min(found) if found else None


def give_back() -> None:
    """Let the system have what was freed: allocators keep it for later, half of a large job's memory."""
    pa.default_memory_pool().release_unused()
    trim = getattr(_process(), "malloc_trim", None)  # glibc's; others give back by themselves, or never
    if trim is not None:
        trim(0)


@cache
def _process() -> Any:
    return ctypes.CDLL(None) if sys.platform == "linux" else None


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.1f} MB"
