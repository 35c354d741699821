"""Values as JSON holds them, and text as a terminal shows it."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from microagg.judge.names import shown

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
    return "\n".join(map(shown, text.split("\n")))


def json_text(content: Any, encoding: str = "utf-8") -> str:
    """Write values as JSON for a stream; what it cannot hold, or a terminal might take for a command, is escaped."""

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
