"""Command lines that mask a file, and what is done with it afterwards."""

from collections.abc import Sequence
from typing import Any

from adversary.choices import draw_plan, promise_of
from adversary.spelling import as_recipe, as_words
from adversary.values import CALM, WILD, Column, Random, chance, one_of


def drawn_command(
    rng: Random,
    name: str,
    columns: list[Column],
    level: int,
    *,
    disk: bool = False,
    more: dict[str, Any] | None = None,
    kinds: Sequence[str] = (),
) -> tuple[list[str], dict[str, bytes], dict[str, Any]]:
    """Draw a command line that masks a file, the recipe that it reads, and what it promises.

    `kinds` are columns whose kind must be said, as of numbers that have labels.
    """
    plan = draw_plan(rng, columns, level, disk=disk)
    plan.choices |= more or {}
    for one in kinds:
        if one in plan.names("quasi") and chance(rng, 0.95):
            plan.choices.setdefault("kinds", {}).setdefault(one, one_of(rng, ["number", "ordinal", "nominal"]))
    is_text = name.endswith((".csv", ".tsv", ".txt", ".gz")) and plan.choices.get("file_kind", "csv") == "csv"
    if not is_text and chance(rng, 0.95):
        plan.choices.pop("excel_safe", None)
    files: dict[str, bytes] = {}
    words = ["mask", name]
    guessed = level == CALM and not disk and chance(rng, 0.1)
    if guessed:
        return [*words, "-y", "-k", str(plan.k), *_speaking(rng)], files, {"k": plan.k}
    typed = as_words(plan.choices)
    if typed is None or chance(rng, 0.5):
        files["asked.toml"] = as_recipe(plan.k, plan.choices).encode("utf-8", "replace")
        words += ["--recipe", "asked.toml"]
    else:
        words += ["-k", str(plan.k), *typed]
    words += ["--engine", "disk", *(["--same-order"] if chance(rng, 0.97) else [])] if disk else []
    words += _speaking(rng)
    if chance(rng, 0.08):
        suffix = one_of(rng, ["csv", "parquet", "feather", "sav", "dta", "tsv", "csv.gz"])
        words += [
            "--to",
            one_of(
                rng,
                [
                    f"target.{suffix}",
                    f"target.{suffix}",
                    "duckdb:///target.db?table=t",
                    *(["target.xyz"] if level == WILD else []),
                ],
            ),
        ]
    return words, files, promise_of(plan, columns)


def afterwards(rng: Random, words: list[str]) -> list[list[str]]:
    """Draw what is done with a masked file: it is judged, or made again by its recipe."""
    if "--to" in words or words[0] != "mask":
        return []
    engine = ["--engine", "disk"] if "disk" in words else []
    again = ["mask", words[1], "--recipe", "{recipe}", "-o", "again", *engine]
    judged = ["assess", words[1], "{masked}", "--recipe", "{recipe}"]
    draw = rng.random()
    return [again] if draw < 0.08 else [judged] if draw < 0.14 else []


def other_command(rng: Random, words: list[str]) -> list[str]:
    """Now and then only look at a file, in place of masking it."""
    command = one_of(rng, ["inspect", "inspect", "inspect", "tree", "compare"])
    if not chance(rng, 0.06):
        return words
    return [command, words[1], *(["-y", "-k", "2,3"] if command == "compare" else [])]


def _speaking(rng: Random) -> list[str]:
    return one_of(rng, [[], ["--json"], ["--json"], ["-q"], ["--script"], ["--json", "--script"]])
