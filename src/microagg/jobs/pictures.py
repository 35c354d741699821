"""Pictures as files."""

from pathlib import Path
from typing import Any

from microagg.checks import check_absent
from microagg.errors import InvalidParameter
from microagg.files.addresses import check_apart_from
from microagg.files.files import whole_file

_KINDS = (".svg", ".png", ".pdf")


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


def save_picture(axes: Any, path: Path) -> None:
    """Write what was drawn, whole or not at all; without a date, so that the same drawing gives the same file."""
    kind = path.suffix.lower().removeprefix(".")
    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with whole_file(path) as file:
        axes.figure.savefig(file, format=kind, bbox_inches="tight", metadata=dates.get(kind))
