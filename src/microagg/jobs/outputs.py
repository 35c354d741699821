"""The folder that a run leaves: what may go out is apart from what must not, and all is written together.

Where the rows of a masked file come from is kept in its internal folder, for you alone. With it `assess` sets rows that
were sorted beside their originals again, and `mask` knows an earlier release of the same file.
"""

import json
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from microagg.base import ownership
from microagg.base.frozen import frozen
from microagg.checks import check_absent
from microagg.errors import InvalidData, InvalidParameter, MicroaggError, setting
from microagg.files.addresses import check_apart_from, file_digest, file_of, kind_at
from microagg.files.databases import is_database, without_credentials
from microagg.files.files import whole_file
from microagg.files.formats.apart import came_too_late
from microagg.files.formats.kinds import SUFFIXES
from microagg.files.scratch import private_folder, put_in_place
from microagg.files.stores import Place, Where, is_store, where
from microagg.jobs.again import one_line
from microagg.pictures import plots
from microagg.recipe import Recipe
from microagg.recipe.data import check_join

RELEASE, INTERNAL = "release", "internal"
"""The folders of an output: what may be given out, and what only you may read."""

REPORT, PUBLIC, RECIPE = "report.html", "report_public.html", "recipe.toml"
SHELL, PROGRAM = "again.sh", "again.py"
ROWS = "rows.parquet"
_INTERNAL = (REPORT, RECIPE, SHELL, PROGRAM, ROWS)
_KEY = b"microagg"
_COLUMN = "original_row"
_MOST = 1000  # folders beside an output that are looked at
_KINDS = (".svg", ".png", ".pdf")


def masked_name(address: str, kind: str | None = None) -> str:
    """Name the masked file after the source: of this kind, else of the same, or Parquet for what is no file."""
    if is_database(address):
        return f"masked{SUFFIXES[kind or 'parquet']}"
    path = where(address)
    if isinstance(path, Place) or path.is_dir():
        return f"{path.name.removesuffix('.parquet')}_masked{SUFFIXES[kind or 'parquet']}"
    suffixes = "".join(path.suffixes[-2:]) if path.suffix.lower() in (".gz", ".zst") else path.suffix
    written = ".csv" if suffixes.lower() == ".sas7bdat" else suffixes
    if kind is not None and kind != kind_at(f"{path.name.removesuffix(suffixes)}{written}"):
        written = SUFFIXES[kind]
    return f"{path.name.removesuffix(suffixes)}_masked{written}"


def households_name(address: str, households: str, kind: str | None = None) -> str:
    """Name the masked file of households after its source; otherwise than that of persons."""
    name, taken = masked_name(households, kind), masked_name(address, kind)
    return name if name != taken else f"households_{name}"


def check_output(folder: Path, address: str, to: str | None, *, overwrite: bool, recipe: Recipe | None = None) -> None:
    """Refuse an output that is not ours to make, or that holds a source or the target, before any work is done."""
    households = None if recipe is None else recipe.join.households
    if recipe is not None:
        with recipe.blamed():
            check_join(recipe)
    if is_store(str(folder)):
        raise InvalidParameter(
            f"the output {folder.name!r} is in a store, and an output holds internal files beside the masked data. "
            f"Name a folder on this machine, and a place in the store for the masked data only: {setting('to')}.",
            parameter="output",
        )
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InvalidParameter(f"the output {folder.name!r} is not a folder. Name a folder.", parameter="output")
    if not folder.resolve().parent.is_dir():
        raise InvalidParameter(
            f"the folder that the output {folder.name!r} is to be in does not exist. Create it first.",
            parameter="output",
        )
    _check_former(folder, left_by_a_run(address, households))
    inside = folder.exists() and any(folder.iterdir())
    if inside:
        check_absent(folder, "the output", overwrite=overwrite)
    place = folder.resolve()
    if to is not None and _lies_in(to, place):
        raise InvalidParameter(
            f"the target ({setting('to')}) is the output folder, or is in it. Name another place, or leave it out.",
            parameter="to",
        )
    if to is not None and households is not None:
        raise InvalidParameter(
            f"{setting('to')} names one place, but two files are written: both go to the output folder. Leave it out.",
            parameter="to",
        )
    if inside and any(_lies_in(source, place) for source in (address, households) if source is not None):
        raise InvalidParameter(
            f"the output is the source, or contains it. Name another folder: {setting('output')}.", parameter="output"
        )


def _check_former(folder: Path, known: set[str]) -> None:
    """Refuse a folder that holds anything else than what a run leaves."""
    if folder.exists() and not _is_output(folder, known):
        raise InvalidParameter(
            f"the output {folder.name or str(folder)!r} contains files that are not from an earlier output of this "
            f"file. Name another folder: {setting('output')}.",
            parameter="output",
        )


