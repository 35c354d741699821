"""Choices of a run, drawn for the columns of a file, right ones and wrong ones."""

import itertools
from dataclasses import dataclass, field
from typing import Any

from adversary.spelling import BY_COLUMN, TABLES
from adversary.values import WILD, Column, Random, chance, one_of

METHODS = ["mdav", "cbfs", "vmdav", "iamat", "maximum-distance", "projection", "univariate", "ranking", "emad", "ama"]
_PROMISED = (
    "quasi", "strata", "confidential", "weight", "unit", "l", "entropy_l", "recursive_l", "l_columns", "per_column",
    "unit_release", "unit_share", "weight_release",
)  # fmt: skip


@dataclass
class Plan:
    """What is chosen for a file."""

    k: int
    choices: dict[str, Any] = field(default_factory=dict)

    def names(self, role: str) -> list[str]:
        """Return the columns of a role."""
        said = self.choices.get(role, [])
        return said if isinstance(said, list) else [said]


def draw_plan(rng: Random, columns: list[Column], level: int, *, disk: bool = False) -> Plan:
    """Draw roles for all columns, and some choices that go with them; wrong ones too, now and then."""
    n = len(columns[0].cells) if columns else 0
    plan = Plan(int(rng.integers(2, 5 if n < 30 else 7)))
    _draw_roles(rng, plan, columns)
    draws = [_method, _values, _by_column, _blocks, _risk, _output]
    draws += [_diversity] if plan.names("confidential") and not disk else []
    draws += [_weights] if "weight" in plan.choices else []
    draws += [_units] if "unit" in plan.choices else []
    draws += [_declared] if not disk else []
    for draw in draws:
        draw(rng, plan, columns)
    if disk:
        for key in (
            "scale",
            "select",
            "blocks",
            "moments",
            "unit_release",
            "keys",
            "sample",
            "file_kind",
            "recode",
            "public",
        ):
            if not chance(rng, 0.03):
                plan.choices.pop(key, None)
        if plan.choices.get("missing") == "drop" and chance(rng, 0.95):
            plan.choices["missing"] = "state"
        if plan.choices.get("method") in ("univariate", "ranking", "emad", "ama") and chance(rng, 0.95):
            plan.choices["method"] = "mdav"
        for key in (
            "count",
            "rule",
            "choose",
            "block_columns",
            "block_intervals",
            "block_fusion",
            "measure",
            "bins",
            "moments_clip",
            "wave",
            "household",
            "unit_order",
            "per_column",
            "excel_safe",
            "same_order",
            "max_block",
            "small_units",
        ):
            plan.choices.pop(key, None)
    if level == WILD and chance(rng, 0.2):
        _spoil(rng, plan)
    return plan


def _draw_roles(rng: Random, plan: Plan, columns: list[Column]) -> None:
    roles: dict[str, list[str]] = {}
    usual = {"text": ["identifiers", "drop", "keep"], "nested": ["keep", "drop"], "row": ["keep"], "flag": ["quasi"]}
    others = ["quasi", "quasi", "quasi", "quasi", "confidential", "keep"]
    for column in columns:
        if column.use in ("weight", "unit") and chance(rng, 0.8):
            plan.choices[column.use] = column.name
            continue
        among = ["strata", "strata", "quasi"] if column.use == "stratum" else usual.get(column.use, others)
        roles.setdefault(one_of(rng, among if column.use != "unit" else ["drop", "identifiers"]), []).append(
            column.name
        )
    if "quasi" not in roles:
        named = [column.name for column in columns if column.use in ("number", "category")]
        roles = {role: [name for name in own if name not in named] for role, own in roles.items()} | {"quasi": named}
    rest = one_of(rng, ["", "", "keep", "drop"])
    if rest and "row" not in [column.use for column in columns]:
        for role in (rest,):
            roles.pop(role, None)
        plan.choices["rest"] = rest
    plan.choices |= roles


