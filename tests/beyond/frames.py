"""Frames of every kind of column, with missing values and ties, and what a recipe says of them."""

from datetime import date

import numpy as np
import pyarrow as pa

KINDS = {
    "level": ["low", "mid", "high"],
    "code": "nominal",
    "wage": "semi",
    "aid": {"spike": 0},
    "form": "date",
    "born": "date",
    "step": "ordinal",
}
CODES = {"wage": [-9.0, -8.0], "town": ["refused"]}
KIN = {"aa": "a", "ab": "a", "ba": "b", "bb": "b", "cc": "c"}
CHOICES = {"kinds": KINDS, "missing_codes": CODES, "taxonomy": {"job": KIN}, "importance": {"age": 2.0, "sex": 0.5}}
NOMINAL_AND_MISSING = [
    ("mode", "pattern"), ("balanced", "state"), ("draw", "pattern"),
    ("mode", "state"), ("balanced", "pattern"), ("draw", "state"),
]  # fmt: skip
"""Pairs of two choices: the first three hold each value of both."""


def mixed(n, seed, *, missing=0.1, plain=False):
    """Make a frame of n records; with `plain`, of types that text can hold and gives back."""
    rng = np.random.default_rng(seed)

    def some(values, kind=None):
        mask = rng.random(n) < missing
        return pa.array([None if gone else value for value, gone in zip(values, mask, strict=True)], kind)

    def pick(values, *shares):
        return [values[i] for i in rng.choice(len(values), n, p=shares or None)]

    wage = np.where(rng.random(n) < 0.4, 0.0, np.rint(rng.exponential(2000, n)))
    wage[rng.random(n) < 0.03] = -9.0
    wage[rng.random(n) < 0.02] = -8.0
    days = rng.integers(0, 20_000, n)
    columns = {
        "age": some([int(v) for v in rng.integers(0, 90, n)], pa.int64()),
        "height": some([round(float(v), 2) for v in rng.normal(1.7, 0.1, n)]),
        "income": some([float(v) for v in rng.lognormal(8, 1, n)]),
        "sex": some(pick(["f", "m"])),
        "town": some(pick(["x", "y", "z", "refused", "w"], 0.5, 0.2, 0.2, 0.05, 0.05)),
        "level": some(pick(["low", "mid", "high"])),
        "step": some([int(v) for v in rng.integers(1, 6, n)], pa.int64()),
        "code": some([int(v) for v in rng.choice([101, 205, 333], n)], pa.int64()),
        "wage": some([float(v) for v in wage]),
        "aid": pa.array(np.where(rng.random(n) < 0.7, 0.0, rng.integers(1, 50, n))),
        "born": some([date.fromordinal(719_163 + int(day)) for day in days], pa.date32()),
        "form": some([date.fromordinal(719_163 + int(day)).strftime("%d.%m.%Y") for day in days[::-1]]),
        "job": some(pick(["aa", "ab", "ba", "bb", "cc"])),
        "region": some(pick(["N", "S", "E"], 0.5, 0.3, 0.2)),
        "name": pa.array([f"{i:05d}" for i in range(n)]),
    }
    if plain:
        return pa.table(columns)
    columns["sex"] = columns["sex"].dictionary_encode()
    columns["flag"] = some([bool(v) for v in rng.random(n) < 0.3])
    columns["grade"] = pa.DictionaryArray.from_arrays(
        some([int(v) for v in rng.integers(0, 3, n)], pa.int8()), ["poor", "fair", "good", "best"], ordered=True
    )
    columns["at"] = some([int(v) for v in rng.integers(0, 10**15, n)], pa.int64()).cast(pa.timestamp("us", "UTC"))
    columns["small"] = some([float(v) for v in rng.random(n)], pa.float32())
    return pa.table(columns)


WAYS = {
    "as it is": {"weight": "w", "drop": ["v"], "weight_cap": True},
    "by group": {"weight": ["v", "w"], "weight_release": "group", "weight_cap": True},
    "not weighted": {"weight": ["w", "v"], "weight_release": "group", "weighted": False},
    "calibrated": {
        "weight": ["v", "w"],
        "weight_release": "group",
        "weight_cap": True,
        "calibrate": ["sex", "town"],
    },
}
"""What can be done with the weights of such frames."""

ROLES = {"strata": ["region"], "identifiers": ["name"]}


def assert_same(found, expected, written):
    """Compare a masked file, and what is known of it, with what protect() gives."""
    assert written.to_pydict() == expected.data.to_pydict()
    assert written.schema.types == expected.data.schema.types
    assert found.information == expected.information
    assert (found.n_groups, found.n_blocks) == (expected.n_groups, expected.n_blocks)
    assert found.k_achieved == expected.k_achieved
    assert found.recipe == expected.recipe.replace(same_order=True)  # as rows are written beyond memory
    assert found.missing == expected.missing
    assert found.rounded == expected.rounded
    if found.weights is not None or expected.recipe.weights.weighted:
        assert found.weights == expected.weights


def weighted(table, seed, *, whole=False):
    """Give a frame two columns of weights, some of them 0; few dominate where k is not 2."""
    rng = np.random.default_rng(seed)
    n = table.num_rows
    first = rng.uniform(20, 90, n).round(1) * (rng.random(n) > 0.05)
    second = rng.integers(1, 9, n) if whole else rng.lognormal(0, 0.5, n)
    return table.append_column("w", pa.array(first)).append_column("v", pa.array(second))