def _is_output(folder: Path, known: set[str]) -> bool:
    """Return whether a folder holds nothing but what a run leaves; an empty one does."""
    inside = list(folder.iterdir())
    if any(path.name not in (RELEASE, INTERNAL) or path.is_symlink() or not path.is_dir() for path in inside):
        return False
    return all(f"{path.name}/{one.name}" in known for path in inside for one in path.iterdir())


def left_by_a_run(address: str, households: str | None = None) -> set[str]:
    """Name all that an output of a source may hold, as seen from its folder."""
    masked = {masked_name(address, kind) for kind in (None, *SUFFIXES)}
    if households is not None:
        masked |= {households_name(address, households, kind) for kind in (None, *SUFFIXES)}
    released = {f"{RELEASE}/{name}" for name in (*masked, PUBLIC, RECIPE)}
    return released | {f"{INTERNAL}/{name}" for name in _INTERNAL}


def lies_in_output(path: Path) -> bool:
    """Return whether a file would lie in what may be an output: a folder with a report or masked data, or below one."""
    folder = path.resolve().parent
    for place in (folder, folder.parent):
        beside = _names_in(place) - {path.name}
        is_masked = any(name.partition(".")[0].endswith("masked") for name in (*beside, place.name))
        if is_masked or beside & {REPORT, PUBLIC} or {RELEASE, INTERNAL} <= beside:
            return True
    return False


def _names_in(folder: Path) -> set[str]:
    try:
        return {path.name for path in folder.iterdir()}
    except OSError:  # it may be entered and not listed
        return set()


def _lies_in(address: str, folder: Path) -> bool:
    """Return whether a file, a database's too, is a folder or in it."""
    file = file_of(address)
    return file is not None and folder in (file.resolve(), *file.resolve().parents)


@dataclass
class Output:
    """A folder to write to, which takes its place when all is in it."""

    folder: Path  # for now
    data_is_written: bool = False  # elsewhere, to the target that was named
    interruption: BaseException | None = None  # which came when the data was written

    @contextmanager
    def data_elsewhere(self) -> Iterator[None]:
        """Write the data to the target within; what interrupts that too late waits until the folder is in its place."""
        try:
            yield
        except (KeyboardInterrupt, SystemExit) as error:
            if not came_too_late(error):
                raise
            self.interruption = error
        self.data_is_written = True


@contextmanager
def whole_output(output: Path, to: str | None, overwrite: bool, known: set[str]) -> Iterator[Output]:
    """Return an output to fill; masked data elsewhere is taken away again if the folder cannot be put in place.

    `known` is what a former output may hold: where there is anything else by then, it is not replaced.
    """
    is_new = to is not None and not is_database(to) and not _is_there(where(to))
    place = output.resolve()
    with private_folder(place.parent, "the output") as private:
        made = Output(private / "whole")
        made.folder.mkdir()
        (made.folder / RELEASE).mkdir()
        (made.folder / INTERNAL).mkdir(mode=0o700)
        try:
            yield made
            put_in_place(
                made.folder,
                place,
                overwrite=overwrite,
                check=lambda former: _check_former(former, known),
            )
            if made.interruption is not None:
                raise made.interruption
        except BaseException as error:
            if to is None or not made.data_is_written or error is made.interruption:
                raise
            if is_new:
                _remove(where(to))
                raise
            if isinstance(error, MicroaggError):
                why = str(error.args[0])
            elif isinstance(error, (KeyboardInterrupt, SystemExit)):
                why = "The work was stopped."
            elif isinstance(error, OSError):
                why = f"{error.strerror or type(error).__name__}."
            else:
                raise
            kind = InvalidParameter if isinstance(error, InvalidParameter) else InvalidData
            raise kind(
                f"{why} The masked data is already in {without_credentials(to)!r}, but the output {output.name!r} "
                "with the report and the recipe is not written. Remove the data, or mask again: "
                f"{setting('overwrite', True)}."
            ) from None


def _is_there(target: Where) -> bool:
    return target.exists() if isinstance(target, Place) else os.path.lexists(target)


def _remove(target: Where) -> None:
    if isinstance(target, Place):
        (target.remove if target.is_dir() else target.discard)()
    elif target.is_dir() and not target.is_symlink():  # of parts, from a cluster
        shutil.rmtree(target, ignore_errors=True)
    else:
        target.unlink(missing_ok=True)


