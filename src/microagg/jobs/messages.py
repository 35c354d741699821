"""Messages of errors: our own words, and never another library's, which may show a cell; and text as it is shown.

Values are put as JSON holds them, and text as a terminal can show it.
"""

import json
import math
import os
import re
import traceback
from collections.abc import Callable, Mapping
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


_ABOVE_ASCII = re.compile("[^ -~\n]")


def plain(value: Any) -> Any:
    """Return what JSON can hold for what it cannot: it has no infinite numbers, so they become null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, (list, tuple, set)) else str(value)


def displayed(text: str) -> str:
    """Return text that is safe to display: names of files and columns in it may hold codes that control a terminal."""
    from microagg.judge.text import shown  # whose room is heavy

    return "\n".join(map(shown, text.split("\n")))


def json_text(content: Any, encoding: str = "utf-8") -> str:
    """Write values as JSON for a stream; what it cannot hold, or a terminal might take for a command, is escaped."""
    from microagg.judge.text import shown

    def escaped(found: re.Match[str]) -> str:
        char = found[0]
        return char if shown(char) == char else f"\\u{ord(char):04x}" if ord(char) < 0x10000 else json.dumps(char)[1:-1]

    is_utf = encoding.lower().startswith("utf")
    return _ABOVE_ASCII.sub(escaped, json.dumps(plain(content), ensure_ascii=not is_utf, indent=2, allow_nan=False))


def never_fail(*streams: Any) -> None:
    """Let streams escape what their encoding does not know: an error would come when the work has been done."""
    for stream in streams:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
