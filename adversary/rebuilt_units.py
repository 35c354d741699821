"""Put households together again by what is released unchanged, then find them: `python -m adversary rebuilt`.

The number of the household is not released. The intruder sees the file alone, and takes rows with the same unchanged
values for one household. Then they look for households of which they know the masked columns of all members: among all
that were put together and have as many members, the nearest.
"""

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import microagg as ma

Labels = NDArray[np.int64]


@dataclass(frozen=True)
class Survey:
    """Persons in households, and what is done with their columns."""

    name: str
    frame: Any
    unit: str
    masked: tuple[str, ...]
    shared: str  # a column of the household, released unchanged


@dataclass(frozen=True)
class Found:
    """What the intruder has, in percent of the households with several members."""

    together: float  # their rows, and no others, share their unchanged values
    counted: float  # as the release counts it
    linked: float  # the right one among those that were put together
    by_rows: float  # the right one by single rows, of all records


def attack(survey: Survey, release: "ma.Release[Any]") -> Found:
    """Put households together again and find them; the numbers of households serve only to count what is right."""
    units = np.unique(survey.frame[survey.unit], return_inverse=True)[1]
    roles = release.recipe.roles
    unchanged = [*roles.confidential, *roles.keep]
    sizes = np.bincount(units)
    several = np.flatnonzero(sizes > 1)
    if not unchanged:
        return Found(0.0, 0.0, 0.0, release.risk.full_keys)
    piles = release.data.groupby(unchanged, dropna=False, sort=False).ngroup().to_numpy()
    pure = _pure(piles, units)
    owner = np.full(int(piles.max()) + 1, -1)
    owner[piles] = units
    whole = pure & (np.bincount(piles) == sizes[owner])
    together = np.isin(several, owner[whole])
    before, after = _places(survey.frame, release.data, survey.masked)
    linked = _linked(before, units, after, piles, np.where(whole, owner, -1))
    counted = release.rebuilt.percent if release.rebuilt is not None else 0.0
    return Found(100.0 * float(together.mean()), counted, 100.0 * float(linked[several].mean()), release.risk.full_keys)


def _pure(piles: Labels, units: Labels) -> NDArray[np.bool_]:
    """Return which piles hold rows of one unit alone."""
    pairs = np.unique(np.array([piles, units]), axis=1)
    return np.asarray(np.bincount(pairs[0]) == 1)


def _places(before: Any, after: Any, columns: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Place records in space: numbers by standard deviations, and each category in a direction of its own."""
    places: tuple[list[Any], list[Any]] = ([], [])
    for name in columns:
        was, now = before[name], after[name]
        if pd.api.types.is_numeric_dtype(was):
            middle, width = was.mean(), was.std() or 1.0
            for own, values in zip(places, (was, now), strict=True):
                own.append(((values.fillna(middle) - middle) / width).to_numpy())
            continue
        for category in was.dropna().unique():
            for own, values in zip(places, (was, now), strict=True):
                own.append((values == category).fillna(False).to_numpy(dtype=float) / np.sqrt(2.0))
    return np.array(places[0], dtype=float).T, np.array(places[1], dtype=float).T


def _linked(
    before: NDArray[np.float64], units: Labels, after: NDArray[np.float64], piles: Labels, owner: Labels
) -> NDArray[np.float64]:
    """Return the chance of each unit to be found: among piles of its size, the one whose rows are nearest in all."""
    by_pile = np.argsort(piles, kind="stable")
    starts, sizes = np.unique(piles[by_pile], return_index=True, return_counts=True)[1:]
    chances = np.zeros(int(units.max()) + 1)
    for unit in np.flatnonzero(np.bincount(units) > 1):
        known = before[units == unit]
        squares = ((known[:, None, :] - after[by_pile][None]) ** 2).sum(axis=2)
        distance = np.minimum.reduceat(squares, starts, axis=1).sum(axis=0)
        distance[sizes != len(known)] = np.inf
        best = np.flatnonzero(distance <= distance.min() * (1 + 1e-12)) if np.isfinite(distance).any() else []
        chances[unit] = np.mean(owner[best] == unit) if len(best) else 0.0
    return chances


def surveys(households: int, folder: Path | None) -> list[Survey]:
    """Return a synthetic survey and, where its file is at hand, the first households of EU-SILC."""
    made = ma.datasets.households(3 * households, seed=0).to_pandas()
    found = [
        Survey("synthetic", _first(made, "household", households), "household", ("sex", "age", "education"), "income")
    ]
    if folder is not None and (folder / "eusilc.csv").exists():
        table = _first(pd.read_csv(folder / "eusilc.csv"), "db030", households)
        table["pl030"] = table["pl030"].astype("string")
        keys = ("age", "rb090", "db040", "hsize", "pl030", "pb220a", "py010n")
        found.append(Survey("EU-SILC", table, "db030", keys, "eqIncome"))
    return found


def _first(frame: Any, unit: str, households: int) -> Any:
    kept = frame[unit].drop_duplicates().iloc[:households]
    return frame[frame[unit].isin(kept)].reset_index(drop=True)


def ways(survey: Survey, k: int) -> Mapping[str, dict[str, Any]]:
    """Return how the household's column is released: unchanged, and by each remedy."""
    shared, masked = survey.shared, list(survey.masked)
    usual = {"k": k, "unit": survey.unit, "quasi": masked, "rest": "drop"}
    return {
        "confidential": usual | {"confidential": [shared]},
        "kept": usual | {"keep": [shared]},
        "dropped": usual,
        "masked": usual | {"quasi": [*masked, shared]},
        "whole units": usual | {"quasi": [*masked, shared], "unit_release": "pseudonym", "household": [shared]},
    }


def main(arguments: list[str]) -> int:
    """Attack each release, and print what the intruder finds."""
    parser = argparse.ArgumentParser(prog="python -m adversary rebuilt", description=__doc__)
    parser.add_argument("--households", type=int, default=1500)
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--data", type=Path, default=os.environ.get("MICROAGG_DATA"), help="the folder of eusilc.csv")
    asked = parser.parse_args(arguments)
    print(f"percent of the households with several members; 1/k is {100 / asked.k:.1f} %")
    print(f"{'file':10} {'the column':14} {'together':>9} {'counted':>9} {'linked':>9} {'by rows':>9}")
    for survey in surveys(asked.households, None if asked.data is None else Path(asked.data)):
        for way, choices in ways(survey, asked.k).items():
            release = ma.protect(survey.frame, **choices)
            # Of whole units all see which rows are one household, and risk links these.
            whole = Found(100.0, 0.0, release.risk.full_keys, float("nan")) if "unit_release" in choices else None
            found = whole or attack(survey, release)
            figures = (found.together, found.counted, found.linked, found.by_rows)
            print(f"{survey.name:10} {way:14} {' '.join(f'{one:9.1f}' for one in figures)}")
    return 0
