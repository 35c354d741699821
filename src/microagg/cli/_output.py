"""The folder that a masking leaves: it appears with the masked data, or neither does."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from microagg.checks import check_absent
from microagg.errors import InvalidData, InvalidParameter, MicroaggError
from microagg.io.databases import is_database, without_credentials
from microagg.io.scratch import private_folder, put_in_place
from microagg.io.sources import file_of


def check_folder(folder: Path, names: set[str], force: bool) -> None:
    """Refuse an output that is not ours to make, before any work is done."""
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise InvalidParameter(f"the output {folder.name!r} is not a folder. Name one with -o.")
    if not folder.resolve().parent.is_dir():
        raise InvalidParameter(f"there is no folder to make the output {folder.name!r} in. Make it first.")
    inside = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if inside - names:
        raise InvalidParameter(
            f"the output {folder.name!r} holds other files than a former output of this file. Name a folder of its own "
            f"with -o."
        )
    if inside:
        check_absent(folder, "the output", overwrite=force)


def check_apart(folder: Path, address: str, to: str | None) -> None:
    """Refuse a folder that would be replaced and holds the source or the target, or is one of them."""
    place = folder.resolve()
    if to is not None and _lies_in(to, place):
        raise InvalidParameter(
            "the target of --to is the output, or lies in it. Name another place, or leave --to out."
        )
    if folder.exists() and any(folder.iterdir()) and _lies_in(address, place):
        raise InvalidParameter("the output is the source, or holds it. Name another folder with -o.")


def _lies_in(address: str, folder: Path) -> bool:
    """Tell whether a file, a database's too, is a folder or in it."""
    file = file_of(address)
    return file is not None and folder in (file.resolve(), *file.resolve().parents)


@dataclass
class Output:
    """A folder to write to, which takes its place when all is in it."""

    folder: Path
    data_is_written: bool = False  # to where --to says


@contextmanager
def whole_output(output: Path, to: str | None, force: bool) -> Iterator[Output]:
    """Give an output to fill; masked data elsewhere is taken away again if the folder cannot be put in place."""
    is_new = to is not None and not is_database(to) and not os.path.lexists(to)
    place = output.resolve()
    with private_folder(place.parent, "the output") as private:
        made = Output(private / "whole")
        made.folder.mkdir()
        try:
            yield made
            put_in_place(made.folder, place, overwrite=force)
        except BaseException as error:
            if to is None or not made.data_is_written:
                raise
            if is_new:
                _remove(Path(to))
                raise
            if not isinstance(error, (MicroaggError, OSError)):
                raise
            why = str(error) if isinstance(error, MicroaggError) else f"{error.strerror or type(error).__name__}."
            kind = InvalidParameter if isinstance(error, InvalidParameter) else InvalidData
            raise kind(
                f"{why} The masked data is in {without_credentials(to)!r} already; the output {output.name!r} with "
                f"what belongs to it is not. Remove the data, or mask once more with --force."
            ) from None


def _remove(target: Path) -> None:
    if target.is_dir() and not target.is_symlink():  # of parts, from a cluster
        shutil.rmtree(target, ignore_errors=True)
    else:
        target.unlink(missing_ok=True)
