"""What the pages say of errors and of changes."""

from dataclasses import replace
from typing import Any

from microagg.desk.words import Told, told

_FIELDS = {
    "overwrite": "“replace the former output”",
    "output": "the output folder",
    "to": "the target",
    "recipe": "the recipe",
    "engine": "the command line's --engine",
}

_LABELS = {
    "ks": "levels of k",
    "ls": "levels of l",
    "ts": "levels of t",
    "x": "weight of the loss",
    "rank": "ranked by",
    "map_axis": "loss on the map",
}
"""What choices are called whose keyword says little to who does not program."""


def as_field(parameter: str, value: Any) -> str:
    """Name a choice as the pages label its field."""
    label = _FIELDS.get(parameter, f"“{label_of(parameter)}”")
    if value is None or isinstance(value, bool):
        return label if value is not False else f"{label} off"
    shown = ", ".join(map(str, value)) if isinstance(value, list) else value
    return f"{label} = {shown}"


def label_of(keyword: str) -> str:
    """Give the label of a choice."""
    return _LABELS.get(keyword, keyword.replace("_", " "))


def said(error: BaseException) -> Told:
    """Say what an error means, for a page: without the name of its class where the words are ours."""
    found = told(error, as_field)
    return replace(found, text=found.text.removeprefix(f"{found.kind}: "))
