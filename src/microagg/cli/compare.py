"""`microagg compare`: methods and levels of k, side by side."""

from dataclasses import asdict
from pathlib import Path

from microagg.cli import _roles
from microagg.cli._pictures import check_picture, save_picture
from microagg.cli._terminal import Terminal
from microagg.errors import InvalidParameter
from microagg.study.comparison import compare


def run(
    address: str,
    ks: str,
    methods: list[str],
    recipe_path: Path | None,
    keys: list[str] | None,
    output: Path | None,
    sample: int | None,
    yes: bool,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Mask by each method at each k, and judge each release."""
    terminal = Terminal(quiet=quiet, as_json=as_json)
    try:
        levels = [int(part) for part in ks.split(",")]
    except ValueError:
        raise InvalidParameter(f"-k {ks!r} is not a list of whole numbers. Write it so: -k 3,5,10") from None
    check_picture(output, force)
    source, recipe, _ = _roles.recipe_or_guess(terminal, address, recipe_path, min(levels), {}, yes=yes)
    given = {name: value for name, value in recipe.arguments().items() if name not in ("k", "method")}
    given = {name: value for name, value in given.items() if name not in recipe.table("method")}
    frame = source.typed(recipe.masked(source.table.column_names))
    with terminal.bar("comparing") as tell:
        found = compare(frame, methods, levels, keys=keys, sample=sample, progress=tell, **given)
    terminal.say(f"\n{found!r}")
    best = found.best
    terminal.say(
        f"\nThe lowest score: {best.method} with k={best.k}. Efficient: "
        + ", ".join(f"{one.method} k={one.k}" for one in found.frontier)
    )
    if output is not None:
        save_picture(found.plot(), output)
        terminal.say(f"Risk against loss: {output}")
    terminal.result(
        {
            "candidates": [asdict(one) for one in found.candidates],
            "best": {"method": best.method, "k": best.k},
            "frontier": [{"method": one.method, "k": one.k} for one in found.frontier],
            "sampled": found.sampled,
            "standard_error": found.standard_error,
        }
    )
