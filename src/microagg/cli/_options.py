"""Options of the commands: those of a recipe's choices follow from their declarations."""

import inspect
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from microagg.algorithms.methods import METHODS
from microagg.recipe import Choice, as_key, choices, options_of
from microagg.recipe._choice import FLAG, LISTED, NAMES, NUMBER, WHOLE
from microagg.recipe.words import LISTS, TABLES, TITLES, takes_names

_TYPES: dict[str, Any] = {FLAG: bool, WHOLE: int, NUMBER: float}
_VALUES = '"wage=VALUE,size=VALUE"; several values are separated by |'
_OTHERS = {"overwrite": "--force", "recipe": "--recipe", "to": "--to", "output": "-o", "k": "-k"}
"""Choices that are no part of a recipe, as the command line calls them."""


def options_of_recipe(tables: Sequence[str], spelt: Mapping[str, str]) -> dict[str, tuple[inspect.Parameter, Choice]]:
    """Return the options that these tables of a recipe make, each with its choice; `spelt` spells some differently."""
    known: dict[str, tuple[str, Choice]] = {}
    for name in tables:
        of_table = choices(name.partition(".")[0]).items()
        known |= {key: of for key, of in of_table if name in (of[0], f"{of[0]}.{key}")}
    if "method" in tables:
        by_method = {method: options_of(method) for method in METHODS}
        for options in by_method.values():
            for name, option in options.items():
                having = ", ".join(method for method, own in by_method.items() if name in own)
                known.setdefault(name, ("method", replace(option, said=f"with {having}: {option.said}")))
    return {key: (_parameter(table, choice, spelt.get(key)), choice) for key, (table, choice) in known.items()}


def _parameter(table: str, choice: Choice, spelling: str | None) -> inspect.Parameter:
    dashed = choice.keyword.replace("_", "-")
    names = [spelling] if spelling else [f"--{dashed}/--no-{dashed}"] if choice.kind == FLAG else [f"--{dashed}"]
    help_ = f"{choice.said[0].upper()}{choice.said[1:]}"
    if choice.words:
        help_ += f": {', '.join(choice.words)}"
    if takes_names(choice):
        help_ += f", or {NAMES}, separated by commas"
    elif choice.kind in LISTS:
        help_ += ". Separate several by commas"
    if choice.kind == LISTED:
        help_ += f"; a TOML file with one \\[\\[{table}]] for each"
    if choice.kind in TABLES:
        rules = '"age=width:5|top:80,wage=cuts:0/1000/5000,job=join:other=x/y"'
        help_ += f", such as {rules if choice.keyword == 'recode' else _VALUES}"
    usual = "" if choice.default in (None, (), False, {}) or choice.kind == FLAG else f" By default {choice.default}."
    option = typer.Option(*names, help=f"{help_}.{usual}", rich_help_panel=TITLES[table], show_default=False)
    kind: Any = _TYPES.get(choice.kind, str) | None
    annotation: Any = Annotated[kind, option]
    return inspect.Parameter(choice.keyword, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


def as_option(parameter: str, value: Any) -> str:
    """Return a choice as the command line writes it; one that it does not have, as a recipe writes it."""
    name = _OTHERS.get(parameter, f"--{parameter.replace('_', '-')}")
    if parameter not in _OTHERS and parameter not in (*choices(), "columns", "engine", "scheduler", "scratch"):
        return as_key(parameter, value)
    if value is None or isinstance(value, bool):
        return name if value is not False else name.replace("--", "--no-", 1)
    text = (
        ",".join(f'"{one}"' if "," in str(one) else str(one) for one in value)
        if isinstance(value, list)
        else str(value)
    )
    return f"{name} {shlex.quote(text)}"
