"""Run a part of the campaign: `python -m adversary NAME [options]`."""

import importlib
import sys

PARTS = {
    "fuzz": "odd files, recipes and arguments; k recounted on what was written",
    "freeze": "what a version does, kept outside the repository, and what another does otherwise",
    "grammar": "hostile formulas, terms, conditions and relations: none is run",
    "kill": "signals at random moments of every kind of job",
    "soak": "mixed jobs for an hour: memory, file handles, threads, scratch",
    "constants": "values that all rows of a unit share, computed from the means of one release",
    "rebuilt": "households put together again by what is released unchanged, and found by all their rows",
    "same": "the same bytes whatever the threads, engine, order, locale or place",
    "weights": "ages and regions, from weighted means and weights with all digits and as they are written",
}

MODULES = {"rebuilt": "rebuilt_units", "weights": "weight_traces"}
"""Parts whose module has another name."""


def main(arguments: list[str]) -> int:
    """Hand the arguments to the part that the first one names."""
    if not arguments or arguments[0] not in PARTS:
        print("\n".join(["usage: python -m adversary NAME [options]", *(f"  {n}  {w}" for n, w in PARTS.items())]))
        return 2
    name, *rest = arguments
    return int(importlib.import_module(f"adversary.{MODULES.get(name, name)}").main(rest) or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
