"""Messages of errors: our own words, and never another library's, which may show a cell."""

import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from microagg.base.frozen import frozen
from microagg.errors import InvalidParameter, MicroaggError, RoleError, as_keyword

DATA, USAGE = 1, 2
"""Exit codes: refused for a reason in the data, or in how it was asked for."""

_WHOLE = "An output is written as a whole or not at all, so that no half of one is left."


@frozen()
class Told:
    """The message of an error.

    Attributes
    ----------
    kind : str
        The class of the error.
    text : str
        What happened and what to do, for a person.
    code : int
        `DATA` or `USAGE`.
    parameter : str or None
        The choice that it is about.
    columns : tuple
        The columns that it is about.
    settings : tuple of (str, value)
        The choices that it names with a value: what holds, and what would help.
    """

    kind: str
    text: str
    code: int = DATA
    parameter: str | None = None
    columns: tuple[Any, ...] = ()
    settings: tuple[tuple[str, Any], ...] = ()


def told(error: BaseException, say: Callable[[str, Any], str] = as_keyword) -> Told:
    """Return what an error means; `say(parameter, value)` names a choice as the command line or the app calls it."""
    kind = type(error).__name__
    if isinstance(error, MicroaggError):
        code = USAGE if isinstance(error, (InvalidParameter, RoleError)) else DATA
        return Told(kind, f"{kind}: {error.worded(say)}", code, error.parameter, error.columns, error.settings)
    if isinstance(error, OSError):
        why = os.strerror(error.errno) if error.errno else kind
        return Told(kind, f"{why}: something could not be read or written. {_WHOLE}")
    if isinstance(error, MemoryError):
        return Told(
            kind, f"The file does not fit into memory. Mask it on disk: {say('engine', 'disk')}", DATA, "engine"
        )
    place = traceback.extract_tb(error.__traceback__)[-1]
    return Told(
        kind,
        f"{kind} in {Path(place.filename).name}, line {place.lineno}: an error in the program. Please report it. "
        f"{_WHOLE}",
    )