def _method(rng: Random, plan: Plan, columns: list[Column]) -> None:
    say = plan.choices
    if chance(rng, 0.4):
        say["method"] = one_of(rng, METHODS)
        plain = all(
            column.use == "number" and None not in column.cells
            for column in columns
            if column.name in plan.names("quasi")
        )
        if say["method"] in ("univariate", "ranking") and not plain and chance(rng, 0.9):
            say["method"] = "mdav"
        if say["method"] in ("univariate", "ranking") and chance(rng, 0.9):
            say["per_column"] = True
    options = {
        "mdav": ("tail", ["2k", "3k"]),
        "vmdav": ("gamma", [0.2, 1.1, 0.0]),
        "projection": ("axis", ["pca", "zscores"]),
    }
    options |= {"iamat": ("sizes", ["fixed", "variable"]), "cbfs": ("search", ["tree", "brute"])}
    own = options.get(say.get("method", "mdav"))
    if own and chance(rng, 0.4):
        say[own[0]] = one_of(rng, own[1])
    if chance(rng, 0.15):
        say["refine"] = one_of(rng, ["fast", "thorough", 10, 50])
        if chance(rng, 0.3):
            say["seed"] = int(rng.integers(0, 99))
    if say.get("method") in ("emad", "ama") and chance(rng, 0.3):
        say["choose"] = "lowest-loss"
    if say.get("method") not in ("emad", "ama") and chance(rng, 0.12):
        quasi = plan.names("quasi")
        say["select"] = one_of(rng, ["emad", "ama", quasi[:1]]) if quasi else "ama"
        if say["select"] == "emad" and chance(rng, 0.5):
            say["count"] = int(rng.integers(1, 4))
        if isinstance(say["select"], str) and chance(rng, 0.4):
            say["measure"] = one_of(rng, ["emim", "chi2", "normal", "vi"])
        if isinstance(say["select"], str) and chance(rng, 0.2):
            say["bins"] = int(rng.integers(2, 6))
        if isinstance(say["select"], str) and chance(rng, 0.3):
            key, words = one_of(rng, [("choose", ["first", "lowest-loss"]), ("rule", ["degree", "cover", "every"])])
            say[key] = one_of(rng, words)


def _values(rng: Random, plan: Plan, columns: list[Column]) -> None:
    say = plan.choices
    quasi = [column for column in columns if column.name in plan.names("quasi")]
    for key, share, words in (
        ("scale", 0.1, ["range", "none"]), ("aggregate", 0.15, ["median"]), ("nominal", 0.15, ["balanced", "draw"]),
        ("spike_totals", 0.05, ["exact"]), ("spike", 0.05, [0.0, 1.0, 1e6]),
        ("missing", 0.35, ["pattern", "state", "state", "drop", "drop", "drop", "error"]),
        ("rounding", 0.15, ["none", "auto"]),
        ("moments", 0.12, ["variance", "covariance"]),
    ):  # fmt: skip
        if chance(rng, share):
            say[key] = one_of(rng, words)
    if say.get("moments") and chance(rng, 0.3):
        say["moments_clip"] = True
    numbers = [column for column in quasi if column.use == "number"]
    if len(numbers) < len(quasi) and chance(rng, 0.95):
        for key in ("moments", "moments_clip", "scale") if not numbers else ("scale",):
            say.pop(key, None)
    if numbers and chance(rng, 0.08):
        say["rounding"] = {one_of(rng, numbers).name: one_of(rng, [1, 10, 0.01, 1e9, 1e-300])}
    if say.get("nominal") == "draw" and chance(rng, 0.5):
        say["nominal_seed"] = int(rng.integers(0, 2**40))


