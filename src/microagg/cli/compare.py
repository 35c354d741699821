"""`microagg compare`: methods and levels of k, side by side."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from microagg.checks import check_k, check_option
from microagg.cli import _roles
from microagg.cli._pictures import check_picture, save_picture
from microagg.cli._terminal import Terminal
from microagg.errors import InvalidParameter
from microagg.io.sources import Source
from microagg.recipe_file import METHODS, RecipeFile
from microagg.study.comparison import Comparison, compare


@dataclass(frozen=True)
class Wishes:
    """What was asked for on the command line."""

    ks: list[str]
    methods: list[str]
    recipe: Path | None
    keys: list[str] | None
    sample: int | None
    output: Path | None
    dialect: dict[str, Any]
    yes: bool
    force: bool


def run(address: str, wishes: Wishes, quiet: bool, as_json: bool) -> None:
    """Mask by each method at each k, and judge each release."""
    terminal = Terminal(quiet=quiet, as_json=as_json)
    levels = _levels(wishes.ks)
    _check_methods(wishes.methods)
    check_picture(wishes.output, address, wishes.force)
    source, recipe = _roles.recipe_or_guess(
        terminal, address, wishes.recipe, min(levels), wishes.dialect, yes=wishes.yes
    )
    _say_what_is_not_used(terminal, recipe, wishes)
    found = _compared(terminal, source, recipe, levels, wishes)
    terminal.say(f"\n{found!r}")
    best = found.best
    terminal.say(
        f"\nThe lowest score: {best.method} with k={best.k}. Efficient: "
        + ", ".join(f"{one.method} k={one.k}" for one in found.frontier)
    )
    if wishes.output is not None:
        with terminal.wait("drawing"):
            save_picture(found.plot(), wishes.output)
        terminal.say(f"Risk against loss: {wishes.output}")
    terminal.result(
        {
            "candidates": [one.as_dict() for one in found.candidates],
            "best": {"method": best.method, "k": best.k},
            "frontier": [{"method": one.method, "k": one.k} for one in found.frontier],
            "sampled": found.sampled,
            "standard_error": found.standard_error,
        }
    )


def _levels(ks: list[str]) -> list[int]:
    try:
        levels = [int(part) for part in ks]
    except ValueError:
        levels = []
    if not levels:
        raise InvalidParameter(f"-k {','.join(ks)!r} is not a list of whole numbers. Write it so: -k 3,5,10")
    return [check_k(level) for level in levels]


def _check_methods(methods: list[str]) -> None:
    for method in methods:
        check_option("method", method, METHODS)
    if not methods or len(set(methods)) < len(methods):
        raise InvalidParameter("--methods names none, or one twice. Write them so: --methods mdav,iamat")


def _say_what_is_not_used(terminal: Terminal, recipe: RecipeFile, wishes: Wishes) -> None:
    """Tell which choices of a recipe have no part in a comparison."""
    method, refine = recipe.table("method"), recipe.table("refine")
    name = method.pop("name", "mdav")
    if name not in wishes.methods:
        with_options = f" and its {', '.join(method)}" if method else ""
        terminal.say(f"Not used of the recipe: the method {name}{with_options}, which is not among --methods.")
    if refine.get("seed", 0) != 0:
        terminal.say("Not used of the recipe: the seed of [refine]; groups are refined with seed 0.")


def _compared(terminal: Terminal, source: Source, recipe: RecipeFile, levels: list[int], wishes: Wishes) -> Comparison:
    """Compare method by method, since the recipe's options go with its own method alone."""
    options = recipe.table("method")
    own = options.pop("name", "mdav")
    given = {
        name: value
        for name, value in recipe.arguments().items()
        if name not in ("k", "method", "seed") and name not in options
    }
    risk = recipe.table("risk")
    if wishes.keys is not None:
        risk["keys"] = wishes.keys
    if wishes.sample is not None:
        risk["sample"] = wishes.sample
    parts: list[Comparison] = []
    with terminal.bar("comparing") as tell, recipe.blamed():
        frame = source.typed(recipe.masked(source.table.column_names))

        def told(done: int, total: int) -> None:
            tell(len(parts) * total + done, len(wishes.methods) * total)

        for method in wishes.methods:
            mine = options if method == own else {}
            parts.append(compare(frame, [method], levels, progress=told, **risk, **given, **mine))
    candidates = tuple(one for part in parts for one in part.candidates)
    return Comparison(candidates, parts[0].x, parts[0].sampled, max(part.standard_error for part in parts))
