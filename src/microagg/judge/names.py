"""Names of columns as they may be displayed."""

from typing import Any

_JOINERS = "\u200c\u200d"  # which some scripts need


def shown(name: Any) -> str:
    """Return a column's name as it may be displayed: no control or direction marks, which could disguise it."""
    return "".join(
        char if char.isprintable() or char in _JOINERS else " " if char.isspace() else "\ufffd" for char in str(name)
    )
