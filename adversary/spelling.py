"""Choices as they are said: on a command line, or in a recipe."""

import csv
import io
import json
import math
from typing import Any

TABLES = {
    "roles": ["quasi", "identifiers", "confidential", "strata", "keep", "drop", "weight", "unit", "rest"],
    "method": ["method", "tail", "search", "gamma", "centroid", "sizes", "axis"],
    "masking": [
        "scale", "aggregate", "rounding", "nominal", "nominal_seed", "spike", "spike_totals", "moments", "moments_clip",
        "missing", "per_column",
    ],
    "weights": ["weighted", "weight_release", "weight_cap", "calibrate"],
    "select": ["select", "count", "measure", "width", "bins", "rule", "choose"],
    "blocks": ["blocks", "max_block", "block_columns", "block_intervals", "block_fusion"],
    "refine": ["refine", "seed"],
    "units": ["unit_share", "unit_release", "household", "wave", "unit_order", "small_units"],
    "diversity": ["l", "entropy_l", "recursive_l", "l_columns", "t", "t_columns", "diversity"],
    "read": ["delimiter", "encoding", "decimal", "thousands", "header"],
    "risk": ["keys", "sample", "sample_seed"],
    "output": ["same_order", "excel_safe", "public", "file_kind"],
}  # fmt: skip
KEYS = {
    "method": "name", "weight_release": "release", "weight_cap": "cap", "blocks": "by", "block_columns": "columns",
    "block_intervals": "intervals", "block_fusion": "fusion", "refine": "effort",
    "unit_share": "share", "unit_release": "release", "unit_order": "order", "small_units": "small", "diversity": "way",
    "entropy_l": "entropy", "recursive_l": "recursive", "sample_seed": "seed", "file_kind": "kind",
}  # fmt: skip
"""Choices that a recipe calls otherwise than the command line."""

BY_COLUMN = ("kinds", "importance", "taxonomy", "recode", "missing_codes")
ONLY_IN_RECIPES = ("relation", "analysis", "seed")


def as_words(choices: dict[str, Any]) -> list[str] | None:
    """Return choices as a command line takes them; None where one cannot be typed."""
    words: list[str] = []
    for key, value in choices.items():
        if key in ONLY_IN_RECIPES:
            return None
        dashed = f"--{key.replace('_', '-')}"
        if value is True or value is False:
            words.append(dashed if value else dashed.replace("--", "--no-", 1))
            continue
        if isinstance(value, dict):
            parts = [_said(name, own) for name, own in value.items()]
            if None in parts:
                return None
            text = _listed(parts)
        else:
            text = _listed(value) if isinstance(value, list) else str(value)
        if (
            "\0" in text
            or "\n" in text
            or (isinstance(value, list) and any(str(one) != str(one).strip() or not one for one in value))
        ):
            return None
        words += [dashed, text]
    return words


def _said(name: str, own: Any) -> str | None:
    if isinstance(own, dict):
        if any(isinstance(value, dict) for value in own.values()):
            return None
        own = "|".join(
            f"{word}:{'/'.join(map(str, one)) if isinstance(one, list) else one}" for word, one in own.items()
        )
    elif isinstance(own, list):
        own = "|".join(map(str, own))
    return None if "=" in name else f"{name}={own}"


def _listed(parts: list[Any]) -> str:
    room = io.StringIO()
    csv.writer(room, lineterminator="").writerow(parts)
    return room.getvalue()


def as_recipe(k: int, choices: dict[str, Any]) -> str:
    """Return choices as the text of a recipe."""
    lines = [f"k = {k}"]
    for table, keys in TABLES.items():
        own = {KEYS.get(key, key): choices[key] for key in keys if key in choices}
        if table == "select" and "select" in own:
            by = own.pop("select")
            own["columns" if isinstance(by, list) else "by"] = by
        if own:
            lines += ["", f"[{table}]", *(f"{key} = {toml(value)}" for key, value in own.items())]
    for key in BY_COLUMN:
        if key in choices:
            said = choices[key]
            table = {"missing_codes": "missing"}.get(key, key)
            if key == "missing_codes":
                lines += ["", "[missing]", f"codes = {toml(said)}"]
            else:
                lines += ["", f"[{table}]", *(f"{toml(name)} = {toml(own)}" for name, own in said.items())]
    for key in ("relation", "analysis"):
        for one in choices.get(key, []):
            lines += ["", f"[[{key}]]", *(f"{name} = {toml(value)}" for name, value in one.items())]
    return "\n".join(lines) + "\n"


def toml(value: Any) -> str:
    """Write a value as TOML does."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{toml(str(key))} = {toml(own)}" for key, own in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, str):
        text = json.dumps(value, ensure_ascii=False)
        return "".join(char if char.isprintable() else f"\\U{ord(char):08X}" for char in text)
    if isinstance(value, float):
        return "inf" if value == math.inf else repr(value)
    return str(value)