def _by_column(rng: Random, plan: Plan, columns: list[Column]) -> None:
    say = plan.choices
    quasi = [column for column in columns if column.name in plan.names("quasi")]
    for column in quasi:
        present = sorted({str(cell) for cell in column.cells if cell is not None})
        few = len(present) <= 6
        if chance(rng, 0.15):
            spike = [{"spike": 0}] if column.use == "number" and 0 in column.cells else []
            kinds = ["semi", "ordinal", "number", *spike] if column.use == "number" else ["nominal"]
            kinds += ["nominal"] if few else []
            kinds += ["date"] if column.use == "date" else []
            kinds += [present] if few and len(present) > 1 and column.use == "category" else []
            say.setdefault("kinds", {})[column.name] = one_of(rng, kinds)
        if chance(rng, 0.08):
            say.setdefault("importance", {})[column.name] = one_of(rng, [0, 0.5, 2, 1e6])
        if column.use == "number" and column.cells and chance(rng, 0.06):
            codes = [cell for cell in column.cells if isinstance(cell, int)][:2] or [-9]
            say.setdefault("missing_codes", {})[column.name] = sorted(set(codes))
        if column.use == "category" and few and present and chance(rng, 0.1):
            tree = {leaf: [one_of(rng, ["up", "down"]), "root"] for leaf in present if leaf}
            say.setdefault("taxonomy", {})[column.name] = tree or {"x": ["root"]}
        if chance(rng, 0.1):
            say.setdefault("recode", {})[column.name] = _rule(rng, column, present)


def _rule(rng: Random, column: Column, present: list[str]) -> dict[str, Any]:
    if column.use == "date":
        return {"width": one_of(rng, ["week", "month", "quarter", "year", 30])}
    if column.use == "number":
        shape = one_of(rng, ["lower", "middle", "label"])
        rules = [{"width": one_of(rng, [5, 0.5, 100])}, {"top": 50}, {"bottom": 5}, {"width": 10, "as": shape}]
        return one_of(rng, [*rules, {"cuts": [1, 10, 40], "as": shape}, {"cuts": [5, 1]}, {"top": 60, "bottom": 2}])
    return {"join": {one_of(rng, ["other", "é", "=x"]): present[:2] or ["x"]}}


def _blocks(rng: Random, plan: Plan, _: list[Column]) -> None:
    if chance(rng, 0.1):
        plan.choices["blocks"] = one_of(rng, ["none", "median", "orthants", "univariate"])
        if plan.choices["blocks"] != "none" and chance(rng, 0.7):
            plan.choices["max_block"] = int(rng.integers(2 * plan.k, 40))
        if plan.choices["blocks"] != "none" and plan.names("quasi") and chance(rng, 0.3):
            plan.choices["block_columns"] = plan.names("quasi")[:1]
        if plan.choices["blocks"] == "orthants" and chance(rng, 0.4):
            plan.choices["block_fusion"] = "limited"
        if plan.choices["blocks"] == "univariate" and chance(rng, 0.4):
            plan.choices["block_intervals"] = "count"


def _risk(rng: Random, plan: Plan, _: list[Column]) -> None:
    if plan.names("quasi") and chance(rng, 0.08):
        plan.choices["keys"] = plan.names("quasi")[:2]
    if chance(rng, 0.05):
        plan.choices |= {"sample": int(rng.integers(2, 20)), "sample_seed": int(rng.integers(9))}


def _output(rng: Random, plan: Plan, _: list[Column]) -> None:
    for key, share in (("same_order", 0.15), ("excel_safe", 0.12), ("public", 0.15)):
        if chance(rng, share):
            plan.choices[key] = True
    if chance(rng, 0.12):
        plan.choices["file_kind"] = one_of(rng, ["csv", "parquet", "feather", "spss", "stata"])