@frozen()
class RowOrigin:
    """Which rows of a source a masked file has.

    Attributes
    ----------
    source, sha256 : str, str or None
        The source's name and its checksum; a database has none.
    records : int
        Of the source.
    masked_sha256 : str or None
        The checksum of the masked file; None of a database's table.
    rows : array
        The row of the source, from 0, that each row of the masked file was; empty where that was not read.
    """

    source: str
    sha256: str | None
    records: int
    masked_sha256: str | None
    rows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64), compare=False, repr=False)

    def write(self, path: Path) -> None:
        """Write it to a file that only you can read."""
        told = {name: value for name, value in asdict(self).items() if name != "rows"}
        table = pa.table({_COLUMN: pa.array(self.rows, pa.int64())})
        with whole_file(path, private=True) as fresh:
            pq.write_table(table.replace_schema_metadata({_KEY: json.dumps(told)}), fresh)


def read_origin(path: Path, *, rows: bool = True) -> RowOrigin | None:
    """Read where rows come from; None where there is no such file, or none that can be read or that is not ours."""
    try:
        if not stat.S_ISREG((status := path.lstat()).st_mode) or not ownership.is_ours(status):
            return None  # a pipe would be waited for
        schema = pq.read_schema(path)
        told = json.loads((schema.metadata or {})[_KEY])
        if not rows:
            return RowOrigin(**told)
        column = pq.read_table(path)[_COLUMN]
        return (
            RowOrigin(**told, rows=column.to_numpy()) if column.type == pa.int64() and not column.null_count else None
        )
    except (OSError, KeyError, ValueError, TypeError, RecursionError, pa.ArrowException):
        return None


def origin_of(masked: str, recipe: Recipe | None) -> RowOrigin | None:
    """Find where the rows of a masked file come from: by the output that it lies in, or that its recipe does.

    None if nothing says it, or the file was changed after it was written.
    """
    path = file_of(masked)
    places = []
    if path is not None and not is_database(masked) and path.resolve().parent.name == RELEASE:
        places.append(path.resolve().parent.parent)
    if recipe is not None and recipe.origin is not None and recipe.origin.folder is not None:
        places.append(recipe.origin.folder.parent)
    digest = file_digest(masked)
    for place in places:
        found = read_origin(place / INTERNAL / ROWS)
        if found is not None and found.rows.size and found.masked_sha256 == digest:
            return found
    return None


def earlier_releases(folder: Path, own: RowOrigin) -> list[str]:
    """Name the folders beside an output that hold another release of the same source, as far as they can be read."""
    place = folder.resolve()
    try:
        beside = sorted(path for path in place.parent.iterdir() if path.is_dir())[:_MOST]
    except OSError:  # it may be entered and not listed
        return []
    found = {path.name: read_origin(path / INTERNAL / ROWS, rows=False) for path in beside if path != place}
    return [name for name, other in found.items() if other is not None and _is_another(own, other)]


def _is_another(own: RowOrigin, other: RowOrigin) -> bool:
    """Return whether two masked files are of one source, and not the same."""
    known = own.sha256 is not None and other.sha256 is not None
    same_source = own.sha256 == other.sha256 if known else own.source == other.source
    same_release = own.masked_sha256 is not None and own.masked_sha256 == other.masked_sha256
    return same_source and not same_release


def earlier_words(names: list[str], address: str) -> list[str]:
    """Warn of earlier releases; nothing where there are none."""
    if not names:
        return []
    listed = ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    hold = "holds another release" if len(names) == 1 else "hold other releases"
    return [
        f"beside the output, {listed} {hold} of the same file. Somebody who gets several releases "
        "learns more than from any one of them. Before you give out a second, measure both together: "
        f"{one_line(['microagg', 'assess', without_credentials(address)])} MASKED MASKED"
    ]


def check_picture(path: Path | None, source: str, force: bool) -> None:
    """Refuse a picture that cannot be written, or is the source, before any work is done."""
    if path is None:
        return
    if path.suffix.lower() not in _KINDS:
        raise InvalidParameter(f"the picture {path.name!r} must end in {', '.join(_KINDS)}. Change its name.")
    if not path.resolve().parent.is_dir():
        raise InvalidParameter(f"there is no folder for the picture {path.name!r}. Create it first.")
    check_apart_from(path, source)
    check_absent(path, "the picture", overwrite=force)
    plots.EXTRA.check()


def save_picture(axes: Any, path: Path) -> None:
    """Write what was drawn, whole or not at all; without a date, so that the same drawing gives the same file."""
    kind = path.suffix.lower().removeprefix(".")
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with whole_file(path) as file:
        axes.figure.savefig(file, format=kind, bbox_inches="tight", metadata=dates.get(kind))
