"""What a recipe remarks of how its release came to be chosen, as comments on top of its file."""

from dataclasses import replace
from datetime import date

from microagg.recipe import Recipe

_AMONG, _SECOND = "Chosen among ", "This file was released before. Reason to release it again: "
_MOST = 500  # letters of a reason


def with_remarks(recipe: Recipe, day: date, *, among: int = 0, reason: str = "") -> Recipe:
    """Return a recipe that remarks among how many it was chosen, and why the file is released once more.

    Remarks of a former choice go: a recipe may be one that was written before.
    """
    comments = recipe.comments
    kept = [line for line in comments.title if not line.startswith((_AMONG, _SECOND))]
    kept += [f"{_AMONG}{among} on {day.isoformat()}."] if among > 1 else []
    kept += [f"{_SECOND}{one_line(reason)}"] if one_line(reason) else []
    return recipe.commented(replace(comments, title=tuple(kept)))


def one_line(text: str) -> str:
    """Return a text that a comment can hold: one line, no letter that is not printed."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())[:_MOST]