def _diversity(rng: Random, plan: Plan, _: list[Column]) -> None:
    if not chance(rng, 0.6):
        return
    demands = [
        {"l": 2},
        {"l": 3},
        {"t": 0.5},
        {"t": 0.3},
        {"entropy_l": 1.5},
        {"recursive_l": [3, 2]},
        {"l": 2, "t": 0.6},
    ]
    plan.choices |= one_of(rng, demands)
    if chance(rng, 0.3):
        fitting = [
            *(["swap", "closeness"] if "t" in plan.choices else []),
            *(["candidates"] if "l" in plan.choices else []),
        ]
        plan.choices["diversity"] = one_of(rng, ["merge", *fitting] if chance(rng, 0.9) else ["swap", "closeness"])
    if "l" in plan.choices and chance(rng, 0.2):
        plan.choices["l_columns"] = plan.names("confidential")[:1]


def _weights(rng: Random, plan: Plan, columns: list[Column]) -> None:
    for key, share, words in (
        ("weighted", 0.2, [True, False]), ("weight_release", 0.4, ["group"]), ("weight_cap", 0.3, [True]),
    ):  # fmt: skip
        if chance(rng, share):
            plan.choices[key] = one_of(rng, words)
    named = [column.name for column in columns if column.use == "category" and column.name in plan.names("quasi")]
    if named and chance(rng, 0.5 if "weight_release" in plan.choices else 0.02):
        plan.choices["calibrate"] = named[:1]


def _units(rng: Random, plan: Plan, _: list[Column]) -> None:
    if chance(rng, 0.4):
        plan.choices["unit_share"] = "any"
    if chance(rng, 0.3):
        plan.choices["unit_release"] = "pseudonym"
        if chance(rng, 0.2):
            plan.choices["small_units"] = "error"
        if plan.names("quasi") and chance(rng, 0.2):
            plan.choices["unit_order"] = plan.names("quasi")[:1]


def _declared(rng: Random, plan: Plan, columns: list[Column]) -> None:
    numbers = [column.name for column in columns if column.use == "number" and column.name in plan.names("quasi")]
    if len(numbers) >= 2 and chance(rng, 0.08):
        sign = one_of(rng, ["=", "<=", ">=", "<", "!="])
        plan.choices["relation"] = [{"holds": f'"{numbers[0]}" {sign} 2 * "{numbers[1]}" + 1', "tolerance": 0.5}]
    if numbers and chance(rng, 0.1):
        kind = one_of(
            rng, ["mean", "total", "gini", "poverty", "quantile", "linear", "share", "table", "ratio", "logistic"]
        )
        own: dict[str, Any] = {
            "kind": kind,
            "columns": numbers[: 2 if kind in ("linear", "ratio", "logistic", "table") else 1],
        }
        own |= {"value": "= 0"} if kind in ("share", "logistic") else {}
        plan.choices["analysis"] = [own]


def _spoil(rng: Random, plan: Plan) -> None:
    """Say something wrong."""
    key = one_of(rng, [*itertools.chain(*TABLES.values()), *BY_COLUMN, "k"])
    if key == "k":
        plan.k = one_of(rng, [0, 1, -3, 10**6, 2**63])
    elif key in BY_COLUMN:
        plan.choices[key] = {"no such": one_of(rng, [1, "x", [1, 1], {"width": -1}])}
    else:
        plan.choices[key] = one_of(rng, ["", "no such", 0, -1, 1e308, True, ["x", "x"], "\x1b[31m", "é" * 500, 2**70])


def promise_of(plan: Plan, columns: list[Column]) -> dict[str, Any]:
    """Return what a plan has chosen of what is promised; the unit of each row, where a column tells rows apart."""
    say = plan.choices
    kept = {key: say[key] for key in _PROMISED if key in say}
    kept |= {"k": plan.k}
    rows = [column for column in columns if column.use == "row"]
    if "unit" in say and rows and rows[0].name in (say["keep"] if isinstance(say.get("keep"), list) else []):
        [units] = [column for column in columns if column.use == "unit"]
        kept |= {"row": rows[0].name, "units": dict(zip(rows[0].cells, units.cells, strict=True))}
    return kept
