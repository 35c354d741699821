"""The recipe that a run leaves behind: every choice it depended on, whoever made it."""

from dataclasses import replace
from typing import Any

from microagg.evaluate.risk import DisclosureRisk
from microagg.recipe import Recipe
from microagg.recipe_file import RecipeFile


def spelt_out(asked: RecipeFile, done: Recipe, read: dict[str, str], risk: DisclosureRisk | None) -> RecipeFile:
    """Give the recipe that was asked for with every default and what "auto" chose.

    `read` is how the file was read, `risk` what was measured, if it was. The same file and this recipe give the same
    bytes, whatever the defaults of another version are.
    """
    tables: dict[str, dict[str, Any]] = {
        "roles": asked.table("roles"),
        "method": {"name": done.method, **done.options},
        "masking": {
            "scale": done.scale,
            "aggregate": done.aggregate,
            "integers": done.integers,
            "missing": done.missing,
            "per_column": done.per_column,
        },
        "select": _selecting(done),
        "blocks": {name: done.blocks[name] for name in ("by", "max_block") if name in done.blocks} or {"by": "none"},
        "refine": {name: done.refine[name] for name in ("effort", "seed") if name in done.refine},
        "read": read,
        "risk": asked.table("risk") if risk is None else _judging(asked, risk),
        "output": asked.table("output"),
    }
    tables["roles"].setdefault("quasi", list(done.roles["quasi"]))
    return replace(asked, k=done.k, tables=tables)


def _selecting(done: Recipe) -> dict[str, Any]:
    """Give how the columns that form the groups were chosen: by name, or by a rule and its settings."""
    if done.select.get("by") == "names":
        return {"columns": list(done.select["columns"])}
    settings = {name: value for name, value in done.select.items() if name != "columns" and value is not None}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()}


def _judging(asked: RecipeFile, risk: DisclosureRisk) -> dict[str, Any]:
    given = asked.table("risk")
    used = {"sample": risk.sampled} if risk.sampled is not None else {}
    return {**given, **used, "seed": given.get("seed", 0)}
