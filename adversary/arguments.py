"""Command lines: every option of every command, with values that fit and values that do not."""

from functools import cache
from typing import Any

from adversary import running
from adversary.case import Case
from adversary.text import written
from adversary.values import CALM, Random, chance, draw_columns, one_of, secrets_of

COMMANDS = ["mask", "mask", "inspect", "inspect", "assess", "compare", "tree"]
ODD_VALUES = [
    "", " ", "0", "-1", "1", "2", "3", "1e999", "nan", "inf", "-inf", "1e308", "99999999999999999999", "0x10",
    "1_000", "٣", "²", "½", "a0", "b1", "a0,b1", "a0,a0", ",", ",,", '"', '"a0', "a0=", "=a0", "a0=1", "a0=x|y",
    "a0=|", "a0=width:5", "a0=cuts:1/2", "a0=cuts:", "a0=join:x=y/z", "a0=top:x", "mdav", "iamat", "none", "auto",
    "fast", "pattern", "drop", "keep", "no such", "\x1b[31mred", "é", "😀", "a\nb", "x" * 5000, "..", ".", "/", "~",
    "/no/such/place", "in.csv", "in.csv/x", "out", "asked.toml", "[bold]x[/bold]", "[/]", "[red", "%s", "{0}", "--",
    "-", "--force", "true", "False", "csv", "parquet", "memory", "disk", "emim", "1/0", "3,5", "3,x", "0.5",
    "0.5,0.5", "'", "\\", ";", "in.csv:stream", "file:///x", "http://x/y", "duckdb://", "duckdb:///",
    "duckdb:///x.db", "duckdb:///x.db?table=", "postgresql://", "s3://x", "\udcff", "a0\u202eb", "-k", "*", "?",
    "CON", "x.csv.gz", "x.zst", "x.sas7bdat",
]  # fmt: skip
NOT_HERE = ("--help", "--install-completion", "--show-completion", "--scheduler")
"""Options that leave the case: they end at once, or reach out to other machines."""


@cache
def options_of(command: str) -> list[tuple[list[str], bool]]:
    """Return the options of a command, each with its spellings and whether it stands alone."""
    group: Any = running.program([command])
    found = []
    for parameter in group.commands[command].params:
        names = [*parameter.opts, *parameter.secondary_opts]
        if names[0].startswith("-") and not {*names} & {*NOT_HERE}:
            found.append((names, bool(getattr(parameter, "is_flag", False))))
    return found


def draw(rng: Random) -> Case:
    """Draw a command line with some options, on a small file."""
    columns = draw_columns(rng, CALM, arrow=False)
    files = {"in.csv": written(rng, columns, ",", CALM).encode()}
    command = one_of(rng, COMMANDS)
    words = [command, one_of(rng, ["in.csv"] * 12 + ODD_VALUES)]
    if command == "assess":
        words.append(one_of(rng, ["in.csv"] * 6 + ODD_VALUES))
    if chance(rng, 0.8) and command in ("mask", "compare"):
        words.append("-y")
    for _ in range(int(rng.integers(0, 4))):
        names, alone = one_of(rng, options_of(command))
        words.append(one_of(rng, names))
        if not alone:
            words.append(_value(rng, [column.name for column in columns]))
    if chance(rng, 0.03):
        words.append(one_of(rng, ["--no-such", "-z", "extra", "\x1b[31m", "--k"]))
    words = [word.replace("\0", "") for word in words]
    if "dask" in words or any(word.startswith(("~", "/")) for word in words[2:]):
        words = words[:2]
    return Case("arguments", files, [words], {}, secrets_of(columns))


def _value(rng: Random, names: list[str]) -> str:
    return one_of(rng, [*names, ",".join(names[:2])] if names and chance(rng, 0.35) else ODD_VALUES)
