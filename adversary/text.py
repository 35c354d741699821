"""Text files: delimiters, encodings, quotes, numbers as people write them, and damage."""

import gzip
from typing import Any

from adversary.case import Case
from adversary.commands import afterwards, drawn_command, other_command
from adversary.damage import damaged
from adversary.values import CALM, LEVELS, WILD, Column, Random, chance, draw_columns, one_of, secrets_of

ENCODINGS = [
    "utf-8",
    "utf-8",
    "utf-8",
    "utf-8",
    "utf-8",
    "utf-8",
    "utf-8",
    "utf-8-sig",
    "latin-1",
    "cp1252",
    "utf-16",
    "utf-16-le",
]


def draw(rng: Random) -> Case:
    """Draw a text file and a command line that masks it."""
    level = one_of(rng, LEVELS)
    columns = draw_columns(rng, level, arrow=False)
    delimiter = one_of(
        rng,
        [",", ",", ";", "\t", "|"] if level == CALM else [",", ";", "\t", "|", ",", ";", "\t", ",", ";", ":", " ", "~"],
    )
    suffix = one_of(rng, ["csv", "csv", "csv", "tsv", "txt", "csv.gz"])
    text = written(rng, columns, delimiter, level)
    encoding = "utf-8" if level == CALM else one_of(rng, ENCODINGS)
    content = text.encode(encoding, "replace")
    if level == WILD:
        content = damaged(rng, content)
    name = f"in.{suffix}"
    content = gzip.compress(content, mtime=0) if suffix.endswith("gz") else content
    if level == WILD and suffix.endswith("gz") and chance(rng, 0.3):
        content = damaged(rng, content)
    more: dict[str, Any] = {}
    if level != CALM and chance(rng, 0.3):
        more = one_of(
            rng,
            [{"delimiter": delimiter}, {"encoding": encoding}, {"decimal": ","}, {"thousands": "."}, {"thousands": ""}],
        )
        more |= {"header": True} if chance(rng, 0.3) else {}
    command, files, chosen = drawn_command(rng, name, columns, level, disk=chance(rng, 0.15), more=more)
    chosen |= {"damaged": True} if level == WILD else {}
    secrets = secrets_of(columns) if "header" not in more else []
    return Case(
        "text", {name: content, **files}, [other_command(rng, command), *afterwards(rng, command)], chosen, secrets
    )


def written(rng: Random, columns: list[Column], delimiter: str, level: int) -> str:
    """Write columns as text."""
    decimal = "," if delimiter != "," and chance(rng, 0.3) else "."
    thousands = one_of(rng, [".", " ", "'"]) if decimal == "," and chance(rng, 0.3) else ""
    lost = one_of(rng, ["", "", "", "NA", ".", "NULL", "-"] if level != CALM else [""])
    end = "\n" if level == CALM else one_of(rng, ["\n", "\r\n", "\n", "\r"])
    always = chance(rng, 0.2)
    days = one_of(rng, ["%Y-%m-%d", "%d.%m.%Y", "%m/%d/%Y"])
    rows = [] if level == WILD and chance(rng, 0.08) else [[column.name for column in columns]]
    rows += [list(row) for row in zip(*(column.cells for column in columns), strict=True)]
    lines = []
    for row in rows:
        cells = [_cell(cell, decimal, thousands, lost, days) for cell in row]
        if level == WILD and chance(rng, 0.04):
            cells = one_of(rng, [cells[:-1], [*cells, "more"], [], ["\x00", *cells[1:]], ['"open', *cells[1:]]])
        lines.append(delimiter.join(_quoted(cell, delimiter, always) for cell in cells))
    if level == WILD and chance(rng, 0.1):
        lines.insert(0, one_of(rng, ["", "# remark", "sep=;", "title"]))
    return end.join(lines) + (end if chance(rng, 0.9) else "")


def _cell(cell: Any, decimal: str, thousands: str, lost: str, days: str) -> str:
    if cell is None:
        return lost
    if isinstance(cell, float):
        text = f"{cell:,}" if thousands and abs(cell) < 1e15 else repr(cell)
        return text.replace(",", "\0").replace(".", decimal).replace("\0", thousands)
    if hasattr(cell, "year") and cell.year >= 1000:
        return cell.strftime(f"{days} %H:%M:%S" if hasattr(cell, "hour") else days)
    return str(cell)


def _quoted(cell: str, delimiter: str, always: bool) -> str:
    if always or any(char in cell for char in (delimiter, '"', "\n", "\r")):
        return '"' + cell.replace('"', '""') + '"'
    return cell
