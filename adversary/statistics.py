"""Files of SPSS and Stata: labels of values, codes for missing values, and damage."""

import re
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import pyreadstat

from adversary.case import Case
from adversary.commands import afterwards, drawn_command, other_command
from adversary.damage import damaged
from adversary.values import CALM, LEVELS, WILD, Column, Random, chance, draw_columns, one_of, secrets_of

_DATED = 92  # where a file of SPSS tells the day and the time


def draw(rng: Random) -> Case:
    """Draw a file of a statistics package and a command line that masks it."""
    level = one_of(rng, LEVELS)
    columns = [column for column in draw_columns(rng, level, arrow=False) if _fits(column)]
    for number, column in enumerate(columns):
        if level == CALM or not chance(rng, 0.2):
            column.name = f"{'abcdefgh'[number % 8]}{number}"
    suffix = one_of(rng, ["sav", "sav", "dta", "dta", "zsav"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"in.{suffix}"
        content, labelled = _written(rng, path, columns, suffix)
    whole = content
    if level == WILD and chance(rng, 0.6):
        content = damaged(rng, content)
    command, files, chosen = drawn_command(rng, path.name, columns, level, disk=chance(rng, 0.02), kinds=labelled)
    chosen |= {"damaged": True} if content != whole else {}
    return Case(
        "statistics",
        {path.name: content, **files},
        [other_command(rng, command), *afterwards(rng, command)],
        chosen,
        secrets_of(columns),
    )


def _fits(column: Column) -> bool:
    small = all(cell is None or abs(cell) < 2**31 for cell in column.cells if isinstance(cell, int))
    days = not any(hasattr(cell, "year") and not 1600 < cell.year < 2200 for cell in column.cells)
    return (
        column.use != "nested"
        and small
        and days
        and not any(isinstance(cell, str) and "\0" in cell for cell in column.cells)
    )


def _written(rng: Random, path: Path, columns: list[Column], suffix: str) -> tuple[bytes, list[str]]:
    frame = pd.DataFrame({column.name: _cells(column) for column in columns})
    labels = {
        column.name: {float(cell): f"label {cell}" for cell in {*column.cells} if cell is not None and cell == cell}
        for column in columns
        if column.use == "number"
        and all(cell is None or isinstance(cell, int) for cell in column.cells)
        and chance(rng, 0.4)
    }
    labels = {name: {**own, 99.0: "used by nobody"} for name, own in labels.items() if 0 < len(own) < 60}
    more: dict[str, Any] = {"variable_value_labels": labels} if labels else {}
    if suffix != "dta" and chance(rng, 0.4):
        numbers = [column.name for column in columns if column.use == "number"]
        more["missing_ranges"] = {
            name: one_of(rng, [[-9], [0, 7], [{"lo": 80, "hi": 99}], [0]]) for name in numbers[:1]
        }
    write = pyreadstat.write_dta if suffix == "dta" else pyreadstat.write_sav
    try:
        write(frame, str(path), **({"compress": True} if suffix == "zsav" else {}), **more)
    except Exception:  # noqa: BLE001 - what the format does not know is left out
        plain = {f"v{number}": _cells(column) for number, column in enumerate(columns) if column.use == "weight"}
        write(pd.DataFrame(plain or {"v": [1.5, 2.5, 3.5]}), str(path))
    return _undated(path.read_bytes(), suffix), list(labels)


def _undated(content: bytes, suffix: str) -> bytes:
    """Return a file that does not tell when it was written, so that a case is always the same."""
    if suffix == "dta":
        return re.sub(rb"\d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d", b"01 Jan 2026 00:00", content, count=1)
    return content[:_DATED] + b"01 Jan 2600:00:00" + content[_DATED + 17 :]


def _cells(column: Column) -> Any:
    if column.use == "number":
        return [None if cell is None else float(cell) for cell in column.cells]
    return [str(cell) if isinstance(cell, bool) else cell for cell in column.cells]
